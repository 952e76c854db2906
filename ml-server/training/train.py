"""Trains a verifier from an embedder, or a smaller one from a trained verifier.

    train.py PACK BASE OUT --minutes M                                   BASE: an embedder's folder (all-mpnet-base-v2, all-MiniLM-L6-v2)
    train.py PACK TEACHER OUT --minutes M --layers 0 1 2 4 5 7 8 10 11   a student of these layers that also learns from TEACHER's answers
    train.py PACK VERIFIER OUT --minutes M --windows --frozen 0          goes on from a verifier with windows as Lyra reads passages

--minutes is training time in all, over every run; --resume goes on from the state in OUT. On a GPU a twelve-layer MPNet reads 1,300 pairs
a second, a nine-layer one on two cores about 3 windows.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, Iterator

import numpy
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional as F

from encoding import Encoded, encode
from examples import Example, Examples
from labels import NOT_SUPPORTED, SUPPORTS, UNKNOWN
from model import Verifier, read_embedder, read_verifier, write_verifier
from windowed import Windows

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
MAX_TOKENS = 512
FOUND = 0.35
"""Probability from which a window that was thought to be silent is taken to have the side of its claim, and teaches nothing."""
Batch = dict[str, Tensor]


class Reader:
    """Tokenizes each text once, and frames items as `encoding.encode` says."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.cls_token, separator, pad = ("<s>", "</s>", "<pad>") if kind == "mpnet" else ("[CLS]", "[SEP]", "[PAD]")
        self.cls_token_id, self.sep_token_id, self.pad = (self.tokenizer.token_to_id(name) for name in (self.cls_token, separator, pad))
        self.known: dict[str, dict[str, list[int]]] = {}

    def __call__(self, text: str, **_: bool) -> dict[str, list[int]]:
        found = self.known.get(text)
        if found is None:
            if len(self.known) > 400_000:
                self.known.clear()
            found = self.known[text] = {"input_ids": self.tokenizer.encode(text, add_special_tokens=False).ids}
        return found

    def read(self, example: Example) -> Encoded:
        return encode(self, example.claim, example.title, example.sentences, MAX_TOKENS)


def collate(items: list[tuple[Encoded, Example]], pad: int) -> Batch:
    """Sequences padded to a multiple of 16, with labels, known rationales (−1 where unknown) and pairs of twins."""
    tokens = -(-max(len(encoded.ids) for encoded, _ in items) // 16) * 16
    ids, segments = (numpy.full((len(items), tokens), fill, numpy.int64) for fill in (pad, 0))
    padding = numpy.ones((len(items), tokens), bool)
    rows, marks, deciding, twins = [], [], [], defaultdict(list)
    for row, (encoded, example) in enumerate(items):
        length = len(encoded.ids)
        ids[row, :length], segments[row, :length], padding[row, :length] = encoded.ids, encoded.segments, False
        rows += [row] * len(encoded.marks)
        marks += encoded.marks
        known = example.rationale
        deciding += [-1.0 if known is None else float(place in known) for place in range(len(encoded.marks))]
        if example.twin is not None:
            twins[example.twin].append(row)
    return {
        "ids": torch.from_numpy(ids), "segments": torch.from_numpy(segments), "padding": torch.from_numpy(padding),
        "rows": torch.tensor(rows), "marks": torch.tensor(marks), "deciding": torch.tensor(deciding),
        "labels": torch.tensor([example.label for _, example in items]),
        "unless": torch.tensor([-1 if example.unless is None else example.unless for _, example in items]),
        "guess": torch.tensor([example.guess or [0.0] * 3 for _, example in items]),
        "twins": torch.tensor([pair for pair in twins.values() if len(pair) == 2], dtype=torch.long).reshape(-1, 2),
    }


class Stream(torch.utils.data.IterableDataset[Batch]):
    """Batches of like length without end. `done` is the share of training that is over."""

    def __init__(self, examples: Examples, reader: Reader, tokens: int, longest: int, done: Any) -> None:
        self.examples, self.reader, self.tokens, self.longest, self.done = examples, reader, tokens, longest, done

    def __iter__(self) -> Iterator[Batch]:
        worker = torch.utils.data.get_worker_info()
        random = self.examples.random
        random.seed(time.time_ns() + (worker.id if worker else 0))
        while True:
            pool = []
            while len(pool) < (700 if DEVICE == "cuda" else 200):
                unit = [(self.reader.read(example), example) for example in self.examples.unit(self.done.value)]
                # What decides has to be among what was read.
                unit = [(encoded, e) for encoded, e in unit if not e.rationale or min(e.rationale) < len(encoded.marks)]
                if unit and (longest := max(len(encoded.ids) for encoded, _ in unit)) <= self.longest:
                    pool.append((longest, unit))
            pool.sort(key=lambda unit: unit[0] + random.random() * 8)
            batches: list[list[tuple[Encoded, Example]]] = [[]]
            for longest, unit in pool:
                if batches[-1] and (len(batches[-1]) + len(unit)) * longest > self.tokens:
                    batches.append([])
                batches[-1] += unit
            random.shuffle(batches)
            yield from (collate(batch, self.reader.pad) for batch in batches)


def precision() -> torch.autocast:
    # On CPUs, casting costs more than bf16 gains: torch 2.15 trains 1.6 times as fast in f32, even with AVX-512 BF16.
    return torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda")


def answer(model: Verifier, batch: Batch, below: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
    with precision():
        return model(batch["ids"], batch["segments"], batch["padding"], batch["rows"], batch["marks"], below)


def apart(one: Tensor, other: Tensor) -> Tensor:
    """Mean of both divergences between distributions given as logarithms, summed over the rows."""
    return (F.kl_div(one, other, log_target=True, reduction="sum") + F.kl_div(other, one, log_target=True, reduction="sum")) / 2


def loss(batch: Batch, logits: Tensor, rationale: Tensor, taught: tuple[Tensor, Tensor] | None, debias: float, agreement: float,
         before: Tensor | None = None, keep: float = 0.0) -> Tensor:
    """Labels with a product of experts against guessing from the claim (Karimi Mahabadi et al. 2020), rationales, agreement of twins;
    with a teacher, 0.6 of the weight is on its answers. `before` are the logits of the initial verifier: its answers are kept where they
    are right among three labels, and where nothing is labeled (learning without forgetting, Li and Hoiem 2016)."""
    labels, count, alone = batch["labels"], len(logits), logits.log_softmax(-1)
    found = (batch["unless"] >= 0) & (alone.detach().exp().gather(1, batch["unless"].clamp(min=0)[:, None])[:, 0] > FOUND)
    joint, plain = (logits + debias * batch["guess"]).log_softmax(-1), (labels != NOT_SUPPORTED) & (labels != UNKNOWN) & ~found
    total = F.nll_loss(joint[plain], labels[plain], reduction="sum") * 0.95 - joint[plain].mean(-1).sum() * 0.05
    if (either := labels == NOT_SUPPORTED).any():
        total = total - torch.log1p(-joint[either, SUPPORTS].exp().clamp(max=0.999)).sum()
    total, known = total / count, (batch["deciding"] >= 0) & ~found[batch["rows"]]
    if known.any():
        weight = torch.tensor(2.0, device=logits.device)
        total = total + 0.3 * F.binary_cross_entropy_with_logits(rationale[known], batch["deciding"][known], pos_weight=weight)
    if len(batch["twins"]):
        total = total + agreement * apart(alone[batch["twins"][:, 0]], alone[batch["twins"][:, 1]]) / count
    if before is not None:
        right = (labels == UNKNOWN) | (before.argmax(-1) == labels)
        total = total + keep * F.kl_div(alone[right], before[right].log_softmax(-1), log_target=True, reduction="sum") / count
    if taught:
        astray = F.kl_div(alone, taught[0].log_softmax(-1), log_target=True, reduction="sum") / count
        total = 0.4 * total + 0.6 * (2 * astray + 0.5 * F.binary_cross_entropy_with_logits(rationale, taught[1].sigmoid()))
    return total


def train(model: Verifier, reader: Reader, examples: Examples, seconds: float, rate: float, tokens: int, *, longest: int = MAX_TOKENS, teacher: Verifier | None = None,
          debias: float = 0.3, agreement: float = 0.6, twice: float = 0.0, began: Verifier | None = None, keep: float = 0.0, workers: int = 2, state: Path | None = None, resume: bool = False, warm: bool = False, warm_up: int = 250) -> Verifier:
    """Trains for this long and leaves the running average of the weights. `warm` skips the first, general quarter of the mixture."""
    model.to(DEVICE).train()
    model.keep_frozen()
    done = multiprocessing.Value("d", 1.0 if warm else 0.0)
    loader = iter(torch.utils.data.DataLoader(Stream(examples, reader, tokens, longest, done), batch_size=None, num_workers=workers, prefetch_factor=8,
                                              pin_memory=DEVICE == "cuda"))
    trained = [p for name, p in model.named_parameters() if p.requires_grad and not name.startswith("distances")]
    groups = [{"params": [p for p in trained if p.dim() > 1], "weight_decay": 0.01}, {"params": [p for p in trained if p.dim() <= 1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.98), fused=True)
    average, step, pairs, spent, saved = [p.detach().clone() for p in trained], 0, 0, 0.0, time.time()
    if resume and state and state.exists():
        was = torch.load(state, map_location=DEVICE)
        model.load_state_dict(was["model"])
        optimizer.load_state_dict(was["optimizer"])
        average, step, pairs, spent = was["average"], was["step"], was["pairs"], was["spent"]
    batch, start = next(loader), time.time() - spent
    while (share := (time.time() - start) / seconds) < 1:
        done.value = 1.0 if warm else share
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1, (step + 1) / warm_up) * max(0.02, 1 - share)
        batch = {name: value.to(DEVICE, non_blocking=True) for name, value in batch.items()}
        below = None
        if model.frozen:
            # Computed once: neither dropout nor training changes them.
            with torch.no_grad(), precision():
                below = model.frozen_states(batch["ids"], batch["segments"], batch["padding"])
        logits, rationale = answer(model, batch, below)
        taught = None
        if teacher:
            with torch.no_grad():
                taught = answer(teacher, batch)
        before = None
        if began:
            with torch.no_grad():
                before = answer(began, batch, below)[0]
        loss_now = loss(batch, logits, rationale, taught, debias, agreement, before, keep)
        if twice:
            # Read again with other dropout: both readings have to agree (R-Drop, Wu et al. 2021).
            again, marked = answer(model, batch, below)
            same = apart(logits.log_softmax(-1), again.log_softmax(-1)) / len(logits)
            loss_now = (loss_now + loss(batch, again, marked, taught, debias, agreement, before, keep)) / 2 + twice * same
        loss_now.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 4 == 0:
            torch._foreach_lerp_(average, [p.detach() for p in trained], 1 - min(0.996, (1 + step / 4) / (10 + step / 4)))
        step, pairs = step + 1, pairs + len(logits)
        if step % (500 if DEVICE == "cuda" else 20) == 0:
            print(f"{share:.0%}, step {step}, loss {loss_now.item():.3f}, {pairs} pairs, {pairs / (time.time() - start):.1f} a second", flush=True)
        if state and time.time() - saved > 300:
            saved = time.time()
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "average": average, "step": step, "pairs": pairs,
                        "spent": saved - start}, state.with_suffix(".part"))
            os.replace(state.with_suffix(".part"), state)
        batch = next(loader)
    for parameter, mean in zip(trained, average):
        parameter.data.copy_(mean)
    print(f"{step} steps, {pairs} pairs in {time.time() - start:.0f} s", flush=True)
    return model.eval()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=Path)
    parser.add_argument("base", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--layers", type=int, nargs="+", help="layers of a trained verifier that its student begins with")
    parser.add_argument("--windows", action="store_true", help="go on from the verifier BASE with windows of passages")
    parser.add_argument("--weights", nargs="+", metavar="NAME=WEIGHT", help="with --windows: weights of kinds of examples, instead of those of windowed.py")
    parser.add_argument("--frozen", type=int, help="the embeddings and this many first layers stay as they are")
    parser.add_argument("--agreement", type=float, default=0.6, help="weight of the divergence between twins")
    parser.add_argument("--twice", type=float, default=0.0, help="weight of the divergence between two readings with other dropout; 0 reads once")
    parser.add_argument("--keep", type=float, default=0.0, help="with --windows: weight of what BASE says where it is right and where nothing is labeled")
    parser.add_argument("--warm-up", type=int, default=250, help="steps until the rate is reached")
    parser.add_argument("--rate", type=float, default=4e-5)
    parser.add_argument("--tokens", type=int, default=32_768 if DEVICE == "cuda" else 4_096, help="tokens of a batch")
    parser.add_argument("--longest", type=int, default=MAX_TOKENS, help="tokens of an example at most; longer ones are left out")
    parser.add_argument("--debias", type=float, default=0.3, help="weight of the claim-only expert")
    parser.add_argument("--workers", type=int, default=min(14, max(1, (os.cpu_count() or 2) - 2)))
    parser.add_argument("--resume", action="store_true")
    options = parser.parse_args()
    if (options.keep or options.weights) and not options.windows:
        parser.error("--keep and --weights need --windows")
    torch.set_flush_denormal(True)
    torch.backends.cuda.matmul.allow_tf32 = True
    teaching = read_verifier(options.base).to(DEVICE).eval() if options.layers else None
    pupil = teaching.only(options.layers) if teaching else read_verifier(options.base) if options.windows else read_embedder(options.base)
    began = read_verifier(options.base).to(DEVICE).eval() if options.windows and options.keep else None
    for verifier in (pupil, began):
        if verifier and options.frozen is not None:
            verifier.freeze(options.frozen)
    examples = Windows(options.pack, kept=options.keep > 0) if options.windows else Examples(options.pack)
    if options.weights:
        examples.weights |= {name: float(weight) for name, _, weight in (part.partition("=") for part in options.weights)}
    options.out.mkdir(parents=True, exist_ok=True)
    pupil = train(pupil, Reader(options.base, pupil.shape.kind), examples, options.minutes * 60, options.rate, options.tokens, longest=options.longest,
                  teacher=teaching, debias=options.debias, agreement=options.agreement, twice=options.twice, began=began, keep=options.keep, workers=options.workers, state=options.out / "training.pt", resume=options.resume, warm=teaching is not None or options.windows,
                  warm_up=options.warm_up)
    write_verifier(pupil, options.out, options.base)

"""Trains the NLI cross-encoder: [CLS] premise [SEP] hypothesis [SEP] → contradiction, entailment, neutral.

usage: train.py BASE_FOLDER PAIRS.jsonl.gz OUT_FOLDER --minutes 60 [--repeat claim:3 …] [--workers 2]

BASE_FOLDER is the embedder (first phase) or an earlier OUT_FOLDER (later phases). Time bounds the run: the learning rate
falls to zero over `--minutes` of wall time, whatever the machine manages in them. Every worker is a process of one
thread with its own shard of the pairs; their weights are averaged every few steps (local SGD), which needs no fast
link and does not wait at every matrix product as threads do on a busy machine. The result is an exponential moving
average of the weights. A run that was stopped goes on from its last checkpoint when started again.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification, AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from data import LABELS, Pair, read_pairs


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--steps", type=int, help="stop after so many steps, if the time has not run out before")
    parser.add_argument("--rate", type=float, default=5e-5, help="peak learning rate")
    parser.add_argument("--batch", type=int, default=24, help="pairs per step and worker")
    parser.add_argument("--max-tokens", type=int, default=160)
    parser.add_argument("--smoothing", type=float, default=0.05, help="label smoothing")
    parser.add_argument("--decay", type=float, default=0.99, help="of the moving average, per averaging of the workers")
    parser.add_argument("--every", type=int, default=10, help="steps between two averagings of the workers")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeat", nargs="*", default=[], metavar="SOURCE:TIMES", help="sources shown more often")
    parser.add_argument("--train-words", action="store_true", help="also train the word table (first phase)")
    parser.add_argument("--port", type=int, default=29541, help="of the loopback link between the workers")
    return parser.parse_args()


def load(folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    names = dict(enumerate(LABELS))
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=len(LABELS), id2label=names, label2id={v: k for k, v in names.items()}, dtype=torch.float32
    )
    return model, AutoTokenizer.from_pretrained(folder)


def repeated(pairs: list[Pair], repeat: list[str]) -> list[Pair]:
    times = {source: int(count) for source, count in (item.rsplit(":", 1) for item in repeat)}
    if unknown := times.keys() - {p.source for p in pairs}:
        raise SystemExit(f"--repeat names sources that are not in the pairs: {', '.join(sorted(unknown))}")
    return [p for p in pairs for _ in range(times.get(p.source, 1))]


def batches(pairs: list[Pair], size: int, random: Random) -> Iterator[list[Pair]]:
    """Endless passes over the pairs, in random order, pairs of similar length together."""
    while True:
        order = random.sample(pairs, len(pairs))
        for start in range(0, len(order), size * 40):
            block = sorted(order[start : start + size * 40], key=lambda p: len(p.premise) + len(p.hypothesis))
            ready = [block[i : i + size] for i in range(0, len(block), size)]
            random.shuffle(ready)
            yield from ready


class Average:
    """Exponential moving average of the trained weights; starts as a plain mean, so it forgets where it began."""

    def __init__(self, weights: list[Tensor], decay: float) -> None:
        self.weights, self.decay, self.count = [w.detach().clone() for w in weights], decay, 0

    def add(self, weights: list[Tensor]) -> None:
        self.count += 1
        keep = min(self.decay, (1 + self.count) / (10 + self.count))
        for mean, now in zip(self.weights, weights, strict=True):
            mean.lerp_(now.detach(), 1 - keep)


def work(rank: int, args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    dist.init_process_group("gloo", rank=rank, world_size=args.workers)
    torch.manual_seed(rank)
    model, tokenizer = load(args.base)
    if not args.train_words:
        model.base_model.embeddings.requires_grad_(False)
    trained = [p for p in model.parameters() if p.requires_grad]
    for weight in trained:  # a fresh head is random: all start from the first worker's
        dist.broadcast(weight.data, 0)
    optimiser = torch.optim.AdamW(
        [
            {"params": [p for p in trained if p.dim() > 1], "weight_decay": 0.01},
            {"params": [p for p in trained if p.dim() == 1], "weight_decay": 0.0},
        ],
        lr=args.rate,
    )
    average = Average(trained, args.decay)
    checkpoint = args.out / f"worker-{rank}.pt"
    elapsed, step = 0.0, 0
    if checkpoint.exists():
        state = torch.load(checkpoint, weights_only=True)
        optimiser.load_state_dict(state["optimiser"])
        for weights, kept in ((trained, state["trained"]), (average.weights, state["average"])):
            for weight, value in zip(weights, kept, strict=True):
                weight.data.copy_(value)
        elapsed, step, average.count = state["elapsed"], state["step"], state["count"]

    pairs = repeated(read_pairs(args.pairs), args.repeat)
    Random(0).shuffle(pairs)
    source = batches(pairs[rank :: args.workers], args.batch, Random(1000 * rank + step))
    loss_of = nn.CrossEntropyLoss(label_smoothing=args.smoothing)
    started, saved, shown, running = time.monotonic() - elapsed, time.monotonic(), 0, 1.1
    model.train()
    while True:
        if step % args.every == 0:
            average_workers(trained, args.workers)
            average.add(trained)
            done = agreed((time.monotonic() - started) / (60 * args.minutes))
            if args.steps:
                done = max(done, step / args.steps)
            if step % (args.every * 10) == 0 and rank == 0:
                spent = time.monotonic() - started
                rate = shown * args.workers / max(spent - elapsed, 1e-9)
                print(f"step {step} done {done:.1%} loss {running:.3f} {rate:.1f} pairs/s", flush=True)
            save = done >= 1 or agreed(time.monotonic() - saved) > 240
            if save:
                saved = time.monotonic()
                state = {"optimiser": optimiser.state_dict(), "trained": trained, "average": average.weights,
                         "elapsed": saved - started, "step": step, "count": average.count}  # fmt: skip
                write(args.out, rank, state, model, trained, average, tokenizer)
            if done >= 1:
                break
            for group in optimiser.param_groups:
                group["lr"] = args.rate * min(1.0, (step + 1) / 40) * max(1 - done, 0.02)
        batch = next(source)
        shown += len(batch)
        words = tokenizer(
            [p.premise for p in batch], [p.hypothesis for p in batch], truncation=True, padding=True,
            pad_to_multiple_of=8, max_length=args.max_tokens, return_tensors="pt",
        )  # fmt: skip
        with torch.autocast("cpu", torch.bfloat16):
            logits = model(**words).logits
        loss = loss_of(logits.float(), torch.tensor([LABELS.index(p.label) for p in batch]))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        running += 0.02 * (loss.item() - running)
        step += 1
    dist.destroy_process_group()


def average_workers(weights: list[Tensor], workers: int) -> None:
    flat = torch.cat([w.data.flatten() for w in weights])
    dist.all_reduce(flat)
    flat /= workers
    for weight, mean in zip(weights, flat.split([w.numel() for w in weights]), strict=True):
        weight.data.copy_(mean.view_as(weight))


def agreed(value: float) -> float:
    """The first worker's clock decides for all."""
    clock = torch.tensor([value], dtype=torch.float64)
    dist.broadcast(clock, 0)
    return clock.item()


def write(
    out: Path,
    rank: int,
    state: dict,
    model: PreTrainedModel,
    trained: list[Tensor],
    average: Average,
    tokenizer: PreTrainedTokenizerBase,
) -> None:
    """This worker's state to go on from; from the first one also the averaged model, ready to use."""
    out.mkdir(parents=True, exist_ok=True)
    part = out / f"worker-{rank}.part"
    torch.save(state, part)
    part.rename(out / f"worker-{rank}.pt")
    if rank == 0:
        now = [w.data.clone() for w in trained]
        for weight, mean in zip(trained, average.weights, strict=True):
            weight.data.copy_(mean)
        model.save_pretrained(out)
        tokenizer.save_pretrained(out)
        for weight, value in zip(trained, now, strict=True):
            weight.data.copy_(value)


def main() -> None:
    args = arguments()
    processes.spawn(work, (args,), nprocs=args.workers)


if __name__ == "__main__":
    main()

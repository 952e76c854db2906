"""Turns a trained folder into the shipped files: models/lite-nli.gguf and its golden.

usage: export.py TRAINED_FOLDER OUT_FOLDER [--server lyra-ml-server]
       export.py FOLDER --only-golden

1. The temperature that fits the confidences best (on MNLI and SNLI pairs outside the
   evaluation's sample) is put into the last layer: no label changes by it.
2. The folder is quantised by `lyra-ml-server quantize`.
3. `ml-server/tests/golden/lite-nli.json` gets the logits of the un-quantised folder, computed by transformers in f32, for
   the hand-written pairs, windows of the example corpus, and a few odd texts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from random import Random

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from data import LABELS, SHARED, Pair, lines, read_pairs, windows
from evaluate import build
from judges import MAX_TOKENS, folder_logits
from probes import read_probes

ROOT = Path(__file__).resolve().parents[2]


def temperature(logits: torch.Tensor, gold: torch.Tensor) -> float:
    """The divisor of the logits with the smallest cross entropy."""
    grid = torch.linspace(0.4, 3.0, 261)
    losses = [torch.nn.functional.cross_entropy(logits / t, gold).item() for t in grid]
    return float(grid[min(range(len(losses)), key=losses.__getitem__)])


def calibration_pairs(count: int = 600) -> list[Pair]:
    used = {p[:2] for p in build(general=1000, claims=False).pairs}
    pairs = [p for f in ("dev_mnli", "dev_snli") for p in read_pairs(SHARED / f"data/nli/{f}.jsonl.gz") if p[:2] not in used]
    return Random(11).sample(pairs, count)


def logits_of(folder: Path, pairs: list[tuple[str, str]]) -> torch.Tensor:
    ask = folder_logits(folder)
    return torch.cat([ask(pairs[i : i + 16]) for i in range(0, len(pairs), 16)])


def calibrated(folder: Path, out: Path) -> float:
    pairs = calibration_pairs()
    logits = logits_of(folder, [(p.premise, p.hypothesis) for p in pairs])
    best = temperature(logits, torch.tensor([LABELS.index(p.label) for p in pairs]))
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    with torch.no_grad():
        model.classifier.weight /= best
        model.classifier.bias /= best
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(folder).save_pretrained(out)
    return best


def golden_pairs() -> list[tuple[str, str]]:
    """Only texts written for Lyra: every clone may hold them."""
    random = Random(5)
    pairs = [(p.premise, p.hypothesis) for p in read_probes()]
    for file in sorted((ROOT / "examples/corpus").glob("*.jsonl")):
        texts = [row for row in lines(file) if row["language"] == "en"]
        sentences = [[s + "." for s in t["abstract"].rstrip(".").split(". ")] for t in texts]
        pairs += [(random.choice(windows(random.choice(sentences))), random.choice(random.choice(sentences))) for _ in range(18)]
    long = " ".join(row["abstract"] for row in lines(ROOT / "examples/corpus/nap.jsonl") if row["language"] == "en")
    pairs += [
        (long, "Napping improves memory."),
        (long[:700], long[700:2600]),
        ("Napping improves memory.", long),
        ("", "Napping improves memory."),
        ("Napping improves memory.", ""),
        ("Ärzte in Zürich maßen 37,5 °C – naïve résumé…", "The temperature was 37.5 °C."),
        ("IL‑6 ↑ 2×, TNF‑α ↓ (p = 1×10⁻⁵); n≥30", "IL-6 doubled and TNF-α fell."),
        ("昼寝は記憶を改善した。", "A nap improved memory."),
    ]
    return pairs


def write_golden(folder: Path, out: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    rows = []
    pairs = golden_pairs()
    for (premise, hypothesis), logits in zip(pairs, logits_of_each(folder, pairs), strict=True):
        ids = tokenizer(premise, hypothesis, truncation=True, max_length=MAX_TOKENS)["input_ids"]
        rows.append(
            {
                "premise": premise,
                "hypothesis": hypothesis,
                "logits": [round(x, 6) for x in logits],
                "label": LABELS[max(range(3), key=logits.__getitem__)],
                "tokens": len(ids),
                "first_ids": ids[:12],
            }
        )
    head = {"reference": "transformers, f32, before quantising", "max_length": MAX_TOKENS}
    body = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    text = json.dumps(head, indent=1)[:-2] + f',\n "pairs": [\n{body}\n]}}\n'
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf8")
    json.loads(text)


def logits_of_each(folder: Path, pairs: list[tuple[str, str]]) -> list[list[float]]:
    """One pair at a time: no padding, so nothing but the pair decides."""
    ask = folder_logits(folder)
    return [ask([pair])[0].tolist() for pair in pairs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trained", type=Path)
    parser.add_argument("out", type=Path, nargs="?", help="folder for the calibrated f32 model")
    parser.add_argument("--only-golden", action="store_true", help="write the golden of a folder that was exported before")
    parser.add_argument("--server", default="lyra-ml-server", help="binary that quantises")
    args = parser.parse_args()
    golden = ROOT / "ml-server/tests/golden/lite-nli.json"
    if args.only_golden:
        return write_golden(args.trained, golden)
    if not args.out:
        parser.error("OUT_FOLDER is missing: where the calibrated f32 model goes")
    print(f"temperature {calibrated(args.trained, args.out):.2f}")
    gguf = ROOT / "models/lite-nli.gguf"
    options = ["--name", "lyra-lite-nli", "--language", "en", "--max-tokens", str(MAX_TOKENS)]
    subprocess.run([args.server, "quantize", args.out, gguf, *options], check=True)
    write_golden(args.out, golden)


if __name__ == "__main__":
    main()

"""Writes the training pairs.

usage: make_pairs.py {general|evidence} OUT.jsonl.gz [--seed 0]

`general` is the first phase: everyday inference. `evidence` is the phase that makes the model usable here: windows of
abstracts against claims, most of them saying nothing about the claim. README.md explains each source.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from random import Random

import natural
from data import SHARED, Pair, SciFact, TrainingText, read_pairs, write_pairs
from grammar import comparisons, effects, figures


def general(random: Random) -> list[Pair]:
    return [pair for pair in read_pairs(SHARED / "data/nli/train.jsonl.gz") if not pair.source.startswith("scifact")]


# How many general pairs go into the evidence phase, and how many of a set's contradictions at most: captions
# contradict each other whenever they show different scenes, which is the opposite of what evidence needs.
GENERAL = {"snli": (5000, 1700), "esnli_dev": (1000, 350), "semiauto_nli": (5000, 1800), "conjnli": (3500, 1200),
           "cfnli": (2000, 700), "taxinli": (2400, 700)}  # fmt: skip


def evidence(random: Random) -> list[Pair]:
    text = TrainingText(SciFact())
    pairs = (
        natural.sentences(text, 4500, random)
        + natural.reported(text, random)
        + natural.comparisons(text, random)
        + natural.titles(text, random)
        + natural.claims(text, 3, random)
        + natural.number_edits(text, 1200, random)
        + effects(12000, random)
        + comparisons(3000, random)
        + figures(3500, random)
    )
    pool = general(random)
    random.shuffle(pool)
    room = {source: list(limits) for source, limits in GENERAL.items()}
    for pair in pool:
        left = room[pair.source]
        if left[0] > 0 and (pair.label != "contradiction" or left[1] > 0):
            left[0] -= 1
            left[1] -= pair.label == "contradiction"
            pairs.append(pair)
    factual = [p for p in pool if p.source in ("semiauto_nli", "conjnli", "cfnli", "taxinli")]
    pairs += natural.shuffled(factual, 1500, random)
    return pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phase", choices=("general", "evidence"))
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    random = Random(args.seed)
    pairs = {"general": general, "evidence": evidence}[args.phase](random)
    pairs = [p for p in dict.fromkeys(pairs) if p.premise and p.hypothesis]
    random.shuffle(pairs)
    write_pairs(args.out, pairs)
    table = Counter((p.source, p.label) for p in pairs)
    for source in sorted({p.source for p in pairs}):
        row = {label: table[source, label] for label in ("entailment", "neutral", "contradiction")}
        print(f"{source:18}", *(f"{label} {count:6}" for label, count in row.items()))
    labels = Counter(p.label for p in pairs)
    print(len(pairs), "pairs,", ", ".join(f"{k} {v / len(pairs):.0%}" for k, v in labels.items()))


if __name__ == "__main__":
    main()

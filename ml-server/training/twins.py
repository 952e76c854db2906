"""Measures how often two wordings of one claim get opposite verdicts, through the pipeline.

    twins.py --jsonl OUT                 writes the pairs as `lyra eval` reads them; both claims of a pair are a group
    lyra eval OUT --json > EVAL
    twins.py EVAL [--list]               the figures, and with `--list` the opposite pairs

The pairs are the claims of the validation split that name a twin, on their own text (all are supported), and on the edited texts of
`claims/contrast.jsonl` (supported, refuted or left open); and apart from these, of kind “version”, those of `claims/contrast_3.jsonl`.
No training row is about these documents.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Iterator

if TYPE_CHECKING:
    from pack import Packer

Row = dict[str, Any]
NAMES = {"contradiction": "REFUTE", "entailment": "SUPPORT", "neutral": "NEI"}


def lines(claims: tuple[str, str], text: Row, group: str, kind: str) -> Iterator[Row]:
    """A text with each of two claims."""
    from labels import LABELS

    for claim in claims:
        # One document for all, so that `lyra eval` does not judge the passages of others as well.
        yield {"claim": claim, "title": text["title"], "sentences": text["sentences"], "label": NAMES[LABELS[text["label"]]], "group": group, "kind": kind, "doc": "-"}


def pairs(packer: Packer) -> Iterator[Row]:
    """Two lines for every pair and text."""
    from labels import NUMBER

    rows = [row for name in ("written", "written_2") for row in packer.read(name)]
    held = {row["doc"] for row in rows if row.get("split") == "validation"}
    twins = [row for row in rows if row["doc"] in held and row.get("twin") and row["doc"] in packer.docs
             and packer.outside(row["claim"]) and packer.outside(row["twin"])]
    edited: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in packer.contrast(held):
        if row["split"] != "train" and row["edited"]:
            edited[row["doc"], row["claim"]].append(row)
    for row in twins:
        own = {**packer.docs[row["doc"]], "label": NUMBER[row["label"]], "kind": "own text"}
        changed = [{**text, "kind": "edited text"} for claim in (row["claim"], row["twin"]) for text in edited[row["doc"], claim]]
        for number, text in enumerate([own, *changed]):
            yield from lines((row["claim"], row["twin"]), text, f"{row['doc']} {row['claim']} {number}", text["kind"])


def versions(packer: Packer) -> Iterator[Row]:
    """Two lines for every pair of claims of `inference_3.jsonl` and version of a held-out text."""
    from pack import restated

    twin = {(row["doc"], row["twin"]): row["claim"] for row in restated("inference_3") if row.get("twin")}
    for number, row in enumerate(packer.edited(set())):
        if row["split"] != "train" and (other := twin.get((row["doc"], row["claim"]))):
            yield from lines((row["claim"], other), row, f"{row['doc']} {row['claim']} {number}", "version")


def interval(found: int, of: int) -> str:
    """The share with its Wilson interval of 95 %."""
    share, z = found / of, 1.96
    middle, spread = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    low, high = ((middle - spread) / (1 + z * z / of), (middle + spread) / (1 + z * z / of))
    return f"{share:.3f} [{max(0.0, low):.3f}, {high:.3f}] ({found} of {of})"


def in_order(evaluation: Row) -> list[Row]:
    """Answers in the order of the rows, which `lyra eval` numbers; it may answer in another one."""
    return sorted((answer for part in evaluation["sets"] for answer in part["answers"]), key=lambda answer: int(answer["id"]))


def score(answers: list[Row], show: bool) -> None:
    found = list(zip(answers[::2], answers[1::2]))
    says = lambda row: row["said"] or "NEI"
    kinds = Counter(" / ".join(sorted((says(a), says(b)))) for a, b in found)
    print(f"pairs: {len(found)}")
    print("opposite verdicts:", interval(kinds["REFUTE / SUPPORT"], len(found)))
    print("a side and neutral:", interval(kinds["NEI / SUPPORT"] + kinds["NEI / REFUTE"], len(found)))
    print("claims judged right:", interval(sum(says(row) == row["label"] for pair in found for row in pair), 2 * len(found)))
    print("on the wrong side:", interval(sum({says(row), row["label"]} == {"REFUTE", "SUPPORT"} for pair in found for row in pair), 2 * len(found)))
    for pair in found if show else []:
        if {says(row) for row in pair} == {"REFUTE", "SUPPORT"}:
            print(*(f"\n  {says(row)} (is {row['label']}) {row['confidence']}: {row['claim']}" for row in pair))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("eval", nargs="?", help="what `lyra eval --json` printed")
    arguments.add_argument("--jsonl", help="write the pairs here")
    arguments.add_argument("--list", action="store_true", help="print the opposite pairs")
    given = arguments.parse_args()
    if given.jsonl:
        from pack import Packer

        packer = Packer()
        with open(given.jsonl, "w", encoding="utf8") as out:
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in (*pairs(packer), *versions(packer)))
    if given.eval:
        with open(given.eval, encoding="utf8") as file:
            answers = in_order(json.load(file))
        for name, some in (("texts", [row for row in answers if row["kind"] != "version"]), ("versions", [row for row in answers if row["kind"] == "version"])):
            print(name)
            score(some, given.list)


if __name__ == "__main__":
    main()

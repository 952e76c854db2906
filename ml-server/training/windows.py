"""Compares whole passages with windows of four sentences, through a running ml-server, on what the verifier was not trained on.

    lyra-ml-server --verify-model ../../models/lite-verify.gguf --port 8777
    windows.py http://127.0.0.1:8777 [--sample N] [--thresholds T…] [--jsonl OUT]

`--jsonl` writes the rows as `lyra eval` reads them and asks no server. The rule is that of
`orchestrator/crates/research/src/verdict/verifier.rs`: the surest side of any window counts when it reaches the model's threshold.
"""

from __future__ import annotations

import argparse
import json
import random
import urllib.request
from collections import defaultdict
from typing import Any, Iterator

from labels import LABELS, NEUTRAL
from pack import Packer

WINDOW, STRIDE = 4, 2
SIDES = ("refutes", "supports")
Row = dict[str, Any]


def rows(sample: int) -> Iterator[tuple[str, Row]]:
    """Held-out rows with title and sentences: all of SciFact, and a sample of the written claims and of the contrast groups."""
    packer, chosen = Packer(), random.Random(5)
    written = packer.written()
    _, scifact = packer.scifact({row["doc"] for row in written if row["split"] == "train"})
    held = [row for row in written if row["split"] != "train"]
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in packer.contrast({row["doc"] for row in held}):
        if row["split"] != "train":
            groups[row["group"]].append(row)
    some = chosen.sample(sorted(groups), min(sample // 3, len(groups)))
    apart = {row["doc"] for row in [*held, *scifact]}
    found, asked, edited = ([row for row in some if row["split"] != "train"] for some in (packer.retrieved(apart), packer.asked(apart), packer.edited(apart)))
    sets = {"scifact": scifact, "written": chosen.sample(held, min(sample, len(held))), "contrast": [row for name in some for row in groups[name]], "retrieved": found, "asked": asked, "edited": edited}
    for name, found in sets.items():
        for row in found:
            yield name, {**packer.docs[row["doc"]], **row}


def ask(url: str, row: Row, windows: list[list[str]]) -> list[dict[str, float]]:
    items = [{"claim": row["claim"], "title": row["title"] or None, "sentences": window} for window in windows]
    request = urllib.request.Request(f"{url}/verify", json.dumps({"items": items}).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return [result["scores"] for result in json.load(answer)["results"]]


def side(scores: dict[str, float], threshold: float) -> int:
    best = max(range(2), key=lambda number: scores[SIDES[number]])
    return best if scores[SIDES[best]] >= threshold else NEUTRAL


def figures(labels: list[int], said: list[int]) -> str:
    right = sum(a == b for a, b in zip(labels, said))
    sided = sum(a == b != NEUTRAL for a, b in zip(labels, said))
    taken, there = sum(b != NEUTRAL for b in said), sum(a != NEUTRAL for a in labels)
    wrong = sum(a != NEUTRAL != b != a for a, b in zip(labels, said))
    return (f"accuracy {right / len(labels):.3f}, precision {sided / max(1, taken):.3f}, recall {sided / max(1, there):.3f}, "
            f"label F1 {2 * sided / max(1, taken + there):.3f}, on the wrong side {wrong}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("url", nargs="?")
    arguments.add_argument("--sample", type=int, default=170, help="written claims, and three times the contrast groups")
    arguments.add_argument("--thresholds", type=float, nargs="+", help="least probabilities of a side, instead of the model's")
    arguments.add_argument("--jsonl", help="write the rows here for `lyra eval`, the set as their kind")
    given = arguments.parse_args()
    found: dict[str, list[Row]] = defaultdict(list)
    for name, row in rows(given.sample):
        found[name].append(row)
    if given.jsonl:
        names = {"contradiction": "REFUTE", "entailment": "SUPPORT", "neutral": "NEI"}
        with open(given.jsonl, "w", encoding="utf8") as out:
            for kind, row in ((kind, row) for kind, some in found.items() for row in some):
                line = {field: row[field] for field in ("claim", "title", "sentences", "rationale", "doc")}
                group = {"group": row["group"]} if "group" in row and kind != "scifact" else {}
                out.write(json.dumps({**line, **group, "label": names[LABELS[row["label"]]], "kind": kind}) + "\n")
        return
    with urllib.request.urlopen(f"{given.url}/info") as info:
        stated = next(model["threshold"] for model in json.load(info)["models"] if model["kind"] == "verify")
    for name, some in found.items():
        whole, windowed = [], []
        for row in some:
            sentences = row["sentences"]
            windows = [sentences[at:at + WINDOW] for at in range(0, max(1, len(sentences) - STRIDE), STRIDE)]
            first, *parts = ask(given.url, row, [sentences, *(windows if len(sentences) > WINDOW else [])])
            whole.append(first)
            windowed.append({name: max(scores[name] for scores in parts) for name in SIDES} if parts else first)
        print(f"{name}, n {len(some)}")
        for threshold in given.thresholds or [stated]:
            for how, scores in (("whole", whole), ("windows", windowed)):
                said = [side(one, threshold) for one in scores]
                print(f"  {how} at {threshold}: {figures([row['label'] for row in some], said)}", flush=True)


if __name__ == "__main__":
    main()

"""Figures of a verifier that reads passages by windows, as Lyra does, straight from its training folder: no server is needed.

    windows.py --jsonl ROWS; twins.py --jsonl TWINS
    curve.py FOLDER ROWS TWINS --out ANSWERS.json      reads every window once and keeps its answers
    curve.py --figures ANSWERS.json… [--thresholds T…]  figures of answers, on all documents and on each half of them
    curve.py --figures OLD.json NEW.json --thresholds T U --paired [--part 1]    what NEW at U has over OLD at T, on the same rows

Documents are split into halves by a hash of their id: choose on half 0, report half 1. The pipeline's guards are not applied.
"""

from __future__ import annotations

import argparse
import json
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy
import torch

from encoding import encode
from labels import NEUTRAL, NUMBER, REFUTES, SUPPORTS
from model import Verifier, read_verifier

WINDOW, STRIDE = 4, 2
MOST_SHOWN = 3
Row = dict[str, Any]


def windows_of(sentences: list[str]) -> list[tuple[int, list[str]]]:
    """Windows with their first sentence, as `orchestrator/crates/research/src/steps/verdict/verifier.rs` cuts them."""
    return [(at, sentences[at : at + WINDOW]) for at in range(0, max(1, len(sentences) - STRIDE), STRIDE)]


@torch.no_grad()
def read(folder: Path, rows: list[Row]) -> list[list[tuple[int, list[float], list[float]]]]:
    """For each row its windows: the first sentence, the three label logits, and the rationale logits of its sentences."""
    from train import DEVICE, Reader, answer, collate
    from examples import Example

    tokens = 60_000 if DEVICE == "cuda" else 4_096
    model: Verifier = read_verifier(folder).to(DEVICE).eval()
    reader = Reader(folder, model.shape.kind)
    items: dict[Any, Any] = {}
    for row in rows:
        for _, window in windows_of(row["sentences"]):
            key = (row["claim"], row["title"], *window)
            if key not in items:
                example = Example(row["title"] or None, window, row["claim"], NEUTRAL)
                items[key] = (reader.read(example), example)
    keys = sorted(items, key=lambda key: len(items[key][0].ids))
    answers: dict[Any, Any] = {}
    at = 0
    while at < len(keys):
        end = at + 1
        while end < len(keys) and (end - at + 1) * (len(items[keys[end]][0].ids) + 16) <= tokens:
            end += 1
        batch = {name: value.to(DEVICE) for name, value in collate([items[key] for key in keys[at:end]], reader.pad).items()}
        logits, marks = answer(model, batch)
        found: dict[int, list[float]] = defaultdict(list)
        for place, mark in zip(batch["rows"].tolist(), marks.tolist()):
            found[place].append(round(mark, 4))
        for place, key in enumerate(keys[at:end]):
            answers[key] = ([round(x, 4) for x in logits[place].tolist()], found[place])
        at = end
    return [[(first, *answers[row["claim"], row["title"], *window]) for first, window in windows_of(row["sentences"])] for row in rows]


def half(row: Row) -> int:
    """The half of a row: texts of one group stay together."""
    return zlib.crc32(str(row["group"] if row["doc"] == "-" else row["doc"]).encode()) & 1


def softmax(logits: list[float]) -> numpy.ndarray:
    shifted = numpy.exp(numpy.array(logits) - max(logits))
    return shifted / shifted.sum()


def surest(windows: list[Any]) -> tuple[numpy.ndarray, int]:
    """The probabilities of both sides in the window that is surest of one, and its place."""
    sides = [softmax(logits)[:2] for _, logits, _ in windows]
    place = max(range(len(sides)), key=lambda n: sides[n].max())
    return sides[place], place


def judge(windows: list[Any], threshold: float, decides: float = 0.4) -> tuple[int, list[int]]:
    """The verdict of the surest window, and the sentences that are shown: those that decide in any window of that side."""
    best, decisive = surest(windows)
    if best.max() < threshold:
        return NEUTRAL, []
    side, most = int(best.argmax()), defaultdict(float)
    for first, logits, marks in windows:
        if softmax(logits)[side] >= threshold:
            for place, chance in enumerate(1 / (1 + numpy.exp(-numpy.array(marks)))):
                most[first + place] = max(most[first + place], float(chance))
    first, _, marks = windows[decisive]
    most[first + int(numpy.argmax(marks))] = 2.0
    return side, sorted(sorted((n for n, chance in most.items() if chance >= decides), key=lambda n: -most[n])[:MOST_SHOWN])


def counted_sides(found: list[tuple[int, int]]) -> tuple[int, int, int]:
    """Of pairs of label and verdict: the sides that are right, that are taken, and that there are."""
    return sum(a == b != NEUTRAL for a, b in found), sum(b != NEUTRAL for _, b in found), sum(a != NEUTRAL for a, _ in found)


def label_f1(found: list[tuple[int, int]]) -> float:
    right, taken, there = counted_sides(found)
    return 2 * right / max(1, taken + there)


def rationale_f1(rows: list[Row], said: list[tuple[int, list[int]]]) -> float:
    """F1 of sentences. A row without a side has no rationale, and a verdict of neutral shows no sentence."""
    right = sum(len(set(shown) & set(row["rationale"])) for row, (_, shown) in zip(rows, said))
    return 2 * right / max(1, sum(len(shown) + len(row["rationale"]) for row, (_, shown) in zip(rows, said)))


def figures(rows: list[Row], windows: list[Any], threshold: float, part: int | None = None, decides: float = 0.4) -> Row:
    """Figures by set, of the rows of one half or of all."""
    found: Row = {}
    for kind in ("scifact", "written", "contrast", "retrieved", "asked", "edited"):
        some = [n for n, row in enumerate(rows) if row["kind"] == kind and part in (None, half(row))]
        if not some:
            continue
        said = [judge(windows[n], threshold, decides) for n in some]
        pairs = [(NUMBER[rows[n]["label"]], side) for n, (side, _) in zip(some, said)]
        right, taken, _ = counted_sides(pairs)
        found[kind] = {"n": len(some), "accuracy": numpy.mean([a == b for a, b in pairs]), "label F1": label_f1(pairs),
                       "rationale F1": rationale_f1([rows[n] for n in some], said), "sides": taken, "precision": right / max(1, taken),
                       "wrong side": sum(a != NEUTRAL != b != a for a, b in pairs)}
        if kind in ("contrast", "edited"):
            groups: dict[str, list[bool]] = defaultdict(list)
            for n, (a, b) in zip(some, pairs):
                groups[rows[n]["group"]].append(a == b)
            found[kind] |= {"all texts": numpy.mean([all(group) for group in groups.values()]), "claims": len(groups)}
    for name, kind in (("twins", "text"), ("twins of versions", "version")):
        some = [n for n, row in enumerate(rows) if row["doc"] == "-" and kind in row["kind"] and part in (None, half(row))]
        if not some:
            continue
        sides = [judge(windows[n], threshold, decides)[0] for n in some]
        pairs = list(zip(sides[::2], sides[1::2]))
        found[name] = {"pairs": len(pairs), "opposite": sum({a, b} == {REFUTES, SUPPORTS} for a, b in pairs), "a side and neutral": sum((a == NEUTRAL) != (b == NEUTRAL) for a, b in pairs),
                       "right": numpy.mean([side == NUMBER[rows[n]["label"]] for n, side in zip(some, sides)])}
        found[name]["opposite share"] = found[name]["opposite"] / len(pairs)
    some = [n for n, row in enumerate(rows) if row["doc"] == "-" and "text" not in row["kind"] and part in (None, half(row))]
    for kind in ("neighbor", "taken out"):
        if these := [n for n in some if kind in rows[n]["kind"]]:
            found[kind] = {"n": len(these), "sides": sum(judge(windows[n], threshold, decides)[0] != NEUTRAL for n in these)}
    return found


FIGURES = {"scifact": ("accuracy", "label F1", "rationale F1"), "written": ("accuracy", "label F1", "rationale F1"),
           "contrast": ("accuracy", "label F1", "all texts"), "edited": ("accuracy", "label F1", "all texts"),
           "retrieved": ("accuracy", "label F1", "precision"), "asked": ("accuracy", "label F1", "precision"), "twins": ("opposite share", "right"), "twins of versions": ("opposite share", "right")}


def paired(old: Row, new: Row, thresholds: list[float], part: int | None) -> None:
    """Differences with the percentile interval of 95 % over 400 resamples of documents (twins: of pairs)."""
    rows, chosen = old["rows"], numpy.random.default_rng(7)
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for n, row in enumerate(rows):
        if part in (None, half(row)):
            groups[row["kind"], row["group"] if row["doc"] == "-" else row["doc"]].append(n)
    names = list(groups)

    def of(places: list[int]) -> dict[tuple[str, str], float]:
        found = [figures([rows[n] for n in places], [stored["windows"][n] for n in places], t) for stored, t in zip((old, new), thresholds)]
        return {(name, key): float(found[1][name][key] - found[0][name][key]) for name, keys in FIGURES.items() if name in found[0] for key in keys}

    whole = of([n for name in names for n in groups[name]])
    drawn = [of([n for k in chosen.integers(len(names), size=len(names)) for n in groups[names[k]]]) for _ in range(400)]
    for key, value in whole.items():
        low, high = numpy.percentile([one[key] for one in drawn], [2.5, 97.5])
        print(f"  {' '.join(key)}: {value:+.3f} ({low:+.3f} to {high:+.3f})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="*", type=Path, help="FOLDER and files of rows")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--figures", type=Path, nargs="+")
    parser.add_argument("--thresholds", type=float, nargs="+", default=[0.40])
    parser.add_argument("--paired", action="store_true")
    parser.add_argument("--part", type=int, choices=[0, 1], help="one half of the documents")
    parser.add_argument("--decides", type=float, default=0.4)
    options = parser.parse_args()
    if options.out:
        torch.set_num_threads(1)
        torch.set_flush_denormal(True)
        rows = [json.loads(line) for path in options.inputs[1:] for line in path.read_text(encoding="utf8").splitlines()]
        options.out.write_text(json.dumps({"rows": rows, "windows": read(options.inputs[0], rows)}, ensure_ascii=False), encoding="utf8")
    if options.paired:
        old, new = (json.loads(path.read_text(encoding="utf8")) for path in options.figures)
        paired(old, new, options.thresholds, options.part)
    for path in options.figures if options.figures and not options.paired else []:
        stored = json.loads(path.read_text(encoding="utf8"))
        for threshold in options.thresholds:
            for part in (None, 0, 1):
                print(path.stem, f"at {threshold}", "all" if part is None else f"half {part}")
                for name, found in figures(stored["rows"], stored["windows"], threshold, part, options.decides).items():
                    print("  ", name, {key: round(float(value), 3) for key, value in found.items()})

"""Makes a trained verifier ready to ship: one temperature and one threshold, fitted on passages read by windows, as Lyra reads them.

    curve.py FOLDER ROWS TWINS --out ANSWERS.json
    export.py FOLDER ANSWERS.json OUT

The temperature has the least Brier score of the surest side being right; it divides the last layer, so that served probabilities are
calibrated. The threshold has the best mean label F1 of the three sets. Both are fitted on all validation documents, and figures of each
half, which are part of them, are printed. `config.json` states the threshold with the precision of the sides taken at it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy
import torch

from curve import counted_sides, figures, half, judge, surest
from labels import NUMBER
from model import read_verifier, write_verifier

SETS = ("scifact", "written", "contrast")
TEMPERATURES = numpy.arange(0.8, 2.01, 0.1)
THRESHOLDS = numpy.arange(0.30, 0.71, 0.02)
Row = dict[str, Any]


def cooled(windows: list[Any], temperature: float) -> list[Any]:
    return [(first, [logit / temperature for logit in logits], marks) for first, logits, marks in windows]


def brier(rows: list[Row], windows: list[Any]) -> float:
    """Mean squared distance between the surest window's probability and whether its side is right."""
    said = [(surest(read)[0], NUMBER[row["label"]]) for row, read in zip(rows, windows)]
    return float(numpy.mean([(best.max() - (best.argmax() == label)) ** 2 for best, label in said]))


def mean_f1(rows: list[Row], windows: list[Any], threshold: float, part: int | None = None) -> float:
    found = figures(rows, windows, threshold, part)
    return float(numpy.mean([found[name]["label F1"] for name in SETS]))


def precision(rows: list[Row], windows: list[Any], threshold: float) -> float:
    """Share of the sides taken that are right."""
    right, taken, _ = counted_sides([(NUMBER[row["label"]], judge(read, threshold)[0]) for row, read in zip(rows, windows)])
    return right / max(1, taken)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("folder", "answers", "out"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    stored = json.loads(options.answers.read_text(encoding="utf8"))
    kept = [n for n, row in enumerate(stored["rows"]) if row["kind"] in SETS]
    rows, windows = [stored["rows"][n] for n in kept], [stored["windows"][n] for n in kept]
    temperature = float(min(TEMPERATURES, key=lambda t: brier(rows, [cooled(read, t) for read in windows])))
    windows = [cooled(read, temperature) for read in windows]
    threshold = float(max(THRESHOLDS, key=lambda t: mean_f1(rows, windows, t)))
    share = precision(rows, windows, threshold)
    print(f"temperature {temperature:.1f}, threshold {threshold:.2f}, precision of sides {share:.3f}, n {len(rows)}")
    for part in (0, 1):
        some = [n for n, row in enumerate(rows) if half(row) == part]
        error = brier([rows[n] for n in some], [windows[n] for n in some])
        print(f"half {part}: mean label F1 {mean_f1(rows, windows, threshold, part):.3f}, Brier score {error:.3f}, n {len(some)}")
    verifier = read_verifier(options.folder)
    with torch.no_grad():
        verifier.output.weight /= temperature
        verifier.output.bias /= temperature
    write_verifier(verifier, options.out, options.folder, lyra_threshold=round(threshold, 2), lyra_threshold_precision=round(share, 3))

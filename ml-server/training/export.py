"""Makes a trained verifier ready to ship: one temperature, one threshold, both fitted on validation data and checked on the other half.

    export.py PACK FOLDER LOGITS OUT        LOGITS is what `evaluate.py --logits` wrote for FOLDER

The temperature minimizes the negative log-likelihood; it divides the last layer, so that served probabilities are calibrated. The
threshold is the highest probability of a side at which the label F1 over whole passages is within 0.005 of the best: passages found by a
search are more often silent than these. `config.json` states it with its precision.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy
import torch

from evaluate import calibration_error, label_f1, softmax, validation
from examples import Examples
from labels import NEUTRAL
from model import read_verifier, write_verifier

SETS = ("written", "contrast", "scifact", "another text")
THRESHOLDS = numpy.arange(0.34, 0.96, 0.02)


def fit_temperature(logits: numpy.ndarray, labels: numpy.ndarray) -> float:
    likelihood = lambda t: -numpy.log(softmax(logits / t)[numpy.arange(len(labels)), labels] + 1e-9).mean()
    return float(min(numpy.arange(0.5, 4.01, 0.01), key=likelihood))


def said(probability: numpy.ndarray, threshold: float) -> numpy.ndarray:
    """The side that is more probable where it reaches the threshold, else neutral."""
    side = probability[:, :2].argmax(1)
    return numpy.where(probability[:, :2].max(1) >= threshold, side, NEUTRAL)


def fit_threshold(probability: numpy.ndarray, labels: numpy.ndarray) -> float:
    found = {t: label_f1(said(probability, t), labels)["F1"] for t in THRESHOLDS}
    return float(max(t for t, f1 in found.items() if f1 >= max(found.values()) - 0.005))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("pack", "folder", "logits", "out"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    sets, stored = validation(Examples(options.pack)), numpy.load(options.logits)
    logits = numpy.concatenate([stored[name.replace(" ", "_")] for name in SETS])
    labels = numpy.array([example.label for name in SETS for example in sets[name][0]])
    half = numpy.random.default_rng(0).random(len(labels)) < 0.5
    temperature = fit_temperature(logits[half], labels[half])
    probability = softmax(logits / temperature)
    threshold = fit_threshold(probability[half], labels[half])
    rest = label_f1(said(probability[~half], threshold), labels[~half])
    error = calibration_error(probability[~half].max(1), probability[~half].argmax(1) == labels[~half])
    print(f"temperature {temperature:.2f}, threshold {threshold:.2f}; on the other half: {rest}, ECE {error:.3f}, n {int((~half).sum())}")
    verifier = read_verifier(options.folder)
    with torch.no_grad():
        verifier.output.weight /= temperature
        verifier.output.bias /= temperature
    write_verifier(verifier, options.out, options.folder, lyra_threshold=round(threshold, 2), lyra_threshold_precision=round(rest["precision"], 3))

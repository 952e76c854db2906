"""Measures a verifier on what it was not trained on, each figure beside a control that cannot read.

    evaluate.py PACK FOLDER [--json OUT]

Sets: `written` (whole passages of held-out documents), `sentences` (their deciding sentences alone), `another text` (the claims with
another document's passage: everything but neutral is wrong), `contrast` (one claim under edited texts), `scifact` (held-out claims with
their cited abstracts), `probes` (`probes.tsv`), and human-labelled dev splits. `claim only` is the classifier of `pack.claim_only`.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy
import torch

from examples import Example, Examples, sentences_of
from labels import NEUTRAL, NOT_SUPPORTED, NUMBER, REFUTES, SUPPORTS
from model import Verifier, read_verifier
from probes import read_probes
from train import DEVICE, Reader, answer, collate


@torch.no_grad()
def predict(model: Verifier, reader: Reader, examples: list[Example], tokens: int = 60_000) -> tuple[numpy.ndarray, list[numpy.ndarray]]:
    """Label logits `[n, 3]` and, for each example, the rationale probabilities of the sentences that were read."""
    items = sorted(((reader.read(example), example, place) for place, example in enumerate(examples)), key=lambda item: len(item[0].ids))
    logits, rationales, at = numpy.zeros((len(items), 3), numpy.float32), [numpy.zeros(0)] * len(items), 0
    while at < len(items):
        end = at + 1
        while end < len(items) and (end - at + 1) * (len(items[end][0].ids) + 16) <= tokens:
            end += 1
        part = items[at:end]
        batch = {name: value.to(DEVICE) for name, value in collate([item[:2] for item in part], reader.pad).items()}
        found, marks = answer(model, batch)
        marks, first = marks.sigmoid().cpu().numpy(), 0
        for (encoded, _, place), row in zip(part, found.cpu().numpy()):
            logits[place], rationales[place] = row, marks[first : first + len(encoded.marks)]
            first += len(encoded.marks)
        at = end
    return logits, rationales


def validation(examples: Examples) -> dict[str, tuple[list[Example], list[Any]]]:
    """Every set with the rows that its examples come from."""
    pack, docs, choose = examples.pack, examples.docs, random.Random(3)
    written = [row for row in pack["written"] if row["split"] == "validation"]
    doc_ids = sorted({row["doc"] for row in written})
    whole = lambda row: Example(docs[row["doc"]]["title"], docs[row["doc"]]["sentences"], row["claim"], row["label"], row["rationale"])

    def deciding(row: Any) -> Example:
        sentences = docs[row["doc"]]["sentences"]
        shown = row["rationale"] or sorted(examples.closest(row["claim"], sentences, 2))
        return Example(None, [sentences[n] for n in shown], row["claim"], row["label"])

    def elsewhere(row: Any) -> Example:
        text = docs[choose.choice([doc for doc in doc_ids if doc != row["doc"]])]
        return Example(text["title"], text["sentences"], row["claim"], NEUTRAL, [])

    contrast = [row for row in pack["contrast"] if row["split"] == "validation"]
    probes = read_probes()
    sets = {
        "written": ([whole(row) for row in written], written),
        "sentences": ([deciding(row) for row in written], written),
        "another text": ([elsewhere(row) for row in written], written),
        "contrast": ([Example(r["title"], r["sentences"], r["claim"], r["label"], r["rationale"]) for r in contrast], contrast),
        "scifact": ([whole(row) for row in pack["scifact held out"]], pack["scifact held out"]),
        "probes": ([Example(None, sentences_of(p.premise), p.hypothesis, NUMBER[p.label]) for p in probes], probes),
    }
    for name, rows in pack["dev"].items():
        sets[name] = [Example(None, sentences_of(premise), claim, label) for premise, claim, label in rows], rows
    return sets


def label_f1(said: numpy.ndarray, labels: numpy.ndarray) -> dict[str, float]:
    """Precision, recall and F1 of the sides taken, as SciFact's abstract labels are scored."""
    right, taken, there = ((said == labels) & (labels != NEUTRAL)).sum(), (said != NEUTRAL).sum(), (labels != NEUTRAL).sum()
    return {"precision": right / max(1, taken), "recall": right / max(1, there), "F1": 2 * right / max(1, taken + there)}


def measure(name: str, examples: list[Example], rows: list[Any], logits: numpy.ndarray, rationales: list[numpy.ndarray]) -> dict[str, Any]:
    labels, said = numpy.array([example.label for example in examples]), logits.argmax(1)
    two_way = (labels == NOT_SUPPORTED).any()
    right = (said == SUPPORTS) == (labels == SUPPORTS) if two_way else said == labels
    found: dict[str, Any] = {"n": len(labels), "accuracy": right.mean()}
    if name in ("written", "scifact", "contrast"):
        found |= label_f1(said, labels)
    if name in ("written", "scifact"):
        pairs = [({n for n, p in enumerate(r) if p >= 0.5}, set(e.rationale or [])) for e, r, label in zip(examples, rationales, labels) if label != NEUTRAL]
        found["rationale F1"] = 2 * sum(len(a & b) for a, b in pairs) / max(1, sum(len(a) + len(b) for a, b in pairs))
        sided = labels != NEUTRAL
        found |= {"said neutral": (said[sided] == NEUTRAL).mean(), "wrong side": ((said[sided] != NEUTRAL) & (said[sided] != labels[sided])).mean(),
                  "side without evidence": (said[~sided] != NEUTRAL).mean()}
    if name == "contrast":
        groups: dict[str, list[bool]] = defaultdict(list)
        for row, ok in zip(rows, right):
            groups[row["group"]].append(ok)
        found |= {"all texts of a claim": numpy.mean([all(group) for group in groups.values()]), "claims": len(groups),
                  "edited texts": right[[bool(row["edited"]) for row in rows]].mean()}
    if name in ("written", "sentences"):
        guess = numpy.array([row["guess"] for row in rows]).argmax(1)
        found |= {"claim only": (guess == labels).mean(), "by kind": by_kind(rows, right), **twins(rows, said)}
    if name == "probes":
        found["by kind"] = by_kind([{"kind": probe.kind} for probe in rows], right)
    if not two_way:
        found["ECE"] = calibration_error(softmax(logits).max(1), right)
    return {key: round(float(value), 3) if isinstance(value, (float, numpy.floating)) else value for key, value in found.items()}


def softmax(logits: numpy.ndarray) -> numpy.ndarray:
    shifted = numpy.exp(logits - logits.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True)


def by_kind(rows: list[Any], right: numpy.ndarray) -> dict[str, str]:
    kinds: dict[str, list[bool]] = defaultdict(list)
    for row, ok in zip(rows, right):
        kinds[row["kind"]].append(ok)
    return {kind: f"{numpy.mean(found):.2f} of {len(found)}" for kind, found in sorted(kinds.items())}


def twins(rows: list[Any], said: numpy.ndarray) -> dict[str, Any]:
    """Pairs of claims with one meaning (a twin and another claim of its text with the same label and rationale) with opposite verdicts."""
    by_doc: dict[str, list[tuple[Any, int]]] = defaultdict(list)
    for row, label in zip(rows, said):
        by_doc[row["doc"]].append((row, int(label)))
    pairs = [(a, b) for found in by_doc.values() for row, a in found for other, b in found
             if row["kind"] == "twin" and other["kind"] != "twin" and row["label"] == other["label"] and row["rationale"] and set(row["rationale"]) == set(other["rationale"])]
    return {"twins opposite": sum({a, b} == {REFUTES, SUPPORTS} for a, b in pairs) / max(1, len(pairs)), "twin pairs": len(pairs)}


def calibration_error(stated: numpy.ndarray, right: numpy.ndarray) -> float:
    """Expected calibration error in 15 bins of equal width."""
    bins = numpy.minimum((stated * 15).astype(int), 14)
    return float(sum((bins == b).mean() * abs(stated[bins == b].mean() - right[bins == b].mean()) for b in range(15) if (bins == b).any()))


def evaluate(model: Verifier, reader: Reader, examples: Examples) -> dict[str, dict[str, Any]]:
    """Figures of every set."""
    return {name: measure(name, found, rows, *predict(model, reader, found)) for name, (found, rows) in validation(examples).items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args()
    verifier = read_verifier(options.folder).to(DEVICE).eval()
    results = evaluate(verifier, Reader(options.folder, verifier.shape.kind), Examples(options.pack))
    for set_name, figures in results.items():
        print(set_name, json.dumps(figures))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))

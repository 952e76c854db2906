"""What is read: SciFact with its held-out part, the general sets, and the shape of a pair.

Two kinds of abstracts never reach training: those in `excluded_doc_ids.json` (cited by claims kept for acceptance) and
those cited by the held-out quarter of the claims, which `evaluate.py` measures on. `TrainingText` is the only way from
SciFact to a training pair and asserts both.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

Label = Literal["contradiction", "entailment", "neutral"]
LABELS: tuple[Label, ...] = ("contradiction", "entailment", "neutral")
SHARED = Path(os.environ.get("LYRA_SHARED", Path(__file__).resolve().parents[3] / "shared"))
MAX_WINDOW_CHARS = 800  # as in orchestrator/crates/research/src/verdict.rs


class Pair(NamedTuple):
    premise: str
    hypothesis: str
    label: Label
    source: str


@dataclass(frozen=True)
class Abstract:
    id: int
    title: str
    sentences: list[str]


@dataclass(frozen=True)
class Claim:
    id: int
    text: str
    cited: list[int]
    # Per abstract: the rationales (lists of sentence indices) with what they do to the claim.
    evidence: dict[int, list[tuple[list[int], Label]]]


def lines(path: Path) -> Iterator[dict]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf8") as file:
        yield from map(json.loads, file)


def read_pairs(path: Path) -> list[Pair]:
    """English rows of a file of pairs; other languages are beyond this model."""
    return [
        Pair(row["premise"].strip(), row["hypothesis"].strip(), row["label"], row.get("src", row.get("source", "")))
        for row in lines(path)
        if row.get("lang", "en") == "en" and row["label"] in LABELS
    ]


def write_pairs(path: Path, pairs: list[Pair]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf8") as file:
        for pair in pairs:
            file.write(json.dumps(pair._asdict(), ensure_ascii=False) + "\n")


def windows(sentences: list[str]) -> list[str]:
    """One- and two-sentence windows, as the research pipeline shows them to the model."""
    out = []
    for i, sentence in enumerate(sentences):
        out.append(sentence[:MAX_WINDOW_CHARS])
        if i + 1 < len(sentences) and len(sentence) + len(sentences[i + 1]) < MAX_WINDOW_CHARS:
            out.append(f"{sentence} {sentences[i + 1]}")
    return out


class SciFact:
    """The corpus and its labelled claims, split by connected groups of claims and the abstracts they cite."""

    def __init__(self, shared: Path = SHARED) -> None:
        folder = shared / "data" / "scifact"
        self.abstracts = {
            row["doc_id"]: Abstract(row["doc_id"], row["title"].strip(), [s.strip() for s in row["abstract"]])
            for row in lines(folder / "corpus.jsonl")
        }
        self.claims = [self._claim(row) for row in lines(folder / "claims_train.jsonl")]
        self.excluded = frozenset(json.loads((shared / "data/nli/excluded_doc_ids.json").read_text()))

    @staticmethod
    def _claim(row: dict) -> Claim:
        labels: dict[str, Label] = {"SUPPORT": "entailment", "REFUTE": "contradiction"}
        evidence = {
            int(doc): [(part["sentences"], labels[part["label"]]) for part in parts]
            for doc, parts in row["evidence"].items()
        }
        return Claim(row["id"], row["claim"].strip(), [int(doc) for doc in row["cited_doc_ids"]], evidence)

    @cached_property
    def _groups(self) -> dict[int, int]:
        """Claim id → smallest claim id of its group; claims that share an abstract are one group."""
        parent = {claim.id: claim.id for claim in self.claims}

        def root(i: int) -> int:
            while parent[i] != i:
                i = parent[i]
            return i

        first: dict[int, int] = {}
        for claim in self.claims:
            for doc in claim.cited:
                a, b = root(first.setdefault(doc, claim.id)), root(claim.id)
                parent[max(a, b)] = min(a, b)
        return {i: root(i) for i in parent}

    def is_held_out(self, claim: Claim) -> bool:
        """A quarter of the groups, chosen by hash: the same ones in every run."""
        digest = hashlib.sha256(f"group {self._groups[claim.id]}".encode()).digest()
        return digest[0] % 4 == 0

    @cached_property
    def held_out(self) -> list[Claim]:
        return [claim for claim in self.claims if self.is_held_out(claim)]

    @cached_property
    def unseen_abstracts(self) -> frozenset[int]:
        """Never trained on: the excluded ones and those cited by held-out claims."""
        return self.excluded | {doc for claim in self.held_out for doc in claim.cited}


class TrainingText:
    """The part of SciFact that may be trained on."""

    def __init__(self, scifact: SciFact) -> None:
        unseen = scifact.unseen_abstracts
        self.abstracts = {i: a for i, a in scifact.abstracts.items() if i not in unseen}
        self.claims = [
            claim
            for claim in scifact.claims
            if not scifact.is_held_out(claim) and not unseen.intersection(claim.cited)
        ]
        assert scifact.excluded.isdisjoint(self.abstracts), "an excluded abstract would be trained on"
        cited = {doc for claim in self.claims for doc in claim.cited}
        assert cited <= self.abstracts.keys(), "a claim would bring an abstract that is kept out"

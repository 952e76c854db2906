"""Reads `probes.tsv`: pairs written by hand, each with the skill it asks for."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from labels import LABELS


class Pair(NamedTuple):
    premise: str
    hypothesis: str
    label: str
    kind: str
    """The skill that the pair asks for."""


def read_probes(path: Path = Path(__file__).with_name("probes.tsv")) -> list[Pair]:
    pairs, premise = [], ""
    for number, line in enumerate(path.read_text(encoding="utf8").splitlines(), 1):
        fields = line.split("\t")
        if line.startswith("#"):
            continue
        if len(fields) == 1:
            premise = line
        elif len(fields) == 3 and premise and fields[0] in LABELS:
            pairs.append(Pair(premise, fields[2], fields[0], fields[1]))
        else:
            raise ValueError(f"{path.name}, line {number}: a premise, or label, kind and hypothesis with tabs between them")
    return pairs

"""Draws training examples from a pack. A unit holds examples that belong into one batch: versions of a passage, twins, claims of one text."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labels import NEUTRAL, REFUTES, SUPPORTS

VERBS = {
    "up": ["increases", "raises", "elevates", "leads to higher", "is associated with higher", "results in more", "enhances", "augments", "boosts", "drives up"],
    "down": ["reduces", "lowers", "decreases", "cuts", "leads to lower", "is associated with lower", "results in less", "diminishes", "brings down", "is linked to a drop in"],
    "same": ["does not change", "has no effect on", "makes no difference to", "does not alter", "leaves unchanged", "has no significant influence on"],
}
COMPARISONS = {
    "up": ["{o} is higher with {i} than with {c}.", "{o} was greater in those given {i} than in those given {c}.", "compared with {c}, {i} gives higher {o}."],
    "down": ["{o} is lower with {i} than with {c}.", "{o} was less in those given {i} than in those given {c}.", "compared with {c}, {i} gives lower {o}."],
    "same": ["{o} does not differ between {i} and {c}.", "{i} and {c} are alike in {o}.", "there is no difference in {o} between {i} and {c}."],
}
WEIGHTS = {
    "written": 5.0, "twins": 1.2, "silence": 1.4, "contrast": 4.5, "swapped": 0.5, "mined": 1.6, "scifact": 0.35, "trials": 0.9, "questions": 0.35,
    "captions": 0.5, "genres": 1.4, "silent": 0.2, "covid sentences": 0.5, "covid abstracts": 0.35, "trial outcomes": 0.15, "tables": 0.6,
    "fool me twice": 0.35, "student answers": 0.3, "monotonicity": 0.2, "fever": 0.4, "summaries": 0.25,
}
"""How often each kind of unit is drawn."""
FIRST = WEIGHTS | {"written": 3.0, "captions": 3.0, "genres": 5.0, "tables": 1.5, "fever": 1.0}
"""The same at the start; general pairs teach the task before the hard texts."""


@dataclass
class Example:
    title: str | None
    sentences: list[str]
    claim: str
    label: int
    rationale: list[int] | None = None
    """Numbers of the deciding sentences; `None` where it is not known which."""
    guess: list[float] | None = None
    """Log probabilities of a classifier that sees the claim alone."""
    twin: int | None = None
    """Examples with the same number say the same in other words."""
    unless: int | None = None
    """The side that the claim has elsewhere in the text: the example teaches nothing where the model finds it here as well."""


def stems(text: str) -> set[str]:
    return {word[:6] for word in re.findall(r"[a-z0-9]{4,}", text.lower())}


def sentences_of(text: str) -> list[str]:
    return [s for s in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9\"“])", text.strip()) if s] or [text]


class Examples:
    def __init__(self, path: Path, seed: int = 0) -> None:
        self.random = random.Random(seed)
        self.pack: dict[str, Any] = json.loads(gzip.open(path).read())
        self.docs, held = self.pack["docs"], set(self.pack["held"])
        self.written = [row for row in self.pack["written"] if row["split"] == "train"]
        self.by_doc: dict[str, list[Any]] = defaultdict(list)
        for row in self.written:
            self.by_doc[row["doc"]].append(row)
        self.doc_ids = list(self.by_doc)
        kin = lambda a, b: a is not b and b["label"] == SUPPORTS and set(a["rationale"]) & set(b["rationale"])
        self.twins = [(row, found) for row in self.written if row["kind"] == "twin" and row["label"] == SUPPORTS
                      and (found := [other for other in self.by_doc[row["doc"]] if kin(row, other)])]
        versions: dict[str, list[Any]] = defaultdict(list)
        for row in self.pack["contrast"]:
            if row["split"] == "train":
                versions[row["group"]].append(row)
        self.versions = [rows for rows in versions.values() if len({row["label"] for row in rows}) > 1]
        one = lambda row: row["label"] == REFUTES and len(row["rationale"]) == 1 and row["kind"] in ("direction", "negation")
        self.swappable = [(doc, [row for row in rows if one(row)]) for doc, rows in self.by_doc.items() if any(map(one, rows))]
        self.doc_stems = {doc: stems(text["title"] + " " + " ".join(text["sentences"])) for doc, text in self.docs.items() if doc not in held and text["sentences"]}
        self.holders: dict[str, list[str]] = defaultdict(list)
        for doc, found in self.doc_stems.items():
            for stem in found:
                self.holders[stem].append(doc)
        self.next_twin = 0

    def unit(self, done: float) -> list[Example]:
        """The next unit when this share of training is done."""
        late, names = min(1.0, done / 0.25), list(WEIGHTS)
        name = self.random.choices(names, [FIRST[n] * (1 - late) + WEIGHTS[n] * late for n in names])[0]
        if name in self.pack["pairs"]:
            premise, hypothesis, label = self.random.choice(self.pack["pairs"][name])
            return [Example(None, sentences_of(premise), hypothesis, label)]
        return getattr(self, f"draw_{name}")()

    def passage(self, row: Any, guess: list[float] | None = None, twin: int | None = None, doc: str | None = None) -> Example:
        text = self.docs[doc or row["doc"]]
        title = None if self.random.random() < 0.15 else text["title"]
        label, rationale = (NEUTRAL, []) if doc else (row["label"], row["rationale"])
        return Example(title, text["sentences"], row["claim"], label, rationale, guess, twin)

    def window(self, sentences: list[str], core: list[int], claim: str, label: int, title: str | None = None,
               guess: list[float] | None = None, twin: int | None = None) -> Example:
        """The deciding sentences with up to two on either side."""
        first, last = min(core), max(core)
        if last - first > 4:
            return Example(title, [sentences[n] for n in core], claim, label, list(range(len(core))) if label != NEUTRAL else [], guess, twin)
        first, last = max(0, first - self.random.randint(0, 2)), min(len(sentences) - 1, last + self.random.randint(0, 2))
        return Example(title, sentences[first : last + 1], claim, label, [n - first for n in core] if label != NEUTRAL else [], guess, twin)

    def of_written(self, row: Any) -> Example:
        text, title = self.docs[row["doc"]], None
        if self.random.random() < 0.55:
            return self.passage(row, row["guess"])
        if self.random.random() < 0.5:
            title = text["title"]
        if row["rationale"] and row["label"] != NEUTRAL:
            return self.window(text["sentences"], row["rationale"], row["claim"], row["label"], title, row["guess"])
        return self.window(text["sentences"], [self.random.choice(self.closest(row["claim"], text["sentences"], 2))], row["claim"], NEUTRAL, title, row["guess"])

    def closest(self, claim: str, sentences: list[str], most: int) -> list[int]:
        asked = stems(claim)
        return sorted(range(len(sentences)), key=lambda n: -len(stems(sentences[n]) & asked))[:most]

    def other_doc(self, claim: str, own: str) -> str:
        """A text that shares words with a claim about another."""
        votes = Counter(doc for stem in stems(claim) if len(self.holders.get(stem, ())) < 250 for doc in self.holders.get(stem, ()))
        best = [doc for doc, _ in votes.most_common(8) if doc != own][:5]
        return self.random.choice(best or list(self.doc_stems))

    def draw_written(self) -> list[Example]:
        if self.random.random() < 0.7:
            return [self.of_written(self.random.choice(self.written))]
        rows = self.by_doc[self.random.choice(self.doc_ids)]
        return [self.of_written(row) for row in self.random.sample(rows, min(4, len(rows)))]

    def draw_twins(self) -> list[Example]:
        row, others = self.random.choice(self.twins)
        other = self.random.choice(others)
        self.next_twin += 1
        if self.random.random() < 0.6:
            return [self.passage(row, twin=self.next_twin), self.passage(other, twin=self.next_twin)]
        core, sentences = sorted({*row["rationale"], *other["rationale"]}), self.docs[row["doc"]]["sentences"]
        return [self.window(sentences, core, claim["claim"], SUPPORTS, twin=self.next_twin) for claim in (row, other)]

    def draw_silence(self) -> list[Example]:
        row = self.random.choice(self.written)
        doc = self.other_doc(row["claim"], row["doc"])
        text = self.docs[doc]
        if self.random.random() < 0.6:
            return [self.passage(row, row["guess"], doc=doc)]
        title = text["title"] if self.random.random() < 0.5 else None
        return [self.window(text["sentences"], self.closest(row["claim"], text["sentences"], 1), row["claim"], NEUTRAL, title, row["guess"])]

    def draw_contrast(self) -> list[Example]:
        windows, titled, unit = self.random.random() < 0.35, self.random.random() < 0.85, []
        for row in self.random.choice(self.versions):
            title, sentences = row["title"] if titled else None, row["sentences"]
            core = [n for n in row["rationale"] or row["edited"] if n < len(sentences)]
            unit.append(self.window(sentences, core, row["claim"], row["label"], title) if windows and core
                        else Example(title, sentences, row["claim"], row["label"], row["rationale"]))
        return unit

    def draw_swapped(self) -> list[Example]:
        """A refuted claim put in the place of the sentence that refutes it refutes what that sentence supported."""
        doc, refuted = self.random.choice(self.swappable)
        claim, sentences = self.random.choice(refuted), self.docs[doc]["sentences"]
        place = claim["rationale"][0]
        kin = [row for row in self.by_doc[doc] if row["label"] == SUPPORTS and row["rationale"] == [place] and row["kind"] in ("paraphrase", "twin", "conclusion")]
        turned = [*sentences[:place], claim["claim"], *sentences[place + 1 :]]
        return [example for row in kin[:2] for example in (self.window(turned, [place], row["claim"], REFUTES), self.window(sentences, [place], row["claim"], SUPPORTS))]

    def draw_mined(self) -> list[Example]:
        return self.labelled(self.random.choice(self.pack["mined"]), 0.3)

    def draw_scifact(self) -> list[Example]:
        return self.labelled(self.random.choice(self.pack["scifact"]), 0.4)

    def labelled(self, row: Any, windows: float) -> list[Example]:
        if row["rationale"] and self.random.random() < windows:
            return [self.window(self.docs[row["doc"]]["sentences"], row["rationale"], row["claim"], row["label"])]
        return [self.passage(row)]

    def draw_trials(self) -> list[Example]:
        """One trial's finding with a claim of the same effect and one of another, in any wording; sometimes of another outcome or treatment."""
        trial = self.random.choice(self.pack["trials"])
        said = "up" if "incr" in trial["effect"] else "down" if "decr" in trial["effect"] else "same"
        sentences, other = sentences_of(trial["evidence"].strip(" .")), self.random.choice(self.pack["trials"])
        claims = [(self.effect(trial, said), SUPPORTS), (self.effect(trial, self.random.choice([e for e in VERBS if e != said])), REFUTES)]
        if self.random.random() < 0.4 and other["pmcid"] != trial["pmcid"]:
            if not stems(other["outcome"]) & stems(trial["evidence"]):
                claims.append((self.effect(trial | {"outcome": other["outcome"]}, self.random.choice(list(VERBS))), NEUTRAL))
            elif not stems(other["intervention"]) & stems(trial["evidence"] + trial["intervention"]):
                claims.append((self.effect(trial | {"intervention": other["intervention"]}, said), NEUTRAL))
        return [Example(None, sentences, claim, label) for claim, label in claims]

    def effect(self, trial: Any, effect: str) -> str:
        intervention, comparator, outcome = trial["intervention"], trial["comparator"], trial["outcome"]
        outcome = outcome[0].lower() + outcome[1:] if outcome[1:2].islower() else outcome
        if self.random.random() < 0.5:
            claim = self.random.choice(COMPARISONS[effect]).format(i=intervention, c=comparator, o=outcome)
        else:
            end = self.random.choice([".", f" compared with {comparator}.", f", compared to {comparator}."])
            claim = f"{intervention} {self.random.choice(VERBS[effect])} {outcome}{end}"
        return claim[0].upper() + claim[1:]

    def draw_questions(self) -> list[Example]:
        """A question asked as it stands: yes supports, no refutes, maybe leaves open."""
        row = self.random.choice(self.pack["questions"])
        label = {"yes": SUPPORTS, "no": REFUTES}.get(row["answer"], NEUTRAL)
        results = [s for part in row["context"] for s in sentences_of(part["text"])]
        conclusion, kind = sentences_of(row["conclusion"]), self.random.random()
        return [Example(None, results[-14:] + conclusion if kind < 0.6 else conclusion if kind < 0.8 else results[-16:], row["question"], label)]

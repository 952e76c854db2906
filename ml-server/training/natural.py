"""Pairs from real scientific text, labelled by how they were made, and from the labelled claims."""

from __future__ import annotations

import re
from random import Random

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from data import Abstract, Claim, Pair, TrainingText, windows
from edits import NUMBER, flip, negate, plain, renumber, sentence, shorten, turned

REPORTED = re.compile(
    r"\b(?P<verb>show|shows|showed|shown|demonstrate|demonstrates|demonstrated|find|found|report|reported|revealed|confirm|confirmed"
    r"|conclude|concluded|indicate|indicates|indicated) that (?P<clause>[^;:]{35,220}?)[.;]?$",
    re.I,
)
OPEN = re.compile(
    r"\b(?:whether|hypothesi[sz]ed that|tested the hypothesis that|is unclear if|unknown whether|asked whether"
    r"|test whether|determine if|has been proposed that|hypothesis that|may be that|speculate that|possible that) "
    r"(?P<clause>[^;:,]{30,200}?)[.;,]?$",
    re.I,
)
VERBAL = re.compile(
    r"\b(?:is|are|was|were|can|may|does|increases?|decreases?|reduces?|improves?|causes?|promotes?|inhibits?|regulates?|induces?"
    r"|leads?|plays?|requires?|affects?|predicts?|contributes?|enhances?|prevents?|activates?|suppresses|binds?|interacts?"
    r"|protects?|mediates?|controls?|depends?|drives?|reveals?|links?|confers?|modulates?|impairs?|limits?|triggers?"
    r"|maintains?|accelerates?|attenuates?|determines?|facilitates?|restores?|blocks?|supports?)\b",
    re.I,
)
AIM = re.compile(r"\b(?:aim|purpose|objective|goal|we (?:investigate|examine|assess|test|evaluate|compare|stud)\w*|to (?:address"
                 r"|determine|investigate|assess|evaluate|examine|test|explore))\b", re.I)  # fmt: skip
WORD = re.compile(r"[a-z][a-z0-9-]{3,}")


def _content(text: str) -> set[str]:
    return {word[:7] for word in WORD.findall(text.lower())}


def _around(abstract: Abstract, index: int, random: Random) -> str:
    """The sentence alone or in a window of two."""
    texts = abstract.sentences
    ways = [texts[index]]
    if index > 0:
        ways.append(f"{texts[index - 1]} {texts[index]}")
    if index + 1 < len(texts):
        ways.append(f"{texts[index]} {texts[index + 1]}")
    return random.choice(ways)[:800]


def says_its_title(abstract: Abstract) -> int | None:
    """Index of the sentence that says what the title asserts; `None` when the title asserts nothing or no sentence says it."""
    title = sentence(abstract.title)
    words = _content(title)
    if len(words) < 4 or not VERBAL.search(title) or title.endswith("?") or ":" in title:
        return None
    shared = [len(words & _content(s)) / len(words) for s in abstract.sentences]
    best = max(range(len(shared)), key=lambda i: (shared[i], i), default=None)
    if best is None or shared[best] < 0.6:
        return None
    said = abstract.sentences[best]
    return None if OPEN.search(said) or AIM.search(said) else best


class Neighbours:
    """Sentences of other abstracts that share words with a text, without being about the very same thing."""

    def __init__(self, text: TrainingText) -> None:
        self.places = [
            (a, i) for a in text.abstracts.values() for i, s in enumerate(a.sentences) if 40 < len(s) < 380
        ]
        self.vectors = TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.05, stop_words="english")
        self.matrix = self.vectors.fit_transform(a.sentences[i] for a, i in self.places).astype(np.float32)
        self.owner = np.array([a.id for a, _ in self.places])

    def of(self, texts: list[str], own: list[set[int]], low: float = 0.12, high: float = 0.5, most: int = 4):
        """For each text up to `most` places, closest first, none in its own abstracts."""
        out: list[list[tuple[Abstract, int]]] = []
        for start in range(0, len(texts), 500):
            block = (self.vectors.transform(texts[start : start + 500]).astype(np.float32) @ self.matrix.T).tocsr()
            for row in range(block.shape[0]):
                part = slice(block.indptr[row], block.indptr[row + 1])
                columns, scores = block.indices[part], block.data[part]
                keep = (scores > low) & (scores < high) & ~np.isin(self.owner[columns], list(own[start + row]))
                best = np.argsort(-scores[keep])[:most]
                out.append([self.places[columns[keep][b]] for b in best])
        return out


def sentences(text: TrainingText, count: int, random: Random) -> list[Pair]:
    """A sentence against itself shortened, against its opposite, and against near and far other sentences.

    The opposite appears beside unrelated passages as often as the original: it must not give the label away.
    """
    near = Neighbours(text)
    picked = random.sample(near.places, min(count, len(near.places)))
    close = near.of([a.sentences[i] for a, i in picked], [{a.id} for a, _ in picked])
    pairs = []
    for (abstract, index), others in zip(picked, close, strict=True):
        own = abstract.sentences[index]
        if len(said := plain(own)) < 30:
            continue
        short = shorten(said, random)
        opposite = flip(short, random)
        premise = _around(abstract, index, random)
        about = opposite if opposite and random.random() < 0.5 else short
        if random.random() < 0.6 and (short != own or premise != own):
            pairs.append(Pair(premise, short, "entailment", "sci-self"))
        if opposite and random.random() < 0.7:
            pairs.append(Pair(premise, opposite, "contradiction", "sci-opposite"))
        if opposite and random.random() < 0.2:
            pairs.append(Pair(sentence(opposite), short, "contradiction", "sci-opposite"))
        if opposite and random.random() < 0.15:
            pairs.append(Pair(sentence(opposite), shorten(opposite, random), "entailment", "sci-self"))
        for other, place in others[:1] + random.sample(others[1:], min(1, len(others[1:]))):
            if random.random() < 0.35:
                pairs.append(Pair(_around(other, place, random), about, "neutral", "sci-near"))
        rest = [i for i in range(len(abstract.sentences)) if abs(i - index) > 2]
        if rest and random.random() < 0.25:
            pairs.append(Pair(_around(abstract, random.choice(rest), random), about, "neutral", "sci-same-abstract"))
        if random.random() < 0.2:
            other, place = random.choice(near.places)
            pairs.append(Pair(_around(other, place, random), about, "neutral", "sci-random"))
    return pairs


def reported(text: TrainingText, random: Random) -> list[Pair]:
    """What a sentence reports it says; what it only asks or supposes it does not."""
    pairs = []
    for abstract in text.abstracts.values():
        for index, own in enumerate(abstract.sentences):
            if m := OPEN.search(own):
                clause = sentence(m["clause"])
                hypothesis = (flip(clause, random) or clause) if random.random() < 0.4 else clause
                pairs.append(Pair(_around(abstract, index, random) if index == 0 else own, hypothesis, "neutral", "sci-open"))
            elif (m := REPORTED.search(own)) and random.random() < 0.8:
                clause = shorten(sentence(m["clause"]), random)
                pairs.append(Pair(_around(abstract, index, random), clause, "entailment", "sci-reported"))
                if opposite := flip(clause, random):
                    pairs.append(Pair(_around(abstract, index, random), opposite, "contradiction", "sci-reported"))
    return pairs


def comparisons(text: TrainingText, random: Random) -> list[Pair]:
    """ "Higher in A than in B": the same said from B's side, and the opposite."""
    pairs = []
    for abstract in text.abstracts.values():
        for own in abstract.sentences:
            said = plain(BRACKETLESS.sub("", own))
            if two := turned(said):
                same, opposite = two
                pairs.append(Pair(own, same, "entailment", "sci-comparison"))
                pairs.append(Pair(own, opposite, "contradiction", "sci-comparison"))
    return pairs


BRACKETLESS = re.compile(r"\s*\([^()]*\)")


def titles(text: TrainingText, random: Random) -> list[Pair]:
    """Titles that assert something, against the sentence of the abstract that says it, others, and other abstracts."""
    pairs = []
    near = Neighbours(text)
    found: list[tuple[Abstract, str, int]] = []
    for abstract in text.abstracts.values():
        best = says_its_title(abstract)
        if best is not None:
            found.append((abstract, sentence(abstract.title), best))
    close = near.of([t for _, t, _ in found], [{a.id} for a, _, _ in found])
    for (abstract, title, best), others in zip(found, close, strict=True):
        opposite = flip(title, random)
        said = _around(abstract, best, random)
        if opposite:
            pairs.append(Pair(said, title, "entailment", "sci-title"))
            pairs.append(Pair(said, opposite, "contradiction", "sci-title"))
        about = opposite if opposite and random.random() < 0.5 else title
        for other, place in others[:2]:
            pairs.append(Pair(_around(other, place, random), about, "neutral", "sci-title-near"))
    return pairs


def claims(text: TrainingText, rounds: int, random: Random) -> list[Pair]:
    """The labelled claims: rationales, the rest of the abstract, claims without evidence, and other abstracts.

    Refuted claims are fewer than supported ones and appear twice as often.
    """
    near = Neighbours(text)
    close = near.of([c.text for c in text.claims], [set(c.cited) for c in text.claims], low=0.08, most=12)
    pairs: list[Pair] = []
    for _ in range(rounds):
        for claim, others in zip(text.claims, close, strict=True):
            for doc in claim.cited:
                pairs += _claim_and_abstract(claim, text.abstracts[doc], random)
            opposite = flip(claim.text, random)
            about = opposite if opposite and random.random() < 0.4 else claim.text
            for other, place in random.sample(others, min(2, len(others))):
                pairs.append(Pair(_around(other, place, random), about, "neutral", "claim-near"))
            other, place = random.choice(near.places)
            pairs.append(Pair(_around(other, place, random), about, "neutral", "claim-random"))
    return pairs


def _claim_and_abstract(claim: Claim, abstract: Abstract, random: Random) -> list[Pair]:
    pairs = []
    rationales = claim.evidence.get(abstract.id, [])
    said = {i for places, _ in rationales for i in places}
    for places, label in rationales:
        shown = [" ".join(abstract.sentences[i] for i in places[:2])]
        shown += [_around(abstract, i, random) for i in random.sample(places, min(2, len(places)))]
        shown = random.sample(shown, min(len(shown), 1 if label == "entailment" else 2))
        pairs += [Pair(premise, claim.text, label, "claim") for premise in shown]
        if (opposite := flip(claim.text, random)) and label == "entailment":
            pairs.append(Pair(random.choice(shown), opposite, "contradiction", "claim-opposite"))
        elif (opposite := negate(claim.text, random)) and label == "contradiction" and random.random() < 0.5:
            pairs.append(Pair(random.choice(shown), opposite, "entailment", "claim-opposite"))
    rest = [i for i in range(len(abstract.sentences)) if all(abs(i - j) > 1 for j in said)]
    silent = windows([abstract.sentences[i] for i in rest]) if not said else [abstract.sentences[i] for i in rest]
    for premise in random.sample(silent, min(2, len(silent))):
        pairs.append(Pair(premise, claim.text, "neutral", "claim-silent"))
    return pairs


def number_edits(text: TrainingText, count: int, random: Random) -> list[Pair]:
    """A figure changed contradicts; another sentence with figures does not."""
    near = Neighbours(text)
    numeric = [(a, i) for a, i in near.places if NUMBER.search(a.sentences[i])]
    picked = random.sample(numeric, min(count, len(numeric)))
    close = near.of([a.sentences[i] for a, i in picked], [set() for _ in picked], most=12)
    pairs = []
    for (abstract, index), others in zip(picked, close, strict=True):
        said = plain(abstract.sentences[index])
        if changed := renumber(said, random):
            if random.random() < 0.5:
                pairs.append(Pair(_around(abstract, index, random), changed, "contradiction", "sci-figures"))
            if random.random() < 0.3:
                pairs.append(Pair(_around(abstract, index, random), said, "entailment", "sci-figures"))
        for other, place in others:
            if other.id != abstract.id and NUMBER.search(other.sentences[place]):
                pairs.append(Pair(other.sentences[place], changed or said, "neutral", "sci-figures"))
                break
        mates = [i for i in range(len(abstract.sentences)) if abs(i - index) > 1 and NUMBER.search(abstract.sentences[i])]
        if mates and random.random() < 0.5:
            pairs.append(Pair(abstract.sentences[random.choice(mates)], said, "neutral", "sci-figures"))
    return pairs


def shuffled(pairs: list[Pair], count: int, random: Random) -> list[Pair]:
    """Premises of one general pair with hypotheses of another: unrelated, so neutral."""
    out = []
    while len(out) < count:
        a, b = random.choice(pairs), random.choice(pairs)
        if len(_content(a.premise) & _content(b.hypothesis)) <= 1:
            out.append(Pair(a.premise, b.hypothesis, "neutral", "general-random"))
    return out

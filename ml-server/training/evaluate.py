"""Measures NLI models on what the evidence pipeline needs, side by side.

usage: evaluate.py MODEL [MODEL …] [--server lyra-ml-server] [--general 1000] [--claims]

MODEL is a folder of `transformers` (read here) or a `.gguf` file (asked through `/nli` of a real lyra-ml-server). Text of
SciFact comes from the abstracts that no phase ever trained on. `--claims` adds the held-out claims: only for models none
of whose phases has seen them, which excludes those that go on from the first release.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np

from data import LABELS, SHARED, Abstract, Label, Pair, SciFact, lines, read_pairs, windows
from edits import NUMBER, flip, plain, sentence
from judges import Judge, open_judge
from natural import REPORTED, says_its_title
from probes import read_probes

SURE = 0.6  # the pipeline's `min_nli_confidence`: what is less sure counts as neutral
REFUTES, SUPPORTS, NEUTRAL = range(3)


@dataclass
class Tests:
    """All pairs, cut into named parts; `passages` lists, per claim and cited abstract, what its windows should say."""

    pairs: list[Pair] = field(default_factory=list)
    parts: dict[str, slice] = field(default_factory=dict)
    passages: dict[str, list[tuple[slice, Label]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, name: str, pairs: list[Pair]) -> None:
        start = len(self.pairs)
        self.pairs += pairs
        self.parts[name] = slice(start, len(self.pairs))

    def add_passage(self, name: str, sentences: list[str], claim: str, label: Label) -> None:
        start = len(self.pairs)
        self.pairs += [Pair(window, claim, label, name) for window in windows(sentences)]
        self.passages[name].append((slice(start, len(self.pairs)), label))


def build(general: int, claims: bool) -> Tests:
    random = Random(7)
    tests = Tests()
    for name, file in (("snli", "dev_snli"), ("mnli", "dev_mnli")):
        pairs = read_pairs(SHARED / f"data/nli/{file}.jsonl.gz")
        tests.add(name, random.sample(pairs, min(general, len(pairs))))
    scifact = SciFact()
    unseen = [scifact.abstracts[i] for i in sorted(scifact.excluded)]
    add_titles(tests, unseen, random)
    said = [(a.id, sentence(m["clause"])) for a in unseen for s in a.sentences if (m := REPORTED.search(s))]
    hypotheses = random.sample(said, min(150, len(said)))
    far = [(random.choice([a for a in unseen if a.id != own]), h) for own, h in hypotheses]
    unrelated = [Pair(random.choice(a.sentences), h, "neutral", "far") for a, h in far]
    tests.add("far", [p for p in unrelated if len(p.premise) > 30] + examples(100, random))
    tests.add("close", close([(a.id, s) for a in unseen for s in a.sentences if 50 < len(s) < 300], hypotheses))
    own = [s for a in unseen for s in a.sentences if 50 < len(s) < 300]
    random.shuffle(own)
    plainly = [(s, plain(s)) for s in own[:200]]
    tests.add("same", [Pair(s, p, "entailment", "same") for s, p in plainly])
    tests.add("flipped", [Pair(s, f, "contradiction", "flipped") for s, p in plainly if (f := flip(p, random))])
    tests.add("figures", figures(unseen, random))
    tests.add("probes", read_probes())
    if claims:
        for claim in scifact.held_out:
            for doc in claim.cited:
                evidence = claim.evidence.get(doc, [])
                label = evidence[0][1] if evidence else "neutral"
                tests.add_passage("claims", scifact.abstracts[doc].sentences, claim.text, label)
    return tests


def add_titles(tests: Tests, unseen: list[Abstract], random: Random, most: int = 50) -> None:
    """Titles that assert something, as claims: their abstract supports them, refutes their opposite, and another abstract
    does neither. Not labelled by people, but the only claims here that no phase has seen."""
    found = [a for a in unseen if says_its_title(a) is not None]
    random.shuffle(found)
    for abstract in found[:most]:
        title = sentence(abstract.title)
        other = random.choice([a for a in unseen if a.id != abstract.id])
        tests.add_passage("titles", abstract.sentences, title, "entailment")
        if opposite := flip(title, random):
            tests.add_passage("titles", abstract.sentences, opposite, "contradiction")
        tests.add_passage("titles", other.sentences[:8], random.choice((title, opposite or title)), "neutral")


def examples(count: int, random: Random) -> list[Pair]:
    """Sentences of the example corpus against sentences of another topic of it."""
    files = sorted((Path(__file__).resolve().parents[2] / "examples/corpus").glob("*.jsonl"))
    topics = [
        [s + "." for row in lines(file) if row["language"] == "en" for s in row["abstract"].rstrip(".").split(". ")]
        for file in files
    ]
    pairs = []
    for _ in range(count):
        a, b = random.sample(topics, 2)
        pairs.append(Pair(random.choice(a), random.choice(b), "neutral", "far"))
    return pairs


def close(places: list[tuple[int, str]], hypotheses: list[tuple[int, str]]) -> list[Pair]:
    """Per hypothesis the two most similar sentences of other abstracts. A few may be evidence after all."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectors = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    matrix = vectors.fit_transform(s for _, s in places)
    scores = (vectors.transform(h for _, h in hypotheses) @ matrix.T).toarray()
    pairs = []
    for row, (own, hypothesis) in zip(scores, hypotheses, strict=True):
        order = [i for i in np.argsort(-row)[:60] if places[i][0] != own]
        pairs += [Pair(places[i][1], hypothesis, "neutral", "close") for i in order[:2]]
    return pairs


def figures(unseen: list[Abstract], random: Random) -> list[Pair]:
    """Two sentences of one abstract that give figures for different things."""
    pairs = []
    for abstract in unseen:
        numeric = [s for s in abstract.sentences if NUMBER.search(s) and 40 < len(s) < 300]
        if len(numeric) > 1:
            a, b = random.sample(numeric, 2)
            pairs.append(Pair(a, plain(b), "neutral", "figures"))
    return pairs[:150]


def calibration_error(scores: np.ndarray, gold: np.ndarray, bins: int = 15) -> float:
    """Expected calibration error of the top label."""
    top, right = scores.max(1), scores.argmax(1) == gold
    place = np.minimum((top * bins).astype(int), bins - 1)
    return float(sum(abs(top[place == b].sum() - right[place == b].sum()) for b in range(bins)) / len(top))


def strongest(scores: np.ndarray, least: float) -> int:
    """What the windows of one passage say together, as the pipeline decides it."""
    label, top = scores.argmax(1), scores.max(1)
    telling = np.flatnonzero((label != NEUTRAL) & (top >= least))
    return int(label[telling[top[telling].argmax()]]) if len(telling) else NEUTRAL


def passages(parts: list[tuple[slice, Label]], scores: np.ndarray, name: str) -> dict[str, float]:
    want = np.array([LABELS.index(label) for _, label in parts])
    said = np.array([strongest(scores[part], SURE) for part, _ in parts])
    sided = (want != NEUTRAL) & (said != NEUTRAL)
    return {
        f"{name}: accuracy": float((said == want).mean()),
        f"{name}: refute recall": float((said[want == REFUTES] == REFUTES).mean()),
        f"{name}: refute precision": float((want[said == REFUTES] == REFUTES).mean()),
        f"{name}: support recall": float((said[want == SUPPORTS] == SUPPORTS).mean()),
        f"{name}: agreement where a side was taken": float((said == want)[sided].mean()),
        f"{name}: unrelated not neutral": float((said[want == NEUTRAL] != NEUTRAL).mean()),
    }


def measure(tests: Tests, scores: np.ndarray) -> dict[str, float]:
    gold = np.array([LABELS.index(p.label) for p in tests.pairs])
    got, sure = scores.argmax(1), scores.max(1) >= SURE
    accuracy = lambda part: float((got[part] == gold[part]).mean())  # noqa: E731
    taken = lambda part: float(((got[part] != NEUTRAL) & sure[part]).mean())  # noqa: E731
    row = {"SNLI test": accuracy(tests.parts["snli"]), "MNLI dev": accuracy(tests.parts["mnli"])}
    for kind, name in (("titles", "titles by windows"), ("claims", "SciFact claims by windows")):
        if kind in tests.passages:
            row |= passages(tests.passages[kind], scores, name)
    for part, name in (("far", "unrelated pairs"), ("close", "close, uncited pairs")):
        row[f"{name}: not neutral"] = 1 - accuracy(tests.parts[part])
        row[f"{name}: not neutral (sure)"] = taken(tests.parts[part])
    row["sentence itself: entailment"] = accuracy(tests.parts["same"])
    row["sentence flipped: contradiction"] = accuracy(tests.parts["flipped"])
    row["figures of other things: contradiction"] = float((got[tests.parts["figures"]] == REFUTES).mean())
    row["hand-written pairs: accuracy"] = accuracy(tests.parts["probes"])
    kinds = defaultdict(list)
    for i in range(tests.parts["probes"].start, tests.parts["probes"].stop):
        kinds[tests.pairs[i].source].append(got[i] == gold[i])
    for kind in sorted(kinds):
        row[f"hand-written, {kind} ({len(kinds[kind])})"] = float(np.mean(kinds[kind]))
    row["hand-written pairs: taken for a side wrongly (sure)"] = float(
        np.mean((got != gold)[tests.parts["probes"]] & (got != NEUTRAL)[tests.parts["probes"]] & sure[tests.parts["probes"]])
    )
    for part, name in (("mnli", "MNLI dev"), ("probes", "hand-written pairs")):
        row[f"calibration error: {name}"] = calibration_error(scores[tests.parts[part]], gold[tests.parts[part]])
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--server", default="lyra-ml-server", help="binary that serves .gguf files")
    parser.add_argument("--general", type=int, default=1000, help="pairs of SNLI and of MNLI each")
    parser.add_argument("--claims", action="store_true", help="also the held-out claims of SciFact")
    args = parser.parse_args()
    tests = build(args.general, args.claims)
    print(f"{len(tests.pairs)} pairs", flush=True)
    rows = []
    for path in args.models:
        started = time.monotonic()
        with open_judge(path, args.server) as judge:
            scores = in_order_of_length(judge, tests.pairs)
        rows.append(measure(tests, scores))
        print(f"{path}: {time.monotonic() - started:.0f} s", flush=True)
    print("\n|  |", " | ".join(str(p) for p in args.models), "|\n|---|" + "---|" * len(rows))
    for name in rows[0]:
        print(f"| {name} |", " | ".join(f"{row[name]:.3f}" for row in rows), "|")


def in_order_of_length(judge: Judge, pairs: list[Pair], batch: int = 32) -> np.ndarray:
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].premise) + len(pairs[i].hypothesis))
    scores = np.zeros((len(pairs), 3))
    for start in range(0, len(order), batch):
        part = order[start : start + batch]
        scores[part] = judge([(pairs[i].premise, pairs[i].hypothesis) for i in part])
    return scores


if __name__ == "__main__":
    main()

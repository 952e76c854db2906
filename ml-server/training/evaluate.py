"""Measures NLI models on what the evidence pipeline needs, side by side.

usage: evaluate.py MODEL [MODEL …] [--server lyra-ml-server] [--general 1500]

MODEL is a folder of `transformers` (read here) or a `.gguf` file (asked through `/nli` of a real lyra-ml-server). Only the
held-out claims of SciFact are used, and of the flips and figures only abstracts that are never trained on.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import numpy as np

from data import LABELS, SHARED, Claim, Label, Pair, SciFact, read_pairs, windows
from edits import NUMBER, flip, plain
from judges import Judge, open_judge
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


def build(general: int) -> Tests:
    random = Random(7)
    tests = Tests()
    for name, file in (("snli", "dev_snli"), ("mnli", "dev_mnli")):
        pairs = read_pairs(SHARED / f"data/nli/{file}.jsonl.gz")
        tests.add(name, random.sample(pairs, min(general, len(pairs))))
    scifact = SciFact()
    rationales = []
    for claim in scifact.held_out:
        for doc in claim.cited:
            abstract = scifact.abstracts[doc]
            evidence = claim.evidence.get(doc, [])
            tests.add_passage("cited", abstract.sentences, claim.text, evidence[0][1] if evidence else "neutral")
            rationales += [
                Pair(" ".join(abstract.sentences[i] for i in places[:2]), claim.text, label, "rationale")
                for places, label in evidence
            ]
    tests.add("rationale", rationales)
    unseen = [scifact.abstracts[i] for i in sorted(scifact.unseen_abstracts)]
    claims = [random.choice(scifact.held_out) for _ in range(600)]
    far = [random.choice(random.choice(unseen).sentences) for _ in claims]
    tests.add("far", [Pair(s, c.text, "neutral", "far") for s, c in zip(far, claims) if len(s) > 30])
    for claim in random.sample(scifact.held_out, 60):
        tests.add_passage("far", random.choice(unseen).sentences, claim.text, "neutral")
    tests.add("close", close(scifact, scifact.held_out))
    own = [s for a in unseen for s in a.sentences if 50 < len(s) < 300]
    random.shuffle(own)
    said = [(s, plain(s)) for s in own[:300]]
    tests.add("same", [Pair(s, p, "entailment", "same") for s, p in said])
    tests.add("flipped", [Pair(s, f, "contradiction", "flipped") for s, p in said if (f := flip(p, random))])
    tests.add("figures", figures(unseen, random))
    tests.add("probes", read_probes())
    return tests


def close(scifact: SciFact, claims: list[Claim]) -> list[Pair]:
    """Per claim the three sentences of uncited abstracts that share most with it. A few may be evidence after all."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    places = [(a.id, s) for a in scifact.abstracts.values() for s in a.sentences if len(s) > 40]
    vectors = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
    matrix = vectors.fit_transform(s for _, s in places)
    scores = (vectors.transform(c.text for c in claims) @ matrix.T).tocsr()
    pairs = []
    for row, claim in enumerate(claims):
        part = slice(scores.indptr[row], scores.indptr[row + 1])
        order = scores.indices[part][np.argsort(-scores.data[part])]
        found = [places[i][1] for i in order[:40] if places[i][0] not in claim.cited]
        pairs += [Pair(s, claim.text, "neutral", "close") for s in found[:3]]
    return pairs


def figures(unseen: list, random: Random) -> list[Pair]:
    """Two sentences of one abstract that give figures for different things."""
    pairs = []
    for abstract in unseen:
        numeric = [s for s in abstract.sentences if NUMBER.search(s) and 40 < len(s) < 300]
        if len(numeric) > 1:
            a, b = random.sample(numeric, 2)
            pairs.append(Pair(a, plain(b), "neutral", "figures"))
    return pairs[:250]


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


def measure(tests: Tests, scores: np.ndarray) -> dict[str, float]:
    gold = np.array([LABELS.index(p.label) for p in tests.pairs])
    got = scores.argmax(1)
    accuracy = lambda part: float((got[part] == gold[part]).mean())  # noqa: E731
    taken = lambda part: float(((got[part] != NEUTRAL) & (scores[part].max(1) >= SURE)).mean())  # noqa: E731
    row = {"SNLI test": accuracy(tests.parts["snli"]), "MNLI dev": accuracy(tests.parts["mnli"])}
    passages = tests.passages["cited"]
    want = np.array([LABELS.index(label) for _, label in passages])
    for name, least in (("", 0.0), (" (sure)", SURE)):
        said = np.array([strongest(scores[part], least) for part, _ in passages])
        sided = (want != NEUTRAL) & (said != NEUTRAL)
        balanced = np.mean([(said[want == side] == side).mean() for side in range(3)])
        row[f"SciFact windows: accuracy{name}"] = float((said == want).mean())
        row[f"SciFact windows: balanced accuracy{name}"] = float(balanced)
        row[f"SciFact windows: refute recall{name}"] = float((said[want == REFUTES] == REFUTES).mean())
        row[f"SciFact windows: refute precision{name}"] = float((want[said == REFUTES] == REFUTES).mean())
        row[f"SciFact windows: agreement where a side was taken{name}"] = float((said == want)[sided].mean())
    row["SciFact rationale sentence: accuracy"] = accuracy(tests.parts["rationale"])
    for part, name in (("far", "unrelated pairs"), ("close", "close, uncited pairs")):
        row[f"{name}: not neutral"] = 1 - accuracy(tests.parts[part])
        row[f"{name}: not neutral (sure)"] = taken(tests.parts[part])
    said = [strongest(scores[part], SURE) for part, _ in tests.passages["far"]]
    row["unrelated abstracts: not neutral (sure)"] = float(np.mean(np.array(said) != NEUTRAL))
    row["sentence itself: entailment"] = accuracy(tests.parts["same"])
    row["sentence flipped: contradiction"] = accuracy(tests.parts["flipped"])
    row["figures of other things: contradiction"] = float((got[tests.parts["figures"]] == REFUTES).mean())
    row["hand-written pairs: accuracy"] = accuracy(tests.parts["probes"])
    kinds = defaultdict(list)
    for i in range(tests.parts["probes"].start, tests.parts["probes"].stop):
        kinds[tests.pairs[i].source].append(got[i] == gold[i])
    for kind in sorted(kinds):
        row[f"hand-written, {kind} ({len(kinds[kind])})"] = float(np.mean(kinds[kind]))
    for part, name in (("mnli", "MNLI dev"), ("rationale", "SciFact rationales"), ("probes", "hand-written")):
        row[f"calibration error: {name}"] = calibration_error(scores[tests.parts[part]], gold[tests.parts[part]])
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--server", default="lyra-ml-server", help="binary that serves .gguf files")
    parser.add_argument("--general", type=int, default=1500, help="pairs of SNLI and of MNLI each")
    parser.add_argument("--scores", type=Path, help="folder to keep the answers of every model in (.npy)")
    args = parser.parse_args()
    tests = build(args.general)
    print(f"{len(tests.pairs)} pairs, {len(tests.passages['cited'])} held-out claim–abstract pairs", flush=True)
    rows = []
    for path in args.models:
        started = time.monotonic()
        with open_judge(path, args.server) as judge:
            scores = in_order_of_length(judge, tests.pairs)
        rows.append(measure(tests, scores))
        print(f"{path}: {time.monotonic() - started:.0f} s", flush=True)
        if args.scores:
            args.scores.mkdir(parents=True, exist_ok=True)
            np.save(args.scores / f"{path.stem}-{len(rows)}.npy", scores)
            (args.scores / f"{path.stem}-{len(rows)}.json").write_text(json.dumps(rows[-1], indent=1))
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

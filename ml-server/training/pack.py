"""Gathers everything that is trained and validated on into one file, through the fence.

    pack.py OUT.json.gz        reads $LYRA_SHARED (by default `../shared` beside the repository) and `claims/`

Nothing near a held-out claim and no sentence of an excluded abstract passes `tools/fence.py`. Held out here, and never trained on in
any role: the documents of the written claims' validation split, and 170 SciFact claims with every abstract that they cite.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, Callable

import numpy
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from labels import NEUTRAL, NUMBER

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("LYRA_SHARED", HERE.parents[2] / "shared"))
sys.path.insert(0, str(SHARED / "tools"))
from fence import Fence, signature  # noqa: E402
from texts import texts  # noqa: E402

Row = dict[str, Any]
SCIFACT = SHARED / "data/scifact/claims_train.jsonl"
HELD_OUT_CLAIMS = 170
PAIRS = {  # set: (file, sources or None, splits or None, most)
    "captions": ("train", {"snli", "esnli_dev"}, None, 35_000),
    "genres": ("train", {"semiauto_nli", "conjnli", "taxinli", "cfnli", "jsick"}, None, None),
    "silent": ("science", {"sci_near", "sci_same_doc", "sci_random"}, None, 12_000),
    "covid sentences": ("more/checkcovid_sentence", None, {"train"}, None),
    "covid abstracts": ("more/checkcovid_abstract", None, {"train"}, None),
    "trial outcomes": ("more/clinifact", None, {"train"}, None),
    "tables": ("more/infotabs", None, {"train"}, 12_000),
    "fool me twice": ("more/foolmetwice", None, None, None),
    "student answers": ("more/scientsbank3", None, {"train"}, None),
    "monotonicity": ("more/med_monotonicity", None, None, 2_500),
    "fever": ("more/fever_binary", None, None, 8_000),
    "summaries": ("more/defacto", None, {"train"}, None),
}
VERSIONS = ("turned", "open", "same")
PART = {"SUPPORT": "A", "REFUTE": "B", "NEI": "C"}
"""What the versions of a text call a claim, by its label under the original."""
DEV_PAIRS = {"covid sentences": "more/checkcovid_sentence", "covid abstracts": "more/checkcovid_abstract", "trial outcomes": "more/clinifact"}


class Packer:
    def __init__(self) -> None:
        self.random, self.fence, self.docs = random.Random(11), Fence(SHARED), texts()
        self.seen: dict[str, bool] = {}
        self.dropped: Counter[str] = Counter()
        excluded = json.loads((SHARED / "data/nli/excluded_doc_ids.json").read_text())
        for number in excluded:
            self.docs.pop(f"scifact:{number}", None)

    def outside(self, text: str) -> bool:
        if text not in self.seen:
            self.seen[text] = self.fence.why(text) is None
        return self.seen[text]

    def read(self, name: str) -> list[Row]:
        return rows_of(SHARED / f"data/nli/{name}.jsonl.gz")

    def sentences(self, doc: str, numbers: list[int]) -> list[int]:
        return [n for n in numbers if 0 <= n < len(self.docs[doc]["sentences"])]

    def written(self) -> list[Row]:
        """Claims written by reading, of the shared data and of `claims/inference*.jsonl`."""
        rows = []
        own = [(name, restated(name)) for name in ("inference", "inference_2", "inference_3")]
        for name, found in [*((name, self.read(name)) for name in ("written", "written_2")), *own]:
            for number, row in enumerate(found):
                if row["doc"] not in self.docs or not self.outside(row["claim"]):
                    self.dropped[name] += 1
                    continue
                rows.append({"id": f"{name}:{number}", "doc": row["doc"], "claim": row["claim"], "label": NUMBER[row["label"]],
                             "rationale": self.sentences(row["doc"], row["rationale"]), "kind": row["kind"], "split": row.get("split", "train"), "twin": row.get("twin")})
        return rows

    def scifact(self, written_docs: set[str]) -> tuple[list[Row], list[Row]]:
        """Training and held-out (claim, abstract) pairs. Held-out abstracts have no written claims either."""
        by_claim: dict[int, list[Row]] = defaultdict(list)
        for row in rows_of(SCIFACT):
            if not self.outside(row["claim"]):
                self.dropped["scifact claims"] += 1
                continue
            for number in row["cited_doc_ids"]:
                doc, evidence = f"scifact:{number}", row["evidence"].get(str(number))
                if doc in self.docs:
                    by_claim[row["id"]].append({
                        "group": row["id"], "doc": doc, "claim": row["claim"], "label": NUMBER[evidence[0]["label"]] if evidence else NEUTRAL,
                        "rationale": sorted({n for e in evidence or [] for n in e["sentences"]})})
        claims = list(by_claim)
        self.random.shuffle(claims)
        held = [c for c in claims if all(row["doc"] not in written_docs for row in by_claim[c])][:HELD_OUT_CLAIMS]
        held_docs = {row["doc"] for c in held for row in by_claim[c]}
        marks = {c: signature(by_claim[c][0]["claim"]) for c in claims}
        near = lambda a, b: sum(x == y for x, y in zip(marks[a], marks[b])) >= 32
        train = [c for c in claims if c not in held and not any(row["doc"] in held_docs for row in by_claim[c]) and not any(near(c, h) for h in held)]
        self.dropped["scifact claims near held-out ones"] += len(claims) - len(held) - len(train)
        return [row for c in train for row in by_claim[c]], [row for c in held for row in by_claim[c]]

    def contrast(self, held: set[str]) -> list[Row]:
        """Claims under edited versions of their text: the shared ones, and those of `claims/contrast.jsonl`."""
        rows = [{"group": row["doc"] + row["claim"], "doc": row["doc"], "claim": row["claim"], "title": row["title"], "sentences": row["sentences"],
                 "label": NUMBER[row["label"]], "rationale": row["rationale"], "edited": [], "split": "train"}
                for row in self.read("contrast") if row["doc"] in self.docs and row["doc"] not in held and self.outside(row["claim"])]
        for row in [*our("contrast"), *our("contrast_2")]:
            if row["doc"] not in self.docs or not self.outside(row["claim"]) or (row["split"] == "train" and row["doc"] in held):
                self.dropped["contrast"] += 1
                continue
            for version in [{"label": row["label"], "rationale": row["rationale"], "edits": {}}, *row["versions"]]:
                edited = sorted(int(place) for place in version["edits"] if place != "title")
                rows.append(self.under(row, row["claim"], version["edits"], version["label"]) | {"rationale": version["rationale"], "edited": edited})
        return rows

    def under(self, row: Row, claim: str, edits: dict[str, str], label: str) -> Row:
        """A claim under a text whose title or sentences were replaced."""
        text = self.docs[row["doc"]]
        return {"group": row["doc"] + claim, "doc": row["doc"], "claim": claim, "label": NUMBER[label], "title": edits.get("title", text["title"]),
                "sentences": [edits.get(str(place), sentence) for place, sentence in enumerate(text["sentences"])], "split": row["split"]}

    def edited(self, held: set[str]) -> list[Row]:
        """The claims of `claims/inference_3.jsonl` under edited versions of their texts: turned, left open, and the same in other words."""
        claims: dict[str, list[Row]] = defaultdict(list)
        for row in our("inference_3"):
            claims[row["doc"]].append(row)
        rows = []
        for row in our("contrast_3"):
            doc = row["doc"]
            if doc not in self.docs or doc in held:
                self.dropped["edited"] += 1
                continue
            for said in (claim for claim in claims[doc] if self.outside(claim["claim"])):
                own = {"edits": {}, PART[said["label"]]: [said["label"], said["rationale"]]}
                versions = [(version["edits"], *version[PART[said["label"]]]) for version in (own, *(row[name] for name in VERSIONS))]
                places = self.sentences(doc, sorted({place for _, _, rationale in versions for place in rationale}))
                for edits, label, rationale in versions:
                    rows.append(self.under(row, said["claim"], edits, label) | {"rationale": self.sentences(doc, rationale), "edited": places if edits else []})
        return rows

    def labeled(self, rows: list[Row], held: set[str]) -> list[Row]:
        """Pairs of a claim and a text with a label, outside the fence and not held out. `unsure` is left out."""
        return [{**row, "label": NUMBER[row["label"]], "rationale": self.sentences(row["doc"], row["rationale"])}
                for row in rows if row["label"] in NUMBER and row["doc"] in self.docs and row["doc"] not in held and self.outside(row["claim"])]

    def mined(self, held: set[str]) -> list[Row]:
        """Claims with the closest other texts, labeled by reading."""
        return self.labeled([*self.read("mined_pairs"), *our("mined")], held)

    def asked(self, held: set[str]) -> list[Row]:
        """Claims behind research questions with abstracts that a search finds for them, labeled by reading, of both splits.
        `unsure` is silent: Lyra takes no side there."""
        return self.labeled([row | {"label": "NEI"} if row["label"] == "unsure" else row for row in our("asked")], held)

    def retrieved(self, held: set[str]) -> list[Row]:
        """Claims with texts of other works that an earlier verifier took to decide them, or nearly so, labeled by reading."""
        roles = {row["doc"]: row["sentences"] for row in rows_of(SHARED / "data/questions/sentence_roles.jsonl.gz")}
        terse = {row["id"]: row["claim"] for row in rows_of(SCIFACT)}

        def claim(row: Row) -> str:
            """The claim itself where we wrote it, else what the row refers to: a sentence, a claim made of one, a claim of SciFact."""
            if "claim" in row:
                return row["claim"]
            if "scifact" in row:
                return terse[row["scifact"]]
            doc, number = row.get("said") or row["role"]
            return self.docs[doc]["sentences"][number].strip() if "said" in row else roles[doc][number]["claim"]

        found = [{**row, "claim": claim(row), "label": NUMBER[row["label"]], "rationale": self.sentences(row["doc"], row["rationale"])} for row in our("retrieved")
                 if row["label"] in NUMBER and row["doc"] in self.docs and row["doc"] not in held]
        return [row for row in found if self.outside(row["claim"])]

    def pairs(self, name: str, keep: Callable[[Row], bool], most: int | None = None) -> list[list[Any]]:
        rows = [row for row in self.read(name) if row["label"] in NUMBER and row.get("lang", "en") == "en" and keep(row) and len(row["premise"]) < 2_600]
        self.random.shuffle(rows)
        kept = [row for row in rows[: most and most + 2_000] if self.outside(row["hypothesis"]) and (name != "science" or self.outside(row["premise"]))]
        return [[row["premise"], row["hypothesis"], NUMBER[row["label"]]] for row in kept[:most]]

    def pack(self) -> Row:
        written = self.written()
        validation = {row["doc"] for row in written if row["split"] == "validation"}
        train, held_out = self.scifact({row["doc"] for row in written if row["split"] == "train"})
        held = validation | {row["doc"] for row in held_out}
        edited = self.edited(held)
        later = {row["doc"] for row in edited if row["split"] == "validation"}
        train = [row for row in train if row["doc"] not in later]
        contrast = [*self.contrast(held | later), *edited]
        held |= later
        written = [row for row in written if row["split"] == "validation" or row["doc"] not in held]
        claim_only(written)
        splits = lambda names: lambda row: names is None or row.get("split") in names
        sources = lambda names: lambda row: names is None or row["src"] in names
        pairs = {key: self.pairs(name, lambda row, s=src, p=parts: sources(s)(row) and splits(p)(row), most)
                 for key, (name, src, parts, most) in PAIRS.items()}
        dev = {key: self.pairs(name, lambda row: row.get("split") == "dev") for key, name in DEV_PAIRS.items()}
        trials = [{key: row[key] for key in ("pmcid", "intervention", "comparator", "outcome", "effect", "evidence")}
                  for row in self.read("evidence_inference") if self.outside(row["evidence"])]
        questions = [row for row in self.read("pubmedqa") if row["split"] == "train" and self.outside(row["question"])]
        return {"docs": self.docs, "written": written, "contrast": contrast, "mined": self.mined(held), "retrieved": self.retrieved(held), "asked": self.asked(held), "scifact": train,
                "scifact held out": held_out, "trials": trials, "questions": questions, "pairs": pairs, "dev": dev, "held": sorted(held)}


def rows_of(path: Path) -> list[Row]:
    """The rows of a file of JSON Lines, compressed or not."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf8") as lines:
        return [json.loads(line) for line in lines]


def our(name: str) -> list[Row]:
    """The rows of one of our own files."""
    return rows_of(HERE / f"claims/{name}.jsonl")


def restated(name: str) -> list[Row]:
    """Claims of one of our own files; each twin names the claim before it, which it restates."""
    rows = our(name)
    said = rows[0]
    for row in rows:
        if row["kind"] != "twin":
            said = row
        elif (said["doc"], said["label"]) == (row["doc"], row["label"]):
            row["twin"] = said["claim"]
    return rows


def claim_only(rows: list[Row]) -> None:
    """Gives every claim the log probabilities of a classifier that sees the claims alone (TF-IDF of 1- and 2-grams, logistic regression,
    five folds by document): what training takes away, and the control that every figure on these claims needs."""
    claims, labels = [row["claim"] for row in rows], numpy.array([row["label"] for row in rows])
    guesses = numpy.zeros((len(rows), 3))
    for seen, unseen in GroupKFold(5).split(claims, labels, [row["doc"] for row in rows]):
        words, model = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True), LogisticRegression(C=3, max_iter=300)
        model.fit(words.fit_transform([claims[i] for i in seen]), labels[seen])
        guesses[unseen] = model.predict_proba(words.transform([claims[i] for i in unseen]))
    for row, guess in zip(rows, guesses):
        row["guess"] = [round(float(x), 3) for x in numpy.log(guess + 1e-3)]
    for split in ("train", "validation"):
        right = [guess.argmax() == row["label"] for row, guess in zip(rows, guesses) if row["split"] == split]
        print(f"claim only, {split}: accuracy {numpy.mean(right):.3f}, n {len(right)}")


if __name__ == "__main__":
    packer = Packer()
    found = packer.pack()
    count = lambda value: {key: len(part) for key, part in value.items()} if isinstance(value, dict) else len(value)
    print({key: len(value) if key == "docs" else count(value) for key, value in found.items()}, "dropped", dict(packer.dropped))
    Path(sys.argv[1]).write_bytes(gzip.compress(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode(), 9))

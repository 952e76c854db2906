"""Claims beside passages that do not name their subject: no side may be taken on any of them.

    subjects.py --jsonl OUT [--checks N]    writes the checks as `lyra eval` reads them
    lyra eval OUT --json > EVAL
    subjects.py EVAL OUT [--list]           the figures, and with `--list` every side that was taken, to be read

Four checks in five are the closest other documents (TF-IDF) of claims of the written validation split and of SciFact's training claims;
one in five is a claim's own text, its most telling word taken out wherever it stands. A neighboring text may name the subject after
all, and may even decide the claim: who reads the sides has to say so.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from typing import Any, Iterator

from twins import in_order, interval

Row = dict[str, Any]
PLACEHOLDER = "this"
WORD = re.compile(r"[A-Za-z0-9α-ω][\w-]*")


def telling(claim: str, text: str) -> str | None:
    """The word of a claim that most likely names its subject and stands in the text: a symbol or name, else the longest word."""
    words = WORD.findall(claim)
    there = [word for word in words if len(word) > 2 and word.lower() in text.lower()]
    symbols = [word for word in there if any(c.isdigit() or c.isupper() for c in word[1:])]
    return max(symbols or [word for word in there if len(word) > 7], key=len, default=None)


def without(word: str, text: str) -> str:
    """Replaces a word, its inflections, and its compounds in the text."""
    stem = word if any(c.isupper() or c.isdigit() for c in word[1:]) else word[: max(5, len(word) - 3)]
    return re.sub(rf"[\w-]*{re.escape(stem)}[\w-]*", PLACEHOLDER, text, flags=re.IGNORECASE)


def checks(most: int) -> Iterator[Row]:
    import numpy
    from sklearn.feature_extraction.text import TfidfVectorizer

    from pack import Packer

    packer, choose = Packer(), random.Random(17)
    written = packer.written()
    train, held = packer.scifact({row["doc"] for row in written if row["split"] == "train"})
    cited: dict[str, set[str]] = defaultdict(set)
    for row in [*train, *held]:
        cited[row["claim"]].add(row["doc"])
    own = [row for row in written if row["split"] == "validation"]
    docs = [doc for doc, text in packer.docs.items() if text["sentences"]]
    whole = [packer.docs[doc]["title"] + " " + " ".join(packer.docs[doc]["sentences"]) for doc in docs]
    vectors = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
    index = vectors.fit_transform(whole)
    place = {doc: number for number, doc in enumerate(docs)}

    def row(claim: str, kind: str, title: str, sentences: list[str]) -> Row:
        return {"claim": claim, "title": title, "sentences": sentences, "label": "NEI", "kind": kind, "doc": "-"}

    def neighbor(claim: str, not_in: set[str], kind: str) -> Row:
        scores = (index @ vectors.transform([claim]).T).toarray().ravel()
        best = next(docs[n] for n in numpy.argsort(-scores) if docs[n] not in not_in)
        return row(claim, kind, packer.docs[best]["title"], packer.docs[best]["sentences"])

    fifth = most // 5
    some = choose.sample(own, min(3 * fifth, len(own)))
    yield from (neighbor(r["claim"], {r["doc"]}, "written, neighbor") for r in some)
    yield from (neighbor(c, cited[c], "scifact, neighbor") for c in choose.sample(sorted(cited), min(fifth, len(cited))))
    found = 0
    for r in choose.sample(own, len(own)):
        text = packer.docs[r["doc"]]
        word = telling(r["claim"], whole[place[r["doc"]]])
        if word and r["label"] != 2 and found < fifth:
            found += 1
            yield row(r["claim"], f"taken out: {word}", without(word, text["title"]), [without(word, s) for s in text["sentences"]])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("eval", nargs="?", help="what `lyra eval --json` printed")
    arguments.add_argument("rows", nargs="?", help="the checks that it was given")
    arguments.add_argument("--jsonl", help="write the checks here")
    arguments.add_argument("--checks", type=int, default=1000)
    arguments.add_argument("--list", action="store_true", help="print the sides that were taken, with the sentences that decided")
    given = arguments.parse_args()
    if given.jsonl:
        with open(given.jsonl, "w", encoding="utf8") as out:
            out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in checks(given.checks))
    if given.eval and given.rows:
        rows = [json.loads(line) for line in open(given.rows, encoding="utf8")]
        answers = in_order(json.load(open(given.eval, encoding="utf8")))
        kinds, sided = Counter(), Counter()
        for row, answer in zip(rows, answers):
            kind = row["kind"].split(":")[0]
            kinds[kind] += 1
            if answer["said"] in ("SUPPORT", "REFUTE"):
                sided[kind] += 1
                if given.list:
                    decided = " … ".join(row["sentences"][n] for n in answer["rationale"])
                    print(f"{answer['said']} {answer['confidence']} ({row['kind']}) {row['claim']}\n    {row['title']}\n    {decided}")
        for kind, of in kinds.items():
            print(f"{kind}: sides taken {interval(sided[kind], of)}")


if __name__ == "__main__":
    main()

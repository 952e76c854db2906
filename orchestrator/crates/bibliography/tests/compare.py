"""Compares what lyra-bibliography reads with rispy and bibtexparser.

    pip install rispy bibtexparser
    cargo build -p lyra-bibliography --example records
    python3 orchestrator/crates/bibliography/tests/compare.py target/debug/examples/records [FILE.ris | FILE.bib ...]

Without files, both libraries write records that are invented here, and Lyra reads them.
With files, titles, years, and numbers of authors are compared with what the library reads in them. The libraries drop
LaTeX commands that they do not know, and inherit nothing by cross-reference.
"""

import json
import logging
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import bibtexparser
import rispy
from bibtexparser import middlewares
from bibtexparser.model import Entry, Field

WORDS = "naps memory Über sleep mRNA β-cell naïve 睡眠 of the in young adults effect trial 5-HT".split()
FAMILIES = ["Lee", "García Márquez", "Öztürk", "O'Neill", "Smith-Jones", "Šimek", "van der Berg"]
GIVEN = ["Ann", "Jean-Luc", "José", "Martin Luther", "Łukasz", "K."]


def invented(random, number):
    return {
        "title": " ".join(random.choices(WORDS, k=random.randint(3, 12))),
        "authors": [(random.choice(FAMILIES), random.choice(GIVEN)) for _ in range(random.randint(1, 30))],
        "year": random.randint(1900, 2026),
        "journal": " ".join(random.choices(WORDS, k=3)),
        "volume": str(random.randint(1, 99)),
        "number": str(random.randint(1, 12)),
        "pages": (random.randint(1, 99), random.randint(100, 999)),
        "doi": f"10.5555/{number}.{random.randint(1, 10**6)}",
        "abstract": " ".join(random.choices(WORDS, k=80)),
        "keywords": sorted(set(random.choices(WORDS, k=5))),
    }


def expected(record):
    return {
        "title": record["title"],
        "authors": [f"{given} {family}" for family, given in record["authors"]],
        "year": record["year"],
        "venue": record["journal"],
        "volume": record["volume"],
        "issue": record["number"],
        "pages": "{}-{}".format(*record["pages"]),
        "doi": record["doi"],
        "abstract": record["abstract"],
        "tags": record["keywords"],
    }


def as_ris(records):
    return rispy.dumps([
        {
            "type_of_reference": "JOUR",
            "title": r["title"],
            "authors": [", ".join(name) for name in r["authors"]],
            "year": str(r["year"]),
            "secondary_title": r["journal"],
            "volume": r["volume"],
            "number": r["number"],
            "start_page": str(r["pages"][0]),
            "end_page": str(r["pages"][1]),
            "doi": r["doi"],
            "abstract": r["abstract"],
            "keywords": r["keywords"],
        }
        for r in records
    ])


def as_bibtex(records, latex):
    library = bibtexparser.Library()
    for number, r in enumerate(records):
        fields = {
            "title": r["title"],
            "author": " and ".join(", ".join(name) for name in r["authors"]),
            "year": str(r["year"]),
            "journal": r["journal"],
            "volume": r["volume"],
            "number": r["number"],
            "pages": "{}--{}".format(*r["pages"]),
            "doi": r["doi"],
            "abstract": r["abstract"],
            "keywords": ", ".join(r["keywords"]),
        }
        library.add(Entry("article", f"k{number}", [Field(k, v) for k, v in fields.items()]))
    stack = [middlewares.LatexEncodingMiddleware()] if latex else []
    return bibtexparser.write_string(library, prepend_middleware=stack)


def ours(program, path):
    done = subprocess.run([program, str(path)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.splitlines()


def compare_invented(program):
    records = [invented(random.Random(n), n) for n in range(1000)]
    failed = 0
    files = {"a.ris": as_ris(records), "a.bib": as_bibtex(records, False), "latex.bib": as_bibtex(records, True)}
    for name, text in files.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            read, errors = ours(program, path)
        wrong = [
            (key, value, record[key])
            for record, invention in zip(read, records)
            for key, value in expected(invention).items()
            if record[key] != value
        ]
        print(f"{name}: {len(read)} of {len(records)} records, {len(wrong)} fields differ, {len(errors)} errors")
        for difference in wrong[:5]:
            print("  ", *difference, sep=" | ")
        failed += len(wrong) + len(errors) + abs(len(read) - len(records))
    return failed


def plain(text):
    return re.sub(r"[\W_]+", "", text or "").lower()


def theirs(path):
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    if path.suffix == ".ris":
        for record in rispy.loads(text):
            year = re.search(r"\d{4}", record.get("year", "") or record.get("publication_year", "") or "")
            title = record.get("title") or record.get("primary_title")
            people = record.get("authors", []) + record.get("first_authors", [])
            yield None, title, year and int(year.group()), len(people)
    else:
        stack = [middlewares.LatexDecodingMiddleware(), middlewares.SeparateCoAuthors()]
        for entry in bibtexparser.parse_string(text, append_middleware=stack).entries:
            fields = {key.lower(): field.value for key, field in entry.fields_dict.items()}
            year = re.search(r"\d{4}", str(fields.get("year", "")) or str(fields.get("date", "")))
            people = [name for name in fields.get("author", []) if name.lower() != "others"]
            yield entry.key, fields.get("title"), year and int(year.group()), len(people)


def compare_file(program, path):
    read, errors = ours(program, path)
    expect = [record for record in theirs(path) if record[1]]
    known = {record["key"] or plain(record["title"]): record for record in read}
    print(f"{path}: {len(read)} read, {len(errors)} rejected; the library reads {len(expect)} with a title")
    differ = {"absent": [], "title": [], "year": [], "authors": []}
    for key, title, year, people in expect:
        record = known.get(key) or known.get(plain(title))
        if record is None:
            differ["absent"].append((key, title))
            continue
        found = (plain(record["title"]), record["year"], len(record["authors"]))
        for name, one, other in zip(["title", "year", "authors"], (plain(title), year, people), found):
            if one != other:
                differ[name].append((key, title, one, other))
    for name, list_ in differ.items():
        print(f"  {name}: {len(list_)} differ")
        for difference in list_[:5]:
            print("    ", *difference, sep=" | ")


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    program, *paths = sys.argv[1:]
    for path in paths:
        compare_file(program, Path(path))
    sys.exit(bool(not paths and compare_invented(program)))

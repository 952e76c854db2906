"""Reads the files in the folder given as argument with the libraries that people use for them.

Prints what it could not check for want of a library. Fails when something reads back differently.
"""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def check(what, got, want):
    assert got == want, f"{what}: {got!r} is not {want!r}"


def ris():
    import rispy

    (entry,) = rispy.loads((folder / "works.ris").read_text(encoding="utf-8"))
    got = {"title": entry["title"], "authors": entry["authors"], "doi": entry["doi"], "year": entry["year"]}
    check("RIS", got, expected)


def bibtex():
    import bibtexparser
    from bibtexparser.bparser import BibTexParser
    from bibtexparser.customization import convert_to_unicode

    parser = BibTexParser(customization=convert_to_unicode)
    (entry,) = bibtexparser.loads((folder / "works.bib").read_text(encoding="utf-8"), parser).entries
    check("BibTeX", (entry["doi"], entry["year"]), (expected["doi"], expected["year"]))
    check("BibTeX", entry["author"].split(" and "), expected["authors"])


for part in [ris, bibtex]:
    try:
        part()
        print(f"{part.__name__}: read back")
    except ModuleNotFoundError as missing:
        print(f"skipped: {part.__name__} needs the Python package {missing.name}")

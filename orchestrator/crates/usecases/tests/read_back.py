"""Reads the exports in the folder given as argument with the libraries that people use for them.

Prints what it could not check for want of a library. Fails when something reads back differently.
"""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def check(what, got, want):
    assert got == want, f"{what}: {got!r} is not {want!r}"


def facts(graph):
    return {
        "nodes": graph.number_of_nodes(),
        "edges": graph.number_of_edges(),
        "directed": graph.is_directed(),
        "title": graph.nodes["page:page_1"]["title"],
        "year": graph.nodes["page:page_1"]["year"],
        "confidence": sorted(d["nli_confidence"] for *_, d in graph.edges(data=True) if d.get("nli_confidence")),
    }


def graphs():
    import networkx as nx

    want = expected["graph"]
    check("GraphML", facts(nx.read_graphml(folder / "graph.graphml", force_multigraph=True)), want)
    check("GEXF", facts(nx.read_gexf(folder / "graph.gexf")), want)
    data = json.loads((folder / "graph.json").read_text(encoding="utf-8"))
    check("node-link", facts(nx.node_link_graph(data, edges="edges")), {**want, "title": expected["raw_title"]})


def dot():
    import pydot

    (graph,) = pydot.graph_from_dot_data((folder / "graph.dot").read_text(encoding="utf-8"))
    check("DOT", len(graph.get_edges()), expected["graph"]["edges"])


def tables():
    import csv

    with open(folder / "edges.csv", encoding="utf-8", newline="") as lines:
        check("CSV", len(list(csv.DictReader(lines, strict=True))), expected["graph"]["edges"])


def ris():
    import rispy

    (entry,) = rispy.loads((folder / "works.ris").read_text(encoding="utf-8"))
    want = expected["work"]
    got = {"title": entry["title"], "authors": entry["authors"], "doi": entry["doi"], "year": entry["year"]}
    check("RIS", got, want)


def bibtex():
    import bibtexparser
    from bibtexparser.bparser import BibTexParser
    from bibtexparser.customization import convert_to_unicode

    parser = BibTexParser(customization=convert_to_unicode)
    (entry,) = bibtexparser.loads((folder / "works.bib").read_text(encoding="utf-8"), parser).entries
    check("BibTeX", (entry["doi"], entry["year"]), (expected["work"]["doi"], expected["work"]["year"]))
    check("BibTeX", entry["author"].split(" and "), expected["work"]["authors"])


for part in [graphs, dot, tables, ris, bibtex]:
    try:
        part()
        print(f"{part.__name__}: read back")
    except ModuleNotFoundError as missing:
        print(f"skipped: {part.__name__} needs the Python package {missing.name}")

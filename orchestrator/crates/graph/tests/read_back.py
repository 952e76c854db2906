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


for part in [graphs, dot, tables]:
    try:
        part()
        print(f"{part.__name__}: read back")
    except ModuleNotFoundError as missing:
        print(f"skipped: {part.__name__} needs the Python package {missing.name}")

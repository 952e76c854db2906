"""Writes networks.json beside itself: small networks with what NetworkX 3.6 computes for them."""

import json
import pathlib
import random

import networkx as nx


def case(name, n, edges):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges)
    plain = nx.Graph()
    plain.add_nodes_from(range(n))
    for a, b in graph.edges:
        plain.add_edge(a, b, weight=plain.get_edge_data(a, b, {"weight": 0})["weight"] + 1)
    best = max(
        (nx.community.modularity(plain, nx.community.louvain_communities(plain, seed=seed)) for seed in range(20)),
        default=0.0,
    ) if edges else 0.0
    cycles = [c for c in nx.simple_cycles(graph, length_bound=6) if len(c) > 2]
    return {
        "name": name,
        "n": n,
        "edges": sorted(graph.edges),
        "pagerank": [nx.pagerank(graph, tol=1e-14, max_iter=2000)[i] for i in range(n)],
        "betweenness": [nx.betweenness_centrality(graph)[i] for i in range(n)],
        "cycles_of_3_to_6": len(cycles),
        "mutual": sum(len(c) == 2 for c in nx.simple_cycles(graph, length_bound=2)),
        "self": nx.number_of_selfloops(graph),
        "strong": sorted((len(c) for c in nx.strongly_connected_components(graph) if len(c) > 1), reverse=True),
        "best_modularity": best,
    }


draw = random.Random(20261120)
dense = [(a, b) for a in range(14) for b in range(14) if a != b and draw.random() < 0.3]
halves = [(a, b) for a in range(16) for b in range(16) if a != b and draw.random() < (0.5 if a // 8 == b // 8 else 0.04)]
cases = [
    case("one page", 1, []),
    case("two that cite each other", 2, [(0, 1), (1, 0)]),
    case("everybody cites the first", 6, [(i, 0) for i in range(1, 6)]),
    case("a chain", 5, [(i, i + 1) for i in range(4)]),
    case("a circle with a tail and a page that cites itself", 6, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (5, 5)]),
    case("two triangles and a bridge", 6, [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]),
    case("drawn, dense", 14, dense),
    case("drawn, two halves", 16, halves),
    case("no citation", 4, []),
]
out = pathlib.Path(__file__).with_name("networks.json")
out.write_text(json.dumps({"about": "networkx " + nx.__version__, "cases": cases}, indent=1) + "\n")

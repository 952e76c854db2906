//! A large task: 10,000 claims, 10,000 pages, 50,000 edges of which 30,000 are citations.

use criterion::{Criterion, criterion_group, criterion_main};
use lyra_domain::Relation;
use lyra_graph::{EdgeFacts, EvidenceGraph, Network, Node, NodeType, Scope};
use serde_json::{Map, json};
use std::hint::black_box;

const SIZE: usize = 10_000;

/// A number below `below`, the same in every run (`SplitMix64`).
fn draw(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) % below as u64) as usize
}

fn graph() -> EvidenceGraph {
    let mut graph = EvidenceGraph::new();
    let kinds = [(NodeType::Claim, "claim"), (NodeType::Page, "page"), (NodeType::Fragment, "frag")];
    for (node_type, prefix) in kinds {
        for i in 0..SIZE {
            let attributes: Map<_, _> =
                [("text".to_owned(), json!(format!("what {prefix} {i} says, at some length")))]
                    .into_iter()
                    .collect();
            graph.add_node(Node { node_type, obj_id: format!("{prefix}_{i:05}"), attributes });
        }
    }
    let mut state = 42;
    for i in 0..SIZE {
        graph.place(&format!("frag_{i:05}"), &format!("page_{i:05}"));
        for relation in [Relation::Supports, Relation::Refutes] {
            let fragment = format!("frag_{:05}", draw(&mut state, SIZE));
            let facts = EdgeFacts { nli_confidence: Some(0.9), ..EdgeFacts::default() };
            graph.add_edge(&fragment, &format!("claim_{i:05}"), relation, facts);
        }
        for _ in 0..3 {
            // Older pages are cited more.
            let cited = draw(&mut state, SIZE).min(draw(&mut state, SIZE));
            let facts = EdgeFacts::default();
            graph.add_edge(&format!("page_{i:05}"), &format!("page_{cited:05}"), Relation::Cites, facts);
        }
    }
    graph.derive_evidence_sources();
    graph
}

fn benches(criterion: &mut Criterion) {
    let graph = graph();
    let citations = graph.network(Scope::Citations);
    let dense = {
        let mut state = 7;
        let name = |i: usize| format!("page_{i:05}");
        let edges: Vec<(String, String)> =
            (0..50_000).map(|_| (name(draw(&mut state, SIZE)), name(draw(&mut state, SIZE)))).collect();
        Network::new((0..SIZE).map(name), edges.iter().map(|(a, b)| (a.as_str(), b.as_str())))
    };
    let mut group = criterion.benchmark_group("10,000 claims, 50,000 edges");
    group.sample_size(10);
    group.bench_function("network of citations", |b| b.iter(|| black_box(graph.network(Scope::Citations))));
    group.bench_function("pagerank", |b| b.iter(|| black_box(citations.pagerank(0.85))));
    group.bench_function("betweenness, default limit", |b| {
        b.iter(|| black_box(citations.betweenness(200_000_000)));
    });
    group.bench_function("clusters", |b| b.iter(|| black_box(citations.clusters())));
    group.bench_function("whole analysis", |b| b.iter(|| black_box(citations.analyse())));
    group.bench_function("whole graph, pagerank", |b| {
        let everything = graph.network(Scope::Everything);
        b.iter(|| black_box(everything.pagerank(0.85)));
    });
    group.bench_function("GraphML", |b| b.iter(|| black_box(graph.graphml())));
    group.finish();

    let mut group = criterion.benchmark_group("10,000 pages, 50,000 random citations");
    group.sample_size(10);
    group.bench_function("pagerank", |b| b.iter(|| black_box(dense.pagerank(0.85))));
    group.bench_function("betweenness, exact", |b| b.iter(|| black_box(dense.betweenness(u64::MAX))));
    group.bench_function("betweenness, default limit", |b| {
        b.iter(|| black_box(dense.betweenness(200_000_000)));
    });
    group.bench_function("clusters", |b| b.iter(|| black_box(dense.clusters())));
    group.bench_function("loops", |b| b.iter(|| black_box(dense.loops(lyra_graph::LoopLimits::default()))));
    group.finish();

    let mut group = criterion.benchmark_group("layout of 5,000 nodes and 20,000 edges");
    group.sample_size(10);
    for (name, shared) in [("in clusters", 93), ("at random", 0)] {
        let network = clustered(5_000, 20_000, shared);
        let clusters = network.clusters();
        group.bench_function(name, |b| b.iter(|| black_box(network.layout(&clusters, &[]))));
    }
    group.finish();
}

/// A network of which this share of the edges, in percent, stays within groups of nodes.
fn clustered(nodes: usize, edges: usize, shared: usize) -> Network {
    let groups = 37;
    let mut state = 7;
    let name = |i: usize| format!("node_{i:05}");
    let mut edge = || {
        let from = draw(&mut state, nodes);
        let within = draw(&mut state, nodes / groups) * groups + from % groups;
        let to = if draw(&mut state, 100) < shared { within } else { draw(&mut state, nodes) };
        (name(from), name(to))
    };
    let edges: Vec<(String, String)> = (0..edges).map(|_| edge()).collect();
    Network::new((0..nodes).map(name), edges.iter().map(|(a, b)| (a.as_str(), b.as_str())))
}

criterion_group!(all, benches);
criterion_main!(all);

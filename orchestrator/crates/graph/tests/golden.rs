//! Networks against what `NetworkX` computes: a few small ones in the repository, and those of the shared data.

use lyra_graph::{LoopLimits, Network};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A node's id; zero-padded, so that the order of ids is that of numbers.
fn id(node: &Value) -> String {
    format!("page_{:05}", node.as_u64().expect("a node is a number"))
}

fn network(case: &Value) -> Network {
    let n = case["n"].as_u64().expect("n");
    let edges: Vec<(String, String)> =
        case["edges"].as_array().expect("edges").iter().map(|e| (id(&e[0]), id(&e[1]))).collect();
    Network::new(
        (0..n).map(|i| format!("page_{i:05}")),
        edges.iter().map(|(from, to)| (from.as_str(), to.as_str())),
    )
}

#[track_caller]
fn close(got: &[f64], want: &Value, what: &str) {
    let want = want.as_array().expect("numbers");
    assert_eq!(got.len(), want.len(), "{what}");
    for (node, (got, want)) in got.iter().zip(want).enumerate() {
        let want = want.as_f64().expect("a number");
        assert!((got - want).abs() < 1e-6, "{what} of node {node}: {got} is not {want}");
    }
}

fn cases(path: &Path) -> Vec<Value> {
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("readable")).expect("JSON");
    file["cases"].as_array().expect("cases").clone()
}

fn count(value: &Value) -> usize {
    value.as_u64().expect("a count") as usize
}

fn check(i: usize, case: &Value) -> Network {
    let network = network(case);
    close(&network.pagerank(0.85), &case["pagerank"], &format!("pagerank in case {i}"));
    let betweenness = network.betweenness(u64::MAX);
    assert_eq!(betweenness.sampled_sources, None);
    close(&betweenness.scores, &case["betweenness"], &format!("betweenness in case {i}"));
    network
}

#[test]
fn golden_small_networks() {
    for (i, case) in
        cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/networks.json")).iter().enumerate()
    {
        let network = check(i, case);
        let loops = network.loops(LoopLimits { max_loops: 100_000, ..LoopLimits::default() });
        assert!(!loops.truncated);
        assert_eq!(loops.loops.len(), count(&case["cycles_of_3_to_6"]), "loops in case {i}");
        assert_eq!(network.mutual().len(), count(&case["mutual"]), "mutual in case {i}");
        assert_eq!(network.self_loops().len(), count(&case["self"]), "self-citations in case {i}");
        let strong: Vec<usize> = network.strong_components().iter().map(Vec::len).collect();
        assert_eq!(serde_json::json!(strong), case["strong"], "components of case {i}");
        let (got, best) =
            (network.clusters().modularity, case["best_modularity"].as_f64().expect("a number"));
        assert!(got > best - 0.02, "modularity in case {i}: {got}, NetworkX's best of 20 is {best}");
    }
}

#[test]
fn golden_shared_networks() {
    let shared = std::env::var_os("LYRA_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared"), PathBuf::from);
    let path = shared.join("data/golden/graph.json");
    if !path.exists() {
        println!("skipped: {} is not there (set LYRA_SHARED to the shared folder)", path.display());
        return;
    }
    for (i, case) in cases(&path).iter().enumerate() {
        let network = check(i, case);
        assert_eq!(network.mutual().len(), count(&case["simple_cycles_len2"]), "mutual in case {i}");
        let strong: Vec<usize> = network.strong_components().iter().map(Vec::len).collect();
        assert_eq!(serde_json::json!(strong), case["scc_sizes"], "components of case {i}");
    }
}

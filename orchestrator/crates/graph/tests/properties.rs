//! Properties of every network.

use lyra_graph::{LoopLimits, Network};
use proptest::prelude::*;

fn name(node: usize) -> String {
    format!("page_{node:03}")
}

fn network(n: usize, edges: &[(usize, usize)], name: impl Fn(usize) -> String) -> Network {
    let edges: Vec<(String, String)> = edges.iter().map(|&(a, b)| (name(a % n), name(b % n))).collect();
    Network::new((0..n).map(&name), edges.iter().map(|(a, b)| (a.as_str(), b.as_str())))
}

/// Nodes, edges, and a permutation of the nodes.
fn graphs() -> impl Strategy<Value = (usize, Vec<(usize, usize)>, Vec<usize>)> {
    (1_usize..24).prop_flat_map(|n| {
        let edges = prop::collection::vec((0..n, 0..n), 0..80);
        (Just(n), edges, Just((0..n).collect::<Vec<_>>()).prop_shuffle())
    })
}

proptest! {
    #[test]
    fn scores_are_in_range_and_do_not_depend_on_names((n, edges, order) in graphs(), damping in 0.0_f64..0.99) {
        let plain = network(n, &edges, name);
        let renamed = network(n, &edges, |node| name(order[node]));
        let ranks = plain.pagerank(damping);
        prop_assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let least = (1.0 - damping) / n as f64;
        prop_assert!(ranks.iter().all(|&rank| rank >= least - 1e-12 && rank <= 1.0));
        let between = plain.betweenness(u64::MAX).scores;
        prop_assert!(between.iter().all(|score| (0.0..=1.0).contains(score)));
        let (other_ranks, other_between) = (renamed.pagerank(damping), renamed.betweenness(u64::MAX).scores);
        for node in 0..n {
            prop_assert!((ranks[node] - other_ranks[order[node]]).abs() < 1e-9);
            prop_assert!((between[node] - other_between[order[node]]).abs() < 1e-9);
        }
        prop_assert_eq!(plain.mutual().len(), renamed.mutual().len());
        let all = LoopLimits { max_length: 4, max_loops: usize::MAX, max_steps: usize::MAX };
        prop_assert_eq!(plain.loops(all).loops.len(), renamed.loops(all).loops.len());
        let sizes = |network: &Network| network.strong_components().iter().map(Vec::len).collect::<Vec<_>>();
        prop_assert_eq!(sizes(&plain), sizes(&renamed));
    }

    #[test]
    fn the_order_and_number_of_rows_changes_nothing((n, mut edges, _) in graphs()) {
        let first = network(n, &edges, name);
        edges.reverse();
        let again = edges.clone();
        edges.extend(again);
        let second = network(n, &edges, name);
        prop_assert_eq!(&first, &second);
        prop_assert_eq!(first.analyse(), second.analyse());
    }

    #[test]
    fn loops_are_real_and_distinct((n, edges, _) in graphs()) {
        let network = network(n, &edges, name);
        let limits = LoopLimits { max_length: 5, max_loops: 40, max_steps: 4_000 };
        let found = network.loops(limits);
        let pairs: std::collections::HashSet<(usize, usize)> = edges.iter().copied().collect();
        for cycle in &found.loops {
            prop_assert!((3..=5).contains(&cycle.len()));
            for (i, &node) in cycle.iter().enumerate() {
                prop_assert!(pairs.contains(&(node, cycle[(i + 1) % cycle.len()])));
            }
        }
        let distinct: std::collections::HashSet<_> = found.loops.iter().collect();
        prop_assert_eq!(distinct.len(), found.loops.len());
        prop_assert!(found.loops.len() <= 40);
    }

    #[test]
    fn clusters_are_connected_apart_and_no_worse_than_none((n, edges, _) in graphs()) {
        let found = network(n, &edges, name).clusters();
        let mut members: Vec<usize> = found.clusters.iter().flatten().copied().collect();
        let before = members.len();
        members.sort_unstable();
        members.dedup();
        prop_assert_eq!(members.len(), before, "a node is in two clusters");
        prop_assert!((-0.5..1.0).contains(&found.modularity));
        for cluster in &found.clusters {
            prop_assert!(cluster.len() > 1);
            let mut reached = vec![cluster[0]];
            let mut next = 0;
            while let Some(&node) = reached.get(next) {
                next += 1;
                for &(a, b) in &edges {
                    for (here, there) in [(a, b), (b, a)] {
                        if here == node && cluster.contains(&there) && !reached.contains(&there) {
                            reached.push(there);
                        }
                    }
                }
            }
            prop_assert_eq!(reached.len(), cluster.len());
        }
    }
}

#[test]
fn a_damping_that_is_none_gives_everybody_the_same() {
    for damping in [f64::NAN, -0.1, 1.0, f64::INFINITY] {
        assert_eq!(network(4, &[(0, 1), (2, 1)], name).pagerank(damping), [0.25; 4]);
    }
    assert!(Network::default().pagerank(0.85).is_empty());
}

#[test]
fn more_shortest_paths_than_a_float_can_count_are_no_harm() {
    // 1,200 diamonds in a row: 2^1200 shortest paths from end to end, half of them through each corner.
    let diamonds = 1_200;
    let edges: Vec<(usize, usize)> = (0..diamonds)
        .flat_map(|i| {
            let at = 3 * i;
            [(at, at + 1), (at, at + 2), (at + 1, at + 3), (at + 2, at + 3)]
        })
        .collect();
    let n = 3 * diamonds + 1;
    let name = |node: usize| format!("{node:05}");
    let scores = network(n, &edges, name).betweenness(u64::MAX).scores;
    for i in [1, diamonds / 2, diamonds - 1] {
        let (before, after) = (3 * i + 1, n - 3 * i - 3);
        let want = 0.5 * (before * after) as f64 / ((n - 1) * (n - 2)) as f64;
        for corner in [3 * i + 1, 3 * i + 2] {
            assert!((scores[corner] - want).abs() < 1e-9, "{corner}: {} is not {want}", scores[corner]);
        }
    }
}

#[test]
fn too_many_sources_are_sampled_and_said_so() {
    // A wheel: every shortest path between pages of the rim passes the hub.
    let edges: Vec<(usize, usize)> = (1..400).flat_map(|i| [(0, i), (i, 0)]).collect();
    let network = network(400, &edges, name);
    let exact = network.betweenness(u64::MAX);
    assert_eq!((exact.sampled_sources, exact.scores[0]), (None, 1.0));
    let sampled = network.betweenness(40 * (400 + 798));
    assert_eq!(sampled.sampled_sources, Some(40));
    assert!((sampled.scores[0] - 1.0).abs() < 0.03, "{}", sampled.scores[0]);
    assert!(network.betweenness(0).sampled_sources == Some(1));
}

#[test]
fn loops_stop_at_their_limits_and_say_so() {
    let edges: Vec<(usize, usize)> = (0..20).flat_map(|a| (0..20).map(move |b| (a, b))).collect();
    let network = network(20, &edges, name);
    let few = network.loops(LoopLimits { max_loops: 7, ..LoopLimits::default() });
    assert!(few.truncated && few.loops.len() == 7);
    let short = network.loops(LoopLimits { max_steps: 100, ..LoopLimits::default() });
    assert!(short.truncated && short.loops.len() < 100);
    let triangles = network.loops(LoopLimits { max_length: 3, max_loops: 10_000, max_steps: usize::MAX });
    assert_eq!((triangles.loops.len(), triangles.truncated), (20 * 19 * 18 / 3, false));
    assert_eq!(network.mutual().len(), 190);
    assert_eq!(network.self_loops().len(), 20);
}

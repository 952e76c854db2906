//! Properties of every layout.

use lyra_graph::{Network, Point};
use proptest::prelude::*;
use std::collections::HashSet;

fn name(node: usize) -> String {
    format!("node_{node:03}")
}

fn network(n: usize, edges: &[(usize, usize)]) -> Network {
    let edges: Vec<(String, String)> = edges.iter().map(|&(a, b)| (name(a), name(b))).collect();
    Network::new((0..n).map(name), edges.iter().map(|(a, b)| (a.as_str(), b.as_str())))
}

fn points(network: &Network, radii: &[f64]) -> Vec<Point> {
    network.layout(&network.clusters(), radii)
}

/// Nodes, and edges that may be loops or the same.
fn graphs() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (1_usize..60).prop_flat_map(|n| (Just(n), prop::collection::vec((0..n, 0..n), 0..120)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_node_has_a_point_of_its_own((n, edges) in graphs(), radius in -5.0_f64..40.0) {
        let placed = points(&network(n, &edges), &vec![radius; n]);
        prop_assert_eq!(placed.len(), n);
        prop_assert!(placed.iter().all(|point| point.x.abs() < 1e5 && point.y.abs() < 1e5), "{:?}", placed);
        let distinct: HashSet<(u64, u64)> = placed.iter().map(|p| (p.x.to_bits(), p.y.to_bits())).collect();
        prop_assert_eq!(distinct.len(), n);
        let tenths = |value: f64| (value * 10.0 - (value * 10.0).round()).abs() < 1e-6;
        prop_assert!(placed.iter().all(|point| tenths(point.x) && tenths(point.y)));
    }

    #[test]
    fn the_same_graph_gives_the_same_picture((n, mut edges) in graphs()) {
        let first = points(&network(n, &edges), &[]);
        edges.reverse();
        let again = edges.clone();
        edges.extend(again);
        prop_assert_eq!(first, points(&network(n, &edges), &[]));
    }
}

#[test]
fn small_graphs_have_layouts() {
    assert_eq!(points(&network(0, &[]), &[]), []);
    assert_eq!(points(&network(1, &[(0, 0)]), &[]), [Point::default()]);
    let two = points(&network(2, &[(0, 1), (0, 1), (1, 0), (1, 1)]), &[10.0, 10.0]);
    assert!((two[0].x - two[1].x).hypot(two[0].y - two[1].y) > 20.0, "{two:?}");
}

#[test]
fn odd_radii_are_taken_as_none() {
    let placed = points(&network(3, &[(0, 1)]), &[f64::NAN, f64::INFINITY, -1.0]);
    assert!(placed.iter().all(|point| point.x.is_finite() && point.y.is_finite()));
}

#[test]
fn clusters_and_components_stand_apart() {
    // Two groups of eight that are connected by one edge, and a third by itself.
    let mut edges = vec![(0, 8)];
    for group in [0, 8, 16] {
        edges.extend((0..8).flat_map(|a| (0..a).map(move |b| (group + a, group + b))));
    }
    let placed = points(&network(24, &edges), &[]);
    let middle = |from: usize| {
        let sum = placed[from..from + 8].iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.x, sum.1 + p.y));
        Point { x: sum.0 / 8.0, y: sum.1 / 8.0 }
    };
    let middles = [middle(0), middle(8), middle(16)];
    let away = |a: Point, b: Point| (a.x - b.x).hypot(a.y - b.y);
    for (at, &point) in placed.iter().enumerate() {
        let own = away(point, middles[at / 8]);
        let others = (0..3).filter(|group| *group != at / 8).map(|group| away(point, middles[group]));
        assert!(others.fold(f64::MAX, f64::min) > own, "node {at} is nearer to another group");
    }
}

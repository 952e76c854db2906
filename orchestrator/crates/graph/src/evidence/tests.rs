use super::*;

fn node(node_type: NodeType, id: &str) -> Node {
    Node { node_type, obj_id: id.to_owned(), attributes: Map::new() }
}

fn sample() -> EvidenceGraph {
    let mut graph = EvidenceGraph::new();
    for (kind, id) in [
        (NodeType::Claim, "claim_1"),
        (NodeType::Fragment, "frag_1"),
        (NodeType::Fragment, "frag_2"),
        (NodeType::Page, "page_1"),
    ] {
        graph.add_node(node(kind, id));
    }
    graph.place("frag_1", "page_1");
    graph.place("frag_2", "page_1");
    for fragment in ["frag_1", "frag_2"] {
        assert!(graph.add_edge(fragment, "claim_1", Relation::Supports, EdgeFacts::default()));
    }
    graph
}

#[test]
fn evidence_sources_are_one_per_claim_and_page() {
    let mut graph = sample();
    graph.derive_evidence_sources();
    assert_eq!(graph.edge_counts()["supports"], 2);
    assert_eq!(graph.edge_counts()["evidence_source"], 1);
}

#[test]
fn an_edge_without_its_ends_is_refused_and_a_node_is_kept_once() {
    let mut graph = sample();
    assert!(!graph.add_edge("frag_9", "claim_1", Relation::Refutes, EdgeFacts::default()));
    graph.add_node(node(NodeType::Page, "page_1"));
    assert_eq!(graph.node_counts()["page"], 1);
}

#[test]
fn node_link_names_every_edge_end() {
    let mut graph = sample();
    graph.derive_evidence_sources();
    let json = graph.node_link();
    let ids: HashSet<&str> =
        json["nodes"].as_array().unwrap().iter().map(|n| n["id"].as_str().unwrap()).collect();
    for edge in json["edges"].as_array().unwrap() {
        assert!(
            ids.contains(edge["source"].as_str().unwrap()) && ids.contains(edge["target"].as_str().unwrap())
        );
    }
    assert_eq!(json["stats"]["edge_counts"]["evidence_source"], 1);
}

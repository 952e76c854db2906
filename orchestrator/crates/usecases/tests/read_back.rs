//! Exports read by `NetworkX`, pydot, rispy and bibtexparser, as far as `python3` has them.

use lyra_bibliography::{Output, Record, Writer};
use lyra_domain::Relation;
use lyra_graph::{EdgeFacts, EvidenceGraph, Node, NodeType};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const TITLE: &str = "=\"a\" <b> & 'c', \\N\n\u{1} 50% {x} 睡眠 👋";

fn graph() -> EvidenceGraph {
    let mut graph = EvidenceGraph::new();
    let nodes = [
        (NodeType::Claim, "claim_1", json!({"text": "It works.", "confidence": 0.655})),
        (NodeType::Fragment, "frag_1", json!({"text": TITLE})),
        (NodeType::Page, "page_1", json!({"title": TITLE, "year": 2014})),
        (NodeType::Page, "page_2", json!({"title": "Second", "year": null})),
    ];
    for (node_type, id, attributes) in nodes {
        let Value::Object(attributes) = attributes else { continue };
        graph.add_node(Node { node_type, obj_id: id.to_owned(), attributes });
    }
    graph.place("frag_1", "page_1");
    let judged =
        EdgeFacts { nli_confidence: Some(0.9), premise: Some(TITLE.to_owned()), ..EdgeFacts::default() };
    graph.add_edge("frag_1", "claim_1", Relation::Origin, EdgeFacts::default());
    graph.add_edge("frag_1", "claim_1", Relation::Supports, judged);
    graph.add_edge("page_1", "page_2", Relation::Cites, EdgeFacts::default());
    graph.add_edge("page_2", "page_1", Relation::Cites, EdgeFacts::default());
    graph.derive_evidence_sources();
    graph
}

#[test]
fn other_programs_read_the_exports() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    let graph = graph();
    let work = Record {
        title: "Effects of mRNA on 50% of cells".to_owned(),
        authors: vec!["Erwin Schrödinger".to_owned(), "Jane van der Berg".to_owned()],
        year: Some(1935),
        venue: Some("Food & Sleep".to_owned()),
        doi: lyra_domain::Doi::parse("10.1000/a_b"),
        ..Record::default()
    };
    write("graph.graphml", &graph.graphml());
    write("graph.gexf", &graph.gexf());
    write("graph.json", &graph.node_link().to_string());
    write("graph.dot", &graph.dot());
    write("edges.csv", &graph.edges_csv());
    write("works.ris", &Writer::new(Output::Ris).record(&work));
    write("works.bib", &Writer::new(Output::BibTex).record(&work));
    let expected = json!({
        "graph": {
            "nodes": 4, "edges": 5, "directed": true, "title": TITLE.replace('\u{1}', "\u{fffd}"), "year": 2014,
            "confidence": [0.9],
        },
        "raw_title": TITLE,
        "work": {
            "title": work.title, "authors": ["Schrödinger, Erwin", "van der Berg, Jane"], "doi": "10.1000/a_b",
            "year": "1935",
        },
    });
    write("expected.json", &expected.to_string());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_back.py");
    match Command::new("python3").arg(script).arg(folder.path()).output() {
        Err(error) => println!("skipped: python3 cannot be run: {error}"),
        Ok(output) => {
            println!("{}", String::from_utf8_lossy(&output.stdout));
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

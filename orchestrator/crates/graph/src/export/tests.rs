use crate::{EdgeFacts, EvidenceGraph, Node, NodeType};
use lyra_domain::{NliScores, Relation};
use serde_json::{Map, Value, json};

/// A graph whose texts contain every special character of some format.
const NASTY: &str = "=\"a\" <b> & 'c', \\N\n\u{1}\u{fffe} 50% {x} 睡眠 👋";

fn node(node_type: NodeType, id: &str, attributes: Value) -> Node {
    let attributes = match attributes {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    Node { node_type, obj_id: id.to_owned(), attributes }
}

fn sample() -> EvidenceGraph {
    let mut graph = EvidenceGraph::new();
    graph.add_node(node(NodeType::Claim, "claim_1", json!({"text": NASTY, "confidence": 0.655})));
    graph.add_node(node(NodeType::Fragment, "frag_1", json!({"text": "It works.", "tags": ["a", "b"]})));
    graph.add_node(node(NodeType::Page, "page_1", json!({"title": NASTY, "year": 2014, "doi": null})));
    graph.add_node(node(NodeType::Page, "page_2", json!({"title": "", "year": null, "is_source": false})));
    graph.place("frag_1", "page_1");
    let judged = EdgeFacts {
        nli_confidence: Some(0.9),
        nli_scores: Some(NliScores { supports: 0.9, refutes: 0.05, neutral: 0.05 }),
        premise: Some(NASTY.to_owned()),
        ..EdgeFacts::default()
    };
    graph.add_edge("frag_1", "claim_1", Relation::Origin, EdgeFacts::default());
    graph.add_edge("frag_1", "claim_1", Relation::Supports, judged);
    let citation = EdgeFacts { citation_source: Some("openalex".to_owned()), ..EdgeFacts::default() };
    graph.add_edge("page_1", "page_2", Relation::Cites, citation);
    graph.derive_evidence_sources();
    graph
}

/// Name, attributes and text of an XML element.
type Element = (String, Vec<(String, String)>, String);

/// A document as an XML parser reads it.
fn parsed(xml: &str) -> Vec<Element> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut found: Vec<Element> = Vec::new();
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(e) | Event::Empty(e) => {
                let attributes = e
                    .attributes()
                    .map(|a| {
                        let a = a.expect("an attribute");
                        let value = quick_xml::escape::unescape(&a.value).expect("escaped").into_owned();
                        (a.key.as_ref().to_owned(), value)
                    })
                    .collect();
                found.push((e.name().as_ref().to_owned(), attributes, String::new()));
            }
            Event::Text(text) => {
                if let Some((.., said)) = found.last_mut() {
                    said.push_str(&text);
                }
            }
            Event::GeneralRef(entity) => {
                let entity: &str = &entity;
                let text =
                    quick_xml::escape::unescape(&format!("&{entity};")).expect("an entity").into_owned();
                if let Some((.., said)) = found.last_mut() {
                    said.push_str(&text);
                }
            }
            Event::Eof => return found,
            _ => {}
        }
    }
}

/// What remains of `NASTY` in a format that cannot hold control characters.
fn kept() -> String {
    NASTY.replace(['\u{1}', '\u{fffe}'], "\u{fffd}")
}

#[test]
fn node_link_has_the_fields_of_the_design() {
    let json = sample().node_link();
    assert_eq!(
        json["nodes"][0],
        json!({"id": "claim:claim_1", "node_type": "claim", "obj_id": "claim_1", "text": NASTY, "confidence": 0.655})
    );
    let edge = &json["edges"][1];
    for field in ["nli_confidence", "source_domain_category", "target_domain_category", "citation_source"] {
        assert!(edge.get(field).is_some(), "{field}");
    }
    assert_eq!(
        (&edge["source"], &edge["target"], &edge["relation"]),
        (&json!("fragment:frag_1"), &json!("claim:claim_1"), &json!("supports"))
    );
    assert_eq!(
        json["stats"],
        json!({
            "origin": 1, "supports": 1, "refutes": 0, "neutral": 0, "cites": 1, "evidence_source": 1,
            "node_counts": {"claim": 1, "fragment": 1, "page": 2},
            "edge_counts":
                {"origin": 1, "supports": 1, "refutes": 0, "neutral": 0, "cites": 1, "evidence_source": 1},
        })
    );
}

#[test]
fn graphml_reads_back() {
    let elements = parsed(&sample().graphml());
    let count = |name: &str| elements.iter().filter(|(element, ..)| element == name).count();
    assert_eq!((count("node"), count("edge")), (4, 4));
    let title = elements.iter().find(|(name, attributes, _)| {
        name == "key" && attributes.iter().any(|(k, v)| k == "attr.name" && v == "title")
    });
    let id = &title.expect("a key for titles").1.iter().find(|(k, _)| k == "id").expect("an id").1;
    let titles: Vec<&str> = elements
        .iter()
        .filter(|(name, attributes, _)| name == "data" && attributes[0].1 == *id)
        .map(|(.., text)| text.trim_end_matches(' '))
        .collect();
    assert!(titles.iter().any(|text| text.trim_end() == kept()), "{titles:?}");
    let kinds: Vec<(&str, &str)> = elements
        .iter()
        .filter(|(name, ..)| name == "key")
        .map(|(_, attributes, _)| (attributes[2].1.as_str(), attributes[3].1.as_str()))
        .collect();
    for kind in [("year", "long"), ("confidence", "double"), ("is_source", "boolean"), ("tags", "string")] {
        assert!(kinds.contains(&kind), "{kind:?} in {kinds:?}");
    }
    assert!(kinds.contains(&("nli_scores_supports", "double")), "{kinds:?}");
}

#[test]
fn gexf_reads_back() {
    let elements = parsed(&sample().gexf());
    let count = |name: &str| elements.iter().filter(|(element, ..)| element == name).count();
    assert_eq!((count("node"), count("edge"), count("attributes")), (4, 4, 2));
    let values: Vec<&str> = elements
        .iter()
        .filter(|(name, ..)| name == "attvalue")
        .map(|(_, attributes, _)| attributes[1].1.as_str())
        .collect();
    assert!(values.contains(&kept().as_str()), "{values:?}");
    assert!(elements.iter().any(|(name, attributes, _)| name == "node" && attributes[1].1 == "page_2"));
}

#[test]
fn csv_quotes_cells_and_disarms_formulas() {
    let graph = sample();
    let nodes = graph.nodes_csv();
    assert!(
        nodes.starts_with("id,confidence,is_source,node_type,obj_id,tags,text,title,year\r\n"),
        "{nodes}"
    );
    let quoted = format!("\"'{}\"", NASTY.replace('"', "\"\""));
    assert!(nodes.contains(&format!("claim:claim_1,0.655,,claim,claim_1,,{quoted},,\r\n")), "{nodes}");
    assert!(nodes.contains("page:page_2,,false,page,page_2,,,,\r\n"), "{nodes}");
    let edges = graph.edges_csv();
    assert!(
        edges.starts_with("source,target,citation_source,edge_human_corrected,nli_confidence,"),
        "{edges}"
    );
    assert!(edges.contains("page:page_1,page:page_2,openalex,false,,"), "{edges}");
}

#[test]
fn dot_quotes_labels() {
    let dot = sample().dot();
    assert!(dot.contains("label=\"=\\\"a\\\" <b> & 'c', \\\\N "), "{dot}");
    assert!(
        dot.contains("\"fragment:frag_1\" -> \"claim:claim_1\" [label=\"supports 0.900\", color=forestgreen")
    );
    assert!(
        dot.contains(
            "\"page:page_1\" -> \"page:page_2\" [label=\"cites\", color=steelblue, relation=cites];"
        )
    );
    assert_eq!(dot.matches("->").count(), 4);
}

#[test]
fn an_empty_graph_exports_too() {
    let graph = EvidenceGraph::new();
    assert_eq!(graph.node_link()["nodes"], json!([]));
    assert_eq!((graph.nodes_csv().as_str(), graph.edges_csv().as_str()), ("id\r\n", "source,target\r\n"));
    assert!(parsed(&graph.graphml()).len() == 2 && parsed(&graph.gexf()).len() == 6);
}

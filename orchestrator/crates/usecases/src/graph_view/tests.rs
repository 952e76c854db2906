use super::*;
use crate::config::Config;
use lyra_domain::{Priority, Probability, Relation, TaskConfig};
use lyra_store::{GraphEdge as Row, GraphPassage, GraphRows, GraphWork};

fn work(id: &str, work: Option<&str>) -> GraphWork {
    GraphWork {
        id: id.to_owned(),
        work: work.map(str::to_owned),
        title: format!("Title of {id} \u{202e}turned"),
        domain: "example.org".to_owned(),
        year: Some(2001),
        venue: Some("Journal".to_owned()),
        doi: None,
        first_author: Some("Ada Okafor".to_owned()),
        authors: 3,
        is_retracted: None,
    }
}

fn rows() -> GraphRows {
    let passage = |id: &str, page: &str| GraphPassage {
        id: id.to_owned(),
        page: page.to_owned(),
        text: format!("Passage {id} says."),
    };
    let edge = |source: &str, target: &str, relation| Row {
        source: source.to_owned(),
        target: target.to_owned(),
        relation,
        confidence: Some(Probability::clamped(0.8)),
    };
    GraphRows {
        claims: vec![
            ("claim_a".to_owned(), "Naps ".repeat(60)),
            ("claim_b".to_owned(), "Naps harm.".to_owned()),
        ],
        passages: vec![passage("frag_1", "page_1"), passage("frag_2", "page_2"), passage("frag_3", "page_3")],
        works: vec![work("page_1", Some("w")), work("page_2", Some("w")), work("page_3", None)],
        edges: vec![
            edge("frag_1", "claim_a", Relation::Supports),
            edge("frag_2", "claim_a", Relation::Supports),
            edge("frag_3", "claim_a", Relation::Refutes),
            edge("page_1", "page_3", Relation::Cites),
            edge("page_3", "page_1", Relation::Cites),
            edge("frag_x", "claim_b", Relation::Supports),
        ],
    }
}

fn view(filter: &GraphFilter) -> GraphView {
    view_of("task_1".to_owned(), &Drawn::new(rows()), &wanted(filter).unwrap())
}

#[test]
fn a_view_says_what_its_nodes_are() {
    let view = view(&GraphFilter::default());
    assert_eq!((view.nodes.len(), view.fitting_count, view.left_out_count), (5, 5, 0));
    let node = |id: &str| view.nodes.iter().find(|node| node.node_id == id).unwrap();
    let claim = node("claim_a");
    // Two pages of one work are one observation.
    assert_eq!((claim.side, claim.confidence), (Some("contested"), Some(0.5)));
    assert!(claim.label.chars().count() <= LABEL_CHARS && claim.label.ends_with('…'), "{}", claim.label);
    assert_eq!((claim.path.as_str(), node("claim_b").side), ("/claims/claim_a", Some("open")));
    let work = node("page_1");
    assert_eq!((work.label.as_str(), work.year), ("Title of page_1 turned", Some(2001)));
    assert_eq!(work.citation.as_deref(), Some("Ada Okafor et al., Journal"));
    let circle: Vec<&str> = view.loops[0].iter().map(|&at| view.nodes[at].node_id.as_str()).collect();
    assert_eq!(circle, ["page_1", "page_3"]);
    assert_eq!(view.clusters.iter().map(|cluster| cluster.nodes.len()).sum::<usize>(), 4);
    for (number, cluster) in view.clusters.iter().enumerate() {
        assert_eq!(cluster.named_after, cluster.nodes[0]);
        assert!(cluster.nodes.iter().all(|&node| view.nodes[node].cluster == Some(number)));
    }
    assert_eq!(view.nodes[view.hubs[0].node].node_id, "claim_a");
    assert!(view.edges.iter().any(|edge| edge.relation == "refutes" && edge.nli_confidence == Some(0.8)));
}

const LABEL_CHARS: usize = 140;

#[test]
fn filters_are_read_and_refused() {
    let only = |kinds: &str, relations: &str| GraphFilter {
        kinds: kinds.to_owned(),
        relations: relations.to_owned(),
        ..GraphFilter::default()
    };
    assert_eq!(view(&only("passage, claim,", "refutes")).edges.len(), 1);
    let passages = view(&only("passage", "neutral,supports"));
    assert!(passages.nodes.is_empty(), "a passage without a shown relation is no part of the graph");
    let passages = view(&only("claim,passage", "supports"));
    let titles: Vec<_> = passages.nodes.iter().filter_map(|node| node.citation.as_deref()).collect();
    assert_eq!(titles, ["Title of page_1 turned", "Title of page_2 turned"]);
    let words = GraphFilter { text: " TITLE  page_3 ".to_owned(), ..GraphFilter::default() };
    assert_eq!((view(&words).matched_count, view(&words).nodes.len()), (Some(1), 3));
    let around = GraphFilter { around: "claim_b".to_owned(), ..GraphFilter::default() };
    assert_eq!(view(&around).nodes.len(), 1);
    let all = GraphFilter::default();
    let many: Vec<String> = (0..51).map(|i| format!("n{i}")).collect();
    for (wrong, message) in [
        (only("claims", ""), "`kinds` has `claims`"),
        (only("", "supports,x"), "`relations` has `x`"),
        (GraphFilter { steps: Some(5), ..all.clone() }, "`steps` is 5; it must be 1 to 4"),
        (GraphFilter { limit: Some(0), ..all.clone() }, "`limit` is 0; it must be 1 to 5000"),
        (GraphFilter { text: "x".repeat(201), ..all.clone() }, "`text` has 201 characters"),
        (GraphFilter { expand: many.join(","), ..all }, "`expand` has 51 ids"),
    ] {
        assert_eq!(wanted(&wrong).unwrap_err().message, message);
    }
}

#[tokio::test]
async fn views_are_kept_until_the_store_changes() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { data_dir: Some(folder.path().to_owned()), ..Config::default() };
    let app = crate::testing::open(config).await;
    let new = |text: &str| lyra_store::NewTask {
        query: "Do naps help?".to_owned(),
        config: TaskConfig::default(),
        claims: vec![text.to_owned()],
        question_claim: None,
    };
    let task = app.store().create_task(new("Naps help."), Priority::Medium).await.unwrap().id;
    let filter = GraphFilter::default();
    let first = app.graph_view(&task, &filter).await.unwrap();
    assert_eq!((first.nodes.len(), first.nodes[0].label.as_str()), (1, "Naps help."));
    assert!(Arc::ptr_eq(&first, &app.graph_view(&task, &filter).await.unwrap()));
    app.store().create_task(new("Naps harm."), Priority::Medium).await.unwrap();
    assert!(!Arc::ptr_eq(&first, &app.graph_view(&task, &filter).await.unwrap()));
    let none = app.graph_view(&"task_none".parse().unwrap(), &filter).await.unwrap_err();
    assert_eq!(none.code, ErrorCode::NotFound);
    app.close().await;
}

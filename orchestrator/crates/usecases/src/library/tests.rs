use super::*;
use crate::config::Config;
use lyra_domain::{Claim, ClaimReport, Discrepancies, Evidence, Probability, Relation};

fn entry(id: &str, url: &str) -> LibraryEntry {
    LibraryEntry { id: id.to_owned(), title: id.to_owned(), url: url.to_owned() }
}

#[test]
fn lanes_become_one_list_in_which_a_document_is_one_result() {
    let doi = "https://doi.org/10.1000/a";
    let claims = vec![entry("claim_1", doi), entry("claim_2", doi)];
    let pages = vec![entry("page_1", "https://b.example/"), entry("page_2", doi)];
    let corpus = vec![entry("corpus:naps/a", doi)];
    let documents = fused(vec![(1.0, pages.clone()), (1.0, pages), (2.0, corpus)]);
    let merged = in_turn(fused(vec![(1.0, claims)]), documents);
    let ids: Vec<&str> = merged.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids, ["claim_1", "page_2", "claim_2", "page_1"]);
    assert!(fused(Vec::new()).is_empty());
    let many = (0..30).map(|number| entry(&format!("page_{number}"), &number.to_string())).collect();
    assert_eq!(in_turn(Vec::new(), fused(vec![(1.0, many)])).len(), RESULTS);
}

#[test]
fn an_item_without_an_address_gets_one_of_its_own() {
    let document = Publication { doc_id: "a b/7".to_owned(), ..Publication::default() };
    let entry = document_entry("naps", &document);
    assert_eq!((entry.id.as_str(), entry.title.as_str()), ("corpus:naps/a b/7", "a b/7"));
    assert_eq!(entry.url, "lyra://stored/corpus:naps/a%20b/7");
    let public = Publication { url: Some("https://a.example/".to_owned()), ..document.clone() };
    assert_eq!(document_entry("naps", &public).url, "https://a.example/");
    let local = Publication { url: Some("file:///a".to_owned()), ..document };
    assert_eq!(document_entry("naps", &local).url, entry.url);
}

#[test]
fn a_claim_is_told_with_both_sides_and_their_sources() {
    let evidence = |relation, text: &str| Evidence {
        relation,
        nli_confidence: Probability::clamped(0.9),
        discrepancies: Discrepancies::default(),
        text: text.to_owned(),
        title: "A trial".to_owned(),
        year: Some(2020),
        venue: None,
        doi: Some("10.1000/a".to_owned()),
        url: None,
        doc_id: None,
        section: None,
        page_id: "page_1".parse().unwrap(),
        fragment_id: "frag_1".parse().unwrap(),
        edge_id: "edge_1".parse().unwrap(),
        source_domain_category: "unverified".to_owned(),
        source_key: "work_1".to_owned(),
        work_id: None,
        is_retracted: None,
        human_corrected: false,
        correction_reason: None,
    };
    let task = "task_1".parse().unwrap();
    let claim = Claim::new(&task, "Naps help.", None, None);
    let both = vec![evidence(Relation::Supports, "They do."), evidence(Relation::Refutes, "They do not.")];
    let report = ClaimReport::new(claim, both, None);
    let item = texts::claim(&report, entry("claim_1", "https://a.example/"));
    assert!(item.text.starts_with("Naps help.\n\nConfidence 0."), "{}", item.text);
    let supporting = "Supporting:\n- “They do.” (2020, A trial, https://doi.org/10.1000/a)\n";
    assert!(item.text.contains(supporting), "{}", item.text);
    assert!(item.text.contains("Refuting:\n- “They do not.” ("), "{}", item.text);
    assert_eq!((item.metadata.kind, item.metadata.numbers.map(|n| n.refuting_count)), ("claim", Some(1)));
}

#[tokio::test]
async fn only_ids_of_stored_items_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { data_dir: Some(folder.path().to_owned()), ..Config::default() };
    let app = crate::testing::open(config).await;
    for (id, code) in [
        ("", ErrorCode::InvalidArgument),
        ("task_1", ErrorCode::InvalidArgument),
        ("corpus:naps", ErrorCode::InvalidArgument),
        ("claim_1", ErrorCode::NotFound),
        ("page_1", ErrorCode::NotFound),
        ("corpus:naps/1", ErrorCode::NotFound),
        ("corpus:../1", ErrorCode::InvalidArgument),
    ] {
        assert_eq!(app.library_item(id).await.expect_err(id).code, code, "{id}");
    }
    let long = "x".repeat(MAX_QUERY + 1);
    for query in [" ", &long] {
        assert_eq!(app.search_library(query).await.expect_err("no query").code, ErrorCode::InvalidArgument);
    }
    app.close().await;
}

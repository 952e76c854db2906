//! The contract of a backend, held by all three; the ones on other machines against stand-ins, which check every request
//! against the shapes that the vendors document, and answer from a few documents in memory.

pub(crate) mod opensearch;
mod patentfield;

use crate::lanes::{filters, patents};
use crate::support::{Bench, Hashing};
use lyra_corpus::backend::{
    BackendKind, FeatureScope, FieldBoosts, IdType, LaneHits, LaneKind, LaneQuery, Publication, SearchBackend,
};
use lyra_corpus::{CorpusError, EmbeddedBackend, Result};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// What a stand-in was asked, and what it found wrong with that.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) bodies: Mutex<Vec<Value>>,
    pub(crate) faults: Mutex<Vec<String>>,
}

impl Seen {
    fn fault(&self, fault: String) {
        self.faults.lock().unwrap().push(fault);
    }

    #[track_caller]
    fn nothing_wrong(&self) {
        assert_eq!(*self.faults.lock().unwrap(), [""; 0]);
    }
}

/// Serves until the test ends.
pub(crate) async fn serve(app: axum::Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    address
}

/// The documents of all three backends: patents, since one of them has nothing else.
pub(crate) fn documents() -> Vec<Value> {
    patents().into_iter().filter(|document| document["id"] != "paper").collect()
}

/// A text, or several.
fn texts(value: &Value) -> String {
    value.as_array().map_or_else(
        || value.as_str().unwrap_or_default().to_owned(),
        |many| many.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n"),
    )
}

pub(crate) fn lane(corpus: &str, query: &str, list: &Value, top_k: usize) -> LaneQuery {
    let boosts = FieldBoosts { title: 4.0, abst: 3.0, claim: 2.0, desc: 1.0 };
    let kind = LaneKind::FullText { query: query.to_owned(), boosts };
    LaneQuery { corpus: corpus.to_owned(), kind, filters: filters(list), top_k }
}

pub(crate) async fn run(backend: &dyn SearchBackend, query: &LaneQuery) -> Result<LaneHits> {
    backend.search(query, &CancellationToken::new()).await
}

pub(crate) async fn found(backend: &dyn SearchBackend, query: &LaneQuery) -> Vec<String> {
    let hits = run(backend, query).await.unwrap();
    assert!(hits.hits.is_sorted_by(|a, b| (b.score, &a.doc_id) <= (a.score, &b.doc_id)), "{hits:?}");
    let mut ids: Vec<String> = hits.hits.into_iter().map(|hit| hit.doc_id).collect();
    ids.sort();
    ids
}

async fn fetch(
    backend: &dyn SearchBackend,
    corpus: &str,
    ids: &[&str],
    id_type: IdType,
) -> Vec<Option<Publication>> {
    let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    backend.fetch(corpus, &ids, id_type, &CancellationToken::new()).await.unwrap()
}

/// What every backend does with the same documents.
pub(crate) async fn contract(backend: &dyn SearchBackend, corpus: &str) {
    let all = json!([]);
    assert_eq!(backend.corpora().await.unwrap(), [corpus]);
    let before = backend.snapshot(corpus).await.unwrap();
    assert!(!before.is_empty() && backend.snapshot(corpus).await.unwrap() == before);

    for (query, expect) in [
        ("turbine", &["US-2-B2"][..]),
        ("film", &["US-1-A1", "US-2-B2"]),
        ("film AND panel", &["US-1-A1"]),
        ("film NOT panel", &["US-2-B2"]),
        ("panel OR rotor", &["US-1-A1", "US-2-B2"]),
        ("\"thin film\"", &["US-1-A1"]),
        ("\"film thin\"", &[]),
        ("title:panel", &["US-1-A1"]),
        ("desc:panel", &[]),
        ("(panel OR turbine) NOT (title:solar OR glass)", &["US-2-B2"]),
        ("太陽電池", &["JP-1-A"]),
        ("*N1\"panel film\"", &[]),
        ("*N2\"panel (film foil)\"", &["US-1-A1"]),
        ("*ONP2\"film panel\"", &[]),
        ("claim:*N9\"電池 太陽\"", &["JP-1-A"]),
        ("claim:*N8\"電池 太陽\"", &[]),
    ] {
        assert_eq!(found(backend, &lane(corpus, query, &all, 10)).await, expect, "{query}");
    }
    for (list, expect) in [
        (json!([{"field": "cpc", "include_codes": ["H01L31"]}]), &["US-1-A1"][..]),
        (json!([{"field": "cpc", "include_codes": ["H01L31/04"]}]), &[]),
        (
            json!([{"field": "cpc", "include_codes": ["H01L", "F03D1/06"], "exclude_codes": ["Y02E"]}]),
            &["US-2-B2"],
        ),
        (
            json!([{"field": "fi", "include_codes": ["H01L31/04"]}, {"field": "ft", "include_codes": ["5F151AA"]}]),
            &["JP-1-A"],
        ),
        (json!([{"field": "country", "include_values": ["us"]}]), &["US-1-A1", "US-2-B2"]),
        (json!([{"field": "country", "exclude_values": ["US"]}]), &["JP-1-A"]),
        (
            json!([{"field": "pub_date", "include_range": {"from": "2020-01-08", "to": "2020-12-31"}}]),
            &["US-1-A1"],
        ),
        (json!([{"field": "pubyear", "include_values": [2021]}]), &["US-2-B2"]),
        (json!([{"field": "assignee", "include_values": ["Taiyo Kogyo"]}]), &["JP-1-A"]),
    ] {
        assert_eq!(found(backend, &lane(corpus, "film OR 電池", &list, 10)).await, expect, "{list}");
    }

    let hits = run(backend, &lane(corpus, "film", &all, 1)).await.unwrap();
    assert_eq!((hits.hits.len(), hits.truncated, hits.total), (1, true, Some(2)));
    let hits = run(backend, &lane(corpus, "title:panel", &all, 5)).await.unwrap();
    assert_eq!((hits.truncated, hits.total), (false, Some(1)));
    assert_eq!(hits.hits[0].codes.cpc, ["H01L31/0445", "Y02E10/50"]);

    let kind = LaneKind::Semantic { text: "a solar panel".to_owned(), scope: FeatureScope::Wide };
    let semantic =
        LaneQuery { kind, ..lane(corpus, "x", &json!([{"field": "country", "include_values": ["US"]}]), 10) };
    assert_eq!(found(backend, &semantic).await, ["US-1-A1", "US-2-B2"]);

    let documents = fetch(backend, corpus, &["US-2-B2", "absent", "JP-1-A"], IdType::DocId).await;
    assert!(documents[1].is_none());
    let japanese = documents[2].as_ref().unwrap();
    assert_eq!((japanese.doc_id.as_str(), japanese.title.as_str()), ("JP-1-A", "太陽電池モジュール"));
    assert_eq!(
        (japanese.claim.as_str(), japanese.lang.as_deref()),
        ("太陽光を受ける薄い膜の電池。", Some("ja"))
    );
    assert_eq!((japanese.country.as_deref(), japanese.year), (Some("JP"), Some(2020)));
    assert_eq!(japanese.codes.fi, ["H01L31/04,560", "H01L31/04@A"]);
    assert_eq!(
        (japanese.applicants.as_slice(), japanese.cross_en_applicants.as_slice()),
        (&["太陽工業株式会社".to_owned()][..], &["Taiyo Kogyo".to_owned()][..])
    );
    let numbers = fetch(backend, corpus, &["16/1"], IdType::AppId).await;
    assert_eq!(numbers[0].as_ref().unwrap().doc_id, "US-1-A1");
    assert_eq!(backend.embeddings(corpus, &["absent".to_owned()]).await.unwrap(), [None]);

    assert!(matches!(backend.snapshot("absent").await, Err(CorpusError::NotFound { .. })));
    assert!(matches!(run(backend, &lane("absent", "x", &all, 5)).await, Err(CorpusError::NotFound { .. })));
    assert!(matches!(run(backend, &lane(corpus, "(x", &all, 5)).await, Err(CorpusError::Query(_))));
    assert!(matches!(run(backend, &lane(corpus, "x", &all, 0)).await, Err(CorpusError::Search { .. })));
    let stop = CancellationToken::new();
    stop.cancel();
    assert!(matches!(backend.search(&lane(corpus, "film", &all, 5), &stop).await, Err(CorpusError::Stopped)));
}

#[tokio::test]
async fn embedded_keeps_the_contract() {
    let bench = Bench::new();
    let lines: Vec<String> = documents().iter().map(Value::to_string).collect();
    bench.import(&bench.file("a.jsonl", &lines), &Hashing::default()).await.unwrap();
    let backend = EmbeddedBackend::new(bench.corpora.clone(), Arc::new(Hashing::default()));
    assert_eq!(backend.kind("c"), BackendKind::Embedded);
    contract(&backend, "c").await;
}

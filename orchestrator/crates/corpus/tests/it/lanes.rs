//! Lanes of the embedded backend.

use crate::support::{Bench, Hashing};
use lyra_corpus::backend::{
    FeatureScope, FieldBoosts, Filter, IdType, LaneHits, LaneKind, LaneQuery, RawFilter, SearchBackend,
};
use lyra_corpus::{CorpusError, EmbeddedBackend, ImportOptions, Result};
use lyra_text::query::{Query, Texts, matches};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const EVEN: FieldBoosts = FieldBoosts { title: 4.0, abst: 3.0, claim: 2.0, desc: 1.0 };

/// Three patents and a paper.
pub(crate) fn patents() -> Vec<Value> {
    vec![
        json!({"id": "US-1-A1", "country": "US", "lang": "en", "pub_date": "2020-05-01", "app_date": "2018-01-02", "title": "Solar panel",
            "abstract": "A panel of thin film cells.", "claims": ["1. A solar cell.", "2. The cell of claim 1, of glass."],
            "description": "Known cells are heavy. The film is light.", "cpc": ["H01L 31/0445", "Y02E10/50"], "ipc": ["H01L 31/0445 20140101AFI"],
            "applicants": ["Sun Power Corp."], "app_id": "16/1", "pub_id": "2020/1"}),
        json!({"id": "US-2-B2", "country": "US", "lang": "en", "pub_date": "2021-06-01", "title": "Wind turbine", "abstract": "A rotor with film sensors.",
            "claims": ["1. A turbine."], "description": "It turns.", "cpc": ["F03D1/06"], "ipc": ["F03D0001060000"], "exam_id": "US2"}),
        json!({"id": "JP-1-A", "country": "JP", "lang": "ja", "pub_date": "2020-01-07", "title": "太陽電池モジュール", "abstract": "薄膜の太陽電池。",
            "claims": ["太陽光を受ける薄い膜の電池。"], "description": "【背景技術】\n従来の電池は重い。\n【発明の効果】\n軽い電池。",
            "fi": ["H01L31/04,560", "H01L31/04@A"], "fterm": ["5F151AA01"], "applicants": ["太陽工業株式会社"], "cross_en_applicants": ["Taiyo Kogyo"]}),
        json!({"id": "paper", "title": "Perovskite cells", "abstract": "Solar cells of perovskite.", "year": 2021, "doi": "10.1000/p"}),
    ]
}

async fn backend(bench: &Bench) -> EmbeddedBackend {
    let lines: Vec<String> = patents().iter().map(Value::to_string).collect();
    let report = bench.import(&bench.file("a.jsonl", &lines), &Hashing::default()).await.unwrap();
    assert_eq!((report.added, report.rejected_count, report.odd_codes_count), (4, 0, 0));
    EmbeddedBackend::new(bench.corpora.clone(), Arc::new(Hashing::default()))
}

pub(crate) fn filters(list: &Value) -> Vec<Filter> {
    Filter::check_all(&serde_json::from_value::<Vec<RawFilter>>(list.clone()).unwrap()).unwrap()
}

async fn run(backend: &EmbeddedBackend, kind: LaneKind, list: &Value) -> Result<LaneHits> {
    let query = LaneQuery { corpus: "c".to_owned(), kind, filters: filters(list), top_k: 10 };
    backend.search(&query, &CancellationToken::new()).await
}

fn full_text(query: &str) -> LaneKind {
    LaneKind::FullText { query: query.to_owned(), boosts: EVEN }
}

fn ids(hits: &LaneHits) -> Vec<&str> {
    let mut ids: Vec<&str> = hits.hits.iter().map(|hit| hit.doc_id.as_str()).collect();
    ids.sort_unstable();
    ids
}

#[tokio::test]
async fn queries_find_what_they_say() {
    let bench = Bench::new();
    let backend = backend(&bench).await;
    for (query, expect) in [
        ("cells", &["US-1-A1", "paper"][..]),
        ("solar cell", &["US-1-A1", "paper"]),
        ("\"solar cell\"", &["US-1-A1", "paper"]),
        ("title:solar", &["US-1-A1"]),
        ("solar NOT perovskite", &["US-1-A1"]),
        ("NOT film", &["JP-1-A", "paper"]),
        ("turbine OR perovskite", &["US-2-B2", "paper"]),
        ("太陽", &["JP-1-A"]),
        ("陽電", &["JP-1-A"]),
        ("池太", &[]),
        ("*N0\"太陽 電池\"", &["JP-1-A"]),
        ("claim:*N8\"太陽 電池\"", &[]),
        ("claim:*N9\"電池 (太陽 月)\"", &["JP-1-A"]),
        ("claim:*ONP9\"電池 太陽\"", &[]),
        ("*N1\"panel (film foil)\"", &[]),
        ("*N2\"panel (film foil)\"", &["US-1-A1"]),
        ("cpc:H01L31", &["US-1-A1"]),
        ("fi:\"H01L 31/04\" 太陽", &["JP-1-A"]),
        ("assignee:taiyo", &["JP-1-A"]),
        ("assignee:\"sun power\" OR country:jp", &["JP-1-A", "US-1-A1"]),
        ("perov*", &["paper"]),
        ("title:perov*", &["paper"]),
        ("claim:perov*", &[]),
        ("*skite", &["paper"]),
        ("turb?ne*", &["US-2-B2"]),
        ("=Perovskite", &["paper"]),
        ("title:=perovskite", &[]),
        ("=\"Solar cells\"", &["paper"]),
        ("panel NEAR/2 (film OR foil)", &["US-1-A1"]),
        ("panel NEAR/1 (film OR foil)", &[]),
        ("\"panel film\"~2", &["US-1-A1"]),
        ("solar -perovskite", &["US-1-A1"]),
    ] {
        let found = run(&backend, full_text(query), &json!([])).await.unwrap();
        assert_eq!(ids(&found), expect, "{query}");
        assert_eq!(found.total, Some(expect.len() as u64));
    }
    let found = run(&backend, full_text("film"), &json!([])).await.unwrap();
    assert_eq!(found.hits[0].codes.cpc, ["H01L31/0445", "Y02E10/50"]);
    assert_eq!(found.hits[0].codes.ipc, ["H01L31/0445"]);
}

#[tokio::test]
async fn filters_let_through_what_they_say() {
    let bench = Bench::new();
    let backend = backend(&bench).await;
    for (list, expect) in [
        (json!([{"field": "cpc", "include_codes": ["H01L"]}]), &["US-1-A1"][..]),
        (json!([{"field": "cpc", "include_codes": ["H01L31/04"]}]), &[]),
        (json!([{"field": "ipc", "exclude_codes": ["F03D"]}]), &["JP-1-A", "US-1-A1", "paper"]),
        (
            json!([{"field": "fi", "include_codes": ["H01L31/04"]}, {"field": "ft", "include_codes": ["5F151AA"]}]),
            &["JP-1-A"],
        ),
        (json!([{"field": "fi", "include_codes": ["H01L31/04,560"], "exclude_codes": ["H01L31/04@A"]}]), &[]),
        (
            json!([{"field": "country", "include_values": ["US", "JP"]}, {"field": "lang", "exclude_values": ["ja"]}]),
            &["US-1-A1", "US-2-B2"],
        ),
        (json!([{"field": "pubyear", "include_values": [2021]}]), &["US-2-B2", "paper"]),
        (
            json!([{"field": "pub_date", "include_range": {"from": "2020-01-07", "to": "2020-05-01"}}]),
            &["JP-1-A", "US-1-A1"],
        ),
        (json!([{"field": "pub_date", "include_range": {"from": "2020-05-02"}}]), &["US-2-B2"]),
        (json!([{"field": "pub_date", "exclude_values": ["2020-05-01"]}]), &["JP-1-A", "US-2-B2", "paper"]),
        (json!([{"field": "app_date", "include_range": {"to": "2018-01-02"}}]), &["US-1-A1"]),
        (json!([{"field": "assignee", "include_values": ["太陽工業"]}]), &["JP-1-A"]),
    ] {
        let found = run(&backend, full_text("a OR film OR rotor OR 電池 OR cells"), &list).await.unwrap();
        assert_eq!(ids(&found), expect, "{list}");
        let kind = LaneKind::Semantic { text: "solar cells".to_owned(), scope: FeatureScope::Wide };
        assert_eq!(ids(&run(&backend, kind, &list).await.unwrap()), expect, "semantic {list}");
    }
    let query = |list: Value| LaneQuery {
        corpus: "c".to_owned(),
        kind: full_text("fi:H01L31"),
        filters: filters(&list),
        top_k: 3,
    };
    let mixed = query(json!([{"field": "cpc", "include_codes": ["H01L"]}]));
    let error = backend.search(&mixed, &CancellationToken::new()).await.unwrap_err().to_string();
    assert!(error.starts_with("`fi` and `cpc` are mixed in one lane; use one"), "{error}");
}

#[tokio::test]
async fn scopes_compare_their_part() {
    let bench = Bench::new();
    let backend = backend(&bench).await;
    let semantic = |text: &str, scope| LaneKind::Semantic { text: text.to_owned(), scope };
    for (scope, count) in [
        (FeatureScope::Wide, 4),
        (FeatureScope::TitleAbstClaims, 4),
        (FeatureScope::ClaimsOnly, 3),
        (FeatureScope::TopClaim, 3),
        (FeatureScope::BackgroundJp, 1),
    ] {
        let found = run(&backend, semantic("a turbine", scope), &json!([])).await.unwrap();
        assert_eq!(found.hits.len(), count, "{scope}");
        assert!(found.hits.is_sorted_by(|a, b| a.score >= b.score));
    }
    let found = run(&backend, semantic("turbine", FeatureScope::TopClaim), &json!([])).await.unwrap();
    assert_eq!(found.hits[0].doc_id, "US-2-B2");
    let embeddings = backend.embeddings("c", &["paper".to_owned(), "none".to_owned()]).await.unwrap();
    assert!(embeddings[0].is_some() && embeddings[1].is_none());
}

#[tokio::test]
async fn publications_by_every_number() {
    let bench = Bench::new();
    let backend = backend(&bench).await;
    let fetch = async |ids: &[&str], id_type| {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        backend.fetch("c", &ids, id_type, &CancellationToken::new()).await.unwrap()
    };
    let found = fetch(&["JP-1-A", "absent", "US-1-A1"], IdType::DocId).await;
    assert!(found[1].is_none());
    let japanese = found[0].clone().unwrap();
    assert_eq!((japanese.title.as_str(), japanese.country.as_deref()), ("太陽電池モジュール", Some("JP")));
    assert_eq!(japanese.codes.fi, ["H01L31/04,560", "H01L31/04@A"]);
    let american = found[2].clone().unwrap();
    assert_eq!(american.claim, "1. A solar cell.\n2. The cell of claim 1, of glass.");
    assert_eq!(american.year, Some(2020));
    for (number, id_type) in [("16/1", IdType::AppId), ("2020/1", IdType::PubId)] {
        assert_eq!(fetch(&[number], id_type).await[0].as_ref().unwrap().doc_id, "US-1-A1");
    }
    assert_eq!(fetch(&["US2"], IdType::ExamId).await[0].as_ref().unwrap().doc_id, "US-2-B2");
}

#[tokio::test]
async fn identity_and_refusals() {
    let bench = Bench::new();
    let backend = backend(&bench).await;
    let stop = CancellationToken::new();
    assert_eq!(backend.corpora().await.unwrap(), ["c"]);
    let before = backend.snapshot("c").await.unwrap();
    assert_eq!(backend.snapshot("c").await.unwrap(), before);
    bench
        .import(
            &bench.file("b.jsonl", &[r#"{"id": "w", "title": "Walrus"}"#.to_owned()]),
            &Hashing::default(),
        )
        .await
        .unwrap();
    assert_ne!(backend.snapshot("c").await.unwrap(), before);

    assert!(matches!(backend.snapshot("absent").await, Err(CorpusError::NotFound { .. })));
    let query =
        |top_k| LaneQuery { corpus: "c".to_owned(), kind: full_text("walrus"), filters: Vec::new(), top_k };
    for top_k in [0, 10_001] {
        assert!(matches!(backend.search(&query(top_k), &stop).await, Err(CorpusError::Search { .. })));
    }
    let error = run(&backend, full_text("(a"), &json!([])).await.unwrap_err().to_string();
    assert!(error.contains("at character 3: found the end, expected `)`"), "{error}");
    let error = run(&backend, full_text("lamp AND fiber$"), &json!([])).await.unwrap_err().to_string();
    assert!(error.contains("at character 15: found `$`") && error.ends_with("write `fiber*`"), "{error}");
    let error = run(&backend, full_text("a cpc:nonsense"), &json!([])).await.unwrap_err().to_string();
    assert!(error.contains("at character 7: found `nonsense`, expected a code:"), "{error}");
    let one = backend.search(&LaneQuery { top_k: 1, ..query(1) }, &stop).await.unwrap();
    assert_eq!((one.hits.len(), one.truncated), (1, false));
    stop.cancel();
    assert!(matches!(backend.search(&query(5), &stop).await, Err(CorpusError::Stopped)));
}

#[tokio::test]
async fn without_embeddings() {
    let bench = Bench::new();
    let lines: Vec<String> = patents().iter().map(Value::to_string).collect();
    let files = [bench.file("a.jsonl", &lines)];
    let embedder = Hashing { limit: 0, ..Hashing::default() };
    let (stop, none) =
        (CancellationToken::new(), ImportOptions { scopes: Some(Vec::new()), ..ImportOptions::default() });
    let report = bench.corpora.import_with("c", &files, &none, &embedder, &|_| {}, &stop).await.unwrap();
    assert_eq!(report.added, 4);
    let backend = EmbeddedBackend::new(bench.corpora.clone(), Arc::new(Hashing::default()));
    assert_eq!(run(&backend, full_text("cells"), &json!([])).await.unwrap().hits.len(), 2);
    let semantic = |scope| LaneKind::Semantic { text: "cells".to_owned(), scope };
    let error = run(&backend, semantic(FeatureScope::Wide), &json!([])).await.unwrap_err().to_string();
    assert!(error.contains("import the files again with all scopes"), "{error}");
    assert_eq!(backend.embeddings("c", &["paper".to_owned()]).await.unwrap(), [None]);
    let found = bench
        .corpora
        .search_with("c", "cells", None, lyra_corpus::Method::Hybrid, 5, &embedder)
        .await
        .unwrap();
    assert!(found.note.is_some_and(|note| note.contains("without embeddings")));

    // The same files with a scope: documents that are there get what they lack.
    let wide = ImportOptions { scopes: Some(vec![FeatureScope::Wide]), ..ImportOptions::default() };
    let report =
        bench.corpora.import_with("c", &files, &wide, &Hashing::default(), &|_| {}, &stop).await.unwrap();
    assert_eq!((report.updated, report.documents), (4, 4));
    assert_eq!(run(&backend, semantic(FeatureScope::Wide), &json!([])).await.unwrap().hits.len(), 4);
    let error = run(&backend, semantic(FeatureScope::TopClaim), &json!([])).await.unwrap_err().to_string();
    assert!(error.ends_with("use wide, or import the files again with the scope `top_claim`"), "{error}");
    let refused = bench.corpora.import_with("c", &files, &none, &embedder, &|_| {}, &stop).await;
    assert!(matches!(refused, Err(CorpusError::Search { .. })));
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a", "b", "c", "ab", "Abc", "ABC", "abdc", "太", "陽", "光", "電池", "、", "a-b", ".",
    ]);
    prop::collection::vec((piece, prop::bool::ANY), 0..24).prop_map(|pieces| {
        pieces.into_iter().flat_map(|(piece, blank)| [piece, if blank { " " } else { "" }]).collect()
    })
}

fn query() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "a",
        "b",
        "c",
        "abc",
        "ab*",
        "a?c",
        "*bc",
        "A*bc",
        "=Abc",
        "=ab*",
        "太",
        "陽光",
        "光電池",
        "電池",
        "a-b",
        "太陽光",
    ]);
    let near = (
        0_u32..5,
        prop::sample::select(vec!["N", "NP", "ONP"]),
        prop::collection::vec(prop::collection::vec(word.clone(), 1..3), 2..4),
    );
    let beside =
        (0_u32..4, prop::sample::select(vec!["NEAR", "ADJ"]), [word.clone(), word.clone(), word.clone()]);
    let field = prop::sample::select(vec!["", "", "title:", "claim:"]);
    let leaf = prop_oneof![
        beside
            .prop_map(|(distance, kind, [a, b, c])| format!("(({a} OR \"{b} {c}\") {kind}/{distance} {c})")),
        word.clone().prop_map(str::to_owned),
        prop::collection::vec(word, 1..4).prop_map(|words| format!("\"{}\"", words.join(" "))),
        near.prop_map(|(distance, kind, groups)| {
            let groups: Vec<String> = groups.iter().map(|group| format!("({})", group.join(" "))).collect();
            format!("*{kind}{distance}\"{}\"", groups.join(" "))
        }),
    ];
    let leaf = (field, leaf).prop_map(|(field, leaf)| format!("{field}{leaf}"));
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("({})", parts.join(" AND "))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("({})", parts.join(" OR "))),
            inner.prop_map(|part| format!("NOT {part}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// The index finds exactly what the matcher over texts in memory finds, over several segments.
    #[test]
    fn as_the_matcher_in_memory(
        documents in prop::collection::vec([text(), text(), text(), text()], 1..40),
        queries in prop::collection::vec(query(), 20),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let bench = Bench::new();
            let lines: Vec<String> = documents
                .iter()
                .enumerate()
                .map(|(nth, [title, abst, claim, desc])| json!({"id": format!("d{nth:03}"), "title": format!("{title}x"), "abst": abst, "claim": claim, "desc": desc}).to_string())
                .collect();
            let none = ImportOptions { scopes: Some(Vec::new()), ..ImportOptions::default() };
            let corpora = bench.corpora.clone().with_batches(4, 1);
            let files = [bench.file("a.jsonl", &lines)];
            corpora.import_with("c", &files, &none, &Hashing::default(), &|_| {}, &CancellationToken::new()).await.unwrap();
            let backend = EmbeddedBackend::new(corpora, Arc::new(Hashing::default()));
            for text in queries {
                let query = Query::parse(&text).unwrap();
                let expect: Vec<String> = documents
                    .iter()
                    .enumerate()
                    .filter(|(_, [title, abst, claim, desc])| {
                        let title = format!("{title}x");
                        matches(&query, &Texts { title: &title, abst, claim, desc })
                    })
                    .map(|(nth, _)| format!("d{nth:03}"))
                    .collect();
                let lane = LaneQuery { corpus: "c".to_owned(), kind: full_text(&text), filters: Vec::new(), top_k: 100 };
                let found = backend.search(&lane, &CancellationToken::new()).await.unwrap();
                assert_eq!(ids(&found), expect, "{text}");
            }
        });
    }
}

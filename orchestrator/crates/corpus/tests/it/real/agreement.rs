//! What a corpus on a cluster finds is what the same corpus finds here.

use super::{WORDS, addresses, backend, bench, config, import, index, invented, on_cluster, operate};
use crate::remote::{contract, documents, found, lane, run};
use crate::support::{Bench, Hashing, vector};
use lyra_corpus::backend::{FeatureScope, FieldBoosts, IdType, LaneHits, LaneKind, LaneQuery, SearchBackend};
use lyra_corpus::{
    Cluster, EmbeddedBackend, ExportFormat, ImportOptions, Method, Narrow, OpenSearchBackend,
    OpenSearchConfig,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const DOCUMENTS: usize = 800;
const QUERIES: usize = 200;

#[tokio::test(flavor = "multi_thread")]
async fn version_2_finds_the_same_on_a_real_cluster() {
    agrees(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn version_3_finds_the_same_on_a_real_cluster() {
    agrees(3).await;
}

async fn agrees(version: u32) {
    let Some(urls) = addresses(version) else { return };
    keeps_the_contract(&urls).await;
    let config = config(&urls);
    let (here, there) = (Bench::new(), bench(config));
    let lines = invented(DOCUMENTS, 7);
    let file = here.file("a.jsonl", &lines);
    let wide = Some(vec![FeatureScope::Wide]);
    let local = ImportOptions { scopes: wide.clone(), ..ImportOptions::default() };
    import(&here, file.clone(), &local, &Hashing::default()).await.unwrap();
    let report = import(&there, file, &ImportOptions { scopes: wide, ..on_cluster() }, &Hashing::default())
        .await
        .unwrap();
    assert_eq!(
        (report.added, report.documents, report.rejected_count),
        (DOCUMENTS as u64, DOCUMENTS as u64, 0)
    );
    let (here, there) = (&here, &there);
    lanes_agree(version, &backend(here), &backend(there)).await;
    vectors_agree(version, here, there).await;
    documents_agree(here, there).await;
    let index = index(there);
    there.corpora.remove("c").await.unwrap();
    let after = operate(&urls[0], "GET", &format!("{index}/_count"), None).await;
    assert_eq!(after["status"], 404, "{after}");
}

/// The contract that every backend keeps, in an index that Lyra made and over the same as an index of others.
async fn keeps_the_contract(urls: &[String]) {
    let config = config(urls);
    let bench = bench(config.clone());
    let lines: Vec<String> = documents().iter().map(Value::to_string).collect();
    import(&bench, bench.file("a.jsonl", &lines), &on_cluster(), &Hashing::default()).await.unwrap();
    contract(&backend(&bench), "c").await;
    let alias = format!("{}c", config.prefix);
    let foreign = OpenSearchConfig {
        indices: BTreeMap::from([("patents".to_owned(), alias)]),
        vectors: BTreeMap::from([(FeatureScope::Wide, "vector_wide".to_owned())]),
        ..config
    };
    let foreign = OpenSearchBackend::new(Cluster::new(foreign).unwrap(), Arc::new(Hashing::default()));
    contract(&foreign, "patents").await;
    bench.corpora.remove("c").await.unwrap();
}

fn word(random: &mut fastrand::Rng) -> &'static str {
    WORDS[random.usize(..WORDS.len())]
}

/// A query with the operators of the query language.
fn query(random: &mut fastrand::Rng) -> String {
    let field = ["", "", "", "title:", "abst:", "claim:", "desc:"][random.usize(..7)];
    let (a, b, c, n) = (word(random), word(random), word(random), random.u32(0..6));
    match random.u32(..14) {
        0 => format!("{field}{a}"),
        1 => format!("{a} {b}"),
        2 => format!("{field}{a} AND {b} NOT {c}"),
        3 => format!("({a} OR {b}) AND ({field}{c})"),
        4 => format!("{field}\"{a} {b}\""),
        5 => format!("{field}*N{n}\"{a} {b}\""),
        6 => format!("*ONP{n}\"{a} {b}\""),
        7 => format!("{field}*NP{n}\"({a} {b}) {c}\""),
        8 => format!("*ONP{n}\"{a} {b} {c}\""),
        9 => format!("NOT {a}"),
        10 => format!("{a} cpc:H01L31 OR assignee:sun"),
        11 => format!("{field}\"{a} {b} {c}\""),
        12 => format!("*N{n}\"{a}{b} {c}\""),
        _ => format!("{a}{b}"),
    }
}

fn filters(random: &mut fastrand::Rng) -> Value {
    match random.u32(..12) {
        0 => json!([{"field": "cpc", "include_codes": ["H01L31/04"], "exclude_codes": ["Y02E"]}]),
        1 => json!([{"field": "country", "include_values": ["us", "JP"]}]),
        2 => json!([{"field": "pubyear", "include_range": {"from": 2005, "to": 2012}}]),
        3 => json!([{"field": "pub_date", "include_range": {"from": "2004-03-02"}}]),
        4 => json!([{"field": "assignee", "include_values": ["太陽工業"]}]),
        5 => {
            json!([{"field": "tag", "include_values": ["to read"]}, {"field": "collection", "exclude_values": ["sleep/naps"]}])
        }
        6 => {
            json!([{"field": "lang", "exclude_values": ["ja"]}, {"field": "cpc", "include_codes": ["H01L"]}])
        }
        7 => json!([{"field": "collection", "include_values": ["Sleep"]}]),
        _ => json!([]),
    }
}

async fn lanes_agree(version: u32, here: &EmbeddedBackend, there: &EmbeddedBackend) {
    let mut random = fastrand::Rng::with_seed(3);
    let mut by_kind: HashMap<&str, Vec<f64>> = HashMap::new();
    let mut freqs = 0;
    for _ in 0..QUERIES {
        let (query, filters) = (query(&mut random), filters(&mut random));
        let asked = LaneQuery {
            kind: LaneKind::FullText { query: query.clone(), boosts: FieldBoosts::default() },
            ..lane("c", "x", &filters, 2_000)
        };
        let (a, b) = (run(here, &asked).await.unwrap(), run(there, &asked).await.unwrap());
        let (own, other) = (found(here, &asked).await, found(there, &asked).await);
        assert_eq!(own, other, "{query} {filters}");
        assert_eq!((a.total, a.truncated), (b.total, b.truncated), "{query}");
        let codes = |hits: &LaneHits| -> BTreeMap<String, usize> {
            let all = hits.hits.iter().flat_map(|hit| hit.codes.cpc.clone());
            all.fold(BTreeMap::new(), |mut counts, code| {
                *counts.entry(code).or_default() += 1;
                counts
            })
        };
        assert_eq!(codes(&a), codes(&b), "{query}");
        freqs += codes(&a).len();
        let kind = if query.contains('*') { "proximity" } else { "words and phrases" };
        by_kind.entry(kind).or_default().extend(correlation(&a, &b));
        if own.len() > 20 {
            let cut = LaneQuery { top_k: 20, ..asked };
            let (a, b) = (run(here, &cut).await.unwrap(), run(there, &cut).await.unwrap());
            assert_eq!(
                (a.total, b.total, b.hits.len(), b.truncated),
                (Some(own.len() as u64), Some(own.len() as u64), 20, true)
            );
        }
    }
    assert!(freqs > 0);
    for (kind, values) in by_kind {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        eprintln!(
            "{version}.x, {kind}: Kendall's tau-b of ranks, mean {mean:.4}, least {least:.4}, n = {}",
            values.len()
        );
        // Lucene counts an occurrence of a proximity the less, the wider it is; a local corpus counts each as one.
        let least_mean = if kind == "proximity" { 0.6 } else { 0.9 };
        assert!(mean > least_mean, "{kind}: {mean}");
    }
}

/// Kendall's tau-b of the scores of two lists of the same documents.
fn correlation(a: &LaneHits, b: &LaneHits) -> Option<f64> {
    let other: HashMap<&str, f64> = b.hits.iter().map(|hit| (hit.doc_id.as_str(), hit.score)).collect();
    let pairs: Vec<(f64, f64)> =
        a.hits.iter().filter_map(|hit| Some((hit.score, *other.get(hit.doc_id.as_str())?))).collect();
    let (mut same, mut inverse, mut tied_a, mut tied_b) = (0.0, 0.0, 0.0, 0.0);
    for (nth, (x1, y1)) in pairs.iter().enumerate() {
        for (x2, y2) in &pairs[nth + 1..] {
            let (dx, dy) = (x1 - x2, y1 - y2);
            let (x_ties, y_ties) = (dx.abs() < 1e-3, dy.abs() < 1e-3);
            match (x_ties, y_ties) {
                (true, true) => {}
                (true, false) => tied_a += 1.0,
                (false, true) => tied_b += 1.0,
                (false, false) if (dx > 0.0) == (dy > 0.0) => same += 1.0,
                (false, false) => inverse += 1.0,
            }
        }
    }
    let of: f64 = (same + inverse + tied_a) * (same + inverse + tied_b);
    (of > 0.0).then(|| (same - inverse) / of.sqrt())
}

async fn vectors_agree(version: u32, here: &Bench, there: &Bench) {
    let mut random = fastrand::Rng::with_seed(5);
    let (mut recall, mut hybrid, mut queries) = (0, 0, 0);
    for _ in 0..60 {
        let text = super::sentence(&mut random, 6);
        let kind = LaneKind::Semantic { text: text.clone(), scope: FeatureScope::Wide };
        for filter in [json!([]), json!([{"field": "country", "include_values": ["US"]}])] {
            let asked = LaneQuery { kind: kind.clone(), ..lane("c", "x", &filter, 10) };
            let (a, b) =
                (run(&backend(here), &asked).await.unwrap(), run(&backend(there), &asked).await.unwrap());
            assert_eq!((a.total, b.hits.len()), (b.total, 10));
            // A document as close as the tenth is as good.
            let last = a.hits[9].score - 1e-4;
            recall += b.hits.iter().filter(|hit| hit.score >= last).count();
            queries += 1;
        }
        for method in [Method::Hybrid, Method::Bm25] {
            let ids = async |bench: &Bench| -> Vec<String> {
                let vector = vector(&text);
                let found = bench.corpora.search("c", &text, method, 10, Some(&vector)).await.unwrap();
                found.hits.into_iter().map(|hit| hit.document.doc_id).collect()
            };
            let (own, other) = (ids(here).await, ids(there).await);
            hybrid += own.iter().filter(|id| other.contains(id)).count();
        }
    }
    let recall = recall as f64 / (10 * queries) as f64;
    let hybrid = hybrid as f64 / 1_200.0;
    eprintln!(
        "{version}.x: recall@10 of vectors {recall:.4} (n = {queries}); overlap@10 of evidence searches {hybrid:.4} (n = 120)"
    );
    assert!(recall >= 0.95 && hybrid >= 0.75, "{recall} {hybrid}");
}

async fn documents_agree(here: &Bench, there: &Bench) {
    for id in ["D000000", "D000001", "D000100"] {
        let (own, other) =
            (here.corpora.document("c", id).await.unwrap(), there.corpora.document("c", id).await.unwrap());
        assert!(own.is_some() && own == other, "{id}");
    }
    assert!(there.corpora.document("c", "absent").await.unwrap().is_none());
    assert_eq!(here.corpora.labels("c").await.unwrap(), there.corpora.labels("c").await.unwrap());
    let stop = CancellationToken::new();
    let filters = Narrow::of(&["naps".to_owned()], &[]).unwrap().filters;
    for filters in [Vec::new(), filters] {
        let write = async |bench: &Bench| {
            let (corpora, filters) = (&bench.corpora, filters.clone());
            corpora
                .export("c", ExportFormat::Jsonl, filters, Vec::new(), Path::new("x"), |_, _| {}, &stop)
                .await
                .unwrap()
                .0
        };
        let (own, other) = (write(here).await, write(there).await);
        assert!(!own.is_empty() && own == other);
    }
    let (own, other) = (
        here.corpora.duplicates("c", &stop).await.unwrap(),
        there.corpora.duplicates("c", &stop).await.unwrap(),
    );
    assert_eq!(own, other);
    let unknown = Narrow::of(&["nap".to_owned()], &[]).unwrap().filters;
    let (own, other) = (
        here.corpora.check_filters("c", &unknown).await.unwrap_err().to_string(),
        there.corpora.check_filters("c", &unknown).await.unwrap_err().to_string(),
    );
    assert_eq!(own, other);
    let (own, other) = (here.corpora.show("c").await.unwrap(), there.corpora.show("c").await.unwrap());
    assert_eq!(
        (own.documents, own.embedded, own.scopes, own.embedder),
        (other.documents, other.embedded, other.scopes, other.embedder)
    );
    let ids = ["D000003".to_owned(), "absent".to_owned()];
    let (own, other) = (backend(here), backend(there));
    let fetch =
        async |backend: &EmbeddedBackend| backend.fetch("c", &ids, IdType::DocId, &stop).await.unwrap();
    assert_eq!(fetch(&own).await, fetch(&other).await);
    let embedded = other.embeddings("c", &ids).await.unwrap();
    assert!(embedded[0].is_some() && embedded[1].is_none());
}

//! What patent services answer and export. The tables stand in for files of Espacenet, The Lens, `PatSnap`, and Google Patents, after
//! what these publish about their columns.

use crate::lanes::filters;
use crate::support::{Bench, Hashing};
use lyra_corpus::backend::{FieldBoosts, IdType, LaneKind, LaneQuery, Publication, SearchBackend};
use lyra_corpus::{EmbeddedBackend, ExportFormat, ImportOptions, ImportReport};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

async fn import(bench: &Bench, corpus: &str, files: &[PathBuf]) -> ImportReport {
    let options = ImportOptions { scopes: Some(Vec::new()), ..ImportOptions::default() };
    let stop = CancellationToken::new();
    bench.corpora.import_with(corpus, files, &options, &Hashing::default(), &|_| {}, &stop).await.unwrap()
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples/services").join(name)
}

fn backend(bench: &Bench) -> EmbeddedBackend {
    EmbeddedBackend::new(bench.corpora.clone(), Arc::new(Hashing::default()))
}

async fn get(bench: &Bench, id: &str) -> Publication {
    let ids = [id.to_owned()];
    let found = backend(bench).fetch("c", &ids, IdType::DocId, &CancellationToken::new()).await.unwrap();
    found.into_iter().next().flatten().unwrap_or_else(|| panic!("{id} is not there"))
}

async fn search(bench: &Bench, query: &str, list: &serde_json::Value) -> Vec<(String, f64)> {
    let kind = LaneKind::FullText { query: query.to_owned(), boosts: FieldBoosts::default() };
    let query = LaneQuery { corpus: "c".to_owned(), kind, filters: filters(list), top_k: 1_000 };
    let found = backend(bench).search(&query, &CancellationToken::new()).await.unwrap();
    found.hits.into_iter().map(|hit| (hit.doc_id, hit.score)).collect()
}

fn ids(found: &[(String, f64)]) -> Vec<&str> {
    found.iter().map(|(id, _)| id.as_str()).collect()
}

fn date(text: &str) -> Option<jiff::civil::Date> {
    text.parse().ok()
}

fn reasons(report: &ImportReport) -> Vec<(u64, &str)> {
    report.rejected.iter().map(|rejected| (rejected.line, rejected.reason.as_str())).collect()
}

#[tokio::test]
async fn tables_of_services() {
    let bench = Bench::new();
    let files = ["espacenet.csv", "lens.csv", "patsnap.csv", "google.csv"].map(sample);
    let report = import(&bench, "c", &files).await;
    assert_eq!((report.added, report.odd_codes_count), (4, 0), "{report:#?}");
    assert_eq!(reasons(&report), [(10, "no publication number"), (3, "no publication number")]);

    let european = get(&bench, "EP-3000009-A1").await;
    assert_eq!((european.title.as_str(), european.country.as_deref()), ("Apparatus for brewing", Some("EP")));
    assert_eq!(european.authors, ["LEE ANN", "EK BO"]);
    assert_eq!(
        (european.family_id.as_deref(), european.priority_date),
        (Some("51000001"), date("2015-02-03"))
    );
    assert_eq!(european.codes.cpc, ["A47J31/002", "Y02W90/10"]);
    let lens = get(&bench, "US-10000009-B2").await;
    assert_eq!(lens.authors, ["LEE ANN", "EK BO"]);
    assert_eq!((lens.priorities.len(), lens.legal_status.as_deref()), (3, Some("Active")));
    assert_eq!(
        (lens.codes.uspc.as_slice(), lens.exam_id.as_deref()),
        (&["99/279".to_owned()][..], Some("US-10000009-B2"))
    );
    let design = get(&bench, "US-D900001-S1").await;
    assert_eq!((design.codes.locarno.as_slice(), design.references.len()), (&["07-01".to_owned()][..], 2));
    assert_eq!(get(&bench, "EP-3000009-B1").await.app_date, date("2016-02-03"));

    // A row says a part: what the corpus has beside it stays.
    let full = r#"{"id": "EP-3000009-A1", "title": "Apparatus", "claims": ["1. An apparatus."], "cites": ["US10000009"]}"#;
    import(&bench, "c", &[bench.file("full.jsonl", &[full.to_owned()])]).await;
    let rows = std::fs::read_to_string(sample("espacenet.csv")).unwrap();
    import(&bench, "c", &[bench.file("again.csv", &[rows])]).await;
    let both = get(&bench, "EP-3000009-A1").await;
    assert_eq!((both.title.as_str(), both.claim.as_str()), ("Apparatus for brewing", "1. An apparatus."));
}

#[tokio::test]
async fn docdb() {
    let bench = Bench::new();
    let report = import(&bench, "c", &[sample("docdb.xml")]).await;
    assert_eq!((report.added, report.rejected_count, report.odd_codes_count), (1, 2, 0), "{report:#?}");
    let why = reasons(&report);
    assert_eq!(why[0], (20, "`exchange-document` names no publication: a country and a number are missing"));
    assert_eq!(why[1], (19, "no title and no text of `EP-3000010-A1`, neither here nor in the corpus"));
    let found = get(&bench, "EP-3000009-A1").await;
    assert_eq!((found.title.as_str(), found.abst.as_str()), ("Apparatus for brewing", "It brews."));
    assert_eq!((found.applicants[0].as_str(), found.authors[0].as_str()), ("Example Brewers BV", "LEE ANN"));
    assert_eq!((found.codes.ipc[0].as_str(), found.codes.cpc[0].as_str()), ("A47J31/00", "A47J31/002"));
    assert_eq!(found.references, ["US-10000009-B2", "A book"]);
    assert_eq!(found.priorities_shown(), "EP-14000009 (2014-02-03)");
    let again = import(&bench, "c", &[sample("docdb.xml")]).await;
    assert_eq!((again.added, again.unchanged), (0, 1), "{again:#?}");
}

#[tokio::test]
async fn citations_families_and_inventors() {
    let bench = Bench::new();
    let lines = [
        json!({"id": "US-07000001-B2", "title": "Lamp", "inventors": ["Lee, Ann"], "cites": ["US5000001", "EP 0680812 A1", "10.1000/LAMP"],
            "cpc": ["F21V1/00"], "pub_id": "US-20050000001-A1", "priorities": ["NL 1010536"]}),
        json!({"id": "US-20050000001-A1", "title": "Lamp", "inventors": ["Ann Lee"], "cites": ["US-05000001-A"], "ipc": ["F21V1/00"]}),
        json!({"id": "US-05000001-A", "title": "Wick", "uspc": ["431/298"]}),
        json!({"id": "EP-680812-A1", "title": "Docht", "inventors": ["Bo Ek"], "priorities": ["NL1010536"], "fi": ["F21V1/00,100"]}),
        json!({"id": "US-D0513425-S1", "title": "Lamp", "locarno": ["26-05"], "cites": ["US 2005/0000001 A1"]}),
        json!({"id": "paper", "title": "Lamps", "authors": ["Ann Lee"], "doi": "10.1000/lamp"}),
    ];
    let report = import(&bench, "c", &[bench.file("a.jsonl", &lines.map(|line| line.to_string()))]).await;
    assert_eq!((report.added, report.odd_codes_count), (6, 0), "{report:#?}");
    let none = json!([]);
    for (query, expect) in [
        // A number in any form, of the grant or of its application.
        ("cites:US5000001", &["US-07000001-B2", "US-20050000001-A1"][..]),
        ("cites:\"US 5,000,001\"", &["US-07000001-B2", "US-20050000001-A1"]),
        ("cites:US-07000001-B2", &["US-D0513425-S1"]),
        ("cites:paper", &["US-07000001-B2"]),
        ("cites:10.1000/lamp", &["US-07000001-B2"]),
        ("cited_by:US-07000001-B2", &["EP-680812-A1", "US-05000001-A", "paper"]),
        ("cited_by:US-05000001-A", &[]),
        ("cited_by:nothing", &[]),
        ("lamp NOT cites:US5000001", &["US-D0513425-S1", "paper"]),
        // IPC and CPC are one tree, and FI is another.
        ("cpc:F21V", &["US-07000001-B2", "US-20050000001-A1"]),
        ("ipc:F21V1/00", &["US-07000001-B2", "US-20050000001-A1"]),
        ("fi:F21V", &["EP-680812-A1"]),
        ("uspc:431", &["US-05000001-A"]),
        ("locarno:26", &["US-D0513425-S1"]),
        ("inventor:lee", &["US-07000001-B2", "US-20050000001-A1", "paper"]),
        ("author:\"ann lee\"", &["US-20050000001-A1", "paper"]),
        ("country:us", &["US-05000001-A", "US-07000001-B2", "US-20050000001-A1", "US-D0513425-S1"]),
    ] {
        let found = search(&bench, query, &none).await;
        let mut found = ids(&found);
        found.sort_unstable();
        assert_eq!(found, expect, "{query}");
    }
    // The more citations, the higher.
    let found = search(&bench, "cited_by:(US-07000001-B2 OR US-20050000001-A1)", &none).await;
    assert_eq!(found[0], ("US-05000001-A".to_owned(), 2.0), "{found:?}");
    assert_eq!((found.len(), found[1].1), (3, 1.0));
    let inventor =
        json!([{"field": "inventor", "include_values": ["Ek"]}, {"field": "cpc", "exclude_codes": ["A01"]}]);
    assert_eq!(ids(&search(&bench, "docht OR lamp", &inventor).await), ["EP-680812-A1"]);
    let wanted = ["US-07000001-B2", "paper", "missing"].map(str::to_owned);
    let keys = backend(&bench).family_keys("c", &wanted).await.unwrap();
    assert_eq!(keys[0], ["number:US2005/1", "number:US7000001", "priorities:NL1010536"]);
    assert!(keys[1].is_empty() && keys[2].is_empty());
}

fn shared(name: &str) -> Result<PathBuf, String> {
    let root = std::env::var_os("LYRA_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared")),
        PathBuf::from,
    );
    let path = root.join("data/patents").join(name);
    if path.exists() { Ok(path) } else { Err(format!("skipped: {} is absent", path.display())) }
}

#[tokio::test]
async fn real_answers_of_services() {
    let Ok(folder) = shared("patent_apis").inspect_err(|why| println!("{why}")) else { return };
    let bench = Bench::new();
    for (name, added, rejected) in [
        ("epo_ops_published_ep1000000_full_cycle_result.xml", 2, 0),
        ("epo_ops_published_ep1000000_abstract_result.xml", 1, 0),
        ("epo_ops_published_ep1000000_biblio_result.json", 1, 0),
        ("epo_ops_published_ep1000000_claims_result.json", 1, 0),
        ("epo_ops_published_ep1000000_description_result.xml", 1, 0),
        ("epo_ops_family_family_input.xml", 0, 6),
        ("epo_ops_legal_example_3.xml", 0, 1),
        ("epo_ops_published_search_result.xml", 0, 100),
        ("uspto_public_search_biblio.json", 129, 0),
    ] {
        let alone = Bench::new();
        let report = import(&alone, "c", &[folder.join(name)]).await;
        println!("{name}: {} documents, {} rejected", report.added, report.rejected_count);
        assert_eq!(
            (report.added, report.rejected_count, report.odd_codes_count),
            (added, rejected, 0),
            "{report:#?}"
        );
    }
    // Together, each answer says its part, and numbers without a title wait for one.
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.file_name().is_some_and(|name| name != "PROVENANCE.md"));
    all.sort();
    let report = import(&bench, "c", &all).await;
    println!("all: {} added, {} updated, {} rejected", report.added, report.updated, report.rejected_count);
    let found = get(&bench, "EP-1000000-A1").await;
    assert!(found.title.starts_with("Apparatus for manufacturing green bricks"), "{}", found.title);
    assert!(
        found.claim.starts_with("1. Apparatus") && found.desc.lines().count() > 10 && found.abst.len() > 100
    );
    assert_eq!((found.family_id.as_deref(), found.priority_date), (Some("19768124"), date("1998-11-12")));
    assert_eq!(found.references, ["DE-3546191-A1", "EP-0680812-A1", "NL-9400663-A"]);
    assert_eq!(found.authors, ["KOSMAN, WILHELMUS JACOBUS MARIA"]);
    assert_eq!(found.codes.ipc, ["B28B1/29", "B28B5/02", "B28B7/00", "H02P6/08"]);
    let american = get(&bench, "US-11803561-B1").await;
    assert_eq!(
        (american.authors.as_slice(), american.references.len()),
        (&["William Nathan John Hurst".to_owned()][..], 35)
    );
}

#[tokio::test]
async fn all_documents_of_an_office_are_found_by_its_country() {
    let Ok(file) = shared("patents.jsonl.gz").inspect_err(|why| println!("{why}")) else { return };
    let bench = Bench::new();
    let report = import(&bench, "c", &[file]).await;
    let by_filter = json!([{"field": "country", "include_values": ["US"]}]);
    let found = search(&bench, "country:US", &json!([])).await.len();
    let filtered = search(&bench, "country:US OR country:EP OR country:JP", &by_filter).await.len();
    println!("{} documents, {found} of country:US, {filtered} by filter", report.added);
    for odd in report.odd_codes.iter().take(20) {
        println!("{}: {}", odd.line, odd.reason);
    }
    assert_eq!((report.added, found, filtered), (300, 285, 285));
}

#[tokio::test]
async fn an_export_is_taken_back_unchanged() {
    let bench = Bench::new();
    let mut files: Vec<PathBuf> =
        ["espacenet.csv", "lens.csv", "patsnap.csv", "docdb.xml"].map(sample).into();
    if let Ok(folder) = shared("patent_apis").inspect_err(|why| println!("{why}")) {
        files.push(folder.join("uspto_public_search_biblio.json"));
        files.push(folder.join("epo_ops_published_ep1000000_full_cycle_result.xml"));
    }
    import(&bench, "c", &files).await;
    let export = |corpus: &'static str, name: &'static str| {
        let (corpora, path) = (bench.corpora.clone(), bench.folder.path().join(name));
        async move {
            let (stop, none) = (CancellationToken::new(), Vec::new());
            let exported =
                corpora.export(corpus, ExportFormat::Jsonl, none, Vec::new(), &path, |_, _| {}, &stop);
            let (bytes, exported) = exported.await.unwrap();
            std::fs::write(&path, &bytes).unwrap();
            (exported.documents, String::from_utf8(bytes).unwrap(), path)
        }
    };
    let (documents, first, path) = export("c", "first.jsonl").await;
    let report = import(&bench, "d", &[path]).await;
    assert_eq!((report.added, report.rejected_count), (documents, 0), "{report:#?}");
    let (_, second, _) = export("d", "second.jsonl").await;
    println!("{documents} documents, {} bytes, equal: {}", first.len(), first == second);
    assert!(first == second, "the second export differs");
    assert!(first.contains("\"family_id\":\"51000001\"") && first.contains("\"legal_status\":\"Active\""));
}

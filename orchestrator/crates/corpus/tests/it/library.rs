//! A person's library in a corpus: tags, collections, notes, duplicates, and what is exported of it.

use crate::support::{Bench, Hashing, vector};
use lyra_bibliography::{Format, Output, read};
use lyra_corpus::backend::{FieldBoosts, Filter, LaneKind, LaneQuery, RawFilter, SearchBackend};
use lyra_corpus::{
    CorpusError, CorpusSource, EmbeddedBackend, ExportFormat, Exported, Method, Narrow, Within,
};
use lyra_domain::{Imprint, WorkKind};
use lyra_research::ports::EvidenceSource;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

async fn library() -> Bench {
    let bench = Bench::new();
    let documents = [
        json!({"id": "a", "title": "Short naps and memory", "abstract": "Naps improve memory.", "authors": ["Ann Lee"],
            "year": 2019, "tags": ["Naps", "to read"], "collections": ["Sleep/Naps"], "doi": "10.1000/A",
            "notes": ["The control group drank coffee.", "昼寝の対照群を確認する。"]}),
        json!({"id": "b", "title": "Naps at work", "abstract": "Naps improve memory at work.", "year": 2020,
            "tags": ["naps"], "collections": ["Sleep", "Work/Offices"]}),
        json!({"id": "c", "title": "Coffee", "abstract": "Coffee and memory.", "tags": ["to read", "a, b; c"]}),
        json!({"id": "d", "title": "Naps", "abstract": "Naps and memory.", "doi": "10.1000/a"}),
    ];
    let lines: Vec<String> = documents.iter().map(ToString::to_string).collect();
    bench.import(&bench.file("library.jsonl", &lines), &Hashing::default()).await.unwrap();
    bench
}

fn narrow(tags: &[&str], collections: &[&str]) -> Narrow {
    let owned = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    Narrow::of(&owned(tags), &owned(collections)).unwrap()
}

async fn ids(bench: &Bench, query: &str, method: Method, narrow: &Narrow) -> Vec<String> {
    let vector = vector(query);
    let found = bench.corpora.search_narrowed("c", query, method, 10, Some(&vector), narrow).await.unwrap();
    let mut ids: Vec<String> = found.hits.into_iter().map(|hit| hit.document.doc_id).collect();
    ids.sort();
    ids
}

#[tokio::test]
async fn tags_and_collections_narrow_every_search() {
    let bench = library().await;
    for method in [Method::Bm25, Method::Dense, Method::Hybrid] {
        for (tags, collections, expect) in [
            (&["NAPS"][..], &[][..], &["a", "b"][..]),
            (&["naps", "To Read"], &[], &["a"]),
            (&["a, b; c"], &[], &["c"]),
            (&[], &["sleep"], &["a", "b"]),
            (&[], &["Sleep / Naps"], &["a"]),
            (&[], &["Work"], &["b"]),
            (&["naps"], &["Sleep", "Work"], &["b"]),
        ] {
            let found = ids(&bench, "memory", method, &narrow(tags, collections)).await;
            assert_eq!(found, expect, "{method} {tags:?} {collections:?}");
        }
    }
    let backend = EmbeddedBackend::new(bench.corpora.clone(), Arc::new(Hashing::default()));
    let lane = |field: &str, value: &str, excluded: bool| {
        let mut filter = RawFilter { field: field.to_owned(), ..RawFilter::default() };
        if excluded { &mut filter.exclude_values } else { &mut filter.include_values }.push(json!(value));
        let kind = LaneKind::FullText { query: "memory".to_owned(), boosts: FieldBoosts::default() };
        let filters = Filter::check_all(&[filter]).unwrap();
        LaneQuery { corpus: "c".to_owned(), kind, filters, top_k: 10 }
    };
    let stop = CancellationToken::new();
    for (lane, expect) in [
        (lane("tag", "naps", false), &["a", "b"][..]),
        (lane("tag", "naps", true), &["c", "d"]),
        (lane("collection", "Sleep", false), &["a", "b"]),
    ] {
        let found = backend.search(&lane, &stop).await.unwrap();
        let mut found: Vec<&str> = found.hits.iter().map(|hit| hit.doc_id.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, expect);
    }
    let error = backend.search(&lane("tag", "snaps", false), &stop).await.unwrap_err().to_string();
    assert_eq!(error, "filter on `tag`: corpus `c` has no tag `snaps`; the nearest is `Naps`");
}

#[tokio::test]
async fn an_unknown_tag_names_the_nearest() {
    let bench = library().await;
    for (narrow, expect) in [
        (
            narrow(&["too read"], &[]),
            "filter on `tag`: corpus `c` has no tag `too read`; the nearest is `to read`",
        ),
        (
            narrow(&["naps"], &["office"]),
            "filter 2 on `collection`: corpus `c` has no collection `office`; the nearest is `Work/Offices`",
        ),
        (
            narrow(&["zzz"], &[]),
            "filter on `tag`: corpus `c` has no tag `zzz`; it has `Naps`, `to read`, `a, b; c`",
        ),
    ] {
        let error =
            bench.corpora.search_narrowed("c", "memory", Method::Bm25, 5, None, &narrow).await.unwrap_err();
        assert_eq!(error.to_string(), expect);
    }
    assert!(matches!(Narrow::of(&[" ".to_owned()], &[]), Err(CorpusError::Filter(_))));
}

#[tokio::test]
async fn notes_are_found_and_are_not_evidence() {
    let bench = library().await;
    let notes = Narrow { within: Within::Notes, ..Narrow::default() };
    for query in ["control groups with coffee", "対照群"] {
        let found = bench.corpora.search_narrowed("c", query, Method::Bm25, 5, None, &notes).await.unwrap();
        let ids: Vec<&str> = found.hits.iter().map(|hit| hit.document.doc_id.as_str()).collect();
        assert_eq!(ids, ["a"], "{query}");
    }
    let error =
        bench.corpora.search_narrowed("c", "coffee", Method::Dense, 5, None, &notes).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "notes have no embeddings, which dense search compares; search them with bm25"
    );

    // Neither a search in papers nor the evidence of a task has them.
    let papers = ids(&bench, "control group", Method::Bm25, &Narrow::default()).await;
    assert!(papers.is_empty(), "{papers:?}");
    let source = CorpusSource::new(bench.corpora.clone(), "c", Arc::new(Hashing::default()));
    let hits = source.search("Do naps improve memory?", None, 10).await.unwrap().hits;
    assert_eq!(hits.len(), 4);
    for hit in hits {
        let passages = hit.document.unwrap().passages;
        let texts = passages.iter().map(|passage| passage.text.as_str()).chain(hit.text.as_deref());
        assert!(texts.into_iter().all(|text| !text.contains("control group") && !text.contains("対照群")));
    }
    let narrowed = source.with_filters(narrow(&["naps"], &[]).filters);
    assert_eq!(narrowed.search("Do naps improve memory?", None, 10).await.unwrap().hits.len(), 2);
}

async fn exported(bench: &Bench, format: ExportFormat, narrow: Narrow) -> String {
    let cancel = CancellationToken::new();
    let export =
        bench.corpora.export("c", format, narrow.filters, Vec::new(), Path::new("-"), |_, _| {}, &cancel);
    String::from_utf8(export.await.unwrap().0).unwrap()
}

#[tokio::test]
async fn an_export_is_taken_back_unchanged() {
    let bench = library().await;
    let lines = exported(&bench, ExportFormat::Jsonl, Narrow::default()).await;
    assert_eq!(lines.lines().count(), 4);
    let copy = Bench::new();
    let file = copy.folder.path().join("export.jsonl");
    std::fs::write(&file, &lines).unwrap();
    let report = copy.import(&file, &Hashing::default()).await.unwrap();
    assert_eq!((report.added, report.rejected_count), (4, 0));
    for id in ["a", "b", "c", "d"] {
        let [own, other] = [&bench, &copy].map(|bench| bench.corpora.document("c", id));
        assert_eq!(own.await.unwrap().unwrap(), other.await.unwrap().unwrap());
    }
    assert_eq!(exported(&copy, ExportFormat::Jsonl, Narrow::default()).await, lines);
    // Into the corpus that it is from, it brings nothing.
    let report = bench.import(&file, &Hashing::default()).await.unwrap();
    assert_eq!((report.unchanged, report.added + report.updated), (4, 0));
}

#[tokio::test]
async fn reference_managers_get_what_they_can_hold() {
    let bench = library().await;
    let bibtex =
        exported(&bench, ExportFormat::Records(Output::BibTex), narrow(&["naps", "to read"], &[])).await;
    assert_eq!(
        bibtex,
        "@misc{lee2019short,\n  author = {Lee, Ann},\n  title = {Short naps and memory},\n  year = {2019},\n  \
         doi = {10.1000/a},\n  language = {en},\n  keywords = {Naps, to read},\n  groups = {Sleep/Naps},\n  \
         abstract = {Naps improve memory.},\n  annote = {The control group drank coffee.\n昼寝の対照群を確認する。},\n}\n"
    );
    let all = exported(&bench, ExportFormat::Records(Output::Ris), Narrow::default()).await;
    assert_eq!(all.matches("TY  - ").count(), 4);
    let csl = exported(&bench, ExportFormat::Records(Output::CslJson), Narrow::default()).await;
    let items: Vec<serde_json::Value> = serde_json::from_str(&csl).unwrap();
    let keys: Vec<&str> = items.iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(keys, ["lee2019short", "2020naps", "coffee", "naps"]);
}

const KINDS: &str = "\
TY  - BOOK
TI  - A handbook of sleep
AU  - Lee, Ann
PY  - 2019
PB  - North Press
CY  - Bern
ET  - 2
SN  - 978-3-16-148410-0
ER  -
TY  - CHAP
TI  - Naps at noon and in the evening
T2  - Rest and leisure
A2  - Doe, Jane
PB  - South Press
SP  - 10
EP  - 19
SN  - 978-1-86197-271-2
ER  -
TY  - CPAPER
TI  - Measuring how long people doze
T2  - Conference on Rest
PB  - ACM
ER  -
TY  - THES
TI  - Drowsiness of pilots on long flights
PB  - University of Bern
ER  -
TY  - RPRT
TI  - Working hours of nurses in hospitals
PB  - Ministry of Health
ER  -
TY  - UNPB
M3  - Preprint
TI  - Coffee before a short rest
JF  - PsyArXiv
ER  -
TY  - PAT
TI  - Pillow with a built-in alarm
ER  -
TY  - DATA
TI  - Diaries of four hundred sleepers
PB  - Zenodo
ER  -
TY  - JOUR
TI  - Memory of adults after resting
JF  - Rest
PB  - North Press
SN  - 1234-567X
ER  -
TY  - GEN
TI  - Something about snoring
ER  -
";

/// Venue and imprint of each record, by its title.
fn said(text: &str, format: Format) -> BTreeMap<String, (Option<String>, Imprint)> {
    let records = read(text.as_bytes(), format).map(Result::unwrap);
    records.map(|record| (record.title.clone(), (record.venue.clone(), record.imprint()))).collect()
}

#[tokio::test]
async fn what_a_work_is_and_who_published_it_stays() {
    let bench = Bench::new();
    let file = bench.file("refs.ris", &[KINDS.to_owned()]);
    let report = bench.import(&file, &Hashing::default()).await.unwrap();
    assert_eq!((report.added, report.rejected_count), (10, 0), "{report:?}");
    let expect = said(KINDS, Format::Ris);
    assert_eq!(expect["A handbook of sleep"].1.kind, Some(WorkKind::Book));
    for (output, format) in
        [(Output::Ris, Format::Ris), (Output::BibTex, Format::BibTex), (Output::CslJson, Format::CslJson)]
    {
        let text = exported(&bench, ExportFormat::Records(output), Narrow::default()).await;
        assert_eq!(said(&text, format), expect, "{text}");
    }
    let copy = Bench::new();
    let lines = exported(&bench, ExportFormat::Jsonl, Narrow::default()).await;
    assert!(lines.contains(r#""type":"conference_paper""#), "{lines}");
    copy.import(&copy.file("export.jsonl", std::slice::from_ref(&lines)), &Hashing::default()).await.unwrap();
    assert_eq!(exported(&copy, ExportFormat::Jsonl, Narrow::default()).await, lines);
}

#[tokio::test]
async fn a_cancelled_export_says_so() {
    let bench = library().await;
    let cancel = CancellationToken::new();
    let (seen, stop) = (Arc::new(AtomicU64::new(0)), cancel.clone());
    let watched = seen.clone();
    let progress = move |written, total| {
        watched.store(total, Ordering::SeqCst);
        if written == 2 {
            stop.cancel();
        }
    };
    let export = bench.corpora.export(
        "c",
        ExportFormat::Jsonl,
        Vec::new(),
        Vec::new(),
        Path::new("-"),
        progress,
        &cancel,
    );
    assert_eq!(export.await.unwrap().1, Exported { documents: 2, cancelled: true });
    assert_eq!(seen.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn likely_duplicates_are_reported() {
    let bench = library().await;
    let found = bench.corpora.duplicates("c", &CancellationToken::new()).await.unwrap();
    let groups: Vec<_> = found
        .iter()
        .map(|group| {
            (group.reasons.clone(), group.documents.iter().map(|d| d.doc_id.as_str()).collect::<Vec<_>>())
        })
        .collect();
    assert_eq!(groups, [(vec!["same identifier"], vec!["a", "d"])]);
}

//! Imports to a cluster: what interrupts them, what the cluster refuses, and what takes an index's place.

use super::{
    VERSIONS, addresses, backend, bench, config, import, index, invented, manifest, on_cluster, operate,
    without_vectors,
};
use crate::remote::{lane, run};
use crate::support::{Hashing, documents};
use lyra_corpus::backend::{BackendKind, SearchBackend};
use lyra_corpus::{Analyzer, CorpusError, Embed, ImportOptions, Method, Narrow, OpenSearchConfig, Texts};
use serde_json::json;
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_import_goes_on_on_a_real_cluster() {
    for version in VERSIONS {
        an_interrupted_import_goes_on(version).await;
    }
}

async fn an_interrupted_import_goes_on(version: u32) {
    let Some(urls) = addresses(version) else { return };
    let bench = bench(config(&urls));
    let file = bench.file("a.jsonl", &documents(1_500));
    // The embedder fails in the middle.
    let failing = Hashing { limit: 400, ..Hashing::default() };
    assert!(matches!(
        import(&bench, file.clone(), &on_cluster(), &failing).await,
        Err(CorpusError::Inference(_))
    ));
    let kept = bench.corpora.show("c").await.map_or(0, |info| info.documents);
    // Then a person stops it.
    let cancel = CancellationToken::new();
    let stop = |progress: &lyra_corpus::Progress| {
        if progress.indexed + progress.unchanged >= kept + 64 {
            cancel.cancel();
        }
    };
    let files = [file.clone()];
    let model = Hashing::default();
    let report = bench.corpora.import_with("c", &files, &on_cluster(), &model, &stop, &cancel).await.unwrap();
    assert!(report.cancelled, "{report:?}");
    let report = import(&bench, file.clone(), &ImportOptions::default(), &model).await.unwrap();
    assert_eq!((report.documents, report.cancelled), (1_500, false), "{report:?}");
    assert!(report.unchanged >= 64, "{report:?}");
    let again = import(&bench, file, &ImportOptions::default(), &model).await.unwrap();
    assert_eq!((again.added, again.updated, again.unchanged, again.files.unchanged), (0, 0, 1_500, 1));
    // A document that changed, one that is gone, and one that is new.
    let backend = backend(&bench);
    let before = backend.snapshot("c").await.unwrap();
    assert_eq!(backend.snapshot("c").await.unwrap(), before);
    let mut lines = documents(1_501);
    lines.remove(5);
    lines[0] = json!({"id": "doc-0000", "title": "Quite another title", "abstract": "zeppelin"}).to_string();
    let file = bench.file("a.jsonl", &lines);
    let prune = ImportOptions { prune: true, ..ImportOptions::default() };
    let report = import(&bench, file, &prune, &model).await.unwrap();
    assert_eq!(
        (report.added, report.updated, report.files.pruned, report.documents),
        (1, 1, 1, 1_500),
        "{report:?}"
    );
    assert_ne!(backend.snapshot("c").await.unwrap(), before);
    let found = run(&backend, &lane("c", "zeppelin", &json!([]), 5)).await.unwrap();
    assert_eq!(found.hits[0].doc_id, "doc-0000");
    bench.corpora.remove("c").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_cluster_is_given_time_on_a_real_cluster() {
    // The nodes take 4 MB of writes at once, and no request above 6 MB: requests have to become smaller.
    let Some(urls) = addresses(2) else { return };
    let bench = bench(config(&urls));
    let lines: Vec<String> = (0..60)
        .map(|nth| {
            json!({"id": format!("big-{nth}"), "title": "Big", "description": "naps help ".repeat(30_000)})
                .to_string()
        })
        .chain([
            json!({"id": "odd", "title": "Odd", "app_id": "9".repeat(40_000)}).to_string(),
            json!({"id": "huge", "title": "Huge", "description": "naps help ".repeat(700_000)}).to_string(),
        ])
        .collect();
    let file = bench.file("a.jsonl", &lines);
    let report = import(&bench, file, &without_vectors(), &Hashing::default()).await.unwrap();
    assert_eq!((report.added, report.documents, report.rejected_count), (60, 60, 2), "{report:?}");
    let refused = |line: u64, why: &str| {
        report.rejected.iter().any(|one| one.line == line && one.reason.starts_with(why))
    };
    assert!(refused(61, "`odd`: the cluster refuses it (400)"), "{:?}", report.rejected);
    assert!(refused(62, "`huge`: the cluster takes no document of "), "{:?}", report.rejected);
    // Embeddings may come later.
    let later = ImportOptions { embed: Embed::Later, ..ImportOptions::default() };
    let more = bench.file("b.jsonl", &documents(300));
    import(&bench, more, &ImportOptions { scopes: None, ..later }, &Hashing::default()).await.unwrap();
    bench.corpora.remove("c").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn embeddings_come_later_on_a_real_cluster() {
    let Some(urls) = addresses(2) else { return };
    let bench = bench(config(&urls));
    let later = ImportOptions { embed: Embed::Later, ..on_cluster() };
    let report =
        import(&bench, bench.file("a.jsonl", &documents(300)), &later, &Hashing::default()).await.unwrap();
    assert_eq!((report.documents, report.to_embed), (300, 300));
    let model = Hashing::default();
    let found = bench.corpora.search_with("c", "naps", None, Method::Hybrid, 5, &model).await.unwrap();
    assert_eq!((found.method, found.hits.len()), (Method::Bm25, 5));
    let done = bench.corpora.embed_pending("c", &model, &|_, _| {}, &CancellationToken::new()).await.unwrap();
    assert_eq!((done.embedded, done.left), (300, 0));
    let info = bench.corpora.show("c").await.unwrap();
    assert_eq!((info.embedded, info.pending.len(), info.backend), (300, 0, BackendKind::OpenSearch));
    let found = bench.corpora.search_with("c", "naps", None, Method::Hybrid, 5, &model).await.unwrap();
    assert_eq!((found.method, found.note), (Method::Hybrid, None));
    bench.corpora.remove("c").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_model_takes_over_without_a_gap_on_a_real_cluster() {
    for version in VERSIONS {
        a_new_model_takes_over_without_a_gap(version).await;
    }
}

async fn a_new_model_takes_over_without_a_gap(version: u32) {
    let Some(urls) = addresses(version) else { return };
    let config = config(&urls);
    let bench = bench(config.clone());
    let file = bench.file("a.jsonl", &invented(500, 1));
    import(&bench, file.clone(), &on_cluster(), &Hashing::default()).await.unwrap();
    let old = index(&bench);
    let next = Hashing::named("hashing@2");
    let error = import(&bench, file.clone(), &ImportOptions::default(), &next).await.unwrap_err();
    assert!(matches!(error, CorpusError::ModelChanged { .. }), "{error}");
    let rebuild = ImportOptions { rebuild: true, ..ImportOptions::default() };
    // Interrupted, then taken up.
    let failing = Hashing { limit: 600, ..Hashing::named("hashing@2") };
    assert!(import(&bench, file.clone(), &rebuild, &failing).await.is_err());
    let building = manifest(&bench)["opensearch"]["building"]["index"].as_str().unwrap().to_owned();
    assert_eq!(index(&bench), old);
    let searching = {
        let (backend, stop) = (backend(&bench), CancellationToken::new());
        let ended = stop.clone();
        let task = tokio::spawn(async move {
            let mut answers = 0;
            while !stop.is_cancelled() {
                let found = run(&backend, &lane("c", "film", &json!([]), 2_000)).await.unwrap();
                assert_eq!(found.total, Some(found.hits.len() as u64));
                answers += 1;
                assert!(found.hits.len() > 100, "{}", found.hits.len());
            }
            answers
        });
        (task, ended)
    };
    let report = import(&bench, file, &rebuild, &next).await.unwrap();
    searching.1.cancel();
    assert!(searching.0.await.unwrap() > 0);
    assert_eq!((report.documents, report.files.unchanged), (500, 1), "{report:?}");
    assert_eq!(index(&bench), building);
    let alias = operate(&urls[0], "GET", &format!("_alias/{}c", config.prefix), None).await;
    assert_eq!(alias.as_object().unwrap().keys().collect::<Vec<_>>(), [&building]);
    assert_eq!(operate(&urls[0], "GET", &old, None).await["status"], 404);
    assert_eq!(bench.corpora.show("c").await.unwrap().embedder, "hashing@2");
    bench.corpora.remove("c").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_are_cut_as_asked_on_a_real_cluster() {
    let Some(urls) = addresses(3) else { return };
    let texts = ["Thin films of a solar cell", "The film was thinner", "薄膜太陽電池の製造方法"];
    let line = |nth: usize| {
        json!({"id": format!("d{nth}"), "title": texts[nth], "abstract": texts[nth]}).to_string()
    };
    let lines: Vec<String> = (0..texts.len()).map(line).collect();
    // What finds which documents: stems, words as they are, words of a dictionary.
    for (analyzer, query, expected) in [
        (Analyzer::English, "film", &["d0", "d1"][..]),
        (Analyzer::Plain, "film", &["d1"]),
        (Analyzer::Plain, "films", &["d0"]),
        (Analyzer::Japanese, "太陽電池", &["d2"]),
        (Analyzer::Japanese, "製造", &["d2"]),
        (Analyzer::Mixed, "\"太陽電池\"", &["d2"]),
    ] {
        let bench = bench(OpenSearchConfig { analyzer, ..config(&urls) });
        import(&bench, bench.file("a.jsonl", &lines), &without_vectors(), &Hashing::default()).await.unwrap();
        let found = run(&backend(&bench), &lane("c", query, &json!([]), 5)).await.unwrap();
        let mut ids: Vec<&str> = found.hits.iter().map(|hit| hit.doc_id.as_str()).collect();
        ids.sort_unstable();
        assert_eq!(ids, expected, "{} {query}", analyzer.name());
        let found = bench.corpora.search("c", query, Method::Bm25, 5, None).await.unwrap();
        assert_eq!(found.hits.len(), expected.len(), "{} {query}", analyzer.name());
        bench.corpora.remove("c").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn corpora_are_where_they_are_on_a_real_cluster() {
    let Some(urls) = addresses(3) else { return };
    let config = config(&urls);
    let bench = bench(config.clone());
    let file = bench.file("a.jsonl", &documents(20));
    let none = without_vectors();
    import(&bench, file.clone(), &none, &Hashing::default()).await.unwrap();
    let local = ImportOptions { scopes: Some(Vec::new()), ..ImportOptions::default() };
    let stop = CancellationToken::new();
    let model = Hashing::default();
    bench
        .corpora
        .import_with("here", std::slice::from_ref(&file), &local, &model, &|_| {}, &stop)
        .await
        .unwrap();
    let kinds: Vec<(String, BackendKind, u64)> = bench
        .corpora
        .list()
        .await
        .unwrap()
        .into_iter()
        .map(|info| (info.name, info.backend, info.documents))
        .collect();
    assert_eq!(
        kinds,
        [("c".to_owned(), BackendKind::OpenSearch, 20), ("here".to_owned(), BackendKind::Embedded, 20)]
    );
    let elsewhere = ImportOptions { backend: Some(BackendKind::Embedded), ..ImportOptions::default() };
    let error = import(&bench, file.clone(), &elsewhere, &model).await.unwrap_err().to_string();
    assert!(error.starts_with("corpus `c` is opensearch, not embedded"), "{error}");
    // Another installation cannot take the name.
    let other = super::bench(config.clone());
    let error =
        import(&other, other.file("a.jsonl", &documents(3)), &none, &model).await.unwrap_err().to_string();
    assert!(
        error.contains("is on the cluster already") && other.corpora.list().await.unwrap().is_empty(),
        "{error}"
    );
    // What cannot be reached is listed as such.
    let away = lyra_corpus::Cluster::new(lyra_corpus::OpenSearchConfig {
        urls: vec!["http://127.0.0.1:9".to_owned()],
        ..config
    })
    .unwrap();
    let away = lyra_corpus::Corpora::open(bench.folder.path()).with_cluster(away);
    let listed = away.list().await.unwrap();
    assert!(
        listed[0].problem.as_ref().is_some_and(|why| why.contains("cannot reach"))
            && listed[1].problem.is_none()
    );
    bench.corpora.remove("c").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn passages_come_without_descriptions_on_a_real_cluster() {
    let Some(urls) = addresses(3) else { return };
    let bench = bench(config(&urls));
    let lines: &[(u32, u32, u32, &str)] = &[
        (20, 50, 740, "A trial of naps and the memory of adults"),
        (10, 50, 660, "1. Results"),
        (10, 50, 640, "Adults who took naps remembered more than those who did not, in each of the weeks."),
    ];
    let paper = bench.folder.path().join("paper.pdf");
    std::fs::write(&paper, crate::papers::pdf(&[lines])).unwrap();
    let patent = json!({
        "id": "P", "title": "Pillow", "abstract": "A pillow for naps.", "claims": ["A pillow."],
        "description": "Naps are short.",
    });
    let patents = bench.file("patents.jsonl", &[patent.to_string()]);
    let (options, model) = (without_vectors(), Hashing::default());
    let stop = CancellationToken::new();
    bench.corpora.import_with("c", &[paper, patents], &options, &model, &|_| {}, &stop).await.unwrap();
    for texts in [Texts::All, Texts::OfPassages] {
        let narrow = Narrow { texts, ..Narrow::default() };
        let found =
            bench.corpora.search_narrowed("c", "naps", Method::Bm25, 10, None, &narrow).await.unwrap();
        let of = |is_patent: bool| {
            let mut documents = found.hits.iter().map(|hit| &hit.document);
            documents.find(|document| (document.doc_id == "P") == is_patent).unwrap()
        };
        let (patent, paper) = (of(true), of(false));
        assert_eq!(patent.text, "A pillow for naps.");
        assert_eq!(
            (patent.claim.is_empty(), patent.desc.is_empty()),
            (texts != Texts::All, texts != Texts::All)
        );
        assert!(!paper.sections.is_empty() && paper.desc.contains("Adults who took naps"), "{paper:?}");
    }
    bench.corpora.remove("c").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_long_text_only_telling_paragraphs_come_on_a_real_cluster() {
    for version in VERSIONS {
        only_telling_paragraphs_come(version).await;
    }
}

async fn only_telling_paragraphs_come(version: u32) {
    let Some(urls) = addresses(version) else { return };
    let bench = bench(config(&urls));
    let page = |n: u32| format!("Page {n} of the book is about pillows and what they are filled with.\n\n");
    let body: String = (0..200).map(page).collect();
    let tex = format!(
        "\\documentclass{{book}}\\title{{Naps}}\\begin{{document}}\\maketitle\n\\section{{Methods}}\n{body}\n\
         \\section{{Results}}\nAdults who took NAPS kept their memories.\n\n{body}\\end{{document}}\n"
    );
    let book = bench.folder.path().join("book.tex");
    std::fs::write(&book, tex).unwrap();
    let (options, model) = (without_vectors(), Hashing::default());
    let stop = CancellationToken::new();
    bench.corpora.import_with("c", &[book], &options, &model, &|_| {}, &stop).await.unwrap();
    let mut found = Vec::new();
    for texts in [Texts::All, Texts::OfPassages] {
        let narrow = Narrow { texts, ..Narrow::default() };
        let query = "a nap and the memory of an adult";
        let hits =
            bench.corpora.search_narrowed("c", query, Method::Bm25, 10, None, &narrow).await.unwrap().hits;
        found.push(hits.into_iter().next().unwrap().document);
    }
    let lines: Vec<Vec<&str>> = found.iter().map(|document| document.desc.lines().collect()).collect();
    assert!(lines[0].len() > 400, "{:?}", lines[0]);
    assert_eq!(lines[1].iter().filter(|line| !line.is_empty()).count(), 80, "{version}");
    for (whole, fetched) in lines[0].iter().zip(&lines[1]).filter(|(_, fetched)| !fetched.is_empty()) {
        assert_eq!(whole, fetched);
    }
    let passages = found[1].passages();
    let telling = passages.iter().find(|passage| passage.text.contains("Adults who took NAPS")).unwrap();
    assert_eq!(telling.heading, Some("Results"));
    bench.corpora.remove("c").await.unwrap();
}

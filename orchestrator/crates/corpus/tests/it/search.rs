//! What is found.

use crate::support::{Bench, DIMENSION, Hashing, documents, vector};
use lyra_corpus::{Corpora, CorpusError, CorpusSource, Method};
use lyra_research::ports::EvidenceSource;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

async fn bench() -> Bench {
    let bench = Bench::new();
    let lines = [
        r#"{"id": "en-1", "title": "Napping in adults", "abstract": "Short naps improved recall.", "doi": "10.1000/nap"}"#,
        r#"{"id": "en-2", "title": "Coffee", "abstract": "Coffee kept adults awake.", "url": "https://example.com/coffee"}"#,
        r#"{"id": "ja-1", "title": "昼寝と記憶", "abstract": "短い昼寝は単語の記憶を改善した。"}"#,
        r#"{"id": "ja-2", "title": "在宅勤務", "abstract": "在宅勤務の日は処理件数が少なかった。"}"#,
        r#"{"id": "ja-3", "title": "大規模言語処理", "abstract": "東京都立大学での調査である。"}"#,
    ]
    .map(str::to_owned);
    bench.import(&bench.file("a.jsonl", &lines), &Hashing::default()).await.unwrap();
    bench
}

async fn ids(bench: &Bench, query: &str, method: Method) -> Vec<String> {
    let found = bench.corpora.search("c", query, method, 10, Some(&vector(query))).await.unwrap();
    found.hits.into_iter().map(|hit| hit.document.doc_id).collect()
}

#[tokio::test]
async fn english_by_stems() {
    let bench = bench().await;
    assert_eq!(ids(&bench, "does a NAP improve recalling?", Method::Bm25).await, ["en-1"]);
    assert_eq!(ids(&bench, "adult", Method::Bm25).await.len(), 2);
}

#[tokio::test]
async fn japanese_by_words_and_by_pairs() {
    let bench = bench().await;
    assert_eq!(ids(&bench, "昼寝の記憶への効果", Method::Bm25).await, ["ja-1"]);
    assert_eq!(ids(&bench, "在宅勤務は件数を減らすか", Method::Bm25).await, ["ja-2"]);
    // Segmentation cuts 東京都|立|大学 or the like: only the pairs find the word inside.
    assert_eq!(ids(&bench, "都立大", Method::Bm25).await, ["ja-3"]);
}

#[tokio::test]
async fn words_of_a_body_are_found_behind_those_of_an_abstract() {
    let bench = bench().await;
    let lines = [
        r#"{"id": "en-3", "title": "Sleep", "abstract": "A trial.", "description": "Fingolimod kept twelve adults awake.\nこの装置は枕を備える。"}"#,
        r#"{"id": "en-4", "title": "Sleep", "abstract": "A trial of fingolimod."}"#,
        r#"{"id": "en-5", "title": "Sleep", "abstract": "A trial.", "description": "Twelve adults took fingolimod daily."}"#,
    ]
    .map(str::to_owned);
    bench.import(&bench.file("b.jsonl", &lines), &Hashing::default()).await.unwrap();
    assert_eq!(ids(&bench, "fingolimod", Method::Bm25).await, ["en-4", "en-3", "en-5"]);
    assert_eq!(ids(&bench, "daily fingolimod", Method::Bm25).await, ["en-4", "en-5", "en-3"]);
    assert_eq!(ids(&bench, "枕を備える装置", Method::Bm25).await, ["en-3"]);
}

#[tokio::test]
async fn any_query_is_only_words() {
    let bench = bench().await;
    for query in
        ["", "   ", "title:(nap OR \"", "*", "AND NOT", "\u{0}\u{FFFF}", "ﷺ", "-nap +", &"nap ".repeat(5_000)]
    {
        for method in [Method::Bm25, Method::Dense, Method::Hybrid] {
            bench.corpora.search("c", query, method, 3, Some(&vector(query))).await.unwrap();
        }
    }
    assert_eq!(ids(&bench, "title:(nap\"", Method::Bm25).await, ["en-1"]);
    assert!(bench.corpora.search("c", "nap", Method::Bm25, 0, None).await.unwrap().hits.is_empty());
}

#[tokio::test]
async fn the_mix_holds_both_true_scores() {
    let bench = Bench::new();
    bench.import(&bench.file("a.jsonl", &documents(400)), &Hashing::default()).await.unwrap();
    let (query, k) = ("short naps improve memory in group 3", 400);
    let of =
        async |method| bench.corpora.search("c", query, method, k, Some(&vector(query))).await.unwrap().hits;
    let (bm25, dense, hybrid) = (of(Method::Bm25).await, of(Method::Dense).await, of(Method::Hybrid).await);
    assert_eq!((dense.len(), hybrid.len()), (400, 400));
    assert!(hybrid.is_sorted_by(|a, b| (b.score, &a.document.doc_id) <= (a.score, &b.document.doc_id)));
    for hit in &hybrid {
        let id = &hit.document.doc_id;
        let lexical = bm25.iter().find(|other| other.document.doc_id == *id).map_or(0.0, |other| other.score);
        let cosine = dense.iter().find(|other| other.document.doc_id == *id).unwrap().score;
        assert_eq!((hit.bm25, hit.cosine), (Some(lexical), Some(cosine)), "{id}");
        assert!(hit.embedding.is_some());
    }
    // A smaller k changes the length and nothing else, as long as it is below the pool.
    let few: Vec<_> =
        bench.corpora.search("c", query, Method::Hybrid, 5, Some(&vector(query))).await.unwrap().hits;
    let more: Vec<_> =
        bench.corpora.search("c", query, Method::Hybrid, 100, Some(&vector(query))).await.unwrap().hits;
    assert_eq!(few[..], more[..5]);
}

#[tokio::test]
async fn many_vectors_are_searched_by_bytes_and_compared_exactly() {
    let bench = Bench::new();
    bench.import(&bench.file("a.jsonl", &documents(300)), &Hashing::default()).await.unwrap();
    let many = Corpora::open(bench.folder.path()).with_exact_vectors(10);
    let results = async |corpora: &Corpora| {
        let mut all = Vec::new();
        for query in ["short naps improve memory", "biochar and crop yield", "topic 3 study", "昼寝の効果"]
        {
            for method in [Method::Dense, Method::Hybrid] {
                for k in [1, 20, 300, 1_000] {
                    let hits =
                        corpora.search("c", query, method, k, Some(&vector(query))).await.unwrap().hits;
                    assert!(hits.iter().all(|hit| hit.embedding.is_some()));
                    all.push(
                        hits.into_iter().map(|hit| (hit.document.doc_id, hit.score)).collect::<Vec<_>>(),
                    );
                }
            }
        }
        all
    };
    assert_eq!(results(&many).await, results(&bench.corpora).await);
    let length =
        |name: &str| std::fs::metadata(bench.folder.path().join("corpora/c").join(name)).unwrap().len();
    let rows = || {
        let rows = length("embeddings.f32") / (DIMENSION as u64 * 4);
        assert_eq!(length("embeddings.u8"), rows * (DIMENSION as u64 + 4));
        rows
    };
    let before = rows();
    assert!(before >= 300);

    // More documents, and one that changed: its old row stays in place, unused.
    let mut more = documents(320);
    more[7] = r#"{"id": "doc-0007", "title": "Another study", "abstract": "Short naps improve memory."}"#
        .to_owned();
    bench.import(&bench.file("b.jsonl", &more), &Hashing::default()).await.unwrap();
    assert_eq!(results(&many).await, results(&bench.corpora).await);
    assert!(rows() >= before + 21);
    assert_eq!(
        bench
            .corpora
            .hold("c")
            .await
            .unwrap()
            .files
            .iter()
            .filter(|file| file.ends_with("embeddings.u8"))
            .count(),
        0
    );

    // A damaged embedding is detected when it is compared, also by a process without byte embeddings.
    let path = bench.folder.path().join("corpora/c/embeddings.f32");
    let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start((DIMENSION * 4 * 8) as u64)).unwrap();
    std::io::Write::write_all(&mut file, &[0xFF; 64]).unwrap();
    let again = Corpora::open(bench.folder.path()).with_exact_vectors(10);
    let query = "short naps improve memory";
    let found = again.search("c", query, Method::Dense, 300, Some(&vector(query))).await;
    assert!(matches!(found, Err(CorpusError::Damaged { rows: 1, .. })), "{found:?}");
}

#[tokio::test]
async fn a_language_that_the_model_does_not_read() {
    let bench = bench().await;
    let english = Hashing { languages: vec!["en".to_owned()], ..Hashing::default() };
    let search =
        |method| bench.corpora.search_with("c", "昼寝は記憶を改善するのか", None, method, 5, &english);
    let found = search(Method::Hybrid).await.unwrap();
    assert_eq!(found.method, Method::Bm25);
    assert!(found.note.is_some_and(|note| note.contains("does not read `ja`")));
    assert!(matches!(search(Method::Dense).await, Err(CorpusError::NoQueryVector { .. })));
    let short = bench.corpora.search("c", "nap", Method::Dense, 5, Some(&[1.0])).await;
    assert!(matches!(short, Err(CorpusError::BadEmbedding { .. })));
}

#[tokio::test]
async fn as_a_source_of_evidence() {
    let bench = bench().await;
    let source = CorpusSource::new(bench.corpora.clone(), "c", Arc::new(Hashing::default()));
    assert_eq!(source.name(), "corpus:c");
    let hits = source.search("naps in adults", Some("en"), 2).await.unwrap().hits;
    let first = &hits[0];
    assert_eq!(
        (first.rank, first.document.as_ref().map(|found| found.doc_id.as_str()), first.url.as_str()),
        (1, Some("en-1"), "https://doi.org/10.1000/nap")
    );
    assert_eq!((first.work.source_api.as_str(), first.language.as_deref()), ("corpus:c", Some("en")));
    let text = lyra_text::passage("Napping in adults", "Short naps improved recall.");
    assert_eq!(first.embedding, Some(("hashing@1".to_owned(), vector(&text))));
    assert_eq!(hits[1].url, "https://example.com/coffee");

    let missing = CorpusSource::new(bench.corpora.clone(), "absent", Arc::new(Hashing::default()));
    let error = missing.search("x", None, 2).await.unwrap_err();
    assert_eq!(error.to_string(), "corpus `absent` does not exist");
}

#[tokio::test]
async fn another_process_imports_meanwhile() {
    let bench = bench().await;
    assert!(ids(&bench, "walrus", Method::Bm25).await.is_empty());
    let other = lyra_corpus::Corpora::open(bench.folder.path());
    let file = bench.file("b.jsonl", &[r#"{"id": "w", "title": "Walruses"}"#.to_owned()]);
    other.import("c", &[file], &Hashing::default(), &|_| {}, &CancellationToken::new()).await.unwrap();
    assert_eq!(ids(&bench, "walrus", Method::Bm25).await, ["w"]);
    other.remove("c").await.unwrap();
    assert!(matches!(
        bench.corpora.search("c", "x", Method::Bm25, 1, None).await,
        Err(CorpusError::NotFound { .. })
    ));
}

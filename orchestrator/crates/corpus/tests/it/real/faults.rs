//! Nodes that die or hang, and indices that cannot be written or read: an answer is whole, or an error that says what is
//! wrong.

use super::{
    VERSIONS, addresses, backend, bench, config, import, index, invented, manifest, node, on_cluster,
    operate, settled, without_vectors,
};
use crate::remote::{lane, run};
use crate::support::{Hashing, documents};
use lyra_corpus::backend::{FeatureScope, LaneKind, LaneQuery, SearchBackend};
use lyra_corpus::{Cluster, CorpusError, EmbeddedBackend, Method, OpenSearchBackend, OpenSearchConfig};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn indices_that_cannot_be_used_on_a_real_cluster() {
    for version in VERSIONS {
        indices_that_cannot_be_used(version).await;
    }
}

async fn indices_that_cannot_be_used(version: u32) {
    let Some(urls) = addresses(version) else { return };
    let (url, settings) = (&urls[0], config(&urls));
    let bench = bench(settings.clone());
    let (all, model) = (json!([]), Hashing::default());
    import(&bench, bench.file("a.jsonl", &documents(30)), &on_cluster(), &model).await.unwrap();
    let index = index(&bench);
    let more = bench.file("b.jsonl", &invented(10, 2));

    // What only local corpora have.
    for (query, filters, why) in [
        ("nap*", json!([]), "has no index of words as written"),
        ("=LED", json!([]), "has no index of words as written"),
        ("inventor:Lee", json!([]), "has no field `inventor`"),
        ("naps", json!([{"field": "inventor", "include_values": ["Lee"]}]), "has no such field"),
    ] {
        let error = run(&backend(&bench), &lane("c", query, &filters, 5)).await.unwrap_err().to_string();
        assert!(error.contains(why), "{query}: {error}");
    }

    // What OpenSearch sets when a disk is nearly full.
    let block = |on: Value| json!({"index.blocks.read_only_allow_delete": on});
    operate(url, "PUT", &format!("{index}/_settings"), Some(block(json!(true)))).await;
    let error = import(&bench, more.clone(), &on_cluster(), &model).await.unwrap_err().to_string();
    assert!(error.contains("is read-only, because a disk of the cluster is nearly full"), "{error}");
    operate(url, "PUT", &format!("{index}/_settings"), Some(block(Value::Null))).await;
    let report = import(&bench, more.clone(), &on_cluster(), &model).await.unwrap();
    assert_eq!((report.added, report.documents), (10, 40));

    operate(url, "POST", &format!("{index}/_close"), None).await;
    let error = run(&backend(&bench), &lane("c", "naps", &all, 5)).await.unwrap_err().to_string();
    assert!(error.contains(&format!("index `{index}` is closed: open it")), "{error}");
    operate(url, "POST", &format!("{index}/_open?wait_for_active_shards=all"), None).await;
    run(&backend(&bench), &lane("c", "naps", &all, 5)).await.unwrap();

    // An index that someone made again, and forgot fields of.
    let created = manifest(&bench)["created"].clone();
    operate(url, "DELETE", &index, None).await;
    let error = run(&backend(&bench), &lane("c", "naps", &all, 5)).await.unwrap_err().to_string();
    assert!(error.contains("does not exist") || error.contains("no longer on the cluster"), "{error}");
    let meta = json!({"lyra": {"mapping": 1, "corpus": "c", "created": created}});
    let body = json!({"mappings": {"_meta": meta, "properties": {"title": {"type": "keyword"}}}});
    operate(url, "PUT", &index, Some(body)).await;
    let error = import(&bench, more, &on_cluster(), &model).await.unwrap_err().to_string();
    let differs = |error: &str| {
        error.contains("`title` has type \"keyword\" where \"text\" is expected")
            && error.contains("`abst` is missing")
    };
    assert!(differs(&error), "{error}");
    // Another process finds out by searching.
    let corpora = lyra_corpus::Corpora::open(bench.folder.path());
    let corpora = corpora.with_cluster(Cluster::new(settings.clone()).unwrap());
    let error = corpora.search("c", "naps", Method::Bm25, 5, None).await.unwrap_err().to_string();
    assert!(differs(&error), "{error}");
    let lanes = EmbeddedBackend::new(corpora, Arc::new(Hashing::default()));
    let error = run(&lanes, &lane("c", "naps", &all, 5)).await.unwrap_err().to_string();
    assert!(differs(&error), "{error}");
    bench.corpora.remove("c").await.unwrap();

    // An index of others with fields of other kinds, and with vectors of another model.
    let foreign = format!("{}foreign", settings.prefix);
    let properties = json!({"title": {"type": "text"}, "country": {"type": "text"}, "v": {"type": "knn_vector", "dimension": 3}});
    let body = json!({"settings": {"index.knn": true}, "mappings": {"properties": properties}});
    operate(url, "PUT", &foreign, Some(body)).await;
    let settings = OpenSearchConfig {
        indices: BTreeMap::from([("f".to_owned(), foreign.clone())]),
        vectors: BTreeMap::from([(FeatureScope::Wide, "v".to_owned())]),
        ..settings
    };
    let others = OpenSearchBackend::new(Cluster::new(settings).unwrap(), Arc::new(Hashing::default()));
    let error = run(&others, &lane("f", "naps", &all, 5)).await.unwrap_err().to_string();
    assert!(error.contains("`country` is of type text where keyword is needed"), "{error}");
    let kind = LaneKind::Semantic { text: "naps".to_owned(), scope: FeatureScope::Wide };
    let error = run(&others, &LaneQuery { kind, ..lane("f", "x", &all, 5) }).await.unwrap_err().to_string();
    assert!(error.contains("`v` has vectors of 3 numbers, and the embedder makes 64"), "{error}");
    operate(url, "DELETE", &foreign, None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_hangs_on_a_real_cluster() {
    for version in VERSIONS {
        a_node_that_hangs(version).await;
    }
}

async fn a_node_that_hangs(version: u32) {
    let Some(urls) = addresses(version) else { return };
    let settings = config(&urls);
    let bench_of = |urls: &[String]| OpenSearchConfig {
        urls: urls.to_vec(),
        timeout: Duration::from_secs(3),
        ..settings.clone()
    };
    let bench = bench(bench_of(&urls[2..]));
    import(&bench, bench.file("a.jsonl", &documents(30)), &without_vectors(), &Hashing::default())
        .await
        .unwrap();
    let all = json!([]);
    let stop = CancellationToken::new();
    node(version, "stop", 2);
    let backend = backend(&bench);
    // Cancellation does not wait for the node.
    let asked = lane("c", "naps", &all, 5);
    let search = backend.search(&asked, &stop);
    let cancelled = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        stop.cancel();
    };
    let (found, ()) = tokio::join!(tokio::time::timeout(Duration::from_secs(2), search), cancelled);
    assert!(matches!(found, Ok(Err(CorpusError::Stopped))), "{found:?}");
    let error = run(&backend, &asked).await;
    node(version, "go", 2);
    let error = error.unwrap_err();
    assert!(matches!(&error, CorpusError::Backend { passing: true, .. }), "{error}");
    assert!(error.to_string().contains("no answer from"), "{error}");
    settled(&urls[0], 3).await;
    run(&backend, &asked).await.unwrap();
    bench.corpora.remove("c").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_dies_on_a_real_cluster() {
    for version in VERSIONS {
        a_node_that_dies(version).await;
    }
}

async fn a_node_that_dies(version: u32) {
    let Some(urls) = addresses(version) else { return };
    settled(&urls[0], 3).await;
    // The node that dies is the one that is asked first.
    let mut asked = urls.clone();
    asked.reverse();
    let settings = OpenSearchConfig { shards: 3, timeout: Duration::from_secs(10), ..config(&asked) };
    let searched = bench(settings.clone());
    let lines = invented(300, 4);
    import(&searched, searched.file("a.jsonl", &lines), &without_vectors(), &Hashing::default())
        .await
        .unwrap();
    let full = run(&backend(&searched), &lane("c", "film OR 光", &json!([]), 1_000)).await.unwrap().total;
    settled(&urls[0], 3).await;
    // One corpus without copies.
    let single =
        bench(OpenSearchConfig { prefix: format!("{}single-", settings.prefix), ..settings.clone() });
    import(&single, single.file("a.jsonl", &lines), &without_vectors(), &Hashing::default()).await.unwrap();
    let no_copies = json!({"index.auto_expand_replicas": false, "index.number_of_replicas": 0});
    operate(&urls[0], "PUT", &format!("{}/_settings", index(&single)), Some(no_copies)).await;

    let filled = bench(OpenSearchConfig { prefix: format!("{}filled-", settings.prefix), ..settings });
    let file = filled.file("a.jsonl", &invented(2_500, 6));
    let corpora = filled.corpora.clone();
    let filling = tokio::spawn(async move {
        let killed = std::sync::atomic::AtomicBool::new(false);
        let kill = |progress: &lyra_corpus::Progress| {
            if progress.indexed >= 600 && !killed.swap(true, std::sync::atomic::Ordering::SeqCst) {
                node(version, "kill", 2);
            }
        };
        let (model, stop) = (Hashing::default(), CancellationToken::new());
        corpora.import_with("c", &[file], &on_cluster(), &model, &kill, &stop).await
    });
    // Every answer is whole, or an error.
    let (mut whole, mut failed) = (0, 0);
    let other = backend(&searched);
    while !filling.is_finished() {
        match run(&other, &lane("c", "film OR 光", &json!([]), 1_000)).await {
            Ok(found) => {
                assert_eq!(found.total, full);
                whole += 1;
            }
            Err(CorpusError::Backend { passing: true, .. }) => failed += 1,
            Err(error) => panic!("{error}"),
        }
    }
    let report = filling.await.unwrap().unwrap();
    assert_eq!((report.documents, report.rejected_count), (2_500, 0), "{report:?}");
    assert!(whole > 0);
    eprintln!(
        "a node of {version} died during an import of 2500 documents: {whole} whole answers, {failed} errors, none partial"
    );
    assert_eq!(run(&other, &lane("c", "film OR 光", &json!([]), 1_000)).await.unwrap().total, full);
    // Without copies a part is missing, which is said.
    let error = run(&backend(&single), &lane("c", "film", &json!([]), 1_000)).await.unwrap_err().to_string();
    assert!(error.contains("(red)"), "{error}");
    let error = backend(&single).snapshot("c").await.unwrap_err().to_string();
    assert!(error.contains("(red)"), "{error}");
    node(version, "start", 2);
    settled(&urls[0], 3).await;
    run(&backend(&single), &lane("c", "film", &json!([]), 1_000)).await.unwrap();
    for bench in [&searched, &single, &filled] {
        bench.corpora.remove("c").await.unwrap();
    }
}

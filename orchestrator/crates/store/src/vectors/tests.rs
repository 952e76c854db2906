use super::*;
use crate::testing::{Bench, Graph};
use crate::{EmbeddingModel, StoreConfig};
use lyra_domain::{Claim, FragmentId};
use lyra_research::ports::{EmbeddingTarget, VectorStore};

/// A direction in the plane, in degrees.
fn direction(degrees: f32) -> Vec<f32> {
    vec![degrees.to_radians().cos(), degrees.to_radians().sin(), 0.0]
}

fn claim(claim: &Claim, degrees: f32) -> (EmbeddingTarget, Vec<f32>) {
    (EmbeddingTarget::Claim(claim.id.clone()), direction(degrees))
}

fn fragment(id: &FragmentId, degrees: f32) -> (EmbeddingTarget, Vec<f32>) {
    (EmbeddingTarget::Fragment(id.clone()), direction(degrees))
}

async fn search(store: &Store, target: VectorTarget, task: Option<&TaskId>) -> Result<VectorMatches> {
    let vector = direction(0.0);
    let query = VectorQuery { target, task, model: "m", vector: &vector, top_k: 10, min_similarity: -1.0 };
    store.search_vectors(query).await
}

async fn ids(store: &Store, target: VectorTarget, task: Option<&TaskId>) -> Vec<String> {
    search(store, target, task).await.unwrap().matches.into_iter().map(|found| found.id).collect()
}

#[tokio::test]
async fn claims_and_fragments_by_closeness_within_a_task() {
    let bench = Bench::new().await;
    let (graph, other) = (Graph::new(&bench).await, Graph::new(&bench).await);
    let store = &bench.store;
    let fragments: Vec<&FragmentId> = graph.pages.iter().map(|page| &page.fragments[0].id).collect();
    store
        .put_embeddings(
            "m",
            &[
                claim(&graph.disputed, 30.0),
                claim(&graph.growing, 10.0),
                claim(&other.disputed, 20.0),
                fragment(fragments[0], 60.0),
                fragment(fragments[1], 5.0),
            ],
        )
        .await
        .unwrap();

    let of_task = search(store, VectorTarget::Claims, Some(&graph.task.id)).await.unwrap();
    assert_eq!((of_task.searched, of_task.outdated), (2, 0));
    let found: Vec<_> =
        of_task.matches.iter().map(|found| (found.id.as_str(), found.preview.as_str())).collect();
    let text = |claim: &Claim| claim.claim_text.clone();
    assert_eq!(
        found,
        [
            (graph.growing.id.as_str(), text(&graph.growing).as_str()),
            (graph.disputed.id.as_str(), text(&graph.disputed).as_str())
        ]
    );
    assert!((of_task.matches[0].similarity - 10_f32.to_radians().cos()).abs() < 1e-6);
    let everywhere = ids(store, VectorTarget::Claims, None).await;
    assert_eq!(
        everywhere,
        [graph.growing.id.as_str(), other.disputed.id.as_str(), graph.disputed.id.as_str()]
    );
    assert_eq!(
        ids(store, VectorTarget::Fragments, Some(&graph.task.id)).await,
        [fragments[1].as_str(), fragments[0].as_str()]
    );
    let few = VectorQuery {
        target: VectorTarget::Claims,
        task: None,
        model: "m",
        vector: &direction(0.0),
        top_k: 1,
        min_similarity: 0.9,
    };
    assert_eq!(store.search_vectors(few).await.unwrap().matches.len(), 1);
    let none = VectorQuery { min_similarity: 0.99, ..few };
    let none = store.search_vectors(none).await.unwrap();
    assert_eq!((none.matches.len(), none.searched), (0, 3), "nothing close enough is not an error");

    // Another process writes: the memory follows.
    let again = bench.again().await;
    again.put_embeddings("m", &[fragment(fragments[2], 1.0)]).await.unwrap();
    assert_eq!(ids(store, VectorTarget::Fragments, None).await[0], fragments[2].as_str());
    again.reject_claim(&graph.growing.id, "not what was asked").await.unwrap();
    assert_eq!(
        ids(store, VectorTarget::Claims, None).await,
        [other.disputed.id.as_str(), graph.disputed.id.as_str()]
    );
    assert_eq!(ids(store, VectorTarget::Claims, Some(&graph.task.id)).await, [graph.disputed.id.as_str()]);
    bench.execute("DELETE FROM embeddings WHERE target_type = 'fragment' AND seq % 2 = 0").await;
    let left = bench.count("SELECT count(*) FROM embeddings WHERE target_type = 'fragment'").await as usize;
    assert_eq!(ids(store, VectorTarget::Fragments, None).await.len(), left);
}

#[tokio::test]
async fn nothing_to_compare_is_an_error_that_says_what_to_do() {
    let bench = Bench::new().await;
    let (graph, other) = (Graph::new(&bench).await, Graph::new(&bench).await);
    let store = &bench.store;
    let said = |task| async move { search(store, VectorTarget::Claims, task).await.unwrap_err().to_string() };
    assert_eq!(said(None).await, "no claim has a vector yet; queue a search and wait until it is done");
    let unknown: TaskId = "task_none".parse().unwrap();
    assert_eq!(said(Some(&unknown)).await, "task task_none does not exist");

    store.put_embeddings("m", &[claim(&graph.disputed, 1.0)]).await.unwrap();
    let of_other =
        format!("no claim of {} has a vector yet; queue a search and wait until it is done", other.task.id);
    assert_eq!(said(Some(&other.task.id)).await, of_other);
    store.put_embeddings("old", &[claim(&other.disputed, 1.0)]).await.unwrap();
    let outdated = said(Some(&other.task.id)).await;
    assert!(
        outdated.contains("from another model than `m`") && outdated.contains("re-embedded"),
        "{outdated}"
    );
    assert_eq!(search(store, VectorTarget::Claims, None).await.unwrap().outdated, 1);

    let short = VectorQuery {
        target: VectorTarget::Claims,
        task: None,
        model: "m",
        vector: &[1.0],
        top_k: 1,
        min_similarity: 0.0,
    };
    let error = store.search_vectors(short).await.unwrap_err().to_string();
    assert!(
        error.starts_with("the query's vector has 1 numbers and the stored ones of `m` have 3"),
        "{error}"
    );
}

#[tokio::test]
async fn bytes_and_disk_find_what_the_exact_scan_finds() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    bench
        .execute(
            "WITH n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
             INSERT INTO claims (id, task_id, claim_text, claim_type, created_at)
             SELECT 'claim_' || i, (SELECT id FROM tasks), 'claim ' || i, 'extracted', '2026-01-01T00:00:00.000Z' FROM n",
        )
        .await;
    let mut random = fastrand::Rng::with_seed(7);
    let mut vector = || {
        let numbers: Vec<f32> = (0..32).map(|_| random.f32() - 0.5).collect();
        let length = vector::dot(&numbers, &numbers).sqrt();
        numbers.iter().map(|number| number / length).collect::<Vec<f32>>()
    };
    let rows: Vec<_> = (0..1000)
        .map(|i| (EmbeddingTarget::Claim(format!("claim_{i}").parse().unwrap()), vector()))
        .collect();
    let (early, late) = rows.split_at(700);
    bench.store.put_embeddings("m", early).await.unwrap();
    let with = |exact_vectors, vector_memory| {
        let config = StoreConfig { exact_vectors, vector_memory, ..StoreConfig::default() };
        let path = bench.path();
        async move { Store::open(&path, config).await.unwrap() }
    };
    let (exact, bytes, disk) =
        (with(5_000, 1 << 30).await, with(800, 1 << 30).await, with(5_000, 1_000).await);
    for stored in [early, late] {
        if stored.len() == late.len() {
            // 700 vectors are searched exactly, 1,000 by bytes: on the way, rows in memory become bytes.
            bytes.put_embeddings("m", late).await.unwrap();
        }
        let query_vector = vector();
        let query = VectorQuery {
            target: VectorTarget::Claims,
            task: Some(&graph.task.id),
            model: "m",
            vector: &query_vector,
            top_k: 10,
            min_similarity: 0.1,
        };
        let expect = exact.search_vectors(query).await.unwrap();
        assert_eq!(expect.matches.len(), 10);
        assert_eq!(bytes.search_vectors(query).await.unwrap(), expect);
        assert_eq!(disk.search_vectors(query).await.unwrap(), expect);
    }
}

#[tokio::test]
async fn another_model_is_noticed_and_its_vectors_stay_until_new_ones_exist() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    let store = &bench.store;
    let page = &graph.pages[0];
    let old = [claim(&graph.disputed, 1.0), claim(&graph.growing, 2.0), fragment(&page.fragments[0].id, 3.0)];
    store.put_embeddings("older", &old[..2]).await.unwrap();
    store.put_embeddings("old", &old).await.unwrap();
    let made = |target, model: &str, vectors| EmbeddingModel {
        target,
        model: model.to_owned(),
        dimension: 3,
        vectors,
    };
    let models = store.embedding_models().await.unwrap();
    assert_eq!(
        models[1..],
        [made(VectorTarget::Claims, "older", 2), made(VectorTarget::Fragments, "old", 1)]
    );
    assert_eq!(store.outdated_count("old", None, None).await.unwrap(), 0);
    assert_eq!(store.outdated_count("m", Some(&graph.task.id), None).await.unwrap(), 3);
    assert_eq!(store.outdated_count("m", None, Some(VectorTarget::Claims)).await.unwrap(), 2);

    // Page by page, each text once though it has two vectors.
    let first = store.outdated_texts("m", None, 0, 2).await.unwrap();
    let last = store.outdated_texts("m", None, first[1].cursor, 2).await.unwrap();
    let texts: Vec<_> = first
        .iter()
        .chain(&last)
        .map(|text| (&text.target, text.title.as_deref(), text.text.as_str()))
        .collect();
    assert_eq!(
        texts,
        [
            (&old[0].0, None, graph.disputed.claim_text.as_str()),
            (&old[1].0, None, graph.growing.claim_text.as_str()),
            (&old[2].0, Some("Title a"), page.fragments[0].text_content.as_str()),
        ]
    );
    assert!(store.outdated_texts("m", None, last[0].cursor, 2).await.unwrap().is_empty());

    assert_eq!(
        store.remove_outdated("m").await.unwrap(),
        0,
        "nothing is removed before there is something new"
    );
    store.put_embeddings("m", &old[..1]).await.unwrap();
    assert_eq!(store.outdated_count("m", None, None).await.unwrap(), 2);
    assert_eq!(store.remove_outdated("m").await.unwrap(), 2);
    assert_eq!(bench.count("SELECT count(*) FROM embeddings WHERE model_id <> 'm'").await, 3);
    let count = "SELECT sum(vectors) - (SELECT count(*) FROM embeddings) FROM embedding_models";
    assert_eq!(bench.count(count).await, 0);
}

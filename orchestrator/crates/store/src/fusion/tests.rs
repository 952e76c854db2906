use super::*;
use crate::testing::Bench;
use serde_json::{Value, json};

const HOUR: Duration = Duration::from_hours(1);

fn lane(name: &str, shaped_by: &str, ids: &[&str]) -> NewRun {
    let docs = RankedDocs::new(
        ids.iter().map(|id| ((*id).to_owned(), 1.0, vec!["ipc:H01L33/20".to_owned(), format!("fi:{id}")])),
    );
    NewRun {
        kind: RunKind::Fulltext,
        shaped_by: shaped_by.to_owned(),
        lane: Some(name.to_owned()),
        corpus: "patents".to_owned(),
        backend: "embedded".to_owned(),
        recipe: json!({"query": shaped_by}),
        meta: RunMeta { top_k: 800, count_returned: docs.ids.len(), ..RunMeta::default() },
        docs,
        parents: Vec::new(),
        changed_from: None,
        assessment: None,
        representatives: None,
    }
}

#[tokio::test]
async fn a_run_is_served_for_its_identity_until_it_expires() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let recall = store.put_run(lane("recall", "led|recall", &["a", "b"]), HOUR).await.unwrap();
    let precision = store.put_run(lane("precision", "led|precision", &["b"]), HOUR).await.unwrap();
    assert!(recall.id.starts_with("fulltext-") && recall.id != precision.id);
    assert_eq!(store.fresh_run("led|recall").await.unwrap().unwrap(), recall);
    assert_eq!(store.fresh_run("led|precision").await.unwrap().unwrap().docs.ids, ["b"]);
    assert_eq!(store.fresh_run("led").await.unwrap(), None);
    assert_eq!(
        store.run(&recall.id).await.unwrap().docs.codes_of(1).collect::<Vec<_>>(),
        ["ipc:H01L33/20", "fi:b"]
    );

    bench.clock.advance(HOUR);
    assert_eq!(store.fresh_run("led|recall").await.unwrap(), None);
    let again = store.put_run(lane("recall", "led|recall", &["c"]), HOUR).await.unwrap();
    assert_eq!(store.run(&recall.id).await.unwrap().docs.ids, ["a", "b"], "what was fused stays as it was");
    assert_eq!(store.fresh_run("led|recall").await.unwrap().unwrap().id, again.id);
    assert!(store.run("fulltext-none").await.unwrap_err().to_string().contains("fulltext-none"));
    assert_eq!(store.runs(10).await.unwrap().len(), 3);
}

#[tokio::test]
async fn the_same_search_at_the_same_time_is_one_run() {
    let bench = Bench::new().await;
    let put = || bench.store.put_run(lane("wide", "led", &["a", "b"]), HOUR);
    let (a, b, c) = tokio::join!(put(), put(), put());
    let (a, b, c) = (a.unwrap(), b.unwrap(), c.unwrap());
    assert_eq!((&a.id, &a), (&b.id, &c));
    assert_eq!(bench.store.runs(10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn expired_runs_are_found_without_reading_all_runs() {
    let bench = Bench::new().await;
    let plan: Vec<String> = sqlx::query_as::<_, (i64, i64, i64, String)>(
        "EXPLAIN QUERY PLAN DELETE FROM fusion_runs WHERE expires_at < ''",
    )
    .fetch_all(bench.store.reader())
    .await
    .unwrap()
    .into_iter()
    .map(|row| row.3)
    .collect();
    assert!(plan.iter().any(|step| step.contains("fusion_runs_by_expiry")), "{plan:?}");
}

#[tokio::test]
async fn runs_that_are_fused_outlive_their_time() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let parent = store.put_run(lane("wide", "a", &["a"]), HOUR).await.unwrap();
    let lonely = store.put_run(lane("wide", "b", &["b"]), HOUR).await.unwrap();
    let fused = NewRun {
        kind: RunKind::Fusion,
        lane: None,
        parents: vec![RunParent { lane: "wide".to_owned(), run_id: parent.id.clone() }],
        ..lane("", "fused", &["a"])
    };
    let fused = store.put_run(fused, 3 * KEPT).await.unwrap();
    bench.clock.advance(2 * KEPT);
    store.put_run(lane("wide", "c", &[]), HOUR).await.unwrap();
    assert!(store.run(&lonely.id).await.is_err());
    assert_eq!(store.run(&fused.id).await.unwrap().parents[0].run_id, parent.id);
    assert!(store.run(&parent.id).await.is_ok());
}

#[tokio::test]
async fn judgments_replace_those_that_they_were_made_with() {
    let bench = Bench::new().await;
    let run = bench.store.put_run(lane("wide", "a", &["a"]), HOUR).await.unwrap();
    let (first, second) = (json!([{"doc_id": "a", "label": "A"}]), json!([{"doc_id": "a", "label": "B"}]));
    let judge = async |before: Option<&Value>, representatives: &Value, assessment: &Value| {
        let judgments = NewJudgments { before, shaped_by: "a, judged", representatives, assessment };
        bench.store.set_representatives(&run.id, judgments).await.unwrap()
    };
    assert!(judge(None, &second, &json!({})).await);
    // Two people judge at once: the later one has to read the other's judgments first.
    assert!(!judge(None, &first, &json!({"k": 1})).await);
    assert!(judge(Some(&second), &first, &json!({"k": 1})).await);
    // A request without judgments gets no judged run.
    assert_eq!(bench.store.fresh_run("a").await.unwrap(), None);
    assert_eq!(bench.store.fresh_run("a, judged").await.unwrap().unwrap().id, run.id);
    let run = bench.store.run(&run.id).await.unwrap();
    assert_eq!((run.representatives, run.assessment), (Some(first), Some(json!({"k": 1}))));
}

#[tokio::test]
async fn texts_are_kept_for_their_time() {
    let bench = Bench::new().await;
    let store = &bench.store;
    let ids = ["a".to_owned(), "b".to_owned()];
    store
        .cache_texts("patentfield", "jp", "doc_id", &[("a".to_owned(), "{}".to_owned())], HOUR)
        .await
        .unwrap();
    let kept = store.cached_texts("patentfield", "jp", "doc_id", &ids, HOUR).await.unwrap();
    assert_eq!(kept, [("a".to_owned(), "{}".to_owned())].into());
    assert!(store.cached_texts("patentfield", "us", "doc_id", &ids, HOUR).await.unwrap().is_empty());
    bench.clock.advance(HOUR);
    assert!(store.cached_texts("patentfield", "jp", "doc_id", &ids, HOUR).await.unwrap().is_empty());
    store.cache_texts("patentfield", "jp", "doc_id", &[], HOUR).await.unwrap();
    assert_eq!(bench.count("SELECT count(*) FROM fusion_texts").await, 0);
}

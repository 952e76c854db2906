use super::*;
use crate::testing::{Bench, Graph, LEASE, cause, cites, judged, page};
use lyra_domain::{Claim, NotJudged, Relation, Verdict};
use lyra_research::ports::{ClaimStore, EmbeddingTarget, JobQueue, SearchStore, TaskStore, VectorStore};

/// Every row of every table, without modification times.
async fn everything(bench: &Bench) -> BTreeMap<String, i64> {
    let mut tx = bench.store.write().await.unwrap();
    counts(&mut tx).await.unwrap()
}

/// No job waits or runs any more.
async fn finish(bench: &Bench) {
    bench.execute("UPDATE jobs SET state = 'completed'; UPDATE tasks SET status = 'completed'").await;
}

/// The whole graph with everything else that can hang on a task.
async fn rich(bench: &Bench) -> Graph {
    let graph = Graph::new(bench).await;
    let store = &bench.store;
    let fragment = EmbeddingTarget::Fragment(graph.pages[0].fragments[0].id.clone());
    let claim = EmbeddingTarget::Claim(graph.disputed.id.clone());
    store.put_embeddings("model", &[(fragment, vec![1.0]), (claim, vec![1.0])]).await.unwrap();
    store.reject_claim(&graph.growing.id, "no").await.unwrap();
    let edge = judged(&graph.pages[1].fragments[0].id, &graph.disputed.id, (0.9, 0.05, 0.05));
    store.correct_edge(&edge.id(), Relation::Neutral, Some("read it again")).await.unwrap();
    store.add_warning(&graph.task.id, "a source failed").await.unwrap();
    let unread = [(graph.pages[2].fragments[0].id.clone(), NotJudged::Language)];
    let (pages, by) = (&graph.pages, "local");
    let task = &graph.task.id;
    store.screen(task, &pages[0].page.id, Verdict::Include, None, None, by).await.unwrap();
    let second =
        store.screen(task, &pages[1].page.id, Verdict::Exclude, Some("other"), None, by).await.unwrap();
    store.unscreen(task, &pages[1].page.id, &second.id, by).await.unwrap();
    store.add_not_judged(&graph.alone.id, &unread, &cause()).await.unwrap();
    finish(bench).await;
    graph
}

async fn assert_whole(bench: &Bench) {
    let check = bench.store.check().await.unwrap();
    assert!(check.problems.is_empty() && check.leftovers.is_empty(), "{check:?}");
}

#[tokio::test]
async fn the_only_task_takes_everything_with_it() {
    let bench = Bench::new().await;
    let empty = everything(&bench).await;
    let graph = rich(&bench).await;
    assert_whole(&bench).await;
    let full = everything(&bench).await;

    let seen = bench.store.delete_task(&graph.task.id, Deletion::DryRun).await.unwrap();
    assert_eq!(everything(&bench).await, full, "a dry run changes nothing");
    let deleted = bench.store.delete_task(&graph.task.id, Deletion::Commit).await.unwrap();
    assert_eq!(seen, deleted);
    assert_eq!(
        (deleted.rows["claims"], deleted.rows["pages"], deleted.rows["nli_corrections"]),
        (3, 4, 1),
        "{deleted:?}"
    );
    let mut left = everything(&bench).await;
    // Data about domains is not part of a task; its counts show that no claim is left.
    let domains = left.insert("domain_states".to_owned(), 0);
    // Nor is which models there were.
    let models = left.insert("embedding_models".to_owned(), 0);
    assert_eq!(left, empty);
    assert!(domains > Some(0) && models == Some(2));
    assert_eq!(bench.count("SELECT sum(vectors) FROM embedding_models").await, 0);
    assert_eq!(bench.count("SELECT sum(claims + manual_rejected_claims) FROM domain_states").await, 0);
    assert_whole(&bench).await;
    let gone = bench.store.delete_task(&graph.task.id, Deletion::Commit).await;
    assert!(matches!(gone, Err(StoreError::NotFound { .. })));
}

#[tokio::test]
async fn what_another_task_uses_stays() {
    let bench = Bench::new().await;
    let graph = rich(&bench).await;
    // Another task has read page c, which cites a and b, and judges with it.
    let (other, queries) = bench.searching(&["another question"]).await;
    let query = bench.store.query(&queries[0]).await.unwrap();
    let shared = page("c", Some(2024), "The treatment does not work.");
    let cited_only = page("e", Some(2025), "Cited and not read.");
    bench.store.register_pages(&query, &[shared.clone(), cited_only.clone()], &cause()).await.unwrap();
    let claim = Claim::new(&other.id, "it fails", Some(shared.fragments[0].id.clone()), None);
    bench.store.add_claims(std::slice::from_ref(&claim), &cause()).await.unwrap();
    let edges =
        [judged(&cited_only.fragments[0].id, &claim.id, (0.9, 0.05, 0.05)), cites(&shared, &cited_only)];
    bench.store.add_edges(&other.id, &edges, &cause()).await.unwrap();
    finish(&bench).await;
    let before = bench.store.claim_reports(&other.id).await.unwrap();

    bench.store.delete_task(&graph.task.id, Deletion::Commit).await.unwrap();
    assert_eq!(bench.store.claim_reports(&other.id).await.unwrap(), before);
    let pages: Vec<String> = sqlx::query_scalar("SELECT substr(url, 9, 1) FROM pages ORDER BY url")
        .fetch_all(bench.store.reader())
        .await
        .unwrap();
    // Only the first task has d; a and b are cited by c, which the other task has.
    assert_eq!(pages, ["a", "b", "c", "e"]);
    assert_whole(&bench).await;
    bench.store.delete_task(&other.id, Deletion::Commit).await.unwrap();
    assert_eq!(bench.count("SELECT count(*) FROM pages").await, 0);
    assert_whole(&bench).await;
}

#[tokio::test]
async fn a_task_at_work_is_not_deleted_and_nothing_is_taken_from_one() {
    let bench = Bench::new().await;
    let (task, _) = bench.searching(&["one"]).await;
    let error = bench.store.delete_task(&task.id, Deletion::Commit).await.unwrap_err().to_string();
    assert!(error.contains("1 jobs waiting or running") && error.contains("stop it first"), "{error}");

    let graph = Graph::new(&bench).await;
    bench.execute("UPDATE jobs SET state = 'completed'").await;
    // A job of the other task runs: pages without references so far stay.
    bench.search(&task, &["two"]).await;
    let job = bench.store.lease(Some(&task.id), LEASE).await.unwrap().unwrap();
    bench
        .execute(
            "INSERT INTO pages (id, url, domain, fetch_method, fetched_at)
             VALUES ('page_x', 'https://x.example', 'x.example', 'academic_api', '2026-01-01T00:00:00.000Z')",
        )
        .await;
    let deleted = bench.store.delete_task(&graph.task.id, Deletion::Commit).await.unwrap();
    assert!(deleted.cited_pages_kept);
    assert_eq!(bench.count("SELECT count(*) FROM pages").await, 1);
    assert!(bench.store.delete_leftovers(Deletion::Commit).await.unwrap().rows.is_empty());
    bench.store.complete(&job, serde_json::json!({}), &[]).await.unwrap();
    assert_eq!(bench.store.delete_leftovers(Deletion::Commit).await.unwrap().rows["pages"], 1);
    assert_whole(&bench).await;
}

#[tokio::test]
async fn only_tasks_that_ended_long_ago_are_old() {
    let bench = Bench::new().await;
    let old = bench.task(&[]).await;
    bench.store.stop_task(&old.id, "done", crate::StopMode::Graceful).await.unwrap();
    bench.task(&[]).await;
    let now = bench.store.now();
    assert_eq!(bench.store.tasks_ended_before(now).await.unwrap(), []);
    let later = now + std::time::Duration::from_secs(1);
    let found = bench.store.tasks_ended_before(later).await.unwrap();
    assert_eq!(found.iter().map(|task| &task.id).collect::<Vec<_>>(), [&old.id]);
}

/// A deletion must know every table that references its rows, unless a foreign key cascades.
#[tokio::test]
async fn every_reference_to_what_is_deleted_is_known() {
    let bench = Bench::new().await;
    let found: Vec<String> = sqlx::query_scalar(
        "SELECT m.name || '.' || f.\"from\" FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f
         WHERE m.type = 'table' AND f.on_delete <> 'CASCADE' ORDER BY 1",
    )
    .fetch_all(bench.store.reader())
    .await
    .unwrap();
    let known = [
        "claims.source_fragment_id",
        "fragments.page_id",
        // Between runs of lanes and of their fusion, which belong to no task.
        "fusion_parents.parent_id",
        "nli_corrections.edge_id",
        "pages.work_id",
        "quarantined_fragments.page_id",
        "queries.claim_id",
        "query_fragments.fragment_id",
        "screening_decisions.page_id",
        "serp_items.page_id",
        "task_pages.page_id",
        "task_pages.source_page_id",
    ];
    assert_eq!(found, known, "delete.rs has to know what a new reference means for deleting a task");
}

use super::*;
use crate::testing::{Bench, Graph};
use lyra_domain::{Budget, QueryStatus, Relation};
use lyra_research::PortError;
use lyra_research::ports::{ClaimStore, JobQueue, SearchStore, TaskStore};
use serde_json::json;

#[tokio::test]
async fn claims_of_the_user_get_a_search_each() {
    let bench = Bench::new().await;
    assert_eq!(bench.task(&[]).await.status, TaskStatus::Created);

    let task = bench.task(&["tea cures colds", " tea cures colds ", "", "tea is wet"]).await;
    assert_eq!(task.status, TaskStatus::Exploring);
    let claims = bench.store.task_claims(&task.id).await.unwrap();
    let texts: Vec<_> = claims.iter().map(|claim| claim.claim_text.as_str()).collect();
    assert_eq!(texts, ["tea cures colds", "tea is wet"]);
    assert!(claims.iter().all(|claim| claim.claim_type == "user" && claim.source_fragment_id.is_none()));
    for claim in &claims {
        let job = bench.lease().await.unwrap();
        let JobKind::Search { query_id } = &job.kind else { panic!("{job:?}") };
        let query = bench.store.query(query_id).await.unwrap();
        assert_eq!((query.query_text, query.claim_id), (claim.claim_text.clone(), Some(claim.id.clone())));
    }
}

#[tokio::test]
async fn a_search_that_waits_or_runs_is_not_queued_twice() {
    let bench = Bench::new().await;
    let (task, first) = bench.searching(&["Green tea", "black tea"]).await;
    bench.lease().await.unwrap();
    let texts = ["green  TEA", "white tea", "white tea", " "].map(str::to_owned);
    let sources = ["corpus:tea".to_owned()];
    let queued =
        bench.store.queue_searches(&task.id, &texts, Some("en"), Priority::Low, &sources).await.unwrap();
    assert_eq!((queued.queued.len(), queued.skipped, queued.resumed), (1, 3, false));
    let narrowed = bench.store.query(&queued.queued[0]).await.unwrap();
    assert_eq!((narrowed.sources.as_slice(), narrowed.language.as_deref()), (&sources[..], Some("en")));
    assert!(bench.store.query(&first[0]).await.unwrap().sources.is_empty());
    let budget = Budget { max_pages: 7, max_seconds: 90 };
    bench.store.set_budget(&task.id, budget).await.unwrap();
    assert_eq!(bench.store.task(&task.id).await.unwrap().config.budget, budget);
    let unknown = TaskId::new(Uuid::nil());
    let error = bench.store.set_budget(&unknown, budget).await.unwrap_err();
    assert_eq!(error.to_string(), format!("task {unknown} does not exist"));
    let error = bench.store.queue_searches(&unknown, &texts, None, Priority::Low, &[]).await.unwrap_err();
    assert_eq!(error.to_string(), format!("task {unknown} does not exist"));
}

#[tokio::test]
async fn what_a_stop_cancelled_is_queued_again() {
    let bench = Bench::new().await;
    let (task, queries) = bench.searching(&["one", "two"]).await;
    let nothing = bench.store.resume_task(&task.id, Priority::Medium).await.unwrap();
    assert_eq!((nothing.queued.len(), nothing.resumed), (0, false));
    let first = bench.lease().await.unwrap();
    bench.store.stop_task(&task.id, "enough", StopMode::Immediate).await.unwrap();

    let resumed = bench.store.resume_task(&task.id, Priority::Medium).await.unwrap();
    assert_eq!((resumed.queued, resumed.resumed), (queries, true));
    let progress = bench.store.task_status(&task.id).await.unwrap();
    assert_eq!((progress.task.status, progress.stop_reason), (TaskStatus::Exploring, None));
    let second = bench.lease().await.unwrap();
    assert!(second.id != first.id && second.kind == first.kind);

    // Judging alone is cancelled and resumed as well.
    for (job, then) in [(second, vec![JobKind::Judge]), (bench.lease().await.unwrap(), Vec::new())] {
        let JobKind::Search { query_id } = &job.kind else { panic!("{job:?}") };
        let query = bench.store.query(query_id).await.unwrap();
        let done = lyra_domain::Query { status: QueryStatus::Satisfied, ..query };
        bench.store.update_query(&done).await.unwrap();
        bench.store.complete(&job, json!({}), &then).await.unwrap();
    }
    bench.store.stop_task(&task.id, "enough", StopMode::Immediate).await.unwrap();
    let judging = bench.store.resume_task(&task.id, Priority::Medium).await.unwrap();
    assert_eq!((judging.queued.len(), judging.resumed), (0, true));
    assert_eq!(bench.lease().await.unwrap().kind, JobKind::Judge);
}

#[tokio::test]
async fn a_graceful_stop_lets_what_runs_finish() {
    let bench = Bench::new().await;
    let (task, queries) = bench.searching(&["one", "two", "three"]).await;
    let job = bench.lease().await.unwrap();
    let stopped = bench.store.stop_task(&task.id, "enough", StopMode::Graceful).await.unwrap();
    let expect = StopOutcome {
        final_status: TaskStatus::Completed,
        cancelled_queued: 2,
        cancelled_running: 0,
        still_running: 1,
        cancelled_queries: 2,
    };
    assert_eq!(stopped, expect);
    assert!(bench.lease().await.is_none());
    bench.store.complete(&job, json!({}), &[JobKind::Judge]).await.unwrap();
    assert!(bench.lease().await.is_none(), "a stopped task asks for nothing more");
    let progress = bench.store.task_status(&task.id).await.unwrap();
    assert_eq!(
        (progress.task.status, progress.stop_reason.as_deref()),
        (TaskStatus::Completed, Some("enough"))
    );
    assert_eq!(progress.queries[1].status, QueryStatus::Cancelled);

    let resumed =
        bench.store.queue_searches(&task.id, &["two".to_owned()], None, Priority::Medium, &[]).await.unwrap();
    assert!(resumed.resumed && resumed.queued[0] != queries[1]);
    assert!(bench.lease().await.is_some());
}

#[tokio::test]
async fn an_immediate_stop_takes_the_leases_away() {
    let bench = Bench::new().await;
    let (task, queries) = bench.searching(&["one", "two"]).await;
    let job = bench.lease().await.unwrap();
    let stopped = bench.store.stop_task(&task.id, "wrong question", StopMode::Immediate).await.unwrap();
    assert_eq!(
        (stopped.final_status, stopped.cancelled_running, stopped.cancelled_queries),
        (TaskStatus::Cancelled, 1, 2)
    );
    assert!(!bench.store.renew(&job, crate::testing::LEASE).await.unwrap());
    let late = bench.store.complete(&job, json!({}), &[JobKind::Judge]).await;
    assert!(matches!(late, Err(PortError::Cancelled)));
    assert_eq!(bench.store.task(&task.id).await.unwrap().status, TaskStatus::Cancelled);
    // Its worker, unaware of that, cannot revive the query either.
    let mut query = bench.store.query(&queries[0]).await.unwrap();
    query.status = QueryStatus::Satisfied;
    bench.store.update_query(&query).await.unwrap();
    assert_eq!(bench.store.query(&queries[0]).await.unwrap().status, QueryStatus::Cancelled);

    let again = bench.store.stop_task(&task.id, "once more", StopMode::Graceful).await.unwrap();
    assert_eq!((again.final_status, again.cancelled_queued), (TaskStatus::Cancelled, 0));
}

#[tokio::test]
async fn the_list_goes_from_new_to_old_in_parts() {
    let bench = Bench::new().await;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.insert(0, bench.task(&[]).await.id);
    }
    let (mut listed, mut cursor) = (Vec::new(), None);
    loop {
        let page = bench.store.list_tasks(2, cursor.as_deref()).await.unwrap();
        listed.extend(page.tasks.into_iter().map(|task| task.id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(listed, made);
    assert!(matches!(bench.store.list_tasks(2, Some("x")).await, Err(StoreError::BadCursor(_))));
}

#[tokio::test]
async fn progress_counts_what_there_is() {
    let bench = Bench::new().await;
    let graph = Graph::new(&bench).await;
    bench.store.add_warning(&graph.task.id, "a source failed").await.unwrap();
    bench.store.add_warning(&graph.task.id, "a source failed").await.unwrap();
    let progress = bench.store.task_status(&graph.task.id).await.unwrap();
    assert_eq!((progress.pages, progress.fragments, progress.claims), (4, 4, 3));
    let edges = [Relation::Origin, Relation::Supports, Relation::Refutes, Relation::Neutral, Relation::Cites];
    assert_eq!(edges.map(|relation| progress.edges_of(relation)), [2, 4, 1, 1, 4]);
    assert_eq!(progress.warnings, ["a source failed"]);
    assert_eq!(progress.jobs_in(JobState::Queued), 2);
    assert_eq!(progress.queries.len(), 2);
    assert_eq!(progress.top_domains[0], ("a.example.org".to_owned(), 1));
    assert_eq!(progress.pending_auth, 0);
    assert_eq!(progress.last_activity, bench.store.now());
}

use super::*;
use crate::testing::Bench;
use crate::{GuardOptions, StopMode};
use lyra_domain::{Job, JobState, TaskStatus};
use lyra_research::ports::{AuthQueue, JobQueue, SearchStore, SessionStore, TaskStore};
use serde_json::json;
use std::time::Duration;

fn waiting(part: &str, domain: &str, priority: Priority) -> Waiting {
    Waiting {
        part: part.to_owned(),
        url: format!("https://www.{domain}/search?q=tea"),
        domain: domain.to_owned(),
        auth_type: "captcha".to_owned(),
        priority,
    }
}

/// A finished task whose search met two challenges.
async fn met(bench: &Bench) -> (TaskId, Query, Job) {
    let (task, queries) = bench.searching(&["tea"]).await;
    let job = bench.lease().await.unwrap();
    let query = bench.store.query(&queries[0]).await.unwrap();
    let wanted =
        [waiting("page:a", "a.example", Priority::Medium), waiting("engine:b", "b.example", Priority::High)];
    for expect in [2, 0] {
        assert_eq!(bench.store.await_person(&query, "web", &wanted, &job.id).await.unwrap(), expect);
    }
    (task.id, query, job)
}

async fn completed(bench: &Bench) -> (TaskId, Query) {
    let (task, query, job) = met(bench).await;
    bench.store.complete(&job, json!({}), &[]).await.unwrap();
    (task, query)
}

#[tokio::test]
async fn what_waits_holds_up_nothing_and_comes_most_important_first() {
    let bench = Bench::new().await;
    let (task, _) = completed(&bench).await;
    let status = bench.store.task_status(&task).await.unwrap();
    assert_eq!((status.task.status, status.pending_auth), (TaskStatus::Completed, 2));
    assert_eq!(status.jobs_in(JobState::AwaitingAuth), 2);
    assert!(bench.lease().await.is_none(), "a job that requires a person is not leased");
    let items = bench.store.auth_queue(Some(&task)).await.unwrap();
    let seen: Vec<_> = items.iter().map(|item| (item.domain.as_str(), item.priority, item.status)).collect();
    assert_eq!(
        seen,
        [
            ("b.example", Priority::High, AuthStatus::Pending),
            ("a.example", Priority::Medium, AuthStatus::Pending)
        ]
    );
    assert!(bench.store.auth_queue(Some(&TaskId::new(Uuid::nil()))).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_completed_item_queues_its_job_and_keeps_its_session_secret() {
    let bench = Bench::new().await;
    let (task, query) = completed(&bench).await;
    let item = bench.store.auth_queue(None).await.unwrap().remove(0);
    bench.store.mark_auth(&item.id, true).await.unwrap();
    assert_eq!(bench.store.auth_item(&item.id).await.unwrap().status, AuthStatus::InProgress);
    let outcome = AuthOutcome::Completed { session: Some("one".to_owned()) };
    let target = AuthTarget::Item(item.id.clone());
    let resolved = bench.store.resolve_auth(&target, &outcome).await.unwrap();
    assert_eq!(resolved, AuthResolved { items: 1, requeued: 1, tasks: vec![task.clone()] });
    assert_eq!(bench.store.task(&task).await.unwrap().status, TaskStatus::Exploring);
    let again = bench.store.resolve_auth(&target, &outcome).await.unwrap_err().to_string();
    assert!(again.contains("already completed"), "{again}");

    let job = bench.lease().await.unwrap();
    let part = "engine:b".to_owned();
    assert_eq!(job.kind, JobKind::Resume { query_id: query.id.clone(), source: "web".to_owned(), part });
    assert_eq!(bench.store.session("b.example").await.unwrap().as_deref(), Some("one"));
    assert_eq!(bench.store.session("a.example").await.unwrap(), None);
    let refused = bench.store.query_graph("SELECT session FROM auth_queue", GuardOptions::default()).await;
    assert!(refused.is_err());
    let all = bench.store.query_graph("SELECT * FROM auth_queue", GuardOptions::default()).await.unwrap();
    assert!(all.row_count > 0 && !format!("{:?}", all.rows).contains("\"one\""));
    // A failed attempt: it waits again. The newer session replaces the older one.
    let wanted = [waiting("engine:b", "b.example", Priority::High)];
    assert_eq!(bench.store.await_person(&query, "web", &wanted, &job.id).await.unwrap(), 1);
    bench.store.complete(&job, json!({}), &[]).await.unwrap();
    let domain = AuthTarget::Domain("b.example".to_owned());
    let outcome = AuthOutcome::Completed { session: Some("two".to_owned()) };
    assert_eq!(bench.store.resolve_auth(&domain, &outcome).await.unwrap().requeued, 1);
    assert_eq!(bench.count("SELECT count(*) FROM private.sessions").await, 1);
    assert_eq!(bench.store.session("b.example").await.unwrap().as_deref(), Some("two"));
    assert!(bench.store.forget_session("b.example").await.unwrap());
    assert!(!bench.store.forget_session("b.example").await.unwrap());
}

#[tokio::test]
async fn what_is_skipped_expires_or_is_stopped_is_not_done_and_not_asked_again() {
    let bench = Bench::new().await;
    let (task, query) = completed(&bench).await;
    let domain = AuthTarget::Domain("a.example".to_owned());
    let skipped = bench.store.resolve_auth(&domain, &AuthOutcome::Skipped).await.unwrap();
    assert_eq!((skipped.items, skipped.requeued), (1, 0));
    assert_eq!(bench.store.task(&task).await.unwrap().status, TaskStatus::Completed);
    bench.clock.advance(Duration::from_hours(24 * 30));
    assert!(bench.store.auth_queue(None).await.unwrap().is_empty());
    let status = bench.store.task_status(&task).await.unwrap();
    assert_eq!((status.pending_auth, status.jobs_in(JobState::Cancelled)), (0, 2));
    assert!(
        status.warnings[0].contains("b.example required human verification (captcha)"),
        "{:?}",
        status.warnings
    );
    let wanted = [waiting("page:a", "a.example", Priority::Medium)];
    let cause = JobId::new(Uuid::now_v7());
    assert_eq!(bench.store.await_person(&query, "web", &wanted, &cause).await.unwrap(), 0);

    let (task, ..) = met(&bench).await;
    let stopped = bench.store.stop_task(&task, "enough", StopMode::Graceful).await.unwrap();
    assert_eq!(stopped.cancelled_queued, 2);
    assert!(bench.store.auth_queue(Some(&task)).await.unwrap().is_empty());
    let unknown = AuthTarget::Item(AuthId::new(Uuid::nil()));
    let error = bench.store.resolve_auth(&unknown, &AuthOutcome::Skipped).await.unwrap_err().to_string();
    assert!(error.contains("does not exist"), "{error}");
}

#[tokio::test]
async fn a_search_that_is_done_again_after_a_crash_queues_nothing_twice() {
    let bench = Bench::new().await;
    let (task, query, job) = met(&bench).await;
    let again = bench.again().await;
    let wanted = [waiting("engine:b", "b.example", Priority::High)];
    assert_eq!(again.await_person(&query, "web", &wanted, &job.id).await.unwrap(), 0);
    assert_eq!(again.auth_queue(Some(&task)).await.unwrap().len(), 2);
}

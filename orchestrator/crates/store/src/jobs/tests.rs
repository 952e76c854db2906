use crate::testing::{Bench, LEASE};
use crate::{Store, StoreConfig};
use lyra_domain::{Claim, Job, JobKind, JobState, Priority, QueryStatus, TaskStatus};
use lyra_research::PortError;
use lyra_research::ports::{ClaimStore, JobQueue, SearchStore, TaskStore};
use lyra_research::trace::{self, Cause};
use serde_json::json;
use sqlx::Row;
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

async fn done(bench: &Bench, job: &Job, then: &[JobKind]) {
    bench.store.complete(job, json!({}), then).await.unwrap();
}

#[tokio::test]
async fn by_priority_and_then_in_the_order_queued() {
    let bench = Bench::new().await;
    let (task, queries) = bench.searching(&["first", "second"]).await;
    let urgent = ["urgent".to_owned()];
    let urgent =
        bench.store.queue_searches(&task.id, &urgent, None, Priority::High, &[]).await.unwrap().queued;
    let mut order = Vec::new();
    while let Some(job) = bench.lease().await {
        order.push(job.kind);
    }
    let expect = [&urgent[0], &queries[0], &queries[1]];
    assert_eq!(order, expect.map(|query| JobKind::Search { query_id: query.clone() }));
}

#[tokio::test]
async fn a_lease_is_for_one_task_when_one_is_given() {
    let bench = Bench::new().await;
    let (_, _) = bench.searching(&["of another task"]).await;
    let (task, _) = bench.searching(&["of this task"]).await;
    let job = bench.store.lease(Some(&task.id), LEASE).await.unwrap().unwrap();
    assert_eq!(job.task_id, task.id);
    assert!(bench.store.lease(Some(&task.id), LEASE).await.unwrap().is_none());
}

#[tokio::test]
async fn judging_waits_for_the_searches_and_is_queued_once() {
    let bench = Bench::new().await;
    let (task, queries) = bench.searching(&["one", "two"]).await;
    assert_eq!(bench.store.task(&task.id).await.unwrap().started_at, None);
    let first = bench.lease().await.unwrap();
    let started = bench.store.task(&task.id).await.unwrap();
    assert_eq!((started.status, started.started_at.is_some()), (TaskStatus::Exploring, true));
    assert_eq!(bench.store.query(&queries[0]).await.unwrap().status, QueryStatus::Running);

    let second = bench.lease().await.unwrap();
    done(&bench, &first, &[JobKind::Judge]).await;
    assert!(bench.lease().await.is_none(), "a search still runs");
    done(&bench, &second, &[JobKind::Judge]).await;
    let judge = bench.lease().await.unwrap();
    assert_eq!(judge.kind, JobKind::Judge);
    assert!(bench.lease().await.is_none());

    // Requested again while one runs, it runs again afterward.
    bench.search(&task, &["three"]).await;
    let third = bench.lease().await.unwrap();
    done(&bench, &third, &[JobKind::Judge]).await;
    assert!(bench.lease().await.is_none(), "one judge at a time");
    done(&bench, &judge, &[]).await;
    let again = bench.lease().await.unwrap();
    done(&bench, &again, &[]).await;
    assert_eq!(bench.store.task(&task.id).await.unwrap().status, TaskStatus::Completed);
}

#[tokio::test]
async fn the_last_job_completes_the_task_and_a_new_search_reopens_it() {
    let bench = Bench::new().await;
    let (task, _) = bench.searching(&["one"]).await;
    let job = bench.lease().await.unwrap();
    bench.clock.advance(Duration::from_secs(5));
    done(&bench, &job, &[]).await;
    let ended = bench.store.task(&task.id).await.unwrap();
    assert_eq!((ended.status, ended.completed_at.is_some()), (TaskStatus::Completed, true));
    assert!((bench.store.seconds_used(&task.id).await.unwrap() - 5.0).abs() < 0.01);

    let texts = ["two".to_owned()];
    let queued = bench.store.queue_searches(&task.id, &texts, None, Priority::Low, &[]).await.unwrap();
    assert!(queued.resumed);
    let reopened = bench.store.task(&task.id).await.unwrap();
    assert_eq!((reopened.status, reopened.completed_at), (TaskStatus::Exploring, None));
}

#[tokio::test]
async fn a_lease_that_ran_out_is_taken_again_and_its_first_holder_is_refused() {
    let bench = Bench::new().await;
    let (task, _) = bench.searching(&["one"]).await;
    let slow = bench.lease().await.unwrap();
    bench.clock.advance(LEASE / 2);
    assert!(bench.store.renew(&slow, LEASE).await.unwrap());
    bench.clock.advance(LEASE);
    assert!(bench.lease().await.is_none(), "a lease holds to its last moment");
    bench.clock.advance(Duration::from_secs(1));
    let other = bench.again().await;
    let taken = other.lease(None, LEASE).await.unwrap().unwrap();
    assert_eq!((&taken.id, taken.attempts), (&slow.id, 2));

    assert!(!bench.store.renew(&slow, LEASE).await.unwrap());
    for result in [
        bench.store.complete(&slow, json!({}), &[JobKind::Judge]).await,
        bench.store.fail(&slow, "late", None).await,
    ] {
        assert!(matches!(result, Err(PortError::Cancelled)), "{result:?}");
    }
    other.complete(&taken, json!({"pages": 3}), &[]).await.unwrap();
    assert_eq!(bench.store.task(&task.id).await.unwrap().status, TaskStatus::Completed);
    assert_eq!(bench.count("SELECT count(*) FROM jobs").await, 1, "the late one queued nothing");
}

#[tokio::test]
async fn the_same_process_cannot_finish_an_earlier_attempt_either() {
    let bench = Bench::new().await;
    bench.searching(&["one"]).await;
    let first = bench.lease().await.unwrap();
    bench.clock.advance(LEASE * 2);
    let second = bench.lease().await.unwrap();
    assert!(bench.store.complete(&first, json!({}), &[]).await.is_err());
    done(&bench, &second, &[]).await;
}

#[tokio::test]
async fn steps_write_only_while_their_lease_is_the_latest() {
    let bench = Bench::new().await;
    let (task, _) = bench.searching(&["one"]).await;
    let slow = bench.lease().await.unwrap();
    let steps = JobQueue::on_behalf_of(&bench.store, &slow);
    steps.add_warning(&task.id, "in time").await.unwrap();
    // A lease that ran out holds until another begins.
    bench.clock.advance(LEASE * 2);
    steps.add_warning(&task.id, "late, and no one else was at it").await.unwrap();

    let other = bench.again().await;
    let taken = other.lease(None, LEASE).await.unwrap().unwrap();
    assert!(taken.fence > slow.fence);
    let refused = steps.add_warning(&task.id, "too late").await;
    assert!(matches!(refused, Err(PortError::Cancelled)), "{refused:?}");
    // Reading and writing for others go on.
    steps.task(&task.id).await.unwrap();
    assert_eq!(bench.count("SELECT count(*) FROM task_warnings").await, 2);
    bench.store.add_warning(&task.id, "by a person").await.unwrap();

    let steps = JobQueue::on_behalf_of(&other, &taken);
    other.fail(&taken, "its process stops", Some(Duration::ZERO)).await.unwrap();
    let again = other.lease(None, LEASE).await.unwrap().unwrap();
    assert_eq!(again.attempts, taken.attempts);
    assert!(steps.add_warning(&task.id, "of the lease before").await.is_err());
    other.complete(&again, json!({}), &[]).await.unwrap();
    assert!(JobQueue::on_behalf_of(&other, &again).add_warning(&task.id, "after its end").await.is_err());
}

#[tokio::test]
async fn failures_are_tried_again_after_a_pause_and_given_up_at_last() {
    let bench = Bench::new().await;
    let (task, queries) = bench.searching(&["one"]).await;
    let pause = Duration::from_secs(10);
    for attempt in 1..=StoreConfig::default().max_attempts {
        let job = bench.lease().await.unwrap();
        assert_eq!(job.attempts, attempt);
        bench.store.fail(&job, "the source is down", Some(pause)).await.unwrap();
        assert!(bench.lease().await.is_none(), "not before the pause is over");
        bench.clock.advance(pause);
    }
    assert!(bench.lease().await.is_none());
    let failed = bench.store.task(&task.id).await.unwrap();
    assert_eq!((failed.status, failed.error.as_deref()), (TaskStatus::Failed, Some("the source is down")));
    assert_eq!(bench.store.query(&queries[0]).await.unwrap().status, QueryStatus::Failed);
}

#[tokio::test]
async fn a_task_keeps_what_it_has_when_a_job_is_given_up() {
    let bench = Bench::new().await;
    let (task, _) = bench.searching(&["one", "two"]).await;
    let (good, bad) = (bench.lease().await.unwrap(), bench.lease().await.unwrap());
    done(&bench, &good, &[]).await;
    bench.store.fail(&bad, "nonsense", None).await.unwrap();
    let progress = bench.store.task_status(&task.id).await.unwrap();
    assert_eq!(progress.task.status, TaskStatus::Completed);
    assert_eq!(progress.warnings, ["gave up on a search job: nonsense"]);
    assert_eq!((progress.jobs_in(JobState::Completed), progress.jobs_in(JobState::Failed)), (1, 1));
}

#[tokio::test]
async fn a_job_handed_back_has_lost_no_attempt() {
    let bench = Bench::new().await;
    bench.searching(&["one"]).await;
    for _ in 0..9 {
        let job = bench.lease().await.unwrap();
        assert_eq!(job.attempts, 1);
        bench.store.fail(&job, "the process stopped", Some(Duration::ZERO)).await.unwrap();
    }
}

#[tokio::test]
async fn a_job_that_kills_its_workers_is_given_up() {
    let bench = Bench::new().await;
    let (task, _) = bench.searching(&["poison"]).await;
    let most = StoreConfig::default().max_deaths;
    for _ in 0..most {
        let victim = bench.again().await;
        assert!(victim.lease(None, LEASE).await.unwrap().is_some());
        drop(victim);
        assert_eq!(bench.store.reclaim_dead_workers().await.unwrap(), 1);
    }
    assert!(bench.lease().await.is_none());
    let failed = bench.store.task(&task.id).await.unwrap();
    let error = format!("its worker died {most} times in a row");
    assert_eq!((failed.status, failed.error), (TaskStatus::Failed, Some(error)));
}

#[tokio::test]
async fn a_job_that_moves_on_survives_any_number_of_deaths() {
    let bench = Bench::new().await;
    let (task, _) = bench.searching(&["one"]).await;
    for death in 0..StoreConfig::default().max_deaths * 2 {
        let victim = bench.again().await;
        let job = victim.lease(None, LEASE).await.unwrap().unwrap();
        assert_eq!(job.attempts, 1);
        let claim = Claim::new(&task.id, &format!("Claim number {death}."), None, None);
        victim.add_claims(&[claim], &job.id).await.unwrap();
        drop(victim);
        assert_eq!(bench.store.reclaim_dead_workers().await.unwrap(), 1);
    }
}

#[tokio::test]
async fn jobs_lead_back_to_the_request_that_caused_them() {
    let bench = Bench::new().await;
    let cause = Cause::new();
    trace::within(cause, |_| tracing::Span::none(), bench.searching(&["one"])).await;
    let search = bench.lease().await.unwrap();
    assert_eq!(bench.store.cause(&search.id).await.unwrap(), Some(cause));
    done(&bench, &search, &[JobKind::Judge]).await;
    let judge = bench.lease().await.unwrap();
    assert_eq!((judge.kind.name(), bench.store.cause(&judge.id).await.unwrap()), ("judge", Some(cause)));
    bench.searching(&["two"]).await;
    let other = bench.lease().await.unwrap();
    assert_eq!(bench.store.cause(&other.id).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_workers_never_get_the_same_job() {
    let bench = Bench::new().await;
    let texts: Vec<String> = (0..40).map(|i| format!("query {i}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    bench.searching(&texts).await;
    // Three processes with two workers each.
    let stores = [bench.store.clone(), bench.again().await, bench.again().await];
    let workers = stores.iter().cycle().take(6).map(|store| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut taken = Vec::new();
            while let Some(job) = store.lease(None, LEASE).await.unwrap() {
                taken.push(job.id.clone());
                store.complete(&job, json!({}), &[]).await.unwrap();
            }
            taken
        })
    });
    let mut taken = Vec::new();
    for worker in workers.collect::<Vec<_>>() {
        taken.extend(worker.await.unwrap());
    }
    assert_eq!(taken.len(), 40);
    assert_eq!(taken.iter().collect::<HashSet<_>>().len(), 40);
}

/// The other half of the next test, in a separate process: leases a job and waits to be killed.
#[tokio::test]
async fn child_takes_a_job_and_hangs() {
    let Ok(path) = std::env::var("LYRA_STORE_TEST_CHILD") else { return };
    let store = Store::open(Path::new(&path), StoreConfig::default()).await.unwrap();
    let job = store.lease(None, Duration::from_hours(1)).await.unwrap().unwrap();
    println!("took {}", job.id);
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn the_job_of_a_killed_process_is_taken_again_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lyra.db");
    let open = || Store::open(&path, StoreConfig::default());
    let store = open().await.unwrap();
    let new = crate::NewTask {
        query: "q".into(),
        config: lyra_domain::TaskConfig::default(),
        claims: vec!["a claim".into()],
        question_claim: None,
    };
    let task = store.create_task(new, Priority::Medium).await.unwrap();

    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "jobs::tests::child_takes_a_job_and_hangs", "--nocapture"])
        .env("LYRA_STORE_TEST_CHILD", &path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let took =
        lines.into_iter().find_map(|line| line.split_once("took ").map(|(_, id)| id.to_owned())).unwrap();
    assert!(store.lease(None, LEASE).await.unwrap().is_none(), "the child holds it");
    assert_eq!(store.reclaim_dead_workers().await.unwrap(), 0, "the child lives");

    child.kill().unwrap();
    child.wait().unwrap();
    // Opening reclaims automatically.
    let reopened = open().await.unwrap();
    let job = reopened.lease(None, LEASE).await.unwrap().unwrap();
    // Being killed does not count as an attempt.
    assert_eq!((job.id.to_string(), job.attempts), (took, 1));
    reopened.complete(&job, json!({}), &[]).await.unwrap();
    assert_eq!(reopened.task(&task.id).await.unwrap().status, TaskStatus::Completed);
    let locks = std::fs::read_dir(folder.path().join("workers")).unwrap();
    assert_eq!(
        locks.filter(|entry| entry.as_ref().unwrap().path().extension().is_some()).count(),
        2,
        "the living"
    );
}

#[tokio::test]
async fn open_and_failed_jobs_are_listed_with_their_tasks() {
    let bench = Bench::new().await;
    let (task, _) = bench.searching(&["one", "two", "three"]).await;
    let first = bench.lease().await.unwrap();
    done(&bench, &first, &[]).await;
    let bad = bench.lease().await.unwrap();
    bench.store.fail(&bad, "nonsense", None).await.unwrap();
    let running = bench.lease().await.unwrap();
    let (other, _) = bench.searching(&["four"]).await;

    let jobs = bench.store.list_jobs(10).await.unwrap();
    let shown: Vec<_> = jobs.iter().map(|job| (job.task.clone(), job.state, job.attempts)).collect();
    assert_eq!(
        shown,
        [
            (other.id, JobState::Queued, 0),
            (task.id.clone(), JobState::Running, 1),
            (task.id, JobState::Failed, 1)
        ]
    );
    assert_eq!(
        (&jobs[1].id, jobs[1].kind.as_str(), jobs[1].query.as_str()),
        (&running.id, "search", "does it work?")
    );
    assert!(jobs[1].started_at.is_some() && jobs[1].finished_at.is_none());
    assert_eq!((jobs[2].error.as_deref(), jobs[2].finished_at.is_some()), (Some("nonsense"), true));
    assert_eq!(bench.store.list_jobs(1).await.unwrap(), jobs[..1]);
}

#[tokio::test]
async fn a_lease_reads_no_table_as_a_whole() {
    let bench = Bench::new().await;
    for sql in [super::OWNERS, super::ANY_DUE, super::NEXT, super::TAKE_BACK] {
        let explained = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
        let plan = sqlx::query(explained).fetch_all(bench.store.reader()).await.unwrap();
        let steps: Vec<String> = plan.iter().map(|step| step.get("detail")).collect();
        assert!(
            !steps.iter().any(|step| step.starts_with("SCAN") && step != "SCAN CONSTANT ROW"),
            "{steps:#?}"
        );
        assert!(steps.iter().any(|step| step.contains("jobs_by_state")), "{steps:#?}");
    }
}

//! The whole pipeline with both clients and the real store while the APIs misbehave: the task completes with the
//! available data, reports what is missing and why, and writes nothing twice.

use crate::bench::Bench;
use crate::support::{Now, Seen, config, json, reply};
use axum::response::Response as Reply;
use lyra_domain::{QueryStatus, Relation, TaskStatus};
use lyra_research::ports::{Clock, EvidenceSource};
use lyra_sources::http::HttpClient;
use lyra_sources::{ApiConfig, OpenAlex, SemanticScholar};
use lyra_store::TaskProgress;
use std::sync::Arc;
use std::time::Duration;

/// The task completes with `pages` pages, and reports `why` for `source`.
#[track_caller]
fn done_despite(status: &TaskProgress, pages: u64, source: &str, why: &str) {
    assert_eq!((status.task.status, status.pages), (TaskStatus::Completed, pages), "{:?}", status.warnings);
    assert_eq!(status.queries[0].status, QueryStatus::Partial);
    let said = |text: &String| text.contains(source) && text.contains(why);
    assert!(status.queries[0].source_errors.iter().any(said), "{:?}", status.queries[0].source_errors);
    assert!(status.warnings.iter().any(said), "{:?}", status.warnings);
    assert!(status.claims > 0);
}

#[tokio::test]
async fn both_answer_and_what_both_know_is_one_page() {
    let bench = Bench::new(|_, _, _| None).await;
    let status = bench.run().await;
    // Works 1 to 6, of which both have 3 and 4, and 9, which they cite.
    assert_eq!((status.pages, status.task.status), (7, TaskStatus::Completed), "{:?}", status.warnings);
    assert_eq!(status.queries[0].status, QueryStatus::Satisfied);
    assert!(status.warnings.is_empty() && status.edges_of(Relation::Supports) > 0, "{:?}", status.warnings);
    assert_eq!(status.edges_of(Relation::Cites), 5, "each of the five works followed cites 9");
    // Again: the same pages, claims and edges.
    let again = bench.search(&status.task.id).await;
    assert_eq!((again.pages, again.claims, &again.edges), (status.pages, status.claims, &status.edges));
}

#[tokio::test]
async fn one_down_refusing_or_talking_nonsense_leaves_the_other() {
    type Fault = fn(&str, &Seen, usize) -> Option<Reply>;
    let html: Fault =
        |api, _, _| (api == "openalex").then(|| reply(200, &[("content-type", "text/html")], "<h1>hi"));
    let json_cut: Fault = |api, _, _| (api == "openalex").then(|| json(200, r#"{"results":[{"id":"#));
    let not_gzip: Fault = |api, _, _| {
        let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
        (api == "openalex").then(|| reply(200, &headers, "no gzip"))
    };
    let bad_gateway: Fault = |api, _, _| (api == "openalex").then(|| json(502, "{}"));
    let refused: Fault = |api, _, _| (api == "openalex").then(|| json(403, r#"{"message":"Forbidden"}"#));
    let inside: Fault = |api, _, _| {
        (api == "openalex")
            .then(|| reply(302, &[("location", "http://169.254.169.254/latest/meta-data/")], ""))
    };
    let loopback: Fault =
        |api, _, _| (api == "openalex").then(|| reply(302, &[("location", "http://127.0.0.1:1/")], ""));
    let too_many: Fault =
        |api, _, _| (api == "openalex").then(|| json(429, r#"{"message":"Too Many Requests"}"#));
    for (fault, why) in [
        (html, "`text/html` instead of application/json"),
        (json_cut, "its JSON"),
        (not_gzip, "gzip"),
        (bad_gateway, "502 Bad Gateway"),
        (refused, "403: Forbidden"),
        (inside, "169.254.169.254"),
        (loopback, "127.0.0.1"),
        (too_many, "Too Many Requests"),
    ] {
        let bench = Bench::new(fault).await;
        // Works 1 to 4 of Semantic Scholar, and 9.
        done_despite(&bench.run().await, 5, "openalex", why);
    }
}

#[tokio::test]
async fn a_bomb_is_refused_and_half_the_answers_are_enough() {
    let bomb = Bench::new(|api, _, _| {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        (api == "s2").then(|| {
            encoder.write_all(&vec![b' '; 40 << 20]).unwrap();
            let headers = [("content-type", "application/json"), ("content-encoding", "gzip")];
            reply(200, &headers, encoder.finish().unwrap())
        })
    })
    .await;
    done_despite(&bomb.run().await, 4, "semantic_scholar", "sent more than");
    // Every other answer is a 500: retries succeed, and nothing is missing or duplicated.
    let shaky = Bench::new(|_, _, n| n.is_multiple_of(2).then(|| json(500, "{}"))).await;
    let status = shaky.run().await;
    assert_eq!(
        (status.pages, status.queries[0].status),
        (7, QueryStatus::Satisfied),
        "{:?}",
        status.warnings
    );
}

#[tokio::test]
async fn a_cool_down_outlives_the_process_and_ends() {
    let bench = Bench::new(|api, _, n| {
        (api == "s2" && n < 2).then(|| json(429, r#"{"message":"Too Many Requests"}"#))
    })
    .await;
    let status = bench.run().await;
    done_despite(&status, 4, "semantic_scholar", "cooling down, retry in 60 s");
    assert_eq!(bench.s2.seen().len(), 2, "then it is not asked, by the next steps either");
    let rates =
        lyra_research::ports::RateStore::load(&bench.store, "semantic_scholar").await.unwrap().unwrap();
    assert_eq!((rates.refusals, rates.pause_seconds), (2, 60));
}

#[tokio::test]
async fn silence_ends_with_the_time_budget() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", silent.local_addr().unwrap());
    // A redirect to a connection that is never accepted would be refused, so the API itself is the silent one.
    let bench = Bench::new(|_, _, _| None).await;
    let http = HttpClient::new(config(None), Arc::new(bench.store.clone()), Arc::new(Now)).unwrap();
    let slow = ApiConfig {
        base_url: address.parse().unwrap(),
        trusted: true,
        api_key: None,
        mailto: None,
        min_interval: None,
        cache_ttl: Duration::ZERO,
    };
    let fast =
        ApiConfig { base_url: bench.s2.at("graph/v1"), min_interval: Some(Duration::ZERO), ..slow.clone() };
    let sources: Vec<Arc<dyn EvidenceSource>> =
        vec![Arc::new(SemanticScholar::new(http.clone(), &fast)), Arc::new(OpenAlex::new(http, &slow))];
    let mut worker = bench.worker.clone();
    worker.context.sources = Arc::new(move |_| sources.clone());
    let bench = Bench { worker, ..bench };
    let status = bench.search(&bench.task(2).await).await;
    let errors = &status.queries[0].source_errors;
    assert!(
        errors.iter().any(|error| error.starts_with("openalex: ") && error.contains("time")),
        "{errors:?}"
    );
    assert!(status.pages >= 4 && status.task.status == TaskStatus::Completed);
    drop(silent);
}

/// A bench with only Semantic Scholar, and a person who waits for the end.
async fn alone(fault: impl Fn(&str, &Seen, usize) -> Option<Reply> + Clone + Send + Sync + 'static) -> Bench {
    let mut bench = Bench::new(fault).await;
    let all = bench.worker.context.sources.clone();
    bench.worker.context.sources = Arc::new(move |task| all(task).into_iter().take(1).collect());
    bench.worker.config.attended = true;
    bench
}

#[tokio::test]
async fn the_only_source_failing_in_any_way_is_a_failed_task_with_one_reason() {
    type Fault = fn(&Seen) -> Reply;
    let cases: [(&str, Fault, &str, usize); 8] = [
        ("500", |_| json(500, "{}"), "500 Internal Server Error", 3),
        ("too many", |_| json(429, r#"{"message":"Too Many Requests"}"#), "retry in 60 s", 2),
        ("an hour", |_| reply(429, &[("retry-after", "3600")], ""), "retry in 3", 1),
        ("maintenance", |_| reply(503, &[("retry-after", "3600")], ""), "503 Service Unavailable", 1),
        ("html", |_| reply(200, &[("content-type", "text/html")], "<h1>hi"), "`text/html` instead of", 1),
        ("half a JSON", |_| json(200, r#"{"data":[{"paperId":"#), "its JSON", 1),
        ("other records", |_| json(200, r#"{"data":[null,{"year":"2020"}]}"#), "none of its 2 records", 1),
        ("forbidden", |_| json(403, r#"{"message":"Forbidden"}"#), "403: Forbidden", 1),
    ];
    for (name, fault, why, asked) in cases {
        let bench = alone(move |_, seen, _| Some(fault(seen))).await;
        let status = bench.run().await;
        assert_eq!((status.task.status, status.pages), (TaskStatus::Failed, 0), "{name}");
        let said = status.task.error.unwrap_or_default();
        assert!(
            said.starts_with("no source answered: semantic_scholar: ") && said.contains(why),
            "{name}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{name}: {said}");
        assert_eq!((status.queries[0].status, bench.s2.seen().len()), (QueryStatus::Failed, asked), "{name}");
    }
}

#[tokio::test]
async fn a_source_that_named_a_time_is_not_asked_before_by_any_question() {
    let bench = alone(|_, _, _| Some(reply(429, &[("retry-after", "3600")], ""))).await;
    for _ in 0..3 {
        assert_eq!(bench.run().await.task.status, TaskStatus::Failed);
    }
    assert_eq!(bench.s2.seen().len(), 1);
}

#[tokio::test]
async fn one_odd_record_costs_that_record() {
    let bench = alone(|_, seen, _| {
        seen.path.ends_with("search").then(|| {
            let mut papers: Vec<serde_json::Value> = (1..=4).map(crate::bench::s2_paper).collect();
            papers[1]["year"] = "2020".into();
            papers.insert(0, serde_json::Value::Null);
            json(200, &serde_json::json!({ "data": papers }).to_string())
        })
    })
    .await;
    let status = bench.run().await;
    // Works 1, 3 and 4, and 9, which they cite.
    assert_eq!((status.task.status, status.pages), (TaskStatus::Completed, 4), "{:?}", status.warnings);
    let bench = Bench::new(|api, seen, _| {
        (api == "openalex" && seen.query.contains("search=")).then(|| {
            let mut works: Vec<serde_json::Value> = (3..=6).map(crate::bench::openalex_work).collect();
            works[3]["publication_year"] = "2020".into();
            json(200, &serde_json::json!({"results": works, "meta": {"next_cursor": null}}).to_string())
        })
    })
    .await;
    let status = bench.run().await;
    assert_eq!((status.pages, status.warnings.len()), (6, 0), "all but work 6: {:?}", status.warnings);
}

#[tokio::test]
async fn when_both_are_down_the_task_fails_and_says_why() {
    let mut bench = Bench::new(|_, _, _| Some(json(503, "{}"))).await;
    bench.worker.config.attended = true;
    let status = bench.run().await;
    assert_eq!((status.task.status, status.pages), (TaskStatus::Failed, 0));
    let why = status.task.error.unwrap_or_default();
    assert!(why.contains("semantic_scholar") && why.contains("openalex"), "{why}");
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_and_a_clock_that_jumps_change_nothing() {
    /// Each reading is days away from the previous one, forward and back.
    struct Jumping(std::sync::atomic::AtomicI64);
    impl Clock for Jumping {
        #[expect(clippy::disallowed_methods, reason = "it is a clock")]
        fn now(&self) -> jiff::Timestamp {
            let n = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            jiff::Timestamp::now() + jiff::SignedDuration::from_hours(if n % 2 == 0 { 100 } else { -100 })
        }
    }
    let blocked = tempfile::NamedTempFile::new().unwrap();
    let bench = Bench::with(|_, _, _| None, Arc::new(Now), Some(blocked.path())).await;
    assert_eq!(bench.run().await.pages, 7);
    let folder = tempfile::tempdir().unwrap();
    let store = Bench::with(|_, _, _| None, Arc::new(Now), Some(folder.path())).await;
    // Only the HTTP layer's clock jumps: leases have their own tests.
    let http = HttpClient::new(
        config(Some(folder.path())),
        Arc::new(store.store.clone()),
        Arc::new(Jumping(std::sync::atomic::AtomicI64::new(0))),
    )
    .unwrap();
    let api = |base_url| ApiConfig {
        base_url,
        trusted: true,
        api_key: None,
        mailto: None,
        min_interval: Some(Duration::from_millis(1)),
        cache_ttl: Duration::from_mins(1),
    };
    let sources: Vec<Arc<dyn EvidenceSource>> = vec![
        Arc::new(SemanticScholar::new(http.clone(), &api(store.s2.at("graph/v1")))),
        Arc::new(OpenAlex::new(http, &api(store.openalex.url.clone()))),
    ];
    let mut worker = store.worker.clone();
    worker.context.sources = Arc::new(move |_| sources.clone());
    let bench = Bench { worker, ..store };
    let status = bench.run().await;
    assert_eq!((status.pages, status.warnings.len()), (7, 0), "{:?}", status.warnings);
    assert!(bench.folder.path().exists());
}

//! The whole pipeline over both clients and the real store while the APIs misbehave: the task ends with what could be
//! had, says what could not and why, and nothing is written twice.

use crate::support::{Now, Seen, StandIn, config, json, reply};
use async_trait::async_trait;
use axum::response::Response as Reply;
use lyra_domain::{
    JobState, NliJudgement, NliScores, Priority, QueryStatus, Relation, TaskConfig, TaskId, TaskStatus,
};
use lyra_research::ports::{Clock, EvidenceSource, Inference, Models};
use lyra_research::{Pipeline, ProgressSink, ResearchConfig, SearchConfig, Stops, Worker, WorkerConfig};
use lyra_sources::http::HttpClient;
use lyra_sources::{ApiConfig, OpenAlex, SemanticScholar};
use lyra_store::{NewTask, Store, StoreConfig, TaskProgress};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const QUERY: &str = "green tea attention";

/// Bags of words as vectors; a premise with `not` refutes a hypothesis without.
struct Words;

#[async_trait]
impl Inference for Words {
    async fn models(&self) -> lyra_research::Result<Models> {
        let languages = vec!["en".to_owned()];
        Ok(Models { embedder: "words".to_owned(), dimension: 32, classifier: "not".to_owned(), languages })
    }

    async fn embed(&self, texts: &[String]) -> lyra_research::Result<Vec<Vec<f32>>> {
        let bag = |text: &String| {
            let mut vector = [0.01_f32; 32];
            for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
                vector[word.bytes().map(usize::from).sum::<usize>() % 32] += 1.0;
            }
            let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector.iter().map(|x| x / norm).collect()
        };
        Ok(texts.iter().map(bag).collect())
    }

    async fn judge(&self, pairs: &[(String, String)]) -> lyra_research::Result<Vec<NliJudgement>> {
        let negated = |text: &str| text.contains("did not");
        let judge = |(premise, hypothesis): &(String, String)| {
            let agree = negated(premise) == negated(hypothesis);
            let (supports, refutes) = if agree { (0.9, 0.05) } else { (0.05, 0.9) };
            NliScores { supports, refutes, neutral: 0.05 }.judgement()
        };
        Ok(pairs.iter().map(judge).collect())
    }
}

fn text(n: u32) -> String {
    let effect = if n.is_multiple_of(2) { "did not improve" } else { "improved" };
    format!("Green tea {effect} the attention of students in trial number {n}.")
}

/// Works 1 to 4 as Semantic Scholar sends them; 9 is what they cite.
fn s2_paper(n: u32) -> Value {
    json!({"paperId": format!("{n:040x}"), "externalIds": {"DOI": format!("10.1000/{n}")}, "citationCount": n,
        "title": format!("A trial of green tea and attention, number {n}"), "abstract": text(n), "year": 2020})
}

/// Works 3 to 6 as OpenAlex sends them.
fn openalex_work(n: u32) -> Value {
    let index: serde_json::Map<String, Value> = text(n)
        .split_whitespace()
        .enumerate()
        .map(|(place, word)| (word.to_owned(), json!([place])))
        .collect();
    json!({"id": format!("https://openalex.org/W{n}"), "doi": format!("https://doi.org/10.1000/{n}"), "cited_by_count": n,
        "title": format!("A Trial of Green Tea and Attention, Number {n}"), "publication_year": 2020, "language": "en",
        "abstract_inverted_index": index, "is_retracted": false, "referenced_works": []})
}

fn s2(seen: &Seen) -> Reply {
    let list = |entry: &str, n: u32| json(200, &json!({"data": [{entry: s2_paper(n)}]}).to_string());
    match seen.path.rsplit('/').next() {
        Some("search") => json(200, &json!({"data": (1..=4).map(s2_paper).collect::<Vec<_>>()}).to_string()),
        Some("batch") => json(200, "[]"),
        Some("references") => list("citedPaper", 9),
        Some("citations") => json(200, r#"{"data":[]}"#),
        _ => json(404, r#"{"error":"Paper not found"}"#),
    }
}

fn openalex(seen: &Seen) -> Reply {
    let works: Vec<Value> =
        if seen.query.contains("search=") { (3..=6).map(openalex_work).collect() } else { vec![] };
    json(200, &json!({"results": works, "meta": {"next_cursor": null}}).to_string())
}

struct Bench {
    store: Store,
    worker: Worker,
    s2: StandIn,
    openalex: StandIn,
    folder: tempfile::TempDir,
}

impl Bench {
    /// Stand-ins that answer well but for what `fault` says instead.
    async fn new(
        fault: impl Fn(&str, &Seen, usize) -> Option<Reply> + Clone + Send + Sync + 'static,
    ) -> Self {
        Self::with(fault, Arc::new(Now), None).await
    }

    async fn with(
        fault: impl Fn(&str, &Seen, usize) -> Option<Reply> + Clone + Send + Sync + 'static,
        clock: Arc<dyn Clock>,
        cache: Option<&Path>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store_config = StoreConfig { clock: clock.clone(), ..StoreConfig::default() };
        let store = Store::open(&folder.path().join("lyra.db"), store_config).await.unwrap();
        let other = fault.clone();
        let s2_server = StandIn::start(move |seen, n| fault("s2", seen, n).unwrap_or_else(|| s2(seen))).await;
        let openalex_server =
            StandIn::start(move |seen, n| other("openalex", seen, n).unwrap_or_else(|| openalex(seen))).await;
        let http = HttpClient::new(config(cache), Arc::new(store.clone()), clock).unwrap();
        let api = |base_url| ApiConfig {
            base_url,
            trusted: true,
            api_key: None,
            min_interval: Some(Duration::ZERO),
            cache_ttl: if cache.is_some() { Duration::from_mins(1) } else { Duration::ZERO },
        };
        let sources: Vec<Arc<dyn EvidenceSource>> = vec![
            Arc::new(SemanticScholar::new(http.clone(), &api(s2_server.at("graph/v1")))),
            Arc::new(OpenAlex::new(http, &api(openalex_server.url.clone()), None)),
        ];
        let worker = Worker {
            pipeline: Pipeline {
                store: Arc::new(store.clone()),
                inference: Arc::new(Words),
                llm: None,
                sources: Arc::new(move |_| sources.clone()),
                config: ResearchConfig::default(),
                search: SearchConfig::default(),
                progress: ProgressSink::default(),
            },
            queue: Arc::new(store.clone()),
            wake: Arc::default(),
            stops: Stops::default(),
            config: WorkerConfig { retry: Duration::from_millis(1), ..WorkerConfig::default() },
        };
        Self { store, worker, s2: s2_server, openalex: openalex_server, folder }
    }

    async fn task(&self, budget_seconds: u32) -> TaskId {
        let mut task = TaskConfig::default();
        task.budget.max_seconds = budget_seconds;
        let new =
            NewTask { query: "Does green tea improve attention?".to_owned(), config: task, claims: vec![] };
        self.store.create_task(new, Priority::Medium).await.unwrap().id
    }

    async fn search(&self, task: &TaskId) -> TaskProgress {
        self.store.queue_searches(task, &[QUERY.to_owned()], None, Priority::Medium, &[]).await.unwrap();
        let cancel = CancellationToken::new();
        loop {
            let worked = self.worker.step(&cancel).await.unwrap();
            let status = self.store.task_status(task).await.unwrap();
            if status.jobs_in(JobState::Queued) == 0 {
                return status;
            }
            if !worked {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    }

    async fn run(&self) -> TaskProgress {
        self.search(&self.task(600).await).await
    }
}

/// The task is done with `pages` pages, and says `why` of `source`.
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
    // Works 1 to 6, of which both know 3 and 4, and 9, which they cite.
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
    // Every other answer is a 500: retries get through, and nothing is missing or double.
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
    done_despite(&status, 4, "semantic_scholar", "left alone for 60 s");
    assert_eq!(bench.s2.seen().len(), 2, "then it is left alone, by the next steps too");
    let rates =
        lyra_research::ports::RateStore::load(&bench.store, "semantic_scholar").await.unwrap().unwrap();
    assert_eq!((rates.refusals, rates.pause_seconds), (2, 60));
}

#[tokio::test]
async fn silence_ends_with_the_time_budget() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/", silent.local_addr().unwrap());
    // A redirect into a connection that nobody accepts would be refused, so the API itself is the silent one.
    let bench = Bench::new(|_, _, _| None).await;
    let http = HttpClient::new(config(None), Arc::new(bench.store.clone()), Arc::new(Now)).unwrap();
    let slow = ApiConfig {
        base_url: address.parse().unwrap(),
        trusted: true,
        api_key: None,
        min_interval: None,
        cache_ttl: Duration::ZERO,
    };
    let fast =
        ApiConfig { base_url: bench.s2.at("graph/v1"), min_interval: Some(Duration::ZERO), ..slow.clone() };
    let sources: Vec<Arc<dyn EvidenceSource>> =
        vec![Arc::new(SemanticScholar::new(http.clone(), &fast)), Arc::new(OpenAlex::new(http, &slow, None))];
    let mut worker = bench.worker.clone();
    worker.pipeline.sources = Arc::new(move |_| sources.clone());
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

#[tokio::test]
async fn when_both_are_down_the_task_fails_and_says_why() {
    let bench = Bench::new(|_, _, _| Some(json(503, "{}"))).await;
    let status = bench.run().await;
    assert_eq!((status.task.status, status.pages), (TaskStatus::Failed, 0));
    let why = status.task.error.unwrap_or_default();
    assert!(why.contains("semantic_scholar") && why.contains("openalex"), "{why}");
}

#[tokio::test]
async fn a_cache_that_cannot_be_written_and_a_clock_that_jumps_change_nothing() {
    /// Every look at it is days away from the one before, there and back.
    struct Jumping(std::sync::atomic::AtomicI64);
    impl Clock for Jumping {
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
    // Only the HTTP layer's clock jumps: leases have tests of their own.
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
        min_interval: Some(Duration::from_millis(1)),
        cache_ttl: Duration::from_mins(1),
    };
    let sources: Vec<Arc<dyn EvidenceSource>> = vec![
        Arc::new(SemanticScholar::new(http.clone(), &api(store.s2.at("graph/v1")))),
        Arc::new(OpenAlex::new(http, &api(store.openalex.url.clone()), None)),
    ];
    let mut worker = store.worker.clone();
    worker.pipeline.sources = Arc::new(move |_| sources.clone());
    let bench = Bench { worker, ..store };
    let status = bench.run().await;
    assert_eq!((status.pages, status.warnings.len()), (7, 0), "{:?}", status.warnings);
    assert!(bench.folder.path().exists());
}

//! The pipeline over the real store, with sources and models that the tests make up.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use async_trait::async_trait;
use lyra_domain::{
    JobState, NliJudgement, NliScores, Priority, QueryStatus, Relation, TaskConfig, TaskId, TaskStatus, Work,
};
use lyra_research::ports::{EvidenceSource, Hit, Inference, Models};
use lyra_research::{
    Pipeline, PortError, ProgressSink, ResearchConfig, Result, SearchConfig, Stops, Worker, WorkerConfig,
};
use lyra_store::{NewTask, Store, StoreConfig, TaskProgress};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Bags of words as vectors; a premise with `not` refutes a hypothesis without, and the other way round.
struct Words;

#[async_trait]
impl Inference for Words {
    async fn models(&self) -> Result<Models> {
        let languages = vec!["en".to_owned()];
        Ok(Models { embedder: "words".to_owned(), dimension: 64, classifier: "not".to_owned(), languages })
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let bag = |text: &String| {
            let mut vector = vec![0.01_f32; 64];
            for word in lyra_text::content_words(text) {
                let place =
                    word.bytes().fold(7_usize, |hash, byte| hash.wrapping_mul(31) ^ usize::from(byte));
                vector[place % 64] += 1.0;
            }
            let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            vector.iter().map(|x| x / norm).collect()
        };
        Ok(texts.iter().map(bag).collect())
    }

    async fn judge(&self, pairs: &[(String, String)]) -> Result<Vec<NliJudgement>> {
        let negated = |text: &str| text.split_whitespace().any(|word| word == "not");
        let judge = |(premise, hypothesis): &(String, String)| {
            let agree = negated(premise) == negated(hypothesis);
            let (supports, refutes) = if agree { (0.9, 0.05) } else { (0.05, 0.9) };
            NliScores { supports, refutes, neutral: 0.05 }.judgement()
        };
        Ok(pairs.iter().map(judge).collect())
    }
}

/// Documents about tea by number, or a failure.
struct Tea {
    name: &'static str,
    documents: std::result::Result<std::ops::Range<usize>, PortError>,
}

#[async_trait]
impl EvidenceSource for Tea {
    fn name(&self) -> &str {
        self.name
    }

    async fn search(&self, _: &str, _: Option<&str>, limit: usize) -> Result<Vec<Hit>> {
        let hit = |(place, number): (usize, usize)| {
            let not = if number % 2 == 0 { "did not improve" } else { "improved" };
            let title = format!("Tea trial {number}");
            Hit {
                rank: place + 1,
                score: 1.0,
                work: Work { title, ..Work::default() },
                url: format!("{}/{number}", self.name),
                doc_id: Some(number.to_string()),
                language: Some("en".to_owned()),
                text: Some(format!("Green tea {not} the attention of students in trial {number}.")),
                embedding: None,
            }
        };
        Ok(self.documents.clone()?.take(limit).enumerate().map(hit).collect())
    }
}

fn down() -> PortError {
    PortError::Unavailable { what: "tea house".to_owned(), why: "it is closed".to_owned() }
}

struct Bench {
    _folder: TempDir,
    store: Store,
    worker: Worker,
}

impl Bench {
    async fn new(sources: Vec<Tea>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("lyra.db"), StoreConfig::default()).await.unwrap();
        let sources: Vec<Arc<dyn EvidenceSource>> =
            sources.into_iter().map(|source| Arc::new(source) as Arc<dyn EvidenceSource>).collect();
        let pipeline = Pipeline {
            store: Arc::new(store.clone()),
            inference: Arc::new(Words),
            llm: None,
            sources: Arc::new(move |_| sources.clone()),
            config: ResearchConfig::default(),
            search: SearchConfig::default(),
            progress: ProgressSink::default(),
        };
        let worker = Worker {
            pipeline,
            queue: Arc::new(store.clone()),
            wake: Arc::default(),
            stops: Stops::default(),
            config: WorkerConfig { retry: Duration::from_millis(1), ..WorkerConfig::default() },
        };
        Self { _folder: folder, store, worker }
    }

    async fn task(&self, config: TaskConfig, claims: &[&str]) -> TaskId {
        let claims = claims.iter().map(ToString::to_string).collect();
        let new = NewTask { query: "Does green tea improve attention?".to_owned(), config, claims };
        self.store.create_task(new, Priority::Medium).await.unwrap().id
    }

    async fn search(&self, task: &TaskId, query: &str, sources: &[&str]) {
        let sources: Vec<String> = sources.iter().map(ToString::to_string).collect();
        self.store.queue_searches(task, &[query.to_owned()], None, Priority::Medium, &sources).await.unwrap();
    }

    /// Works until nothing is left.
    async fn finish(&self, task: &TaskId) -> TaskProgress {
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
}

fn corpus(name: &'static str, documents: std::ops::Range<usize>) -> Tea {
    Tea { name, documents: Ok(documents) }
}

#[tokio::test]
async fn claims_are_judged_against_other_sources_only() {
    let bench = Bench::new(vec![corpus("corpus:tea", 0..6)]).await;
    let task = bench.task(TaskConfig::default(), &[]).await;
    bench.search(&task, "green tea attention", &[]).await;
    let done = bench.finish(&task).await;
    assert_eq!((done.task.status, done.pages), (TaskStatus::Completed, 6));
    assert_eq!(done.queries[0].status, QueryStatus::Satisfied);
    let reports = bench.store.claim_reports(&task).await.unwrap();
    assert_eq!(reports.len(), 6);
    for report in reports {
        let origin = report.claim.source_fragment_id.as_ref().unwrap();
        assert!(report.evidence.iter().all(|evidence| evidence.fragment_id != *origin));
        // Of six sources one is the origin, two agree with it, three do not.
        assert_eq!((report.supporting_count, report.refuting_count), (2, 3));
        assert_eq!(report.independent_sources, 5);
    }
}

#[tokio::test]
async fn one_failing_source_is_recorded_and_fails_nothing_else() {
    let broken = Tea { name: "broken", documents: Err(down()) };
    let bench = Bench::new(vec![broken, corpus("corpus:tea", 0..4)]).await;
    let task = bench.task(TaskConfig::default(), &[]).await;
    bench.search(&task, "green tea attention", &[]).await;
    let done = bench.finish(&task).await;
    assert_eq!((done.task.status, done.queries[0].status), (TaskStatus::Completed, QueryStatus::Partial));
    assert_eq!(done.queries[0].source_errors, ["broken: tea house is not available: it is closed"]);
    assert_eq!(done.claims, 4);
}

#[tokio::test]
async fn when_every_source_stays_down_the_task_fails_and_says_why() {
    let bench = Bench::new(vec![Tea { name: "broken", documents: Err(down()) }]).await;
    let task = bench.task(TaskConfig::default(), &[]).await;
    bench.search(&task, "green tea attention", &[]).await;
    let done = bench.finish(&task).await;
    assert_eq!((done.task.status, done.jobs_in(JobState::Failed)), (TaskStatus::Failed, 1));
    assert!(
        done.task.error.as_deref().is_some_and(|why| why.contains("it is closed")),
        "{:?}",
        done.task.error
    );
}

#[tokio::test]
async fn the_page_budget_holds_and_says_so() {
    let bench = Bench::new(vec![corpus("corpus:a", 0..10), corpus("corpus:b", 10..20)]).await;
    let mut config = TaskConfig::default();
    config.budget.max_pages = 5;
    let task = bench.task(config, &[]).await;
    bench.search(&task, "green tea attention", &[]).await;
    let done = bench.finish(&task).await;
    assert_eq!(done.pages, 5);
    assert!(done.warnings.iter().any(|warning| warning.contains("page budget of 5")), "{:?}", done.warnings);
    let domains: Vec<&str> = done.top_domains.iter().map(|(domain, _)| domain.as_str()).collect();
    assert_eq!(domains.len(), 2, "a budget cuts the tail of every source, not the last source");
}

#[tokio::test]
async fn a_repeated_search_adds_nothing() {
    let bench = Bench::new(vec![corpus("corpus:tea", 0..6)]).await;
    let task = bench.task(TaskConfig::default(), &["Green tea improved the attention of students."]).await;
    bench.search(&task, "green tea attention", &[]).await;
    let first = bench.finish(&task).await;
    bench.search(&task, "green tea attention", &[]).await;
    let second = bench.finish(&task).await;
    assert_eq!((first.pages, first.claims, &first.edges), (second.pages, second.claims, &second.edges));
    assert_eq!(second.task.status, TaskStatus::Completed);
}

#[tokio::test]
async fn a_claim_of_the_user_gathers_both_sides_and_has_no_origin() {
    let bench = Bench::new(vec![corpus("corpus:tea", 0..6)]).await;
    let task = bench.task(TaskConfig::default(), &["Green tea improved the attention of students."]).await;
    let done = bench.finish(&task).await;
    assert_eq!((done.claims, done.edges_of(Relation::Origin)), (1, 0));
    let reports = bench.store.claim_reports(&task).await.unwrap();
    assert_eq!((reports[0].supporting_count, reports[0].refuting_count), (3, 3));
    assert!((reports[0].posterior.confidence() - 0.5).abs() < 1e-9);
}

#[tokio::test]
async fn a_search_can_be_narrowed_to_one_source() {
    let bench = Bench::new(vec![corpus("corpus:a", 0..3), corpus("corpus:b", 10..13)]).await;
    let task = bench.task(TaskConfig::default(), &[]).await;
    bench.search(&task, "green tea attention", &["corpus:b"]).await;
    let done = bench.finish(&task).await;
    assert_eq!(done.top_domains, [("corpus:b".to_owned(), 3)]);
}

#[tokio::test]
async fn a_stopping_process_hands_its_job_back() {
    let bench = Bench::new(vec![corpus("corpus:tea", 0..6)]).await;
    let task = bench.task(TaskConfig::default(), &[]).await;
    bench.search(&task, "green tea attention", &[]).await;
    let going_down = CancellationToken::new();
    going_down.cancel();
    assert!(bench.worker.step(&going_down).await.unwrap());
    let status = bench.store.task_status(&task).await.unwrap();
    assert_eq!((status.jobs_in(JobState::Queued), status.claims), (1, 0));
    assert_eq!(bench.finish(&task).await.claims, 6);
}

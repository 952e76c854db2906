//! The whole pipeline with both clients, the web and the real store, with stand-ins for the APIs.

use crate::finish::finish;
use crate::support::{Now, Seen, StandIn, config, json};
use async_trait::async_trait;
use axum::response::Response as Reply;
use lyra_domain::{NliJudgement, NliScores, Priority, TaskConfig, TaskId};
use lyra_research::ports::{Clock, EvidenceSource, Inference, JudgeKind, Models, TextRole};
use lyra_research::{Context, ResearchConfig, SearchConfig, Stops, Worker, WorkerConfig};
use lyra_sources::http::{HttpClient, Origin};
use lyra_sources::web::{FetchLimits, Pages, RuleFiles, Rules};
use lyra_sources::{ApiConfig, OpenAlex, SemanticScholar};
use lyra_store::{NewTask, Store, StoreConfig, TaskProgress};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub(crate) const QUERY: &str = "green tea attention";

/// Bags of words as vectors; a premise with `not` refutes a hypothesis without.
pub(crate) struct Words;

#[async_trait]
impl Inference for Words {
    async fn models(&self) -> lyra_research::Result<Models> {
        let languages = vec!["en".to_owned()];
        Ok(Models {
            embedder: "words".to_owned(),
            dimension: 32,
            classifier: "not".to_owned(),
            languages,
            judge: JudgeKind::Pairs,
            prompts_known: true,
            threshold: None,
        })
    }

    async fn embed(&self, _: TextRole, texts: &[String]) -> lyra_research::Result<Vec<Vec<f32>>> {
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

    async fn judge(&self, pairs: &[(String, String)]) -> lyra_research::Result<Vec<Option<NliJudgement>>> {
        let negated = |text: &str| text.contains("did not");
        let judge = |(premise, hypothesis): &(String, String)| {
            let agree = negated(premise) == negated(hypothesis);
            let (supports, refutes) = if agree { (0.9, 0.05) } else { (0.05, 0.9) };
            Some(NliScores { supports, refutes, neutral: 0.05 }.judgement())
        };
        Ok(pairs.iter().map(judge).collect())
    }
}

pub(crate) fn text(n: u32) -> String {
    let effect = if n.is_multiple_of(2) { "did not improve" } else { "improved" };
    format!("Green tea {effect} the attention of students in trial number {n}.")
}

/// Works 1 to 4 as Semantic Scholar sends them; 9 is what they cite.
pub(crate) fn s2_paper(n: u32) -> Value {
    json!({"paperId": format!("{n:040x}"), "externalIds": {"DOI": format!("10.1000/{n}")}, "citationCount": n,
        "title": format!("A trial of green tea and attention, number {n}"), "abstract": text(n), "year": 2020})
}

/// Works 3 to 6 as OpenAlex sends them.
pub(crate) fn openalex_work(n: u32) -> Value {
    let index: serde_json::Map<String, Value> = text(n)
        .split_whitespace()
        .enumerate()
        .map(|(place, word)| (word.to_owned(), json!([place])))
        .collect();
    json!({"id": format!("https://openalex.org/W{n}"), "doi": format!("https://doi.org/10.1000/{n}"), "cited_by_count": n,
        "title": format!("A Trial of Green Tea and Attention, Number {n}"), "publication_year": 2020, "language": "en",
        "abstract_inverted_index": index, "is_retracted": false, "referenced_works": []})
}

pub(crate) fn s2(seen: &Seen) -> Reply {
    let list = |entry: &str, n: u32| json(200, &json!({"data": [{entry: s2_paper(n)}]}).to_string());
    match seen.path.rsplit('/').next() {
        Some("search") => json(200, &json!({"data": (1..=4).map(s2_paper).collect::<Vec<_>>()}).to_string()),
        Some("batch") => json(200, "[]"),
        Some("references") => list("citedPaper", 9),
        Some("citations") => json(200, r#"{"data":[]}"#),
        _ => json(404, r#"{"error":"Paper not found"}"#),
    }
}

pub(crate) fn openalex(seen: &Seen) -> Reply {
    let works: Vec<Value> =
        if seen.query.contains("search=") { (3..=6).map(openalex_work).collect() } else { vec![] };
    json(200, &json!({"results": works, "meta": {"next_cursor": null}}).to_string())
}

pub(crate) struct Bench {
    pub(crate) store: Store,
    pub(crate) worker: Worker,
    pub(crate) s2: StandIn,
    pub(crate) openalex: StandIn,
    pub(crate) folder: tempfile::TempDir,
}

impl Bench {
    /// Stand-ins that answer correctly except where `fault` overrides them.
    pub(crate) async fn new(
        fault: impl Fn(&str, &Seen, usize) -> Option<Reply> + Clone + Send + Sync + 'static,
    ) -> Self {
        Self::with(fault, Arc::new(Now), None).await
    }

    pub(crate) async fn with(
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
            mailto: None,
            min_interval: Some(Duration::ZERO),
            cache_ttl: if cache.is_some() { Duration::from_mins(1) } else { Duration::ZERO },
        };
        let sources: Vec<Arc<dyn EvidenceSource>> = vec![
            Arc::new(SemanticScholar::new(http.clone(), &api(s2_server.at("graph/v1")))),
            Arc::new(OpenAlex::new(http.clone(), &api(openalex_server.url.clone()))),
        ];
        let (rules, pages) = web(&http, &store, folder.path(), &[]);
        let worker = Worker {
            context: Context {
                llm: None,
                store: Arc::new(store.clone()),
                inference: Arc::new(Words),
                sources: Arc::new(move |_| sources.clone()),
                rules: Arc::new(rules),
                pages: Arc::new(pages),
                config: ResearchConfig::default(),
                search: SearchConfig::default(),
                events: lyra_research::ports::Events::default(),
            },
            queue: Arc::new(store.clone()),
            wake: Arc::default(),
            stops: Stops::default(),
            config: WorkerConfig { retry: Duration::from_millis(1), ..WorkerConfig::default() },
        };
        Self { store, worker, s2: s2_server, openalex: openalex_server, folder }
    }

    pub(crate) async fn task(&self, budget_seconds: u32) -> TaskId {
        let mut config = TaskConfig::default();
        config.budget.max_seconds = budget_seconds;
        self.task_with(config).await
    }

    pub(crate) async fn task_with(&self, config: TaskConfig) -> TaskId {
        let new = NewTask {
            query: "Does green tea improve attention?".to_owned(),
            config,
            claims: vec![],
            question_claim: None,
        };
        self.store.create_task(new, Priority::Medium).await.unwrap().id
    }

    pub(crate) async fn search(&self, task: &TaskId) -> TaskProgress {
        self.store.queue_searches(task, &[QUERY.to_owned()], None, Priority::Medium, &[]).await.unwrap();
        finish(&self.worker, &self.store, task).await
    }

    pub(crate) async fn run(&self) -> TaskProgress {
        self.search(&self.task(600).await).await
    }
}

/// The built-in rules with the store's decisions, and a fetcher that trusts these servers.
pub(crate) fn web(http: &HttpClient, store: &Store, folder: &Path, trusted: &[&StandIn]) -> (Rules, Pages) {
    let domains = folder.join("domains.yaml");
    std::fs::write(&domains, "default: {category: unverified, qps: 1000}\n").unwrap();
    let files = RuleFiles { domains: Some(domains), ..RuleFiles::default() };
    let rules = Rules::open(&files).unwrap().with_stored(Arc::new(store.clone()));
    let trusted = trusted.iter().filter_map(|server| Origin::of(&server.url)).collect();
    let limits = FetchLimits { trusted, ..FetchLimits::default() };
    (rules.clone(), Pages::new(http.clone(), rules, limits))
}

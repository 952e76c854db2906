//! The pipeline with a language model that the tests make up, over the real store.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use async_trait::async_trait;
use common::Words;
use lyra_domain::domains::DomainRules;
use lyra_domain::{
    Doi, FetchMethod, Fragment, FragmentId, FragmentType, Identifier, JobState, PageId, Priority, Relation,
    TaskConfig, TaskId, Work,
};
use lyra_research::ports::{
    Accept, Answered, ContentRules, Danger, EvidenceSource, Hit, LanguageModel, LlmUse, PageFetcher,
    PageLink, Prompt, Purpose, Reply, ScholarlySource, SourcePage,
};
use lyra_research::{
    CitationFilter, Llm, Pipeline, PortError, ProgressSink, ResearchConfig, Result, SearchConfig, Stops,
    Worker, WorkerConfig,
};
use lyra_store::{GuardOptions, NewTask, Store, StoreConfig, TaskProgress};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Every domain and every text may be used; no page can be fetched.
struct Open;

#[async_trait]
impl ContentRules for Open {
    async fn domains(&self) -> Result<DomainRules> {
        Ok(DomainRules::default())
    }

    async fn dangers(&self, texts: Vec<String>) -> Result<Vec<Option<Danger>>> {
        Ok(vec![None; texts.len()])
    }
}

#[async_trait]
impl PageFetcher for Open {
    async fn fetch(&self, url: &str) -> Result<SourcePage> {
        Err(PortError::Refused { what: "its server".to_owned(), why: format!("{url} is not there") })
    }
}

const TRIALS: usize = 6;
const PAGE: &str = "https://news.example/tea";

/// Trials of tea; as an academic API it also knows what cites them, as the web it has one page with links.
struct Tea {
    scholarly: bool,
    web: bool,
}

fn trial(number: usize) -> String {
    let not = if number.is_multiple_of(2) { "did not improve" } else { "improved" };
    format!("Green tea {not} the attention of students in trial {number}. The trial lasted {number} weeks.")
}

fn hit(rank: usize, title: String, doi: Option<String>, url: String, text: String) -> Hit {
    let doi = doi.and_then(|doi| Doi::parse(&doi));
    let work = Work { title, doi, citation_count: Some(1), ..Work::default() };
    Hit {
        rank,
        score: 1.0,
        work,
        url,
        doc_id: None,
        language: Some("en".to_owned()),
        text: Some(text),
        embedding: None,
    }
}

#[async_trait]
impl EvidenceSource for Tea {
    fn name(&self) -> &str {
        if self.scholarly { "openalex" } else { "tea" }
    }

    async fn search(&self, _: &str, _: Option<&str>, _: usize) -> Result<Vec<Hit>> {
        let trials = (0..TRIALS).map(|number| {
            let doi = self.scholarly.then(|| format!("10.1000/t{number}"));
            hit(
                number + 1,
                format!("Tea trial {number}"),
                doi,
                format!("https://tea.example/{number}"),
                trial(number),
            )
        });
        let page = self.web.then(|| hit(9, "Tea in the news".to_owned(), None, PAGE.to_owned(), trial(9)));
        Ok(trials.chain(page).collect())
    }

    fn page(&self, url: &str) -> Option<SourcePage> {
        let id = PageId::derive(&["url", url]);
        let link = |url: &str, text: &str| PageLink {
            url: url.to_owned(),
            text: text.to_owned(),
            context: format!("Green tea improved attention, as {text} says."),
        };
        (self.web && url == PAGE).then(|| SourcePage {
            domain: "news.example".to_owned(),
            domain_category: "low".to_owned(),
            method: FetchMethod::Http,
            answer: Answered { final_url: PAGE.to_owned(), http_status: 200, content_hash: "0".repeat(64) },
            title: "Tea in the news".to_owned(),
            language: Some("en".to_owned()),
            quarantined: Vec::new(),
            hostile: None,
            fragments: vec![Fragment {
                id: FragmentId::derive(&[id.as_str(), &trial(9)]),
                page_id: id,
                fragment_type: FragmentType::Paragraph,
                position: 0,
                text_content: trial(9),
                heading_context: None,
                char_start: 0,
                char_end: trial(9).chars().count() as u32,
            }],
            links: vec![
                link("https://doi.org/10.1000/study", "a study"),
                link("https://shop.example/", "our shop"),
                link("https://report.example/tea", "a report"),
                link("https://late.example/", "one link too many"),
            ],
        })
    }

    fn scholarly(&self) -> Option<&dyn ScholarlySource> {
        self.scholarly.then_some(self)
    }
}

#[async_trait]
impl ScholarlySource for Tea {
    async fn lookup(&self, _: &[Identifier]) -> Result<Vec<Hit>> {
        Ok(Vec::new())
    }

    async fn references(&self, _: &Work, _: usize) -> Result<Vec<Hit>> {
        Ok(Vec::new())
    }

    async fn citations(&self, _: &Work, _: usize) -> Result<Vec<Hit>> {
        let citing = |number: usize| {
            let (url, doi) = (format!("https://api.example/c{number}"), Some(format!("10.1000/c{number}")));
            let mut hit = hit(
                number,
                format!("Citing {number}"),
                doi,
                url,
                format!("Tea and attention, report {number}."),
            );
            hit.work.citation_count = Some(number as u32 * 10);
            hit
        };
        Ok((1..=4).map(citing).collect())
    }
}

type Script = dyn Fn(&Prompt) -> Result<Value> + Send + Sync;

/// Answers as it is told, and keeps what it was asked.
struct Scripted {
    script: Box<Script>,
    asked: Mutex<Vec<Prompt>>,
    /// After so many answers it never comes back again.
    answers: AtomicUsize,
}

#[async_trait]
impl LanguageModel for Scripted {
    fn name(&self) -> &'static str {
        "test:script"
    }

    fn concurrency(&self) -> usize {
        1
    }

    async fn ask(&self, prompt: &Prompt, accept: Accept<'_>) -> Reply {
        if self.answers.load(Ordering::SeqCst) == 0 {
            std::future::pending::<()>().await;
        }
        self.answers.fetch_sub(1, Ordering::SeqCst);
        self.asked.lock().unwrap().push(prompt.clone());
        let answer = (self.script)(prompt);
        if let Ok(answer) = &answer {
            assert_eq!(accept(answer), Ok(()));
        }
        Reply { calls: 1, failures: u32::from(answer.is_err()), answer }
    }
}

fn value<'a>(prompt: &'a Prompt, name: &str) -> &'a str {
    let mut values = prompt.given.iter().chain(&prompt.untrusted);
    values.find(|(known, _)| *known == name).map(|(_, value)| value.as_str()).unwrap_or_default()
}

/// States the first sentence of a passage, and something that it does not say.
#[expect(clippy::unnecessary_wraps, reason = "a script may fail")]
fn states(prompt: &Prompt) -> Result<Value> {
    let first = value(prompt, "text").split_inclusive(". ").next().unwrap_or_default().trim().to_owned();
    let invented = "Green tea cures every known illness of students.";
    Ok(json!({"claims": [{"text": first, "confidence": 0.25}, {"text": invented, "confidence": 1.0}]}))
}

fn down(_: &Prompt) -> Result<Value> {
    Err(PortError::Unavailable { what: "the language model".to_owned(), why: "it is asleep".to_owned() })
}

struct Bench {
    _folder: TempDir,
    store: Store,
    worker: Worker,
    model: Option<Arc<Scripted>>,
}

impl Bench {
    async fn new(source: Tea, script: Option<Box<Script>>) -> Self {
        Self::with(source, script, 0.3, usize::MAX, |_| false).await
    }

    async fn with(
        source: Tea,
        script: Option<Box<Script>>,
        time_share: f64,
        answers: usize,
        is_hostile: fn(&str) -> bool,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("lyra.db"), StoreConfig::default()).await.unwrap();
        let source: Arc<dyn EvidenceSource> = Arc::new(source);
        let model = script.map(|script| {
            Arc::new(Scripted { script, asked: Mutex::default(), answers: AtomicUsize::new(answers) })
        });
        let llm = model.clone().map(|model| Llm { model, time_share, is_hostile: Arc::new(is_hostile) });
        let pipeline = Pipeline {
            store: Arc::new(store.clone()),
            inference: Arc::new(Words),
            llm,
            sources: Arc::new(move |_| vec![source.clone()]),
            rules: Arc::new(Open),
            pages: Arc::new(Open),
            config: ResearchConfig::default(),
            search: SearchConfig {
                citation_filter: CitationFilter {
                    stage1_top_k: 3,
                    stage2_top_k: 2,
                    ..CitationFilter::default()
                },
                web_citation_links_per_page: 3,
                ..SearchConfig::default()
            },
            progress: ProgressSink::default(),
        };
        let worker = Worker {
            pipeline,
            queue: Arc::new(store.clone()),
            wake: Arc::default(),
            stops: Stops::default(),
            config: WorkerConfig { retry: Duration::from_millis(1), ..WorkerConfig::default() },
        };
        Self { _folder: folder, store, worker, model }
    }

    /// Questions whose outcome is kept.
    async fn kept(&self) -> u64 {
        let sql = "SELECT count(*) AS n FROM llm_questions";
        self.store.query_graph(sql, GuardOptions::default()).await.unwrap().rows[0]["n"].as_u64().unwrap()
    }

    async fn task(&self) -> TaskId {
        let new = NewTask {
            query: "Does green tea improve attention?".to_owned(),
            config: TaskConfig::default(),
            claims: Vec::new(),
        };
        let task = self.store.create_task(new, Priority::Medium).await.unwrap().id;
        self.search(&task, "green tea attention").await;
        task
    }

    async fn search(&self, task: &TaskId, query: &str) {
        self.store.queue_searches(task, &[query.to_owned()], None, Priority::Medium, &[]).await.unwrap();
    }

    /// Works until nothing is left.
    async fn finish(&self, task: &TaskId) -> TaskProgress {
        let cancel = CancellationToken::new();
        while self.worker.step(&cancel).await.unwrap() {}
        let status = self.store.task_status(task).await.unwrap();
        assert_eq!(
            status.jobs_in(JobState::Queued) + status.jobs_in(JobState::Failed),
            0,
            "{:?}",
            status.warnings
        );
        status
    }

    fn asked(&self, purpose: Purpose) -> Vec<Prompt> {
        let asked = self.model.as_ref().unwrap().asked.lock().unwrap();
        asked.iter().filter(|prompt| prompt.purpose == purpose).cloned().collect()
    }

    async fn claims(&self, task: &TaskId) -> Vec<(String, Option<f64>)> {
        let reports = self.store.claim_reports(task).await.unwrap();
        let of = |claim: &lyra_domain::Claim| {
            (claim.claim_text.clone(), claim.llm_claim_confidence.map(lyra_domain::Probability::get))
        };
        let mut claims: Vec<_> = reports.iter().map(|report| of(&report.claim)).collect();
        claims.sort_by(|a, b| a.0.cmp(&b.0));
        claims
    }

    async fn rows(&self, sql: &str) -> Vec<Value> {
        let found = self.store.query_graph(sql, GuardOptions::default()).await.unwrap();
        found.rows.into_iter().map(Value::Object).collect()
    }

    async fn output(&self, kind: &str) -> Value {
        let sql = format!("SELECT output FROM jobs WHERE kind = '{kind}' ORDER BY seq DESC");
        serde_json::from_str(self.rows(&sql).await[0]["output"].as_str().unwrap()).unwrap()
    }
}

fn warned(status: &TaskProgress, words: &str) -> bool {
    status.warnings.iter().any(|warning| warning.contains(words))
}

const CORPUS: Tea = Tea { scholarly: false, web: false };

#[tokio::test]
async fn claims_are_what_the_model_states_and_the_passage_says() {
    let bench = Bench::new(CORPUS, Some(Box::new(states))).await;
    let task = bench.task().await;
    let done = bench.finish(&task).await;
    let claims = bench.claims(&task).await;
    assert_eq!(claims.len(), TRIALS);
    for (text, confidence) in &claims {
        assert!(text.starts_with("Green tea ") && text.contains("in trial "), "{text}");
        assert_eq!(*confidence, Some(0.25));
    }
    assert!(warned(&done, "6 statements of the language model were left out"), "{:?}", done.warnings);
    let used = done.llm.unwrap();
    assert_eq!(LlmUse { seconds: 0.0, ..used }, LlmUse { questions: 6, calls: 6, ..LlmUse::default() });
    let output = bench.output("judge").await;
    assert_eq!((&output["llm"]["ungrounded"], &output["llm"]["calls"]), (&json!(6), &json!(6)));
    // Its numbers are no evidence: two of the others agree with each claim, three do not.
    for report in bench.store.claim_reports(&task).await.unwrap() {
        assert_eq!((report.supporting_count, report.refuting_count), (2, 3));
        assert!((report.posterior.confidence() - 2.8 / (2.8 + 3.7)).abs() < 1e-9);
    }
}

#[tokio::test]
async fn a_resumed_job_asks_only_what_it_has_not_asked_and_gives_the_same() {
    let undisturbed = Bench::new(CORPUS, Some(Box::new(states))).await;
    let task = undisturbed.task().await;
    undisturbed.finish(&task).await;
    let expect = undisturbed.claims(&task).await;

    let bench = Bench::with(CORPUS, Some(Box::new(states)), 0.3, 4, |_| false).await;
    let task = bench.task().await;
    let going_down = CancellationToken::new();
    let stopping = async {
        // Until its answers are kept, a question that was asked counts for nothing.
        while bench.kept().await < 4 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        going_down.cancel();
    };
    let working =
        async { while !going_down.is_cancelled() && bench.worker.step(&going_down).await.unwrap() {} };
    tokio::join!(stopping, working);
    assert!(bench.claims(&task).await.is_empty());

    bench.model.as_ref().unwrap().answers.store(usize::MAX, Ordering::SeqCst);
    let done = bench.finish(&task).await;
    assert_eq!(bench.claims(&task).await, expect);
    assert_eq!(bench.asked(Purpose::ExtractClaims).len(), TRIALS, "no passage is asked about twice");
    assert_eq!(done.llm.unwrap().questions, 6);

    // A later search of the same task finds the same passages, and nothing is asked again.
    bench.search(&task, "tea and attention of students").await;
    bench.finish(&task).await;
    assert_eq!(bench.asked(Purpose::ExtractClaims).len(), TRIALS);
    assert_eq!(bench.claims(&task).await, expect);
}

#[tokio::test]
async fn rules_take_over_from_a_model_that_fails_and_a_later_job_asks_it_again() {
    let rules = Bench::new(CORPUS, None).await;
    let by_rules = rules.task().await;
    let without = rules.finish(&by_rules).await;
    assert!(without.llm.is_none() && rules.output("judge").await.get("llm").is_none());

    let awake = Arc::new(AtomicUsize::new(0));
    let wakes = Arc::clone(&awake);
    let script =
        move |prompt: &Prompt| if wakes.load(Ordering::SeqCst) == 0 { down(prompt) } else { states(prompt) };
    let bench = Bench::new(CORPUS, Some(Box::new(script))).await;
    let task = bench.task().await;
    let done = bench.finish(&task).await;
    assert_eq!(bench.claims(&task).await, rules.claims(&by_rules).await);
    assert_eq!(
        bench.asked(Purpose::ExtractClaims).len(),
        3,
        "after three failures in a row it is left alone"
    );
    let words = "gave no usable answer to 6 of 6 questions (extract_claims): rules extracted claims instead; the first reason: \
                 the language model is not available: it is asleep";
    assert!(warned(&done, words), "{:?}", done.warnings);
    let used = done.llm.unwrap();
    assert_eq!((used.calls, used.failures, used.fallbacks), (3, 3, 6));

    awake.store(1, Ordering::SeqCst);
    bench.search(&task, "tea and attention of students").await;
    let healed = bench.finish(&task).await;
    assert_eq!((bench.asked(Purpose::ExtractClaims).len(), healed.llm.unwrap().fallbacks), (9, 0));
}

#[tokio::test]
async fn once_its_time_is_spent_rules_take_over_and_it_is_said() {
    let bench = Bench::with(CORPUS, Some(Box::new(states)), 0.0, usize::MAX, |_| false).await;
    let task = bench.task().await;
    let done = bench.finish(&task).await;
    assert!(bench.asked(Purpose::ExtractClaims).is_empty());
    assert!(warned(&done, "its share of the time budget is used up"), "{:?}", done.warnings);
    assert_eq!((done.llm.unwrap().calls, done.llm.unwrap().fallbacks), (0, 6));
    assert!(!bench.claims(&task).await.is_empty());

    // A model that never comes back is left when the share ends: 1200 s · 0.0005 = 0.6 s.
    let stuck = Bench::with(CORPUS, Some(Box::new(states)), 0.0005, 0, |_| false).await;
    let task = stuck.task().await;
    let done = stuck.finish(&task).await;
    assert!(warned(&done, "its share of the time budget is used up"), "{:?}", done.warnings);
    assert_eq!((done.llm.unwrap().calls, done.llm.unwrap().fallbacks), (1, 6));
    assert!(!stuck.claims(&task).await.is_empty());
}

#[tokio::test]
async fn text_that_addresses_an_ai_is_never_sent() {
    let hostile = |text: &str| text.contains("trial 3");
    let bench = Bench::with(CORPUS, Some(Box::new(states)), 0.3, usize::MAX, hostile).await;
    let task = bench.task().await;
    let done = bench.finish(&task).await;
    let asked = bench.asked(Purpose::ExtractClaims);
    assert_eq!(asked.len(), TRIALS - 1);
    assert!(asked.iter().all(|prompt| !value(prompt, "text").contains("trial 3")));
    assert!(warned(&done, "the text addresses the AI that reads it"), "{:?}", done.warnings);
}

/// Titles of the works that became pages through citations, and the counts of the filter.
async fn cited(
    script: impl Fn(&Prompt) -> Result<Value> + Send + Sync + 'static,
) -> (Vec<String>, Value, Bench) {
    let bench = Bench::new(Tea { scholarly: true, web: false }, Some(Box::new(script))).await;
    let task = bench.task().await;
    bench.finish(&task).await;
    let sql = "SELECT title FROM task_pages JOIN pages ON pages.id = page_id WHERE reason = 'citation' ORDER BY title";
    let titles = bench
        .rows(sql)
        .await
        .iter()
        .map(|row| row["title"].as_str().unwrap_or_default().to_owned())
        .collect();
    (titles, bench.output("search").await["citations"].clone(), bench)
}

#[tokio::test]
async fn the_second_stage_of_citations_follows_the_models_word() {
    // Of four works with the same words, stage 1 keeps those cited most: 4, 3, 2. Stage 2 keeps two of them.
    let useful = |prompt: &Prompt| match prompt.purpose {
        Purpose::Relevance => Ok(json!({"score": if value(prompt, "title").contains('2') { 10 } else { 2 }})),
        _ => states(prompt),
    };
    let (titles, counts, bench) = cited(useful).await;
    assert_eq!(titles, ["Citing 2", "Citing 4"]);
    assert_eq!(
        (&counts["after_stage1"], &counts["after_stage2"], &counts["llm_calls"]),
        (&json!(3), &json!(2), &json!(3))
    );
    assert_eq!(bench.asked(Purpose::Relevance).len(), 3, "stage 1 decides who is asked about");

    // Without its word the order of stage 1 stays.
    let silent =
        |prompt: &Prompt| if prompt.purpose == Purpose::Relevance { down(prompt) } else { states(prompt) };
    let (titles, counts, _) = cited(silent).await;
    assert_eq!(
        (titles, &counts["llm_calls"]),
        (vec!["Citing 3".to_owned(), "Citing 4".to_owned()], &json!(3))
    );
}

#[tokio::test]
async fn links_that_the_model_calls_citations_become_edges() {
    let script = |prompt: &Prompt| match prompt.purpose {
        Purpose::Citation => {
            Ok(json!({"cited": if value(prompt, "link").contains("shop") { "NO" } else { "YES" }}))
        }
        _ => states(prompt),
    };
    let bench = Bench::new(Tea { scholarly: false, web: true }, Some(Box::new(script))).await;
    let task = bench.task().await;
    let done = bench.finish(&task).await;
    assert_eq!(bench.asked(Purpose::Citation).len(), 3, "a page has a limit");
    let sql = "SELECT source.url AS source, target.url AS target, target.domain_category AS category, citation_source, \
               citation_context, target.error, works.doi FROM edges JOIN pages AS source ON source.id = source_id \
               JOIN pages AS target ON target.id = target_id LEFT JOIN works ON works.id = target.work_id \
               WHERE relation = 'cites' ORDER BY target.url";
    let error = "not fetched: known from what cites it";
    let expect = [("https://doi.org/10.1000/study", "a study", json!("10.1000/study")), ("https://report.example/tea", "a report", Value::Null)]
        .map(|(target, words, doi)| {
            json!({"source": PAGE, "target": target, "category": "unverified", "citation_source": "extraction",
                   "citation_context": format!("Green tea improved attention, as {words} says."), "error": error, "doi": doi})
        });
    assert_eq!(bench.rows(sql).await, expect);
    assert_eq!(
        (done.pages, done.edges_of(Relation::Cites)),
        (TRIALS as u64 + 1, 2),
        "cited pages use no budget"
    );
    let counts = &bench.output("search").await["llm"]["web_citations"];
    assert_eq!(*counts, json!({"pages": 1, "links": 3, "cited": 2}));

    // Without a model nothing is recorded.
    let bench = Bench::new(Tea { scholarly: false, web: true }, None).await;
    let task = bench.task().await;
    assert_eq!(bench.finish(&task).await.edges_of(Relation::Cites), 0);
}

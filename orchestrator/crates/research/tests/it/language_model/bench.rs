//! Works, a scripted language model, and a pipeline with both.

use crate::support::{NoPages, Words, worker};
use async_trait::async_trait;
use lyra_domain::domains::DomainRules;
use lyra_domain::{
    Doi, FetchMethod, Fragment, FragmentId, FragmentType, Identifier, JobState, PageId, Priority, TaskConfig,
    TaskId, Work,
};
use lyra_research::ports::{
    Accept, Answer, Answered, ContentRules, Danger, EvidenceSource, Hit, LanguageModel, PageLink, Prompt,
    Purpose, Reply, ScholarlySource, SourceKind, SourcePage,
};
use lyra_research::{CitationFilter, Context, Llm, PortError, ResearchConfig, Result, SearchConfig, Worker};
use lyra_store::{GuardOptions, NewTask, Store, StoreConfig, TaskProgress};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Every domain and every text may be used.
pub(super) struct Open;

#[async_trait]
impl ContentRules for Open {
    async fn domains(&self) -> Result<DomainRules> {
        Ok(DomainRules::default())
    }

    async fn dangers(&self, texts: Vec<String>) -> Result<Vec<Option<Danger>>> {
        Ok(vec![None; texts.len()])
    }
}

pub(super) const TRIALS: usize = 6;
pub(super) const PAGE: &str = "https://news.example/tea";

/// Trials of tea; as an academic API it also knows what cites them, as the web it has one page with links.
pub(super) struct Tea {
    pub(super) scholarly: bool,
    pub(super) web: bool,
}

pub(super) fn trial(number: usize) -> String {
    let not = if number.is_multiple_of(2) { "did not improve" } else { "improved" };
    format!("Green tea {not} the attention of students in trial {number}. The trial lasted {number} weeks.")
}

pub(super) fn hit(rank: usize, title: String, doi: Option<String>, url: String, text: String) -> Hit {
    let doi = doi.and_then(|doi| Doi::parse(&doi));
    let work = Work { title, doi, citation_count: Some(1), ..Work::default() };
    Hit {
        rank,
        score: 1.0,
        work,
        url,
        document: None,
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

    fn kind(&self) -> SourceKind {
        if self.scholarly { SourceKind::Api } else { SourceKind::Web }
    }

    async fn search(&self, _: &str, _: Option<&str>, _: usize) -> Result<Answer> {
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
        let hits = trials.chain(page).collect();
        let pages = self.web.then(|| (PAGE.to_owned(), news())).into_iter().collect();
        Ok(Answer { hits, pages, ..Answer::default() })
    }

    fn scholarly(&self) -> Option<&dyn ScholarlySource> {
        self.scholarly.then_some(self)
    }
}

/// The page of the web, as it was fetched.
fn news() -> SourcePage {
    let id = PageId::derive(&["url", PAGE]);
    let link = |url: &str, text: &str| PageLink {
        url: url.to_owned(),
        text: text.to_owned(),
        context: format!("Green tea improved attention, as {text} says."),
    };
    SourcePage {
        left_out: None,
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

pub(super) type Script = dyn Fn(&Prompt) -> Result<Value> + Send + Sync;

/// Answers by a script, and records the prompts.
pub(super) struct Scripted {
    script: Box<Script>,
    pub(super) asked: Mutex<Vec<Prompt>>,
    /// Hangs after this many answers.
    pub(super) answers: AtomicUsize,
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

pub(super) fn value<'a>(prompt: &'a Prompt, name: &str) -> &'a str {
    let mut values = prompt.given.iter().chain(&prompt.untrusted);
    values.find(|(known, _)| *known == name).map(|(_, value)| value.as_str()).unwrap_or_default()
}

/// States the first sentence of a passage, and something that it does not say.
#[expect(clippy::unnecessary_wraps, reason = "a script may fail")]
pub(super) fn states(prompt: &Prompt) -> Result<Value> {
    let first = value(prompt, "text").split_inclusive(". ").next().unwrap_or_default().trim().to_owned();
    let invented = "Green tea cures every known illness of students.";
    Ok(json!({"claims": [{"text": first, "confidence": 0.25}, {"text": invented, "confidence": 1.0}]}))
}

pub(super) fn down(_: &Prompt) -> Result<Value> {
    Err(PortError::Unavailable { what: "the language model".to_owned(), why: "it is asleep".to_owned() })
}

pub(super) struct Bench {
    _folder: TempDir,
    pub(super) store: Store,
    pub(super) worker: Worker,
    pub(super) model: Option<Arc<Scripted>>,
}

impl Bench {
    pub(super) async fn new(source: Tea, script: Option<Box<Script>>) -> Self {
        Self::with(source, script, 0.3, usize::MAX, |_| false).await
    }

    pub(super) async fn with(
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
        let context = Context {
            store: Arc::new(store.clone()),
            inference: Arc::new(Words),
            llm,
            sources: Arc::new(move |_| vec![source.clone()]),
            rules: Arc::new(Open),
            pages: Arc::new(NoPages),
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
            events: lyra_research::ports::Events::default(),
        };
        let worker = worker(context, &store);
        Self { _folder: folder, store, worker, model }
    }

    /// Questions whose outcome is kept.
    pub(super) async fn kept(&self) -> u64 {
        let sql = "SELECT count(*) AS n FROM llm_questions";
        self.store.query_graph(sql, GuardOptions::default()).await.unwrap().rows[0]["n"].as_u64().unwrap()
    }

    pub(super) async fn task(&self) -> TaskId {
        let new = NewTask {
            query: "Does green tea improve attention?".to_owned(),
            config: TaskConfig::default(),
            ..NewTask::default()
        };
        let task = self.store.create_task(new, Priority::Medium).await.unwrap().id;
        self.search(&task, "green tea attention").await;
        task
    }

    pub(super) async fn search(&self, task: &TaskId, query: &str) {
        self.store.queue_searches(task, &[query.to_owned()], None, Priority::Medium, &[]).await.unwrap();
    }

    /// Works until nothing is left.
    pub(super) async fn finish(&self, task: &TaskId) -> TaskProgress {
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

    pub(super) fn asked(&self, purpose: Purpose) -> Vec<Prompt> {
        let asked = self.model.as_ref().unwrap().asked.lock().unwrap();
        asked.iter().filter(|prompt| prompt.purpose == purpose).cloned().collect()
    }

    pub(super) async fn claims(&self, task: &TaskId) -> Vec<(String, Option<f64>)> {
        let reports = self.store.claim_reports(task).await.unwrap();
        let of = |claim: &lyra_domain::Claim| {
            (claim.claim_text.clone(), claim.extraction.map(|extraction| extraction.score.get()))
        };
        let mut claims: Vec<_> = reports.iter().map(|report| of(&report.claim)).collect();
        claims.sort_by(|a, b| a.0.cmp(&b.0));
        claims
    }

    pub(super) async fn rows(&self, sql: &str) -> Vec<Value> {
        let found = self.store.query_graph(sql, GuardOptions::default()).await.unwrap();
        found.rows.into_iter().map(Value::Object).collect()
    }

    pub(super) async fn output(&self, kind: &str) -> Value {
        let sql = format!("SELECT output FROM jobs WHERE kind = '{kind}' ORDER BY seq DESC");
        serde_json::from_str(self.rows(&sql).await[0]["output"].as_str().unwrap()).unwrap()
    }
}

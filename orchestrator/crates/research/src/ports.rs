//! What the pipeline needs from the outside. `store`, `corpus`, `sources` and `ml-client` implement these.

use crate::{PortError, Result};
use async_trait::async_trait;
use lyra_domain::domains::{DomainOverride, DomainRules};
use lyra_domain::{
    Claim, ClaimId, Edge, FetchMethod, Fragment, FragmentId, Identifier, Job, JobId, JobKind, NliJudgement,
    Page, PageId, Priority, Query, QueryId, QuestionId, Task, TaskId, TaskPageReason, Work, named_enum,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

/// The clock.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> jiff::Timestamp;
}

/// What is remembered of a provider outside, so that a restart does not forget a cool-down.
#[async_trait]
pub trait RateStore: Send + Sync {
    /// The state last saved for this provider.
    async fn load(&self, provider: &str) -> Result<Option<RateState>>;
    /// Replaces the state of this provider.
    async fn save(&self, provider: &str, state: &RateState) -> Result<()>;
}

/// How a provider has been doing. Times are of the wall clock, which may jump: readers bound every wait they
/// compute from them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RateState {
    /// Start of the latest request.
    pub last_request: Option<jiff::Timestamp>,
    /// Answers of 429 in a row.
    pub refusals: u32,
    /// Other failures in a row.
    pub failures: u32,
    /// When the pause below began.
    pub paused_at: Option<jiff::Timestamp>,
    /// Not asked for this many seconds from then on.
    pub pause_seconds: u64,
    /// Why it pauses.
    pub pause_reason: Option<String>,
    /// Day, counted from 1970 in UTC, that `spent` belongs to.
    pub day: i64,
    /// Requests of that day, for a provider with a daily budget.
    pub spent: u32,
}

/// What is stored about domains: read by the one that decides.
#[async_trait]
pub trait DomainStore: Send + Sync {
    /// Rules that people made, the active ones.
    async fn overrides(&self) -> Result<Vec<DomainOverride>>;
    /// Registrable domains that the server blocked for a reason it recorded.
    async fn blocked(&self) -> Result<BTreeSet<String>>;
    /// Registrable domains that nothing was known of until independent sources confirmed what they say.
    async fn confirmed(&self) -> Result<BTreeSet<String>>;
}

/// What may be used of what sources say: which domains, and which texts.
#[async_trait]
pub trait ContentRules: Send + Sync {
    /// Everything that decides about domains, as of now.
    async fn domains(&self) -> Result<DomainRules>;
    /// For every text, in order, the gravest rule that it breaks, when it addresses the AI that reads it.
    async fn dangers(&self, texts: Vec<String>) -> Result<Vec<Option<Danger>>>;
}

/// Fetches pages of the web: politely, guarded, and read by the same rules whoever asks.
#[async_trait]
pub trait PageFetcher: Send + Sync {
    /// The page of a work. A landing page that only leads to the work's text is followed to it once.
    async fn fetch(&self, url: &str) -> Result<SourcePage>;
}

/// A rule for text that addresses the AI that reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Danger {
    /// Id of the rule.
    pub rule: String,
    /// `medium` or `high`.
    pub severity: String,
}

/// A passage that is kept and shown to nobody who could take it for an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// The passage.
    pub fragment: Fragment,
    /// The rule it broke.
    pub danger: Danger,
}

/// What people's visits left for domains whose pages want a person.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// The newest session kept for this domain, in the form of whoever kept it. It is a secret.
    async fn session(&self, domain: &str) -> Result<Option<String>>;
}

/// The ml-server.
#[async_trait]
pub trait Inference: Send + Sync {
    /// Which models answer.
    async fn models(&self) -> Result<Models>;
    /// One L2-normalised vector per text, in order, of `Models::dimension` numbers.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>>;
    /// One judgement per (premise, hypothesis), in order.
    async fn judge(&self, pairs: &[(String, String)]) -> Result<Vec<NliJudgement>>;
}

/// The models behind [`Inference`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Models {
    /// Embedder, with its revision; vectors of different names are not comparable.
    pub embedder: String,
    /// Numbers per vector.
    pub dimension: usize,
    /// NLI classifier.
    pub classifier: String,
    /// ISO 639-1 codes that both read; empty when they read any language.
    pub languages: Vec<String>,
}

impl Models {
    /// Whether the models read this language; an unknown language is given the benefit of the doubt.
    pub fn read(&self, language: Option<&str>) -> bool {
        self.languages.is_empty() || language.is_none_or(|code| self.languages.iter().any(|l| l == code))
    }
}

/// A language model, for what rules do less well. It is never asked what supports or refutes a claim.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Provider and model, such as `ollama:llama3.2`.
    fn name(&self) -> &str;
    /// Questions that it answers at once.
    fn concurrency(&self) -> usize;
    /// Asks one question. An answer that is not JSON, or that `accept` has something against, is asked for once more.
    async fn ask(&self, prompt: &Prompt, accept: Accept<'_>) -> Reply;
}

/// Says what is wrong with an answer that is JSON.
pub type Accept<'a> = &'a (dyn Fn(&serde_json::Value) -> Result<(), String> + Send + Sync);

named_enum! {
    /// What a language model is asked for.
    pub enum Purpose {
        /// Checkable statements in a passage.
        ExtractClaims = "extract_claims",
        /// How useful a work is for a question, 0 to 10.
        Relevance = "relevance",
        /// Whether a page cites what it links to as a source.
        Citation = "citation",
    }
}

/// Values by the names that templates know them by.
pub type Values = Vec<(&'static str, String)>;

/// A question to a language model: the values that its template is filled with, and the form of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// Which template.
    pub purpose: Purpose,
    /// Values that are Lyra's own or the user's.
    pub given: Values,
    /// Values that come from pages: data, whatever they say.
    pub untrusted: Values,
    /// JSON schema of the answer; its root is an object.
    pub schema: serde_json::Value,
}

/// What came of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The accepted answer, or why there is none.
    pub answer: Result<serde_json::Value>,
    /// Requests that it took.
    pub calls: u32,
    /// Those of them that gave nothing usable.
    pub failures: u32,
}

/// What asking a language model came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct LlmUse {
    /// Different questions.
    pub questions: u64,
    /// Requests that they took.
    pub calls: u64,
    /// Requests that gave nothing usable.
    pub failures: u64,
    /// Questions without an answer, where rules took over.
    pub fallbacks: u64,
    /// Seconds spent.
    pub seconds: f64,
}

/// A question as it is remembered, so that a step done again takes the same answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// Derived from the task, the purpose and what was asked about.
    pub id: QuestionId,
    /// Task.
    pub task_id: TaskId,
    /// Job that asked.
    pub job_id: JobId,
    /// What for.
    pub purpose: Purpose,
    /// What was asked about: a fragment's id, a work's id, an address.
    pub subject: String,
    /// The model.
    pub model: String,
    /// The accepted answer, or why rules took its place.
    pub outcome: Result<serde_json::Value, String>,
    /// Requests that it took.
    pub calls: u32,
    /// Those of them that gave nothing usable.
    pub failures: u32,
    /// Its part of the time spent on asking.
    pub seconds: f64,
}

/// What kind of source answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceKind {
    /// A local corpus, with its name: documents that whoever runs this chose to have.
    Corpus(String),
    /// An academic API.
    Api,
    /// Something that searches the web and fetches pages, each of which costs from the page budget.
    Web,
}

/// Anything that answers a query with documents: a local corpus, an academic API, a web search.
#[async_trait]
pub trait EvidenceSource: Send + Sync {
    /// `corpus:NAME`, `semantic_scholar`, `openalex`, an engine's name.
    fn name(&self) -> &str;
    /// What kind of source it is.
    fn kind(&self) -> SourceKind {
        if self.scholarly().is_some() { SourceKind::Api } else { SourceKind::Web }
    }
    /// At most `limit` hits, best first. A source that fetches pages fetches no more than that.
    async fn search(&self, query: &str, language: Option<&str>, limit: usize) -> Result<Vec<Hit>>;
    /// What went wrong in the last search although it answered: an engine that wanted a person, a page that could not
    /// be read.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
    /// What of the last search waits for a person; the rest of the answer was given.
    fn waiting(&self) -> Vec<Waiting> {
        Vec::new()
    }
    /// Searches again what waited ([`Waiting::part`]), now that a person has been there. Answers like a search.
    async fn resume(
        &self,
        part: &str,
        _query: &str,
        _language: Option<&str>,
        _limit: usize,
    ) -> Result<Vec<Hit>> {
        let why = format!("nothing of it waits for a person, and so not `{part}`");
        Err(PortError::Refused { what: self.name().to_owned(), why })
    }
    /// The page behind a hit of the last search, when the source fetched and read it.
    fn page(&self, _url: &str) -> Option<SourcePage> {
        None
    }
    /// What it knows of works beyond search, when it is an academic API.
    fn scholarly(&self) -> Option<&dyn ScholarlySource> {
        None
    }
}

/// An academic API: it knows works by their identifiers, and who cites whom.
#[async_trait]
pub trait ScholarlySource: Send + Sync {
    /// Whether it says of works that they were retracted.
    fn knows_retractions(&self) -> bool {
        false
    }
    /// The works with these identifiers, in any order; unknown ones are left out.
    async fn lookup(&self, ids: &[Identifier]) -> Result<Vec<Hit>>;
    /// At most `limit` works that this one cites.
    async fn references(&self, work: &Work, limit: usize) -> Result<Vec<Hit>>;
    /// At most `limit` works that cite this one, the most cited or newest first as the API prefers.
    async fn citations(&self, work: &Work, limit: usize) -> Result<Vec<Hit>>;
}

/// One document that a source found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Place in the source's list, from 1.
    pub rank: usize,
    /// The source's own score.
    pub score: f64,
    /// Metadata.
    pub work: Work,
    /// Address, or `corpus:NAME/DOC_ID`.
    pub url: String,
    /// Identifier in the corpus.
    pub doc_id: Option<String>,
    /// ISO 639-1 code of the text.
    pub language: Option<String>,
    /// Abstract or full text; without it the page has to be fetched.
    pub text: Option<String>,
    /// Vector of `lyra_text::passage(title, text)` with the model that made it, when the source keeps one.
    pub embedding: Option<(String, Vec<f32>)>,
}

/// Part of a search that waits for a person: a page that wants a puzzle solved, consent, a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Which part, in the source's words; [`EvidenceSource::resume`] takes it.
    pub part: String,
    /// Where a person has to go.
    pub url: String,
    /// The domain whose cookies will count: registrable, or the host where there is none.
    pub domain: String,
    /// `captcha`, `turnstile`, `cloudflare`, `consent`, `login`.
    pub auth_type: String,
    /// How much hangs on it.
    pub priority: Priority,
}

/// A page that was fetched and read.
#[derive(Debug, Clone, PartialEq)]
pub struct SourcePage {
    /// Registrable domain.
    pub domain: String,
    /// Category of the domain.
    pub domain_category: String,
    /// How it was had.
    pub method: FetchMethod,
    /// What answered.
    pub answer: Answered,
    /// Title, when it has a harmless one.
    pub title: String,
    /// ISO 639-1 code of its text.
    pub language: Option<String>,
    /// Its text in pieces; ids and page are set when it is registered.
    pub fragments: Vec<Fragment>,
    /// Links in its body text, those to other sites first.
    pub links: Vec<PageLink>,
    /// Pieces that address the AI that reads them.
    pub quarantined: Vec<Quarantined>,
    /// A rule of high severity that the page breaks, in its text or where readers do not see it.
    pub hostile: Option<String>,
}

/// What answered when a page was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// Address after redirects.
    pub final_url: String,
    /// Status code.
    pub http_status: u16,
    /// SHA-256 of its bytes, in hexadecimal.
    pub content_hash: String,
}

/// A link in the body text of a page. Its words are untrusted data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLink {
    /// Where it leads, canonical.
    pub url: String,
    /// Its words.
    pub text: String,
    /// The sentence, or the item of a list, that it stands in.
    pub context: String,
}

/// A page that another page cites, known by its address and fetched by nobody yet.
#[derive(Debug, Clone, PartialEq)]
pub struct CitedPage {
    /// The page.
    pub page: Page,
    /// The work that its address names.
    pub work: Option<Work>,
}

/// A page to register for a task, with the fragments cut from it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPage {
    /// The page.
    pub page: Page,
    /// The work it holds.
    pub work: Option<Work>,
    /// Its fragments.
    pub fragments: Vec<Fragment>,
    /// Passages of it that nobody is shown.
    pub quarantined: Vec<Quarantined>,
    /// What answered, for a page that was fetched.
    pub answer: Option<Answered>,
    /// The rule for which its domain is to be blocked.
    pub blocks_domain: Option<String>,
    /// Why the task has it.
    pub reason: TaskPageReason,
    /// Sources that named it, each with its rank there.
    pub found_by: Vec<(String, usize)>,
    /// The page whose citations led to it.
    pub via: Option<PageId>,
}

/// A fragment of the task, with what the steps need to know of its page.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskFragment {
    /// The fragment.
    pub fragment: Fragment,
    /// Title of its page.
    pub title: String,
    /// ISO 639-1 code of its page.
    pub language: Option<String>,
    /// Domain of its page, `corpus:NAME` for a local corpus.
    pub domain: String,
    /// Address of its page after redirects.
    pub url: String,
    /// Category of its page's domain.
    pub domain_category: String,
    /// What makes two pages the same source: the work's id, else the domain, else the page's id.
    pub source_key: String,
}

/// How a fragment ranked for a query.
#[derive(Debug, Clone, PartialEq)]
pub struct FragmentRank {
    /// Which.
    pub fragment: FragmentId,
    /// BM25 over the candidates.
    pub bm25: f64,
    /// Cosine with the query, when the model reads the language.
    pub cosine: Option<f64>,
    /// Mixed score in [0, 1].
    pub score: f64,
    /// Above the cut-off.
    pub relevant: bool,
}

/// What a vector stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EmbeddingTarget {
    /// A fragment with its title.
    Fragment(FragmentId),
    /// A claim.
    Claim(ClaimId),
}

/// The evidence store. Every write is one transaction and idempotent: writing the same thing again changes nothing.
#[async_trait]
pub trait EvidenceStore: Send + Sync {
    /// A task by id.
    async fn task(&self, task: &TaskId) -> Result<Task>;
    /// A query by id.
    async fn query(&self, query: &QueryId) -> Result<Query>;
    /// A claim by id.
    async fn claim(&self, claim: &ClaimId) -> Result<Claim>;
    /// Adopted claims of a task, in the order they were stored.
    async fn task_claims(&self, task: &TaskId) -> Result<Vec<Claim>>;
    /// Fragments of the task's pages, in a stable order, without those in quarantine.
    async fn task_fragments(&self, task: &TaskId) -> Result<Vec<TaskFragment>>;
    /// Page ids of the task.
    async fn task_pages(&self, task: &TaskId) -> Result<HashSet<PageId>>;
    /// Registers works, pages, fragments, quarantined passages, blocked domains, and their place in the task and in the
    /// query's results. A known page keeps what it has and only gains what is new. Answers with the ids that the pages
    /// have, which for a page known by another id is that one, and `None` for a page beyond the task's page budget.
    async fn register_pages(
        &self,
        query: &Query,
        pages: &[NewPage],
        cause: &JobId,
    ) -> Result<Vec<Option<PageId>>>;
    /// Replaces the query's ranking.
    async fn record_ranking(&self, query: &QueryId, ranks: &[FragmentRank]) -> Result<()>;
    /// The task's queries that have a ranking, in the order they were queued, each with its ranking, best first.
    async fn rankings(&self, task: &TaskId) -> Result<Vec<(Query, Vec<FragmentRank>)>>;
    /// Writes the query's status, counts and source errors.
    async fn update_query(&self, query: &Query) -> Result<()>;
    /// Stored vectors of these targets made by this model; absent ones are left out.
    async fn embeddings(
        &self,
        model: &str,
        targets: &[EmbeddingTarget],
    ) -> Result<HashMap<EmbeddingTarget, Vec<f32>>>;
    /// Stores vectors.
    async fn put_embeddings(&self, model: &str, vectors: &[(EmbeddingTarget, Vec<f32>)]) -> Result<()>;
    /// Stores claims, each with its origin edge when it has a source fragment.
    async fn add_claims(&self, claims: &[Claim], cause: &JobId) -> Result<()>;
    /// Verifies the task's claims from their evidence, and settles what the claims found on a domain say of it.
    async fn verify_claims(&self, task: &TaskId, cause: &JobId) -> Result<()>;
    /// Fragments that the claim has already been judged against.
    async fn judged(&self, claim: &ClaimId) -> Result<HashSet<FragmentId>>;
    /// Stores edges; a pair judged before keeps its first judgement.
    async fn add_edges(&self, task: &TaskId, edges: &[Edge], cause: &JobId) -> Result<()>;
    /// Puts what waits for a person into the auth queue, each with a job that waits too. What waits already is left
    /// alone. Answers how many are new.
    async fn await_person(
        &self,
        query: &Query,
        source: &str,
        waiting: &[Waiting],
        cause: &JobId,
    ) -> Result<usize>;
    /// Registers pages that others cite, without making them pages of the task: nothing was read of them. Answers with
    /// the ids that the pages have.
    async fn register_cited(&self, pages: &[CitedPage], cause: &JobId) -> Result<Vec<PageId>>;
    /// What a language model was asked under these ids; questions never asked are left out.
    async fn asked(&self, ids: &[QuestionId]) -> Result<HashMap<QuestionId, Asked>>;
    /// Remembers a question. An answer stays as it is; a question without one takes the new outcome, and its counts add up.
    async fn record_asked(&self, asked: &Asked) -> Result<()>;
    /// Seconds that the task has spent on questions for each purpose.
    async fn seconds_asked(&self, task: &TaskId) -> Result<HashMap<Purpose, f64>>;
    /// Notes a fact about the task that its reader should see (a source that failed, a language that no model reads).
    /// The same text is kept once.
    async fn add_warning(&self, task: &TaskId, warning: &str) -> Result<()>;
}

/// The job queue. A job is leased to one worker; a lease that ran out, or whose worker died, is taken again.
#[async_trait]
pub trait JobQueue: Send + Sync {
    /// Takes the next job, of this task only when one is given. A claim given by the user (a query with `claim_id`)
    /// is a search job like any other. A judge job waits until its task has no other job
    /// queued or running. Marks the task started.
    async fn lease(&self, task: Option<&TaskId>, lease: Duration) -> Result<Option<Job>>;
    /// Extends a lease. `false` when the job is no longer this worker's: it was cancelled or taken.
    async fn renew(&self, job: &JobId, lease: Duration) -> Result<bool>;
    /// Marks a job done and queues what follows, in one transaction. A judge job is queued once per task however
    /// often it is asked for. A task without jobs left becomes completed.
    async fn complete(&self, job: &Job, output: serde_json::Value, then: &[JobKind]) -> Result<()>;
    /// Gives a job back after a failure: queued again after `retry_after`, or failed for good when it is `None`.
    /// A pause of zero hands the job back as it was, without counting the attempt.
    /// A task whose last job fails keeps what it has and becomes completed with a warning, or failed when every
    /// job failed.
    async fn fail(&self, job: &Job, error: &str, retry_after: Option<Duration>) -> Result<()>;
    /// Seconds of work that the task's jobs have used.
    async fn seconds_used(&self, task: &TaskId) -> Result<f64>;
}

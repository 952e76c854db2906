//! The evidence store and the job queue, with what is written and read.

use super::{Answered, Asked, Purpose, Quarantined, Waiting};
use crate::Result;
use crate::trace::Cause;
use async_trait::async_trait;
use lyra_domain::{
    Claim, ClaimId, Edge, Fragment, FragmentId, Job, JobId, JobKind, NotJudged, Page, PageId, Query, QueryId,
    QuestionId, Task, TaskId, TaskPageReason, Work,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// A page that another page cites, known by its address and not fetched yet.
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
    /// Passages of it that are never shown.
    pub quarantined: Vec<Quarantined>,
    /// What answered, for a page that was fetched.
    pub answer: Option<Answered>,
    /// The rule that blocks its domain.
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
    /// What each lane adds to the score, as shares that sum to 1: `text` (BM25), `meaning` (cosine) and, when lanes are fused,
    /// every source that found the page. Empty where nothing adds to it.
    pub contributions: BTreeMap<String, f64>,
}

/// What a vector stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EmbeddingTarget {
    /// A fragment with its title.
    Fragment(FragmentId),
    /// A claim.
    Claim(ClaimId),
}

/// The task of a job, and what its reader should know.
#[async_trait]
pub trait TaskStore: Send + Sync {
    /// A task by id.
    async fn task(&self, task: &TaskId) -> Result<Task>;
    /// Page ids of the task.
    async fn task_pages(&self, task: &TaskId) -> Result<HashSet<PageId>>;
    /// Fragments of the task's pages, in a stable order, without those in quarantine.
    async fn task_fragments(&self, task: &TaskId) -> Result<Vec<TaskFragment>>;
    /// Notes a fact about the task that its reader should see (a source that failed, a language that no model reads).
    /// The same text is kept once.
    async fn add_warning(&self, task: &TaskId, warning: &str) -> Result<()>;
}

/// Searches: what they found, how it ranks, and what they say of themselves.
#[async_trait]
pub trait SearchStore: Send + Sync {
    /// A query by id.
    async fn query(&self, query: &QueryId) -> Result<Query>;
    /// Writes the query's status, counts and source errors.
    async fn update_query(&self, query: &Query) -> Result<()>;
    /// Registers works, pages, fragments, quarantined passages, blocked domains, and their place in the task and in the
    /// query's results. A known page keeps what it has and only gains what is new. Answers with the ids that the pages
    /// have, which for a page known by another id is that one, and `None` for a page beyond the task's page budget.
    async fn register_pages(
        &self,
        query: &Query,
        pages: &[NewPage],
        cause: &JobId,
    ) -> Result<Vec<Option<PageId>>>;
    /// Registers pages that others cite, without making them pages of the task: they are not read. Returns the ids of
    /// the pages.
    async fn register_cited(&self, pages: &[CitedPage], cause: &JobId) -> Result<Vec<PageId>>;
    /// Which sources found pages for the query, and at which rank of their list.
    async fn load_finders(&self, query: &QueryId) -> Result<Vec<(PageId, String, usize)>>;
    /// Replaces the query's ranking.
    async fn record_ranking(&self, query: &QueryId, ranks: &[FragmentRank]) -> Result<()>;
    /// The task's queries that have a ranking, in the order they were queued, each with its ranking, best first.
    async fn rankings(&self, task: &TaskId) -> Result<Vec<(Query, Vec<FragmentRank>)>>;
}

/// Claims, and what was judged about them.
#[async_trait]
pub trait ClaimStore: Send + Sync {
    /// A claim by id.
    async fn claim(&self, claim: &ClaimId) -> Result<Claim>;
    /// Adopted claims of a task, in the order they were stored.
    async fn task_claims(&self, task: &TaskId) -> Result<Vec<Claim>>;
    /// Stores claims, each with its origin edge when it has a source fragment.
    async fn add_claims(&self, claims: &[Claim], cause: &JobId) -> Result<()>;
    /// Verifies the task's claims from their evidence, and settles what the claims found on a domain say of it.
    async fn verify_claims(&self, task: &TaskId, cause: &JobId) -> Result<()>;
    /// Fragments that the claim has already been judged against.
    async fn load_judged_fragments(&self, claim: &ClaimId) -> Result<HashSet<FragmentId>>;
    /// Stores edges; a pair judged before keeps its first judgment.
    async fn add_edges(&self, task: &TaskId, edges: &[Edge], cause: &JobId) -> Result<()>;
    /// Notes candidates that were not judged against the claim, each with the reason. A pair that is judged, before or
    /// afterwards, is not among them.
    async fn add_not_judged(
        &self,
        claim: &ClaimId,
        passages: &[(FragmentId, NotJudged)],
        cause: &JobId,
    ) -> Result<()>;
}

/// Embeddings of fragments and claims.
#[async_trait]
pub trait VectorStore: Send + Sync {
    /// Stored vectors of these targets made by this model; absent ones are left out.
    async fn embeddings(
        &self,
        model: &str,
        targets: &[EmbeddingTarget],
    ) -> Result<HashMap<EmbeddingTarget, Vec<f32>>>;
    /// Stores vectors.
    async fn put_embeddings(&self, model: &str, vectors: &[(EmbeddingTarget, Vec<f32>)]) -> Result<()>;
}

/// What a language model was asked, so that a step done again takes the same answers.
#[async_trait]
pub trait QuestionLog: Send + Sync {
    /// What a language model was asked under these ids; questions never asked are left out.
    async fn load_asked(&self, ids: &[QuestionId]) -> Result<HashMap<QuestionId, Asked>>;
    /// Remembers a question. An answer stays as it is; a question without one takes the new outcome, and its counts add up.
    async fn record_asked(&self, asked: &Asked) -> Result<()>;
    /// Seconds that the task has spent on questions for each purpose.
    async fn seconds_asked(&self, task: &TaskId) -> Result<HashMap<Purpose, f64>>;
}

/// What requires a person.
#[async_trait]
pub trait AuthQueue: Send + Sync {
    /// Adds the parts that require a person to the auth queue, each with a job that waits for it. Skips those already
    /// queued. Returns how many are new.
    async fn await_person(
        &self,
        query: &Query,
        source: &str,
        waiting: &[Waiting],
        cause: &JobId,
    ) -> Result<usize>;
}

/// Everything that jobs keep, for a context that hands it to every step. Every write is one transaction and idempotent:
/// writing the same thing again changes nothing.
pub trait EvidenceStore:
    TaskStore + SearchStore + ClaimStore + VectorStore + QuestionLog + AuthQueue
{
}

impl<T: TaskStore + SearchStore + ClaimStore + VectorStore + QuestionLog + AuthQueue> EvidenceStore for T {}

/// The job queue. A job is leased to one worker; a lease that ran out, or whose worker died, is taken again.
#[async_trait]
pub trait JobQueue: Send + Sync {
    /// Takes the next job, of this task only when one is given. A claim given by the user (a query with `claim_id`)
    /// is a search job like any other. A judge job waits until its task has no other job
    /// queued or running. Marks the task started.
    async fn lease(&self, task: Option<&TaskId>, lease: Duration) -> Result<Option<Job>>;
    /// The store for the steps of this job. Its writes fail with `Cancelled` as soon as the job was stopped or is leased
    /// to another worker, however late this worker notices.
    fn on_behalf_of(&self, job: &Job) -> Arc<dyn EvidenceStore>;
    /// Extends a lease. `false` when the job is no longer this worker's: it was cancelled or taken.
    async fn renew(&self, job: &Job, lease: Duration) -> Result<bool>;
    /// Marks a job done and queues what follows, in one transaction. A judge job is queued once per task however
    /// often it is asked for. A task without jobs left becomes completed.
    async fn complete(&self, job: &Job, output: serde_json::Value, then: &[JobKind]) -> Result<()>;
    /// Gives a job back after a failure: queued again after `retry_after`, or failed for good when it is `None`.
    /// A pause of zero hands the job back as it was, without counting the attempt.
    /// A task whose last job fails keeps what it has and becomes completed with a warning, or failed when every
    /// job failed.
    async fn fail(&self, job: &Job, error: &str, retry_after: Option<Duration>) -> Result<()>;
    /// The request that a job goes back to, through the jobs that caused it. `None` when unknown.
    async fn cause(&self, job: &JobId) -> Result<Option<Cause>>;
    /// Seconds of work that the task's jobs have used.
    async fn seconds_used(&self, task: &TaskId) -> Result<f64>;
}

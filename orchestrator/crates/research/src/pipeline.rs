//! The pipeline: its ports, its settings, and which step a job runs.

pub use crate::ports::{Progress, Step};

use crate::ports::{ContentRules, Event, Events, EvidenceSource, EvidenceStore, Inference, PageFetcher};
use crate::{Llm, ResearchConfig, Result, SearchConfig, judge, resume, search};
use lyra_domain::{Job, JobKind, TaskConfig, TaskId};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Everything a job needs. Cheap to clone.
#[derive(Clone)]
pub struct Pipeline {
    /// Where everything is kept.
    pub store: Arc<dyn EvidenceStore>,
    /// The models.
    pub inference: Arc<dyn Inference>,
    /// A language model, when one is configured; rules do without.
    pub llm: Option<Llm>,
    /// Which sources a task searches; resolved again for every query, so that newly imported corpora are included.
    pub sources: SourcesOf,
    /// What may be used of what sources say.
    pub rules: Arc<dyn ContentRules>,
    /// Fetches the pages of works without abstract.
    pub pages: Arc<dyn PageFetcher>,
    /// Settings.
    pub config: ResearchConfig,
    /// How a search goes on from what it found.
    pub search: SearchConfig,
    /// Where steps of tasks are published.
    pub events: Events,
}

impl Pipeline {
    /// Runs one job to its end and says what follows.
    ///
    /// # Errors
    /// What a port answered; everything committed until then stays, and the same job can run again.
    pub async fn run(&self, job: &Job, used_seconds: f64, cancel: &CancellationToken) -> Result<Outcome> {
        match &job.kind {
            JobKind::Search { query_id } => search::run(self, job, query_id, used_seconds, cancel).await,
            JobKind::Resume { query_id, source, part } => {
                resume::run(self, job, query_id, (source, part), used_seconds, cancel).await
            }
            JobKind::Judge => judge::run(self, job, cancel).await,
        }
    }

    pub(crate) fn report(&self, task: &TaskId, step: Step) {
        self.events.publish(&Event::Stepped(Progress { task: task.clone(), step }));
    }
}

/// The sources of a task with this configuration.
pub type SourcesOf = Arc<dyn Fn(&TaskConfig) -> Vec<Arc<dyn EvidenceSource>> + Send + Sync>;

/// What a finished job leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Facts for the job's record.
    pub output: serde_json::Value,
    /// Jobs to queue.
    pub then: Vec<JobKind>,
}

//! The pipeline: its ports, its settings, and which step a job runs.

use crate::ports::{ContentRules, EvidenceSource, EvidenceStore, Inference, PageFetcher};
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
    /// Who wants to know how it goes.
    pub progress: ProgressSink,
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
        (self.progress.0)(Progress { task: task.clone(), step });
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

/// Takes progress as it happens; must not block.
#[derive(Clone)]
pub struct ProgressSink(pub Arc<dyn Fn(Progress) + Send + Sync>);

impl Default for ProgressSink {
    fn default() -> Self {
        Self(Arc::new(|_| {}))
    }
}

/// One step of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Task.
    pub task: TaskId,
    /// What happened.
    pub step: Step,
}

/// What a job has just done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Every source has answered or failed.
    Collected {
        /// The query.
        query: String,
        /// Hits over all sources.
        hits: usize,
    },
    /// Pages of works without abstract are fetched.
    Fetched {
        /// Pages read.
        read: usize,
        /// Works tried.
        of: usize,
    },
    /// Fragments are ranked.
    Ranked {
        /// Fragments above the cut-off.
        relevant: usize,
    },
    /// Citations of the best works are followed.
    Expanded {
        /// Works found through citations.
        found: usize,
        /// Those that became pages.
        chosen: usize,
    },
    /// Claims are extracted.
    Extracted {
        /// Claims of the task.
        claims: usize,
    },
    /// One claim is judged.
    Judged {
        /// Claims judged so far.
        done: usize,
        /// Claims to judge.
        of: usize,
    },
}

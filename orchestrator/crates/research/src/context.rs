//! What every step has at hand: ports, settings, and where progress is reported. It knows no step.

use crate::ports::{ContentRules, EvidenceSource, EvidenceStore, Inference, LanguageModel, PageFetcher};
use crate::{ResearchConfig, SearchConfig};
use lyra_domain::{TaskConfig, TaskId};
use std::sync::Arc;

/// Everything a job needs. Cheap to clone.
#[derive(Clone)]
pub struct Context {
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

impl Context {
    pub(crate) fn report(&self, task: &TaskId, step: Step) {
        (self.progress.0)(Progress { task: task.clone(), step });
    }
}

/// A language model as tasks may use it.
#[derive(Clone)]
pub struct Llm {
    /// Who is asked.
    pub model: Arc<dyn LanguageModel>,
    /// Largest share of a task's seconds that asking may take, in [0, 1].
    pub time_share: f64,
    /// Whether a text is meant for the AI that reads it; such a text is never sent.
    pub is_hostile: Arc<dyn Fn(&str) -> bool + Send + Sync>,
}

/// The sources of a task with this configuration.
pub type SourcesOf = Arc<dyn Fn(&TaskConfig) -> Vec<Arc<dyn EvidenceSource>> + Send + Sync>;

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

//! What every step has at hand: ports, settings, and where progress is reported. It knows no step.

pub use crate::ports::{Progress, Step};

use crate::ports::{
    ContentRules, Event, Events, EvidenceSource, EvidenceStore, Inference, LanguageModel, PageFetcher,
};
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
    /// Where steps of tasks are published.
    pub events: Events,
}

impl Context {
    pub(crate) fn report(&self, task: &TaskId, step: Step) {
        self.events.publish(&Event::Stepped(Progress { task: task.clone(), step }));
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

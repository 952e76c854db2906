//! What the pipeline needs from the outside. `store`, `corpus`, `sources`, `llm` and `ml-client` implement these.

mod models;
mod observer;
mod sources;
mod store;

pub use models::{
    Accept, Asked, Inference, JudgeKind, LanguageModel, LlmUse, Models, Prompt, Purpose, Reply, TextRole,
    Values, Verified, Verify,
};
pub use observer::{CacheLookup, JobEnd, Observed, Observer, RequestEnd};
pub use sources::{
    Answer, Answered, ContentRules, CorpusDocument, Danger, DomainStore, EvidenceSource, Hit, PageFetcher,
    PageLink, Quarantined, RateState, RateStore, ScholarlySource, SessionStore, SourceKind, SourcePage,
    Waiting,
};
pub use store::{CitedPage, EmbeddingTarget, EvidenceStore, FragmentRank, JobQueue, NewPage, TaskFragment};

/// The clock.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> jiff::Timestamp;
}

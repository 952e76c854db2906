//! What the pipeline needs from the outside. `store`, `corpus`, `sources`, `llm` and `ml-client` implement these.

mod events;
mod models;
mod sources;
mod store;

pub use events::{CacheLookup, Event, Events, JobEnd, Progress, RequestEnd, Step, Subscriber};
pub use models::{
    Accept, Asked, Inference, JudgeKind, LanguageModel, LlmUse, Models, Prompt, Purpose, Reply, TextRole,
    Values, Verified, Verify,
};
pub use sources::{
    Answer, Answered, ContentRules, CorpusDocument, CorpusPassage, Danger, DomainStore, EvidenceSource, Hit,
    PageFetcher, PageLink, Quarantined, RateState, RateStore, ScholarlySource, SessionStore, SourceKind,
    SourcePage, Waiting,
};
pub use store::{
    AuthQueue, CitedPage, ClaimStore, EmbeddingTarget, EvidenceStore, FragmentRank, JobQueue, NewPage,
    QuestionLog, SearchStore, TaskFragment, TaskStore, VectorStore,
};

/// The clock.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> jiff::Timestamp;
}

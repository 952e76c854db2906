//! The models: embeddings and NLI of the ml-server, and the optional language model.

use crate::{PortError, Result};
use async_trait::async_trait;
use lyra_domain::{JobId, NliJudgement, QuestionId, TaskId, named_enum};
use serde::{Deserialize, Serialize};

/// The ml-server.
#[async_trait]
pub trait Inference: Send + Sync {
    /// Which models answer.
    async fn models(&self) -> Result<Models>;
    /// One L2-normalised vector per text, in order, of `Models::dimension` numbers. `role` chooses the prompt that the
    /// embedder was trained with.
    async fn embed(&self, role: TextRole, texts: &[String]) -> Result<Vec<Vec<f32>>>;
    /// One judgment per (premise, hypothesis), in order; `None` for a pair longer than the model reads. Never cuts.
    async fn judge(&self, pairs: &[(String, String)]) -> Result<Vec<Option<NliJudgement>>>;
    /// One verdict per item, in order, from a verifier ([`Models::judge`]). A passage longer than the model reads is read
    /// up to the last sentence that fits, which [`Verified::rationale`] tells by its length.
    async fn verify(&self, _items: &[Verify]) -> Result<Vec<Verified>> {
        let why = "it hosts no verifier; start it with --verify-model".to_owned();
        Err(PortError::Refused { what: "ml-server".to_owned(), why })
    }
    /// [`Inference::verify`] for any number of items, in requests between which others have their turn.
    async fn verify_all(&self, items: &[Verify]) -> Result<Vec<Verified>> {
        let mut verified = Vec::with_capacity(items.len());
        for batch in items.chunks(VERIFIED_AT_ONCE) {
            verified.extend(self.verify(batch).await?);
        }
        Ok(verified)
    }
}

/// Items of one request to a verifier.
const VERIFIED_AT_ONCE: usize = 16;

/// What a text is in a search. Many embedders are trained with a prompt before each, such as `query: ` and `passage: `.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRole {
    /// What is looked for: questions, queries and claims, which are compared with each other too.
    Query,
    /// Where it is looked for: passages and documents.
    Passage,
}

/// A claim and a passage for a verifier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verify {
    /// The claim.
    pub claim: String,
    /// Title of the work.
    pub title: Option<String>,
    /// Sentences of the passage, in order.
    pub sentences: Vec<String>,
}

impl Verify {
    /// A claim and sentences of a work, whose title may be empty.
    pub fn new(claim: &str, title: &str, sentences: impl IntoIterator<Item = String>) -> Self {
        Self {
            claim: claim.to_owned(),
            title: (!title.is_empty()).then(|| title.to_owned()),
            sentences: sentences.into_iter().collect(),
        }
    }
}

/// What a verifier says.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    /// Relation and scores.
    pub judgement: NliJudgement,
    /// Per sentence that was read, the probability that it is part of what decides, in 0..=1.
    pub rationale: Vec<f64>,
}

/// How the hosted classifier is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgeKind {
    /// It reads a claim with a whole passage and scores every sentence.
    Verifier,
    /// It reads one premise of a few sentences with a hypothesis; windows have to be chosen.
    Pairs,
}

/// The models behind [`Inference`].
#[derive(Debug, Clone, PartialEq)]
pub struct Models {
    /// Embedder, with its revision; vectors of different names are not comparable.
    pub embedder: String,
    /// Numbers per vector.
    pub dimension: usize,
    /// NLI classifier.
    pub classifier: String,
    /// ISO 639-1 codes that both read; empty when they read any language.
    pub languages: Vec<String>,
    /// How the classifier is asked.
    pub judge: JudgeKind,
    /// Whether it is known what the embedder wants before queries and passages, if anything; a model that wants a prompt and is
    /// given none finds less.
    pub prompts_known: bool,
    /// Least probability of a side that the model's makers fitted for taking it, in 0..=1, where they state one.
    pub threshold: Option<f64>,
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
    /// The accepted answer, or the reason why it was not accepted.
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

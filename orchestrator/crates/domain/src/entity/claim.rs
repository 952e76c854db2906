//! A claim: one checkable statement of a task.

use crate::{ClaimId, FragmentId, Probability, TaskId, named_enum};
use serde::{Deserialize, Serialize};

/// `claim_type` of the claim behind a task's question.
const QUESTION: &str = "question";

/// One checkable statement of a task, found in a fragment or given by the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Derived from the task and the text.
    pub id: ClaimId,
    /// Task it belongs to.
    pub task_id: TaskId,
    /// The statement, at most 300 characters when extracted.
    pub claim_text: String,
    /// Its origin: `extracted`, `user`, or `question` for the claim behind the task's question.
    pub claim_type: String,
    /// ISO 639-1 code, when known.
    pub language: Option<String>,
    /// The fragment it was found in; `None` for a claim given by the user or derived from the question.
    pub source_fragment_id: Option<FragmentId>,
    /// How it was extracted; `None` for a claim given by the user or derived from the question. Never evidence.
    pub extraction: Option<Extraction>,
    /// Whether a person has rejected it.
    pub adoption_status: AdoptionStatus,
    /// Its status by the sources of its evidence.
    pub verification_status: VerificationStatus,
}

impl Claim {
    /// A claim with its derived id, adopted and pending.
    pub fn new(task_id: &TaskId, text: &str, source: Option<FragmentId>, language: Option<String>) -> Self {
        Self {
            id: ClaimId::derive(&[task_id.as_str(), text]),
            task_id: task_id.clone(),
            claim_text: text.to_owned(),
            claim_type: if source.is_some() { "extracted" } else { "user" }.to_owned(),
            language,
            source_fragment_id: source,
            extraction: None,
            adoption_status: AdoptionStatus::Adopted,
            verification_status: VerificationStatus::Pending,
        }
    }

    /// The claim behind a task's question.
    pub fn of_question(task_id: &TaskId, text: &str, language: Option<String>) -> Self {
        Self { claim_type: QUESTION.to_owned(), ..Self::new(task_id, text, None, language) }
    }

    /// Whether it is the claim behind the task's question.
    pub fn is_of_question(&self) -> bool {
        self.claim_type == QUESTION
    }
}

/// What the extractor of a claim said about it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    /// Who found the claim in its fragment.
    pub extracted_by: Extractor,
    /// A language model's number for how sure it is that the fragment states the claim, or the rules' check-worthiness.
    /// The two are not comparable.
    pub score: Probability,
}

named_enum! {
    /// Who finds claims in fragments.
    pub enum Extractor {
        /// The configured language model.
        LanguageModel = "language_model",
        /// Rules for sentences.
        Rules = "rules",
    }
}

named_enum! {
    /// Whether a claim counts in its task.
    pub enum AdoptionStatus {
        /// It does (default).
        Adopted = "adopted",
        /// A person took it out.
        NotAdopted = "not_adopted",
    }
}

named_enum! {
    /// A claim's status by the sources of its evidence.
    pub enum VerificationStatus {
        /// Not enough, or conflicting.
        Pending = "pending",
        /// Two independent sources support it and none refutes it.
        Verified = "verified",
        /// Its source is dangerous.
        Rejected = "rejected",
    }
}

//! What happens while a page is open, as the stream of events tells it.

use schemars::JsonSchema;
use serde::Serialize;

/// Something that happened. On the wire, the name of the event says which.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Happened {
    /// A task was created, changed, stopped, or deleted.
    Task(TaskEvent),
    /// A running task made a step.
    Step(StepEvent),
    /// A person changed a claim or one of its judgments.
    Claim(ClaimChanged),
    /// An import made progress or ended.
    Import(ImportEvent),
    /// A worker stopped working on a job.
    Job(JobEvent),
    /// Something changed that no other event tells.
    Stale(Stale),
}

/// A change of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskEvent {
    /// The task.
    pub task_id: String,
    /// What happened to it.
    pub change: TaskChange,
}

/// What happened to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskChange {
    /// It is new.
    Created,
    /// Its state, its searches, or its results changed.
    Changed,
    /// It was stopped.
    Stopped,
    /// It was deleted.
    Deleted,
}

/// A step of a running task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StepEvent {
    /// The task.
    pub task_id: String,
    /// What was done.
    pub step: StepKind,
    /// How many: hits collected, pages fetched, passages ranked, works found, claims extracted or judged.
    pub count: u64,
    /// How many there are to do, for steps that know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// The search, of a step `collected`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}

/// What a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Every source has answered or failed.
    Collected,
    /// Pages of works without an abstract were fetched.
    Fetched,
    /// Passages were ranked.
    Ranked,
    /// Citations of the best works were followed.
    Expanded,
    /// Claims were extracted.
    Extracted,
    /// A claim was judged.
    Judged,
}

/// A change of a claim by a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClaimChanged {
    /// The claim's task.
    pub task_id: String,
    /// The claim.
    pub claim_id: String,
    /// What happened to it.
    pub change: ClaimChangeKind,
    /// The judgment, when one was corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge_id: Option<String>,
}

/// What a person did to a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimChangeKind {
    /// It was taken out of its task.
    Rejected,
    /// It was put back.
    Restored,
    /// The relation of a passage to it was corrected, or the correction was undone.
    EdgeCorrected,
}

/// Progress of an import that this process runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportEvent {
    /// The corpus.
    pub corpus: String,
    /// Where the import stands.
    pub state: ImportState,
    /// Bytes of the files that were read.
    pub bytes_read: u64,
    /// Bytes of the files.
    pub bytes_total: u64,
    /// Documents that were added or replaced so far.
    pub indexed: u64,
    /// Documents that were there already.
    pub unchanged: u64,
    /// Records that were not imported.
    pub rejected: u64,
    /// The first of them with the reason, at most 20, when the import is done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejections: Vec<Rejection>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Where an import stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportState {
    /// It runs.
    Running,
    /// It is done.
    Done,
    /// It failed; documents that were committed before stay.
    Failed,
}

/// A record that was not imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rejection {
    /// The file, without its folder.
    pub file: String,
    /// The line on which the record begins, from 1; 0 for the file as a whole.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// The end of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobEvent {
    /// What it did: `search`, `resume`, or `judge`.
    pub kind: String,
    /// How it ended: `completed`, `failed`, `cancelled`, or `given_back`.
    pub end: String,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
}

/// Something changed, perhaps by another process: what a page shows may be out of date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Stale {}

impl Happened {
    /// The name of the event.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Task(_) => "task",
            Self::Step(_) => "step",
            Self::Claim(_) => "claim",
            Self::Import(_) => "import",
            Self::Job(_) => "job",
            Self::Stale(_) => "stale",
        }
    }

    /// The task that it is about; `None` if it is about none, or perhaps about any.
    pub fn task_id(&self) -> Option<&str> {
        match self {
            Self::Task(event) => Some(&event.task_id),
            Self::Step(event) => Some(&event.task_id),
            Self::Claim(event) => Some(&event.task_id),
            Self::Import(_) | Self::Job(_) | Self::Stale(_) => None,
        }
    }
}

//! What would put a failure right, as a value: each edge puts it into its own words.

use lyra_domain::TaskId;
use serde::{Deserialize, Serialize};

/// What would put a failure right. Names neither commands nor tools: an edge knows its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Remedy {
    /// Advice that reads the same at every edge.
    Advice(String),

    /// Import documents into a corpus.
    ImportCorpus,
    /// Remove a corpus that cannot be used as it is, and import its files again.
    ReimportCorpus {
        /// Its name; `None` when there are several.
        name: Option<String>,
    },
    /// Search by words while a search by meaning is not possible.
    SearchByWords,
    /// Search by words, or say it in a language that the model reads.
    SearchByWordsOrReword,
    /// Re-embed what has vectors of another model.
    RebuildEmbeddings,
    /// Select sources for the task, or by default.
    SelectSources,
    /// Query the configured sources once.
    TestSources,

    /// Look up the views.
    ListViews,
    /// Look up the decisions about domains.
    ListDomainDecisions,
    /// Look up the ids of claims.
    FindClaims,
    /// Look up the pages that require a person.
    ListWaitingPages,
    /// Visit or skip the pages that require a person.
    VisitWaitingPages,
    /// Open the page in a browser on another machine, and hand its cookies over as a file.
    HandOverCookies,
    /// Activate a version of a calibration that is not an earlier one.
    ActivateCalibration,

    /// Stop a task at once.
    StopTask {
        /// The task.
        task: TaskId,
    },
    /// Find out why jobs of a task failed.
    InspectTasks,
    /// Start a process that works, or let one command work.
    StartWorkers,

    /// Give a run that a search, a blend or a mutation created.
    GiveRun,
    /// Search a lane, and save its run.
    SaveLanes,
    /// Fuse a lane's run first.
    FuseRun,
    /// Blend runs of lanes; a fused run is mutated instead.
    BlendLanes,
    /// Blend the lanes of a run again, for a run without judgments.
    BlendAgain,
    /// Give documents that the run was shown to have.
    GiveDocumentsOfRun,
    /// Search a lane in the way of its kind.
    SearchLane {
        /// The lane compares meanings; else words.
        semantic: bool,
    },
    /// Search lanes one by one.
    SearchLanesSingly,

    /// Name a backup that Lyra created.
    NameBackup,
    /// Name a new target for a backup, or replace the backup that is there.
    ReplaceBackup,
    /// Restore into another data folder, or replace the data that is there.
    ReplaceData,

    /// Give labeled claims in a layout that measurements read.
    GiveLabeledClaims,
    /// Measure with retrieval on claims that name documents.
    GiveScifactClaims,
}

impl From<String> for Remedy {
    fn from(advice: String) -> Self {
        Self::Advice(advice)
    }
}

impl From<&str> for Remedy {
    fn from(advice: &str) -> Self {
        Self::Advice(advice.to_owned())
    }
}

impl Remedy {
    /// The advice, when it reads the same everywhere.
    pub fn advice(&self) -> Option<&str> {
        match self {
            Self::Advice(advice) => Some(advice),
            _ => None,
        }
    }
}

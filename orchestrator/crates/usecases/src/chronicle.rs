//! The evidence of a task in time.

use super::{App, AppError};
use lyra_domain::{ClaimId, Moment, TaskId};
use lyra_store::{EvidenceYear, RetractedWork};

/// The evidence of a task, or of one of its claims, in time.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskTimeline {
    /// The task.
    pub task: TaskId,
    /// The claim; `None` for all adopted ones.
    pub claim: Option<ClaimId>,
    /// Works by year of publication and side, those of unknown year last.
    pub years: Vec<EvidenceYear>,
    /// Retracted works among them, by title.
    pub retracted: Vec<RetractedWork>,
    /// How the confidence of the claim moved; empty without a claim.
    pub moments: Vec<Moment>,
}

impl App {
    /// The evidence of a task in time: all of it, or about one claim.
    ///
    /// # Errors
    /// No such task, or no such claim in it.
    pub async fn task_timeline(
        &self,
        task: &TaskId,
        claim: Option<&ClaimId>,
    ) -> Result<TaskTimeline, AppError> {
        let store = self.store();
        let years = store.evidence_years(task, claim).await?;
        let retracted = store.retracted_works(task, claim).await?;
        let moments = match claim {
            Some(claim) => store.claim_chronicle(claim).await?.moments(),
            None => Vec::new(),
        };
        Ok(TaskTimeline { task: task.clone(), claim: claim.cloned(), years, retracted, moments })
    }
}

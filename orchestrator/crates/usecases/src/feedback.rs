//! Corrections by people or their agents: domains, claims, edges.

use super::{App, AppError, ErrorCode, Remedy};
use lyra_domain::domains::{DomainPattern, OverrideDecision};
use lyra_domain::{AdoptionStatus, ClaimId, EdgeId, Relation, TaskId};
use lyra_store::{ClaimChange, EdgeCorrection, OverrideRule, RuleChange, StoreError};
use lyra_wire::ClaimChangeKind;

/// Longest reason, in characters.
const MAX_REASON: usize = 1_000;
/// Most claims that are selected at once.
pub const MAX_SELECTED: usize = 200;

impl App {
    /// Blocks (never fetched or used again) or unblocks (used despite other blocks) the domains of a pattern:
    /// `example.com`, or `*.example.com` for everything below it.
    ///
    /// # Errors
    /// A pattern that would hit domains of many owners, an empty or overlong reason.
    pub async fn override_domain(
        &self,
        pattern: &str,
        decision: OverrideDecision,
        reason: &str,
    ) -> Result<RuleChange, AppError> {
        let pattern = owned(pattern)?;
        Ok(self.store().override_domain(&pattern, decision, required(reason)?).await?)
    }

    /// Withdraws the decision about a pattern, so that lists and recorded blocks apply again.
    ///
    /// # Errors
    /// A pattern without a decision, an overlong reason.
    pub async fn clear_override(&self, pattern: &str, reason: Option<&str>) -> Result<RuleChange, AppError> {
        let pattern = owned(pattern)?;
        let change = self.store().clear_override(&pattern, optional(reason)?).await;
        change.map_err(|error| named(error, Remedy::ListDomainDecisions))
    }

    /// The active decisions about domains, the latest last.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn override_rules(&self) -> Result<Vec<OverrideRule>, AppError> {
        Ok(self.store().override_rules().await?)
    }

    /// Takes a claim out of its task; its edges stay.
    ///
    /// # Errors
    /// No such claim, an empty or overlong reason.
    pub async fn reject_claim(&self, claim: &ClaimId, reason: &str) -> Result<ClaimChange, AppError> {
        let change = self.store().reject_claim(claim, required(reason)?).await;
        let change = change.map_err(|error| named(error, Remedy::FindClaims))?;
        self.publish_claim(&change.task, claim, ClaimChangeKind::Rejected, None);
        Ok(change)
    }

    /// Restores a rejected claim.
    ///
    /// # Errors
    /// No such claim, an overlong reason.
    pub async fn restore_claim(
        &self,
        claim: &ClaimId,
        reason: Option<&str>,
    ) -> Result<ClaimChange, AppError> {
        let change = self.store().restore_claim(claim, optional(reason)?).await;
        let change = change.map_err(|error| named(error, Remedy::FindClaims))?;
        self.publish_claim(&change.task, claim, ClaimChangeKind::Restored, None);
        Ok(change)
    }

    /// Takes claims out of their task, all or none of them; their edges stay.
    ///
    /// # Errors
    /// No such task, a claim of another task, no claim or too many, an empty or overlong reason.
    pub async fn reject_claims(
        &self,
        task: &TaskId,
        claims: &[ClaimId],
        reason: &str,
    ) -> Result<Vec<ClaimChange>, AppError> {
        self.adopt_claims(task, claims, AdoptionStatus::NotAdopted, Some(required(reason)?)).await
    }

    /// Restores rejected claims of a task, all or none of them.
    ///
    /// # Errors
    /// No such task, a claim of another task, no claim or too many, an overlong reason.
    pub async fn restore_claims(
        &self,
        task: &TaskId,
        claims: &[ClaimId],
        reason: Option<&str>,
    ) -> Result<Vec<ClaimChange>, AppError> {
        self.adopt_claims(task, claims, AdoptionStatus::Adopted, optional(reason)?).await
    }

    async fn adopt_claims(
        &self,
        task: &TaskId,
        claims: &[ClaimId],
        status: AdoptionStatus,
        reason: Option<&str>,
    ) -> Result<Vec<ClaimChange>, AppError> {
        if claims.is_empty() || claims.len() > MAX_SELECTED {
            return Err(AppError::invalid(
                format!("{} claims are given", claims.len()),
                format!("give 1 to {MAX_SELECTED} claims of the task"),
            ));
        }
        let changes = self.store().adopt_claims(task, claims, status, reason).await;
        let changes = changes.map_err(|error| named(error, Remedy::FindClaims))?;
        let kind = match status {
            AdoptionStatus::Adopted => ClaimChangeKind::Restored,
            AdoptionStatus::NotAdopted => ClaimChangeKind::Rejected,
        };
        for change in &changes {
            self.publish_claim(task, &change.claim, kind, None);
        }
        Ok(changes)
    }

    /// Sets the relation between a judged passage and a claim. The judgment counts in full from now on; a confirmed one
    /// is marked as reviewed. Either way a sample is stored.
    ///
    /// # Errors
    /// No such edge, an edge that is not a judgment, an overlong reason.
    pub async fn correct_edge(
        &self,
        edge: &EdgeId,
        relation: Relation,
        reason: Option<&str>,
    ) -> Result<EdgeCorrection, AppError> {
        let correction = self.store().correct_edge(edge, relation, optional(reason)?).await;
        let correction = correction.map_err(|error| named(error, EDGES.into()))?;
        let EdgeCorrection { task, claim, .. } = &correction;
        self.publish_claim(task, claim, ClaimChangeKind::EdgeCorrected, Some(edge));
        Ok(correction)
    }

    /// Takes a person's corrections and reviews of an edge back: the model's own judgment counts again, and the samples of
    /// the edge are deleted.
    ///
    /// # Errors
    /// No such edge, an edge that was never corrected or reviewed, an overlong reason.
    pub async fn undo_correction(
        &self,
        edge: &EdgeId,
        reason: Option<&str>,
    ) -> Result<EdgeCorrection, AppError> {
        let correction = self.store().undo_correction(edge, optional(reason)?).await;
        let correction = correction.map_err(|error| named(error, CORRECTED.into()))?;
        let EdgeCorrection { task, claim, .. } = &correction;
        self.publish_claim(task, claim, ClaimChangeKind::EdgeCorrected, Some(edge));
        Ok(correction)
    }
}

const CORRECTED: &str = "ids of corrected and reviewed judgments are in `SELECT id FROM edges WHERE edge_corrected_at IS NOT NULL`";
const EDGES: &str =
    "ids of judgements are in `SELECT id FROM edges WHERE relation IN ('supports', 'refutes', 'neutral')`";

/// An error, with a remedy that leads to valid values when the caller named an unknown item.
fn named(error: StoreError, remedy: Remedy) -> AppError {
    let error = AppError::from(error);
    let callers = matches!(error.code, ErrorCode::NotFound | ErrorCode::InvalidArgument);
    AppError { remedy: error.remedy.clone().or_else(|| callers.then_some(remedy)), ..error }
}

fn owned(pattern: &str) -> Result<DomainPattern, AppError> {
    DomainPattern::parse(pattern).map_err(|error| {
        AppError::invalid(
            error.to_string(),
            "give one owner's domain: `example.com` is that domain, `*.example.com` is everything below it",
        )
    })
}

fn required(reason: &str) -> Result<&str, AppError> {
    optional(Some(reason))?
        .ok_or_else(|| AppError::invalid("`reason` is empty", "give a reason, for later readers"))
}

fn optional(reason: Option<&str>) -> Result<Option<&str>, AppError> {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    match reason.map(|reason| reason.chars().count()) {
        Some(length) if length > MAX_REASON => Err(AppError::invalid(
            format!("`reason` has {length} characters"),
            format!("use at most {MAX_REASON}"),
        )),
        _ => Ok(reason),
    }
}

//! What a person or their agent corrects: domains, claims, edges.

use super::{App, AppError, ErrorCode};
use lyra_domain::domains::{DomainPattern, OverrideDecision};
use lyra_domain::{ClaimId, EdgeId, Relation};
use lyra_store::{ClaimChange, DomainRule, EdgeCorrection, RuleChange, StoreError};

/// Longest reason, in characters.
const MAX_REASON: usize = 1_000;

impl App {
    /// Blocks (never fetched or used again) or unblocks (used, whatever blocks it otherwise) the domains of a pattern:
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

    /// Withdraws the decision about a pattern, so that lists and recorded blocks count again.
    ///
    /// # Errors
    /// A pattern without a decision, an overlong reason.
    pub async fn clear_override(&self, pattern: &str, reason: Option<&str>) -> Result<RuleChange, AppError> {
        let pattern = owned(pattern)?;
        let change = self.store().clear_override(&pattern, optional(reason)?).await;
        change.map_err(|error| {
            named(error, "`lyra domain list` and get_status.domain_overrides show the patterns")
        })
    }

    /// The decisions about domains in force, the latest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn domain_rules(&self) -> Result<Vec<DomainRule>, AppError> {
        Ok(self.store().domain_rules().await?)
    }

    /// Takes a claim out of its task; its edges stay.
    ///
    /// # Errors
    /// No such claim, an empty or overlong reason.
    pub async fn reject_claim(&self, claim: &ClaimId, reason: &str) -> Result<ClaimChange, AppError> {
        let change = self.store().reject_claim(claim, required(reason)?).await;
        change.map_err(|error| named(error, CLAIMS))
    }

    /// Puts a claim back that was taken out.
    ///
    /// # Errors
    /// No such claim, an overlong reason.
    pub async fn restore_claim(
        &self,
        claim: &ClaimId,
        reason: Option<&str>,
    ) -> Result<ClaimChange, AppError> {
        let change = self.store().restore_claim(claim, optional(reason)?).await;
        change.map_err(|error| named(error, CLAIMS))
    }

    /// Says what a judged passage does to a claim. The judgement counts in full from now on; one that was right is marked as
    /// reviewed. Either way a sample is kept.
    ///
    /// # Errors
    /// No such edge, an edge that is no judgement, an overlong reason.
    pub async fn correct_edge(
        &self,
        edge: &EdgeId,
        relation: Relation,
        reason: Option<&str>,
    ) -> Result<EdgeCorrection, AppError> {
        let correction = self.store().correct_edge(edge, relation, optional(reason)?).await;
        correction.map_err(|error| named(error, EDGES))
    }
}

const CLAIMS: &str =
    "ids of claims are in `SELECT id, claim_text FROM claims`, and vector_search finds them by meaning";
const EDGES: &str =
    "ids of judgements are in `SELECT id FROM edges WHERE relation IN ('supports', 'refutes', 'neutral')`";

/// A failure, with where to find what would be right when the caller named the wrong thing.
fn named(error: StoreError, hint: &str) -> AppError {
    let error = AppError::from(error);
    let callers = matches!(error.code, ErrorCode::NotFound | ErrorCode::InvalidArgument);
    AppError { hint: error.hint.clone().or_else(|| callers.then(|| hint.to_owned())), ..error }
}

fn owned(pattern: &str) -> Result<DomainPattern, AppError> {
    DomainPattern::parse(pattern).map_err(|error| {
        AppError::invalid(
            error.to_string(),
            "name the domain of one owner: `example.com` is that domain, `*.example.com` everything below it",
        )
    })
}

fn required(reason: &str) -> Result<&str, AppError> {
    optional(Some(reason))?
        .ok_or_else(|| AppError::invalid("`reason` is empty", "say why, for those who come after you"))
}

fn optional(reason: Option<&str>) -> Result<Option<&str>, AppError> {
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty());
    match reason.map(|reason| reason.chars().count()) {
        Some(length) if length > MAX_REASON => Err(AppError::invalid(
            format!("`reason` has {length} characters"),
            format!("take at most {MAX_REASON}"),
        )),
        _ => Ok(reason),
    }
}

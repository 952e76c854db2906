//! A claim without some of its passages.

use crate::json::thousandths;
use lyra_domain::ClaimNumbers;
use schemars::JsonSchema;
use serde::Serialize;

/// The numbers of a claim with and without some of its passages. Nothing of it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WhatIf {
    /// Id of the claim.
    pub claim_id: String,
    /// Ids of the judgments that were left out.
    pub left_out: Vec<String>,
    /// The numbers with all passages.
    pub before: Numbers,
    /// The numbers without those passages.
    pub after: Numbers,
}

/// The numbers of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Numbers {
    /// First parameter of the Beta posterior: 1 plus the weight of the support.
    pub alpha: f64,
    /// Second parameter: 1 plus the weight of the refutation.
    pub beta: f64,
    /// Mean of the posterior, 0 to 1; 0.5 without evidence.
    pub confidence: f64,
    /// Standard deviation of the posterior.
    pub uncertainty: f64,
    /// Share of the weaker side, 0 to 0.5.
    pub controversy: f64,
    /// Passages that support the claim.
    pub supporting_count: usize,
    /// Passages that refute it.
    pub refuting_count: usize,
}

impl From<&lyra_domain::WhatIf> for WhatIf {
    fn from(what_if: &lyra_domain::WhatIf) -> Self {
        Self {
            claim_id: what_if.claim.to_string(),
            left_out: what_if.left_out.iter().map(ToString::to_string).collect(),
            before: what_if.before.into(),
            after: what_if.after.into(),
        }
    }
}

impl From<ClaimNumbers> for Numbers {
    fn from(ClaimNumbers { posterior, supporting_count, refuting_count }: ClaimNumbers) -> Self {
        Self {
            alpha: thousandths(posterior.alpha),
            beta: thousandths(posterior.beta),
            confidence: thousandths(posterior.confidence()),
            uncertainty: thousandths(posterior.uncertainty()),
            controversy: thousandths(posterior.controversy()),
            supporting_count,
            refuting_count,
        }
    }
}

//! Numbers that shape the pipeline.

use lyra_domain::ranking::RankingConfig;
use serde::{Deserialize, Serialize};

/// Settings of the pipeline; the defaults are those of the evidence design.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResearchConfig {
    /// Hits asked of every source for one query.
    pub hits_per_source: usize,
    /// Share of BM25 beside the cosine when fragments are ranked, in [0, 1].
    pub bm25_weight: f64,
    /// Fewest fragments that a query keeps as relevant.
    pub min_relevant: usize,
    /// Most fragments that a query keeps as relevant.
    pub max_relevant: usize,
    /// Most claims taken from one fragment.
    pub claims_per_fragment: usize,
    /// Most claims extracted for a task that names no number of its own.
    pub max_claims: usize,
    /// A sentence has to look at least this much like a claim, in [0, 1].
    pub min_check_worthiness: f64,
    /// Claims at least this close (cosine) and of the same polarity are one claim.
    pub duplicate_similarity: f32,
    /// Passages of other pages that an extracted claim is judged against.
    pub candidates_per_claim: usize,
    /// A passage has to be at least this close (cosine) to an extracted claim to be judged.
    pub candidate_similarity: f32,
    /// Best-ranked passages that a claim given by the user is judged against.
    pub candidates_per_user_claim: usize,
    /// Sentence windows of one passage that are shown to the NLI model.
    pub windows_per_passage: usize,
    /// A window has to be at least this close (cosine) to the claim; the closest one is always shown.
    pub window_similarity: f32,
    /// Below this probability a window's answer of support or refutation counts as neutral, in [0, 1].
    pub min_nli_confidence: f64,
}

impl Default for ResearchConfig {
    fn default() -> Self {
        Self {
            hits_per_source: 30,
            bm25_weight: 0.3,
            min_relevant: 8,
            max_relevant: 50,
            claims_per_fragment: 2,
            max_claims: 40,
            min_check_worthiness: 0.5,
            duplicate_similarity: 0.95,
            candidates_per_claim: 8,
            candidate_similarity: 0.5,
            candidates_per_user_claim: 10,
            windows_per_passage: 2,
            window_similarity: 0.6,
            min_nli_confidence: 0.6,
        }
    }
}

impl ResearchConfig {
    /// The part of it that ranks fragments.
    pub(crate) fn ranking(&self) -> RankingConfig {
        RankingConfig {
            bm25_weight: self.bm25_weight,
            min_kept: self.min_relevant,
            max_kept: self.max_relevant,
            ..RankingConfig::default()
        }
    }
}

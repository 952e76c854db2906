//! A relation between two nodes of the evidence graph.

use crate::{ClaimId, EdgeId, FragmentId, PageId, Probability, named_enum};
use serde::{Deserialize, Serialize};

named_enum! {
    /// The relation of an edge.
    pub enum Relation {
        /// The claim was found in this fragment. Never evidence.
        Origin = "origin",
        /// The fragment entails the claim.
        Supports = "supports",
        /// The fragment contradicts the claim.
        Refutes = "refutes",
        /// The fragment does neither.
        Neutral = "neutral",
        /// The page cites the page.
        Cites = "cites",
    }
}

/// Probabilities of the three relations, summing to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NliScores {
    /// Entailment.
    pub supports: f64,
    /// Contradiction.
    pub refutes: f64,
    /// Neither.
    pub neutral: f64,
}

impl NliScores {
    /// The likeliest relation with its probability; a tie goes to the more cautious one.
    pub fn judgement(&self) -> NliJudgement {
        let (relation, confidence) = if self.neutral >= self.supports && self.neutral >= self.refutes {
            (Relation::Neutral, self.neutral)
        } else if self.refutes >= self.supports {
            (Relation::Refutes, self.refutes)
        } else {
            (Relation::Supports, self.supports)
        };
        NliJudgement {
            relation,
            confidence: Probability::clamped(confidence),
            scores: *self,
            calibration: None,
        }
    }
}

/// One answer of the NLI model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NliJudgement {
    /// `supports`, `refutes` or `neutral`.
    pub relation: Relation,
    /// Probability of that relation.
    pub confidence: Probability,
    /// All three.
    pub scores: NliScores,
    /// The calibrated scores; `None` when `scores` are the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<AppliedCalibration>,
}

/// The origin of calibrated scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AppliedCalibration {
    /// Version of the parameters.
    pub version: u32,
    /// The model's output.
    pub raw: NliScores,
}

/// Where a claim and the passage that was judged differ, as rules found it, in words for the reader.
///
/// Lexical facts: they may have vetoed a side, and never created one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Discrepancies {
    /// Terms of the claim that neither the passage nor its title contains.
    #[serde(default)]
    pub missing: Vec<String>,
    /// What both name and state differently: "number: 12 % in the claim, 30 % in the passage".
    #[serde(default)]
    pub differs: Vec<String>,
}

named_enum! {
    /// Why a passage was not judged against a claim for which it was a candidate.
    pub enum NotJudged {
        /// The models do not read the language of the claim or of the passage.
        Language = "language",
        /// The claim is longer than the model reads.
        TooLong = "too_long",
        /// The passage has no text to judge.
        NoText = "no_text",
    }
}

/// A stored relation. Origin and NLI edges run fragment → claim, citations page → page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Edge {
    /// The claim was found in the fragment.
    Origin {
        /// Where.
        fragment: FragmentId,
        /// What.
        claim: ClaimId,
    },
    /// The model judged the fragment against the claim.
    Nli {
        /// Premise's fragment.
        fragment: FragmentId,
        /// Hypothesis.
        claim: ClaimId,
        /// The answer.
        judgement: NliJudgement,
        /// Sentences of the fragment that decided.
        premise: String,
        /// Where claim and passage differ.
        discrepancies: Discrepancies,
        /// Model that judged.
        model: String,
        /// Category of the fragment's domain.
        source_domain_category: String,
        /// Category of the domain the claim came from.
        target_domain_category: Option<String>,
    },
    /// A page cites a page.
    Cites {
        /// Citing page.
        from: PageId,
        /// Cited page.
        to: PageId,
        /// Name of the source that states it, or `extraction`.
        citation_source: String,
        /// Sentence around the citation.
        context: Option<String>,
    },
}

impl Edge {
    /// Identity: (source, target) for NLI relations, so that each pair is judged once; (source, target, relation) for the rest.
    pub fn id(&self) -> EdgeId {
        match self {
            Self::Origin { fragment, claim } => {
                EdgeId::derive(&["origin", fragment.as_str(), claim.as_str()])
            }
            Self::Nli { fragment, claim, .. } => EdgeId::derive(&["nli", fragment.as_str(), claim.as_str()]),
            Self::Cites { from, to, .. } => EdgeId::derive(&["cites", from.as_str(), to.as_str()]),
        }
    }

    /// What it says.
    pub fn relation(&self) -> Relation {
        match self {
            Self::Origin { .. } => Relation::Origin,
            Self::Nli { judgement, .. } => judgement.relation,
            Self::Cites { .. } => Relation::Cites,
        }
    }
}

//! Numbers that shape the pipeline.

use lyra_domain::ranking::RankingConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the pipeline; the evidence design explains the defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ResearchConfig {
    /// Hits requested from every source for one query.
    pub hits_per_source: usize,
    /// How fragments are ranked.
    pub ranking_method: RankingMethod,
    /// Weight of BM25 in the weighted mean that ranks fragments, in [0, 1]; the cosine gets the rest.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub bm25_weight: f64,
    /// Fewest fragments that a query keeps as relevant.
    pub min_relevant: usize,
    /// Most fragments that a query keeps as relevant.
    pub max_relevant: usize,
    /// Most claims taken from one fragment.
    pub claims_per_fragment: usize,
    /// Most claims extracted for a task that sets no number of its own.
    pub max_claims: usize,
    /// Least check-worthiness of a sentence to become a claim, in [0, 1].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_check_worthiness: f64,
    /// Least similarity (cosine) of a sentence to the task's question to become a claim.
    #[schemars(range(min = -1.0, max = 1.0))]
    pub question_similarity: f32,
    /// Least probability that a sentence supports or refutes the claim behind the question, as a verifier reads it under the title of
    /// its work, for the sentence to become a claim, in [0, 1].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub question_bearing: f64,
    /// Claims at least this similar (cosine) are merged when polarity, numbers, hedges, and study population agree.
    #[schemars(range(min = -1.0, max = 1.0))]
    pub duplicate_similarity: f32,
    /// Passages of other pages that an extracted claim is judged against.
    pub candidates_per_claim: usize,
    /// How many of these are the passages closest to the counter-claim (`text::claim::counter_claim`); 0: none.
    pub counter_candidates: usize,
    /// Least similarity (cosine) of a judged passage to an extracted claim or its counter-claim.
    #[schemars(range(min = -1.0, max = 1.0))]
    pub candidate_similarity: f32,
    /// Best-ranked passages that a claim given by the user is judged against.
    pub candidates_per_user_claim: usize,
    /// Whether to judge the claim behind a question, when its form is recognized.
    pub judge_question: bool,
    /// Best-ranked passages of all searches that the claim behind the question is judged against. As many of the
    /// passages closest to it are added.
    pub candidates_per_question: usize,
    /// Most sentence windows of one passage that a pair classifier reads. The strongest support and the strongest
    /// refutation among the sentences count. A verifier reads the whole passage, then windows of four sentences.
    pub windows_per_passage: usize,
    /// Least similarity (cosine) of a window to the claim; the closest one and the conclusion are always included.
    #[schemars(range(min = -1.0, max = 1.0))]
    pub window_similarity: f32,
    /// Below this probability, a judgment of support or refutation counts as neutral, in [0, 1]. If unset, the model's
    /// own threshold applies, or 0.5 when the model states none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_nli_confidence: Option<f64>,
    /// Least probability of a side, as a verifier reads it, for a claim that Lyra worded: the one behind the question, or one from a
    /// passage, in [0, 1]. Below it, the passage counts as neutral. A claim given by the user needs only the threshold above.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub worded_confidence: f64,
    /// A verifier also judges a claim given by the user in a second wording, if the rules produce one; a side counts
    /// when both agree.
    pub two_wordings: bool,
}

impl Default for ResearchConfig {
    fn default() -> Self {
        Self {
            hits_per_source: 30,
            ranking_method: RankingMethod::Weighted,
            bm25_weight: 0.3,
            min_relevant: 8,
            max_relevant: 50,
            claims_per_fragment: 2,
            max_claims: 40,
            min_check_worthiness: 0.5,
            question_similarity: 0.45,
            question_bearing: 0.8,
            duplicate_similarity: 0.95,
            candidates_per_claim: 8,
            counter_candidates: 1,
            candidate_similarity: 0.5,
            candidates_per_user_claim: 10,
            windows_per_passage: 8,
            judge_question: true,
            candidates_per_question: 30,
            window_similarity: 0.5,
            min_nli_confidence: None,
            worded_confidence: 0.75,
            two_wordings: true,
        }
    }
}

/// How fragments are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RankingMethod {
    /// By a weighted mean of BM25 and cosine.
    Weighted,
    /// By reciprocal rank fusion of full text, embeddings, and the lists of all sources that found the page.
    Rrf,
}

/// How a search expands its results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// Best-ranked works whose citations are followed; 0: none.
    pub citation_graph_top_n_papers: usize,
    /// Which citations are followed.
    pub citation_graph_direction: CitationDirection,
    /// Works requested from every API for one work and direction.
    pub citation_graph_fetch_limit: usize,
    /// Which works become pages.
    pub citation_filter: CitationFilter,
    /// Works without abstract whose pages are fetched for one query; 0: none.
    pub fetch_without_abstract: usize,
    /// Links in the body text of one fetched page that a language model classifies.
    pub web_citation_links_per_page: usize,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            citation_graph_top_n_papers: 5,
            citation_graph_direction: CitationDirection::Both,
            citation_graph_fetch_limit: 50,
            citation_filter: CitationFilter::default(),
            fetch_without_abstract: 10,
            web_citation_links_per_page: 8,
        }
    }
}

/// Which citations are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CitationDirection {
    /// What a work cites, and what cites it.
    Both,
    /// What a work cites.
    References,
    /// What cites a work.
    Citations,
}

/// Which works found through citations become pages (evidence design, section 2, step 7).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CitationFilter {
    /// Stage 0 drops works with fewer citations.
    pub min_citation_count: u32,
    /// Stage 1 keeps this many, by similarity to the query and impact among the candidates, half each.
    pub stage1_top_k: usize,
    /// Stage 2 keeps this many of those, in their order or in the order that a language model gives.
    pub stage2_top_k: usize,
}

impl Default for CitationFilter {
    fn default() -> Self {
        Self { min_citation_count: 0, stage1_top_k: 30, stage2_top_k: 10 }
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

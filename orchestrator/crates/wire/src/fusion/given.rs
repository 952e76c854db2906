//! What a caller gives to search lanes and to fuse them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One filter; all must hold.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct FilterInput {
    /// `ipc`, `fi`, `cpc`, `ft`, `uspc`, `locarno`, `country`, `lang`, `pubyear`, `pub_date`, `app_date`, `assignee`,
    /// `inventor`, `tag` or `collection`. One classification system per lane (ipc and cpc go together, and so do fi and ft).
    #[schemars(length(min = 1, max = 20))]
    pub field: String,
    /// Values of which one must match: `JP`, `en`, `2020`, `2020-03-01`, a company's name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    pub include_values: Vec<String>,
    /// Values that must not match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    pub exclude_values: Vec<String>,
    /// Codes of which one must match, itself or one below it: `H01L33` finds `H01L33/20`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    pub include_codes: Vec<String>,
    /// Codes that must not match, nor any code below them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    pub exclude_codes: Vec<String>,
    /// A range of dates or years, both ends included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_range: Option<RangeInput>,
}

/// Ends of a range.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub struct RangeInput {
    /// First day (`yyyy-mm-dd`) or year. Default: from the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Last day or year. Default: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// Weights of the fields of a full-text lane.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct BoostsInput {
    /// Weight of a match in the title, 0 or more.
    #[schemars(range(min = 0, max = 1000))]
    pub title: f32,
    /// Weight of a match in the abstract.
    #[schemars(range(min = 0, max = 1000))]
    pub abst: f32,
    /// Weight of a match in the claims.
    #[schemars(range(min = 0, max = 1000))]
    pub claim: f32,
    /// Weight of a match in the description.
    #[schemars(range(min = 0, max = 1000))]
    pub desc: f32,
}

impl Default for BoostsInput {
    /// A field that is not named is not searched.
    fn default() -> Self {
        Self { title: 0.0, abst: 0.0, claim: 0.0, desc: 0.0 }
    }
}

/// A lane's weight.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct WeightInput {
    /// Name of the lane in the blend, or `code` for the boost by the target profile.
    #[schemars(length(min = 1, max = 100))]
    pub lane: String,
    /// Its weight, 0 or more.
    #[schemars(range(min = 0, max = 1000))]
    pub weight: f64,
}

/// A code of the target profile.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct CodeInput {
    /// The code with its system: `ipc:H01L33/20`, `cpc:…`, `fi:…`, `ft:…`. Those below it count too.
    #[schemars(length(min = 1, max = 100))]
    pub code: String,
    /// Its weight, above 0.
    #[schemars(range(min = 0, max = 1000))]
    pub weight: f64,
}

/// A facet with its terms.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub struct FacetInput {
    /// Name that begins with the facet's label: A (core), B (qualifying) or C (use case), such as `A` or `B2`.
    #[schemars(length(min = 1, max = 40))]
    pub facet: String,
    /// Synonyms; any of them counts.
    #[schemars(length(min = 1, max = 60), inner(length(min = 1, max = 200)))]
    pub terms: Vec<String>,
}

/// What facets count by label.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct FacetWeightsInput {
    /// Of facets A, default 0.5.
    #[serde(rename = "A")]
    #[schemars(range(min = 0, max = 1000))]
    pub a: Option<f64>,
    /// Of facets B, default 0.3.
    #[serde(rename = "B")]
    #[schemars(range(min = 0, max = 1000))]
    pub b: Option<f64>,
    /// Of facets C, default 0.2.
    #[serde(rename = "C")]
    #[schemars(range(min = 0, max = 1000))]
    pub c: Option<f64>,
}

/// The mix of the relevance proxy π′.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct PiWeightsInput {
    /// Share of the match with the target profile, default 0.35.
    #[schemars(range(min = 0, max = 1000))]
    pub code: Option<f64>,
    /// Share of the coverage of the facets, default 0.3.
    #[schemars(range(min = 0, max = 1000))]
    pub facet: Option<f64>,
    /// Share of the agreement of the lanes, default 0.2.
    #[schemars(range(min = 0, max = 1000))]
    pub lane: Option<f64>,
    /// Share of facets that occur close together, default 0.15.
    #[schemars(range(min = 0, max = 1000))]
    pub structure: Option<f64>,
}

/// The parameters of a fusion: of a blend, and of a change of one.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub struct RecipeInput {
    /// Weights of lanes by name, default 1; `code` is the weight of the boost by the target profile, default 0.5: half
    /// a first place.
    #[schemars(length(max = 40))]
    pub weights: Option<Vec<WeightInput>>,
    /// Weights of lanes in their agreement on a document, a part of π′. Default: `weights`.
    #[schemars(length(max = 40))]
    pub lane_weights: Option<Vec<WeightInput>>,
    /// The mix of the relevance proxy π′.
    pub pi_weights: Option<PiWeightsInput>,
    /// Elements of the invention with their synonyms, looked for in claims, abstract and description.
    #[schemars(length(max = 30))]
    pub facet_terms: Option<Vec<FacetInput>>,
    /// What facets count by label.
    pub facet_weights: Option<FacetWeightsInput>,
    /// k of reciprocal rank fusion, default 60: the larger, the less top ranks count.
    #[schemars(range(min = 1, max = 10_000))]
    pub rrf_k: Option<f64>,
    /// β of Fβ*, default 1.5: above 1 favors recall.
    #[schemars(range(min = 0.01, max = 10))]
    pub beta_fuse: Option<f64>,
    /// Codes that describe what is searched, with weights; `get_provenance` of the wide lane proposes some.
    #[schemars(length(max = 200))]
    pub target_profile: Option<Vec<CodeInput>>,
    /// Codes of use cases (`ipc:B60R`): an alarm reports when they dominate the target profile.
    #[schemars(length(max = 200), inner(length(min = 1, max = 100)))]
    pub context_codes: Option<Vec<String>>,
    /// Whether to list one document for each family of patents, default false.
    pub one_per_family: Option<bool>,
    /// Documents to take from each lane, default all.
    #[schemars(range(min = 1, max = 10_000))]
    pub top_m_per_lane: Option<usize>,
    /// Reading depths at which P*, R* and Fβ* are computed. Default 10 to 800.
    #[schemars(length(min = 1, max = 50), inner(range(min = 1, max = 100_000)))]
    pub k_grid: Option<Vec<usize>>,
}

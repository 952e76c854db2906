//! Arguments that several tools share, and their conversion.

use lyra_corpus::backend::{FeatureScope, FieldBoosts, RawFilter, RawRange};
use lyra_fusion::{FacetTerms, FacetWeights, PiWeights, Recipe, RecipeDelta};
use lyra_usecases::fusion::PeekRequest;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use crate::schema::one_of;

/// One filter; all must hold.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(super) struct FilterInput {
    /// `ipc`, `fi`, `cpc`, `ft`, `country`, `lang`, `pubyear`, `pub_date`, `app_date`, `assignee`, `tag` or `collection`. One
    /// classification system per lane (fi and ft go together).
    #[schemars(length(min = 1, max = 20))]
    field: String,
    /// Values of which one must match: `JP`, `en`, `2020`, `2020-03-01`, a company's name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    include_values: Vec<String>,
    /// Values that must not match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    exclude_values: Vec<String>,
    /// Codes of which one must match, itself or one below it: `H01L33` finds `H01L33/20`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    include_codes: Vec<String>,
    /// Codes that must not match, nor any code below them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    exclude_codes: Vec<String>,
    /// A range of dates or years, both ends included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    include_range: Option<RangeInput>,
}

/// Ends of a range.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct RangeInput {
    /// First day (`yyyy-mm-dd`) or year. Default: from the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// Last day or year. Default: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

pub(super) fn filters(given: Vec<FilterInput>) -> Vec<RawFilter> {
    let values = |list: Vec<String>| list.into_iter().map(Value::from).collect();
    given
        .into_iter()
        .map(|filter| RawFilter {
            field: filter.field,
            include_values: values(filter.include_values),
            exclude_values: values(filter.exclude_values),
            include_codes: filter.include_codes,
            exclude_codes: filter.exclude_codes,
            include_range: filter
                .include_range
                .map(|range| RawRange { from: range.from.map(Value::from), to: range.to.map(Value::from) }),
        })
        .collect()
}

/// Weights of the fields of a full-text lane.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct BoostsInput {
    /// Weight of a match in the title, 0 or more.
    #[schemars(range(min = 0, max = 1000))]
    title: f32,
    /// Weight of a match in the abstract.
    #[schemars(range(min = 0, max = 1000))]
    abst: f32,
    /// Weight of a match in the claims.
    #[schemars(range(min = 0, max = 1000))]
    claim: f32,
    /// Weight of a match in the description.
    #[schemars(range(min = 0, max = 1000))]
    desc: f32,
}

impl Default for BoostsInput {
    /// A field that is not named is not searched.
    fn default() -> Self {
        Self { title: 0.0, abst: 0.0, claim: 0.0, desc: 0.0 }
    }
}

impl From<BoostsInput> for FieldBoosts {
    fn from(BoostsInput { title, abst, claim, desc }: BoostsInput) -> Self {
        Self { title, abst, claim, desc }
    }
}

/// Part of a document that is compared.
pub(super) fn scopes(_: &mut SchemaGenerator) -> Schema {
    one_of(FeatureScope::ALL.into_iter().map(FeatureScope::name))
}

/// Kind of a document's number.
pub(super) fn id_types(_: &mut SchemaGenerator) -> Schema {
    one_of(["app_doc_id", "doc_id", "app_id", "pub_id", "exam_id"].into_iter())
}

/// Most characters of each field.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct CharsInput {
    /// Most characters of the title.
    #[schemars(range(min = 1, max = 100_000))]
    title: Option<usize>,
    /// Most characters of the abstract.
    #[schemars(range(min = 1, max = 100_000))]
    abst: Option<usize>,
    /// Most characters of the claims.
    #[schemars(range(min = 1, max = 100_000))]
    claim: Option<usize>,
    /// Most characters of the description.
    #[schemars(range(min = 1, max = 100_000))]
    desc: Option<usize>,
}

pub(super) fn chars(given: CharsInput) -> BTreeMap<String, usize> {
    [("title", given.title), ("abst", given.abst), ("claim", given.claim), ("desc", given.desc)]
        .into_iter()
        .filter_map(|(name, most)| Some((name.to_owned(), most?)))
        .collect()
}

/// A lane's weight.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub(super) struct WeightInput {
    /// Name of the lane in the blend, or `code` for the boost by the target profile.
    #[schemars(length(min = 1, max = 100))]
    lane: String,
    /// Its weight, 0 or more.
    #[schemars(range(min = 0, max = 1000))]
    weight: f64,
}

/// A code of the target profile.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub(super) struct CodeInput {
    /// The code with its system: `ipc:H01L33/20`, `cpc:…`, `fi:…`, `ft:…`. Those below it count too.
    #[schemars(length(min = 1, max = 100))]
    code: String,
    /// Its weight, above 0.
    #[schemars(range(min = 0, max = 1000))]
    weight: f64,
}

/// A facet with its terms.
#[derive(Debug, Clone, Deserialize, Serialize, JsonSchema)]
pub(super) struct FacetInput {
    /// Name that begins with the facet's label: A (core), B (qualifying) or C (use case), such as `A` or `B2`.
    #[schemars(length(min = 1, max = 40))]
    facet: String,
    /// Synonyms; any of them counts.
    #[schemars(length(min = 1, max = 60), inner(length(min = 1, max = 200)))]
    terms: Vec<String>,
}

/// What facets count by label.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct FacetWeightsInput {
    /// Of facets A, default 0.5.
    #[serde(rename = "A")]
    #[schemars(range(min = 0, max = 1000))]
    a: Option<f64>,
    /// Of facets B, default 0.3.
    #[serde(rename = "B")]
    #[schemars(range(min = 0, max = 1000))]
    b: Option<f64>,
    /// Of facets C, default 0.2.
    #[serde(rename = "C")]
    #[schemars(range(min = 0, max = 1000))]
    c: Option<f64>,
}

/// The mix of the relevance proxy π′.
#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct PiWeightsInput {
    /// Share of the match with the target profile, default 0.35.
    #[schemars(range(min = 0, max = 1000))]
    code: Option<f64>,
    /// Share of the coverage of the facets, default 0.3.
    #[schemars(range(min = 0, max = 1000))]
    facet: Option<f64>,
    /// Share of the agreement of the lanes, default 0.2.
    #[schemars(range(min = 0, max = 1000))]
    lane: Option<f64>,
    /// Share of facets that occur close together, default 0.15.
    #[schemars(range(min = 0, max = 1000))]
    structure: Option<f64>,
}

/// The parameters of a fusion: of a blend, and of a change of one.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct RecipeInput {
    /// Weights of lanes by name, default 1; `code` is the weight of the boost by the target profile, default 0.5: half
    /// a first place.
    #[schemars(length(max = 40))]
    pub(super) weights: Option<Vec<WeightInput>>,
    /// Weights of lanes in their agreement on a document, a part of π′. Default: `weights`.
    #[schemars(length(max = 40))]
    pub(super) lane_weights: Option<Vec<WeightInput>>,
    /// The mix of the relevance proxy π′.
    pub(super) pi_weights: Option<PiWeightsInput>,
    /// Elements of the invention with their synonyms, looked for in claims, abstract and description.
    #[schemars(length(max = 30))]
    pub(super) facet_terms: Option<Vec<FacetInput>>,
    /// What facets count by label.
    pub(super) facet_weights: Option<FacetWeightsInput>,
    /// k of reciprocal rank fusion, default 60: the larger, the less top ranks count.
    #[schemars(range(min = 1, max = 10_000))]
    pub(super) rrf_k: Option<f64>,
    /// β of Fβ*, default 1.5: above 1 favors recall.
    #[schemars(range(min = 0.01, max = 10))]
    pub(super) beta_fuse: Option<f64>,
    /// Codes that describe what is searched, with weights; `get_provenance` of the wide lane proposes some.
    #[schemars(length(max = 200))]
    pub(super) target_profile: Option<Vec<CodeInput>>,
    /// Codes of use cases (`ipc:B60R`): an alarm reports when they dominate the target profile.
    #[schemars(length(max = 200), inner(length(min = 1, max = 100)))]
    pub(super) context_codes: Option<Vec<String>>,
    /// Documents to take from each lane, default all.
    #[schemars(range(min = 1, max = 10_000))]
    pub(super) top_m_per_lane: Option<usize>,
    /// Reading depths at which P*, R* and Fβ* are computed. Default 10 to 800.
    #[schemars(length(min = 1, max = 50), inner(range(min = 1, max = 100_000)))]
    pub(super) k_grid: Option<Vec<usize>>,
}

impl RecipeInput {
    /// Its changes to a recipe. Omitted parts of small objects keep the values of `from`.
    pub(super) fn delta(self, from: &Recipe) -> RecipeDelta {
        let weights =
            |list: Vec<WeightInput>| list.into_iter().map(|weight| (weight.lane, weight.weight)).collect();
        RecipeDelta {
            weights: self.weights.map(weights),
            lane_weights: self.lane_weights.map(weights),
            pi_weights: self.pi_weights.map(|new| PiWeights {
                code: new.code.unwrap_or(from.pi_weights.code),
                facet: new.facet.unwrap_or(from.pi_weights.facet),
                lane: new.lane.unwrap_or(from.pi_weights.lane),
                structure: new.structure.unwrap_or(from.pi_weights.structure),
            }),
            facet_terms: self.facet_terms.map(|facets| {
                facets.into_iter().map(|FacetInput { facet, terms }| FacetTerms { facet, terms }).collect()
            }),
            facet_weights: self.facet_weights.map(|new| FacetWeights {
                a: new.a.unwrap_or(from.facet_weights.a),
                b: new.b.unwrap_or(from.facet_weights.b),
                c: new.c.unwrap_or(from.facet_weights.c),
            }),
            rrf_k: self.rrf_k,
            beta_fuse: self.beta_fuse,
            target_profile: self
                .target_profile
                .map(|codes| codes.into_iter().map(|code| (code.code, code.weight)).collect()),
            context_codes: self.context_codes,
            top_m_per_lane: self.top_m_per_lane,
            k_grid: self.k_grid,
        }
    }
}

/// The first documents to show together with a blend.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
pub(super) struct PeekInput {
    /// Most documents, 1 to 100, default 12.
    #[serde(alias = "count")]
    #[schemars(range(min = 1, max = 100))]
    limit: Option<usize>,
    /// Fields to show, default title, abst and claim.
    #[schemars(length(max = 20))]
    fields: Vec<String>,
    /// Most characters of each field, default 80 for the title and 320 for the others.
    per_field_chars: Option<CharsInput>,
    /// Most bytes, 512 to 55000, default 12288.
    #[schemars(range(min = 512, max = 55_000))]
    budget_bytes: Option<usize>,
}

impl From<PeekInput> for PeekRequest {
    fn from(given: PeekInput) -> Self {
        let usual = Self::default();
        Self {
            limit: given.limit.unwrap_or(usual.limit),
            fields: given.fields,
            per_field_chars: chars(given.per_field_chars.unwrap_or_default()),
            budget_bytes: given.budget_bytes.unwrap_or(usual.budget_bytes),
            ..usual
        }
    }
}

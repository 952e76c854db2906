//! Everything that determines a fusion run besides its lanes. It is stored with the run, and changing it creates
//! another run.

use crate::error::{FusionError, Result};
use crate::facet::{FacetTerms, FacetWeights, Facets};
use crate::frontier::{DEFAULT_BETA, DEFAULT_GRID};
use crate::profile::{TargetProfile, read_code};
use crate::proxy::PiWeights;
use crate::rrf::CODE;
use lyra_domain::classification::Code;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Default k of reciprocal rank fusion.
pub(crate) const DEFAULT_K: f64 = 60.0;
/// Weight of the boost by codes when a target profile is given without one: half a first place.
pub(crate) const DEFAULT_CODE_WEIGHT: f64 = 0.5;
/// Most documents of one lane.
pub const MAX_PER_LANE: usize = 10_000;

/// The parameters of a fusion run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recipe {
    /// Weight of each lane by name, default 1, and under `code` that of the boost by codes.
    pub weights: BTreeMap<String, f64>,
    /// Weights of the lanes in their agreement on a document; default `weights`.
    pub lane_weights: BTreeMap<String, f64>,
    /// The mix of π′.
    pub pi_weights: PiWeights,
    /// Facets and their terms.
    pub facet_terms: Vec<FacetTerms>,
    /// What facets count by label.
    pub facet_weights: FacetWeights,
    /// k of reciprocal rank fusion.
    pub rrf_k: f64,
    /// β of Fβ*.
    pub beta_fuse: f64,
    /// Codes as `system:code`, with weights.
    pub target_profile: BTreeMap<String, f64>,
    /// Codes of use cases: the search targets neither these nor any code below them.
    pub context_codes: Vec<String>,
    /// Whether one document stands for each family of patents.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub one_per_family: bool,
    /// Documents to take from each lane; all when `None`.
    pub top_m_per_lane: Option<usize>,
    /// Depths of the frontier.
    pub k_grid: Vec<usize>,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            weights: BTreeMap::new(),
            lane_weights: BTreeMap::new(),
            pi_weights: PiWeights::default(),
            facet_terms: Vec::new(),
            facet_weights: FacetWeights::default(),
            rrf_k: DEFAULT_K,
            beta_fuse: DEFAULT_BETA,
            target_profile: BTreeMap::new(),
            context_codes: Vec::new(),
            one_per_family: false,
            top_m_per_lane: None,
            k_grid: DEFAULT_GRID.to_vec(),
        }
    }
}

/// What replaces parts of a recipe. Numbers are the new values, not differences; maps of weights are merged by name, lists and
/// the target profile replaced as a whole.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecipeDelta {
    /// New weights of lanes.
    pub weights: Option<BTreeMap<String, f64>>,
    /// New weights in the agreement.
    pub lane_weights: Option<BTreeMap<String, f64>>,
    /// New mix.
    pub pi_weights: Option<PiWeights>,
    /// New facets.
    pub facet_terms: Option<Vec<FacetTerms>>,
    /// New weights of facets.
    pub facet_weights: Option<FacetWeights>,
    /// New k.
    pub rrf_k: Option<f64>,
    /// New β.
    pub beta_fuse: Option<f64>,
    /// New target profile; an empty one takes it away.
    pub target_profile: Option<BTreeMap<String, f64>>,
    /// New codes of use cases.
    pub context_codes: Option<Vec<String>>,
    /// Whether one document stands for each family from now on.
    pub one_per_family: Option<bool>,
    /// New number of documents of each lane.
    pub top_m_per_lane: Option<usize>,
    /// New depths.
    pub k_grid: Option<Vec<usize>>,
}

/// A parsed and validated recipe, for the lanes it was checked with.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// One weight per lane.
    pub(crate) weights: Vec<f64>,
    /// Weight of the boost by codes.
    pub(crate) code_weight: f64,
    /// One weight per lane in the agreement.
    pub(crate) lane_weights: Vec<f64>,
    /// The target profile, when there is one.
    pub profile: Option<TargetProfile>,
    /// The facets, when there are any.
    pub facets: Option<Facets>,
    /// Codes of use cases.
    pub context: Vec<Code>,
}

impl Recipe {
    /// The recipe with some of its parts replaced.
    #[must_use]
    pub fn with(mut self, delta: RecipeDelta) -> Self {
        fn replace<T>(place: &mut T, new: Option<T>) {
            if let Some(new) = new {
                *place = new;
            }
        }
        self.weights.extend(delta.weights.unwrap_or_default());
        self.lane_weights.extend(delta.lane_weights.unwrap_or_default());
        replace(&mut self.pi_weights, delta.pi_weights);
        replace(&mut self.facet_terms, delta.facet_terms);
        replace(&mut self.facet_weights, delta.facet_weights);
        replace(&mut self.rrf_k, delta.rrf_k);
        replace(&mut self.beta_fuse, delta.beta_fuse);
        replace(&mut self.target_profile, delta.target_profile);
        replace(&mut self.context_codes, delta.context_codes);
        replace(&mut self.one_per_family, delta.one_per_family);
        self.top_m_per_lane = delta.top_m_per_lane.or(self.top_m_per_lane);
        replace(&mut self.k_grid, delta.k_grid);
        self
    }

    /// Documents to take from each lane.
    pub fn limit(&self) -> usize {
        self.top_m_per_lane.unwrap_or(MAX_PER_LANE)
    }

    /// Parses and validates everything, for lanes with these names.
    ///
    /// # Errors
    /// The first [`FusionError`].
    pub fn prepare(&self, lanes: &[&str]) -> Result<Prepared> {
        in_range("rrf_k", self.rrf_k, |k| (1.0..=10_000.0).contains(&k), "1 to 10000")?;
        in_range("beta_fuse", self.beta_fuse, |b| b > 0.0 && b <= 10.0, "above 0, at most 10")?;
        let PiWeights { code, facet, lane, structure } = self.pi_weights;
        let FacetWeights { a, b, c } = self.facet_weights;
        let parts = [("code", code), ("facet", facet), ("lane", lane), ("structure", structure)]
            .map(|(name, weight)| (format!("pi_weights.{name}"), weight));
        let labels = [("A", a), ("B", b), ("C", c)].map(|(n, weight)| (format!("facet_weights.{n}"), weight));
        for (name, weight) in parts.into_iter().chain(labels) {
            in_range(&name, weight, is_weight, "0 to 1000")?;
        }
        if self.top_m_per_lane.is_some_and(|m| m == 0 || m > MAX_PER_LANE) {
            let value = self.top_m_per_lane.unwrap_or_default() as f64;
            return Err(FusionError::Number { name: "top_m_per_lane".into(), value, expected: "1 to 10000" });
        }
        if self.k_grid.is_empty() || self.k_grid.contains(&0) {
            return Err(FusionError::Grid);
        }
        for (argument, weights) in [("weights", &self.weights), ("lane_weights", &self.lane_weights)] {
            for (name, &weight) in weights {
                if !(lanes.contains(&name.as_str()) || name == CODE) {
                    let lanes = lanes.iter().copied().chain([CODE]).map(str::to_owned).collect();
                    return Err(FusionError::UnknownLane { argument, name: name.clone(), lanes });
                }
                in_range(&format!("{argument}.{name}"), weight, is_weight, "0 to 1000")?;
            }
        }
        let weight = |name: &str| self.weights.get(name).copied().unwrap_or(1.0);
        let profile = TargetProfile::new(self.target_profile.iter().map(|(code, w)| (code.as_str(), *w)))?;
        let facets = Facets::new(&self.facet_terms, &self.facet_weights)?;
        Ok(Prepared {
            weights: lanes.iter().map(|name| weight(name)).collect(),
            code_weight: self.weights.get(CODE).copied().unwrap_or(DEFAULT_CODE_WEIGHT),
            lane_weights: lanes
                .iter()
                .map(|name| self.lane_weights.get(*name).copied().unwrap_or_else(|| weight(name)))
                .collect(),
            profile: (!profile.is_empty()).then_some(profile),
            facets: (!facets.is_empty()).then_some(facets),
            context: self.context_codes.iter().map(|code| read_code(code)).collect::<Result<_>>()?,
        })
    }
}

fn is_weight(weight: f64) -> bool {
    (0.0..=1000.0).contains(&weight)
}

fn in_range(name: &str, value: f64, right: impl Fn(f64) -> bool, expected: &'static str) -> Result<()> {
    if value.is_finite() && right(value) {
        Ok(())
    } else {
        Err(FusionError::Number { name: name.to_owned(), value, expected })
    }
}

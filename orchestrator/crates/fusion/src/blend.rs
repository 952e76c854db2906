//! A fusion run from its lanes and its recipe, in two steps: first the ranking, which needs no text, then its
//! measurements, which read facets in the best documents' texts.

use crate::estimate::{Estimate, Posterior, Prior};
use crate::facet::FacetSignals;
use crate::frontier::{FrontierPoint, frontier};
use crate::metrics::StructureMetrics;
use crate::pool::Pool;
use crate::proxy::{ProxyMethod, Signals, lane_consistency, relevance};
use crate::recipe::{PiMode, Prepared, Recipe};
use crate::rrf::Ranking;

/// The order of a pool's documents.
#[derive(Debug, Clone)]
pub struct Blend {
    /// Scores and order.
    pub ranking: Ranking,
    /// c of every document, when there is a target profile.
    pub code: Option<Vec<f64>>,
}

/// Measurements of a blend.
#[derive(Debug, Clone)]
pub struct Assessment {
    /// What is relevant, by depth, with intervals.
    pub estimate: Estimate,
    /// The design's proxies, if the recipe asks for them.
    pub design: Option<Design>,
    /// The shape of the ranking.
    pub metrics: StructureMetrics,
}

/// The design's proxies of relevance. On judged collections, they predicted neither precision nor the best depth.
#[derive(Debug, Clone)]
pub struct Design {
    /// π′ of every document, in the pool's order.
    pub relevance: Vec<f64>,
    /// How π′ was computed.
    pub method: ProxyMethod,
    /// P*, R*, and Fβ* over depths of reading.
    pub frontier: Vec<FrontierPoint>,
}

impl Blend {
    /// Fuses the lanes of a pool.
    pub fn new(pool: &Pool<'_>, recipe: &Recipe, prepared: &Prepared) -> Self {
        let code = prepared.profile.as_ref().map(|profile| profile.matches(pool));
        let boost = code.as_deref().map(|code| (code, prepared.code_weight));
        let method = (recipe.method, recipe.rrf_k);
        Self { ranking: Ranking::new(pool, &prepared.weights, method, boost), code }
    }

    /// What is known about the relevance of the documents, in ranked order. `labels` are documents of the pool that a person
    /// judged, in [0, 1].
    pub fn posterior(
        &self,
        pool: &Pool<'_>,
        prepared: &Prepared,
        prior: &Prior,
        labels: &[(usize, f64)],
    ) -> Posterior {
        let log_odds = prior.log_odds(pool, &prepared.lane_weights);
        let ranked: Vec<f64> = self.ranking.order.iter().map(|&doc| log_odds[doc]).collect();
        let mut places = vec![0; pool.len()];
        for (place, &doc) in self.ranking.order.iter().enumerate() {
            places[doc] = place;
        }
        let judged: Vec<(usize, f64)> = labels.iter().map(|&(doc, label)| (places[doc], label)).collect();
        Posterior::new(prior, &ranked, &judged)
    }

    /// Measures the blend. `facets` are the signals of the documents whose texts were read, by their place in the pool;
    /// other documents count as covering nothing. `labels` are documents of the pool that a person judged, in [0, 1].
    pub fn assess(
        &self,
        pool: &Pool<'_>,
        (recipe, prepared): (&Recipe, &Prepared),
        prior: &Prior,
        facets: &[(usize, FacetSignals)],
        labels: &[(usize, f64)],
    ) -> Assessment {
        let posterior = self.posterior(pool, prepared, prior, labels);
        Assessment {
            estimate: posterior.estimate(recipe.beta_fuse, &recipe.k_grid),
            design: (recipe.pi_mode == PiMode::Design)
                .then(|| self.design(pool, recipe, prepared, facets, labels)),
            metrics: StructureMetrics::new(pool, &self.ranking),
        }
    }

    fn design(
        &self,
        pool: &Pool<'_>,
        recipe: &Recipe,
        prepared: &Prepared,
        facets: &[(usize, FacetSignals)],
        labels: &[(usize, f64)],
    ) -> Design {
        let spread = |value: fn(&FacetSignals) -> f64| {
            let mut values = vec![0.0; pool.len()];
            for (doc, signals) in facets {
                values[*doc] = value(signals);
            }
            values
        };
        let read = prepared.facets.as_ref().filter(|_| !facets.is_empty());
        let signals = Signals {
            code: self.code.clone(),
            facet: read.map(|_| spread(|signals| signals.coverage)),
            lane: Some(lane_consistency(pool, &prepared.lane_weights)),
            structure: read.filter(|read| read.has_pairs()).map(|_| spread(|signals| signals.structure)),
        };
        let mixed = signals.mix(&recipe.pi_weights, pool.len());
        let relevance = relevance(&mixed, labels);
        let order = &self.ranking.order;
        let ranked: Vec<f64> = order.iter().map(|&doc| relevance.values[doc]).collect();
        let coverage = prepared.profile.as_ref().map(|profile| profile.coverage(pool, order));
        Design {
            frontier: frontier(&ranked, coverage.as_deref(), recipe.beta_fuse, &recipe.k_grid),
            relevance: relevance.values,
            method: relevance.method,
        }
    }
}

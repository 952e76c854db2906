//! A fusion run from its lanes and its recipe, in two steps: first the ranking, which needs no text, then its
//! measurements, which read facets in the best documents' texts.

use crate::facet::FacetSignals;
use crate::frontier::{FrontierPoint, frontier};
use crate::metrics::StructureMetrics;
use crate::pool::Pool;
use crate::proxy::{ProxyMethod, Signals, lane_consistency, relevance};
use crate::recipe::{Prepared, Recipe};
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
    /// π′ of every document, in the pool's order.
    pub relevance: Vec<f64>,
    /// How π′ was computed.
    pub method: ProxyMethod,
    /// The trade-off over depths of reading.
    pub frontier: Vec<FrontierPoint>,
    /// The shape of the ranking.
    pub metrics: StructureMetrics,
}

impl Blend {
    /// Fuses the lanes of a pool.
    pub fn new(pool: &Pool<'_>, recipe: &Recipe, prepared: &Prepared) -> Self {
        let code = prepared.profile.as_ref().map(|profile| profile.matches(pool));
        let boost = code.as_deref().map(|code| (code, prepared.code_weight));
        Self { ranking: Ranking::new(pool, &prepared.weights, recipe.rrf_k, boost), code }
    }

    /// Measures the blend. `facets` are the signals of the documents whose texts were read, by their place in the pool;
    /// other documents count as covering nothing. `labels` are documents of the pool that a person judged, in [0, 1].
    pub fn assess(
        &self,
        pool: &Pool<'_>,
        recipe: &Recipe,
        prepared: &Prepared,
        facets: &[(usize, FacetSignals)],
        labels: &[(usize, f64)],
    ) -> Assessment {
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
        Assessment {
            frontier: frontier(&ranked, coverage.as_deref(), recipe.beta_fuse, &recipe.k_grid),
            metrics: StructureMetrics::new(pool, &self.ranking),
            relevance: relevance.values,
            method: relevance.method,
        }
    }
}

//! Fused rankings of reference: weighted reciprocal rank fusion by plain arithmetic.

mod prior;

use lyra_fusion::{Blend, Lane, Pool, RankedDocs, Recipe};
use prior::PRIOR;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    lanes: BTreeMap<String, Vec<String>>,
    weights: BTreeMap<String, f64>,
    k: f64,
    ranking: Vec<String>,
    scores: Vec<f64>,
    #[serde(rename = "LAS")]
    las: Option<f64>,
    #[serde(rename = "S_shape")]
    s_shape: f64,
}

#[test]
fn golden_rrf() {
    let shared = std::env::var_os("LYRA_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared"), PathBuf::from);
    let file = shared.join("data/golden/rrf.json");
    let Ok(text) = std::fs::read_to_string(&file) else {
        eprintln!("skipped: {} is not there", file.display());
        return;
    };
    let golden: Golden = serde_json::from_str(&text).unwrap();
    assert!(!golden.cases.is_empty());
    for (number, case) in golden.cases.iter().enumerate() {
        let docs: Vec<(&str, RankedDocs)> = case
            .lanes
            .iter()
            .map(|(name, ids)| (name.as_str(), RankedDocs { ids: ids.clone(), ..RankedDocs::default() }))
            .collect();
        let lanes: Vec<Lane<'_>> =
            docs.iter().map(|(name, docs)| Lane { name, docs, limit: usize::MAX }).collect();
        let pool = Pool::new(&lanes);
        let recipe = Recipe { weights: case.weights.clone(), rrf_k: case.k, ..Recipe::default() };
        let prepared = recipe.prepare(pool.names()).unwrap();
        let blend = Blend::new(&pool, &recipe, &prepared);
        let ranking: Vec<&str> = blend.ranking.order.iter().map(|&doc| pool.id(doc)).collect();
        assert_eq!(ranking, case.ranking, "case {number}");
        for (score, expect) in blend.ranking.sorted_scores().zip(&case.scores) {
            assert!((score - expect).abs() < 1e-11, "case {number}: {score} and {expect}");
        }
        let metrics = blend.assess(&pool, (&recipe, &prepared), &PRIOR, &[], &[]).metrics;
        assert_eq!(metrics.las.is_some(), case.las.is_some(), "case {number}");
        assert!((metrics.las.unwrap_or(0.0) - case.las.unwrap_or(0.0)).abs() < 1e-9, "case {number}");
        assert!((metrics.s_shape - case.s_shape).abs() < 1e-9, "case {number}");
    }
}

//! Formulas against cases computed by reference libraries (`golden/` of the shared data).

#![expect(clippy::print_stdout, reason = "says why it skips")]

use lyra_domain::{BetaConfidence, Probability, Relation, bm25, cutoff, knee};
use serde_json::Value;
use std::path::PathBuf;

/// Cases of one golden file; `None`, with the reason printed, when the shared data is not there.
fn cases(name: &str) -> Option<Vec<Value>> {
    let shared = std::env::var_os("LYRA_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared"), PathBuf::from);
    let path = shared.join("data/golden").join(name);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there (set LYRA_SHARED to the shared folder)", path.display());
        return None;
    };
    let file: Value = serde_json::from_str(&text).expect("golden file is JSON");
    Some(file["cases"].as_array().expect("golden file has cases").clone())
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("array").iter().map(|x| x.as_f64().expect("number")).collect()
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().expect("array").iter().map(|x| x.as_str().expect("string")).collect()
}

#[track_caller]
fn close(got: f64, want: &Value, what: &str) {
    let want = want.as_f64().expect("number");
    assert!((got - want).abs() < 1e-6, "{what}: {got} is not {want}");
}

#[test]
fn golden_kneedle() {
    for (i, case) in cases("kneedle.json").into_iter().flatten().enumerate() {
        let scores = numbers(&case["scores"]);
        let sensitivity = case["sensitivity"].as_f64().expect("number");
        let expected = case["knee"].as_f64().map(|x| x as usize);
        assert_eq!(knee(&scores, sensitivity), expected, "knee of case {i} ({})", case["kind"]);
        let expected = case["cutoff_min3_max50"].as_u64().expect("number") as usize;
        assert_eq!(cutoff(&scores, sensitivity, 3, 50), expected, "cut-off of case {i} ({})", case["kind"]);
    }
}

#[test]
fn golden_bm25() {
    for (i, case) in cases("bm25.json").into_iter().flatten().enumerate() {
        let docs: Vec<Vec<&str>> = case["docs"].as_array().expect("array").iter().map(words).collect();
        let (k1, b) = (case["k1"].as_f64().expect("number"), case["b"].as_f64().expect("number"));
        let got = bm25::scores(&docs, &words(&case["query"]), k1, b);
        let want = case["scores"].as_array().expect("array");
        assert_eq!(got.len(), want.len());
        for (doc, (got, want)) in got.into_iter().zip(want).enumerate() {
            close(got, want, &format!("document {doc} of case {i}"));
        }
    }
}

#[test]
fn golden_confidence() {
    for (i, case) in cases("confidence.json").into_iter().flatten().enumerate() {
        let side = |key: &str, relation| {
            numbers(&case[key]).into_iter().map(move |w| (relation, Probability::clamped(w)))
        };
        let neutral = case["neutral"].as_u64().expect("number") as usize;
        let edges = side("supports", Relation::Supports)
            .chain(side("refutes", Relation::Refutes))
            .chain(std::iter::repeat_n((Relation::Neutral, Probability::ONE), neutral));
        let posterior = BetaConfidence::from_edges(edges);
        close(posterior.alpha, &case["alpha"], &format!("alpha of case {i}"));
        close(posterior.beta, &case["beta"], &format!("beta of case {i}"));
        close(posterior.confidence(), &case["confidence"], &format!("confidence of case {i}"));
        close(posterior.uncertainty(), &case["uncertainty"], &format!("uncertainty of case {i}"));
        close(posterior.controversy(), &case["controversy"], &format!("controversy of case {i}"));
    }
}

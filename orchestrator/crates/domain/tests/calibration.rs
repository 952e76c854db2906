//! Calibration against `SciPy`: a few cases of Platt's curve in the repository, and those of the shared data.

use lyra_domain::{
    Calibration, CalibrationMethod, CalibrationMetrics, CalibrationSample, NliScores, Relation,
};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The labels for the classes 0, 1, 2 of the shared data: ties go to the first class there, to the most cautious one
/// here.
const RELATIONS: [Relation; 3] = [Relation::Neutral, Relation::Refutes, Relation::Supports];

fn cases(path: &Path) -> Vec<Value> {
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("readable")).expect("JSON");
    file["cases"].as_array().expect("cases").clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("array").iter().map(|x| x.as_f64().expect("number")).collect()
}

fn samples(case: &Value) -> Vec<CalibrationSample> {
    let logits = case["logits"].as_array().expect("logits").iter().map(numbers);
    logits
        .zip(numbers(&case["labels"]))
        .map(|(z, label)| {
            let sum: f64 = z.iter().map(|z| z.exp()).sum();
            let p: Vec<f64> = z.iter().map(|z| z.exp() / sum).collect();
            let scores = NliScores { neutral: p[0], refutes: p[1], supports: p[2] };
            CalibrationSample::new(scores, RELATIONS[label as usize]).expect("a relation of a model")
        })
        .collect()
}

#[track_caller]
fn close(got: f64, want: &Value, tolerance: f64, what: &str) {
    let want = want.as_f64().expect("number");
    assert!((got - want).abs() < tolerance, "{what}: {got} is not {want}");
}

#[test]
fn golden_metrics_and_temperature() {
    let shared = std::env::var_os("LYRA_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared"), PathBuf::from);
    let path = shared.join("data/golden/calibration.json");
    if !path.exists() {
        println!("skipped: {} is not there (set LYRA_SHARED to the shared folder)", path.display());
        return;
    }
    for (i, case) in cases(&path).iter().enumerate() {
        let samples = samples(case);
        let found = CalibrationMetrics::of(&samples, None);
        close(found.brier, &case["brier_multiclass"], 1e-9, &format!("Brier score of case {i}"));
        close(found.ece, &case["ece_15"], 1e-9, &format!("calibration error of case {i}"));
        close(found.nll, &case["nll"], 1e-9, &format!("likelihood of case {i}"));
        let fitted = Calibration::fit(CalibrationMethod::Temperature, &samples);
        let Calibration::Temperature { temperature } = fitted else { panic!("{fitted:?}") };
        // The reference stops within 1e-5 of its optimum.
        close(temperature, &case["temperature"], 1e-4, &format!("temperature of case {i}"));
        let after = CalibrationMetrics::of(&samples, Some(&fitted));
        close(
            after.nll,
            &case["nll_at_temperature"],
            1e-8,
            &format!("likelihood at temperature of case {i}"),
        );
    }
}

#[test]
fn golden_platt() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/platt.json");
    for (i, case) in cases(&path).iter().enumerate() {
        let samples: Vec<CalibrationSample> = numbers(&case["scores"])
            .into_iter()
            .zip(numbers(&case["labels"]))
            .map(|(z, label)| {
                let p = 1.0 / (1.0 + (-z).exp());
                let scores = NliScores { supports: p, refutes: 1.0 - p, neutral: 0.0 };
                let correct = if label > 0.5 { Relation::Supports } else { Relation::Refutes };
                CalibrationSample::new(scores, correct).expect("a relation of a model")
            })
            .collect();
        let fitted = Calibration::fit(CalibrationMethod::Platt, &samples);
        let Calibration::Platt { supports, .. } = fitted else { panic!("{fitted:?}") };
        close(supports.slope, &case["slope"], 1e-6, &format!("slope of case {i}"));
        close(supports.intercept, &case["intercept"], 1e-6, &format!("intercept of case {i}"));
    }
}

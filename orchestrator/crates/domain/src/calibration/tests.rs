use super::*;
use proptest::prelude::*;

fn sample(p: [f64; 3], label: usize) -> CalibrationSample {
    let relation = [Relation::Supports, Relation::Refutes, Relation::Neutral][label];
    CalibrationSample::new(of_classes(p), relation).unwrap()
}

fn samples() -> impl Strategy<Value = Vec<CalibrationSample>> {
    let one =
        (prop::array::uniform3(-8.0_f64..8.0), 0_usize..3).prop_map(|(z, label)| sample(softmax(z), label));
    prop::collection::vec(one, 1..60)
}

const METHODS: [CalibrationMethod; 2] = [CalibrationMethod::Temperature, CalibrationMethod::Platt];

#[test]
fn a_relation_that_no_model_answers_is_no_sample() {
    assert_eq!(CalibrationSample::new(of_classes([1.0, 0.0, 0.0]), Relation::Cites), None);
}

#[test]
fn metrics_of_a_case_computed_by_hand() {
    let found = CalibrationMetrics::of(&[sample([0.8, 0.1, 0.1], 0), sample([0.2, 0.2, 0.6], 0)], None);
    // (0.04 + 0.01 + 0.01) and (0.64 + 0.04 + 0.36)
    assert!((found.brier - f64::midpoint(0.06, 1.04)).abs() < 1e-12);
    // Confidence 0.8 and right, confidence 0.6 and wrong: bins 12 and 9 of 15.
    assert!((found.ece - f64::midpoint(0.2, 0.6)).abs() < 1e-12);
    assert_eq!((found.bins[11].count, found.bins[8].count, found.bins[8].accuracy), (1, 1, Some(0.0)));
    assert!((found.nll + f64::midpoint(0.8_f64.ln(), 0.2_f64.ln())).abs() < 1e-12);
    assert_eq!(CalibrationMetrics::of(&[], None).brier, 0.0);
}

#[test]
fn odd_scores_do_no_harm() {
    for p in [[f64::NAN; 3], [0.0; 3], [f64::INFINITY, 0.0, 0.0], [-1.0, 2.0, 0.5], [1.0, 0.0, 0.0]] {
        let odd = [sample(p, 1), sample(p, 0)];
        for method in METHODS {
            let fitted = Calibration::fit(method, &odd);
            assert!(fitted.is_sound(), "{p:?} {fitted:?}");
            let got = fitted.apply(of_classes(p));
            assert!((got.supports + got.refutes + got.neutral - 1.0).abs() < 1e-9, "{p:?} {got:?}");
        }
    }
}

#[test]
fn degradation_is_named_from_five_percent_on() {
    assert_eq!(degradation(0.4, 0.41), None);
    assert!(degradation(0.4, 0.43).is_some_and(|share| (share - 0.075).abs() < 1e-9));
    assert_eq!(
        (degradation(0.4, 0.2), degradation(0.0, 0.0), degradation(0.0, 0.3)),
        (None, None, Some(0.3))
    );
}

#[test]
fn parameters_read_back() {
    for method in METHODS {
        let fitted = Calibration::fit(method, &[sample([0.7, 0.2, 0.1], 0), sample([0.1, 0.8, 0.1], 2)]);
        let text = serde_json::to_string(&fitted).unwrap();
        assert!(text.contains(method.as_str()), "{text}");
        assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), fitted);
    }
    assert!(!Calibration::Temperature { temperature: 0.0 }.is_sound());
}

proptest! {
    #[test]
    fn calibrated_scores_are_probabilities(samples in samples()) {
        for method in METHODS {
            let fitted = Calibration::fit(method, &samples);
            prop_assert!(fitted.is_sound(), "{:?}", fitted);
            for sample in &samples {
                let p = probabilities(fitted.apply(sample.scores));
                prop_assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
                prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn a_temperature_keeps_the_order_and_never_fits_worse(samples in samples()) {
        let fitted = Calibration::fit(CalibrationMethod::Temperature, &samples);
        let (before, after) = (CalibrationMetrics::of(&samples, None), CalibrationMetrics::of(&samples, Some(&fitted)));
        prop_assert!(after.nll <= before.nll + 1e-9);
        for sample in &samples {
            let (a, b) = (probabilities(sample.scores), probabilities(fitted.apply(sample.scores)));
            for (i, j) in [(0, 1), (1, 2), (0, 2)] {
                prop_assert!((a[i] - a[j]) * (b[i] - b[j]) >= -1e-12);
            }
        }
    }

    #[test]
    fn metrics_are_in_range_and_do_not_depend_on_order(samples in samples()) {
        let found = CalibrationMetrics::of(&samples, None);
        prop_assert!((0.0..=2.0).contains(&found.brier) && (0.0..=1.0).contains(&found.ece) && found.nll >= 0.0);
        prop_assert_eq!(found.bins.iter().map(|bin| bin.count).sum::<usize>(), samples.len());
        let reversed: Vec<_> = samples.iter().rev().copied().collect();
        let other = CalibrationMetrics::of(&reversed, None);
        prop_assert!((found.brier - other.brier).abs() < 1e-12 && (found.ece - other.ece).abs() < 1e-12);
    }
}

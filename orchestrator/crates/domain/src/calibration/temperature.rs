//! The temperature of least negative log-likelihood.

use super::{CalibrationSample, log_probabilities, softmax};

/// Range of temperatures: values beyond it only occur with too little or anomalous data.
const RANGE: (f64, f64) = (0.05, 20.0);
/// Halvings of the range of 1/T: enough for the precision of a float.
const HALVINGS: usize = 100;

/// The likelihood is concave in β = 1/T, so that the zero of its derivative is found by halving.
pub(super) fn fit(samples: &[CalibrationSample]) -> f64 {
    if samples.is_empty() {
        return 1.0;
    }
    let logits: Vec<_> =
        samples.iter().map(|sample| (log_probabilities(sample.scores), sample.label)).collect();
    // Derivative of the summed negative log-likelihood by β.
    let slope = |beta: f64| -> f64 {
        logits
            .iter()
            .map(|(z, label)| {
                let p = softmax(z.map(|z| beta * z));
                p.iter().zip(z).map(|(p, z)| p * z).sum::<f64>() - z[*label]
            })
            .sum()
    };
    let (mut low, mut high) = (1.0 / RANGE.1, 1.0 / RANGE.0);
    if slope(low) >= 0.0 {
        return RANGE.1;
    }
    if slope(high) <= 0.0 {
        return RANGE.0;
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if slope(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    1.0 / f64::midpoint(low, high)
}

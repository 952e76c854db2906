//! From a classifier's outputs to supports, refutes, neutral.

use lyra_proto::{NliLabel, NliResult, NliScores};

use super::ops::softmax;

/// The mapping from outputs to labels. Models order them differently, so only names count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NliLabels {
    order: Vec<NliLabel>,
}

impl NliLabels {
    /// Reads the names of a configuration's `id2label`, in the order of the outputs.
    ///
    /// # Errors
    /// The names are not entailment, contradiction and neutral, in any order and case; lists those found.
    pub fn from_names(names: &[String]) -> Result<Self, String> {
        let order: Option<Vec<_>> = names.iter().map(|name| label(name)).collect();
        match order {
            Some(order) if order.len() == 3 && NLI.iter().all(|label| order.contains(label)) => {
                Ok(Self { order })
            }
            _ => {
                Err(format!("labels are {names:?}; an NLI model needs entailment, contradiction and neutral"))
            }
        }
    }

    /// Number of labels.
    pub fn count(&self) -> usize {
        self.order.len()
    }

    /// Softmax over `logits`, assigned to the labels.
    pub fn judge(&self, logits: &[f32]) -> NliResult {
        let mut probabilities = logits.to_vec();
        softmax(&mut probabilities);
        let mut scores = NliScores::default();
        for (label, probability) in self.order.iter().zip(probabilities) {
            match label {
                NliLabel::Supports => scores.supports = probability,
                NliLabel::Refutes => scores.refutes = probability,
                NliLabel::Neutral => scores.neutral = probability,
            }
        }
        let label = scores.label();
        NliResult { label, confidence: scores.of(label), scores }
    }
}

const NLI: [NliLabel; 3] = [NliLabel::Supports, NliLabel::Refutes, NliLabel::Neutral];

fn label(name: &str) -> Option<NliLabel> {
    match name.to_lowercase().as_str() {
        "entailment" | "supports" => Some(NliLabel::Supports),
        "contradiction" | "refutes" => Some(NliLabel::Refutes),
        "neutral" => Some(NliLabel::Neutral),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: [&str; 3]) -> Vec<String> {
        names.map(str::to_owned).to_vec()
    }

    #[test]
    fn order_comes_from_the_names() {
        let labels = NliLabels::from_names(&names(["CONTRADICTION", "entailment", "Neutral"])).unwrap();
        let result = labels.judge(&[0.0, 3.0, 1.0]);
        assert_eq!(result.label, NliLabel::Supports);
        assert!(result.scores.neutral > result.scores.refutes);
        assert!((result.scores.supports + result.scores.refutes + result.scores.neutral - 1.0).abs() < 1e-6);
        assert_eq!(result.confidence, result.scores.supports);
    }

    #[test]
    fn other_labels_are_refused() {
        let error = NliLabels::from_names(&names(["LABEL_0", "LABEL_1", "LABEL_2"])).unwrap_err();
        assert!(error.contains("LABEL_0"), "{error}");
        assert!(NliLabels::from_names(&names(["neutral", "neutral", "entailment"])).is_err());
    }
}

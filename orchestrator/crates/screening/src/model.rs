//! Logistic regression with an L2 penalty.

use crate::Features;

/// Newton steps, steps of conjugate gradients in each, and the size of a gradient that ends them.
const STEPS: usize = 12;
const INNER: usize = 12;
const ENOUGH: f64 = 1e-4;

/// A model that tells relevant documents from others by their terms.
#[derive(Debug, Clone)]
pub struct Model {
    weights: Vec<f64>,
    intercept: f64,
}

impl Model {
    /// Fits the model to labeled documents: their numbers and whether they are relevant. `cost` weighs errors against the
    /// penalty; `balance` weighs each relevant document as so many others.
    pub fn fit(features: &Features, labels: &[(usize, bool)], cost: f64, balance: f64) -> Self {
        let terms = features.terms();
        let rows: Vec<&[(u32, f32)]> = labels.iter().map(|(document, _)| features.row(*document)).collect();
        let costs: Vec<f64> = labels.iter().map(|(_, is)| if *is { cost * balance } else { cost }).collect();
        let wanted: Vec<f64> = labels.iter().map(|(_, is)| f64::from(u8::from(*is))).collect();
        // The last weight is the intercept, which the penalty does not hold back.
        let mut at = vec![0.0; terms + 1];
        let mut first = None;
        for _ in 0..STEPS {
            let chances: Vec<f64> = rows.iter().map(|row| logistic(margin(&at, row))).collect();
            let mut gradient = at.clone();
            gradient[terms] = 0.0;
            for (i, row) in rows.iter().enumerate() {
                add(&mut gradient, row, costs[i] * (chances[i] - wanted[i]));
            }
            let size = norm(&gradient);
            let begin = *first.get_or_insert(size);
            if size <= ENOUGH * begin.max(1e-9) {
                break;
            }
            let bends: Vec<f64> = chances
                .iter()
                .zip(&costs)
                .map(|(chance, cost)| cost * (chance * (1.0 - chance)).max(1e-6))
                .collect();
            let step = solve(&rows, &bends, &gradient);
            for (weight, step) in at.iter_mut().zip(&step) {
                *weight -= step;
            }
        }
        let intercept = at.pop().unwrap_or_default();
        Self { weights: at, intercept }
    }

    /// The log odds that a document is relevant, as far as the labels were weighted truly.
    pub fn margin(&self, features: &Features, document: usize) -> f64 {
        let row = features.row(document);
        self.intercept
            + row.iter().map(|(at, weight)| self.weights[*at as usize] * f64::from(*weight)).sum::<f64>()
    }
}

/// Solves `(penalty + sum of bends × row × rowᵀ) step = gradient` by conjugate gradients.
fn solve(rows: &[&[(u32, f32)]], bends: &[f64], gradient: &[f64]) -> Vec<f64> {
    let last = gradient.len() - 1;
    let mut step = vec![0.0; gradient.len()];
    let mut left = gradient.to_vec();
    let mut along = left.clone();
    let mut size = dot(&left, &left);
    let enough = size * 0.01;
    for _ in 0..INNER {
        let mut bent = along.clone();
        // A little penalty keeps the intercept in bounds when all labels agree.
        bent[last] *= 1e-3;
        for (row, bend) in rows.iter().zip(bends) {
            add(&mut bent, row, bend * margin(&along, row));
        }
        let length = size / dot(&along, &bent).max(f64::MIN_POSITIVE);
        for i in 0..step.len() {
            step[i] += length * along[i];
            left[i] -= length * bent[i];
        }
        let next = dot(&left, &left);
        if next <= enough {
            break;
        }
        let turn = next / size;
        size = next;
        for (along, left) in along.iter_mut().zip(&left) {
            *along = left + turn * *along;
        }
    }
    step
}

/// The chance of these log odds.
pub(crate) fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

fn margin(weights: &[f64], row: &[(u32, f32)]) -> f64 {
    let sum: f64 = row.iter().map(|(at, weight)| weights[*at as usize] * f64::from(*weight)).sum();
    sum + weights[weights.len() - 1]
}

fn add(to: &mut [f64], row: &[(u32, f32)], factor: f64) {
    for (at, weight) in row {
        to[*at as usize] += factor * f64::from(*weight);
    }
    let last = to.len() - 1;
    to[last] += factor;
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

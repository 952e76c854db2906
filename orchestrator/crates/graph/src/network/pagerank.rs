//! `PageRank` by power iteration.

use super::Network;

/// The usual damping factor.
pub(super) const DAMPING: f64 = 0.85;
/// Iteration ends when the scores move by less than this in sum. The distance to the fixed point is then below
/// `TOLERANCE · α/(1−α)`.
const TOLERANCE: f64 = 1e-13;
/// With a damping of 0.85 the tolerance is reached in fewer than 200 rounds.
const MAX_ROUNDS: usize = 1_000;

impl Network {
    /// `PageRank` of every node (Brin and Page 1998), summing to 1: `x = (1−α)/n + α(Σ x_in/outdegree + dangling/n)`. The
    /// weight of nodes without outgoing edges is spread evenly over all nodes.
    ///
    /// `damping` is α in [0, 1); with any other value, for which the iteration need not converge, all nodes get 1/n.
    pub fn pagerank(&self, damping: f64) -> Vec<f64> {
        let n = self.len();
        if n == 0 {
            return Vec::new();
        }
        let even = 1.0 / n as f64;
        let mut scores = vec![even; n];
        if !(0.0..1.0).contains(&damping) {
            return scores;
        }
        // The share that each node passes to each of its targets.
        let mut shares = vec![0.0; n];
        for _ in 0..MAX_ROUNDS {
            let mut dangling = 0.0;
            for (node, share) in shares.iter_mut().enumerate() {
                let degree = self.out_degree(node);
                if degree == 0 {
                    dangling += scores[node];
                } else {
                    *share = scores[node] / degree as f64;
                }
            }
            let base = even * (1.0 - damping + damping * dangling);
            let mut moved = 0.0;
            for (node, score) in scores.iter_mut().enumerate() {
                let given: f64 = self.backward.of(node).iter().map(|&from| shares[from as usize]).sum();
                let next = base + damping * given;
                moved += (next - *score).abs();
                *score = next;
            }
            if moved < TOLERANCE {
                break;
            }
        }
        scores
    }
}

//! Multi-head self-attention over sequences laid end to end.

use super::ops::{Strided, product, softmax};

/// Rows of the score matrix that exist at one time: a long sequence never holds all L×L scores.
const QUERY_BLOCK: usize = 128;

/// Heads of one attention layer.
#[derive(Debug, Clone, Copy)]
pub struct Attention {
    /// Number of heads.
    pub heads: usize,
    /// Width of one head.
    pub head_dim: usize,
}

impl Attention {
    /// `softmax(Q Kᵀ / √d) V` per head (<https://arxiv.org/abs/1706.03762> eq. 1), for each sequence on its own.
    ///
    /// `qkv` is `[tokens, 3 · heads · head_dim]` with queries, keys and values side by side; `out` is
    /// `[tokens, heads · head_dim]`; `lengths` are the tokens of each sequence, in order. Attending only inside a sequence
    /// is what makes an answer independent of the rest of its batch.
    pub fn apply(&self, qkv: &[f32], lengths: &[usize], out: &mut [f32]) {
        let width = self.heads * self.head_dim;
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut scores = vec![0.0; QUERY_BLOCK.min(longest) * longest];
        let mut context = vec![0.0; QUERY_BLOCK.min(longest) * self.head_dim];
        let mut start = 0;
        for &length in lengths {
            let qkv = &qkv[start * 3 * width..(start + length) * 3 * width];
            let out = &mut out[start * width..(start + length) * width];
            for head in 0..self.heads {
                self.head(head, qkv, length, &mut scores, &mut context, out);
            }
            start += length;
        }
    }

    fn head(
        &self,
        head: usize,
        qkv: &[f32],
        length: usize,
        scores: &mut [f32],
        context: &mut [f32],
        out: &mut [f32],
    ) {
        let width = self.heads * self.head_dim;
        let scale = (self.head_dim as f32).sqrt().recip();
        let column = head * self.head_dim;
        let keys =
            Strided { data: &qkv[width + column..], shape: [self.head_dim, length], strides: [1, 3 * width] };
        let values = Strided {
            data: &qkv[2 * width + column..],
            shape: [length, self.head_dim],
            strides: [3 * width, 1],
        };
        for first in (0..length).step_by(QUERY_BLOCK) {
            let rows = QUERY_BLOCK.min(length - first);
            let queries = Strided {
                data: &qkv[first * 3 * width + column..],
                shape: [rows, self.head_dim],
                strides: [3 * width, 1],
            };
            let scores = &mut scores[..rows * length];
            product(queries, keys, scale, scores);
            scores.chunks_exact_mut(length).for_each(softmax);
            let scores = Strided { data: scores, shape: [rows, length], strides: [length, 1] };
            let context = &mut context[..rows * self.head_dim];
            product(scores, values, 1.0, context);
            for (row, values) in context.chunks_exact(self.head_dim).enumerate() {
                let at = (first + row) * width + column;
                out[at..at + self.head_dim].copy_from_slice(values);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula, written out.
    fn reference(attention: Attention, qkv: &[f32], length: usize) -> Vec<f32> {
        let width = attention.heads * attention.head_dim;
        let at = |row: usize, column: usize| qkv[row * 3 * width + column];
        let mut out = vec![0.0; length * width];
        for head in 0..attention.heads {
            let columns = head * attention.head_dim..(head + 1) * attention.head_dim;
            for row in 0..length {
                let dot =
                    |other: usize| columns.clone().map(|c| at(row, c) * at(other, width + c)).sum::<f32>();
                let weights: Vec<f32> = (0..length)
                    .map(|other| (dot(other) / (attention.head_dim as f32).sqrt()).exp())
                    .collect();
                let total: f32 = weights.iter().sum();
                for c in columns.clone() {
                    let sum: f32 = (0..length).map(|other| weights[other] * at(other, 2 * width + c)).sum();
                    out[row * width + c] = sum / total;
                }
            }
        }
        out
    }

    #[test]
    fn sequences_attend_only_to_themselves() {
        let attention = Attention { heads: 2, head_dim: 4 };
        let lengths = [3, QUERY_BLOCK + 7, 1];
        let tokens: usize = lengths.iter().sum();
        let qkv: Vec<f32> = (0..tokens * 24).map(|i| ((i * 37 % 101) as f32 - 50.0) / 40.0).collect();
        let mut out = vec![f32::NAN; tokens * 8];
        attention.apply(&qkv, &lengths, &mut out);
        let mut start = 0;
        for length in lengths {
            let want = reference(attention, &qkv[start * 24..(start + length) * 24], length);
            for (got, want) in out[start * 8..].iter().zip(want) {
                assert!((got - want).abs() < 1e-5, "{got} vs {want}");
            }
            start += length;
        }
    }
}

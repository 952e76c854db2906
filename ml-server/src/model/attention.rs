//! Multi-head self-attention over concatenated sequences.

use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use super::bias::DistanceBias;
use super::kernels::attend::{Head, QUERY_BLOCK};
use super::ops::Strided;
use super::relative::{Relative, RelativeScores};
use super::rotary::Rotary;

/// Tokens from which on the queries of one sequence are shared between two threads.
const WORTH_SPLITTING: usize = 256;

thread_local! {
    // Kept for its buffers, as those of products are.
    static HEAD: Cell<Head> = Cell::default();
}

/// Heads of one attention layer, and their position encoding if the embeddings have none.
pub struct Attention {
    /// Number of heads.
    pub heads: usize,
    /// Width of one head.
    pub head_dim: usize,
    /// Turns queries and keys by their position.
    pub rotary: Option<Arc<Rotary>>,
    /// Adds scores by distance, which depend on the tokens.
    pub relative: Option<Relative>,
    /// Adds scores by distance alone.
    pub bias: Option<Arc<DistanceBias>>,
    /// Farthest distance at which tokens see each other, this one included.
    pub window: Option<usize>,
}

impl Attention {
    /// Every token sees all others of its sequence, and nothing depends on positions.
    pub fn plain(heads: usize, head_dim: usize) -> Self {
        Self { heads, head_dim, rotary: None, relative: None, bias: None, window: None }
    }

    /// `softmax(Q Kᵀ / √d) V` per head (<https://arxiv.org/abs/1706.03762> eq. 1), for each sequence on its own.
    ///
    /// `qkv` is `[tokens, 3 · heads · head_dim]` with queries, keys and values side by side, and is overwritten; `out`
    /// is `[tokens, heads · head_dim]`; `lengths` are the tokens of each sequence, in order. Attention stays inside a
    /// sequence, so an answer does not depend on the rest of its batch.
    pub fn apply(&self, qkv: &mut [f32], lengths: &[usize], out: &mut [f32]) {
        let width = self.heads * self.head_dim;
        let mut start = 0;
        for &length in lengths {
            let qkv = &mut qkv[start * 3 * width..(start + length) * 3 * width];
            let out = &mut out[start * width..(start + length) * width];
            if let Some(rotary) = &self.rotary {
                rotary.apply(qkv, width);
            }
            if length >= WORTH_SPLITTING && rayon::current_num_threads() > 1 {
                let half = (length / 2).next_multiple_of(QUERY_BLOCK);
                let (first, second) = out.split_at_mut(half * width);
                rayon::join(
                    || self.queries(0..half, qkv, length, first),
                    || self.queries(half..length, qkv, length, second),
                );
            } else {
                self.queries(0..length, qkv, length, out);
            }
            start += length;
        }
    }

    /// All heads for some of a sequence's queries; `out` has their rows.
    fn queries(&self, range: Range<usize>, qkv: &[f32], length: usize, out: &mut [f32]) {
        let width = self.heads * self.head_dim;
        let mut head = HEAD.take();
        let mut distances = RelativeScores::default();
        let terms = 1 + self.relative.as_ref().map_or(0, Relative::terms);
        let scale = ((self.head_dim * terms) as f32).sqrt().recip();
        for (number, column) in (0..width).step_by(self.head_dim).enumerate() {
            // Part 0, 1 or 2: queries, keys or values, as `[tokens, head_dim]`.
            let part = |part: usize| Strided {
                data: &qkv[part * width + column..],
                shape: [length, self.head_dim],
                strides: [3 * width, 1],
            };
            let rows = |part: usize| {
                qkv.chunks_exact(3 * width).map(move |row| &row[part * width + column..][..self.head_dim])
            };
            head.load(self.head_dim, length, rows(1), rows(2));
            if let Some(table) = &self.relative {
                table.score([part(0), part(1)], column, width, scale, &mut distances);
            }
            for first in range.clone().step_by(QUERY_BLOCK) {
                let queries = first..range.end.min(first + QUERY_BLOCK);
                let keys = self.seen(&queries, length);
                let from = &qkv[first * 3 * width + column..];
                let context = head.attend(
                    (from, 3 * width, queries.len()),
                    scale,
                    keys.clone(),
                    |query| self.seen(&(first + query..first + query + 1), length),
                    |query, row| {
                        if self.relative.is_some() {
                            distances.add_to(first + query, keys.start, row);
                        }
                        if let Some(bias) = &self.bias {
                            bias.add_to(number, first + query, keys.start, row);
                        }
                    },
                );
                for (query, values) in queries.zip(context) {
                    let at = (query - range.start) * width + column;
                    out[at..at + self.head_dim].copy_from_slice(values);
                }
            }
        }
        HEAD.set(head);
    }

    /// Tokens that at least one of `queries` sees.
    fn seen(&self, queries: &Range<usize>, length: usize) -> Range<usize> {
        self.window.map_or(0..length, |window| {
            queries.start.saturating_sub(window)..length.min(queries.end + window)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::bias::BUCKETS;
    use super::super::relative::Buckets;
    use super::*;

    /// The formula, written out.
    fn reference(attention: &Attention, qkv: &[f32], length: usize) -> Vec<f32> {
        let width = attention.heads * attention.head_dim;
        let at = |row: usize, column: usize| qkv[row * 3 * width + column];
        let relative = attention.relative.as_ref();
        let terms = 1 + relative.map_or(0, Relative::terms);
        let mut out = vec![0.0; length * width];
        for head in 0..attention.heads {
            let columns = head * attention.head_dim..(head + 1) * attention.head_dim;
            for row in 0..length {
                let weight = |other: usize| {
                    if attention.window.is_some_and(|window| row.abs_diff(other) > window) {
                        return 0.0;
                    }
                    let mut dot: f32 = columns.clone().map(|c| at(row, c) * at(other, width + c)).sum();
                    if let Some(relative) = relative {
                        let bucket = relative.buckets.row(row.cast_signed() - other.cast_signed()) * width;
                        let (keys, queries) = (relative.keys.as_ref(), relative.queries.as_ref());
                        for c in columns.clone() {
                            dot += keys.map_or(0.0, |keys| at(row, c) * keys[bucket + c]);
                            dot += queries.map_or(0.0, |queries| at(other, width + c) * queries[bucket + c]);
                        }
                    }
                    let mut score = [dot / ((attention.head_dim * terms) as f32).sqrt()];
                    if let Some(bias) = &attention.bias {
                        bias.add_to(head, row, other, &mut score);
                    }
                    score[0].exp()
                };
                let weights: Vec<f32> = (0..length).map(weight).collect();
                let total: f32 = weights.iter().sum();
                for c in columns.clone() {
                    let sum: f32 = (0..length).map(|other| weights[other] * at(other, 2 * width + c)).sum();
                    out[row * width + c] = sum / total;
                }
            }
        }
        out
    }

    fn values(count: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * 37 % 101) as f32 - 50.0) / 40.0).collect()
    }

    fn check(attention: &Attention) {
        let lengths = [3, QUERY_BLOCK + 7, 1, 2 * QUERY_BLOCK + 30];
        let tokens: usize = lengths.iter().sum();
        let qkv = values(tokens * 24);
        let mut out = vec![f32::NAN; tokens * 8];
        attention.apply(&mut qkv.clone(), &lengths, &mut out);
        let mut start = 0;
        for length in lengths {
            let want = reference(attention, &qkv[start * 24..(start + length) * 24], length);
            for (got, want) in out[start * 8..].iter().zip(want) {
                assert!((got - want).abs() < 1e-5, "{got} vs {want}");
            }
            start += length;
        }
    }

    #[test]
    fn sequences_attend_only_to_themselves() {
        check(&Attention::plain(2, 4));
    }

    #[test]
    fn windows_hide_what_is_farther_away() {
        for window in [0, 5, QUERY_BLOCK, 1_000] {
            check(&Attention { window: Some(window), ..Attention::plain(2, 4) });
        }
        // By hand: equal scores, so each token gets the average of the values at distance 1 or less.
        let attention = Attention { window: Some(1), ..Attention::plain(1, 1) };
        let mut qkv = [0.0, 0.0, 6.0, 0.0, 0.0, 12.0, 0.0, 0.0, 30.0, 0.0, 0.0, 60.0];
        let mut out = [0.0; 4];
        attention.apply(&mut qkv, &[4], &mut out);
        for (got, want) in out.into_iter().zip([9.0, 16.0, 34.0, 45.0]) {
            assert!((got - want).abs() < 1e-5, "{got} vs {want}");
        }
    }

    #[test]
    fn distances_add_to_scores() {
        let buckets = Buckets { span: 8, longest: Some(64) };
        let table = || Some(values(16 * 8));
        for (keys, queries) in [(table(), table()), (table(), None), (None, table()), (None, None)] {
            for window in [None, Some(9)] {
                let relative = Some(Relative { buckets, keys: keys.clone(), queries: queries.clone() });
                check(&Attention { relative, window, ..Attention::plain(2, 4) });
            }
        }
    }

    #[test]
    fn heads_have_their_own_bias() {
        let bias = Arc::new(DistanceBias::new(&values(BUCKETS * 2), 2, 3 * QUERY_BLOCK + 30));
        for window in [None, Some(9)] {
            check(&Attention { bias: Some(Arc::clone(&bias)), window, ..Attention::plain(2, 4) });
        }
    }
}

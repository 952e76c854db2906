//! Attention of one head over one sequence, a block of queries at a time.
//!
//! Keys are laid out with a column per token and values with a row per token, so that every inner loop runs over neighboring
//! numbers; both fit the second-level cache for texts of usual length. It works with any vector width of the machine.

#![expect(
    clippy::inline_always,
    reason = "vector code must become part of the function that enables its instructions"
)]
#![expect(
    unsafe_code,
    reason = "vectors are read through pointers; every SAFETY comment says why they stay inside"
)]

use std::ops::Range;

use rten_simd::ops::{BitOps, FloatOps, IntOps, NumOps};
use rten_simd::{Isa, Simd, SimdOp};

/// Queries whose scores exist at the same time: a long sequence never has all L×L of them.
pub const QUERY_BLOCK: usize = 24;
/// Numbers that are read together: two vectors, of at most 16 numbers each.
const STEP: usize = 32;

/// Keys and values of one head, and room for the scores of a block of queries.
#[derive(Default)]
pub struct Head {
    /// `[head_dim, stride]`: tokens side by side, then stale values, which are ignored.
    keys: Vec<f32>,
    stride: usize,
    /// `[tokens, padded]`, beyond the head's width as above.
    values: Vec<f32>,
    padded: usize,
    depth: usize,
    /// `[QUERY_BLOCK, stride]`
    scores: Vec<f32>,
    context: Vec<f32>,
}

impl Head {
    /// Replaces the keys and values with those of a sequence, rows of `head_dim` numbers each.
    pub fn load<'a>(
        &mut self,
        head_dim: usize,
        length: usize,
        keys: impl Iterator<Item = &'a [f32]>,
        values: impl Iterator<Item = &'a [f32]>,
    ) {
        self.depth = head_dim;
        // A window may begin anywhere, and is read to the end of its last step.
        self.stride = length.next_multiple_of(STEP) + STEP;
        self.padded = head_dim.next_multiple_of(STEP);
        self.keys.resize(head_dim * self.stride, 0.0);
        for (token, key) in keys.take(length).enumerate() {
            for (column, value) in self.keys[token..].iter_mut().step_by(self.stride).zip(key) {
                *column = *value;
            }
        }
        self.values.resize(length * self.padded, 0.0);
        for (row, value) in self.values.chunks_exact_mut(self.padded).zip(values) {
            row[..head_dim].copy_from_slice(value);
        }
        self.scores.resize(QUERY_BLOCK * self.stride, 0.0);
        self.context.resize(QUERY_BLOCK * self.padded, 0.0);
    }

    /// `softmax(scale · q Kᵀ) V` of a block of queries, of which `seen` says what each sees of `keys`, the tokens that any of them
    /// sees. `adjust` may add to a query's scores for `keys`. One row of `head_dim` numbers per query.
    ///
    /// `queries` starts at the first query's first number and has one every `step` numbers.
    pub fn attend(
        &mut self,
        (queries, step, count): (&[f32], usize, usize),
        scale: f32,
        keys: Range<usize>,
        seen: impl Fn(usize) -> Range<usize>,
        adjust: impl Fn(usize, &mut [f32]),
    ) -> impl Iterator<Item = &[f32]> {
        let width = keys.len().next_multiple_of(STEP);
        assert!(count <= QUERY_BLOCK && !keys.is_empty() && keys.end * self.padded <= self.values.len());
        assert!(queries.len() >= (count - 1) * step + self.depth && keys.start + width <= self.stride);
        let scores = &mut self.scores[..count * width];
        Scores {
            queries,
            step,
            count,
            keys: &self.keys[keys.start..],
            stride: self.stride,
            depth: self.depth,
            scale,
            out: scores,
        }
        .dispatch();
        let mut shares = [0.0; QUERY_BLOCK];
        for (query, (row, share)) in scores.chunks_exact_mut(width).zip(&mut shares).enumerate() {
            let row = &mut row[..keys.len()];
            adjust(query, row);
            let seen = seen(query);
            row[..seen.start - keys.start].fill(0.0);
            row[seen.end - keys.start..].fill(0.0);
            *share =
                Exponentials(&mut row[seen.start - keys.start..seen.end - keys.start]).dispatch().recip();
        }
        Mix {
            weights: scores,
            width,
            shares: &shares[..count],
            values: &self.values[keys.start * self.padded..keys.end * self.padded],
            padded: self.padded,
            out: &mut self.context[..count * self.padded],
        }
        .dispatch();
        self.context.chunks_exact(self.padded).take(count).map(|row| &row[..self.depth])
    }
}

/// Evaluates `$tile` for all of `$count` rows, `$rows` from `$first` on at a time: as many as there are registers for.
macro_rules! by_rows {
    ($isa:expr, $count:expr, |$first:ident, $rows:ident| $tile:expr) => {{
        let (mut $first, count) = (0, $count);
        if $isa.f32().len() >= 16 {
            const $rows: usize = 8;
            while $first + $rows <= count {
                $tile;
                $first += $rows;
            }
        }
        {
            const $rows: usize = 4;
            while $first + $rows <= count {
                $tile;
                $first += $rows;
            }
        }
        {
            const $rows: usize = 1;
            while $first < count {
                $tile;
                $first += $rows;
            }
        }
    }};
}

/// `out = scale · q Kᵀ`, `[count, width]` with a whole number of steps in a row.
struct Scores<'a> {
    queries: &'a [f32],
    step: usize,
    count: usize,
    keys: &'a [f32],
    stride: usize,
    depth: usize,
    scale: f32,
    out: &'a mut [f32],
}

impl SimdOp for Scores<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(mut self, isa: I) {
        let width = self.out.len() / self.count;
        assert!(
            width.is_multiple_of(STEP) && self.queries.len() >= (self.count - 1) * self.step + self.depth
        );
        assert!(self.keys.len() >= (self.depth - 1) * self.stride + width);
        for column in (0..width).step_by(2 * isa.f32().len()) {
            by_rows!(isa, self.count, |first, ROWS| self.tile::<I, ROWS>(isa, first, column));
        }
    }
}

impl Scores<'_> {
    #[inline(always)]
    fn tile<I: Isa, const ROWS: usize>(&mut self, isa: I, first: usize, column: usize) {
        let ops = isa.f32();
        let width = self.out.len() / self.count;
        let mut sums = [[ops.zero(); 2]; ROWS];
        for depth in 0..self.depth {
            // SAFETY: `eval` has asserted that there are `depth` columns of keys with `width` from here on, of which these two
            // vectors are a part, and that each row's query has `depth` numbers.
            unsafe {
                let keys = self.keys.as_ptr().add(depth * self.stride + column);
                let keys = [ops.load_ptr(keys), ops.load_ptr(keys.add(ops.len()))];
                for (row, sums) in sums.iter_mut().enumerate() {
                    let query = ops.splat(*self.queries.get_unchecked((first + row) * self.step + depth));
                    *sums = [ops.mul_add(query, keys[0], sums[0]), ops.mul_add(query, keys[1], sums[1])];
                }
            }
        }
        let scale = ops.splat(self.scale);
        for (row, sums) in sums.into_iter().enumerate() {
            let out = &mut self.out[(first + row) * width + column..][..2 * ops.len()];
            ops.store(ops.mul(sums[0], scale), out);
            ops.store(ops.mul(sums[1], scale), &mut out[ops.len()..]);
        }
    }
}

/// Replaces each x by exp(x − largest), and gives their sum.
struct Exponentials<'a>(&'a mut [f32]);

impl SimdOp for Exponentials<'_> {
    type Output = f32;

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) -> f32 {
        let ops = isa.f32();
        let mut largest = ops.splat(f32::NEG_INFINITY);
        let mut chunks = self.0.chunks_exact(ops.len());
        for chunk in &mut chunks {
            largest = ops.max(largest, ops.load(chunk));
        }
        let (rest, mask) = ops.load_pad(chunks.remainder());
        largest = ops.max(largest, ops.select(rest, largest, mask));
        let largest = ops.splat(largest.to_array().into_iter().fold(f32::NEG_INFINITY, f32::max));

        let mut sum = ops.zero();
        let mut chunks = self.0.chunks_exact_mut(ops.len());
        for chunk in &mut chunks {
            let value = exp(isa, ops.sub(ops.load(chunk), largest));
            sum = ops.add(sum, value);
            ops.store(value, chunk);
        }
        let rest = chunks.into_remainder();
        let (values, mask) = ops.load_pad(rest);
        let values = ops.select(exp(isa, ops.sub(values, largest)), ops.zero(), mask);
        rest.iter_mut().zip(values.to_array()).for_each(|(rest, value)| *rest = value);
        ops.sum(ops.add(sum, values))
    }
}

/// eˣ for x ≤ 0, to 3·10⁻⁷ of its value, and 0 below −87.
///
/// eˣ = 2ⁿ eʳ with n = round(x / ln 2), so that |r| ≤ ln 2 / 2, and eʳ from its Taylor series up to r⁶ / 6!, with a
/// remainder below 1.3·10⁻⁷.
#[inline(always)]
fn exp<I: Isa>(isa: I, x: I::F32) -> I::F32 {
    // ln 2 in two parts, of which the first times a small whole number is exact.
    const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
    const LEAST: f32 = -87.0;
    let (ops, whole) = (isa.f32(), isa.i32());
    let zero = ops.lt(x, ops.splat(LEAST));
    let n = ops.round_ties_even(ops.mul(x, ops.splat(std::f32::consts::LOG2_E)));
    let r = ops.mul_add(n, ops.splat(-LN_2.0), x);
    let r = ops.mul_add(n, ops.splat(-LN_2.1), r);
    let mut series = ops.splat(1.0 / 720.0);
    for term in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        series = ops.mul_add(series, r, ops.splat(term));
    }
    let power = whole.shift_left::<23>(whole.add(ops.to_int_trunc(n), whole.splat(127)));
    ops.select(ops.zero(), ops.mul(series, power.reinterpret_cast()), zero)
}

/// `out = share · weights V`, a share for each row.
struct Mix<'a> {
    weights: &'a [f32],
    width: usize,
    shares: &'a [f32],
    values: &'a [f32],
    padded: usize,
    out: &'a mut [f32],
}

impl SimdOp for Mix<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(mut self, isa: I) {
        let (count, tokens) = (self.shares.len(), self.values.len() / self.padded);
        assert!(
            self.padded.is_multiple_of(STEP)
                && tokens <= self.width
                && self.weights.len() == count * self.width
        );
        for column in (0..self.padded).step_by(2 * isa.f32().len()) {
            by_rows!(isa, count, |first, ROWS| self.tile::<I, ROWS>(isa, first, column));
        }
    }
}

impl Mix<'_> {
    #[inline(always)]
    fn tile<I: Isa, const ROWS: usize>(&mut self, isa: I, first: usize, column: usize) {
        let ops = isa.f32();
        let mut sums = [[ops.zero(); 2]; ROWS];
        for token in 0..self.values.len() / self.padded {
            // SAFETY: a token has `padded` values, of which these two vectors are a part, and `eval` has asserted that each row
            // has a weight for every token.
            unsafe {
                let values = self.values.as_ptr().add(token * self.padded + column);
                let values = [ops.load_ptr(values), ops.load_ptr(values.add(ops.len()))];
                for (row, sums) in sums.iter_mut().enumerate() {
                    let weight = ops.splat(*self.weights.get_unchecked((first + row) * self.width + token));
                    *sums =
                        [ops.mul_add(weight, values[0], sums[0]), ops.mul_add(weight, values[1], sums[1])];
                }
            }
        }
        for (row, sums) in sums.into_iter().enumerate() {
            let share = ops.splat(self.shares[first + row]);
            let out = &mut self.out[(first + row) * self.padded + column..][..2 * ops.len()];
            ops.store(ops.mul(sums[0], share), out);
            ops.store(ops.mul(sums[1], share), &mut out[ops.len()..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(count: usize, step: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * step) % 1_009) as f32 / 300.0 - 1.7).collect()
    }

    proptest! {
        #[test]
        fn blocks_follow_the_formula(
            depth in 1usize..70, length in 1usize..90, count in 1usize..=QUERY_BLOCK, step in 0usize..9,
            from in 0.0..1.0, share in 0.0..1.0,
        ) {
            let start = (from * length as f64) as usize;
            let keys = start..start + 1 + (share * (length - start - 1) as f64) as usize;
            let (key, value) = (numbers(length * depth, 37), numbers(length * depth, 101));
            let step = depth + step;
            let queries = numbers(count * step, 61);
            // A query sees one key less than the one before, but always one.
            let seen = |query: usize| keys.start + query.min(keys.len() - 1)..keys.end;
            let mut head = Head::default();
            // A longer sequence before has no effect.
            let longer = numbers(200 * depth, 3);
            head.load(depth, 200, longer.chunks_exact(depth), longer.chunks_exact(depth));
            head.load(depth, length, key.chunks_exact(depth), value.chunks_exact(depth));
            let adjust = |query: usize, row: &mut [f32]| row.iter_mut().for_each(|score| *score += query as f32);
            let rows = head.attend((&queries, step, count), 0.3, keys.clone(), seen, adjust);
            for (query, row) in rows.enumerate() {
                let score = |token: usize| -> f64 {
                    let pairs = queries[query * step..][..depth].iter().zip(&key[token * depth..]);
                    pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>() * 0.3
                };
                let largest = seen(query).map(score).fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = seen(query).map(|token| (score(token) - largest).exp()).sum();
                for (column, got) in row.iter().enumerate() {
                    let weighted = |token| (score(token) - largest).exp() * f64::from(value[token * depth + column]);
                    let want = seen(query).map(weighted).sum::<f64>() / total;
                    prop_assert!((f64::from(*got) - want).abs() < 1e-4, "{} vs {}", got, want);
                }
            }
        }
    }

    #[test]
    fn exponentials_are_as_exact_as_promised() {
        let mut values: Vec<f32> = (0..90_000).map(|i| i as f32 / -1_000.0).collect();
        let exact = values.clone();
        Exponentials(&mut values).dispatch();
        for (got, x) in values.into_iter().zip(exact) {
            let want = f64::from(x).exp();
            let off = (f64::from(got) - want).abs();
            assert!(off < 3e-7 * want || x < -87.0 && got == 0.0, "{x}: {got} vs {want}");
        }
    }
}

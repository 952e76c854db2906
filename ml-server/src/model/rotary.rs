//! Rotary position embedding: queries and keys are turned by angles that grow with their position.

/// Angles of `RoPE` (<https://arxiv.org/abs/2104.09864> eq. 34), the two halves of a head's vector forming the pairs.
pub struct Rotary {
    /// `[positions, half]`
    cos: Vec<f32>,
    /// `[positions, half]`
    sin: Vec<f32>,
    half: usize,
}

impl Rotary {
    /// Tables for heads of `head_dim` (even) values: pair i turns by `position · theta^(−2i / head_dim)`.
    pub fn new(theta: f32, head_dim: usize, positions: usize) -> Self {
        let half = head_dim / 2;
        let frequency = |pair: usize| theta.powf((2 * pair) as f32 / head_dim as f32).recip();
        let angles =
            (0..positions).flat_map(|position| (0..half).map(move |pair| position as f32 * frequency(pair)));
        let (cos, sin) = angles.map(|angle| (angle.cos(), angle.sin())).unzip();
        Self { cos, sin, half }
    }

    /// Cosines and sines, `[positions, head_dim / 2]` each.
    #[cfg(any(feature = "cuda", feature = "candle"))]
    pub(super) fn tables(&self) -> (&[f32], &[f32]) {
        (&self.cos, &self.sin)
    }

    /// Turns the queries and keys of one sequence in place. `qkv` is `[tokens, 3 · width]` with queries, keys and values of
    /// `width` side by side; `width` is a multiple of the head's.
    pub fn apply(&self, qkv: &mut [f32], width: usize) {
        for (position, row) in qkv.chunks_exact_mut(3 * width).enumerate() {
            let at = position * self.half..(position + 1) * self.half;
            let (cos, sin) = (&self.cos[at.clone()], &self.sin[at]);
            for head in row[..2 * width].chunks_exact_mut(2 * self.half) {
                let (first, second) = head.split_at_mut(self.half);
                for (((a, b), cos), sin) in first.iter_mut().zip(second).zip(cos).zip(sin) {
                    (*a, *b) = (*a * cos - *b * sin, *b * cos + *a * sin);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: &[f32], want: &[f32]) {
        assert_eq!(got.len(), want.len());
        for (got, want) in got.iter().zip(want) {
            assert!((got - want).abs() < 1e-4, "{got} vs {want}");
        }
    }

    #[test]
    fn pairs_turn_by_their_own_frequency() {
        // Heads of 4 with theta 100: pair (0, 2) turns by the position, pair (1, 3) by a tenth of it.
        let rotary = Rotary::new(100.0, 4, 3);
        let row = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 5.0, 6.0, 7.0, 8.0];
        let mut qkv = [row, row, row].concat();
        rotary.apply(&mut qkv, 4);
        near(&qkv[..12], &row);
        // cos 1 = 0.5403, sin 1 = 0.8415, cos 0.1 = 0.9950, sin 0.1 = 0.0998
        let query = [0.5403, 0.9950, 0.8415, 0.0998];
        let key = [-1.6829, -0.1997, 1.0806, 1.9900];
        near(&qkv[12..], &[&query[..], &key, &[5.0, 6.0, 7.0, 8.0], &qkv[24..]].concat());
        // cos 2 = −0.4161, sin 2 = 0.9093, cos 0.2 = 0.9801, sin 0.2 = 0.1987
        near(&qkv[24..28], &[-0.4161, 0.9801, 0.9093, 0.1987]);
    }

    #[test]
    fn products_depend_on_the_distance_only() {
        let rotary = Rotary::new(10_000.0, 8, 50);
        let row: Vec<f32> = (0..24u8).map(|i| f32::from(i % 7) - 3.0).collect();
        let mut qkv = row.repeat(50);
        rotary.apply(&mut qkv, 8);
        let dot = |query: usize, key: usize| -> f32 {
            (0..8).map(|i| qkv[query * 24 + i] * qkv[key * 24 + 8 + i]).sum()
        };
        near(&[dot(2, 5), dot(10, 10)], &[dot(46, 49), dot(0, 0)]);
    }
}

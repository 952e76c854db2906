//! Vectors of f32 as embeddings are, and the same with a byte per number.

mod bytes;

pub use bytes::{ByteQuery, to_bytes};

/// Dot product over the shorter length; the cosine when both are L2-normalized.
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight running sums let the compiler use vector registers, which one running sum forbids.
    let mut sums = [0.0_f32; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f32 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn dot_agrees_with_the_plain_sum(pairs in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 0..100)) {
            let (a, b): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let plain: f64 = pairs.iter().map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
            prop_assert!((f64::from(dot(&a, &b)) - plain).abs() < 1e-4);
        }
    }
}

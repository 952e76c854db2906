//! The activation between the two products of a feed-forward block.

#![expect(
    clippy::inline_always,
    reason = "vector code must become part of the function that enables its instructions"
)]

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdUnaryOp};

/// `x Φ(x)` with the normal distribution function Φ, to 1.5·10⁻⁶.
///
/// Φ(x) − ½ = x Q(x²) for |x| < 5.3, with Q fitted at Chebyshev nodes; beyond, Φ is 0 or 1 to 6·10⁻⁸. It is fast
/// because it has no exponential and no division.
pub struct Gelu;

/// Beyond this, Φ counts as 0 or 1.
const FAR: f32 = 5.3;
/// Coefficients of Q, the highest power first. Its argument is 2 x² / [`FAR`]² − 1, from −1 to 1, which keeps them small and
/// rounding harmless.
const Q: [f32; 14] = [
    -6.228_305e-4,
    1.653_931_6e-3,
    -1.521_166e-3,
    1.964_81e-3,
    -5.362_306_3e-3,
    9.559_548e-3,
    -1.345_125_2e-2,
    1.869_310_6e-2,
    -2.522_853_2e-2,
    3.211_443_5e-2,
    -3.959_668_4e-2,
    4.926_222e-2,
    -6.651_826e-2,
    1.333_925_9e-1,
];

impl SimdUnaryOp<f32> for Gelu {
    #[inline(always)]
    fn eval<I: Isa>(&self, isa: I, x: I::F32) -> I::F32 {
        let ops = isa.f32();
        let argument = ops.mul_add(ops.mul(x, x), ops.splat(2.0 / (FAR * FAR)), ops.splat(-1.0));
        let mut q = ops.splat(Q[0]);
        for coefficient in &Q[1..] {
            q = ops.mul_add(q, argument, ops.splat(*coefficient));
        }
        let near = ops.mul(x, ops.mul_add(x, q, ops.splat(0.5)));
        // NaN is neither above nor below the limit, and stays NaN.
        let up = ops.select(x, near, ops.ge(x, ops.splat(FAR)));
        ops.select(ops.zero(), up, ops.le(x, ops.splat(-FAR)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Φ from its series, ½ + φ(x) Σ x²ᵏ⁺¹ / (1 · 3 · … · (2k + 1)).
    fn distribution(x: f64) -> f64 {
        let (mut term, mut sum) = (x, 0.0);
        for k in 1..300 {
            sum += term;
            term *= x * x / f64::from(2 * k + 1);
        }
        0.5 + sum * (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt()
    }

    #[test]
    fn gelu_is_as_exact_as_promised() {
        let mut values: Vec<f32> = (-80_000..80_000).map(|i| i as f32 / 1e4).collect();
        let exact = values.clone();
        Gelu.map_mut(&mut values);
        for (got, x) in values.into_iter().zip(exact) {
            let want = f64::from(x) * distribution(f64::from(x));
            assert!((f64::from(got) - want).abs() < 1.5e-6, "{x}: {got} vs {want}");
        }
    }

    #[test]
    fn far_and_foreign_values() {
        let mut values = [1e30, -1e30, f32::INFINITY, f32::NAN, 0.0, 100.0, -100.0];
        Gelu.map_mut(&mut values);
        assert_eq!(values[..3], [1e30, 0.0, f32::INFINITY]);
        assert!(values[3].is_nan());
        assert_eq!(values[4..], [0.0, 100.0, 0.0]);
    }
}

//! The Beta distribution: density, distribution function, and quantiles.

/// Parameters above this are scaled down together, which keeps the mean. The deviation is then below 0.0005, far less
/// than a pixel.
const LARGEST: f64 = 1e6;
/// Terms of the continued fraction; it needs a small multiple of the square root of the larger parameter.
const TERMS: u32 = 10_000;
/// Steps of the search for a quantile. Newton's method needs few, halving of the interval fewer than this.
const STEPS: usize = 100;

/// Beta(α, β) with α, β ≥ 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beta {
    a: f64,
    b: f64,
    /// ln B(α, β): the logarithm of the integral that the density is divided by.
    ln_integral: f64,
}

impl Beta {
    /// Parameters below 1 become 1.
    pub(super) fn new(alpha: f64, beta: f64) -> Self {
        let [alpha, beta] = [alpha, beta].map(|v| if v.is_nan() { 1.0 } else { v.clamp(1.0, 1e12) });
        let scale = (LARGEST / alpha.max(beta)).min(1.0);
        let (a, b) = ((alpha * scale).max(1.0), (beta * scale).max(1.0));
        Self { a, b, ln_integral: ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b) }
    }

    /// α/(α+β), in (0, 1).
    pub(super) fn mean(&self) -> f64 {
        self.a / (self.a + self.b)
    }

    /// The standard deviation, in (0, 0.289].
    pub(super) fn deviation(&self) -> f64 {
        let n = self.a + self.b;
        (self.a * self.b / (n * n * (n + 1.0))).sqrt()
    }

    /// Where the density is largest, in [0, 1]; the middle where it is flat.
    pub(super) fn mode(&self) -> f64 {
        let n = self.a + self.b - 2.0;
        if n > 0.0 { (self.a - 1.0) / n } else { 0.5 }
    }

    /// The logarithm of the density at x in [0, 1]; -∞ where the density is 0.
    pub(super) fn ln_density(&self, x: f64) -> f64 {
        // 0 · ln 0 is 0 here: x⁰ is 1 everywhere.
        let term = |power: f64, ln: f64| if power == 0.0 { 0.0 } else { power * ln };
        term(self.a - 1.0, x.ln()) + term(self.b - 1.0, (-x).ln_1p()) - self.ln_integral
    }

    /// The probability of values up to x: the regularized incomplete beta function.
    pub(super) fn below(&self, x: f64) -> f64 {
        if x <= 0.0 {
            return 0.0;
        }
        if x >= 1.0 {
            return 1.0;
        }
        let (a, b) = (self.a, self.b);
        let front = (a * x.ln() + b * (-x).ln_1p() - self.ln_integral).exp();
        // The fraction converges fast on this side of the mean only; the other side is its mirror image.
        if x < (a + 1.0) / (a + b + 2.0) {
            front * fraction(a, b, x) / a
        } else {
            1.0 - front * fraction(b, a, 1.0 - x) / b
        }
    }

    /// The value below which the probability is p, for p in (0, 1): Newton's method within an interval that shrinks,
    /// and halving where a step of Newton leaves it.
    pub(super) fn quantile(&self, p: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        let mut x = self.mean();
        for _ in 0..STEPS {
            let excess = self.below(x) - p;
            if excess > 0.0 {
                high = x;
            } else {
                low = x;
            }
            let step = x - excess / self.ln_density(x).exp();
            let next = if step > low && step < high { step } else { f64::midpoint(low, high) };
            let moved = (next - x).abs();
            x = next;
            if moved <= 4.0 * f64::EPSILON * x {
                break;
            }
        }
        x
    }

    /// The equal-tailed interval that holds 90 % of the probability.
    pub(super) fn interval(&self) -> (f64, f64) {
        (self.quantile(0.05), self.quantile(0.95))
    }
}

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method.
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut above = 1.0;
    let mut below = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut product = below;
    for term in 1..=TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for numerator in [even, odd] {
            below = 1.0 / away_from_zero(1.0 + numerator * below);
            above = away_from_zero(1.0 + numerator / above);
            change = below * above;
            product *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    product
}

/// ln Γ(x) for x ≥ 1: Lanczos' approximation with g = 7 and nine coefficients (Godfrey).
fn ln_gamma(x: f64) -> f64 {
    const G: f64 = 7.0;
    const COEFFICIENTS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let series = 0.999_999_999_999_809_9
        + COEFFICIENTS.iter().zip(1_u32..).map(|(c, i)| c / (x + f64::from(i))).sum::<f64>();
    let t = x + G + 0.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + series.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computed with `SciPy` 1.17: `scipy.stats.beta(α, β).ppf([0.05, 0.5, 0.95])` and `.logpdf(0.3)`.
    #[test]
    fn quantiles_and_densities_agree_with_scipy() {
        for (alpha, beta, quantiles, ln_density) in [
            (1.0, 1.0, [0.05, 0.5, 0.95], 0.0),
            (
                2.0,
                1.0,
                [0.223_606_797_749_978, 0.707_106_781_186_546_5, 0.974_679_434_480_896_1],
                -0.510_825_623_765_99,
            ),
            (
                1.0,
                2.0,
                [0.025_320_565_519_103_6, 0.292_893_218_813_452_5, 0.776_393_202_250_021],
                0.336_472_236_621_213,
            ),
            (
                3.7,
                1.2,
                [0.410_503_689_133_353_9, 0.791_296_775_700_725, 0.975_754_550_683_671_2],
                -1.636_202_896_752_505,
            ),
            (
                1.05,
                1.0,
                [0.057_666_529_269_466_97, 0.516_778_891_503_513_9, 0.952_323_247_090_992_1],
                -0.011_408_476_046_865,
            ),
            (
                10.0,
                4.0,
                [0.505_350_269_848_634_5, 0.724_724_167_513_743_8, 0.887_334_219_209_717_8],
                -3.947_203_166_935_7,
            ),
            (1e4, 1e4, [0.494_184_688_214_794_2, 0.5, 0.505_815_311_785_205_8], -1_738.633_578_137_012_6),
            (
                1e4,
                1.0,
                [0.999_700_471_640_223_4, 0.999_930_687_684_153_6, 0.999_994_870_683_716_3],
                -12_029.313_730_083,
            ),
            (
                1.0,
                1e4,
                [5.129_316_283_767_3e-6, 6.931_231_584_642e-5, 2.995_283_597_766e-4],
                -3_557.182_424_071_404_5,
            ),
            (
                9876.5,
                123.25,
                [0.985_806_188_331_933, 0.987_707_190_521_799_2, 0.989_432_333_621_519_4],
                -11_267.648_942_500_293,
            ),
            (
                1000.0,
                1.5,
                [0.996_101_232_131_677_2, 0.998_818_007_743_719_9, 0.999_824_136_266_962_1],
                -1_192.464_378_962_423_8,
            ),
        ] {
            let shape = Beta::new(alpha, beta);
            for (p, want) in [0.05, 0.5, 0.95].into_iter().zip(quantiles) {
                let got = shape.quantile(p);
                assert!((got - want).abs() < 1e-9, "Beta({alpha}, {beta}), p = {p}: {got} is not {want}");
            }
            let got = shape.ln_density(0.3);
            assert!((got - ln_density).abs() < 1e-7, "Beta({alpha}, {beta}): {got} is not {ln_density}");
        }
    }

    /// Computed with `SciPy` 1.17: `scipy.special.betainc`.
    #[test]
    fn probabilities_agree_with_scipy() {
        for (alpha, beta, x, want) in [
            (2.0, 3.0, 0.4, 0.5248),
            (1e4, 1e4, 0.499, 0.388_649_952_142_537_8),
            (50.0, 3.0, 0.9, 0.096_633_285_137_252_2),
            (1.5, 2000.0, 0.001, 0.738_805_859_189_539_6),
        ] {
            let got = Beta::new(alpha, beta).below(x);
            assert!((got - want).abs() < 1e-9, "Beta({alpha}, {beta}) below {x}: {got} is not {want}");
        }
    }

    #[test]
    fn parameters_out_of_range_keep_the_mean_where_they_can() {
        let shape = Beta::new(3e9, 1e9);
        assert!((shape.mean() - 0.75).abs() < 1e-9);
        assert_eq!(Beta::new(f64::NAN, -3.0).mean(), 0.5);
    }

    proptest! {
        #[test]
        fn quantiles_invert_the_distribution(a in 0.0_f64..6.0, b in 0.0_f64..6.0, p in 0.001_f64..0.999) {
            let shape = Beta::new(10_f64.powf(a), 10_f64.powf(b));
            let x = shape.quantile(p);
            prop_assert!((0.0..=1.0).contains(&x));
            // One unit in the last place of x may be this much probability.
            let resolution = shape.ln_density(x).exp() * f64::EPSILON * 8.0;
            prop_assert!((shape.below(x) - p).abs() < 1e-7 + resolution);
        }

        #[test]
        fn mirrored_parameters_mirror_the_quantiles(a in 1.0_f64..300.0, b in 1.0_f64..300.0, p in 0.01_f64..0.99) {
            let (left, right) = (Beta::new(a, b).quantile(p), Beta::new(b, a).quantile(1.0 - p));
            prop_assert!((left - (1.0 - right)).abs() < 1e-9);
        }
    }
}

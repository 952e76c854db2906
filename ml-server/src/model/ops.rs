//! Dense arithmetic on the CPU: matrix products with bias and residual in the same pass, and row-wise functions.
//!
//! Kernels are chosen at run time for the instruction set at hand (AVX-512, AVX2, NEON, portable). Products split over the
//! rayon pool that the caller runs in.

use std::cell::Cell;

use rten_gemm::{BiasVector, GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_simd::{SimdOp, SimdUnaryOp};
use rten_tensor::NdTensorView;
use rten_vecmath::{ApproxGelu, Normalize, NormalizeOptions, Softmax, Sum, SumSquareSub, Tanh};

use super::kernels::gelu::Gelu;
use super::kernels::q8::{Matrix, Rows, Write};
use super::weights::{LinearWeights, TensorData};

thread_local! {
    // An executor is only the choice of a kernel, but cannot be shared between threads.
    static GEMM: GemmExecutor = GemmExecutor::new();
    // Taken out while in use: a waiting thread may run another product meanwhile, which then gets a new one.
    static ROUNDED: Cell<Rows> = Cell::default();
}

/// A fully connected layer: `y = x Wᵀ + b`, with W packed for the kernel at load.
pub struct Linear {
    weight: Packed,
    bias: Vec<f32>,
}

/// W in the kernel's layout. 8-bit weights stay 8-bit in memory.
enum Packed {
    F32(PackedBMatrix<f32>),
    Q8_0(Matrix),
}

impl Linear {
    /// Packs the weights for the kernel.
    pub fn pack(LinearWeights { weight, bias }: LinearWeights) -> Self {
        let outputs = bias.len();
        let shape = [outputs, weight.shape[1]];
        let weight = match weight.data {
            TensorData::F32(values) => {
                let values = NdTensorView::from_data(shape, values.as_slice());
                Packed::F32(GEMM.with(|gemm| gemm.prepack_b(values.transposed())))
            }
            TensorData::Q8_0(blocks) => Packed::Q8_0(Matrix::pack(&blocks, shape[0], shape[1])),
        };
        Self { weight, bias }
    }

    /// Number of outputs per row.
    pub fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Writes `x Wᵀ + b` over `out`. `x` is `[rows, inputs]`, `out` is `[rows, outputs]`.
    pub fn apply(&self, x: &[f32], out: &mut [f32]) {
        self.run(x, out, Write::Over);
    }

    /// Adds `x Wᵀ + b` to `out`, which contains the residual.
    pub fn add_to(&self, x: &[f32], out: &mut [f32]) {
        self.run(x, out, Write::Add);
    }

    fn run(&self, x: &[f32], out: &mut [f32], write: Write) {
        let rows = out.len() / self.bias.len();
        match &self.weight {
            Packed::F32(weight) => {
                let x = NdTensorView::from_data([rows, x.len() / rows], x);
                let beta = match write {
                    Write::Over => 0.0,
                    Write::Add => 1.0,
                };
                let options =
                    GemmOptions { beta, bias: Some(BiasVector::Row(&self.bias)), ..GemmOptions::default() };
                let (x, weight) = (GemmInputA::Unpacked(x), GemmInputB::Packed(weight));
                GEMM.with(|gemm| gemm.gemm(out, x, weight, options))
                    .expect("the shapes of a layer agree by construction");
            }
            Packed::Q8_0(weight) => {
                let mut rounded = ROUNDED.take();
                rounded.round(x, x.len() / rows);
                weight.multiply(&rounded, &self.bias, out, write);
                ROUNDED.set(rounded);
            }
        }
    }
}

/// A strided view of a matrix inside a larger buffer.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    /// Buffer, starting at the first element.
    pub data: &'a [f32],
    /// Rows and columns.
    pub shape: [usize; 2],
    /// Distance between neighbors in a column and in a row.
    pub strides: [usize; 2],
}

impl Strided<'_> {
    /// The same values with rows and columns swapped.
    #[must_use]
    pub fn transposed(self) -> Self {
        let ([rows, columns], [down, across]) = (self.shape, self.strides);
        Self { shape: [columns, rows], strides: [across, down], ..self }
    }
}

/// `out = scale · a b`, with `out` row-major.
pub fn product(a: Strided, b: Strided, scale: f32, out: &mut [f32]) {
    let (Ok(a), Ok(b)) = (
        NdTensorView::from_slice_with_strides(a.shape, a.data, a.strides),
        NdTensorView::from_slice_with_strides(b.shape, b.data, b.strides),
    ) else {
        unreachable!("views lie inside their buffers by construction")
    };
    let options = GemmOptions { alpha: scale, ..GemmOptions::default() };
    GEMM.with(|gemm| gemm.gemm(out, GemmInputA::Unpacked(a), GemmInputB::Unpacked(b), options))
        .expect("the shapes of a product agree by construction");
}

/// Element-wise function between the two layers of a feed-forward block or of a classification head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `x Φ(x)` with the error function, which is what configurations mean by `gelu`.
    GeluErf,
    /// The tanh approximation, `gelu_new` and `gelu_pytorch_tanh`.
    GeluTanh,
    /// `max(x, 0)`.
    Relu,
    /// Hyperbolic tangent, usual in classification heads.
    Tanh,
}

impl Activation {
    /// Names that [`from_name`](Self::from_name) knows, for messages.
    pub const KNOWN: &str = "gelu, gelu_new, relu and tanh";

    /// The function that a configuration names, for example in `hidden_act`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "gelu" => Some(Self::GeluErf),
            "gelu_new" | "gelu_fast" | "gelu_pytorch_tanh" => Some(Self::GeluTanh),
            "relu" => Some(Self::Relu),
            "tanh" => Some(Self::Tanh),
            _ => None,
        }
    }

    /// Applies the function in place.
    pub fn apply(self, values: &mut [f32]) {
        match self {
            Self::GeluErf => Gelu.map_mut(values),
            Self::GeluTanh => ApproxGelu {}.map_mut(values),
            Self::Relu => values.iter_mut().for_each(|x| *x = x.max(0.0)),
            Self::Tanh => Tanh {}.map_mut(values),
        }
    }

    /// Gated form, `f(a) b` with the halves `[a, b]` of each row of `width` values
    /// (<https://arxiv.org/abs/2002.05202>, §2). The result is in the first half of `values`, without gaps.
    pub fn apply_gated(self, values: &mut [f32], width: usize) -> &mut [f32] {
        let half = width / 2;
        let rows = values.len() / width;
        for row in 0..rows {
            let start = row * width;
            let (input, gate) = values[start..start + width].split_at_mut(half);
            self.apply(input);
            input.iter_mut().zip(gate).for_each(|(x, gate)| *x *= *gate);
            values.copy_within(start..start + half, row * half);
        }
        &mut values[..rows * half]
    }
}

/// Layer normalization over rows, <https://arxiv.org/abs/1607.06450> eq. 4, in place.
pub struct LayerNorm {
    /// Gain per column.
    pub weight: Vec<f32>,
    /// Offset per column.
    pub bias: Vec<f32>,
    /// Added to the variance.
    pub epsilon: f32,
}

impl LayerNorm {
    /// Normalizes every row of `rows`.
    pub fn apply(&self, rows: &mut [f32]) {
        let width = self.weight.len();
        for row in rows.chunks_exact_mut(width) {
            let mean = Sum::new(row).dispatch() / width as f32;
            let variance = SumSquareSub::new(row, mean).dispatch() / width as f32;
            let options = NormalizeOptions {
                pre_scale_bias: mean,
                scale: (variance + self.epsilon).sqrt().recip(),
                element_scale: Some(&self.weight),
                bias: 0.0,
                element_bias: Some(&self.bias),
            };
            Normalize::new_mut(row, options).dispatch();
        }
    }
}

/// Softmax of one row, in place.
pub fn softmax(row: &mut [f32]) {
    Softmax::new_mut(row).dispatch();
}

/// Scales `vector` to Euclidean length 1; a zero vector stays zero.
pub fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        for x in vector {
            *x /= length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::weights::{HostTensor, TensorData};
    use super::*;

    fn near(a: f32, b: f32) {
        assert!((a - b).abs() < 1e-5, "{a} vs {b}");
    }

    #[test]
    fn linear_adds_bias_and_residual() {
        let data = TensorData::F32(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let weight = HostTensor { shape: vec![2, 3], data };
        let layer = Linear::pack(LinearWeights { weight, bias: vec![10.0, 20.0] });
        let x = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
        let mut out = [100.0; 4];
        layer.add_to(&x, &mut out);
        assert_eq!(out, [114.0, 130.0, 112.0, 125.0]);
        layer.apply(&x, &mut out);
        assert_eq!(out, [14.0, 30.0, 12.0, 25.0]);
    }

    #[test]
    fn gelu_is_the_erf_one() {
        let mut x = [-3.0, -1.0, 0.0, 0.5, 2.0];
        Activation::from_name("gelu").unwrap().apply(&mut x);
        // Values of torch.nn.functional.gelu.
        for (got, want) in x.into_iter().zip([-0.004_049_7, -0.158_655_25, 0.0, 0.345_731_23, 1.954_499_7]) {
            near(got, want);
        }
        assert_eq!(Activation::from_name("swish"), None);
    }

    #[test]
    fn gated_rows_are_packed() {
        let mut x = [1.0, -2.0, 10.0, 20.0, 3.0, 4.0, 0.5, -1.0];
        assert_eq!(Activation::Relu.apply_gated(&mut x, 4), [10.0, 0.0, 1.5, -4.0]);
    }

    #[test]
    fn layer_norm_has_mean_bias_and_unit_variance() {
        let norm = LayerNorm { weight: vec![1.0; 4], bias: vec![0.5; 4], epsilon: 1e-12 };
        let mut rows = [1.0, 2.0, 3.0, 4.0, -1.0, -1.0, 1.0, 1.0];
        norm.apply(&mut rows);
        near(rows[..4].iter().sum::<f32>() / 4.0, 0.5);
        near(rows[4], -0.5);
        near(rows[7], 1.5);
    }

    #[test]
    fn zero_vectors_stay_zero() {
        let mut vector = [0.0; 3];
        normalise(&mut vector);
        assert_eq!(vector, [0.0; 3]);
    }
}

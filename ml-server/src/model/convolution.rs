//! The convolution that DeBERTa-v2 has beside its first layer.

use super::ops::{Activation, LayerNorm, Linear};
use super::weights::{HostTensor, LinearWeights, TensorData};

/// `norm(layer's output + activation(convolution of the layer's input))`, for each sequence on its own.
pub struct Convolution<L = Linear> {
    /// `[kernel · hidden → hidden]`: the vectors of a token's neighborhood, side by side.
    pub kernel: L,
    /// After the convolution.
    pub activation: Activation,
    /// After the sum.
    pub norm: LayerNorm,
    /// Tokens that the kernel covers; odd, with the token itself in the middle.
    pub size: usize,
}

impl Convolution<LinearWeights> {
    /// Neighborhoods from the layout of files, `weight` being `[outputs, inputs, size]`, row-major.
    pub fn kernel(weight: &[f32], bias: Vec<f32>, size: usize) -> LinearWeights {
        let inputs = weight.len() / bias.len() / size;
        let mut rows = Vec::with_capacity(weight.len());
        for output in weight.chunks_exact(inputs * size) {
            for neighbour in 0..size {
                rows.extend(output.iter().skip(neighbour).step_by(size));
            }
        }
        let shape = vec![bias.len(), inputs * size];
        LinearWeights { weight: HostTensor { shape, data: TensorData::F32(rows) }, bias }
    }

    /// Packs the kernel with `pack`.
    pub fn pack<L>(self, pack: impl Fn(LinearWeights) -> L) -> Convolution<L> {
        let Self { kernel, activation, norm, size } = self;
        Convolution { kernel: pack(kernel), activation, norm, size }
    }
}

impl Convolution {
    /// The addition to the layer's output, `[tokens, hidden]` like the layer's input `x`.
    pub fn apply(&self, x: &[f32], lengths: &[usize]) -> Vec<f32> {
        let hidden = self.kernel.outputs();
        let (row, reach) = (self.size * hidden, self.size / 2 * hidden);
        let mut neighbourhoods = vec![0.0; x.len() * self.size];
        let mut start = 0;
        for &length in lengths {
            let sequence = &x[start * hidden..(start + length) * hidden];
            for (token, out) in neighbourhoods[start * row..].chunks_exact_mut(row).take(length).enumerate() {
                // Values beyond the ends of the sequence are 0, like the initial `out`.
                let (first, end) = (token * hidden, token * hidden + row);
                let (from, to) = (first.max(reach), end.min(sequence.len() + reach));
                out[from - first..to - first].copy_from_slice(&sequence[from - reach..to - reach]);
            }
            start += length;
        }
        let mut out = vec![0.0; x.len()];
        self.kernel.apply(&neighbourhoods, &mut out);
        self.activation.apply(&mut out);
        out
    }

    /// Adds what [`apply`](Self::apply) gave to the layer's output `x`, and normalizes.
    pub fn join(&self, beside: &[f32], x: &mut [f32]) {
        x.iter_mut().zip(beside).for_each(|(x, beside)| *x += beside);
        self.norm.apply(x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_end_with_their_sequence() {
        // Two values per token; the first output is before₀ + 10 token₁ + 100 after₀, the second is 1 throughout.
        let weight = [1.0, 0.0, 100.0, 0.0, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let norm = LayerNorm { weight: vec![1.0; 2], bias: vec![0.0; 2], epsilon: 0.0 };
        let kernel = Convolution::kernel(&weight, vec![0.0, 1.0], 3);
        let convolution =
            Convolution { kernel, activation: Activation::Relu, norm, size: 3 }.pack(Linear::pack);
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let beside = convolution.apply(&x, &[3, 1]);
        assert_eq!(beside, [320.0, 1.0, 541.0, 1.0, 63.0, 1.0, 80.0, 1.0]);
        let mut x = [0.0; 8];
        convolution.join(&beside, &mut x);
        assert_eq!(x, [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0]);
    }
}

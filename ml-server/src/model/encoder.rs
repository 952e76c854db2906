//! A transformer encoder on the CPU. Architectures differ in the parts that they put in.

use super::attention::Attention;
use super::ops::{Activation, LayerNorm, Linear};
use super::tokenizer::Tokens;
use super::weights::{HostTensor, Q8_0_BLOCK, Q8_0_BYTES, TensorData, dequantise};

/// Embeddings and layers; see [`bert`](super::bert) for how one is put together.
pub struct Encoder {
    /// Tokens to vectors.
    pub embeddings: Embeddings,
    /// Applied in order.
    pub layers: Vec<Layer>,
    /// Width of a token's vector.
    pub hidden: usize,
}

/// Sum of word, position and segment vectors, then normalised.
pub struct Embeddings {
    /// `[vocabulary, hidden]`
    pub words: Table,
    /// `[positions, hidden]`
    pub positions: Table,
    /// `[segments, hidden]`
    pub segments: Table,
    /// After the sum.
    pub norm: LayerNorm,
}

/// Self-attention and feed-forward block, each followed by residual and normalisation (post-norm).
pub struct Layer {
    /// `[hidden → 3 · hidden]`: queries, keys, values in one product.
    pub qkv: Linear,
    /// How the heads attend.
    pub attention: Attention,
    /// `[hidden → hidden]`
    pub attention_out: Linear,
    /// After attention.
    pub attention_norm: LayerNorm,
    /// `[hidden → intermediate]`
    pub up: Linear,
    /// Between the two products.
    pub activation: Activation,
    /// `[intermediate → hidden]`
    pub down: Linear,
    /// After the feed-forward block.
    pub norm: LayerNorm,
}

/// The encoder's last layer for sequences laid end to end.
pub struct Hidden {
    /// `[tokens, width]`, row-major.
    pub data: Vec<f32>,
    /// Width of a row.
    pub width: usize,
    /// Tokens of each sequence, in order.
    pub lengths: Vec<usize>,
}

impl Hidden {
    /// The rows of each sequence.
    pub fn sequences(&self) -> impl Iterator<Item = &[f32]> {
        let mut rest = self.data.as_slice();
        self.lengths.iter().map(move |length| {
            let (rows, tail) = rest.split_at(length * self.width);
            rest = tail;
            rows
        })
    }
}

impl Encoder {
    /// Runs `batch` through all layers. Nothing is padded: the sequences lie end to end.
    pub fn forward(&self, batch: &[&Tokens]) -> Hidden {
        let lengths: Vec<usize> = batch.iter().map(|tokens| tokens.len()).collect();
        let rows: usize = lengths.iter().sum();
        let mut x = vec![0.0; rows * self.hidden];
        self.embeddings.write(batch, self.hidden, &mut x);
        let mut scratch = Scratch::default();
        for layer in &self.layers {
            layer.apply(&mut x, &lengths, self.hidden, &mut scratch);
        }
        Hidden { data: x, width: self.hidden, lengths }
    }
}

impl Embeddings {
    fn write(&self, batch: &[&Tokens], hidden: usize, out: &mut [f32]) {
        let mut rows = out.chunks_exact_mut(hidden);
        for tokens in batch {
            // Positions are whole numbers counted here: summing them in half precision would go wrong after 256.
            for (position, (&id, &segment)) in tokens.ids.iter().zip(&tokens.type_ids).enumerate() {
                let Some(row) = rows.next() else { return };
                self.words.add_row(id as usize, row);
                self.positions.add_row(position, row);
                self.segments.add_row(segment as usize, row);
            }
        }
        self.norm.apply(out);
    }
}

impl Layer {
    /// One layer over `x`, `[tokens, hidden]`, in place.
    fn apply(&self, x: &mut [f32], lengths: &[usize], hidden: usize, scratch: &mut Scratch) {
        let rows = x.len() / hidden;
        let (wide, context) =
            scratch.buffers(rows * self.qkv.outputs().max(self.up.outputs()), rows * hidden);

        let qkv = &mut wide[..rows * self.qkv.outputs()];
        self.qkv.apply(x, qkv);
        self.attention.apply(qkv, lengths, context);
        self.attention_out.add_to(context, x);
        self.attention_norm.apply(x);

        let up = &mut wide[..rows * self.up.outputs()];
        self.up.apply(x, up);
        self.activation.apply(up);
        self.down.add_to(up, x);
        self.norm.apply(x);
    }
}

/// Buffers shared by the layers of one pass.
#[derive(Default)]
struct Scratch {
    wide: Vec<f32>,
    context: Vec<f32>,
}

impl Scratch {
    fn buffers(&mut self, wide: usize, context: usize) -> (&mut [f32], &mut [f32]) {
        self.wide.resize(wide.max(self.wide.len()), 0.0);
        self.context.resize(context.max(self.context.len()), 0.0);
        (&mut self.wide[..wide], &mut self.context[..context])
    }
}

/// A lookup table of vectors. Quantised ones stay so in memory: a row is widened when it is read.
pub struct Table {
    data: TensorData,
    rows: usize,
    width: usize,
}

impl Table {
    /// Takes a tensor of shape `[rows, width]`.
    pub fn new(tensor: HostTensor) -> Self {
        let [rows, width] = [tensor.shape[0], tensor.shape[1]];
        Self { data: tensor.data, rows, width }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds row `index` to `out`. Loading has checked that the tokenizer knows no more ids than there are rows.
    fn add_row(&self, index: usize, out: &mut [f32]) {
        match &self.data {
            TensorData::F32(values) => {
                let row = &values[index * self.width..(index + 1) * self.width];
                out.iter_mut().zip(row).for_each(|(out, value)| *out += value);
            }
            TensorData::Q8_0(blocks) => {
                let bytes = self.width / Q8_0_BLOCK * Q8_0_BYTES;
                let row = &blocks[index * bytes..(index + 1) * bytes];
                let mut values = [0.0; Q8_0_BLOCK];
                for (block, out) in row.chunks_exact(Q8_0_BYTES).zip(out.chunks_exact_mut(Q8_0_BLOCK)) {
                    dequantise(block, &mut values);
                    out.iter_mut().zip(values).for_each(|(out, value)| *out += value);
                }
            }
        }
    }
}

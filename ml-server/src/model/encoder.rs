//! A transformer encoder on the CPU. Architectures differ in their parts.

use super::attention::Attention;
use super::convolution::Convolution;
use super::ops::{Activation, LayerNorm, Linear};
use super::tokenizer::Tokens;
use super::weights::{HostTensor, LinearWeights, Q8_0_BLOCK, Q8_0_BYTES, TensorData, dequantise};

/// Rows that go through a feed-forward block together: their widest values stay in the second-level cache.
const FEED_FORWARD_ROWS: usize = 60;

/// Embeddings and layers; see [`bert`](super::bert) for how one is put together.
///
/// `L` is the type of its fully connected layers: [`LinearWeights`] as read from a file, or packed for a device.
pub struct Encoder<L = Linear> {
    /// Tokens to vectors.
    pub embeddings: Embeddings,
    /// Applied in order.
    pub layers: Vec<Layer<L>>,
    /// Beside the first layer, where the architecture has one.
    pub convolution: Option<Convolution<L>>,
    /// After the last layer, if the layers themselves do not end with one.
    pub norm: Option<LayerNorm>,
    /// Width of a token's vector.
    pub hidden: usize,
}

/// Sum of word, position and segment vectors, then normalized.
pub struct Embeddings {
    /// `[vocabulary, hidden]`
    pub words: Table,
    /// Absent if only attention encodes positions.
    pub positions: Option<Positions>,
    /// `[segments, hidden]`; absent where the architecture knows no segments.
    pub segments: Option<Table>,
    /// After the sum.
    pub norm: LayerNorm,
}

/// Learned position vectors.
pub struct Positions {
    /// `[positions, hidden]`
    pub table: Table,
    /// Where the first token is: at 0, or after the padding token's id.
    pub count: PositionCount,
}

/// How tokens are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PositionCount {
    /// 0, 1, 2, …
    FromZero,
    /// RoBERTa's: the padding token itself, which a text may spell out, is at its own id; the others count on from there.
    AfterPadding(u32),
}

impl PositionCount {
    /// The position of each of `ids`. They are counted as integers: the usual cumulative sum in half precision is wrong
    /// beyond 256.
    pub(super) fn of(self, ids: &[u32]) -> impl Iterator<Item = usize> {
        let mut seen = 0;
        ids.iter().enumerate().map(move |(index, &id)| match self {
            Self::FromZero => index,
            Self::AfterPadding(padding) if id == padding => padding as usize,
            Self::AfterPadding(padding) => {
                seen += 1;
                padding as usize + seen
            }
        })
    }
}

/// Self-attention and feed-forward block, each with a residual and a normalization.
pub struct Layer<L = Linear> {
    /// Where the normalizations are.
    pub order: Order,
    /// `[hidden → 3 · hidden]`: queries, keys, values in one product.
    pub qkv: L,
    /// How the heads attend.
    pub attention: Attention,
    /// `[hidden → hidden]`
    pub attention_out: L,
    /// Of the attention block; absent where its input is normalized already.
    pub attention_norm: Option<LayerNorm>,
    /// `[hidden → intermediate]`, twice as wide when gated.
    pub up: L,
    /// Between the two products.
    pub activation: Activation,
    /// Whether the second half of `up` multiplies the activated first half.
    pub gated: bool,
    /// `[intermediate → hidden]`
    pub down: L,
    /// Of the feed-forward block.
    pub norm: LayerNorm,
}

/// Whether a block normalizes its input or its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `x + f(norm(x))`
    Before,
    /// `norm(x + f(x))`
    After,
}

/// What heads read of one sequence.
pub struct States {
    /// `[hidden]`
    pub pooled: Vec<f32>,
    /// `[marks, hidden]`, see [`Tokens::marks`].
    pub marks: Vec<f32>,
}

/// The encoder's last layer for concatenated sequences.
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

impl Encoder<LinearWeights> {
    /// Packs every fully connected layer with `pack`, [`Linear::pack`] for this CPU. The weights of a layer are freed
    /// when it is packed, so that only one layer at a time is in memory twice.
    pub fn pack<L>(self, pack: impl Fn(LinearWeights) -> L) -> Encoder<L> {
        let Self { embeddings, layers, convolution, norm, hidden } = self;
        let layers = layers.into_iter().map(|layer| layer.pack(&pack)).collect();
        let convolution = convolution.map(|convolution| convolution.pack(&pack));
        Encoder { embeddings, layers, convolution, norm, hidden }
    }
}

impl Layer<LinearWeights> {
    fn pack<L>(self, pack: impl Fn(LinearWeights) -> L) -> Layer<L> {
        Layer {
            order: self.order,
            qkv: pack(self.qkv),
            attention: self.attention,
            attention_out: pack(self.attention_out),
            attention_norm: self.attention_norm,
            up: pack(self.up),
            activation: self.activation,
            gated: self.gated,
            down: pack(self.down),
            norm: self.norm,
        }
    }
}

impl Encoder {
    /// Runs `batch` through all layers without padding: the sequences are concatenated.
    pub fn forward(&self, batch: &[&Tokens]) -> Hidden {
        let lengths: Vec<usize> = batch.iter().map(|tokens| tokens.len()).collect();
        let rows: usize = lengths.iter().sum();
        let mut x = vec![0.0; rows * self.hidden];
        self.embeddings.write(batch, self.hidden, &mut x);
        let mut scratch = Scratch::default();
        let beside = self.convolution.as_ref().map(|part| (part, part.apply(&x, &lengths)));
        for (index, layer) in self.layers.iter().enumerate() {
            layer.apply(&mut x, &lengths, self.hidden, &mut scratch);
            if let (0, Some((convolution, beside))) = (index, &beside) {
                convolution.join(beside, &mut x);
            }
        }
        if let Some(norm) = &self.norm {
            norm.apply(&mut x);
        }
        Hidden { data: x, width: self.hidden, lengths }
    }
}

impl Embeddings {
    fn write(&self, batch: &[&Tokens], hidden: usize, out: &mut [f32]) {
        let mut rest = &mut *out;
        for tokens in batch {
            let (rows, tail) = rest.split_at_mut(tokens.len() * hidden);
            rest = tail;
            for (row, &id) in rows.chunks_exact_mut(hidden).zip(&tokens.ids) {
                self.words.add_row(id as usize, row);
            }
            if let Some(Positions { table, count }) = &self.positions {
                for (row, position) in rows.chunks_exact_mut(hidden).zip(count.of(&tokens.ids)) {
                    table.add_row(position, row);
                }
            }
            if let Some(segments) = &self.segments {
                for (row, &segment) in rows.chunks_exact_mut(hidden).zip(&tokens.type_ids) {
                    segments.add_row(segment as usize, row);
                }
            }
        }
        self.norm.apply(out);
    }
}

impl Layer {
    /// One layer over `x`, `[tokens, hidden]`, in place.
    fn apply(&self, x: &mut [f32], lengths: &[usize], hidden: usize, scratch: &mut Scratch) {
        let rows = x.len() / hidden;
        let widest = (rows * self.qkv.outputs()).max(rows.min(FEED_FORWARD_ROWS) * self.up.outputs());
        let (wide, context) = scratch.buffers(widest, rows * hidden);

        let qkv = &mut wide[..rows * self.qkv.outputs()];
        self.qkv.apply(self.order.input(self.attention_norm.as_ref(), x, context), qkv);
        self.attention.apply(qkv, lengths, context);
        self.attention_out.add_to(context, x);
        self.order.finish(self.attention_norm.as_ref(), x);

        for x in x.chunks_mut(FEED_FORWARD_ROWS * hidden) {
            let up = &mut wide[..x.len() / hidden * self.up.outputs()];
            self.up.apply(self.order.input(Some(&self.norm), x, &mut context[..x.len()]), up);
            if self.gated {
                self.down.add_to(self.activation.apply_gated(up, self.up.outputs()), x);
            } else {
                self.activation.apply(up);
                self.down.add_to(up, x);
            }
            self.order.finish(Some(&self.norm), x);
        }
    }
}

impl Order {
    /// A block's input: `x`, or its normalized copy.
    fn input<'a>(self, norm: Option<&LayerNorm>, x: &'a [f32], copy: &'a mut [f32]) -> &'a [f32] {
        match (self, norm) {
            (Self::Before, Some(norm)) => {
                copy.copy_from_slice(x);
                norm.apply(copy);
                copy
            }
            _ => x,
        }
    }

    /// A block's output.
    fn finish(self, norm: Option<&LayerNorm>, x: &mut [f32]) {
        if let (Self::After, Some(norm)) = (self, norm) {
            norm.apply(x);
        }
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

/// A lookup table of vectors. Quantized ones stay so in memory: a row is widened when it is read.
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

    /// All values, row-major.
    #[cfg(any(feature = "cuda", feature = "candle"))]
    pub(super) fn into_f32(self) -> Vec<f32> {
        HostTensor { shape: vec![self.rows, self.width], data: self.data }.into_f32()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_follow_the_padding_id_and_skip_padding() {
        let of = |count: PositionCount, ids: &[u32]| count.of(ids).collect::<Vec<_>>();
        assert_eq!(of(PositionCount::FromZero, &[7, 1, 8]), [0, 1, 2]);
        assert_eq!(of(PositionCount::AfterPadding(1), &[0, 5, 1, 6, 2]), [2, 3, 1, 4, 5]);
        // The last of 8,192 is exact, which it is not when summed as f16 or bf16.
        assert_eq!(PositionCount::AfterPadding(1).of(&vec![9; 8192]).last(), Some(8193));
    }
}

//! An encoder on a device of candle's.

use candle_core::{DType, Result, Tensor};

use super::attention::Attention;
use super::device::Device;
use super::layout::{Block, Layout, Sight};
use crate::error::ComputeError;
use crate::model::convolution::Convolution as PlainConvolution;
use crate::model::encoder::{Encoder as Plain, Layer as PlainLayer, Order, PositionCount, States};
use crate::model::head::Pooling;
use crate::model::ops::{Activation, LayerNorm};
use crate::model::tokenizer::Tokens;
use crate::model::weights::LinearWeights;

/// Embeddings, layers and pooling.
pub struct Encoder {
    device: Device,
    count: PositionCount,
    words: Tensor,
    positions: Option<Tensor>,
    segments: Option<Tensor>,
    embedded: Norm,
    layers: Vec<Layer>,
    convolution: Option<Convolution>,
    norm: Option<Norm>,
    hidden: usize,
    pooling: Pooling,
}

struct Layer {
    order: Order,
    qkv: Linear,
    attention: Attention,
    attention_out: Linear,
    attention_norm: Option<Norm>,
    up: Linear,
    activation: Activation,
    gated: bool,
    down: Linear,
    norm: Norm,
}

struct Convolution {
    kernel: Linear,
    activation: Activation,
    norm: Norm,
    size: usize,
}

/// `y = x Wᵀ + b`
struct Linear {
    /// Wᵀ, `[inputs, outputs]`
    weight: Tensor,
    bias: Tensor,
}

/// Layer normalization over rows.
struct Norm {
    weight: Tensor,
    bias: Tensor,
    epsilon: f64,
}

impl Encoder {
    /// Moves `plain` to `device`. `Q8_0` weights are widened.
    ///
    /// # Errors
    /// [`ComputeError::OutOfMemory`] if it does not fit; what else the device reports.
    pub fn upload(
        device: &Device,
        plain: Plain<LinearWeights>,
        pooling: Pooling,
    ) -> std::result::Result<Self, ComputeError> {
        Ok(Self::try_upload(device, plain, pooling)?)
    }

    fn try_upload(device: &Device, plain: Plain<LinearWeights>, pooling: Pooling) -> Result<Self> {
        let Plain { embeddings, layers, convolution, norm, hidden } = plain;
        let count = embeddings.positions.as_ref().map_or(PositionCount::FromZero, |table| table.count);
        let table = |table: crate::model::encoder::Table| {
            let rows = table.rows();
            device.weights(table.into_f32(), &[rows, hidden])
        };
        Ok(Self {
            device: device.clone(),
            count,
            words: table(embeddings.words)?,
            positions: embeddings.positions.map(|positions| table(positions.table)).transpose()?,
            segments: embeddings.segments.map(table).transpose()?,
            embedded: Norm::upload(device, embeddings.norm)?,
            layers: layers.into_iter().map(|layer| Layer::upload(device, layer)).collect::<Result<_>>()?,
            convolution: convolution.map(|plain| Convolution::upload(device, plain)).transpose()?,
            norm: norm.map(|norm| Norm::upload(device, norm)).transpose()?,
            hidden,
            pooling,
        })
    }

    /// Width of a token's vector.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// What heads read of each sequence, in order.
    ///
    /// # Errors
    /// What went wrong on the device.
    pub fn forward(&self, batch: &[&Tokens]) -> std::result::Result<Vec<States>, ComputeError> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        Ok(self.try_forward(batch)?)
    }

    fn try_forward(&self, batch: &[&Tokens]) -> Result<Vec<States>> {
        let layout = Layout::new(&self.device, batch, self.count)?;
        let mut x = self.embed(&layout)?;
        let beside = self
            .convolution
            .as_ref()
            .map(|part| Ok::<_, candle_core::Error>((part, part.apply(&self.device, &x, &layout)?)));
        let mut beside = beside.transpose()?;
        let mut sights: Vec<(Sight, Vec<Vec<Block>>)> = Vec::new();
        for layer in &self.layers {
            let sight = layer.attention.sight;
            let known = sights.iter().position(|(other, _)| *other == sight);
            let blocks = if let Some(index) = known {
                &sights[index].1
            } else {
                let blocks = layout
                    .groups
                    .iter()
                    .map(|group| sight.blocks(&self.device, group, layer.attention.heads));
                sights.push((sight, blocks.collect::<Result<_>>()?));
                &sights[sights.len() - 1].1
            };
            x = layer.apply(x, &layout, blocks)?;
            if let Some((convolution, beside)) = beside.take() {
                x = convolution.norm.apply(&(x + beside)?)?;
            }
        }
        if let Some(norm) = &self.norm {
            x = norm.apply(&x)?;
        }
        self.states(&x, batch, &layout)
    }

    /// `[tokens, hidden]`
    fn embed(&self, layout: &Layout) -> Result<Tensor> {
        let mut x = self.words.index_select(&layout.ids, 0)?.to_dtype(DType::F32)?;
        for (table, rows) in [(&self.positions, &layout.positions), (&self.segments, &layout.segments)] {
            if let Some(table) = table {
                x = (x + table.index_select(rows, 0)?.to_dtype(DType::F32)?)?;
            }
        }
        self.embedded.apply(&x)
    }

    /// Pools on the device, so that little is copied back.
    fn states(&self, x: &Tensor, batch: &[&Tokens], layout: &Layout) -> Result<Vec<States>> {
        let pooled = match self.pooling {
            Pooling::Cls => x.index_select(&layout.firsts, 0)?,
            Pooling::Mean => {
                let sums = Tensor::zeros((batch.len(), self.hidden), DType::F32, &self.device.inner)?;
                sums.index_add(&layout.sequences, x, 0)?.broadcast_div(&layout.counts)?
            }
        };
        let pooled = pooled.to_vec2::<f32>()?;
        let marks =
            layout.marks.as_ref().map(|rows| x.index_select(rows, 0)?.flatten_all()?.to_vec1::<f32>());
        let mut marks = marks.transpose()?.unwrap_or_default().into_iter();
        let states = pooled.into_iter().zip(batch).map(|(pooled, tokens)| {
            let marks = marks.by_ref().take(tokens.marks.len() * self.hidden).collect();
            States { pooled, marks }
        });
        Ok(states.collect())
    }
}

impl Layer {
    fn upload(device: &Device, plain: PlainLayer<LinearWeights>) -> Result<Self> {
        Ok(Self {
            order: plain.order,
            qkv: Linear::upload(device, plain.qkv)?,
            attention: Attention::upload(device, &plain.attention)?,
            attention_out: Linear::upload(device, plain.attention_out)?,
            attention_norm: plain.attention_norm.map(|norm| Norm::upload(device, norm)).transpose()?,
            up: Linear::upload(device, plain.up)?,
            activation: plain.activation,
            gated: plain.gated,
            down: Linear::upload(device, plain.down)?,
            norm: Norm::upload(device, plain.norm)?,
        })
    }

    fn apply(&self, x: Tensor, layout: &Layout, blocks: &[Vec<Block>]) -> Result<Tensor> {
        let attended = |x: &Tensor| {
            let context =
                self.attention.apply(&self.qkv.apply(x)?, &layout.groups, blocks, &layout.places)?;
            self.attention_out.apply(&context)
        };
        let fed = |x: &Tensor| {
            let up = self.up.apply(x)?;
            let width = up.dim(1)? / 2;
            let inner = if self.gated {
                (activate(self.activation, &up.narrow(1, 0, width)?)? * up.narrow(1, width, width)?)?
            } else {
                activate(self.activation, &up)?
            };
            self.down.apply(&inner)
        };
        let x = self.block(x, self.attention_norm.as_ref(), attended)?;
        self.block(x, Some(&self.norm), fed)
    }

    /// A block with its residual, and its normalization where the layer has it.
    fn block(
        &self,
        x: Tensor,
        norm: Option<&Norm>,
        block: impl Fn(&Tensor) -> Result<Tensor>,
    ) -> Result<Tensor> {
        match (self.order, norm) {
            (Order::Before, Some(norm)) => {
                let added = block(&norm.apply(&x)?)?;
                x + added
            }
            (Order::After, Some(norm)) => {
                let added = block(&x)?;
                norm.apply(&(x + added)?)
            }
            (_, None) => {
                let added = block(&x)?;
                x + added
            }
        }
    }
}

fn activate(activation: Activation, x: &Tensor) -> Result<Tensor> {
    match activation {
        Activation::GeluErf => x.gelu_erf(),
        Activation::GeluTanh => x.gelu(),
        Activation::Relu => x.relu(),
        Activation::Tanh => x.tanh(),
    }
}

impl Convolution {
    fn upload(device: &Device, plain: PlainConvolution<LinearWeights>) -> Result<Self> {
        Ok(Self {
            kernel: Linear::upload(device, plain.kernel)?,
            activation: plain.activation,
            norm: Norm::upload(device, plain.norm)?,
            size: plain.size,
        })
    }

    /// The addition to the first layer's output, from its input.
    fn apply(&self, device: &Device, x: &Tensor, layout: &Layout) -> Result<Tensor> {
        let (tokens, hidden) = x.dims2()?;
        let beyond = Tensor::zeros((1, hidden), DType::F32, x.device())?;
        let rows = layout.neighborhoods(device, self.size)?;
        let neighborhoods =
            Tensor::cat(&[x, &beyond], 0)?.index_select(&rows, 0)?.reshape((tokens, self.size * hidden))?;
        activate(self.activation, &self.kernel.apply(&neighborhoods)?)
    }
}

impl Linear {
    fn upload(device: &Device, LinearWeights { weight, bias }: LinearWeights) -> Result<Self> {
        let shape = [bias.len(), weight.shape[1]];
        let weight = device.weights(weight.into_f32(), &shape)?.t()?;
        let outputs = bias.len();
        Ok(Self { weight, bias: device.floats(bias, &[outputs])? })
    }

    fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let product = x.to_dtype(self.weight.dtype())?.matmul(&self.weight)?;
        product.to_dtype(DType::F32)?.broadcast_add(&self.bias)
    }
}

impl Norm {
    fn upload(device: &Device, LayerNorm { weight, bias, epsilon }: LayerNorm) -> Result<Self> {
        let width = weight.len();
        let vector = |values| device.floats(values, &[width]);
        Ok(Self { weight: vector(weight)?, bias: vector(bias)?, epsilon: epsilon.into() })
    }

    /// In two passes: candle's own takes the variance from the sum of squares, which cancels where a mean is large.
    fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let centered = x.broadcast_sub(&x.mean_keepdim(1)?)?;
        let deviation = (centered.sqr()?.mean_keepdim(1)? + self.epsilon)?.sqrt()?;
        centered.broadcast_div(&deviation)?.broadcast_mul(&self.weight)?.broadcast_add(&self.bias)
    }
}

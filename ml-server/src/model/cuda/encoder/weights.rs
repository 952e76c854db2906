//! The parts of an encoder on the GPU.

use std::sync::Arc;

use crate::error::ComputeError;
use crate::model::convolution::Convolution as PlainConvolution;
use crate::model::cuda::attention::{Attention, Shared};
use crate::model::cuda::device::Device;
use crate::model::cuda::kernels::Variant;
use crate::model::cuda::linear::Linear;
use crate::model::cuda::memory::Buffer;
use crate::model::device::Precision;
use crate::model::encoder::{Encoder as Plain, Layer as PlainLayer, Order, Table};
use crate::model::ops::{Activation, LayerNorm};
use crate::model::weights::LinearWeights;

pub(super) struct Weights {
    pub(super) words: Buffer,
    pub(super) positions: Option<Buffer>,
    pub(super) segments: Option<Buffer>,
    pub(super) embeddings_norm: Norm,
    pub(super) layers: Vec<Layer>,
    pub(super) convolution: Option<Convolution>,
    pub(super) norm: Option<Norm>,
}

pub(super) struct Norm {
    pub(super) gain: Buffer,
    pub(super) offset: Buffer,
    pub(super) epsilon: f32,
}

pub(super) struct Layer {
    pub(super) order: Order,
    pub(super) qkv: Linear,
    pub(super) attention: Attention,
    pub(super) attention_out: Linear,
    pub(super) attention_norm: Option<Norm>,
    pub(super) up: Linear,
    pub(super) activation: Activation,
    pub(super) gated: bool,
    pub(super) down: Linear,
    pub(super) norm: Norm,
}

pub(super) struct Convolution {
    pub(super) kernel: Linear,
    pub(super) activation: Activation,
    pub(super) norm: Norm,
    pub(super) size: usize,
}

impl Weights {
    pub(super) fn upload(
        device: &Arc<Device>,
        plain: Plain<LinearWeights>,
        variant: Variant,
    ) -> Result<Self, ComputeError> {
        let table = |table: Table| Buffer::of_values(device, &table.into_f32(), variant.precision);
        let mut shared = Shared::default();
        let Plain { embeddings, layers, convolution, norm, hidden: _ } = plain;
        Ok(Self {
            words: table(embeddings.words)?,
            positions: embeddings.positions.map(|positions| table(positions.table)).transpose()?,
            segments: embeddings.segments.map(table).transpose()?,
            embeddings_norm: Norm::upload(device, &embeddings.norm)?,
            layers: layers
                .into_iter()
                .map(|layer| {
                    let attention = Attention::upload(device, &layer.attention, variant, &mut shared)?;
                    Layer::upload(device, layer, attention, variant.precision)
                })
                .collect::<Result<_, ComputeError>>()?,
            convolution: convolution
                .map(|convolution| Convolution::upload(device, convolution, variant.precision))
                .transpose()?,
            norm: norm.map(|norm| Norm::upload(device, &norm)).transpose()?,
        })
    }
}

impl Norm {
    fn upload(device: &Arc<Device>, norm: &LayerNorm) -> Result<Self, ComputeError> {
        let (gain, offset) = (Buffer::of_f32(device, &norm.weight)?, Buffer::of_f32(device, &norm.bias)?);
        Ok(Self { gain, offset, epsilon: norm.epsilon })
    }
}

impl Layer {
    fn upload(
        device: &Arc<Device>,
        plain: PlainLayer<LinearWeights>,
        attention: Attention,
        precision: Precision,
    ) -> Result<Self, ComputeError> {
        let linear = |weights: LinearWeights| Linear::upload(device, weights, precision);
        Ok(Self {
            order: plain.order,
            qkv: linear(plain.qkv)?,
            attention,
            attention_out: linear(plain.attention_out)?,
            attention_norm: plain.attention_norm.map(|norm| Norm::upload(device, &norm)).transpose()?,
            up: linear(plain.up)?,
            activation: plain.activation,
            gated: plain.gated,
            down: linear(plain.down)?,
            norm: Norm::upload(device, &plain.norm)?,
        })
    }
}

impl Convolution {
    fn upload(
        device: &Arc<Device>,
        plain: PlainConvolution<LinearWeights>,
        precision: Precision,
    ) -> Result<Self, ComputeError> {
        let PlainConvolution { kernel, activation, norm, size } = plain;
        let kernel = Linear::upload(device, kernel, precision)?;
        Ok(Self { kernel, activation, norm: Norm::upload(device, &norm)?, size })
    }
}

//! An encoder on the GPU: its buffers, and its interface.

mod pass;
mod weights;

use std::sync::{Arc, Mutex, PoisonError};

use super::attention::{AttentionKernels, Distances};
use super::device::Device;
use super::kernels::{Kernel, Kernels, Scores, Variant};
use super::layout::{Layout, NUMBERS_PER_TOKEN, ROW_STEP, passes};
use super::linear::Products;
use super::memory::{Buffer, Staging, width};
use crate::error::ComputeError;
use crate::model::attention::Attention;
use crate::model::device::Precision;
use crate::model::encoder::{Encoder as Plain, Layer as PlainLayer, Order, PositionCount, States};
use crate::model::head::Pooling;
use crate::model::tokenizer::Tokens;
use crate::model::weights::LinearWeights;
use pass::Pass;
use weights::{Layer, Weights};

/// Sequences of one pass.
const MOST_SEQUENCES: usize = 1_024;
/// Embeddings, layers and pooling.
pub struct Encoder {
    device: Arc<Device>,
    variant: Variant,
    count: PositionCount,
    pooling: Pooling,
    weights: Weights,
    kernels: AllKernels,
    workspace: Mutex<Workspace>,
}

struct AllKernels {
    embed: Kernel,
    add_norm: Kernel,
    pool: Kernel,
    gather: Kernel,
    activate: Kernel,
    gate: Kernel,
    neighbours: Kernel,
    attention: AttentionKernels,
}

/// Everything that passes overwrite. Made once: no pass allocates.
struct Workspace {
    /// Tokens of one pass.
    capacity: usize,
    numbers: Buffer,
    /// `[rows, hidden]`: the residual stream.
    x: Buffer,
    /// `[rows, hidden]`: its normalized copy, if layers normalize their input.
    normed: Buffer,
    /// `[rows, hidden]`: the output of a block.
    y: Buffer,
    /// Widest products; at the end the vectors that heads read.
    wide: Buffer,
    /// `[rows, hidden]`, or gated values.
    context: Buffer,
    /// `[rows, hidden]`: the output of the convolution.
    beside: Option<Buffer>,
    distances: Option<Distances>,
    products: Products,
    sent: Staging<i32>,
    received: Staging<f32>,
}

impl Encoder {
    /// Moves `plain` to `device`, with room for passes of `batch_tokens` tokens, or of as many as there is memory for, but at
    /// least for one sequence of `max_tokens`.
    ///
    /// # Errors
    /// [`ComputeError::OutOfMemory`] when that is too much; [`ComputeError::Failed`] for shapes that the kernels do not do.
    pub fn upload(
        device: &Arc<Device>,
        precision: Precision,
        plain: Plain<LinearWeights>,
        pooling: Pooling,
        max_tokens: usize,
        batch_tokens: usize,
    ) -> Result<Self, ComputeError> {
        let variant = variant(&plain, precision, max_tokens).map_err(ComputeError::Failed)?;
        let count = plain.embeddings.positions.as_ref().map_or(PositionCount::FromZero, |table| table.count);
        let kernels = AllKernels::new(&Kernels::load(device, variant)?, variant)?;
        let weights = Weights::upload(device, plain, variant)?;
        let mut capacity = batch_tokens.max(max_tokens);
        let workspace = loop {
            match Workspace::new(device, &weights, variant, capacity.next_multiple_of(ROW_STEP), max_tokens) {
                Err(ComputeError::OutOfMemory) if capacity > max_tokens => {
                    capacity = (capacity / 2).max(max_tokens);
                }
                other => break other?,
            }
        };
        if workspace.capacity < batch_tokens {
            tracing::warn!(tokens = workspace.capacity, "not enough memory on the GPU for larger batches");
        }
        device.stream.synchronize()?;
        Ok(Self {
            device: Arc::clone(device),
            variant,
            count,
            pooling,
            weights,
            kernels,
            workspace: workspace.into(),
        })
    }

    /// Why `plain` cannot be uploaded for texts of `max_tokens`, if it cannot.
    ///
    /// # Errors
    /// Says what the kernels do not compute.
    pub fn check(
        plain: &Plain<LinearWeights>,
        precision: Precision,
        max_tokens: usize,
    ) -> Result<(), String> {
        variant(plain, precision, max_tokens).map(|_| ())
    }

    /// Width of a token's vector.
    pub fn hidden(&self) -> usize {
        self.variant.hidden
    }

    /// What heads read of each sequence, in order.
    ///
    /// # Errors
    /// What went wrong on the GPU.
    pub fn forward(&self, batch: &[&Tokens]) -> Result<Vec<States>, ComputeError> {
        let mut workspace = self.workspace.lock().unwrap_or_else(PoisonError::into_inner);
        let mut states = Vec::with_capacity(batch.len());
        for pass in passes(batch, workspace.capacity, MOST_SEQUENCES) {
            states.extend(self.pass(pass, &mut workspace)?);
        }
        Ok(states)
    }

    fn pass(&self, batch: &[&Tokens], workspace: &mut Workspace) -> Result<Vec<States>, ComputeError> {
        let longest = batch.iter().map(|tokens| tokens.len()).max().unwrap_or_default();
        let layout = Layout::of(batch, self.count, self.kernels.attention.tile(longest));
        if layout.rows > workspace.capacity {
            let reason =
                format!("an input of {longest} tokens, where there is room for {}", workspace.capacity);
            return Err(ComputeError::Failed(reason));
        }
        let results = layout.results();
        if results > layout.rows {
            return Err(ComputeError::Failed("more marks than tokens".to_owned()));
        }
        workspace.sent.send(&self.device, &layout.numbers, &mut workspace.numbers)?;
        let mut pass = Pass {
            variant: self.variant,
            kernels: &self.kernels,
            arrays: layout.arrays(workspace.numbers.address()),
            layout,
            x: workspace.x.address(),
            normed: workspace.normed.address(),
            y: workspace.y.address(),
            wide: workspace.wide.address(),
            context: workspace.context.address(),
            beside: workspace.beside.as_ref().map(Buffer::address),
            distances: workspace.distances.as_ref(),
            products: &mut workspace.products,
        };
        pass.run(&self.weights, self.pooling)?;
        let hidden = self.variant.hidden;
        let values = workspace.received.receive(&self.device, &workspace.wide, results * hidden)?;
        let (pooled, mut marks) = values.split_at(batch.len() * hidden);
        let states = batch.iter().zip(pooled.chunks_exact(hidden)).map(|(tokens, pooled)| {
            let (own, rest) = marks.split_at(tokens.marks.len() * hidden);
            marks = rest;
            States { pooled: pooled.to_vec(), marks: own.to_vec() }
        });
        Ok(states.collect())
    }
}

/// What to compile for `plain` and texts of `max_tokens`, or what of it the kernels do not compute.
fn variant(plain: &Plain<LinearWeights>, precision: Precision, max_tokens: usize) -> Result<Variant, String> {
    let Some(first) = plain.layers.first() else {
        return Err("an encoder without layers".to_owned());
    };
    let (head_dim, scores) = (first.attention.head_dim, scores_of(&first.attention, max_tokens)?);
    let variant = Variant { precision, hidden: plain.hidden, head_dim, scores };
    let wide = |layer: &PlainLayer<LinearWeights>| layer.down.weight.shape[1];
    if let Some(problem) = variant.problem() {
        return Err(problem);
    }
    if plain.layers.iter().any(|layer| !wide(layer).is_multiple_of(8)) {
        return Err("feed-forward blocks of a width that 8 does not divide".to_owned());
    }
    let before = plain.layers.iter().any(|layer| layer.order == Order::Before);
    if before && (plain.norm.is_none() || plain.layers.iter().any(|layer| layer.order == Order::After)) {
        return Err("pre-normalization without a final normalization".to_owned());
    }
    if plain.layers.iter().any(|layer| layer.order == Order::After && layer.attention_norm.is_none()) {
        return Err("an attention block without normalization".to_owned());
    }
    for layer in &plain.layers {
        if scores_of(&layer.attention, max_tokens)? != scores {
            return Err("layers with different kinds of scores by distance".to_owned());
        }
    }
    Ok(variant)
}

/// What a layer adds to the scores of texts of `max_tokens`.
fn scores_of(attention: &Attention, max_tokens: usize) -> Result<Scores, String> {
    match (&attention.relative, &attention.bias) {
        (None, None) => Ok(Scores::Plain),
        (Some(_), None) => Ok(Scores::Relative),
        (None, Some(bias)) if bias.reach() < max_tokens => {
            let reach = bias.reach();
            Err(format!("texts of {max_tokens} tokens with scores by distance for {reach}"))
        }
        (None, Some(_)) => Ok(Scores::Distance),
        (Some(_), Some(_)) => Err("two kinds of scores by distance".to_owned()),
    }
}

impl AllKernels {
    fn new(kernels: &Kernels, variant: Variant) -> Result<Self, ComputeError> {
        Ok(Self {
            embed: kernels.get("embed")?,
            add_norm: kernels.get("add_norm")?,
            pool: kernels.get("pool")?,
            gather: kernels.get("gather")?,
            activate: kernels.get("activate")?,
            gate: kernels.get("gate")?,
            neighbours: kernels.get("neighbours")?, // prose: ok
            attention: AttentionKernels::new(kernels, variant)?,
        })
    }
}

impl Workspace {
    /// For passes of `rows` tokens, a multiple of [`ROW_STEP`].
    fn new(
        device: &Arc<Device>,
        weights: &Weights,
        variant: Variant,
        rows: usize,
        max_tokens: usize,
    ) -> Result<Self, ComputeError> {
        let hidden = variant.hidden;
        let buffer = |columns: usize| Buffer::new(device, rows * columns * width(variant.precision));
        let widest = |of: fn(&Layer) -> usize| weights.layers.iter().map(of).max().unwrap_or_default();
        let products = widest(|layer| layer.qkv.outputs().max(layer.up.outputs()));
        let gated = widest(|layer| if layer.gated { layer.up.outputs() / 2 } else { 0 });
        let neighbours = weights.convolution.as_ref().map_or(0, |convolution| convolution.size * hidden);
        let sequences = MOST_SEQUENCES.min(rows);
        let first = weights.layers.first();
        Ok(Self {
            capacity: rows,
            numbers: Buffer::new(device, rows * NUMBERS_PER_TOKEN * size_of::<i32>())?,
            x: buffer(hidden)?,
            normed: buffer(hidden)?,
            y: buffer(hidden)?,
            // Three halves hold more than one f32 per column, and a pass has no more results than tokens.
            wide: buffer(products.max(neighbours))?,
            context: buffer(hidden.max(gated))?,
            beside: weights.convolution.as_ref().map(|_| buffer(hidden)).transpose()?,
            distances: first
                .map(|layer| Distances::new(device, &layer.attention, variant, rows, max_tokens))
                .transpose()?
                .flatten(),
            products: Products::new(device, variant.precision)?,
            sent: Staging::new(device, rows * NUMBERS_PER_TOKEN)?,
            received: Staging::new(device, sequences * hidden)?,
        })
    }
}

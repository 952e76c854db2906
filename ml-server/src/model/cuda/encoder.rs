//! An encoder on the GPU: weights, buffers, and the order of launches.

use std::sync::{Arc, Mutex, PoisonError};

use super::attention::{Attention, AttentionKernels, Distances, Operands};
use super::device::Device;
use super::kernels::{Grid, Kernel, Kernels, Variant};
use super::layout::{Arrays, Layout, NUMBERS_PER_TOKEN, ROW_STEP, passes};
use super::linear::{Linear, Products};
use super::memory::{Address, Buffer, Staging, width};
use crate::error::ComputeError;
use crate::model::convolution::Convolution as PlainConvolution;
use crate::model::device::Precision;
use crate::model::encoder::{Encoder as Plain, Layer as PlainLayer, Order, PositionCount, Table};
use crate::model::head::Pooling;
use crate::model::ops::{Activation, LayerNorm};
use crate::model::tokenizer::Tokens;
use crate::model::weights::LinearWeights;

/// Sequences of one pass, and so the room for its results.
const MOST_SEQUENCES: usize = 1_024;
/// Rows that a block of a row-wise kernel takes, one per warp.
const ROW_WARPS: usize = 4;
/// Blocks of an element-wise kernel: several for every multiprocessor there is.
const MOST_BLOCKS: usize = 2_048;

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

struct Weights {
    words: Buffer,
    positions: Option<Buffer>,
    segments: Option<Buffer>,
    embeddings_norm: Norm,
    layers: Vec<Layer>,
    convolution: Option<Convolution>,
    norm: Option<Norm>,
}

struct Norm {
    gain: Buffer,
    offset: Buffer,
    epsilon: f32,
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

struct AllKernels {
    embed: Kernel,
    add_norm: Kernel,
    pool: Kernel,
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
    /// `[rows, hidden]`: its normalised copy, where layers normalise what they read.
    normed: Buffer,
    /// `[rows, hidden]`: what a block adds.
    y: Buffer,
    /// Widest products; at the end the pooled vectors.
    wide: Buffer,
    /// `[rows, hidden]`, or gated values.
    context: Buffer,
    /// `[rows, hidden]`: what the convolution adds.
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
        let variant = variant(&plain, precision)?;
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

    /// Width of a token's vector.
    pub fn hidden(&self) -> usize {
        self.variant.hidden
    }

    /// One pooled vector per sequence, in order.
    ///
    /// # Errors
    /// What went wrong on the GPU.
    pub fn forward(&self, batch: &[&Tokens]) -> Result<Vec<Vec<f32>>, ComputeError> {
        let mut workspace = self.workspace.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows = Vec::with_capacity(batch.len());
        for pass in passes(batch, workspace.capacity, MOST_SEQUENCES) {
            rows.extend(self.pass(pass, &mut workspace)?);
        }
        Ok(rows)
    }

    fn pass(&self, batch: &[&Tokens], workspace: &mut Workspace) -> Result<Vec<Vec<f32>>, ComputeError> {
        let longest = batch.iter().map(|tokens| tokens.len()).max().unwrap_or_default();
        let layout = Layout::of(batch, self.count, self.kernels.attention.tile(longest));
        if layout.rows > workspace.capacity {
            let reason =
                format!("an input of {longest} tokens, where there is room for {}", workspace.capacity);
            return Err(ComputeError::Failed(reason));
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
        let values =
            workspace.received.receive(&self.device, &workspace.wide, batch.len() * self.variant.hidden)?;
        Ok(values.chunks_exact(self.variant.hidden).map(<[f32]>::to_vec).collect())
    }
}

/// What to compile for `plain`.
fn variant(plain: &Plain<LinearWeights>, precision: Precision) -> Result<Variant, ComputeError> {
    let Some(first) = plain.layers.first() else {
        return Err(ComputeError::Failed("an encoder without layers".to_owned()));
    };
    let (head_dim, relative) = (first.attention.head_dim, first.attention.relative.is_some());
    let variant = Variant { precision, hidden: plain.hidden, head_dim, relative };
    let wide = |layer: &PlainLayer<LinearWeights>| layer.down.weight.shape[1];
    if let Some(problem) = variant.problem() {
        return Err(ComputeError::Failed(problem));
    }
    if plain.layers.iter().any(|layer| !wide(layer).is_multiple_of(8)) {
        return Err(ComputeError::Failed("feed-forward blocks of a width that 8 does not divide".to_owned()));
    }
    let before = plain.layers.iter().any(|layer| layer.order == Order::Before);
    if before && (plain.norm.is_none() || plain.layers.iter().any(|layer| layer.order == Order::After)) {
        let reason = "normalisation before blocks without one after the last layer";
        return Err(ComputeError::Failed(reason.to_owned()));
    }
    if plain.layers.iter().any(|layer| layer.order == Order::After && layer.attention_norm.is_none()) {
        return Err(ComputeError::Failed("an attention block that nothing normalises".to_owned()));
    }
    Ok(variant)
}

impl Weights {
    fn upload(
        device: &Arc<Device>,
        plain: Plain<LinearWeights>,
        variant: Variant,
    ) -> Result<Self, ComputeError> {
        let table = |table: Table| Buffer::of_values(device, &table.into_f32(), variant.precision);
        let mut angles = Vec::new();
        let Plain { embeddings, layers, convolution, norm, hidden: _ } = plain;
        Ok(Self {
            words: table(embeddings.words)?,
            positions: embeddings.positions.map(|positions| table(positions.table)).transpose()?,
            segments: embeddings.segments.map(table).transpose()?,
            embeddings_norm: Norm::upload(device, &embeddings.norm)?,
            layers: layers
                .into_iter()
                .map(|layer| {
                    let attention = Attention::upload(device, &layer.attention, variant, &mut angles)?;
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

impl AllKernels {
    fn new(kernels: &Kernels, variant: Variant) -> Result<Self, ComputeError> {
        Ok(Self {
            embed: kernels.get("embed")?,
            add_norm: kernels.get("add_norm")?,
            pool: kernels.get("pool")?,
            activate: kernels.get("activate")?,
            gate: kernels.get("gate")?,
            neighbours: kernels.get("neighbours")?,
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
            // Three halves hold more than the one f32 per column that pooling needs.
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

/// One pass: a layout, and where its buffers are.
struct Pass<'a> {
    variant: Variant,
    kernels: &'a AllKernels,
    layout: Layout,
    arrays: Arrays,
    x: Address,
    normed: Address,
    y: Address,
    wide: Address,
    context: Address,
    beside: Option<Address>,
    distances: Option<&'a Distances>,
    products: &'a mut Products,
}

impl Pass<'_> {
    /// Puts everything on the stream; the pooled vectors are then in `wide`.
    fn run(&mut self, weights: &Weights, pooling: Pooling) -> Result<(), ComputeError> {
        self.embed(weights)?;
        let beside = weights.convolution.as_ref().zip(self.beside);
        if let Some((convolution, beside)) = beside {
            self.convolve(convolution, beside)?;
        }
        // Where layers normalise what they read, what a layer adds waits in `y` for the next normalisation.
        let mut waiting = None;
        for (index, layer) in weights.layers.iter().enumerate() {
            match layer.order {
                Order::After => self.layer_after(layer)?,
                Order::Before => waiting = Some(self.layer_before(layer, waiting)?),
            }
            if let (0, Some((convolution, beside))) = (index, beside) {
                self.add_norm(self.x, beside, 0, &convolution.norm, self.x)?;
            }
        }
        if let Some(norm) = &weights.norm {
            self.add_norm(self.x, waiting.unwrap_or(0), 0, norm, self.x)?;
        }
        self.pool(pooling)
    }

    /// `x = norm(x + block(x))`, twice.
    fn layer_after(&mut self, layer: &Layer) -> Result<(), ComputeError> {
        self.attend(layer, self.x)?;
        if let Some(norm) = &layer.attention_norm {
            self.add_norm(self.x, self.y, 0, norm, self.x)?;
        }
        self.feed_forward(layer, self.x)?;
        self.add_norm(self.x, self.y, 0, &layer.norm, self.x)
    }

    /// `x += block(norm(x))`, twice; what the second block adds is left in `y`, whose address is returned.
    fn layer_before(&mut self, layer: &Layer, waiting: Option<Address>) -> Result<Address, ComputeError> {
        let input = match &layer.attention_norm {
            Some(norm) => {
                self.add_norm(self.x, waiting.unwrap_or(0), self.x, norm, self.normed)?;
                self.normed
            }
            None => self.x,
        };
        self.attend(layer, input)?;
        self.add_norm(self.x, self.y, self.x, &layer.norm, self.normed)?;
        self.feed_forward(layer, self.normed)?;
        Ok(self.y)
    }

    fn embed(&self, weights: &Weights) -> Result<(), ComputeError> {
        let norm = &weights.embeddings_norm;
        let address = |table: &Option<Buffer>| table.as_ref().map_or(0, Buffer::address);
        let Arrays { ids, places, types, .. } = self.arrays;
        let tables = (weights.words.address(), address(&weights.positions), address(&weights.segments));
        self.kernels.embed.launch(
            self.by_rows(),
            &(
                tables.0,
                tables.1,
                tables.2,
                ids,
                places,
                types,
                norm.gain.address(),
                norm.offset.address(),
                norm.epsilon,
                self.x,
                self.layout.rows as i32,
            ),
        )
    }

    /// Leaves what the attention block adds in `y`.
    fn attend(&mut self, layer: &Layer, input: Address) -> Result<(), ComputeError> {
        let rows = self.layout.padded_rows;
        self.products.linear(&layer.qkv, input, self.wide, rows, None)?;
        let operands = Operands { qkv: self.wide, out: self.context, distances: self.distances };
        let kernels = &self.kernels.attention;
        layer.attention.run(kernels, self.products, &self.layout, &self.arrays, operands)?;
        self.products.linear(&layer.attention_out, self.context, self.y, rows, None)?;
        Ok(())
    }

    /// Leaves what the feed-forward block adds in `y`.
    fn feed_forward(&mut self, layer: &Layer, input: Address) -> Result<(), ComputeError> {
        let rows = self.layout.padded_rows;
        let inner = if layer.gated {
            self.products.linear(&layer.up, input, self.wide, rows, None)?;
            let columns = layer.up.outputs() / 2;
            let (grid, vectors) = self.by_elements(columns);
            let arguments = (self.wide, self.context, vectors, columns as i32, code(layer.activation));
            self.kernels.gate.launch(grid, &arguments)?;
            self.context
        } else {
            self.activated(&layer.up, input, self.wide, layer.activation)?;
            self.wide
        };
        self.products.linear(&layer.down, inner, self.y, rows, None)?;
        Ok(())
    }

    /// Leaves what the convolution adds to the first layer in `beside`.
    fn convolve(&mut self, convolution: &Convolution, beside: Address) -> Result<(), ComputeError> {
        let grid = Grid { blocks: (self.layout.rows, 1), threads: (128, 1) };
        let Arrays { before, after, .. } = self.arrays;
        self.kernels.neighbours.launch(grid, &(self.x, self.wide, before, after, convolution.size as i32))?;
        self.activated(&convolution.kernel, self.wide, beside, convolution.activation)
    }

    /// `out = activation(x Wᵀ + b)`
    fn activated(
        &mut self,
        linear: &Linear,
        x: Address,
        out: Address,
        activation: Activation,
    ) -> Result<(), ComputeError> {
        if self.products.linear(linear, x, out, self.layout.padded_rows, Some(activation))? {
            return Ok(());
        }
        let (grid, vectors) = self.by_elements(linear.outputs());
        self.kernels.activate.launch(grid, &(out, vectors, code(activation)))
    }

    /// `sum = x + y; out = norm(sum)`, where `y` and `sum` may be 0 for none.
    fn add_norm(
        &self,
        x: Address,
        y: Address,
        sum: Address,
        norm: &Norm,
        out: Address,
    ) -> Result<(), ComputeError> {
        let rows = self.layout.rows as i32;
        let arguments = (x, y, sum, norm.gain.address(), norm.offset.address(), norm.epsilon, out, rows);
        self.kernels.add_norm.launch(self.by_rows(), &arguments)
    }

    fn pool(&self, pooling: Pooling) -> Result<(), ComputeError> {
        let columns = 32 * self.vector();
        let blocks = (self.variant.hidden.div_ceil(columns), self.layout.sequences);
        let mean = i32::from(pooling == Pooling::Mean);
        let grid = Grid { blocks, threads: (32, 8) };
        self.kernels.pool.launch(grid, &(self.x, self.arrays.spans, self.wide, mean))
    }

    /// A warp per token.
    fn by_rows(&self) -> Grid {
        Grid { blocks: (self.layout.rows.div_ceil(ROW_WARPS), 1), threads: (32, ROW_WARPS as u32) }
    }

    /// A thread per 16 bytes of `columns` columns, until there are many; with the number of those 16 bytes.
    fn by_elements(&self, columns: usize) -> (Grid, i64) {
        let vectors = self.layout.rows * columns / self.vector();
        (Grid { blocks: (vectors.div_ceil(256).min(MOST_BLOCKS), 1), threads: (256, 1) }, vectors as i64)
    }

    /// Elements in 16 bytes.
    fn vector(&self) -> usize {
        16 / width(self.variant.precision)
    }
}

/// The kernels' number for a function.
fn code(activation: Activation) -> i32 {
    match activation {
        Activation::GeluErf => 0,
        Activation::GeluTanh => 1,
        Activation::Relu => 2,
        Activation::Tanh => 3,
    }
}

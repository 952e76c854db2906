//! One pass over the layers: the order of launches.

use super::AllKernels;
use super::weights::{Convolution, Layer, Norm, Weights};
use crate::error::ComputeError;
use crate::model::cuda::attention::{Distances, Operands};
use crate::model::cuda::kernels::{Grid, Variant};
use crate::model::cuda::layout::{Arrays, Layout};
use crate::model::cuda::linear::{Linear, Products};
use crate::model::cuda::memory::{Address, Buffer, width};
use crate::model::encoder::Order;
use crate::model::head::Pooling;
use crate::model::ops::Activation;

/// Rows that a block of a row-wise kernel takes, one per warp.
const ROW_WARPS: usize = 4;
/// Blocks of an element-wise kernel: several for every multiprocessor there is.
const MOST_BLOCKS: usize = 2_048;

/// One pass: a layout, and where its buffers are.
pub(super) struct Pass<'a> {
    pub(super) variant: Variant,
    pub(super) kernels: &'a AllKernels,
    pub(super) layout: Layout,
    pub(super) arrays: Arrays,
    pub(super) x: Address,
    pub(super) normed: Address,
    pub(super) y: Address,
    pub(super) wide: Address,
    pub(super) context: Address,
    pub(super) beside: Option<Address>,
    pub(super) distances: Option<&'a Distances>,
    pub(super) products: &'a mut Products,
}

impl Pass<'_> {
    /// Puts everything on the stream; the pooled vectors are then in `wide`, and behind them those of the marks.
    pub(super) fn run(&mut self, weights: &Weights, pooling: Pooling) -> Result<(), ComputeError> {
        self.embed(weights)?;
        let beside = weights.convolution.as_ref().zip(self.beside);
        if let Some((convolution, beside)) = beside {
            self.convolve(convolution, beside)?;
        }
        // If layers normalize their input, a layer's output waits in `y` for the next normalization.
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
        self.pool(pooling)?;
        self.gather()
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

    /// `x += block(norm(x))`, twice; the second block's output stays in `y`, whose address is returned.
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
            by_rows(self.layout.rows),
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

    /// Leaves the attention block's output in `y`.
    fn attend(&mut self, layer: &Layer, input: Address) -> Result<(), ComputeError> {
        let rows = self.layout.padded_rows;
        self.products.linear(&layer.qkv, input, self.wide, rows, None)?;
        let operands = Operands { qkv: self.wide, out: self.context, distances: self.distances };
        let kernels = &self.kernels.attention;
        layer.attention.run(kernels, self.products, &self.layout, &self.arrays, operands)?;
        self.products.linear(&layer.attention_out, self.context, self.y, rows, None)?;
        Ok(())
    }

    /// Leaves the feed-forward block's output in `y`.
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

    /// Leaves the convolution's output for the first layer in `beside`.
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

    /// `sum = x + y; out = norm(sum)`, where `y` and `sum` may be 0 for absent.
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
        self.kernels.add_norm.launch(by_rows(self.layout.rows), &arguments)
    }

    fn pool(&self, pooling: Pooling) -> Result<(), ComputeError> {
        let columns = 32 * self.vector();
        let blocks = (self.variant.hidden.div_ceil(columns), self.layout.sequences);
        let mean = i32::from(pooling == Pooling::Mean);
        let grid = Grid { blocks, threads: (32, 8) };
        self.kernels.pool.launch(grid, &(self.x, self.arrays.spans, self.wide, mean))
    }

    /// Copies the vectors of the marks behind the pooled ones.
    fn gather(&self) -> Result<(), ComputeError> {
        let marks = self.layout.marks;
        if marks == 0 {
            return Ok(());
        }
        let out = self.wide + (self.layout.sequences * self.variant.hidden * size_of::<f32>()) as Address;
        self.kernels.gather.launch(by_rows(marks), &(self.x, self.arrays.marks, out, marks as i32))
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

/// A warp per row.
fn by_rows(rows: usize) -> Grid {
    Grid { blocks: (rows.div_ceil(ROW_WARPS), 1), threads: (32, ROW_WARPS as u32) }
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

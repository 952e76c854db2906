//! Self-attention on the GPU: a layer's buffers, and the launches.

use std::f32::consts::LOG2_E;
use std::sync::Arc;

use cudarc::driver::DeviceRepr;

use super::device::Device;
use super::kernels::{Grid, Kernel, Kernels, Variant};
use super::layout::{Arrays, Layout};
use super::linear::{Products, Shape};
use super::memory::{Address, Buffer, width};
use crate::error::ComputeError;
use crate::model::attention::Attention as Plain;
use crate::model::bias::DistanceBias;
use crate::model::relative::{Buckets, Relative as Tables};
use crate::model::rotary::Rotary;

/// Rows that tables of distances are longer than they need be: products take a multiple of 8 rows.
const SPARE_ROWS: usize = 8;

/// One layer's attention.
pub(super) struct Attention {
    rotary: Option<Arc<Angles>>,
    relative: Option<Relative>,
    bias: Option<Arc<Bias>>,
    /// Farthest distance seen; negative for all.
    window: i32,
    /// Of the scores, for powers of 2.
    scale: f32,
}

/// What layers that share it on the CPU also share on the GPU.
#[derive(Default)]
pub(super) struct Shared {
    angles: Vec<(Arc<Rotary>, Arc<Angles>)>,
    biases: Vec<(Arc<DistanceBias>, Arc<Bias>)>,
}

/// Cosines and sines, `[positions, head_dim / 2]` each.
struct Angles {
    cos: Buffer,
    sin: Buffer,
}

/// Scores by distance, `[heads, 2 · reach − 1]`, for powers of 2.
struct Bias {
    by_distance: Buffer,
    reach: usize,
}

/// A layer's tables of distances, `[2 · span + SPARE_ROWS, hidden]`.
struct Relative {
    buckets: Buckets,
    keys: Option<Buffer>,
    queries: Option<Buffer>,
}

/// Scores against distances, for all layers in turn.
pub(super) struct Distances {
    /// `[heads, rows, reach]`: queries against keys of distances.
    content: Buffer,
    /// `[heads, rows, reach]`: keys against queries of distances.
    position: Buffer,
    /// Row of the tables for each distance from −(longest − 1) on.
    rows: Buffer,
    longest: usize,
}

/// The kernels' argument of that name.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct RelativeArgument {
    content: Address,
    position: Address,
    rows: Address,
    longest: i32,
    first: i32,
    reach: i32,
    stride: i32,
}

// SAFETY: laid out as the kernels' struct is, which has no padding.
#[expect(unsafe_code, reason = "only the author of both sides can vouch for it")]
unsafe impl DeviceRepr for RelativeArgument {}

/// The kernels' argument of that name.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct BiasArgument {
    by_distance: Address,
    reach: i32,
    span: i32,
}

// SAFETY: as above.
#[expect(unsafe_code, reason = "only the author of both sides can vouch for it")]
unsafe impl DeviceRepr for BiasArgument {}

/// The kernels of attention.
pub(super) struct AttentionKernels {
    variant: Variant,
    rotate: Kernel,
    /// Of short and of long sequences, with the queries and threads of a block.
    attend: [(Kernel, usize, u32); 2],
}

impl AttentionKernels {
    /// Looks them up.
    ///
    /// # Errors
    /// When one is missing.
    pub(super) fn new(kernels: &Kernels, variant: Variant) -> Result<Self, ComputeError> {
        let attend = if variant.tensor_cores() {
            let long = if variant.head_dim <= 64 { 128 } else { 64 };
            [(kernels.get("attend_short")?, 64, 128), (kernels.get("attend_long")?, long, 128)]
        } else {
            [(kernels.get("attend_plain")?, 16, 256), (kernels.get("attend_plain")?, 16, 256)]
        };
        Ok(Self { variant, rotate: kernels.get("rotate")?, attend })
    }

    /// Queries in a tile when the longest sequence has `longest` tokens.
    pub(super) fn tile(&self, longest: usize) -> usize {
        self.choose(longest).1
    }

    fn choose(&self, longest: usize) -> &(Kernel, usize, u32) {
        // Wide tiles read keys less often, but leave most of a block idle over a short sequence.
        &self.attend[usize::from(longest > 64)]
    }
}

/// Buffers that attention reads and writes.
#[derive(Clone, Copy)]
pub(super) struct Operands<'a> {
    /// `[rows, 3 · hidden]`, turned in place.
    pub(super) qkv: Address,
    /// `[rows, hidden]`
    pub(super) out: Address,
    /// Where a model has relative scores.
    pub(super) distances: Option<&'a Distances>,
}

impl Attention {
    /// Uploads the tables, unless they are among `shared` already.
    ///
    /// # Errors
    /// [`ComputeError::OutOfMemory`].
    pub(super) fn upload(
        device: &Arc<Device>,
        plain: &Plain,
        variant: Variant,
        shared: &mut Shared,
    ) -> Result<Self, ComputeError> {
        let terms = 1 + plain.relative.as_ref().map_or(0, Tables::terms);
        let scale = LOG2_E / ((plain.head_dim * terms) as f32).sqrt();
        let rotary = plain
            .rotary
            .as_ref()
            .map(|plain| once(&mut shared.angles, plain, || Angles::upload(device, plain)));
        let bias =
            plain.bias.as_ref().map(|plain| once(&mut shared.biases, plain, || Bias::upload(device, plain)));
        let relative = plain.relative.as_ref().map(|tables| Relative::upload(device, tables, variant));
        let window = plain.window.map_or(-1, |window| i32::try_from(window).unwrap_or(i32::MAX));
        let (rotary, relative, bias) = (rotary.transpose()?, relative.transpose()?, bias.transpose()?);
        Ok(Self { rotary, relative, bias, window, scale })
    }

    /// Puts the layer's attention on the stream.
    ///
    /// # Errors
    /// When a launch is refused.
    pub(super) fn run(
        &self,
        kernels: &AttentionKernels,
        products: &mut Products,
        layout: &Layout,
        arrays: &Arrays,
        Operands { qkv, out, distances }: Operands,
    ) -> Result<(), ComputeError> {
        let heads = kernels.variant.hidden / kernels.variant.head_dim;
        if let Some(angles) = &self.rotary {
            let grid = Grid { blocks: (layout.rows, 1), threads: (256, 1) };
            kernels.rotate.launch(grid, &(qkv, angles.cos.address(), angles.sin.address(), arrays.before))?;
        }
        let relative = match (&self.relative, distances) {
            (Some(relative), Some(distances)) => {
                relative.score(distances, products, layout, kernels.variant, qkv)?
            }
            _ => RelativeArgument {
                content: 0,
                position: 0,
                rows: 0,
                longest: 1,
                first: 0,
                reach: 0,
                stride: 0,
            },
        };
        let bias = self.bias.as_ref();
        let bias = bias.map_or(BiasArgument { by_distance: 0, reach: 0, span: 0 }, |bias| bias.argument());
        let (kernel, _, threads) = kernels.choose(layout.longest);
        let grid = Grid { blocks: (layout.tiles, heads), threads: (*threads, 1) };
        kernel.launch(grid, &(qkv, out, arrays.tiles, self.window, self.scale, relative, bias))
    }
}

/// What `known` has for `plain`, or else what `upload` makes.
fn once<P, U>(
    known: &mut Vec<(Arc<P>, Arc<U>)>,
    plain: &Arc<P>,
    upload: impl FnOnce() -> Result<U, ComputeError>,
) -> Result<Arc<U>, ComputeError> {
    if let Some((_, uploaded)) = known.iter().find(|(other, _)| Arc::ptr_eq(other, plain)) {
        return Ok(Arc::clone(uploaded));
    }
    let uploaded = Arc::new(upload()?);
    known.push((Arc::clone(plain), Arc::clone(&uploaded)));
    Ok(uploaded)
}

impl Angles {
    fn upload(device: &Arc<Device>, plain: &Rotary) -> Result<Self, ComputeError> {
        let (cos, sin) = plain.tables();
        Ok(Self { cos: Buffer::of_f32(device, cos)?, sin: Buffer::of_f32(device, sin)? })
    }
}

impl Bias {
    fn upload(device: &Arc<Device>, plain: &DistanceBias) -> Result<Self, ComputeError> {
        let values: Vec<f32> = plain.by_distance().iter().map(|score| score * LOG2_E).collect();
        Ok(Self { by_distance: Buffer::of_f32(device, &values)?, reach: plain.reach() })
    }

    fn argument(&self) -> BiasArgument {
        let reach = self.reach as i32;
        BiasArgument { by_distance: self.by_distance.address(), reach, span: 2 * reach - 1 }
    }
}

impl Relative {
    fn upload(device: &Arc<Device>, tables: &Tables, variant: Variant) -> Result<Self, ComputeError> {
        let upload = |table: &Option<Vec<f32>>| {
            table.as_ref().map(|table| {
                let mut table = table.clone();
                table.resize(table.len() + SPARE_ROWS * variant.hidden, 0.0);
                Buffer::of_values(device, &table, variant.precision)
            })
        };
        let (keys, queries) = (upload(&tables.keys).transpose()?, upload(&tables.queries).transpose()?);
        Ok(Self { buckets: tables.buckets, keys, queries })
    }

    /// Scores every query and key against the rows of the tables that the longest sequence reaches.
    fn score(
        &self,
        distances: &Distances,
        products: &mut Products,
        layout: &Layout,
        variant: Variant,
        qkv: Address,
    ) -> Result<RelativeArgument, ComputeError> {
        let most = layout.longest.cast_signed() - 1;
        let first = self.buckets.row(-most);
        let reach = (self.buckets.row(most) - first + 1).next_multiple_of(SPARE_ROWS);
        let shape = Shape {
            rows: layout.padded_rows,
            columns: reach,
            inner: variant.head_dim,
            a_pitch: 3 * variant.hidden,
            b_pitch: variant.hidden,
            batch: variant.hidden / variant.head_dim,
            a_stride: variant.head_dim,
            b_stride: variant.head_dim,
            out_stride: layout.padded_rows * reach,
        };
        let element = width(variant.precision);
        let mut against = |table: &Option<Buffer>, part: usize, out: &Buffer| {
            let Some(table) = table else { return Ok::<_, ComputeError>(0) };
            let vectors = qkv + (part * variant.hidden * element) as Address;
            let rows = table.address() + (first * variant.hidden * element) as Address;
            products.batch(shape, [vectors, rows, out.address()])?;
            Ok(out.address())
        };
        let content = against(&self.keys, 0, &distances.content)?;
        let position = against(&self.queries, 1, &distances.position)?;
        Ok(RelativeArgument {
            content,
            position,
            rows: distances.rows.address(),
            longest: distances.longest as i32,
            first: first as i32,
            reach: reach as i32,
            stride: layout.padded_rows as i32,
        })
    }
}

impl Distances {
    /// Room for `rows` tokens in sequences of at most `longest`, where `layer` and all others have the same buckets.
    /// `None` if the model has no relative scores.
    ///
    /// # Errors
    /// [`ComputeError::OutOfMemory`].
    pub(super) fn new(
        device: &Arc<Device>,
        layer: &Attention,
        variant: Variant,
        rows: usize,
        longest: usize,
    ) -> Result<Option<Self>, ComputeError> {
        let Some(relative) = &layer.relative else { return Ok(None) };
        let most = longest.cast_signed() - 1;
        let table: Vec<u8> = (-most..=most)
            .flat_map(|distance| (relative.buckets.row(distance) as i32).to_le_bytes())
            .collect();
        let heads = variant.hidden / variant.head_dim;
        let reach =
            (relative.buckets.row(most) - relative.buckets.row(-most) + 1).next_multiple_of(SPARE_ROWS);
        let scores = |exists: bool| {
            Buffer::new(device, if exists { heads * rows * reach * width(variant.precision) } else { 1 })
        };
        Ok(Some(Self {
            content: scores(relative.keys.is_some())?,
            position: scores(relative.queries.is_some())?,
            rows: Buffer::of(device, &table)?,
            longest,
        }))
    }
}

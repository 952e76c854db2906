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
use crate::model::relative::{Buckets, Relative as Tables};
use crate::model::rotary::Rotary;

/// Rows that tables of distances are longer than they need be: products take a multiple of 8 rows.
const SPARE_ROWS: usize = 8;

/// One layer's attention.
pub(super) struct Attention {
    rotary: Option<Arc<Angles>>,
    relative: Option<Relative>,
    /// Farthest distance seen; negative for all.
    window: i32,
    /// Of the scores, for powers of 2.
    scale: f32,
}

/// Cosines and sines, `[positions, head_dim / 2]` each.
pub(super) struct Angles {
    cos: Buffer,
    sin: Buffer,
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
    /// Uploads the tables. Layers that share angles also share them on the GPU, through `angles`.
    ///
    /// # Errors
    /// [`ComputeError::OutOfMemory`].
    pub(super) fn upload(
        device: &Arc<Device>,
        plain: &Plain,
        variant: Variant,
        angles: &mut Vec<(Arc<Rotary>, Arc<Angles>)>,
    ) -> Result<Self, ComputeError> {
        let terms = 1 + plain.relative.as_ref().map_or(0, Tables::terms);
        let scale = LOG2_E / ((plain.head_dim * terms) as f32).sqrt();
        let rotary = plain.rotary.as_ref().map(|rotary| {
            if let Some((_, known)) = angles.iter().find(|(other, _)| Arc::ptr_eq(other, rotary)) {
                return Ok::<_, ComputeError>(Arc::clone(known));
            }
            let (cos, sin) = rotary.tables();
            let new = Angles { cos: Buffer::of_f32(device, cos)?, sin: Buffer::of_f32(device, sin)? };
            let new = Arc::new(new);
            angles.push((Arc::clone(rotary), Arc::clone(&new)));
            Ok(new)
        });
        let relative = plain.relative.as_ref().map(|tables| Relative::upload(device, tables, variant));
        let window = plain.window.map_or(-1, |window| i32::try_from(window).unwrap_or(i32::MAX));
        Ok(Self { rotary: rotary.transpose()?, relative: relative.transpose()?, window, scale })
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
        let argument = match (&self.relative, distances) {
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
        let (kernel, _, threads) = kernels.choose(layout.longest);
        let grid = Grid { blocks: (layout.tiles, heads), threads: (*threads, 1) };
        kernel.launch(grid, &(qkv, out, arrays.tiles, self.window, self.scale, argument))
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

//! Products with `Q8_0` weights that stay 8 bits wide in memory.
//!
//! Activations are rounded to 16 bits with one scale per row: with 8 bits, the few large columns that a layer
//! normalization leaves would round the others away (cosines of 0.985 were seen), with 16 nothing is lost that f32 would keep
//! in the end. Dot products of a block of 32 are exact in 32-bit integers, since 32 · 2⁷ · 2¹⁵ < 2³¹; blocks are then summed in f32
//! with their weight scales, in order. Every kernel does the same operations on the same values, and a row's do not depend on
//! the other rows, so that an answer depends neither on the instruction set nor on its batch.

#![expect(
    clippy::inline_always,
    reason = "vector code must become part of the function that enables its instructions"
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod rows;

use std::fmt;
use std::sync::LazyLock;

use half::f16;

pub use self::rows::Rows;
use self::rows::round;
use super::super::weights::{Q8_0_BLOCK, Q8_0_BYTES};

/// Outputs that a kernel computes side by side.
const PANEL: usize = 32;
/// Most rows that a kernel computes at once.
const TILE: usize = 12;
/// Multiplications for which waking another thread pays: some 40 µs.
const WORTH_SPLITTING: usize = 8_000_000;

/// 32 inputs of 32 outputs: pairs of inputs, and in each the outputs one after the other, two bytes each.
#[derive(Clone)]
#[repr(C, align(64))]
struct Block {
    pairs: [[i8; 2 * PANEL]; Q8_0_BLOCK / 2],
    scales: [f32; PANEL],
}

impl Block {
    const ZERO: Self = Self { pairs: [[0; 2 * PANEL]; Q8_0_BLOCK / 2], scales: [0.0; PANEL] };
}

/// Sums of one tile, without the rows' scales.
type Sums = [[f32; PANEL]; TILE];

/// A kernel for one instruction set, which this machine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel(Set);

// Separate from `Kernel`, so that no caller can select instructions that the CPU lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Set {
    /// AVX-512 with VNNI: Intel since 2019, AMD since Zen 4.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    /// AVX-512 without VNNI: Intel's servers of 2017.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// AVX2 with AVX-VNNI: Intel's client processors since 2021, AMD since Zen 5.
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    /// AVX2 with FMA: x86-64 since 2013.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 64-bit Arm.
    #[cfg(target_arch = "aarch64")]
    Neon,
    /// Anything else.
    Portable,
}

impl Kernel {
    /// The one that every machine can run.
    pub const PORTABLE: Self = Self(Set::Portable);

    /// Those that this machine can run, fastest first.
    pub fn available() -> Vec<Self> {
        let mut kernels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            // The same decision as for the products in f32.
            if rten_simd::is_avx512_supported() {
                if is_x86_feature_detected!("avx512vnni") {
                    kernels.push(Self(Set::Avx512Vnni));
                }
                kernels.push(Self(Set::Avx512));
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                if is_x86_feature_detected!("avxvnni") {
                    kernels.push(Self(Set::AvxVnni));
                }
                kernels.push(Self(Set::Avx2));
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            kernels.push(Self(Set::Neon));
        }
        kernels.push(Self::PORTABLE);
        kernels
    }

    /// The fastest that this machine can run.
    fn best() -> Self {
        static BEST: LazyLock<Kernel> = LazyLock::new(|| Kernel::available()[0]);
        *BEST
    }

    /// Products of as many rows as `out` has with one panel: `x` is `[rows, 32 · blocks.len()]`. The sums of other rows
    /// stay unchanged.
    fn tile(self, x: &[i16], blocks: &[Block], sums: &mut Sums, out: &mut Out) {
        let count = out.scales.len();
        assert!(count <= TILE && x.len() == count * blocks.len() * Q8_0_BLOCK);
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512Vnni => avx512::tile::<true>(count, x, blocks, sums, out),
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => avx512::tile::<false>(count, x, blocks, sums, out),
            #[cfg(target_arch = "x86_64")]
            Set::AvxVnni => avx2::tile::<true>(count, x, blocks, sums, out),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => avx2::tile::<false>(count, x, blocks, sums, out),
            #[cfg(target_arch = "aarch64")]
            Set::Neon => neon::tile(count, x, blocks, sums, out),
            Set::Portable => {
                portable::tile(count, x, blocks, sums);
                out.finish(sums);
            }
        }
    }

    /// See [`round`].
    fn round(self, row: &[f32], out: &mut [i16]) -> f32 {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512Vnni | Set::Avx512 => avx512::round(row, out),
            #[cfg(target_arch = "x86_64")]
            Set::AvxVnni | Set::Avx2 => avx2::round(row, out),
            // NEON is what the compiler uses anyway.
            #[cfg(target_arch = "aarch64")]
            Set::Neon => round(row, out),
            Set::Portable => round(row, out),
        }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Where the sums of a tile go.
struct Out<'a> {
    /// Of the rows of activations.
    scales: &'a [f32],
    /// Of the panel's outputs.
    bias: &'a [f32],
    /// The panel's first column.
    column: usize,
    /// `[scales.len(), outputs]`
    rows: &'a mut [f32],
    write: Write,
}

impl Out<'_> {
    /// `sum · scale + bias`. Inlined, so that every kernel has it in its own instructions.
    #[inline(always)]
    fn finish(&mut self, sums: &Sums) {
        let outputs = self.rows.len() / self.scales.len();
        let columns = self.column..self.column + self.bias.len();
        for ((out, sums), &scale) in self.rows.chunks_exact_mut(outputs).zip(sums).zip(self.scales) {
            let out = out[columns.clone()].iter_mut().zip(sums).zip(self.bias);
            match self.write {
                Write::Over => out.for_each(|((out, sum), bias)| *out = sum * scale + bias),
                Write::Add => out.for_each(|((out, sum), bias)| *out += sum * scale + bias),
            }
        }
    }
}

/// The weights of a layer, packed.
pub struct Matrix {
    /// `[outputs / PANEL, inputs / 32]`
    blocks: Vec<Block>,
    outputs: usize,
    inputs: usize,
}

/// How a product combines with the contents of `out`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    /// Overwrites it.
    Over,
    /// Adds to it.
    Add,
}

impl Matrix {
    /// Packs `Q8_0` blocks of a row-major `[outputs, inputs]`.
    pub fn pack(source: &[u8], outputs: usize, inputs: usize) -> Self {
        let depth = inputs / Q8_0_BLOCK;
        assert_eq!(source.len(), outputs * depth * Q8_0_BYTES, "as many blocks as the shape says");
        let mut blocks = vec![Block::ZERO; outputs.div_ceil(PANEL) * depth];
        for (index, bytes) in source.chunks_exact(Q8_0_BYTES).enumerate() {
            let (output, at) = (index / depth, index % depth);
            let (panel, column) = (output / PANEL, output % PANEL);
            let block = &mut blocks[panel * depth + at];
            block.scales[column] = f16::from_le_bytes([bytes[0], bytes[1]]).to_f32();
            for (pair, two) in block.pairs.iter_mut().zip(bytes[2..].chunks_exact(2)) {
                pair[2 * column] = two[0].cast_signed();
                pair[2 * column + 1] = two[1].cast_signed();
            }
        }
        Self { blocks, outputs, inputs }
    }

    /// Number of outputs per row.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Writes `x Wᵀ + bias` to `out`, `[rows, outputs]`.
    pub fn multiply(&self, x: &Rows, bias: &[f32], out: &mut [f32], write: Write) {
        self.multiply_with(Kernel::best(), x, bias, out, write);
    }

    /// [`multiply`](Self::multiply) with a kernel of choice.
    pub fn multiply_with(&self, kernel: Kernel, x: &Rows, bias: &[f32], out: &mut [f32], write: Write) {
        assert!(
            x.width == self.inputs
                && bias.len() == self.outputs
                && out.len() == x.scales.len() * self.outputs,
            "the shapes of a layer agree by construction"
        );
        let pieces = rayon::current_num_threads();
        self.split(kernel, pieces, (&x.values, &x.scales), bias, out, write);
    }

    /// Shares the rows between threads where that pays.
    fn split(
        &self,
        kernel: Kernel,
        pieces: usize,
        (values, scales): (&[i16], &[f32]),
        bias: &[f32],
        out: &mut [f32],
        write: Write,
    ) {
        let rows = scales.len();
        let work = rows * self.inputs * self.outputs;
        if pieces > 1 && rows >= 2 * TILE && work >= 2 * WORTH_SPLITTING {
            let half = (rows / 2).next_multiple_of(TILE);
            let (values, more_values) = values.split_at(half * self.inputs);
            let (scales, more_scales) = scales.split_at(half);
            let (out, more_out) = out.split_at_mut(half * self.outputs);
            rayon::join(
                || self.split(kernel, pieces.div_ceil(2), (values, scales), bias, out, write),
                || self.split(kernel, pieces / 2, (more_values, more_scales), bias, more_out, write),
            );
        } else {
            self.run(kernel, values, scales, bias, out, write);
        }
    }

    fn run(
        &self,
        kernel: Kernel,
        values: &[i16],
        scales: &[f32],
        bias: &[f32],
        out: &mut [f32],
        write: Write,
    ) {
        let mut sums: Sums = [[0.0; PANEL]; TILE];
        let depth = self.inputs / Q8_0_BLOCK;
        for (panel, blocks) in self.blocks.chunks_exact(depth).enumerate() {
            let column = panel * PANEL;
            let bias = &bias[column..self.outputs.min(column + PANEL)];
            let tiles = values.chunks(TILE * self.inputs).zip(scales.chunks(TILE));
            for ((values, scales), rows) in tiles.zip(out.chunks_mut(TILE * self.outputs)) {
                kernel.tile(values, blocks, &mut sums, &mut Out { scales, bias, column, rows, write });
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Activations as the integer kernels read them.

use super::Kernel;

/// Activations rounded to 16 bits, with one scale per row.
#[derive(Default)]
pub struct Rows {
    /// `[rows, width]`
    pub(super) values: Vec<i16>,
    /// `[rows]`
    pub(super) scales: Vec<f32>,
    pub(super) width: usize,
}

impl Rows {
    /// Rounds `x`, rows of `width` values. Buffers are reused. A row with a non-finite value gets a non-finite scale,
    /// so that results computed from it are not finite either.
    pub fn round(&mut self, x: &[f32], width: usize) {
        let kernel = Kernel::best();
        self.width = width;
        self.values.resize(x.len(), 0);
        self.scales.clear();
        for (row, out) in x.chunks_exact(width).zip(self.values.chunks_exact_mut(width)) {
            self.scales.push(kernel.round(row, out));
        }
    }
}

/// Writes `row` / scale to `out`, and returns the scale. Inlined, so that every kernel has it in its own instructions.
#[inline(always)]
pub(super) fn round(row: &[f32], out: &mut [i16]) -> f32 {
    const LANES: usize = 64;
    // Adding 1.5 · 2²³ leaves the nearest whole number, ties to even, in the low bits.
    const MAGIC: f32 = 12_582_912.0;
    let mut largest = [0f32; LANES];
    let mut spoilt = [0f32; LANES];
    let mut chunks = row.chunks_exact(LANES);
    let mut note = |values: &[f32]| {
        for ((largest, spoilt), value) in largest.iter_mut().zip(&mut spoilt).zip(values) {
            *largest = if value.abs() > *largest { value.abs() } else { *largest };
            *spoilt += value * 0.0;
        }
    };
    for values in &mut chunks {
        // Of known length, so that it becomes vectors.
        note(&values[..LANES]);
    }
    note(chunks.remainder());
    let largest = largest.into_iter().fold(0.0, f32::max);
    // Values below this times any weight vanish, and the inverse would be infinite.
    let inverse = if largest > 1e-30 { f32::from(i16::MAX) / largest } else { 0.0 };
    for (out, value) in out.iter_mut().zip(row) {
        *out = (value * inverse + MAGIC).to_bits().wrapping_sub(MAGIC.to_bits()).cast_signed() as i16;
    }
    largest / f32::from(i16::MAX) + spoilt.into_iter().sum::<f32>()
}

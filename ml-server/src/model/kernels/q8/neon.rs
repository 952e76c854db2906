//! The kernel for NEON, which every 64-bit Arm has: one instruction multiplies 4 pairs of 16-bit values and adds them. Four rows
//! of 16 outputs at a time.

#![expect(
    unsafe_code,
    reason = "intrinsics read through pointers; every SAFETY comment says why they stay inside"
)]

use std::arch::aarch64::{
    int16x8_t, int32x4_t, vcvtq_f32_s32, vdupq_n_s32, vfmaq_f32, vget_low_s16, vld1q_f32, vld1q_s16, vld2_s8,
    vmlal_high_laneq_s16, vmlal_laneq_s16, vmovl_s8, vst1q_f32,
};

use super::{Block, Out, PANEL, Q8_0_BLOCK, Sums};

/// Outputs per register.
const LANES: usize = 4;
/// Outputs that are computed together.
const COLUMNS: usize = 16;
/// Rows that are computed together.
const ROWS: usize = 4;
/// Activations per register.
const STEP: usize = 8;

/// See [`Kernel::tile`](super::Kernel::tile).
pub(super) fn tile(count: usize, x: &[i16], blocks: &[Block], sums: &mut Sums, out: &mut Out) {
    let width = blocks.len() * Q8_0_BLOCK;
    for (x, sums) in x.chunks(ROWS * width).zip(sums[..count].chunks_mut(ROWS)) {
        let rows = match sums.len() {
            1 => rows::<1>,
            2 => rows::<2>,
            3 => rows::<3>,
            _ => rows::<ROWS>,
        };
        // SAFETY: `Kernel::available` has found the feature.
        unsafe { rows(x, blocks, sums) }
    }
    out.finish(sums);
}

#[target_feature(enable = "neon")]
fn rows<const COUNT: usize>(x: &[i16], blocks: &[Block], sums: &mut [[f32; PANEL]]) {
    let width = blocks.len() * Q8_0_BLOCK;
    assert!(sums.len() == COUNT && x.len() == COUNT * width);
    sums.fill([0.0; PANEL]);
    for column in (0..PANEL).step_by(COLUMNS) {
        for (index, block) in blocks.iter().enumerate() {
            let mut dots = [[vdupq_n_s32(0); COLUMNS / LANES]; COUNT];
            for (step, pairs) in block.pairs.chunks_exact(STEP / 2).enumerate() {
                let at = index * Q8_0_BLOCK + step * STEP;
                // SAFETY: row < COUNT, and 8 values from `at` lie inside the row of `width` values, as asserted above.
                let x: [int16x8_t; COUNT] =
                    std::array::from_fn(|row| unsafe { vld1q_s16(x.as_ptr().add(row * width + at)) });
                add_pair::<COUNT, 0, 1>(&mut dots, &x, &pairs[0], column);
                add_pair::<COUNT, 2, 3>(&mut dots, &x, &pairs[1], column);
                add_pair::<COUNT, 4, 5>(&mut dots, &x, &pairs[2], column);
                add_pair::<COUNT, 6, 7>(&mut dots, &x, &pairs[3], column);
            }
            for part in 0..COLUMNS / LANES {
                let column = column + part * LANES;
                // SAFETY: 32 scales, of which column ≤ 28 has 4.
                let scales = unsafe { vld1q_f32(block.scales.as_ptr().add(column)) };
                for (sums, dots) in sums.iter_mut().zip(&dots) {
                    let dots = vcvtq_f32_s32(dots[part]);
                    // SAFETY: a row of sums is 32 values, of which column ≤ 28 has 4.
                    unsafe {
                        let sums = sums.as_mut_ptr().add(column);
                        vst1q_f32(sums, vfmaq_f32(vld1q_f32(sums), dots, scales));
                    }
                }
            }
        }
    }
}

/// Adds to the 16 outputs of each row the products of its activations `FIRST` and `SECOND` with a pair of inputs' weights.
#[inline]
#[target_feature(enable = "neon")]
fn add_pair<const COUNT: usize, const FIRST: i32, const SECOND: i32>(
    dots: &mut [[int32x4_t; COLUMNS / LANES]; COUNT],
    x: &[int16x8_t; COUNT],
    weights: &[i8; 2 * PANEL],
    column: usize,
) {
    for half in 0..2 {
        // SAFETY: column ≤ 16, so that the 16 bytes of 8 outputs end within the 64.
        let weights = unsafe { vld2_s8(weights.as_ptr().add(2 * column + half * 16)) };
        let (first, second) = (vmovl_s8(weights.0), vmovl_s8(weights.1));
        for (dots, &x) in dots.iter_mut().zip(x) {
            let [low, high] = [2 * half, 2 * half + 1];
            dots[low] = vmlal_laneq_s16::<FIRST>(dots[low], vget_low_s16(first), x);
            dots[high] = vmlal_high_laneq_s16::<FIRST>(dots[high], first, x);
            dots[low] = vmlal_laneq_s16::<SECOND>(dots[low], vget_low_s16(second), x);
            dots[high] = vmlal_high_laneq_s16::<SECOND>(dots[high], second, x);
        }
    }
}

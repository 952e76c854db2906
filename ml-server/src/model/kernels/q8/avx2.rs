//! The kernels for AVX2 and for AVX-VNNI, which adds 8 pairs of 16-bit products in one instruction instead of two. Two rows at
//! a time.

#![expect(
    unsafe_code,
    reason = "intrinsics read through pointers; every SAFETY comment says why they stay inside"
)]

use std::arch::asm;
use std::arch::x86_64::{
    __m256i, _mm_load_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_cvtepi32_ps, _mm256_fmadd_ps,
    _mm256_load_ps, _mm256_loadu_ps, _mm256_madd_epi16, _mm256_set1_epi32, _mm256_setzero_si256,
    _mm256_storeu_ps,
};

use super::{Block, Out, PANEL, Q8_0_BLOCK, Sums};

/// Outputs per register.
const LANES: usize = 8;
/// Registers of outputs that are computed together. Six rows of two are what fits sixteen registers.
const PARTS: usize = 2;
/// Rows that are computed together.
const ROWS: usize = 6;

/// See [`Kernel::tile`](super::Kernel::tile). `VNNI` only where that is there.
pub(super) fn tile<const VNNI: bool>(
    count: usize,
    x: &[i16],
    blocks: &[Block],
    sums: &mut Sums,
    out: &mut Out,
) {
    let width = blocks.len() * Q8_0_BLOCK;
    for (x, sums) in x.chunks(ROWS * width).zip(sums[..count].chunks_mut(ROWS)) {
        let rows = match sums.len() {
            1 => rows::<1, VNNI>,
            2 => rows::<2, VNNI>,
            3 => rows::<3, VNNI>,
            4 => rows::<4, VNNI>,
            5 => rows::<5, VNNI>,
            _ => rows::<ROWS, VNNI>,
        };
        // SAFETY: `Kernel::available` has found the features that `rows` and `finish` need.
        unsafe { rows(x, blocks, sums) }
    }
    // SAFETY: as above.
    unsafe { finish(out, sums) }
}

#[target_feature(enable = "avx2,fma")]
fn finish(out: &mut Out, sums: &Sums) {
    out.finish(sums);
}

/// See [`round`](super::round).
pub(super) fn round(row: &[f32], out: &mut [i16]) -> f32 {
    #[target_feature(enable = "avx2,fma")]
    fn inner(row: &[f32], out: &mut [i16]) -> f32 {
        super::round(row, out)
    }
    // SAFETY: `Kernel::available` has found the features.
    unsafe { inner(row, out) }
}

/// Adds to each of the 8 sums the products of its pair of 16-bit values.
#[inline]
#[target_feature(enable = "avx2")]
fn add_products<const VNNI: bool>(mut sums: __m256i, a: __m256i, b: __m256i) -> __m256i {
    if VNNI {
        // SAFETY: the machine has the instruction, see `tile`; registers are all that it touches. LLVM would make two of the
        // intrinsic.
        unsafe {
            asm!(
                "{{vex}} vpdpwssd {sums}, {a}, {b}", sums = inout(ymm_reg) sums, a = in(ymm_reg) a, b = in(ymm_reg) b,
                options(pure, nomem, nostack, preserves_flags),
            );
        }
        sums
    } else {
        _mm256_add_epi32(sums, _mm256_madd_epi16(a, b))
    }
}

#[target_feature(enable = "avx2,fma")]
fn rows<const COUNT: usize, const VNNI: bool>(x: &[i16], blocks: &[Block], sums: &mut [[f32; PANEL]]) {
    let width = blocks.len() * Q8_0_BLOCK;
    assert!(sums.len() == COUNT && x.len() == COUNT * width);
    sums.fill([0.0; PANEL]);
    for column in (0..PANEL).step_by(PARTS * LANES) {
        for (index, block) in blocks.iter().enumerate() {
            let mut dots = [[_mm256_setzero_si256(); PARTS]; COUNT];
            for (pair, weights) in block.pairs.iter().enumerate() {
                let weights: [__m256i; PARTS] = std::array::from_fn(|part| {
                    // SAFETY: the row of weights is 64 bytes, of which each output has 2, aligned to as many as 8 outputs have.
                    let bytes =
                        unsafe { _mm_load_si128(weights.as_ptr().add(2 * (column + part * LANES)).cast()) };
                    _mm256_cvtepi8_epi16(bytes)
                });
                for (row, dots) in dots.iter_mut().enumerate() {
                    // SAFETY: row < COUNT and the pair lies inside the row of `width` values, as asserted above.
                    let two = unsafe {
                        x.as_ptr()
                            .add(row * width + index * Q8_0_BLOCK + 2 * pair)
                            .cast::<i32>()
                            .read_unaligned()
                    };
                    let two = _mm256_set1_epi32(two);
                    for (dots, &weights) in dots.iter_mut().zip(&weights) {
                        *dots = add_products::<VNNI>(*dots, two, weights);
                    }
                }
            }
            for part in 0..PARTS {
                let column = column + part * LANES;
                // SAFETY: 32 scales, of which column ≤ 24 has 8, aligned to 32 bytes.
                let scales = unsafe { _mm256_load_ps(block.scales.as_ptr().add(column)) };
                for (sums, dots) in sums.iter_mut().zip(&dots) {
                    let dots = _mm256_cvtepi32_ps(dots[part]);
                    // SAFETY: a row of sums is 32 values, of which column ≤ 24 has 8.
                    unsafe {
                        let sums = sums.as_mut_ptr().add(column);
                        _mm256_storeu_ps(sums, _mm256_fmadd_ps(dots, scales, _mm256_loadu_ps(sums)));
                    }
                }
            }
        }
    }
}

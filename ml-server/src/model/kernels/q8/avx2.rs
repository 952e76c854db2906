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
/// Registers per panel.
const PARTS: usize = PANEL / LANES;

/// See [`Kernel::tile`](super::Kernel::tile). `VNNI` only where that is there.
pub(super) fn tile<const VNNI: bool>(
    count: usize,
    x: &[i16],
    blocks: &[Block],
    sums: &mut Sums,
    out: &mut Out,
) {
    let width = blocks.len() * Q8_0_BLOCK;
    for (x, sums) in x.chunks(2 * width).zip(sums[..count].chunks_mut(2)) {
        // SAFETY: `Kernel::available` has found the features that `rows` and `finish` need.
        unsafe {
            if let [_] = sums { rows::<1, VNNI>(x, blocks, sums) } else { rows::<2, VNNI>(x, blocks, sums) }
        }
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
    for (index, block) in blocks.iter().enumerate() {
        let mut dots = [[_mm256_setzero_si256(); PARTS]; COUNT];
        for (pair, weights) in block.pairs.iter().enumerate() {
            let mut two = [_mm256_setzero_si256(); COUNT];
            for (row, two) in two.iter_mut().enumerate() {
                // SAFETY: row < COUNT and the pair lies inside the row of `width` values, as asserted above.
                let values = unsafe {
                    x.as_ptr().add(row * width + index * Q8_0_BLOCK + 2 * pair).cast::<i32>().read_unaligned()
                };
                *two = _mm256_set1_epi32(values);
            }
            for part in 0..PARTS {
                // SAFETY: the row of weights is 64 bytes, of which part < 4 has 16, aligned to as many.
                let weights = unsafe { _mm_load_si128(weights.as_ptr().add(part * 2 * LANES).cast()) };
                let weights = _mm256_cvtepi8_epi16(weights);
                for (dots, &two) in dots.iter_mut().zip(&two) {
                    dots[part] = add_products::<VNNI>(dots[part], two, weights);
                }
            }
        }
        for part in 0..PARTS {
            // SAFETY: 32 scales, of which part < 4 has 8, aligned to 32 bytes.
            let scales = unsafe { _mm256_load_ps(block.scales.as_ptr().add(part * LANES)) };
            for row in 0..COUNT {
                // SAFETY: a row of sums is 32 values, of which part < 4 has 8.
                unsafe {
                    let sums = sums[row].as_mut_ptr().add(part * LANES);
                    let dots = _mm256_cvtepi32_ps(dots[row][part]);
                    _mm256_storeu_ps(sums, _mm256_fmadd_ps(dots, scales, _mm256_loadu_ps(sums)));
                }
            }
        }
    }
}

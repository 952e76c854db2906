//! The kernels for AVX-512: with VNNI, one instruction multiplies and adds 32 pairs of 16-bit values, without it two do.

#![expect(
    unsafe_code,
    reason = "intrinsics read through pointers; every SAFETY comment says why they stay inside"
)]

use std::arch::asm;
use std::arch::x86_64::{
    __m512i, _mm256_load_si256, _mm512_add_epi32, _mm512_cvtepi8_epi16, _mm512_cvtepi32_ps, _mm512_fmadd_ps,
    _mm512_load_ps, _mm512_loadu_ps, _mm512_madd_epi16, _mm512_set1_epi32, _mm512_setzero_si512,
    _mm512_storeu_ps,
};

use super::{Block, Out, PANEL, Q8_0_BLOCK, Sums, TILE};

/// See [`Kernel::tile`](super::Kernel::tile). `VNNI` only where that is there.
pub(super) fn tile<const VNNI: bool>(
    count: usize,
    x: &[i16],
    blocks: &[Block],
    sums: &mut Sums,
    out: &mut Out,
) {
    let rows = [
        none,
        rows::<1, VNNI>,
        rows::<2, VNNI>,
        rows::<3, VNNI>,
        rows::<4, VNNI>,
        rows::<5, VNNI>,
        rows::<6, VNNI>,
        rows::<7, VNNI>,
        rows::<8, VNNI>,
        rows::<9, VNNI>,
        rows::<10, VNNI>,
        rows::<11, VNNI>,
        rows::<TILE, VNNI>,
    ][count];
    // SAFETY: `Kernel::available` has found the features that `rows` and `finish` need.
    unsafe {
        rows(x, blocks, sums);
        finish(out, sums);
    }
}

fn none(_: &[i16], _: &[Block], _: &mut Sums) {}

#[target_feature(enable = "avx512f,avx512bw")]
fn finish(out: &mut Out, sums: &Sums) {
    out.finish(sums);
}

/// See [`round`](super::round).
pub(super) fn round(row: &[f32], out: &mut [i16]) -> f32 {
    #[target_feature(enable = "avx512f,avx512bw")]
    fn inner(row: &[f32], out: &mut [i16]) -> f32 {
        super::round(row, out)
    }
    // SAFETY: `Kernel::available` has found the features.
    unsafe { inner(row, out) }
}

/// Adds to each of the 16 sums the products of its pair of 16-bit values. The intrinsic would do if LLVM did not make two
/// instructions of it, which are a seventh slower here.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_products<const VNNI: bool>(sums: &mut __m512i, a: __m512i, b: __m512i) {
    if !VNNI {
        *sums = _mm512_add_epi32(*sums, _mm512_madd_epi16(a, b));
        return;
    }
    // SAFETY: the machine has the instruction, see `tile`; registers are all that it touches.
    unsafe {
        asm!(
            "vpdpwssd {sums}, {a}, {b}", sums = inout(zmm_reg) *sums, a = in(zmm_reg) a, b = in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn rows<const COUNT: usize, const VNNI: bool>(x: &[i16], blocks: &[Block], sums: &mut Sums) {
    let width = blocks.len() * Q8_0_BLOCK;
    assert!(COUNT <= TILE && x.len() == COUNT * width);
    for sums in &mut sums[..COUNT] {
        *sums = [0.0; PANEL];
    }
    for (index, block) in blocks.iter().enumerate() {
        let mut low = [_mm512_setzero_si512(); COUNT];
        let mut high = low;
        for (pair, weights) in block.pairs.iter().enumerate() {
            // SAFETY: the row of weights is 64 bytes, and aligned to as many.
            let (first, second) = unsafe {
                let weights = weights.as_ptr();
                (_mm256_load_si256(weights.cast()), _mm256_load_si256(weights.add(32).cast()))
            };
            let (first, second) = (_mm512_cvtepi8_epi16(first), _mm512_cvtepi8_epi16(second));
            for row in 0..COUNT {
                // SAFETY: row < COUNT and the pair lies inside the row of `width` values, as asserted above.
                let two: i32 = unsafe {
                    x.as_ptr().add(row * width + index * Q8_0_BLOCK + 2 * pair).cast::<i32>().read_unaligned()
                };
                let two = _mm512_set1_epi32(two);
                add_products::<VNNI>(&mut low[row], two, first);
                add_products::<VNNI>(&mut high[row], two, second);
            }
        }
        // SAFETY: 32 scales, aligned to 64 bytes like the block, whose pairs are a multiple of that.
        let scales = unsafe {
            let scales = block.scales.as_ptr();
            (_mm512_load_ps(scales), _mm512_load_ps(scales.add(16)))
        };
        for row in 0..COUNT {
            let sums = sums[row].as_mut_ptr();
            // SAFETY: a row of sums is 32 values.
            unsafe {
                let sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(low[row]), scales.0, _mm512_loadu_ps(sums));
                _mm512_storeu_ps(sums, sum);
                let sums = sums.add(16);
                let sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(high[row]), scales.1, _mm512_loadu_ps(sums));
                _mm512_storeu_ps(sums, sum);
            }
        }
    }
}

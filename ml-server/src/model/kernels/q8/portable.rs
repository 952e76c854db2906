//! The kernel in plain Rust, and the definition of what the others compute.

use super::{Block, PANEL, Q8_0_BLOCK, Sums};

/// See [`Kernel::tile`](super::Kernel::tile).
pub(super) fn tile(count: usize, x: &[i16], blocks: &[Block], sums: &mut Sums) {
    let width = blocks.len() * Q8_0_BLOCK;
    for (x, sums) in x.chunks_exact(width).zip(&mut sums[..count]) {
        *sums = [0.0; PANEL];
        for (x, block) in x.chunks_exact(Q8_0_BLOCK).zip(blocks) {
            let mut dots = [0i32; PANEL];
            for (x, pair) in x.chunks_exact(2).zip(&block.pairs) {
                let (first, second) = (i32::from(x[0]), i32::from(x[1]));
                for (dot, weights) in dots.iter_mut().zip(pair.chunks_exact(2)) {
                    *dot += first * i32::from(weights[0]) + second * i32::from(weights[1]);
                }
            }
            for ((sum, dot), scale) in sums.iter_mut().zip(dots).zip(block.scales) {
                *sum = (dot as f32).mul_add(scale, *sum);
            }
        }
    }
}

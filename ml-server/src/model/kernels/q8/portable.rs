//! The kernel in plain Rust, the reference for the others.

use super::{Block, PANEL, Q8_0_BLOCK, Sums};

/// See [`Kernel::tile`](super::Kernel::tile).
pub(super) fn tile(count: usize, x: &[i16], blocks: &[Block], sums: &mut Sums) {
    let width = blocks.len() * Q8_0_BLOCK;
    for (x, sums) in x.chunks_exact(width).zip(&mut sums[..count]) {
        *sums = [0.0; PANEL];
        for (x, block) in x.chunks_exact(Q8_0_BLOCK).zip(blocks) {
            // Both inputs of each output, side by side as the weights are: that becomes vectors everywhere.
            let mut products = [0i32; 2 * PANEL];
            for (two, weights) in x.chunks_exact(2).zip(&block.pairs) {
                for (column, (product, weight)) in products.iter_mut().zip(weights).enumerate() {
                    *product += i32::from(two[column % 2]) * i32::from(*weight);
                }
            }
            for ((sum, product), scale) in sums.iter_mut().zip(products.chunks_exact(2)).zip(block.scales) {
                *sum = multiply_add((product[0] + product[1]) as f32, scale, *sum);
            }
        }
    }
}

/// a b + c, rounded once. Without such an instruction, double precision is used: the product is exact there, and only
/// about every billionth sum is rounded another way.
fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
        a.mul_add(b, c)
    } else {
        (f64::from(a) * f64::from(b) + f64::from(c)) as f32
    }
}

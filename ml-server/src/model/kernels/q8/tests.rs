use proptest::prelude::*;

use super::super::super::weights::dequantise;
use super::*;

/// `Q8_0` blocks for a matrix, from whole numbers.
fn blocks(seed: u32, count: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    (0..count)
        .flat_map(|_| {
            let scale = f16::from_f32((next() % 1_000) as f32 / 3e4);
            let mut block = scale.to_le_bytes().to_vec();
            block.extend((0..Q8_0_BLOCK).map(|_| next() as u8));
            block
        })
        .collect()
}

fn product(kernel: Kernel, matrix: &Matrix, x: &[f32], bias: &[f32], start: f32, write: Write) -> Vec<f32> {
    let mut rows = Rows::default();
    rows.round(x, matrix.inputs);
    let mut out = vec![start; x.len() / matrix.inputs * matrix.outputs];
    matrix.multiply_with(kernel, &rows, bias, &mut out, write);
    out
}

proptest! {
    #[test]
    fn every_kernel_computes_the_same(
        rows in 1usize..40, depth in 1usize..5, outputs in 1usize..80, seed: u32, size in -20i32..20,
    ) {
        let inputs = depth * Q8_0_BLOCK;
        let source = blocks(seed, outputs * depth);
        let matrix = Matrix::pack(&source, outputs, inputs);
        let size = 2f32.powi(size);
        let x: Vec<f32> =
            (0..rows * inputs).map(|i| ((i * 7_919 + seed as usize % 1_000) % 2_003) as f32 * size - 1_000.0 * size).collect();
        let bias: Vec<f32> = (0..outputs).map(|i| i as f32).collect();
        let want = product(Kernel::PORTABLE, &matrix, &x, &bias, 0.0, Write::Over);
        for kernel in Kernel::available() {
            let got = product(kernel, &matrix, &x, &bias, f32::NAN, Write::Over);
            prop_assert_eq!(&got, &want, "{:?}", kernel);
            // A single row gives the same result, bit for bit.
            let row = rows / 2;
            let alone = product(kernel, &matrix, &x[row * inputs..][..inputs], &bias, 0.0, Write::Over);
            prop_assert_eq!(&alone, &want[row * outputs..][..outputs]);
        }
        // The plain formula, within the rounding to 16 bits.
        let mut weights = vec![0.0; outputs * inputs];
        dequantise(&source, &mut weights);
        for (row, x) in x.chunks_exact(inputs).enumerate() {
            for (output, weights) in weights.chunks_exact(inputs).enumerate() {
                let terms = || x.iter().zip(weights).map(|(x, w)| f64::from(*x) * f64::from(*w));
                let largest = x.iter().fold(0f32, |largest, x| largest.max(x.abs()));
                let weight: f64 = weights.iter().map(|w| f64::from(w.abs())).sum();
                let most = f64::from(largest) * weight / 65_000.0 + 1e-6 * terms().map(f64::abs).sum::<f64>() + 1e-5;
                let exact = terms().sum::<f64>() + f64::from(bias[output]);
                let off = (f64::from(want[row * outputs + output]) - exact).abs();
                prop_assert!(off <= most, "{} > {}", off, most);
            }
        }
    }
}

#[test]
fn products_add_to_what_is_there() {
    let matrix = Matrix::pack(&blocks(1, 3), 3, 32);
    let x: Vec<f32> = (0..64u8).map(f32::from).collect();
    for kernel in Kernel::available() {
        let plain = product(kernel, &matrix, &x, &[0.5; 3], 0.0, Write::Over);
        let added = product(kernel, &matrix, &x, &[0.5; 3], 8.0, Write::Add);
        for (added, plain) in added.iter().zip(plain) {
            assert_eq!(*added, 8.0 + plain, "{kernel:?}");
        }
    }
}

#[test]
fn the_largest_values_do_not_overflow() {
    let mut source = f16::ONE.to_le_bytes().to_vec();
    source.extend([0x80; 32]);
    let matrix = Matrix::pack(&source, 1, 32);
    for kernel in Kernel::available() {
        let out = product(kernel, &matrix, &[-3.0; 32], &[0.0], 0.0, Write::Over);
        assert!((out[0] - 128.0 * 32.0 * 3.0).abs() < 1e-2, "{kernel:?}: {out:?}");
    }
}

#[test]
fn what_is_not_finite_shows() {
    let matrix = Matrix::pack(&blocks(1, 40), 40, 32);
    for spoilt in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut x = [1.0; 64];
        x[40] = spoilt;
        for kernel in Kernel::available() {
            let out = product(kernel, &matrix, &x, &[0.0; 40], 0.0, Write::Over);
            assert!(out[..40].iter().all(|value| value.is_finite()));
            assert!(out[40..].iter().all(|value| !value.is_finite()), "{kernel:?}: {out:?}");
        }
    }
    assert_eq!(product(Kernel::PORTABLE, &matrix, &[0.0; 32], &[0.5; 40], 0.0, Write::Over), [0.5; 40]);
}

//! Vectors with one byte per number (scalar quantization with a scale per vector): a quarter of the bytes to read, so that
//! millions can be scanned for candidates, which are then compared exactly.

/// Largest part of the query as a whole number: products with bytes, summed over 4,000 numbers, fit into 32 bits.
const QUERY_STEPS: f32 = 2_047.0;
/// Steps of a vector's largest number.
const STEPS: f32 = 127.0;
/// The byte for 0. Unsigned bytes widen in one instruction, which halves the time of a scan.
const ZERO: u8 = 128;

/// Appends a vector's numbers as bytes to `codes` and returns its step: the value of one unit.
pub fn to_bytes(vector: &[f32], codes: &mut Vec<u8>) -> f32 {
    let step = step(vector, STEPS);
    codes.extend(vector.iter().map(|number| (f32::from(ZERO) + (number / step).round()) as u8));
    step
}

/// A query as integers, for multiplication with bytes.
#[derive(Debug, Clone)]
pub struct ByteQuery {
    numbers: Vec<i16>,
    /// The product with a vector of zeros.
    zero: i32,
    step: f32,
}

impl ByteQuery {
    /// Of at most 4,000 numbers.
    pub fn of(query: &[f32]) -> Self {
        let step = step(query, QUERY_STEPS);
        let numbers: Vec<i16> = query.iter().map(|number| (number / step).round() as i16).collect();
        let zero = numbers.iter().map(|number| i32::from(*number) * i32::from(ZERO)).sum();
        Self { numbers, zero, step }
    }

    /// Nearly the dot product with the vector that became these bytes and this step. For vectors of length 1 it is off by
    /// less than 0.02. Written so that the compiler uses vector registers.
    pub fn dot(&self, codes: &[u8], step: f32) -> f32 {
        let sum: i32 = self.numbers.iter().zip(codes).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        (sum - self.zero) as f32 * self.step * step
    }
}

/// The value of one of `steps` steps when the largest number uses all of them.
fn step(vector: &[f32], steps: f32) -> f32 {
    let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    if largest > 0.0 { largest / steps } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::dot;
    use proptest::prelude::*;

    fn unit(numbers: Vec<f32>) -> Vec<f32> {
        let length = dot(&numbers, &numbers).sqrt().max(1e-6);
        numbers.into_iter().map(|number| number / length).collect()
    }

    fn vector() -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(-1.0_f32..1.0, 24).prop_map(unit)
    }

    proptest! {
        #[test]
        fn bytes_are_close_to_the_numbers(query in vector(), row in vector()) {
            let mut codes = Vec::new();
            let step = to_bytes(&row, &mut codes);
            // Half a step per number, times the query's numbers: far above what rounding adds up to.
            prop_assert!((ByteQuery::of(&query).dot(&codes, step) - dot(&query, &row)).abs() < 0.02);
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        for (number, expect) in [(1.0, 4_000.0), (-1.0, -4_000.0), (0.0, 0.0)] {
            let mut codes = Vec::new();
            let step = to_bytes(&[number; 4_000], &mut codes);
            assert_eq!(ByteQuery::of(&[1.0; 4_000]).dot(&codes, step).round(), expect);
        }
    }
}

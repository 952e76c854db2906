//! Named tensors on the host, whatever file they come from.

use std::path::PathBuf;

use half::f16;

use crate::error::Error;

/// Values per block of the `Q8_0` format: one f16 scale, then 32 signed bytes.
pub const Q8_0_BLOCK: usize = 32;
/// Bytes per block of the `Q8_0` format.
pub const Q8_0_BYTES: usize = 2 + Q8_0_BLOCK;

/// A file of named tensors.
pub trait WeightSource {
    /// Whether a tensor of this name exists.
    fn contains(&self, name: &str) -> bool;
    /// Reads one tensor.
    ///
    /// # Errors
    /// When it is missing, of an unknown type, or cut short.
    fn tensor(&mut self, name: &str) -> Result<HostTensor, Error>;
    /// The file, for messages.
    fn path(&self) -> PathBuf;
    /// Type that most matrices are stored in, for example `f16`.
    fn dtype(&self) -> String;
    /// Names of all tensors, sorted.
    fn names(&self) -> Vec<String>;
}

/// One tensor in memory, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct HostTensor {
    /// Extent of each dimension, outermost first.
    pub shape: Vec<usize>,
    /// The values.
    pub data: TensorData,
}

/// Values of a tensor.
#[derive(Debug, Clone, PartialEq)]
pub enum TensorData {
    /// Plain floats; half-precision files are widened to this.
    F32(Vec<f32>),
    /// `Q8_0` blocks along the last dimension, which is a multiple of 32.
    Q8_0(Vec<u8>),
}

impl HostTensor {
    /// The values as floats.
    pub fn into_f32(self) -> Vec<f32> {
        match self.data {
            TensorData::F32(values) => values,
            TensorData::Q8_0(blocks) => {
                let mut values = vec![0.0; blocks.len() / Q8_0_BYTES * Q8_0_BLOCK];
                dequantise(&blocks, &mut values);
                values
            }
        }
    }
}

/// Writes the values of `Q8_0` `blocks` to `out`: scale × byte.
///
/// `out` holds 32 values per block.
pub fn dequantise(blocks: &[u8], out: &mut [f32]) {
    for (block, out) in blocks.chunks_exact(Q8_0_BYTES).zip(out.chunks_exact_mut(Q8_0_BLOCK)) {
        let scale = f16::from_le_bytes([block[0], block[1]]).to_f32();
        for (value, byte) in out.iter_mut().zip(&block[2..]) {
            *value = f32::from(byte.cast_signed()) * scale;
        }
    }
}

/// Reads tensors by name with shapes checked, under the name prefix that the file uses (`bert.` or none).
pub struct Weights<'a> {
    source: &'a mut dyn WeightSource,
    prefix: &'static str,
}

impl<'a> Weights<'a> {
    /// Looks for `probe` with and without `prefix` to learn how the file names things.
    pub fn new(source: &'a mut dyn WeightSource, prefix: &'static str, probe: &str) -> Self {
        let prefix = if source.contains(&format!("{prefix}{probe}")) { prefix } else { "" };
        Self { source, prefix }
    }

    /// A tensor of the encoder, with exactly this shape.
    ///
    /// # Errors
    /// When it is missing or has another shape.
    pub fn get(&mut self, name: &str, shape: &[usize]) -> Result<HostTensor, Error> {
        let name = format!("{}{name}", self.prefix);
        self.get_unprefixed(&name, shape)
    }

    /// A tensor outside the encoder (a classifier's), with exactly this shape.
    ///
    /// # Errors
    /// When it is missing or has another shape.
    pub fn get_unprefixed(&mut self, name: &str, shape: &[usize]) -> Result<HostTensor, Error> {
        let tensor = self.source.tensor(name)?;
        if tensor.shape == shape {
            Ok(tensor)
        } else {
            let reason =
                format!("tensor {name} has shape {:?}, the configuration wants {shape:?}", tensor.shape);
            Err(Error::malformed(&self.source.path(), reason))
        }
    }

    /// A vector of the encoder as floats.
    ///
    /// # Errors
    /// When it is missing or has another length.
    pub fn vector(&mut self, name: &str, length: usize) -> Result<Vec<f32>, Error> {
        Ok(self.get(name, &[length])?.into_f32())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dequantise_multiplies_by_the_block_scale() {
        let mut blocks = f16::from_f32(0.5).to_le_bytes().to_vec();
        blocks.extend((0..32u8).map(|i| i.wrapping_sub(16)));
        let tensor = HostTensor { shape: vec![1, 32], data: TensorData::Q8_0(blocks) };
        let values = tensor.into_f32();
        assert_eq!((values[0], values[16], values[31]), (-8.0, 0.0, 7.5));
    }
}

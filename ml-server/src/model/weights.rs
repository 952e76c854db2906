//! Named tensors on the host, from any file format.

use std::path::PathBuf;

use half::f16;

use super::ops::LayerNorm;
use crate::error::Error;

/// Values per block of the `Q8_0` format: one f16 scale, then 32 signed bytes.
pub const Q8_0_BLOCK: usize = 32;
/// Bytes per block of the `Q8_0` format.
pub const Q8_0_BYTES: usize = 2 + Q8_0_BLOCK;

/// Names of the files of weights that `transformers` writes, in the order of preference.
pub mod files {
    /// All tensors in one safetensors file.
    pub const WHOLE: &str = "model.safetensors";
    /// Which safetensors file each tensor is in, for large models.
    pub const INDEX: &str = "model.safetensors.index.json";
    /// All tensors as `torch.save` writes them.
    pub const PICKLE: &str = "pytorch_model.bin";
}

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
    /// Matrices of one width, one below the other. They stay `Q8_0` when all are.
    pub fn stacked(matrices: Vec<Self>) -> Self {
        let rows = matrices.iter().map(|matrix| matrix.shape[0]).sum();
        let shape = vec![rows, matrices.first().map_or(0, |matrix| matrix.shape[1])];
        let blocks: Option<Vec<&[u8]>> = matrices
            .iter()
            .map(|matrix| match &matrix.data {
                TensorData::Q8_0(blocks) => Some(blocks.as_slice()),
                TensorData::F32(_) => None,
            })
            .collect();
        let data = match blocks {
            Some(blocks) => TensorData::Q8_0(blocks.concat()),
            None => TensorData::F32(matrices.into_iter().flat_map(Self::into_f32).collect()),
        };
        Self { shape, data }
    }

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
/// `out` has 32 values per block.
pub fn dequantise(blocks: &[u8], out: &mut [f32]) {
    for (block, out) in blocks.chunks_exact(Q8_0_BYTES).zip(out.chunks_exact_mut(Q8_0_BLOCK)) {
        let scale = f16::from_le_bytes([block[0], block[1]]).to_f32();
        for (value, byte) in out.iter_mut().zip(&block[2..]) {
            *value = f32::from(byte.cast_signed()) * scale;
        }
    }
}

/// `Q8_0` blocks of `values`, whose number is a multiple of 32: the largest magnitude of a block becomes ±127, and the
/// scale is rounded to f16, as in ggml.
pub fn to_q8_0(values: &[f32]) -> Vec<u8> {
    let mut blocks = Vec::with_capacity(values.len() / Q8_0_BLOCK * Q8_0_BYTES);
    for block in values.chunks_exact(Q8_0_BLOCK) {
        let largest = block.iter().fold(0_f32, |largest, value| largest.max(value.abs()));
        let scale = largest / 127.0;
        let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
        blocks.extend(f16::from_f32(scale).to_le_bytes());
        blocks.extend(block.iter().map(|value| ((value * inverse).round() as i8).cast_unsigned()));
    }
    blocks
}

/// A fully connected layer as stored in its file, `y = x Wᵀ + b`. Each backend packs it for its device.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearWeights {
    /// W, `[outputs, inputs]`.
    pub weight: HostTensor,
    /// b, `[outputs]`.
    pub bias: Vec<f32>,
}

/// Reads tensors and layers by name with shapes checked, under the name prefix that the file uses (`bert.` or none).
pub struct Weights<'a> {
    source: &'a mut dyn WeightSource,
    prefix: &'static str,
}

impl<'a> Weights<'a> {
    /// Names of an encoder: looks up `probe` with and without `prefix` to detect the file's naming.
    pub fn encoder(source: &'a mut dyn WeightSource, prefix: &'static str, probe: &str) -> Self {
        let prefix = if source.contains(&format!("{prefix}{probe}")) { prefix } else { "" };
        Self { source, prefix }
    }

    /// Unprefixed names, for tensors outside the encoder.
    pub fn head(source: &'a mut dyn WeightSource) -> Self {
        Self { source, prefix: "" }
    }

    /// The file, for messages.
    pub fn path(&self) -> PathBuf {
        self.source.path()
    }

    /// A tensor with exactly this shape.
    ///
    /// # Errors
    /// When it is missing or has another shape.
    pub fn get(&mut self, name: &str, shape: &[usize]) -> Result<HostTensor, Error> {
        let name = format!("{}{name}", self.prefix);
        let tensor = self.source.tensor(&name)?;
        if tensor.shape == shape {
            Ok(tensor)
        } else {
            let reason =
                format!("tensor {name} has shape {:?}, the configuration wants {shape:?}", tensor.shape);
            Err(Error::malformed(&self.source.path(), reason))
        }
    }

    /// A vector as floats.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn vector(&mut self, name: &str, length: usize) -> Result<Vec<f32>, Error> {
        Ok(self.get(name, &[length])?.into_f32())
    }

    /// A fully connected layer. Without `bias` the architecture has none and zeros replace it.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn linear(
        &mut self,
        name: &str,
        inputs: usize,
        outputs: usize,
        bias: bool,
    ) -> Result<LinearWeights, Error> {
        let weight = self.get(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(LinearWeights { weight, bias: self.bias(name, outputs, bias)? })
    }

    /// Several square layers over the same input as one with concatenated outputs.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn side_by_side(&mut self, names: &[String], width: usize) -> Result<LinearWeights, Error> {
        let mut weights = Vec::with_capacity(names.len());
        let mut bias = Vec::with_capacity(names.len() * width);
        for name in names {
            weights.push(self.get(&format!("{name}.weight"), &[width, width])?);
            bias.extend(self.vector(&format!("{name}.bias"), width)?);
        }
        Ok(LinearWeights { weight: HostTensor::stacked(weights), bias })
    }

    /// A layer normalization, with zeros as offset where the architecture has no `bias`.
    ///
    /// # Errors
    /// As for [`get`](Self::get).
    pub fn norm(&mut self, name: &str, width: usize, epsilon: f32, bias: bool) -> Result<LayerNorm, Error> {
        let weight = self.vector(&format!("{name}.weight"), width)?;
        Ok(LayerNorm { weight, bias: self.bias(name, width, bias)?, epsilon })
    }

    fn bias(&mut self, name: &str, length: usize, exists: bool) -> Result<Vec<f32>, Error> {
        if exists { self.vector(&format!("{name}.bias"), length) } else { Ok(vec![0.0; length]) }
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

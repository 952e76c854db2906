//! Weights from a safetensors file: f32, f16 or bf16.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use safetensors::Dtype;
use safetensors::tensor::Metadata;

use super::weights::{HostTensor, TensorData, WeightSource};
use crate::error::Error;

/// Longest header that the format allows, in bytes.
const MAX_HEADER: u64 = 100_000_000;

/// An open safetensors file. Tensors are read one at a time, so the file is never in memory as a whole.
pub struct SafetensorsFile {
    path: PathBuf,
    file: File,
    header: Metadata,
    data_start: u64,
}

impl SafetensorsFile {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// When it cannot be read, or the header does not fit the file.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut file = File::open(path).map_err(Error::io(path))?;
        let file_length = file.metadata().map_err(Error::io(path))?.len();
        let mut length = [0; 8];
        if file_length >= 8 {
            file.read_exact(&mut length).map_err(Error::io(path))?;
        }
        let header_length = u64::from_le_bytes(length);
        if header_length == 0 || header_length > file_length.saturating_sub(8).min(MAX_HEADER) {
            return Err(Error::malformed(path, "not a safetensors file, or cut short inside its header"));
        }
        let mut header = vec![0; header_length as usize];
        file.read_exact(&mut header).map_err(Error::io(path))?;
        let header: Metadata = serde_json::from_slice(&header)
            .map_err(|error| Error::malformed(path, format!("header: {error}")))?;
        let wanted = (8 + header_length).saturating_add(header.data_len() as u64);
        if file_length < wanted {
            let reason = format!("cut short: {file_length} bytes of {wanted}; fetch it again");
            return Err(Error::malformed(path, reason));
        }
        Ok(Self { path: path.to_owned(), file, header, data_start: 8 + header_length })
    }
}

impl WeightSource for SafetensorsFile {
    fn contains(&self, name: &str) -> bool {
        self.header.info(name).is_some()
    }

    fn tensor(&mut self, name: &str) -> Result<HostTensor, Error> {
        let Some(info) = self.header.info(name) else {
            return Err(Error::malformed(&self.path, format!("tensor {name} is missing")));
        };
        let (start, end) = info.data_offsets;
        let mut bytes = vec![0; end - start];
        self.file.seek(SeekFrom::Start(self.data_start + start as u64)).map_err(Error::io(&self.path))?;
        self.file.read_exact(&mut bytes).map_err(Error::io(&self.path))?;
        let values = match info.dtype {
            Dtype::F32 => {
                bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
            }
            Dtype::F16 => bytes.chunks_exact(2).map(|b| f16::from_le_bytes([b[0], b[1]]).to_f32()).collect(),
            Dtype::BF16 => {
                bytes.chunks_exact(2).map(|b| bf16::from_le_bytes([b[0], b[1]]).to_f32()).collect()
            }
            other => {
                let reason = format!("tensor {name} has type {other:?}; f32, f16 and bf16 are supported");
                return Err(Error::malformed(&self.path, reason));
            }
        };
        Ok(HostTensor { shape: info.shape.clone(), data: TensorData::F32(values) })
    }

    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn dtype(&self) -> String {
        let largest =
            self.header.tensors().into_values().max_by_key(|info| info.data_offsets.1 - info.data_offsets.0);
        largest.map_or_else(|| "empty".to_owned(), |info| format!("{:?}", info.dtype).to_lowercase())
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.header.tensors().into_keys().collect();
        names.sort();
        names
    }
}

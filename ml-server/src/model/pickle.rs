//! Weights from a `pytorch_model.bin`, for repositories that have nothing else.

use std::path::{Path, PathBuf};

use candle_core::DType;
use candle_core::pickle::PthTensors;

use super::weights::{HostTensor, TensorData, WeightSource};
use crate::error::Error;

/// An open `pytorch_model.bin`. Its description is read without running what the pickle asks for; tensors are read one at a
/// time.
pub struct PickleFile {
    path: PathBuf,
    tensors: PthTensors,
}

impl PickleFile {
    /// Opens a file and reads which tensors it has.
    ///
    /// # Errors
    /// When it is not a zip file as `PyTorch` has written them since version 1.6, or has no tensors.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let tensors = PthTensors::new(path, None).map_err(|error| {
            Error::malformed(path, format!("{error}; weights as PyTorch 1.6 and later save them are needed"))
        })?;
        if tensors.tensor_infos().is_empty() {
            return Err(Error::malformed(path, "has no tensors; a saved state dictionary is needed"));
        }
        Ok(Self { path: path.to_owned(), tensors })
    }
}

impl WeightSource for PickleFile {
    fn contains(&self, name: &str) -> bool {
        self.tensors.tensor_infos().contains_key(name)
    }

    fn tensor(&mut self, name: &str) -> Result<HostTensor, Error> {
        let broken =
            |error: candle_core::Error| Error::malformed(&self.path, format!("tensor {name}: {error}"));
        let tensor = self.tensors.get(name).map_err(broken)?;
        let Some(tensor) = tensor else {
            return Err(Error::malformed(&self.path, format!("tensor {name} is missing")));
        };
        if !matches!(tensor.dtype(), DType::F32 | DType::F16 | DType::BF16) {
            let reason = format!(
                "tensor {name} has type {}; f32, f16 and bf16 are supported",
                tensor.dtype().as_str()
            );
            return Err(Error::malformed(&self.path, reason));
        }
        let values =
            tensor.to_dtype(DType::F32).and_then(|tensor| tensor.flatten_all()?.to_vec1()).map_err(broken)?;
        Ok(HostTensor { shape: tensor.dims().to_vec(), data: TensorData::F32(values) })
    }

    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn dtype(&self) -> String {
        let largest =
            self.tensors.tensor_infos().values().max_by_key(|info| info.layout.shape().elem_count());
        largest.map_or("empty", |info| info.dtype.as_str()).to_owned()
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.tensors.tensor_infos().keys().cloned().collect();
        names.sort();
        names
    }
}

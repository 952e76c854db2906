//! Weights from a `pytorch_model.bin`, for repositories without other formats.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use candle_core::DType;
use candle_core::pickle::PthTensors;

use super::weights::{HostTensor, TensorData, WeightSource};
use crate::error::{Error, panic_message};

/// An open `pytorch_model.bin`. Its index is parsed without executing the pickle; tensors are read one at a time.
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
        let refused = |reason: String| {
            Error::malformed(path, format!("{reason}; weights as PyTorch 1.6 and later save them are needed"))
        };
        let tensors = guarded(|| PthTensors::new(path, None)).map_err(refused)?;
        let length = std::fs::metadata(path).map_err(Error::io(path))?.len();
        for (name, info) in tensors.tensor_infos() {
            let mut extents = info.layout.dims().iter();
            let bytes =
                extents.try_fold(info.dtype.size_in_bytes(), |bytes, &extent| bytes.checked_mul(extent));
            // Archives of weights are stored, not compressed.
            if bytes.is_none_or(|bytes| bytes as u64 > length) {
                let shape = info.layout.dims();
                return Err(refused(format!("tensor {name} of shape {shape:?} is larger than the file")));
            }
        }
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
        let broken = |reason: String| Error::malformed(&self.path, format!("tensor {name}: {reason}"));
        let tensor = guarded(|| self.tensors.get(name)).map_err(broken)?;
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
            guarded(|| tensor.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>()).map_err(broken)?;
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

/// The reader panics on some malformed files.
fn guarded<T>(read: impl FnOnce() -> candle_core::Result<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(read) => read.map_err(|error| error.to_string()),
        Err(panic) => Err(panic_message(panic.as_ref())),
    }
}

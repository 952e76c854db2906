//! An open GPU, and the interpretation of its errors.

use std::path::PathBuf;
use std::sync::Arc;

use cudarc::cublaslt::result::CublasError;
use cudarc::cublaslt::sys as cublaslt;
use cudarc::driver::result::DriverError;
#[cfg(not(feature = "candle-cuda"))]
use cudarc::driver::sys;
use cudarc::driver::sys::cudaError_enum as Code;
use cudarc::driver::{CudaContext, CudaStream};
#[cfg(not(feature = "candle-cuda"))]
use cudarc::nvrtc::sys as nvrtc;

use crate::error::{ComputeError, Error};

/// Oldest supported generation: the first with bf16 on tensor cores and asynchronous copies.
const LEAST_CAPABILITY: (i32, i32) = (8, 0);

/// A GPU with the one stream that all work goes through.
pub struct Device {
    /// What memory and modules belong to.
    pub(super) context: Arc<CudaContext>,
    /// Where everything runs, in order.
    pub(super) stream: Arc<CudaStream>,
    /// Compute capability, for example (9, 0).
    pub(super) capability: (i32, i32),
    name: String,
}

impl Device {
    /// Opens GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`] when the driver, NVRTC or cuBLASLt cannot be loaded, there is no such GPU, or it is too old.
    pub fn open(number: usize) -> Result<Arc<Self>, Error> {
        libraries()?;
        let failed = |error: DriverError| Error::Device(format!("GPU {number} cannot be used: {error}"));
        let count = CudaContext::device_count().map_err(failed)?;
        if !usize::try_from(count).is_ok_and(|count| number < count) {
            return Err(Error::Device(format!(
                "GPU {number} does not exist: the driver lists {count}, numbered from 0"
            )));
        }
        let context = CudaContext::new(number).map_err(failed)?;
        // SAFETY: events order the streams of a program, and this one has a single stream.
        #[expect(unsafe_code, reason = "cudarc leaves the number of streams to its caller")]
        unsafe {
            context.disable_event_tracking();
        }
        let capability = context.compute_capability().map_err(failed)?;
        let name = format!("cuda:{number} ({})", context.name().map_err(failed)?);
        if capability < LEAST_CAPABILITY {
            let (major, minor) = capability;
            let reason =
                format!("{name} has compute capability {major}.{minor}, at least 8.0 (Ampere) is needed");
            return Err(Error::Device(reason));
        }
        let stream = context.new_stream().map_err(failed)?;
        Ok(Arc::new(Self { context, stream, capability, name }))
    }

    /// `cuda:N` and the vendor's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes free and in all.
    ///
    /// # Errors
    /// When the driver fails.
    pub fn memory(&self) -> Result<(usize, usize), ComputeError> {
        Ok(self.context.mem_get_info()?)
    }
}

/// Candle links the libraries, so that they are there if the program runs.
#[cfg(feature = "candle-cuda")]
#[expect(clippy::unnecessary_wraps, reason = "other builds load them")]
fn libraries() -> Result<(), Error> {
    preload();
    Ok(())
}

/// Loads the three libraries, also from where Python's wheels have them.
#[cfg(not(feature = "candle-cuda"))]
fn libraries() -> Result<(), Error> {
    preload();
    // SAFETY: these look whether the loader finds a library of the name, which runs its initialization as any load does.
    #[expect(unsafe_code, reason = "loading a library runs its code")]
    let present = unsafe {
        [
            (sys::is_culib_present(), "libcuda.so.1, the NVIDIA driver; is there a GPU and its driver?"),
            (nvrtc::is_culib_present(), "libnvrtc, from the CUDA toolkit or the wheel nvidia-cuda-nvrtc"),
            (cublaslt::is_culib_present(), "libcublasLt, from the CUDA toolkit or the wheel nvidia-cublas"),
        ]
    };
    present.into_iter().find(|(present, _)| !present).map_or(Ok(()), |(_, missing)| {
        Err(Error::Device(format!(
            "cannot load {missing} (looked in LYRA_CUDA_LIBS, LD_LIBRARY_PATH and the system's library folders)"
        )))
    })
}

/// Loads the libraries in the folders that `LYRA_CUDA_LIBS` names (separated like `PATH`), so that the loader knows
/// them by name from then on. Missing ones are left to the loader.
fn preload() {
    let Some(folders) = std::env::var_os("LYRA_CUDA_LIBS") else { return };
    for folder in std::env::split_paths(&folders) {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        files.sort();
        for part in ["libnvrtc-builtins.so.", "libnvrtc.so.", "libcublasLt.so."] {
            let named = |file: &&PathBuf| {
                file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(part))
            };
            let Some(file) = files.iter().find(named) else { continue };
            // SAFETY: as in `libraries`; the operator names the folder.
            #[expect(unsafe_code, reason = "loading a library runs its code")]
            match unsafe { libloading::Library::new(file) } {
                // Stays loaded until the program ends.
                Ok(library) => std::mem::forget(library),
                Err(error) => tracing::warn!(file = %file.display(), %error, "cannot load"),
            }
        }
    }
}

impl From<DriverError> for ComputeError {
    fn from(error: DriverError) -> Self {
        match error.0 {
            Code::CUDA_ERROR_OUT_OF_MEMORY => Self::OutOfMemory,
            // These errors concern a single call. All others invalidate the context.
            Code::CUDA_ERROR_INVALID_VALUE
            | Code::CUDA_ERROR_INVALID_IMAGE
            | Code::CUDA_ERROR_NO_BINARY_FOR_GPU
            | Code::CUDA_ERROR_NOT_FOUND
            | Code::CUDA_ERROR_NOT_SUPPORTED
            | Code::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            | Code::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => Self::Failed(error.to_string()),
            _ => Self::Lost(error.to_string()),
        }
    }
}

impl From<CublasError> for ComputeError {
    fn from(error: CublasError) -> Self {
        match error.0 {
            cublaslt::cublasStatus_t::CUBLAS_STATUS_EXECUTION_FAILED => {
                Self::Lost(format!("cuBLASLt: {error}"))
            }
            _ => Self::Failed(format!("cuBLASLt: {error}")),
        }
    }
}

//! An open device of candle's, and the interpretation of its errors.

use candle_core::{DType, Device as Inner, Error as Failure, Tensor};

use crate::error::{ComputeError, Error};
use crate::model::device::Precision;

/// A device and the type of numbers in matrix products there.
#[derive(Clone)]
pub struct Device {
    pub(super) inner: Inner,
    pub(super) precision: Precision,
    name: String,
}

impl Device {
    /// The CPU, which computes in f32.
    pub fn cpu() -> Self {
        Self { inner: Inner::Cpu, precision: Precision::F32, name: "cpu".to_owned() }
    }

    /// NVIDIA GPU `number`.
    ///
    /// # Errors
    /// [`Error::Device`] if it cannot be used, or this build lacks `candle-cuda`.
    pub fn cuda(number: usize, precision: Precision) -> Result<Self, Error> {
        Self::open(Inner::new_cuda(number), precision, format!("cuda:{number}"))
    }

    /// The first Apple GPU.
    ///
    /// # Errors
    /// [`Error::Device`] if it cannot be used, or this build lacks `metal`.
    pub fn metal(precision: Precision) -> Result<Self, Error> {
        Self::open(Inner::new_metal(0), precision, "metal".to_owned())
    }

    fn open(inner: candle_core::Result<Inner>, precision: Precision, name: String) -> Result<Self, Error> {
        // With RUST_BACKTRACE, candle shows a backtrace below the error.
        let inner = inner.map_err(|error| {
            let said = error.to_string();
            Error::Device(format!("{name} cannot be used: {}", said.lines().next().unwrap_or_default()))
        })?;
        Ok(Self { inner, precision, name })
    }

    /// `cpu`, `cuda:N` or `metal`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Type of the numbers in matrix products.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Whether this is the CPU.
    pub fn is_cpu(&self) -> bool {
        self.inner.is_cpu()
    }

    pub(super) fn dtype(&self) -> DType {
        match self.precision {
            Precision::F32 => DType::F32,
            Precision::F16 => DType::F16,
            Precision::Bf16 => DType::BF16,
        }
    }

    /// Weights of a product, converted on the host, so that the device never has them in f32.
    pub(super) fn weights(&self, values: Vec<f32>, shape: &[usize]) -> candle_core::Result<Tensor> {
        Tensor::from_vec(values, shape, &Inner::Cpu)?.to_dtype(self.dtype())?.to_device(&self.inner)
    }

    /// Values in f32.
    pub(super) fn floats(&self, values: Vec<f32>, shape: &[usize]) -> candle_core::Result<Tensor> {
        Tensor::from_vec(values, shape, &self.inner)
    }

    /// A list of rows.
    pub(super) fn indices(&self, values: Vec<u32>) -> candle_core::Result<Tensor> {
        let length = values.len();
        Tensor::from_vec(values, length, &self.inner)
    }
}

/// Candle's errors have no kinds for what drivers report, only texts.
impl From<Failure> for ComputeError {
    fn from(error: Failure) -> Self {
        let text = format!("candle: {error}");
        if text.contains("OUT_OF_MEMORY") || text.contains("out of memory") {
            Self::OutOfMemory
        } else if FATAL.iter().any(|code| text.contains(code)) {
            Self::Lost(text)
        } else {
            Self::Failed(text)
        }
    }
}

/// Errors of CUDA after which a context computes no more.
const FATAL: [&str; 6] = [
    "CUDA_ERROR_ILLEGAL_ADDRESS",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "CUDA_ERROR_MISALIGNED_ADDRESS",
    "CUDA_ERROR_LAUNCH_FAILED",
    "CUDA_ERROR_LAUNCH_TIMEOUT",
    "CUDA_ERROR_ECC_UNCORRECTABLE",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_drivers_are_told_apart() {
        let of = |text: &str| ComputeError::from(Failure::Msg(text.to_owned()));
        assert_eq!(of("DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")"), ComputeError::OutOfMemory);
        assert!(matches!(of("DriverError(CUDA_ERROR_ILLEGAL_ADDRESS, …)"), ComputeError::Lost(_)));
        assert!(matches!(of("shape mismatch in matmul"), ComputeError::Failed(_)));
    }

    #[test]
    #[cfg(not(any(feature = "candle-cuda", feature = "metal")))]
    fn builds_without_a_device_say_so() {
        for device in [Device::cuda(0, Precision::Bf16), Device::metal(Precision::F16)] {
            assert!(device.err().is_some_and(|error| error.to_string().contains("cannot be used")));
        }
    }
}

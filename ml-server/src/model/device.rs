//! Where a model computes: on the processor, or on a GPU where the build and the machine have one.

use std::fmt;
use std::str::FromStr;
#[cfg(feature = "cuda")]
use std::sync::Arc;

use crate::error::Error;

/// The requested device: `auto`, `cpu`, `cuda` or `cuda:N`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU that can be used, else the processor.
    Auto,
    /// The processor.
    #[default]
    Cpu,
    /// The GPU of this number, or an error.
    Cuda(usize),
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|number| number.parse().ok())
                .map(Self::Cuda)
                .ok_or_else(|| format!("`{text}` is not one of auto, cpu, cuda and cuda:N")),
        }
    }
}

impl DeviceChoice {
    /// Opens the device, with `precision` for the numbers on a GPU.
    ///
    /// # Errors
    /// [`Error::Device`] if a GPU is requested by name and unusable. `auto` then logs the reason and uses the CPU.
    pub fn open(self, precision: Precision) -> Result<Device, Error> {
        match self {
            Self::Cpu => Ok(Device::Cpu),
            Self::Cuda(number) => gpu(number, precision),
            Self::Auto => Ok(gpu(0, precision).unwrap_or_else(|error| {
                tracing::info!("computing on the CPU: {error}");
                Device::Cpu
            })),
        }
    }
}

#[cfg(feature = "cuda")]
fn gpu(number: usize, precision: Precision) -> Result<Device, Error> {
    let device = super::cuda::Device::open(number)?;
    tracing::info!(device = device.name(), %precision, "computing on the GPU");
    Ok(Device::Cuda(device, precision))
}

#[cfg(not(feature = "cuda"))]
fn gpu(_number: usize, _precision: Precision) -> Result<Device, Error> {
    let reason = "this program was built without CUDA; build it with `--features cuda`";
    Err(Error::Device(reason.to_owned()))
}

/// Type of weights and activations on a GPU. Arithmetic is in f32 in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Precision {
    /// 8 bits of mantissa, the range of f32.
    #[default]
    Bf16,
    /// 11 bits of mantissa, up to 65,504.
    F16,
    /// Exact, and many times slower.
    F32,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
            Self::F32 => "f32",
        })
    }
}

/// An open device. Clones share it.
#[derive(Clone)]
pub enum Device {
    /// The processor.
    Cpu,
    /// A GPU, and the number format on it.
    #[cfg(feature = "cuda")]
    Cuda(Arc<super::cuda::Device>, Precision),
}

impl Device {
    /// Default number of tokens that run together; `None` depends on the number of threads.
    pub fn batch_tokens(&self) -> Option<usize> {
        match self {
            Self::Cpu => None,
            #[cfg(feature = "cuda")]
            Self::Cuda(..) => Some(16_384),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            #[cfg(feature = "cuda")]
            Self::Cuda(device, _) => f.write_str(device.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        for (text, choice) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("cuda", DeviceChoice::Cuda(0)),
            ("cuda:3", DeviceChoice::Cuda(3)),
        ] {
            assert_eq!(text.parse(), Ok(choice));
        }
        for text in ["", "gpu", "cuda:", "cuda:x", "cuda:-1"] {
            assert!(text.parse::<DeviceChoice>().is_err(), "{text}");
        }
    }

    #[test]
    #[cfg(not(feature = "cuda"))]
    fn a_build_without_cuda_says_so() {
        let error = DeviceChoice::Cuda(0).open(Precision::Bf16).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains("--features cuda")));
        assert!(matches!(DeviceChoice::Auto.open(Precision::Bf16), Ok(Device::Cpu)));
    }
}

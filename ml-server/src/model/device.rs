//! What computes: the CPU or a GPU, with the kernels of this crate or with candle, as far as the build and the machine have them.

use std::fmt;
use std::str::FromStr;
#[cfg(feature = "cuda")]
use std::sync::Arc;

use lyra_proto::{Backend, PassedOver, PassedOverCause as Cause};

use crate::error::Error;

/// The requested device: `auto`, `cpu`, `cuda`, `cuda:N` or `metal`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU that can be used, else the CPU.
    Auto,
    /// The CPU.
    #[default]
    Cpu,
    /// The NVIDIA GPU of this number, or an error.
    Cuda(usize),
    /// The Apple GPU, or an error.
    Metal,
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            "metal" => Ok(Self::Metal),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|number| number.parse().ok())
                .map(Self::Cuda)
                .ok_or_else(|| format!("`{text}` is not one of auto, cpu, cuda, cuda:N and metal")),
        }
    }
}

/// The requested execution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum BackendChoice {
    /// The fastest that computes correctly: native, then candle.
    #[default]
    Auto,
    /// The kernels of this program, for CPUs and NVIDIA GPUs.
    Native,
    /// Candle, for CPUs, NVIDIA GPUs and Apple GPUs.
    Candle,
}

impl BackendChoice {
    fn allows(self, backend: Backend) -> bool {
        match self {
            Self::Auto => true,
            Self::Native => backend == Backend::Native,
            Self::Candle => backend == Backend::Candle,
        }
    }
}

/// Type of weights and activations on a GPU. Sums are in f32 in any case.
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

/// An open device with the code that computes there. Clones share it.
#[derive(Clone)]
pub enum Device {
    /// The CPU with the kernels of this crate.
    Cpu,
    /// A GPU with the kernels of this crate, and the number format on it.
    #[cfg(feature = "cuda")]
    Cuda(Arc<super::cuda::Device>, Precision),
    /// Any device with candle.
    #[cfg(feature = "candle")]
    Candle(super::candle::Device),
}

impl Device {
    /// The code that computes there.
    pub fn backend(&self) -> Backend {
        match self {
            Self::Cpu => Backend::Native,
            #[cfg(feature = "cuda")]
            Self::Cuda(..) => Backend::Native,
            #[cfg(feature = "candle")]
            Self::Candle(_) => Backend::Candle,
        }
    }

    /// Default number of tokens that run together; `None` depends on the number of threads.
    pub fn batch_tokens(&self) -> Option<usize> {
        match self {
            Self::Cpu => None,
            #[cfg(feature = "cuda")]
            Self::Cuda(..) => Some(16_384),
            #[cfg(feature = "candle")]
            Self::Candle(device) => (!device.is_cpu()).then_some(16_384),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            #[cfg(feature = "cuda")]
            Self::Cuda(device, _) => f.write_str(device.name()),
            #[cfg(feature = "candle")]
            Self::Candle(device) => f.write_str(device.name()),
        }
    }
}

/// Open devices in the order in which a model tries them.
#[derive(Clone)]
pub struct Candidates {
    /// Before the CPU with native kernels, which is always last.
    accelerated: Vec<Device>,
    passed_over: Vec<PassedOver>,
}

impl Candidates {
    /// The CPU with native kernels.
    pub const CPU: Self = Self { accelerated: Vec::new(), passed_over: Vec::new() };

    /// Those to try before the CPU with native kernels.
    pub fn accelerated(&self) -> &[Device] {
        &self.accelerated
    }

    /// Those that could not be opened.
    pub fn passed_over(&self) -> &[PassedOver] {
        &self.passed_over
    }

    /// Opens what is requested, with `precision` for the numbers on a GPU.
    ///
    /// # Errors
    /// [`Error::Device`] if a GPU or candle is requested by name and unusable. `auto` then logs the reason and uses the CPU.
    pub fn open(device: DeviceChoice, backend: BackendChoice, precision: Precision) -> Result<Self, Error> {
        let mut found = Self::CPU;
        let opened = match device {
            DeviceChoice::Cpu => Ok(()),
            DeviceChoice::Cuda(number) => found.cuda(number, backend, precision),
            DeviceChoice::Metal => found.metal(backend, precision),
            DeviceChoice::Auto => {
                let gpu = found.cuda(0, backend, precision).or_else(|error| {
                    if cfg!(feature = "metal") { found.metal(backend, precision) } else { Err(error) }
                });
                if let Err(error) = gpu {
                    tracing::info!("computing on the CPU: {error}");
                }
                Ok(())
            }
        };
        opened?;
        if found.accelerated.is_empty() && backend == BackendChoice::Candle {
            found.accelerated.push(candle_on_cpu()?);
        }
        Ok(found)
    }

    fn cuda(&mut self, number: usize, backend: BackendChoice, precision: Precision) -> Result<(), Error> {
        let mut opened = Vec::new();
        if cfg!(feature = "cuda") && backend.allows(Backend::Native) {
            opened.push((Backend::Native, native_cuda(number, precision)));
        }
        if cfg!(feature = "candle-cuda") && backend.allows(Backend::Candle) {
            opened.push((Backend::Candle, candle_on_cuda(number, precision)));
        }
        let features = match backend {
            BackendChoice::Auto => "--features cuda` or `candle-cuda",
            BackendChoice::Native => "--features cuda",
            BackendChoice::Candle => "--features candle-cuda",
        };
        self.take(&format!("cuda:{number}"), opened, || {
            format!("this program was built without CUDA for this backend; build it with `{features}`")
        })
    }

    fn metal(&mut self, backend: BackendChoice, precision: Precision) -> Result<(), Error> {
        let mut opened = Vec::new();
        if cfg!(feature = "metal") && backend.allows(Backend::Candle) {
            opened.push((Backend::Candle, candle_on_metal(precision)));
        }
        self.take("metal", opened, || match backend {
            BackendChoice::Native => "only candle computes on Apple GPUs; use --backend candle".to_owned(),
            _ => "this program was built without Metal; build it with `--features metal`".to_owned(),
        })
    }

    /// Keeps what could be opened, and the reasons for the rest.
    fn take(
        &mut self,
        device: &str,
        opened: Vec<(Backend, Result<Device, Error>)>,
        absent: impl Fn() -> String,
    ) -> Result<(), Error> {
        let mut first = None;
        let before = self.accelerated.len();
        for (backend, opened) in opened {
            match opened {
                Ok(device) => {
                    tracing::info!(%device, %backend, "opened");
                    self.accelerated.push(device);
                }
                Err(error) => {
                    let (device, reason) = (device.to_owned(), error.to_string());
                    self.passed_over.push(PassedOver { backend, device, cause: Cause::Unavailable, reason });
                    first.get_or_insert(error);
                }
            }
        }
        if self.accelerated.len() > before {
            return Ok(());
        }
        Err(first.unwrap_or_else(|| Error::Device(absent())))
    }
}

#[cfg(feature = "cuda")]
fn native_cuda(number: usize, precision: Precision) -> Result<Device, Error> {
    Ok(Device::Cuda(super::cuda::Device::open(number)?, precision))
}

#[cfg(not(feature = "cuda"))]
fn native_cuda(_number: usize, _precision: Precision) -> Result<Device, Error> {
    unreachable!("asked only where the build has it")
}

#[cfg(feature = "candle")]
fn candle_on_cuda(number: usize, precision: Precision) -> Result<Device, Error> {
    super::candle::Device::cuda(number, precision).map(Device::Candle)
}

#[cfg(not(feature = "candle"))]
fn candle_on_cuda(_number: usize, _precision: Precision) -> Result<Device, Error> {
    unreachable!("asked only where the build has it")
}

#[cfg(feature = "candle")]
fn candle_on_metal(precision: Precision) -> Result<Device, Error> {
    super::candle::Device::metal(precision).map(Device::Candle)
}

#[cfg(not(feature = "candle"))]
fn candle_on_metal(_precision: Precision) -> Result<Device, Error> {
    unreachable!("asked only where the build has it")
}

#[cfg(feature = "candle")]
#[expect(clippy::unnecessary_wraps, reason = "other builds refuse")]
fn candle_on_cpu() -> Result<Device, Error> {
    Ok(Device::Candle(super::candle::Device::cpu()))
}

#[cfg(not(feature = "candle"))]
fn candle_on_cpu() -> Result<Device, Error> {
    let reason = "this program was built without candle; build it with `--features candle`";
    Err(Error::Backend(reason.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(device: DeviceChoice, backend: BackendChoice) -> String {
        let opened = Candidates::open(device, backend, Precision::Bf16);
        opened.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn choices_are_read() {
        for (text, choice) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("cuda", DeviceChoice::Cuda(0)),
            ("cuda:3", DeviceChoice::Cuda(3)),
            ("metal", DeviceChoice::Metal),
        ] {
            assert_eq!(text.parse(), Ok(choice));
        }
        for text in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "metal:0"] {
            assert!(text.parse::<DeviceChoice>().is_err(), "{text}");
        }
    }

    #[test]
    #[cfg(not(any(feature = "cuda", feature = "candle-cuda")))]
    fn a_build_without_cuda_says_so() {
        assert!(refused(DeviceChoice::Cuda(0), BackendChoice::Auto).contains("--features cuda"));
        assert!(refused(DeviceChoice::Cuda(0), BackendChoice::Candle).contains("--features candle-cuda"));
    }

    #[test]
    #[cfg(not(feature = "metal"))]
    fn a_build_without_metal_says_so() {
        assert!(refused(DeviceChoice::Metal, BackendChoice::Auto).contains("--features metal"));
        assert!(refused(DeviceChoice::Metal, BackendChoice::Native).contains("--backend candle"));
    }

    #[test]
    #[cfg(not(feature = "candle"))]
    fn a_build_without_candle_says_so() {
        assert!(refused(DeviceChoice::Cpu, BackendChoice::Candle).contains("--features candle"));
    }

    #[test]
    #[cfg(feature = "candle")]
    fn candle_on_the_cpu_comes_before_native_code_if_it_is_named() {
        let open =
            |backend| Candidates::open(DeviceChoice::Cpu, backend, Precision::Bf16).unwrap().accelerated;
        assert!(open(BackendChoice::Auto).is_empty() && open(BackendChoice::Native).is_empty());
        let named = open(BackendChoice::Candle);
        assert_eq!(
            (named.len(), named[0].backend(), named[0].to_string()),
            (1, Backend::Candle, "cpu".to_owned())
        );
    }
}

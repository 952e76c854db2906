//! The kernels: their source, the compiler, and the cache of compiled code.

use std::ffi::{CString, c_char};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaModule, DeviceRepr, LaunchConfig, PushKernelArg as _};
use cudarc::nvrtc::{Ptx, result as nvrtc, sys};
use sha2::{Digest as _, Sha256};

use super::device::Device;
use crate::error::ComputeError;
use crate::model::device::Precision;

const FILES: [(&str, &str); 5] = [
    ("intrinsics.cu", include_str!("kernels/intrinsics.cu")),
    ("element.cu", include_str!("kernels/element.cu")),
    ("norm.cu", include_str!("kernels/norm.cu")),
    ("pointwise.cu", include_str!("kernels/pointwise.cu")),
    ("attention.cu", include_str!("kernels/attention.cu")),
];

/// What kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Type of weights and activations.
    pub precision: Precision,
    /// Width of a token's vector.
    pub hidden: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// What is added to scores.
    pub scores: Scores,
}

/// What attention adds to the products of queries and keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scores {
    /// Nothing.
    Plain,
    /// Scores by distance, which depend on the tokens.
    Relative,
    /// Scores by distance alone.
    Distance,
}

impl Variant {
    /// Whether attention runs on tensor cores.
    pub(super) fn tensor_cores(&self) -> bool {
        self.precision != Precision::F32 && self.head_dim.is_multiple_of(16)
    }

    /// What is wrong with the shape, if anything: rows are read 16 bytes at a time, and a head's keys fit in shared memory.
    pub(super) fn problem(&self) -> Option<String> {
        (!self.hidden.is_multiple_of(8) || !self.head_dim.is_multiple_of(2) || self.head_dim > 128).then(|| {
            format!(
                "vectors of width {} with heads of width {} do not run on a GPU: the width must be a multiple of 8, \
                 and that of heads even and at most 128",
                self.hidden, self.head_dim
            )
        })
    }

    fn defines(self) -> [String; 4] {
        let element = match self.precision {
            Precision::Bf16 => 16,
            Precision::F16 => 17,
            Precision::F32 => 32,
        };
        let scores = match self.scores {
            Scores::Plain => 0,
            Scores::Relative => 1,
            Scores::Distance => 2,
        };
        [
            format!("-DELEMENT={element}"),
            format!("-DHIDDEN={}", self.hidden),
            format!("-DHEAD_DIM={}", self.head_dim),
            format!("-DSCORES={scores}"),
        ]
    }
}

/// All kernels as one source, with each line's file and number for messages.
pub fn source() -> String {
    let mut source = String::new();
    for (name, text) in FILES {
        let _ = writeln!(source, "#line 1 \"{name}\"\n{text}");
    }
    source
}

/// Compiles [`source`] to machine code for `architecture`, for example `sm_90`. NVRTC must be loadable.
///
/// # Errors
/// [`ComputeError::Failed`] with the compiler's messages.
pub fn compile(variant: Variant, architecture: &str) -> Result<Vec<u8>, ComputeError> {
    let failed =
        |what: &str, error: nvrtc::NvrtcError| ComputeError::Failed(format!("NVRTC {what}: {error}"));
    let text = CString::new(source()).map_err(|error| ComputeError::Failed(error.to_string()))?;
    let program = nvrtc::create_program(&text, None).map_err(|error| failed("refuses the source", error))?;
    let options = options(variant, architecture);
    // SAFETY: `program` lives from its creation above to its end below, and so does `text`; sizes are those that NVRTC gave.
    #[expect(unsafe_code, reason = "NVRTC's interface is in C")]
    unsafe {
        let compiled = nvrtc::compile_program(program, &options).map_err(|error| {
            let log = nvrtc::get_program_log(program).unwrap_or_default();
            let log: Vec<u8> = log.into_iter().flat_map(c_char::to_ne_bytes).collect();
            failed(&String::from_utf8_lossy(&log).replace('\0', ""), error)
        });
        let code = compiled.and_then(|()| {
            let mut size = 0;
            sys::nvrtcGetCUBINSize(program, &raw mut size)
                .result()
                .map_err(|error| failed("has no code", error))?;
            let mut code = vec![0u8; size];
            sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast())
                .result()
                .map_err(|error| failed("has no code", error))?;
            Ok(code)
        });
        let _ = nvrtc::destroy_program(program);
        code
    }
}

fn options(variant: Variant, architecture: &str) -> Vec<String> {
    let mut options = vec![format!("--gpu-architecture={architecture}"), "--std=c++17".to_owned()];
    options.extend(variant.defines());
    options
}

/// The kernels of one variant, loaded.
pub(super) struct Kernels {
    device: Arc<Device>,
    module: Arc<CudaModule>,
}

impl Kernels {
    /// Takes the code from the cache, or compiles it and caches it.
    ///
    /// # Errors
    /// When it cannot be compiled or loaded.
    pub(super) fn load(device: &Arc<Device>, variant: Variant) -> Result<Self, ComputeError> {
        let (major, minor) = device.capability;
        let architecture = format!("sm_{major}{minor}");
        let file = cache().map(|folder| folder.join(format!("{}.cubin", key(variant, &architecture))));
        let cached = file.as_ref().and_then(|file| std::fs::read(file).ok());
        let load = |code| device.context.load_module(Ptx::from_binary(code));
        // Code that does not load is recompiled: a file can be truncated, and drivers change.
        let module = if let Some(module) = cached.and_then(|code| load(code).ok()) {
            module
        } else {
            tracing::info!(architecture, ?variant, "compiling kernels");
            let code = compile(variant, &architecture)?;
            if let Some(file) = &file {
                keep(file, &code);
            }
            load(code)?
        };
        Ok(Self { device: Arc::clone(device), module })
    }

    /// The kernel of this name.
    ///
    /// # Errors
    /// No kernel has that name.
    pub(super) fn get(&self, name: &'static str) -> Result<Kernel, ComputeError> {
        let function = self.module.load_function(name)?;
        Ok(Kernel { device: Arc::clone(&self.device), function })
    }
}

/// One kernel.
pub(super) struct Kernel {
    device: Arc<Device>,
    function: CudaFunction,
}

/// Blocks, and threads of a block, along x and y.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    pub(super) blocks: (usize, usize),
    pub(super) threads: (u32, u32),
}

/// Arguments of a kernel, in its order.
pub(super) trait Arguments {
    /// Launches `function` with these.
    fn launch(&self, kernel: &Kernel, config: LaunchConfig) -> Result<(), ComputeError>;
}

macro_rules! arguments {
    ($($type:ident),+) => {
        impl<$($type: DeviceRepr),+> Arguments for ($($type,)+) {
            #[expect(non_snake_case, reason = "a tuple's parts are named like their types")]
            fn launch(&self, kernel: &Kernel, config: LaunchConfig) -> Result<(), ComputeError> {
                let ($($type,)+) = self;
                let mut builder = kernel.device.stream.launch_builder(&kernel.function);
                $(builder.arg($type);)+
                // SAFETY: callers of `Kernel::launch` pass what the kernel's signature names.
                #[expect(unsafe_code, reason = "a kernel's arguments are not typed")]
                unsafe { builder.launch(config) }?;
                Ok(())
            }
        }
    };
}

arguments!(A, B, C);
arguments!(A, B, C, D);
arguments!(A, B, C, D, E);
arguments!(A, B, C, D, E, F, G);
arguments!(A, B, C, D, E, F, G, H);
arguments!(A, B, C, D, E, F, G, H, I, J, K);

impl Kernel {
    /// Launches the kernel on the stream. `arguments` match its signature, with addresses of live buffers that are
    /// large enough.
    ///
    /// # Errors
    /// An error of the driver. Errors on the GPU surface later, when its results are read.
    pub(super) fn launch(&self, grid: Grid, arguments: &impl Arguments) -> Result<(), ComputeError> {
        let (Ok(x), Ok(y)) = (u32::try_from(grid.blocks.0), u32::try_from(grid.blocks.1)) else {
            return Err(ComputeError::Failed(format!("{:?} blocks are too many", grid.blocks)));
        };
        let block_dim = (grid.threads.0, grid.threads.1, 1);
        arguments.launch(self, LaunchConfig { grid_dim: (x, y, 1), block_dim, shared_mem_bytes: 0 })
    }
}

/// What distinguishes compiled code: everything that goes into it.
fn key(variant: Variant, architecture: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(source());
    for option in options(variant, architecture) {
        hash.update([0]);
        hash.update(option);
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: writes two integers.
    #[expect(unsafe_code, reason = "NVRTC's interface is in C")]
    let _ = unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) };
    hash.update(format!("NVRTC {major}.{minor}"));
    hash.finalize().iter().take(16).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// `lyra/kernels` in `XDG_CACHE_HOME`, or in `.cache` of the user.
fn cache() -> Option<PathBuf> {
    let set = std::env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let base = set.or_else(|| std::env::home_dir().map(|home| home.join(".cache")))?;
    Some(base.join("lyra").join("kernels"))
}

/// Writes a file atomically. A cache that cannot be written only costs a compilation at the next start.
fn keep(file: &std::path::Path, code: &[u8]) {
    let part = file.with_extension(format!("{}.part", std::process::id()));
    let written = file
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(&part, code))
        .and_then(|()| std::fs::rename(&part, file));
    if let Err(error) = written {
        tracing::warn!(file = %file.display(), %error, "cannot keep compiled kernels");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VARIANT: Variant =
        Variant { precision: Precision::Bf16, hidden: 64, head_dim: 16, scores: Scores::Plain };

    #[test]
    fn options_tell_variants_apart() {
        let others = [
            Variant { precision: Precision::F16, ..VARIANT },
            Variant { hidden: 128, ..VARIANT },
            Variant { head_dim: 32, ..VARIANT },
            Variant { scores: Scores::Relative, ..VARIANT },
            Variant { scores: Scores::Distance, ..VARIANT },
        ];
        for other in others {
            assert_ne!(options(VARIANT, "sm_90"), options(other, "sm_90"));
        }
        assert_ne!(options(VARIANT, "sm_90"), options(VARIANT, "sm_80"));
    }

    #[test]
    fn tensor_cores_take_half_precision_in_steps_of_16() {
        assert!(VARIANT.tensor_cores());
        assert!(!Variant { precision: Precision::F32, ..VARIANT }.tensor_cores());
        assert!(!Variant { head_dim: 24, ..VARIANT }.tensor_cores());
    }

    #[test]
    fn unusual_shapes_are_refused() {
        assert_eq!(VARIANT.problem(), None);
        for variant in [
            Variant { hidden: 60, head_dim: 10, ..VARIANT },
            Variant { hidden: 512, head_dim: 256, ..VARIANT },
            Variant { hidden: 64, head_dim: 1, ..VARIANT },
        ] {
            assert!(variant.problem().is_some(), "{variant:?}");
        }
    }
}

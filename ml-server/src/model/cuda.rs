//! Encoders on NVIDIA GPUs, cargo feature `cuda`.
//!
//! Building needs no part of CUDA: the driver, NVRTC and cuBLASLt are loaded when a GPU is opened. cuBLASLt computes
//! the matrix products; everything between them is in `kernels/*.cu`, which NVRTC compiles on the first start.
//!
//! The tests run the same host code and the same kernels without a GPU, over stand-ins for the three libraries in
//! `tests/cuda/emulator`.

#![expect(
    clippy::cast_possible_wrap,
    reason = "kernels count in signed integers, and a pass has room for far fewer tokens than those hold"
)]

mod attention;
mod device;
mod encoder;
mod kernels;
mod layout;
mod linear;
mod memory;

pub use device::Device;
pub use encoder::Encoder;
pub use kernels::{Scores, Variant, compile, source};

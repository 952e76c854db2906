//! Encoders with candle, cargo feature `candle`: on CPUs, on NVIDIA GPUs (`candle-cuda`), and on Apple GPUs (`metal`).
//!
//! It interprets the same description as the kernels of this crate, shares none of their arithmetic, and is what the tests
//! compare them with. Sequences lie end to end, as elsewhere; only attention pads, sequences of similar length
//! together. Everything between the matrix products is in f32, also where these are in half precision.

mod attention;
mod device;
mod encoder;
mod layout;

pub use device::Device;
pub use encoder::Encoder;

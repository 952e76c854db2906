//! Worker processes under the kernel's limits, for work that outsiders supply.
//!
//! A [`Pool`] starts a program, sends it one job at a time and kills it when the job takes too long. The program calls
//! [`serve`], which drops privileges that the work does not need before it reads the first job. A job that exhausts its
//! memory or crashes only ends its worker: the pool answers with a [`WorkerError`] that names the limit.
//!
//! Jobs and answers are bytes; their meaning is up to the program. They are sent over the worker's standard input and
//! output, each after its length as a little-endian `u32`.

mod access;
mod frame;
mod limits;
mod pool;
mod serve;

pub use access::{Access, Confinement};
pub use limits::Limits;
pub use pool::{Pool, PoolConfig, WorkerError};
pub use serve::serve;

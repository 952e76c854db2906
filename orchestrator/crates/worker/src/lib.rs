//! Worker processes under the kernel's limits, for work that outsiders supply.
//!
//! A [`Pool`] starts a program, sends it one job at a time and kills it when the job takes too long. The program calls
//! [`serve`], which gives up what the work does not need before it reads the first job. A job that takes all the memory
//! or crashes ends its worker and nothing else: the pool answers with a [`WorkerError`] that names the limit.
//!
//! A job may take several turns ([`Talk`]): a worker without any file reads one that its parent [`hand`]s over piece by
//! piece.
//!
//! Jobs and answers are bytes; what they mean is up to the program. They travel over the worker's standard input and
//! output, each after its length as a little-endian `u32`.

mod access;
mod frame;
mod handed;
mod limits;
mod pool;
mod serve;
mod talk;

pub use access::{Access, Confinement};
pub use handed::{Handed, hand};
pub use limits::Limits;
pub use pool::{Pool, PoolConfig, WorkerError};
pub use serve::{serve, serve_talks};
pub use talk::{Talk, Talks, Turns, Work};

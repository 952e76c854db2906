//! Typed client of ml-servers: batching, retry, circuit breaker, and a pool of servers.
//!
//! [`MlClient`] is the orchestrator's only access to the ml-server, and implements the pipeline's
//! [`Inference`](lyra_research::ports::Inference) port.

mod agreement;
mod breaker;
mod client;
mod error;
mod inference;
mod load;
mod pool;
mod server;
mod standing;

pub use client::{ClientConfig, MlClient};
pub use error::Error;

//! Typed client of the ml-server: batching, retry, circuit breaker.
//!
//! [`MlClient`] is the orchestrator's only access to the ml-server, and implements the pipeline's
//! [`Inference`](lyra_research::ports::Inference) port.

mod breaker;
mod client;
mod error;
mod inference;

pub use client::{ClientConfig, MlClient};
pub use error::Error;

//! Lyra, the orchestrator: composition root and edges.
//!
//! [`app`] holds the use cases, one function each; [`cli`], [`mcp`] and [`http`] call them and know the wire formats.

pub mod app;
pub mod cli;
pub mod config;
pub mod http;
mod inference;
mod json;
pub mod mcp;
pub mod metrics;
mod rate;
pub mod worker;

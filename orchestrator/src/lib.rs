//! Lyra, the orchestrator: composition root and edges.
//!
//! [`lyra_usecases`] holds the use cases, one function each; [`cli`], [`mcp`] and [`http`] call them and know the wire
//! formats.

pub mod cli;
pub mod http;
pub mod mcp;
mod rate;

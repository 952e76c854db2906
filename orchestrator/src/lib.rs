//! Lyra, the orchestrator: composition root and edges.
//!
//! [`lyra_usecases`] holds the use cases, one function each; [`cli`], [`http`] and [`lyra_mcp`] call them and know the
//! wire formats.

pub mod cli;
pub mod http;

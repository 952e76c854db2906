//! Lyra, the orchestrator: composition root and command line.
//!
//! [`lyra_usecases`] holds the use cases, one function each; [`cli`], [`lyra_mcp`] and [`lyra_http`] call them and know
//! the wire formats.

pub mod cli;
pub mod compose;

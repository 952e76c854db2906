//! The research pipeline: steps over the ports it declares.
//!
//! Knows no SQL, no HTTP, no MCP. One query runs one path (evidence design, section 2): collect, register,
//! rank, extract claims; then claims are judged against passages of other pages.

mod error;
pub mod ports;

pub use error::{PortError, Result};

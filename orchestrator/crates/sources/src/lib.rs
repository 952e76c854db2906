//! Everything outside: one careful HTTP layer, and the sources that answer over it.
//!
//! [`http::HttpClient`] is the only thing in Lyra that opens sockets to the outside. Every provider's base URL is
//! configuration, so that tests and proxies can stand in for it.

mod error;
pub mod http;
pub mod web;

pub use error::{Error, Result};

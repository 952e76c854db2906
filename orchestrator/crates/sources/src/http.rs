//! The HTTP layer: limits, retries, cache and guards for everything that is asked of the outside.
//!
//! [`HttpClient::send`] runs one [`Request`] under one [`Policy`]: cache, robots.txt, cool-down, limiter, attempts with
//! full jitter, redirects followed by hand, size and time limits, bounded decompression.

mod client;
mod policy;
mod request;
mod response;

pub use client::{HttpClient, HttpConfig};
pub use policy::{Cache, Origin, Policy};
pub use request::Request;
pub use response::Response;

//! The HTTP layer: limits, retries, cache and guards for every request to the outside.
//!
//! [`HttpClient::send`] runs one [`Request`] under one [`Policy`]: cache, robots.txt, cool-down, limiter, attempts with
//! full jitter, redirects followed by hand, size and time limits, bounded decompression.

mod body;
pub(crate) mod cache;
mod client;
mod freshness;
mod guard;
mod kind;
mod limiter;
mod policy;
mod proxy;
mod request;
mod response;
mod retry;
mod robots;
#[cfg(test)]
mod testing;

pub use cache::prune_cache;
pub(crate) use client::named;
pub use client::{HttpClient, HttpConfig, Settles};
pub use guard::{Resolver, SystemResolver, reserved};
pub(crate) use guard::{check, shown};
pub use policy::{Cache, Origin, Policy};
pub use proxy::Proxies;
pub use request::Request;
pub use response::Response;
pub(crate) use response::shown_type;

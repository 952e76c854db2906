//! Reading web pages: result pages, main text, PDF, fragments, domains, hostile text.
//!
//! Pure: bytes and text in, values out. No I/O, no clock. Page text is untrusted data, and nothing here acts on it.

mod address;
pub mod bounds;
pub mod danger;
mod dom;
pub mod domains;
mod error;
pub mod extract;
pub mod fragment;
pub mod pdf;
pub mod read;
mod refresh;
pub mod serp;
#[cfg(test)]
mod testing;

pub use address::{canonical, same_page_key};
pub use error::{ConfigError, Result};

//! Corpora from the outside: import, interruption, search.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::print_stderr, reason = "a test says why it skips, and what it measures")]

mod formats;
mod import;
mod interruption;
mod lanes;
mod library;
mod mixed;
mod papers;
mod patents;
mod pdf;
mod real;
mod refused;
mod remote;
mod scifact;
mod search;
mod services;
mod support;
mod sync;
mod versions;
mod zotero;

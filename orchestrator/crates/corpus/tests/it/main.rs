//! Corpora from the outside: import, interruption, search.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod formats;
mod import;
mod interruption;
mod lanes;
mod library;
mod mixed;
mod papers;
mod patents;
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

//! Screening by relevance feedback: which document a person should judge next, how many of the relevant ones have been
//! found, and what a stopping test says. Pure: labels and terms in, orders and numbers out; the same input gives the same
//! output.
//!
//! Work is bounded by [`MOST_DOCUMENTS`], [`MOST_TERMS`], and [`MOST_TRAINED`]; `tests/simulation.rs` measures it.

mod features;
mod model;
mod order;
mod recall;
mod stopping;

pub use features::Features;
pub use model::Model;
pub use order::{Because, Next, Order};
pub use recall::{Recall, estimate};
pub use stopping::{Stopping, TARGET, stopping};

/// Most documents that are ordered; later ones keep the order of the search, behind the others.
pub const MOST_DOCUMENTS: usize = 20_000;
/// Most distinct terms that documents are described by: those that the most documents have.
pub const MOST_TERMS: usize = 30_000;
/// Most terms of one document, the first ones.
pub const MOST_TERMS_OF_DOCUMENT: usize = 600;
/// Most excluded documents that a model learns from: the latest ones. Of the included ones it learns from all.
pub const MOST_TRAINED: usize = 2_000;

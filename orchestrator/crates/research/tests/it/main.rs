//! The pipeline over the real store, with sources and models that the tests make up.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod finish;
mod floors;
mod language_model;
mod pipeline;
mod support;
mod verifier;

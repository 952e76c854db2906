//! The crate over real sockets, with stand-ins on loopback.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod apis;
mod arxiv;
mod bench;
mod browser;
mod catalogs;
mod crossref;
mod europe_pmc;
mod every_api;
mod faults;
#[path = "../../../research/tests/it/finish.rs"]
mod finish;
mod http;
mod matrix;
mod proxy;
mod pubmed;
mod recorded;
mod registry;
mod support;
mod web;
mod works;

//! Corpora from the outside: import, interruption, search.

mod import;
mod interruption;
mod scifact;
mod search;
mod support;

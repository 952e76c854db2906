//! Files as the managers write them.

mod bibtex;
mod json;
mod lines;
mod xml;

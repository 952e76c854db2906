//! Files as the managers write them.

mod bibtex;
mod imprint;
mod json;
mod lines;
mod xml;

//! Admission: the layer between a listening socket and a router, shared by both servers of Lyra.
//!
//! An unknown client costs one connection slot and nothing else: [`connections`] bounds how many there are and how long
//! each may take for a head, [`body`] bounds the time and size of a body, and [`names`] checks which host and origin a
//! request has. [`gzip`] compresses answers.

pub mod body;
pub mod connections;
pub mod gzip;
pub mod names;

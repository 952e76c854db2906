//! Admission: what stands between a listening socket and a router, the same for both servers of Lyra.
//!
//! A client that is not known yet costs one connection slot and nothing else: [`connections`] bounds how many there are and how
//! long each may take for a head, [`body`] how long and how large a body may be, [`names`] says for whom and from where a
//! request may come.

pub mod body;
pub mod connections;
pub mod names;

//! Inner loops of the CPU path, chosen at run time for the instruction set at hand.

pub mod attend;
pub mod gelu;
pub mod q8;

//! What jobs are made of. A step knows the context and other steps, and no job.

pub(crate) mod ask;
pub(crate) mod asking;
pub(crate) mod citations;
pub(crate) mod collect;
pub(crate) mod complete;
pub(crate) mod embed;
pub(crate) mod extract;
pub(crate) mod fetch;
pub(crate) mod hit;
mod lanes;
pub(crate) mod links;
mod metadata;
pub(crate) mod rank;
pub(crate) mod register;
pub(crate) mod verdict;

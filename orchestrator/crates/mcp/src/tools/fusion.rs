//! Lanes, runs and their fusion: the twelve tools of the fusion design.

mod blend;
mod given;
mod review;
mod search;
mod tidy;

pub(super) use blend::{BlendFrontier, GetProvenance, MutateRun, RegisterRepresentatives};
pub(super) use review::{GetPublication, GetSnippets, PeekSnippets};
pub(super) use search::{
    MultilaneSearch, SearchFulltext, SearchFulltextRaw, SearchSemantic, SearchSemanticRaw,
};

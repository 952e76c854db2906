//! Components that several pages share.

pub(crate) mod claim;
pub(crate) mod drop;
pub(crate) mod figures;
pub(crate) mod file;
pub(crate) mod moment;
pub(crate) mod numbers;
pub(crate) mod passage;
pub(crate) mod place;
pub(crate) mod progress;
pub(crate) mod tabs;
pub(crate) mod terms;

//! Fusion of ranked lists: reciprocal rank fusion with a boost for classification codes, label-free quality measures of
//! the result, and the choice of documents to review.
//!
//! Pure: no I/O, no clock, no randomness. Start at [`Blend`].

pub mod alarm;
mod blend;
mod error;
pub mod estimate;
mod facet;
pub mod family;
pub mod frontier;
mod hygiene;
mod metrics;
mod passage;
mod pool;
pub mod profile;
mod proxy;
mod recipe;
mod rrf;
mod sample;
mod term;

pub use alarm::{Alarm, AlarmKind};
pub use blend::{Assessment, Blend};
pub use error::{FusionError, Result};
pub use facet::{DocText, FacetSignals, FacetTerms, FacetWeights, Facets};
pub use frontier::FrontierPoint;
pub use hygiene::{Demands, WordList, demands};
pub use metrics::StructureMetrics;
pub use passage::{Piece, cut, passages, pieces};
pub use pool::{Lane, Pool, RankedDocs};
pub use profile::{ProposeOptions, ProposedCode, TargetProfile};
pub use proxy::{MIN_REPRESENTATIVES, PiWeights, ProxyMethod};
pub use recipe::{MAX_PER_LANE, Prepared, Recipe, RecipeDelta};
pub use rrf::{CODE, Ranking};
pub use sample::{Candidate, sample};
pub use term::{Analysed, Term};

//! Text analysis that every other crate shares: normalization, language, words, sentences, windows, claims.
//!
//! Pure and total: no I/O, no clock, and every function returns on every string. Offsets count characters
//! (Unicode scalar values), never bytes, so that they mean the same in every language that reads the store.

mod address;
mod assertion;
pub mod claim;
pub mod fulltext;
mod grounding;
pub mod guard;
mod hedge;
mod language;
mod near;
mod normalise;
mod number;
mod polarity;
pub mod query;
pub mod question;
mod reword;
mod role;
mod sentence;
pub mod terminal;
mod wildcard;
mod window;
mod word;

pub use address::spelled_out;
pub use assertion::Assertion;
pub use grounding::is_grounded;
pub use hedge::{hedges, populations};
pub use language::language;
pub use near::{MAX_GROUPS, Span, near};
pub use normalise::{is_cjk, normalise, passage};
pub use number::numbers;
pub use polarity::{Direction, Polarity, polarity};
pub use reword::reworded;
pub use role::{Role, roles};
pub use sentence::{Sentence, sentences};
pub use wildcard::{Progress, Wildcard};
pub use window::{Window, windows};
pub use word::{Analysis, Token, bigrams, content_words, is_stop_word, tokens, words};

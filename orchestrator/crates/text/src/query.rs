//! The query language of full-text lanes.
//!
//! ```text
//! query   = or
//! or      = and { OR and }
//! and     = not { [AND] not }                       blanks between terms mean AND
//! not     = NOT not | primary
//! primary = ( or ) | field: primary | word | "phrase" | near
//! near    = *N5"a b" | *NP5"a b" | *ONP5"a b"       groups of alternatives: *N5"(a b) (c d)"
//! ```
//!
//! Operators are upper or lower case. `N` and `NP` find their words in any order, `ONP` in the given one; the number
//! is how many characters (CJK) or words may stand between two neighbors. Full-width brackets, quotes and blanks mean
//! what the ASCII ones do. A word is matched by its stem, a word of CJK characters wherever these characters stand.

mod find;
mod lex;
mod parse;
#[cfg(test)]
mod tests;

pub use find::{Texts, highlights, matches};

use std::fmt;

/// A parsed query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// All of them.
    And(Vec<Query>),
    /// One of them at least.
    Or(Vec<Query>),
    /// Not this.
    Not(Box<Query>),
    /// A word or phrase.
    Term(Term),
    /// Words near each other.
    Near(Near),
}

/// A word, or a phrase in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// As written, without quotes.
    pub text: String,
    /// Only in this field.
    pub field: Option<Field>,
    /// It stood in quotes.
    pub quoted: bool,
    /// Its position in the query, in characters.
    pub at: Range,
}

/// A proximity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// Most positions between two neighbors.
    pub distance: u32,
    /// In the order of the groups.
    pub ordered: bool,
    /// Groups of alternatives, two to [`crate::MAX_GROUPS`].
    pub groups: Vec<Vec<String>>,
    /// Only in this field.
    pub field: Option<Field>,
    /// Its position in the query, in characters.
    pub at: Range,
}

/// Characters `start` to before `end` of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// First character, from 0.
    pub start: usize,
    /// One past the last.
    pub end: usize,
}

/// The fields that a term can be bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    /// `title:`
    Title,
    /// `abst:`
    Abst,
    /// `claim:`
    Claim,
    /// `desc:`
    Desc,
    /// `ipc:`, a code, matched by hierarchy.
    Ipc,
    /// `cpc:`
    Cpc,
    /// `fi:`
    Fi,
    /// `ft:`
    Ft,
    /// `uspc:`
    Uspc,
    /// `locarno:`
    Locarno,
    /// `inventor:`, of a patent, or the author of a paper.
    Inventor,
    /// `cites:`, a number or an id: documents that cite it.
    Cites,
    /// `cited_by:`, a number or an id: documents that it cites.
    CitedBy,
    /// `assignee:`
    Assignee,
    /// `country:`
    Country,
    /// `lang:`
    Lang,
}

impl Field {
    /// All fields.
    pub const ALL: [Self; 16] = [
        Self::Title,
        Self::Abst,
        Self::Claim,
        Self::Desc,
        Self::Ipc,
        Self::Cpc,
        Self::Fi,
        Self::Ft,
        Self::Uspc,
        Self::Locarno,
        Self::Inventor,
        Self::Cites,
        Self::CitedBy,
        Self::Assignee,
        Self::Country,
        Self::Lang,
    ];

    /// The name before the colon.
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Abst => "abst",
            Self::Claim => "claim",
            Self::Desc => "desc",
            Self::Ipc => "ipc",
            Self::Cpc => "cpc",
            Self::Fi => "fi",
            Self::Ft => "ft",
            Self::Uspc => "uspc",
            Self::Locarno => "locarno",
            Self::Inventor => "inventor",
            Self::Cites => "cites",
            Self::CitedBy => "cited_by",
            Self::Assignee => "assignee",
            Self::Country => "country",
            Self::Lang => "lang",
        }
    }

    /// Whether it holds running text, where phrases and proximities make sense.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Title | Self::Abst | Self::Claim | Self::Desc)
    }

    /// A field by its name or one of the names that vendors use.
    fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = match name.as_str() {
            "abstract" => "abst",
            "claims" => "claim",
            "description" => "desc",
            "fterm" | "f-term" => "ft",
            "author" => "inventor",
            other => other,
        };
        Self::ALL.into_iter().find(|field| field.name() == name)
    }
}

/// A query that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError {
    /// Where, in characters from 0; the query's length for its end.
    pub at: usize,
    /// The unexpected token.
    pub found: String,
    /// The expected tokens.
    pub expected: String,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the query cannot be read at character {}: found {}, expected {}",
            self.at + 1,
            self.found,
            self.expected
        )
    }
}

impl std::error::Error for QueryError {}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// [`QueryError`] with the first place that does not fit.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        parse::parse(text)
    }

    /// Words, phrases and proximities in the order they stand; `true` for those that must be there for a document to
    /// match: under no `OR` and no `NOT`.
    pub fn leaves(&self) -> Vec<(&Query, bool)> {
        let mut leaves = Vec::new();
        self.collect(true, &mut leaves);
        leaves
    }

    fn collect<'a>(&'a self, required: bool, leaves: &mut Vec<(&'a Query, bool)>) {
        match self {
            Self::And(parts) => parts.iter().for_each(|part| part.collect(required, leaves)),
            Self::Or(parts) => parts.iter().for_each(|part| part.collect(false, leaves)),
            Self::Not(part) => part.collect(false, leaves),
            Self::Term(_) | Self::Near(_) => leaves.push((self, required)),
        }
    }
}

impl fmt::Display for Query {
    /// The query in ASCII operators and brackets, everything explicit; parsing it gives an equal query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, parts: &[Query], operator: &str| {
            f.write_str("(")?;
            for (nth, part) in parts.iter().enumerate() {
                if nth > 0 {
                    write!(f, " {operator} ")?;
                }
                write!(f, "{part}")?;
            }
            f.write_str(")")
        };
        match self {
            Self::And(parts) => list(f, parts, "AND"),
            Self::Or(parts) => list(f, parts, "OR"),
            Self::Not(part) => write!(f, "NOT {part}"),
            Self::Term(term) => {
                if let Some(field) = term.field {
                    write!(f, "{}:", field.name())?;
                }
                if term.quoted { write!(f, "\"{}\"", term.text) } else { f.write_str(&term.text) }
            }
            Self::Near(near) => {
                if let Some(field) = near.field {
                    write!(f, "{}:", field.name())?;
                }
                write!(f, "*{}{}\"", if near.ordered { "ONP" } else { "N" }, near.distance)?;
                for (nth, group) in near.groups.iter().enumerate() {
                    let gap = if nth > 0 { " " } else { "" };
                    match group.as_slice() {
                        [one] => write!(f, "{gap}{one}")?,
                        many => write!(f, "{gap}({})", many.join(" "))?,
                    }
                }
                f.write_str("\"")
            }
        }
    }
}

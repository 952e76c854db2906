//! The query language of full-text lanes.
//!
//! ```text
//! query     = or
//! or        = and { OR and }
//! and       = not { [AND] not }                       blanks between terms mean AND
//! not       = (NOT | -) not | proximity
//! proximity = primary { (NEAR/5 | ADJ/5 | ADJ) primary }
//! primary   = ( or ) | field: primary | word | "phrase" | =word | ="phrase" | near
//! near      = *N5"a b" | *NP5"a b" | *ONP5"a b"       groups of alternatives: *N5"(a b) (c d)"
//!           | "a b"~5
//! word      = characters, with * for any and ? for one that is left open
//! ```
//!
//! Operators are written in any case. `N`, `NP`, and `NEAR` find their words in any order, `ONP` and `ADJ` in the given
//! one; the number is how many characters (CJK) or words may stand between two neighbors. Full-width brackets, quotes
//! and blanks mean what the ASCII ones do. A word is matched by its stem, a word of CJK characters wherever these
//! characters stand; a truncated word, and one behind `=`, by the words as they are written.
//!
//! Forms of other systems that are not in this grammar are refused with the Lyra form (`foreign.rs`). What could be a
//! word as well is searched as one, with a [`Note`].

mod find;
mod foreign;
mod lex;
mod parse;
mod proximity;
#[cfg(test)]
mod tests;

pub use find::{Texts, highlights, matches};

use crate::fulltext::Pattern;
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

/// A word of a proximity, or a phrase in quotes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Word {
    /// As written, without quotes.
    pub text: String,
    /// It stood in quotes.
    pub quoted: bool,
    /// Matched with its capitals and endings, as written behind `=`.
    pub exact: bool,
}

impl Word {
    /// What is looked for.
    pub fn pattern(&self) -> Pattern {
        if self.exact { Pattern::as_written(&self.text) } else { Pattern::truncated(&self.text) }
    }
}

impl Term {
    /// Its word, wherever it is looked for.
    pub fn word(&self) -> Word {
        Word { text: self.text.clone(), quoted: self.quoted, exact: self.exact }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (equals, quote) = (if self.exact { "=" } else { "" }, if self.quoted { "\"" } else { "" });
        write!(f, "{equals}{quote}{}{quote}", self.text)
    }
}

/// A word or phrase, and where it is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// As written, without quotes.
    pub text: String,
    /// Only in this field.
    pub field: Option<Field>,
    /// It stood in quotes.
    pub quoted: bool,
    /// Matched with its capitals and endings, as written behind `=`.
    pub exact: bool,
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
    pub groups: Vec<Vec<Word>>,
    /// Only in this field.
    pub field: Option<Field>,
    /// Its position in the query, in characters.
    pub at: Range,
}

/// A query as it was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The query.
    pub query: Query,
    /// What other systems would have understood otherwise.
    pub notes: Vec<Note>,
}

/// A word that is an operator of another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its position in the query, in characters.
    pub at: Range,
    /// As written.
    pub word: String,
    /// What to write if the operator was meant.
    pub hint: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at character {} is searched as a word; {}", self.word, self.at.start + 1, self.hint)
    }
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
    /// What to write there instead, in this language.
    pub instead: Option<String>,
}

impl QueryError {
    /// With what to write instead.
    #[must_use]
    pub fn instead(self, form: impl Into<String>) -> Self {
        Self { instead: Some(form.into()), ..self }
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the query cannot be read at character {}: found {}, expected {}",
            self.at + 1,
            self.found,
            self.expected
        )?;
        self.instead.as_ref().map_or(Ok(()), |form| write!(f, "; write `{form}`"))
    }
}

impl std::error::Error for QueryError {}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// [`QueryError`] with the first place that does not fit.
    pub fn parse(text: &str) -> Result<Self, QueryError> {
        Self::read(text).map(|reading| reading.query)
    }

    /// Reads a query, and says which words of it are operators elsewhere.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn read(text: &str) -> Result<Reading, QueryError> {
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

    /// The first word that stems do not answer, because it is truncated or stands behind `=`, with its leaf's place.
    pub fn as_written(&self) -> Option<(Word, Range)> {
        let is_written = |word: &Word| word.exact || word.pattern().wildcards().next().is_some();
        self.leaves().into_iter().find_map(|(leaf, _)| match leaf {
            Self::Term(term) => Some((term.word(), term.at)).filter(|(word, _)| is_written(word)),
            Self::Near(near) => {
                let word = near.groups.iter().flatten().find(|word| is_written(word))?;
                Some((word.clone(), near.at))
            }
            _ => None,
        })
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
                write!(f, "{}", term.word())
            }
            Self::Near(near) => {
                if let Some(field) = near.field {
                    write!(f, "{}:", field.name())?;
                }
                near.body(f)
            }
        }
    }
}

impl Near {
    /// The words of its groups as written.
    pub fn texts(&self) -> Vec<Vec<String>> {
        let texts = |group: &Vec<Word>| group.iter().map(|word| word.text.clone()).collect();
        self.groups.iter().map(texts).collect()
    }

    /// Without the field: in the short form where every alternative is a bare word.
    fn body(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joined = |words: &[Word], between: &str| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            if words.len() == 1 { words.concat() } else { format!("({})", words.join(between)) }
        };
        let is_short = !self.groups.iter().flatten().any(|word| word.quoted);
        let (between, operator) = match (is_short, self.ordered) {
            (true, _) => (" ", " ".to_owned()),
            (false, true) => (" OR ", format!(" ADJ/{} ", self.distance)),
            (false, false) => (" OR ", format!(" NEAR/{} ", self.distance)),
        };
        let groups: Vec<String> = self.groups.iter().map(|group| joined(group, between)).collect();
        let body = groups.join(&operator);
        if is_short {
            write!(f, "*{}{}\"{body}\"", if self.ordered { "ONP" } else { "N" }, self.distance)
        } else {
            write!(f, "({body})")
        }
    }
}

impl Range {
    /// Its length in characters.
    pub fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

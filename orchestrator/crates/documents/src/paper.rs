//! What is read from a file.

use lyra_domain::{ArxivId, Doi, Identifier};
use serde::{Deserialize, Serialize};

/// A text with its metadata, as far as the file states them. All of it is untrusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paper {
    /// Title.
    pub title: Option<String>,
    /// Names in the order of the by-line, given name first.
    pub authors: Vec<String>,
    /// Year of publication.
    pub year: Option<i32>,
    /// Day of publication (`2024-05-31`).
    pub date: Option<String>,
    /// Its identifiers, each kind at most once.
    pub ids: Vec<Identifier>,
    /// Journal, conference, or publisher of a book.
    pub venue: Option<String>,
    /// Abstract, one paragraph a line. It does not appear in the sections.
    pub abstract_text: Option<String>,
    /// Language tag (`en`, `pt-BR`), as the file states it.
    pub language: Option<String>,
    /// Keywords of the authors.
    pub keywords: Vec<String>,
    /// The text in reading order. Text before the first heading is a section without heading.
    pub sections: Vec<Section>,
    /// The reference list. It does not appear in the sections.
    pub references: Vec<Cited>,
    /// What is missing, in words: text cut by limits, files that it includes.
    pub left_out: Vec<String>,
}

impl Paper {
    /// DOI.
    pub fn doi(&self) -> Option<&Doi> {
        self.ids.iter().find_map(|id| if let Identifier::Doi(doi) = id { Some(doi) } else { None })
    }

    /// arXiv identifier.
    pub fn arxiv(&self) -> Option<&ArxivId> {
        self.ids.iter().find_map(|id| if let Identifier::Arxiv(id) = id { Some(id) } else { None })
    }
}

/// A heading and the text up to the next one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Heading, with its number if the file writes one.
    pub heading: Option<String>,
    /// Level of the heading, from 1; 0 without heading.
    pub depth: u8,
    /// Its text, in reading order; footnotes last.
    pub paragraphs: Vec<Paragraph>,
}

/// A paragraph without line breaks, except that rows of tables and lines of code stay apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paragraph {
    /// What it is.
    pub kind: Kind,
    /// Its text. Cells of a table are separated by ` | `, rows by line breaks.
    pub text: String,
    /// Page on which it begins, from 1, if the file knows pages.
    pub page: Option<u32>,
}

/// What a paragraph is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Running text, quotations, displayed formulas.
    Text,
    /// What stands at a figure or a table.
    Caption,
    /// A table.
    Table,
    /// A footnote, an endnote, or a note under a table.
    Footnote,
    /// An item of a list.
    ListItem,
    /// A listing.
    Code,
}

/// An entry of the reference list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cited {
    /// The entry as printed, or put together from its fields.
    pub text: String,
    /// Title of the cited work, if the file marks it.
    pub title: Option<String>,
    /// Its authors, if the file marks them.
    pub authors: Vec<String>,
    /// Its year.
    pub year: Option<i32>,
    /// Its identifiers, each kind at most once.
    pub ids: Vec<Identifier>,
}

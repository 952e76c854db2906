//! A piece of a page that can be ranked, judged and quoted.

use crate::{FragmentId, PageId, named_enum};
use serde::{Deserialize, Serialize};

/// A piece of a page. Offsets count Unicode scalar values in the page's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fragment {
    /// Derived from the page and the text.
    pub id: FragmentId,
    /// Page it was cut from.
    pub page_id: PageId,
    /// What it is.
    pub fragment_type: FragmentType,
    /// Order within the page, from 0.
    pub position: u32,
    /// The text.
    pub text_content: String,
    /// Headings above it, outermost first, joined with ` › `.
    pub heading_context: Option<String>,
    /// First character.
    pub char_start: u32,
    /// One past the last character.
    pub char_end: u32,
}

impl Fragment {
    /// The whole abstract of a page.
    pub fn of_abstract(page_id: &PageId, text: &str) -> Self {
        Self {
            id: FragmentId::derive(&[page_id.as_str(), text]),
            page_id: page_id.clone(),
            fragment_type: FragmentType::Abstract,
            position: 0,
            text_content: text.to_owned(),
            heading_context: None,
            char_start: 0,
            char_end: text.chars().count() as u32,
        }
    }
}

named_enum! {
    /// The kind of a fragment.
    pub enum FragmentType {
        /// The abstract of a work.
        Abstract = "abstract",
        /// A paragraph of running text.
        Paragraph = "paragraph",
        /// A heading.
        Heading = "heading",
        /// A list.
        List = "list",
        /// A table.
        Table = "table",
        /// A quotation.
        Quote = "quote",
    }
}

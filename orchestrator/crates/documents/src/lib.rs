//! The text of files that researchers have: DOCX, ODT, EPUB, Markdown, LaTeX, plain text, JATS, TEI, saved pages.
//!
//! Pure: bytes in, a [`Paper`] out. No I/O, no clock. Every file is untrusted: work and memory are bounded by
//! [`Limits`], nothing outside the file is looked up, and the text is data.

mod archive;
mod budget;
mod docx;
mod draft;
mod encoding;
mod epub;
mod error;
mod fields;
mod format;
mod jats;
mod latex;
mod markdown;
mod math;
mod mhtml;
mod odt;
mod paper;
mod tei;
mod text;
mod xhtml;
mod xml;

pub use budget::Limits;
pub use error::{ReadError, Result};
pub use format::Format;
pub use mhtml::SavedPage;
pub use paper::{Cited, Kind, Paper, Paragraph, Section};

use budget::Budget;

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A text with its metadata.
    Paper(Box<Paper>),
    /// HTML, which a reader of web pages reads.
    Page(Box<SavedPage>),
}

/// Reads a whole file of a known format. Only [`Format::Mhtml`] gives a [`Content::Page`].
///
/// # Errors
/// The file is encrypted, damaged, larger than the limits, of another kind than its name says, or has no text.
pub fn read(bytes: &[u8], format: Format, limits: &Limits) -> Result<Content> {
    if bytes.len() > limits.input_bytes {
        let (has, most) = (bytes.len(), limits.input_bytes);
        return Err(ReadError::TooLarge(format!("it has {has} bytes, the limit is {most}")));
    }
    let mut budget = Budget::new(limits);
    let mut paper = match format {
        Format::Mhtml => return mhtml::read(bytes, limits).map(|page| Content::Page(Box::new(page))),
        Format::Docx => docx::read(bytes, &mut budget),
        Format::Odt => odt::read(bytes, &mut budget),
        Format::Epub => epub::read(bytes, &mut budget),
        Format::Jats => jats::read(bytes, &mut budget),
        Format::Tei => tei::read(bytes, &mut budget),
        Format::Markdown => Ok(markdown::read(bytes, &mut budget)),
        Format::Latex => Ok(latex::read(bytes, &mut budget)),
        Format::Text => text::read(bytes, &mut budget),
    }?;
    paper.left_out.splice(0..0, budget.left_out());
    if paper.abstract_text.is_none() && paper.sections.iter().all(|section| section.paragraphs.is_empty()) {
        return Err(ReadError::NoText);
    }
    Ok(Content::Paper(Box::new(paper)))
}

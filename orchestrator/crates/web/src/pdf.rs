//! Text of PDF files: glyphs in the order they are drawn, put together to lines, paragraphs and headings.

mod glyphs;
mod layout;

use crate::dom::single_spaces;
use crate::extract::Extracted;
use glyphs::page_glyphs;
use hayro_interpret::InterpreterCache;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bounds of reading one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Pages that are read; later ones are left out.
    pub max_pages: usize,
    /// Characters that are kept; the page on which they are reached is the last.
    pub max_chars: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_pages: 80, max_chars: 400_000 }
    }
}

/// Why a PDF gave no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// It needs a password.
    #[error("the PDF is encrypted with a password")]
    Encrypted,
    /// Its encryption is unknown or broken.
    #[error("the PDF is encrypted in a way that cannot be read")]
    UnknownEncryption,
    /// It is no PDF, or damaged beyond repair.
    #[error("the PDF is damaged")]
    Damaged,
    /// Its pages hold no text: they are most likely scanned.
    #[error("the PDF has {pages} pages without any text; they are most likely scanned images")]
    Scanned {
        /// Pages looked at.
        pages: usize,
    },
    /// Its fonts say nothing of the characters that their glyphs stand for.
    #[error("the PDF draws glyphs without saying which characters they are")]
    NoCharacters,
}

/// Reads the text of a PDF, at most within `limits`, and until `stop` says so; what was read until then is kept.
///
/// # Errors
/// See [`PdfError`]. A file that makes the parser panic counts as damaged.
pub fn read(bytes: &[u8], limits: &Limits, stop: &dyn Fn() -> bool) -> Result<Extracted, PdfError> {
    catch_unwind(AssertUnwindSafe(|| read_unguarded(bytes, limits, stop))).unwrap_or(Err(PdfError::Damaged))
}

fn read_unguarded(bytes: &[u8], limits: &Limits, stop: &dyn Fn() -> bool) -> Result<Extracted, PdfError> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => PdfError::Encrypted,
        LoadPdfError::Decryption(_) => PdfError::UnknownEncryption,
        LoadPdfError::Invalid => PdfError::Damaged,
    })?;
    let cache = InterpreterCache::new();
    let (mut pages, mut chars, mut unnamed) = (Vec::new(), 0, 0);
    for page in pdf.pages().iter().take(limits.max_pages) {
        if stop() || chars >= limits.max_chars {
            break;
        }
        let drawn = page_glyphs(page, &cache, pdf.xref());
        unnamed += drawn.unnamed;
        let lines = layout::lines(&drawn.glyphs);
        chars += lines.iter().map(|line| line.text.chars().count()).sum::<usize>();
        pages.push(lines);
    }
    if chars == 0 {
        return Err(if unnamed > 0 {
            PdfError::NoCharacters
        } else {
            PdfError::Scanned { pages: pages.len() }
        });
    }
    let builder = layout::blocks(pages);
    let metadata = pdf.metadata();
    let said = |bytes: &Option<Box<[u8]>>| bytes.as_deref().map(pdf_string).filter(|text| !text.is_empty());
    let title = said(&metadata.title).filter(|title| is_title(title));
    let title = title.unwrap_or_else(|| layout::first_heading(&builder));
    Ok(Extracted {
        title,
        authors: crate::extract::names(said(&metadata.author).as_deref()),
        language: lyra_text::language(&builder.text).map(str::to_owned),
        text: builder.text,
        blocks: builder.blocks,
        ..Extracted::default()
    })
}

/// Titles that programs put in are names of files.
fn is_title(title: &str) -> bool {
    let lower = title.to_lowercase();
    let file = [".doc", ".docx", ".tex", ".dvi", ".pdf", ".indd", ".qxd", ".rtf"]
        .iter()
        .any(|end| lower.ends_with(end));
    !file && !lower.starts_with("microsoft word") && lower != "untitled" && title.chars().count() >= 5
}

/// A text string of PDF: UTF-16 with its mark, UTF-8 with its mark, else close to Latin-1.
fn pdf_string(bytes: &[u8]) -> String {
    let text = match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding.decode(bytes).0.into_owned(),
        None => bytes.iter().map(|byte| char::from(*byte)).collect(),
    };
    single_spaces(&text)
}

#[cfg(test)]
mod tests;

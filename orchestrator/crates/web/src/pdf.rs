//! Text of PDF files: glyphs as lines, put in the order of reading, as paragraphs, headings, and captions.

pub mod caption;
mod front;
mod glyphs;
mod layout;
mod lines;
mod margins;
mod marks;
mod order;
pub mod section;
mod unpacked;
mod xmp;

use crate::dom::single_spaces;
use crate::extract::{Builder, Extracted};
use glyphs::{Ended, page_glyphs};
use hayro_interpret::InterpreterCache;
use hayro_interpret::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use std::panic::{AssertUnwindSafe, catch_unwind};
use unpacked::TooMuch;

/// Limits for reading one file. They do not depend on the speed of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most pages to read; later ones are omitted.
    pub max_pages: usize,
    /// Most characters to keep; the page that reaches the limit is the last.
    pub max_chars: usize,
    /// Most bytes of all decompressed streams, without images.
    pub max_unpacked: usize,
    /// Most drawn glyphs, clips, paths and images; the page that reaches the limit is the last.
    pub max_drawn: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_pages: 80, max_chars: 400_000, max_unpacked: 64 << 20, max_drawn: 4_000_000 }
    }
}

/// Why a PDF gave no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// It needs a password.
    #[error("the PDF is encrypted with a password")]
    Encrypted,
    /// Its encryption is unknown or broken.
    #[error("the PDF uses an unsupported encryption")]
    UnknownEncryption,
    /// It is not a PDF, or damaged beyond repair.
    #[error("the PDF is damaged")]
    Damaged,
    /// It unpacks to more than is read.
    #[error("the PDF unpacks to more than {} MB", limit >> 20)]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// It was not read completely in time.
    #[error("reading it took too long")]
    Stopped,
    /// Its pages hold no text: they are most likely scanned.
    #[error("the PDF has no text; its pages are most likely scanned images ({pages} read)")]
    Scanned {
        /// Pages looked at.
        pages: usize,
    },
    /// Its fonts do not map glyphs to characters.
    #[error("the PDF draws glyphs without mapping them to characters")]
    NoCharacters,
}

/// Reads the text of a PDF within `limits`; `left_out` describes what they exclude. Stops early on `stop`.
///
/// # Errors
/// See [`PdfError`]. A file that makes the parser panic counts as damaged.
pub fn read(bytes: &[u8], limits: &Limits, stop: &dyn Fn() -> bool) -> Result<Extracted, PdfError> {
    catch_unwind(AssertUnwindSafe(|| read_unguarded(bytes, limits, stop))).unwrap_or(Err(PdfError::Damaged))
}

fn read_unguarded(bytes: &[u8], limits: &Limits, stop: &dyn Fn() -> bool) -> Result<Extracted, PdfError> {
    let too_large = |TooMuch| PdfError::TooLarge { limit: limits.max_unpacked };
    let file = unpacked::without_images(bytes.to_vec(), limits.max_unpacked).map_err(too_large)?;
    let pdf = Pdf::new(file).map_err(|error| match error {
        LoadPdfError::Decryption(DecryptionError::PasswordProtected) => PdfError::Encrypted,
        LoadPdfError::Decryption(_) => PdfError::UnknownEncryption,
        LoadPdfError::Invalid => PdfError::Damaged,
    })?;
    if unpacked::is_encrypted(bytes) {
        unpacked::count_decrypted(&pdf, bytes, limits.max_unpacked).map_err(too_large)?;
    }
    let cache = InterpreterCache::new();
    let (mut pages, mut chars, mut unnamed, mut drawn, mut without_text) = (Vec::new(), 0, 0, 0, 0);
    let (mut vertical, mut marks) = (None, marks::Marks::default());
    let mut end = None;
    for page in pdf.pages().iter() {
        if stop() {
            return Err(PdfError::Stopped);
        }
        end = match () {
            () if pages.len() >= limits.max_pages => Some(format!("{} pages", limits.max_pages)),
            () if chars >= limits.max_chars => Some(format!("{} characters", limits.max_chars)),
            () if drawn >= limits.max_drawn => Some(format!("{} drawn elements", limits.max_drawn)),
            () => None,
        };
        if end.is_some() {
            break;
        }
        let (found, ended) = page_glyphs(page, &cache, pdf.xref(), limits.max_drawn - drawn, stop);
        if ended == Ended::Stopped {
            return Err(PdfError::Stopped);
        }
        drawn += found.elements;
        unnamed += found.unnamed;
        vertical.get_or_insert(found.vertical);
        marks.read(page, pages.len() + 1, &found.glyphs);
        let lines = lines::lines(&found.glyphs);
        // An empty page draws nothing either.
        without_text += usize::from(lines.is_empty() && found.elements > 0);
        chars += lines.iter().map(|line| line.text.chars().count()).sum::<usize>();
        pages.push(lines);
        if ended == Ended::Full {
            end = Some(format!("{} drawn elements", limits.max_drawn));
            break;
        }
    }
    let (read, all) = (pages.len(), pdf.pages().len());
    let cut = end.map(|limit| format!("read up to page {read} of {all}: the limit is {limit}"));
    let scanned = (without_text > 0).then(|| {
        let are = if without_text == 1 { "pages has no text; it is" } else { "pages have no text; they are" };
        format!("{without_text} of {read} {are} most likely scanned or a figure")
    });
    if chars == 0 {
        return Err(if unnamed > 0 {
            PdfError::NoCharacters
        } else {
            PdfError::Scanned { pages: pages.len() }
        });
    }
    let pieces = layout::pieces(pages);
    let left_out = cut.into_iter().chain(scanned).reduce(|all, more| format!("{all}; {more}"));
    let front = front::read(&pieces, vertical.as_deref().unwrap_or_default());
    let metadata = pdf.metadata();
    let said = |bytes: &Option<Box<[u8]>>| bytes.as_deref().map(pdf_string).filter(|text| !text.is_empty());
    let title = said(&metadata.title).filter(|title| is_title(title));
    let authors = crate::extract::names(said(&metadata.author).as_deref());
    // Programs put the account of who made the file.
    let named = authors.iter().any(|name| name.contains(char::is_whitespace) || !name.is_ascii());
    let (mut builder, mut pages) = (Builder::default(), Vec::new());
    for piece in &pieces {
        if builder.push(piece.kind, &piece.text).is_some() {
            pages.push(piece.page);
        }
    }
    Ok(Extracted {
        title: title.unwrap_or(front.title),
        authors: if named || front.authors.is_empty() { authors } else { front.authors },
        doi: xmp::doi(&pdf).or(front.doi),
        arxiv: front.arxiv,
        published: front.published,
        abstract_text: front.abstract_text,
        language: lyra_text::language(&builder.text).map(str::to_owned),
        text: builder.text,
        blocks: builder.blocks,
        pages,
        marks: marks.found,
        left_out,
        ..Extracted::default()
    })
}

/// Titles set by programs are often file names.
fn is_title(title: &str) -> bool {
    let lower = title.to_lowercase();
    let file = [".doc", ".docx", ".tex", ".dvi", ".pdf", ".indd", ".qxd", ".rtf"]
        .iter()
        .any(|end| lower.ends_with(end));
    let one_word = !title.contains(char::is_whitespace) && title.is_ascii();
    !file
        && !one_word
        && !lower.starts_with("microsoft word")
        && lower != "untitled"
        && title.chars().count() >= 5
}

/// A text string of PDF on one line.
fn pdf_string(bytes: &[u8]) -> String {
    single_spaces(&pdf_text(bytes))
}

/// A text string of PDF: UTF-16 with its mark, UTF-8 with its mark, else close to Latin-1.
fn pdf_text(bytes: &[u8]) -> String {
    match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding.decode(bytes).0.into_owned(),
        None => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

#[cfg(test)]
mod tests;

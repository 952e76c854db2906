//! What readers marked in a PDF: highlights with the text under them, notes, and comments.

use super::glyphs::PlacedGlyph;
use super::{lines, pdf_text};
use crate::extract::Mark;
use hayro_interpret::hayro_syntax::object::{Array, Dict, Name, String as PdfString};
use hayro_interpret::hayro_syntax::page::Page;

/// Most marks of a file.
const MAX_MARKS: usize = 10_000;
/// Annotations of a file that are looked at: links and fields of forms are annotations too.
const MAX_ANNOTATIONS: usize = 200_000;
/// Rectangles of one mark: a line each.
const MAX_LINES: usize = 200;
/// Comparisons of a glyph with a rectangle, over all marks of a file; later marks have comments only.
const MAX_COMPARED: usize = 40_000_000;
/// Characters of a comment.
const MAX_COMMENT: usize = 20_000;

/// The marks of a file, page by page.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) found: Vec<Mark>,
    looked_at: usize,
    compared: usize,
}

impl Marks {
    /// Reads the marks of a page. Pages count from 1.
    pub(super) fn read(&mut self, page: &Page<'_>, number: usize, glyphs: &[PlacedGlyph]) {
        let Some(annotations) = page.raw().get::<Array<'_>>(b"Annots") else { return };
        for annotation in annotations.iter::<Dict<'_>>() {
            self.looked_at += 1;
            if self.looked_at > MAX_ANNOTATIONS || self.found.len() >= MAX_MARKS {
                return;
            }
            let Some(kind) = annotation.get::<Name<'_>>(b"Subtype") else { continue };
            let is_marked = match &*kind {
                b"Highlight" | b"Underline" | b"Squiggly" | b"StrikeOut" => true,
                b"Text" | b"FreeText" => false,
                _ => continue,
            };
            let comment = annotation.get::<PdfString<'_>>(b"Contents");
            let comment =
                comment.map(|comment| paragraphs(&pdf_text(comment.as_bytes()))).unwrap_or_default();
            let text = if is_marked { self.text_under(&annotation, glyphs) } else { String::new() };
            // Programs put the marked text into the comment.
            let comment = if squeezed(&comment) == squeezed(&text) { String::new() } else { comment };
            if !text.is_empty() || !comment.is_empty() {
                let page = u32::try_from(number).unwrap_or(u32::MAX);
                self.found.push(Mark { page, text, comment, color: color(&annotation) });
            }
        }
    }

    /// The text under the rectangles of a mark.
    fn text_under(&mut self, annotation: &Dict<'_>, glyphs: &[PlacedGlyph]) -> String {
        let corners: Vec<f32> = match annotation.get::<Array<'_>>(b"QuadPoints") {
            Some(corners) => corners.iter::<f32>().take(8 * MAX_LINES).collect(),
            None => Vec::new(),
        };
        let mut parts = Vec::new();
        for corners in corners.chunks_exact(8) {
            self.compared = self.compared.saturating_add(glyphs.len());
            if self.compared > MAX_COMPARED {
                break;
            }
            let under: Vec<PlacedGlyph> =
                glyphs.iter().filter(|glyph| is_under(corners, glyph)).cloned().collect();
            parts.extend(lines::lines(&under).into_iter().map(|line| line.text));
        }
        parts.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Whether the middle of a glyph is in the rectangle around four corners.
fn is_under(corners: &[f32], glyph: &PlacedGlyph) -> bool {
    let within = |first: usize, value: f64| {
        let values = || corners.iter().skip(first).step_by(2).map(|value| f64::from(*value));
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        low <= value && value <= high
    };
    within(0, f64::midpoint(glyph.x, glyph.end)) && within(1, glyph.y + glyph.size * 0.3)
}

/// A color of one, three, or four parts.
fn color(annotation: &Dict<'_>) -> Option<String> {
    let parts: Vec<f32> = annotation.get::<Array<'_>>(b"C")?.iter::<f32>().take(5).collect();
    let byte = |part: f32| (part.clamp(0.0, 1.0) * 255.0).round() as u8;
    let [red, green, blue] = match *parts.as_slice() {
        [gray] => [gray; 3],
        [red, green, blue] => [red, green, blue],
        [cyan, magenta, yellow, black] => [cyan, magenta, yellow].map(|part| (1.0 - part) * (1.0 - black)),
        _ => return None,
    };
    Some(format!("#{:02x}{:02x}{:02x}", byte(red), byte(green), byte(blue)))
}

/// One paragraph a line.
fn paragraphs(text: &str) -> String {
    let cut = &text[..text.char_indices().nth(MAX_COMMENT).map_or(text.len(), |(at, _)| at)];
    let lines = cut.split(['\n', '\r']).map(crate::dom::single_spaces);
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

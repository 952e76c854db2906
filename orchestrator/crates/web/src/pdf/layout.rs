//! Lines as paragraphs, headings, and captions.

use super::caption;
use super::lines::Line;
use super::section;
use super::{margins, order};
use crate::extract::BlockKind;
use std::collections::HashMap;

/// A heading is at least so much larger than the body.
const HEADING_SIZE: f64 = 1.12;
/// The heading of an appendix, which its words tell too, is at least so much larger than the body.
const APPENDIX_SIZE: f64 = 1.05;
/// Lines further apart than this, in sizes of their font, are of two paragraphs.
const PARAGRAPH_GAP: f64 = 1.75;
/// Characters of a heading.
const MAX_HEADING: usize = 200;

/// Characters of a paragraph that goes on behind a column or page break, at least.
const BROKEN_OFF: usize = 60;
/// Captions, cells, and labels between the two parts of a paragraph, at most.
const BETWEEN: usize = 40;

/// A paragraph, a heading, or a caption.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) kind: BlockKind,
    pub(super) text: String,
    /// Size of its font.
    pub(super) size: f64,
    /// The page that it begins on, from 1.
    pub(super) page: u32,
    /// Its lines, on the first page.
    pub(super) lines: Vec<Line>,
}

/// Paragraphs, headings, and captions of all pages, in order.
pub(super) fn pieces(mut pages: Vec<Vec<Line>>) -> Vec<Piece> {
    margins::clear(&mut pages);
    let pages: Vec<Vec<Line>> = pages.into_iter().map(order::in_order).collect();
    let body = body_size(&pages);
    let largest = pages.iter().flatten().map(|line| line.size).fold(body, f64::max);
    let mut paragraphs: Vec<Paragraph> = Vec::new();
    for (page, number) in pages.iter().zip(1_u32..) {
        for (i, line) in page.iter().enumerate() {
            match paragraphs.last_mut() {
                Some(open) if i > 0 && open.goes_on(&page[i - 1], line) => open.add(line),
                _ => paragraphs.push(Paragraph::of(line, number)),
            }
        }
    }
    let piece = |paragraph: Paragraph| {
        let large = paragraph.size > body * HEADING_SIZE && paragraph.text.chars().count() <= MAX_HEADING;
        let appendix = paragraph.size > body * APPENDIX_SIZE && section::is_appendix(&paragraph.text);
        let level = if large && paragraph.size > largest * 0.95 { 1 } else { 2 };
        let kind = match () {
            () if paragraph.caption => BlockKind::Caption,
            () if large || appendix || section::is_heading(&paragraph.text) => BlockKind::Heading { level },
            () => BlockKind::Paragraph,
        };
        let Paragraph { text, size, page, lines, .. } = paragraph;
        Piece { kind, text, size, page, lines }
    };
    joined(paragraphs).into_iter().map(piece).collect()
}

struct Paragraph {
    text: String,
    page: u32,
    /// It is a heading by its words, so that no line is added to it.
    heading: bool,
    caption: bool,
    /// The paragraph before it went on behind it.
    passed: bool,
    size: f64,
    left: f64,
    right: f64,
    /// On the first page.
    lines: Vec<Line>,
}

impl Paragraph {
    fn of(line: &Line, page: u32) -> Self {
        let caption = caption::start(&line.text).is_some();
        Self {
            text: line.text.clone(),
            page,
            heading: !caption && section::is_heading(&line.text),
            caption,
            passed: false,
            size: line.size,
            left: line.x,
            right: line.end,
            lines: if page == 1 { vec![line.clone()] } else { Vec::new() },
        }
    }

    fn goes_on(&self, last: &Line, line: &Line) -> bool {
        let down = last.y - line.y;
        let is_near = (0.0..=line.size * PARAGRAPH_GAP).contains(&down);
        if self.caption && is_near && caption::start(&self.text).is_some_and(|start| start.words.is_empty()) {
            // `TABLE II` stands above its words.
            return true;
        }
        if self.heading || section::is_heading(&line.text) {
            return false;
        }
        let same_size = (line.size - self.size).abs() <= self.size * 0.08;
        if !same_size || !is_near {
            return false;
        }
        if caption::start(&line.text).is_some() && !self.is_amid(last) {
            return false;
        }
        if down < line.size * 0.5 {
            return true;
        }
        // A sentence that ends well before the right edge ends the paragraph, and so does an indented line after one.
        let ended = ends_sentence(&last.text);
        let short = last.end < self.right - line.size * 4.0;
        let indented = line.x > self.left + line.size * 0.8 && line.x < self.left + line.size * 4.0;
        !(ended && (short || indented))
    }

    /// Whether a line of running text ends amid a sentence, so that `Figure 2` under it is no caption.
    fn is_amid(&self, last: &Line) -> bool {
        let full = last.end > self.right - last.size * 4.0;
        full && is_prose(&last.text) && !ends_sentence(&last.text)
    }

    fn add(&mut self, line: &Line) {
        append(&mut self.text, &line.text);
        self.left = self.left.min(line.x);
        self.right = self.right.max(line.end);
        if self.page == 1 {
            self.lines.push(line.clone());
        }
    }

    /// Whether it may stand between the two parts of a paragraph: a caption, cells of a table, labels of a figure.
    fn is_between(&self, part: &Self) -> bool {
        self.caption || !is_prose(&self.text) || (self.size - part.size).abs() > part.size * 0.03
    }
}

/// Whether a text has the length of a line at least, most of it letters.
fn is_prose(text: &str) -> bool {
    let (mut letters, mut all) = (0_usize, 0_usize);
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        all += if is_wide(c) { 3 } else { 1 };
        letters += match () {
            () if is_wide(c) => 3,
            () => usize::from(c.is_alphabetic()),
        };
    }
    all >= 30 && letters * 10 >= all * 6
}

/// Joins paragraphs that a column or page break split, also around figures and tables.
fn joined(paragraphs: Vec<Paragraph>) -> Vec<Paragraph> {
    let mut out: Vec<Paragraph> = Vec::new();
    for paragraph in paragraphs {
        match broken_off(&out, &paragraph) {
            Some(at) => {
                append(&mut out[at].text, &paragraph.text);
                for between in &mut out[at + 1..] {
                    between.passed = true;
                }
            }
            None => out.push(paragraph),
        }
    }
    out
}

/// The paragraph of which a paragraph is the rest: the last one, or the one above the figures and tables between.
fn broken_off(before: &[Paragraph], part: &Paragraph) -> Option<usize> {
    let is_rest = !part.caption && part.text.chars().next().is_some_and(char::is_lowercase);
    if !is_rest {
        return None;
    }
    let is_unfinished = |open: &Paragraph| {
        !open.heading
            && !open.caption
            && (open.size - part.size).abs() <= open.size * 0.03
            && !ends_sentence(&open.text)
            && open.text.chars().count() > BROKEN_OFF
    };
    let last = before.len().checked_sub(1)?;
    if is_unfinished(&before[last]) {
        return Some(last);
    }
    let above = before.iter().rev().take(BETWEEN).position(|open| open.heading || !open.is_between(part))?;
    let at = last - above;
    let has_caption = before[at..].iter().any(|between| between.caption && !between.passed);
    let is_text = is_prose(&part.text) || ends_sentence(&part.text);
    (has_caption && is_text && is_unfinished(&before[at])).then_some(at)
}

/// Joins two lines: a word that was divided becomes whole, Japanese gets no space.
fn append(text: &mut String, next: &str) {
    let first = next.chars().next();
    let mut back = text.chars().rev();
    let (last, before) = (back.next(), back.next());
    let divided = matches!(last, Some('-' | '\u{AD}' | '\u{2010}'))
        && before.is_some_and(char::is_lowercase)
        && first.is_some_and(char::is_lowercase);
    if divided {
        text.pop();
    } else if !last.is_some_and(is_wide) || !first.is_some_and(is_wide) {
        text.push(' ');
    }
    text.push_str(next);
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{FF00}'..='\u{FFEF}')
}

fn ends_sentence(text: &str) -> bool {
    text.ends_with(['.', '!', '?', ':', '。', '！', '？', ')', '”'])
}

/// The size that most characters have.
fn body_size(pages: &[Vec<Line>]) -> f64 {
    let mut sizes: HashMap<i64, usize> = HashMap::new();
    for line in pages.iter().flatten() {
        *sizes.entry((line.size * 4.0).round() as i64).or_default() += line.text.chars().count();
    }
    let most = sizes.into_iter().max_by_key(|(size, chars)| (*chars, -size));
    most.map_or(10.0, |(size, _)| size as f64 / 4.0)
}

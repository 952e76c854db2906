//! Glyphs as lines, lines as paragraphs and headings.
//!
//! Pages are read in the order in which they are drawn, which for typeset articles is the order of reading, columns
//! included; sorting by place would mix the columns.

use super::glyphs::PlacedGlyph;
use super::section;
use crate::extract::BlockKind;
use std::collections::HashMap;

/// A heading is at least so much larger than the body.
const HEADING_SIZE: f64 = 1.12;
/// Lines further apart than this, in sizes of their font, are of two paragraphs.
const PARAGRAPH_GAP: f64 = 1.75;
/// Characters of a heading.
const MAX_HEADING: usize = 200;
/// A line at the edge of this many pages is a running header or footer.
const RUNNING_PAGES: usize = 3;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    x: f64,
    end: f64,
    y: f64,
    size: f64,
}

/// Puts glyphs that follow one another on a baseline together; gaps become spaces.
pub(super) fn lines(glyphs: &[PlacedGlyph]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for glyph in glyphs {
        let size = glyph.size.max(0.1);
        match lines.last_mut() {
            Some(line) if follows(line, glyph) => {
                let gap = glyph.x - line.end;
                if gap > size.min(line.size) * 0.17
                    && !line.text.ends_with(' ')
                    && !glyph.text.starts_with(' ')
                {
                    line.text.push(' ');
                }
                line.text.push_str(&glyph.text);
                line.end = glyph.end.max(line.end);
                // The largest glyph determines the size of a line: superscripts are smaller.
                if size > line.size {
                    line.size = size;
                    line.y = glyph.y;
                }
            }
            _ => lines.push(Line { text: glyph.text.clone(), x: glyph.x, end: glyph.end, y: glyph.y, size }),
        }
    }
    for line in &mut lines {
        // With soft hyphens, which are drawn where a line ends.
        line.text = written_out(&line.text).split_whitespace().collect::<Vec<_>>().join(" ");
    }
    lines.retain(|line| !line.text.is_empty());
    lines
}

/// Ligatures as letters, and accents that were drawn before their letter as part of it (`Lemaˆıtre`).
fn written_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut accent = None;
    for c in text.chars() {
        let letters = match c {
            '\u{FB00}' => "ff",
            '\u{FB01}' => "fi",
            '\u{FB02}' => "fl",
            '\u{FB03}' => "ffi",
            '\u{FB04}' => "ffl",
            '\u{FB05}' | '\u{FB06}' => "st",
            _ => "",
        };
        out.push_str(letters);
        if !letters.is_empty() {
            continue;
        }
        if let Some((drawn, mark)) = accent.take() {
            if c.is_alphabetic() {
                let letter = match c {
                    'ı' => 'i',
                    'ȷ' => 'j',
                    letter => letter,
                };
                out.push_str(&lyra_text::normalise(&format!("{letter}{mark}")));
                continue;
            }
            out.push(drawn);
        }
        match combining(c) {
            Some(mark) => accent = Some((c, mark)),
            None => out.push(c),
        }
    }
    out.extend(accent.map(|(drawn, _)| drawn));
    out
}

/// The combining form of an accent.
fn combining(accent: char) -> Option<char> {
    Some(match accent {
        '´' => '\u{301}',
        'ˆ' => '\u{302}',
        '˜' => '\u{303}',
        '¯' => '\u{304}',
        '˘' => '\u{306}',
        '˙' => '\u{307}',
        '¨' => '\u{308}',
        '˚' => '\u{30A}',
        'ˇ' => '\u{30C}',
        '¸' => '\u{327}',
        _ => return None,
    })
}

fn follows(line: &Line, glyph: &PlacedGlyph) -> bool {
    let size = line.size.max(glyph.size);
    let level = (glyph.y - line.y).abs() < size * 0.5;
    // Kerning steps back a little, a new column or cell far ahead.
    level && glyph.x > line.end - size && glyph.x < line.end + size * 3.0
}

/// A paragraph or a heading.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub(super) kind: BlockKind,
    pub(super) text: String,
    /// Size of its font.
    pub(super) size: f64,
    /// The page that it begins on, from 1.
    pub(super) page: u32,
}

/// Paragraphs and headings of all pages, in order.
pub(super) fn pieces(mut pages: Vec<Vec<Line>>) -> Vec<Piece> {
    drop_running_lines(&mut pages);
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
        let level = if large && paragraph.size > largest * 0.95 { 1 } else { 2 };
        let heading = large || section::is_heading(&paragraph.text);
        let kind = if heading { BlockKind::Heading { level } } else { BlockKind::Paragraph };
        Piece { kind, text: paragraph.text, size: paragraph.size, page: paragraph.page }
    };
    joined(paragraphs).into_iter().map(piece).collect()
}

struct Paragraph {
    text: String,
    page: u32,
    /// It is a heading by its words, so that no line is added to it.
    heading: bool,
    size: f64,
    left: f64,
    right: f64,
}

impl Paragraph {
    fn of(line: &Line, page: u32) -> Self {
        let heading = section::is_heading(&line.text);
        Self { text: line.text.clone(), page, heading, size: line.size, left: line.x, right: line.end }
    }

    fn goes_on(&self, last: &Line, line: &Line) -> bool {
        if self.heading || section::is_heading(&line.text) {
            return false;
        }
        let down = last.y - line.y;
        let same_size = (line.size - self.size).abs() <= self.size * 0.08;
        if !same_size || down < 0.0 || down > line.size * PARAGRAPH_GAP {
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

    fn add(&mut self, line: &Line) {
        append(&mut self.text, &line.text);
        self.left = self.left.min(line.x);
        self.right = self.right.max(line.end);
    }
}

/// Joins paragraphs that a column or page break split.
fn joined(paragraphs: Vec<Paragraph>) -> Vec<Paragraph> {
    let mut out: Vec<Paragraph> = Vec::new();
    for paragraph in paragraphs {
        let goes_on = paragraph.text.chars().next().is_some_and(char::is_lowercase);
        match out.last_mut() {
            Some(open)
                if goes_on
                    && !open.heading
                    && !ends_sentence(&open.text)
                    && (open.size - paragraph.size).abs() <= open.size * 0.03
                    && open.text.chars().count() > 60 =>
            {
                append(&mut open.text, &paragraph.text);
            }
            _ => out.push(paragraph),
        }
    }
    out
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

/// Drops page numbers, and lines at the top and bottom that repeat on several pages except for digits.
fn drop_running_lines(pages: &mut [Vec<Line>]) {
    let key = |line: &Line| line.text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let edges = |page: &[Line]| -> Vec<usize> {
        let mut order: Vec<usize> = (0..page.len()).collect();
        order.sort_by(|&a, &b| page[a].y.total_cmp(&page[b].y));
        order.iter().take(2).chain(order.iter().rev().take(2)).copied().collect()
    };
    let mut counts: HashMap<String, usize> = HashMap::new();
    for page in pages.iter() {
        let mut keys: Vec<String> = edges(page).into_iter().map(|i| key(&page[i])).collect();
        keys.sort_unstable();
        keys.dedup();
        for key in keys {
            *counts.entry(key).or_default() += 1;
        }
    }
    for page in pages.iter_mut() {
        let edges = edges(page);
        let mut i = 0;
        page.retain(|line| {
            let at_edge = edges.contains(&i);
            i += 1;
            let number = line.text.chars().all(|c| c.is_ascii_digit());
            let running = counts.get(&key(line)).is_some_and(|count| *count >= RUNNING_PAGES);
            !(at_edge && (number || running))
        });
    }
}

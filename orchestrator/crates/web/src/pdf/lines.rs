//! Glyphs as lines, with the gaps in them.

use super::glyphs::PlacedGlyph;

/// Space between two glyphs that separates words, in sizes of their font.
const WORD_GAP: f64 = 0.17;
/// Space that may separate columns, cells, or a line from its number. Words of justified text are closer mostly.
const WIDE_GAP: f64 = 0.75;
/// Space that ends a line: a new column or cell.
const LINE_GAP: f64 = 3.0;
/// A raised letter is at most so large, and at least so high above the baseline, in sizes of its line.
const RAISED_SIZE: f64 = 0.85;
const RAISED: f64 = 0.15;
/// Stands before a raised letter in a draft of a line; no character.
const RAISING: char = '\u{FDD0}';

/// One line. Lengths are in points, y grows upwards.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    /// Left end.
    pub(super) x: f64,
    /// Right end.
    pub(super) end: f64,
    /// Baseline.
    pub(super) y: f64,
    /// Size of its largest glyph.
    pub(super) size: f64,
    /// Wide gaps in it, from left to right.
    gaps: Vec<Gap>,
    /// Bytes of the text that raised letters begin at, in order.
    raised: Vec<usize>,
}

/// A wide gap in a line.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Gap {
    /// Byte of the text that the part after it begins at.
    at: usize,
    /// Where the part before it ends, and the part after it begins.
    left: f64,
    right: f64,
}

impl Line {
    /// The parts between wide gaps, from left to right.
    pub(super) fn parts(&self) -> Vec<Self> {
        let mut parts = Vec::with_capacity(self.gaps.len() + 1);
        let (mut from, mut x) = (0, self.x);
        for gap in &self.gaps {
            parts.push(self.part(from, gap.at, x, gap.left));
            (from, x) = (gap.at, gap.right);
        }
        parts.push(self.part(from, self.text.len(), x, self.end));
        parts
    }

    fn part(&self, from: usize, to: usize, x: f64, end: f64) -> Self {
        let text = self.text.get(from..to).unwrap_or_default().trim_end().to_owned();
        let [first, last] = [from, to].map(|end| self.raised.partition_point(|at| *at < end));
        let raised = self.raised[first..last].iter().map(|at| at - from).collect();
        Self { text, x, end, y: self.y, size: self.size, gaps: Vec::new(), raised }
    }

    /// The text with commas for raised letters, which mark affiliations of authors. One before other letters is part
    /// of their word.
    pub(super) fn without_raised(&self) -> String {
        let is_raised = |at: usize| self.raised.binary_search(&at).is_ok();
        let mut text = String::with_capacity(self.text.len());
        let mut letters = self.text.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let goes_on = letters.peek().is_some_and(|(next, c)| c.is_alphabetic() && !is_raised(*next));
            text.push(if is_raised(at) && !goes_on { ',' } else { letter });
        }
        text
    }

    /// Whether a part to the right belongs to the same line.
    pub(super) fn is_followed_by(&self, part: &Self) -> bool {
        let size = self.size.max(part.size);
        (part.y - self.y).abs() < size * 0.5
            && part.x > self.end - size
            && part.x < self.end + size * LINE_GAP
    }

    /// Adds a part to the right, behind a gap.
    pub(super) fn add(&mut self, part: &Self) {
        self.text.push(' ');
        let begin = self.text.len();
        self.gaps.push(Gap { at: begin, left: self.end, right: part.x });
        self.gaps.extend(part.gaps.iter().map(|gap| Gap { at: gap.at + begin, ..*gap }));
        self.raised.extend(part.raised.iter().map(|at| at + begin));
        self.text.push_str(&part.text);
        self.end = self.end.max(part.end);
        if part.size > self.size {
            (self.size, self.y) = (part.size, part.y);
        }
    }
}

/// Puts glyphs that follow one another on a baseline together; gaps become spaces.
pub(super) fn lines(glyphs: &[PlacedGlyph]) -> Vec<Line> {
    let mut drafts: Vec<Draft> = Vec::new();
    for glyph in glyphs {
        let size = glyph.size.max(0.1);
        match drafts.last_mut() {
            Some(draft) if draft.is_followed_by(glyph) => draft.add(glyph, size),
            _ => drafts.push(Draft::of(glyph, size)),
        }
    }
    drafts.into_iter().filter_map(Draft::line).collect()
}

/// A line as its glyphs come.
struct Draft {
    parts: Vec<Part>,
    /// Where the next glyph would start, also after a space.
    end: f64,
    y: f64,
    size: f64,
}

struct Part {
    text: String,
    x: f64,
    /// Where its last glyph ends that is no space.
    end: f64,
}

impl Draft {
    fn of(glyph: &PlacedGlyph, size: f64) -> Self {
        let part = Part { text: glyph.text.clone(), x: glyph.x, end: glyph.end };
        Self { parts: vec![part], end: glyph.end, y: glyph.y, size }
    }

    fn is_followed_by(&self, glyph: &PlacedGlyph) -> bool {
        let size = self.size.max(glyph.size);
        let level = (glyph.y - self.y).abs() < size * 0.5;
        // Kerning steps back a little, a new column or cell far ahead.
        level && glyph.x > self.end - size && glyph.x < self.end + size * LINE_GAP
    }

    /// Whether a glyph is a letter, raised and small beside the line so far.
    fn raises(&self, glyph: &PlacedGlyph) -> bool {
        glyph.size < self.size * RAISED_SIZE
            && glyph.y - self.y > self.size * RAISED
            && matches!(glyph.text.as_bytes(), [letter] if letter.is_ascii_alphabetic())
    }

    fn add(&mut self, glyph: &PlacedGlyph, size: f64) {
        let smaller = size.min(self.size);
        let gap = glyph.x - self.end;
        let is_space = glyph.text.trim().is_empty();
        let is_raised = self.raises(glyph);
        let Some(part) = self.parts.last_mut() else { return };
        let is_blank = part.text.trim().is_empty();
        if !is_space && !is_blank && glyph.x - part.end > smaller * WIDE_GAP {
            self.parts.push(Part { text: glyph.text.clone(), x: glyph.x, end: glyph.end });
        } else {
            if gap > smaller * WORD_GAP && !part.text.ends_with(' ') && !glyph.text.starts_with(' ') {
                part.text.push(' ');
            }
            if is_blank && !is_space {
                part.x = glyph.x;
            }
            if is_raised {
                part.text.push(RAISING);
            }
            part.text.push_str(&glyph.text);
            if !is_space {
                part.end = glyph.end.max(part.end);
            }
        }
        self.end = glyph.end.max(self.end);
        // The largest glyph determines the size of a line: superscripts are smaller.
        if size > self.size {
            self.size = size;
            self.y = glyph.y;
        }
    }

    /// The line, without soft hyphens, which are drawn where a line ends; `None` when it has no text.
    fn line(self) -> Option<Line> {
        let mut line: Option<Line> = None;
        for part in self.parts {
            let text = written_out(&part.text).split_whitespace().collect::<Vec<_>>().join(" ");
            let (text, raised) = without_marks(&text);
            if text.is_empty() {
                continue;
            }
            let (x, end) = (part.x, part.end);
            let part = Line { text, x, end, y: self.y, size: self.size, gaps: Vec::new(), raised };
            match &mut line {
                Some(line) => line.add(&part),
                None => line = Some(part),
            }
        }
        line
    }
}

/// A text without the marks of raised letters, and where the letters are.
fn without_marks(marked: &str) -> (String, Vec<usize>) {
    let (mut text, mut raised) = (String::with_capacity(marked.len()), Vec::new());
    for c in marked.chars() {
        match c {
            RAISING => raised.push(text.len()),
            c => text.push(c),
        }
    }
    (text, raised)
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

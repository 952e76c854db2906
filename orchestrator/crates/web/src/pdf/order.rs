//! The order of reading of a page.
//!
//! Typeset articles draw their text in the order of reading, columns included, and tables row by row: that order stays.
//! Where it jumps (the lines of two columns are drawn across, or a column is drawn before the one to its left) the place
//! of the lines decides: gutters divide the page into columns, and what runs across a gutter divides the columns above
//! from those below.

use super::lines::Line;

/// Letters of a line that is prose, rather than a cell, a label, or a number.
const PROSE: usize = 12;
/// Share of the width of the page's text that a line of prose has, at least.
const PROSE_WIDTH: f64 = 0.14;
/// Lines that a column has beside another one, at least.
const ROWS: usize = 4;
/// Share of a page's lines of prose that are drawn across a gutter, when that is how its columns are drawn. Tables of
/// words have fewer.
const ACROSS: f64 = 0.4;
/// Lines in a row that a jump leads to, when it is one from column to column.
const RUN: usize = 3;
/// Parts of lines of a page that is put in order; drawings with more labels than that stay as they are.
const MAX_PARTS: usize = 3_000;
/// Columns within columns.
const MAX_DEPTH: usize = 6;

/// The lines of a page in the order of reading.
pub(super) fn in_order(lines: Vec<Line>) -> Vec<Line> {
    if lines.len() > MAX_PARTS || !jumps(&lines) {
        return lines;
    }
    let parts: Vec<Line> = lines.iter().flat_map(Line::parts).collect();
    if parts.len() > MAX_PARTS {
        return lines;
    }
    let prose = Prose::of(&parts);
    let mut ordered: Vec<Line> = Vec::with_capacity(parts.len());
    read(parts, &prose, 0, &mut ordered);
    ordered
}

/// What is prose on a page.
struct Prose {
    /// Width of a line at least.
    width: f64,
}

impl Prose {
    fn of(parts: &[Line]) -> Self {
        let left = parts.iter().map(|part| part.x).fold(f64::INFINITY, f64::min);
        let right = parts.iter().map(|part| part.end).fold(f64::NEG_INFINITY, f64::max);
        Self { width: (right - left) * PROSE_WIDTH }
    }

    fn is(&self, part: &Line) -> bool {
        let letters = part.text.chars().filter(|c| c.is_alphabetic()).count();
        let wide = part.text.chars().filter(|c| *c > '\u{3000}').count();
        letters + wide >= PROSE && part.end - part.x >= self.width
    }
}

/// Whether the drawing order differs from the reading order.
fn jumps(lines: &[Line]) -> bool {
    let measure = Prose::of(lines);
    let parts: Vec<Line> = lines.iter().flat_map(Line::parts).filter(|part| measure.is(part)).collect();
    let (mut across, mut back, mut run) = (0_usize, false, usize::MAX);
    for pair in parts.windows(2) {
        let [last, part] = pair else { continue };
        let size = last.size.max(part.size);
        let down = last.y - part.y;
        run = run.saturating_add(1);
        if down.abs() < size * 0.8 && part.x > last.end {
            across += 1;
        } else if down < -size * 1.5 && part.x < last.end {
            run = 0;
        }
        back |= run == RUN - 1;
    }
    back || (across >= ROWS && (2 * across) as f64 > parts.len() as f64 * ACROSS)
}

/// Reads a region of the page: its columns from left to right between what runs across them, else row by row.
fn read(parts: Vec<Line>, prose: &Prose, depth: usize, out: &mut Vec<Line>) {
    let gutter = if depth < MAX_DEPTH { gutter(&parts, prose) } else { None };
    let Some(gutter) = gutter else {
        rows(parts, out);
        return;
    };
    let (mut across, mut columns): (Vec<Line>, Vec<Line>) =
        parts.into_iter().partition(|part| side(part, gutter) == Side::Across);
    across.sort_by(|a, b| b.y.total_cmp(&a.y));
    columns.sort_by(|a, b| b.y.total_cmp(&a.y));
    let (mut across, mut columns) = (across.into_iter().peekable(), columns.into_iter().peekable());
    while across.peek().is_some() || columns.peek().is_some() {
        let mut heads = Vec::new();
        while let Some(line) =
            across.next_if(|line| columns.peek().is_none_or(|part| line.y >= part.y - line.size * 0.5))
        {
            heads.push(line);
        }
        rows(heads, out);
        let floor = across.peek().map_or(f64::NEG_INFINITY, |line| line.y + line.size * 0.5);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        while let Some(part) = columns.next_if(|part| part.y > floor) {
            if side(&part, gutter) == Side::Left { left.push(part) } else { right.push(part) }
        }
        read(left, prose, depth + 1, out);
        read(right, prose, depth + 1, out);
    }
}

/// Where a line is beside a gutter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Across,
}

/// A line that is a little too long for its column stays in it.
fn side(part: &Line, gutter: f64) -> Side {
    let (left, right) = (gutter - part.x, part.end - gutter);
    let much = ((part.end - part.x) * 0.25).min(part.size * 2.0);
    match () {
        () if right <= 0.0 || (left > right && right < much) => Side::Left,
        () if left <= 0.0 || (right > left && left < much) => Side::Right,
        () => Side::Across,
    }
}

/// The place that divides most lines into two columns and that the fewest lines run across, just left of the right
/// column.
fn gutter(parts: &[Line], prose: &Prose) -> Option<f64> {
    let mut starts: Vec<f64> = parts.iter().filter(|part| prose.is(part)).map(|part| part.x).collect();
    starts.sort_by(f64::total_cmp);
    // Where lines begin under each other.
    let aligned = starts.chunk_by(|a, b| b - a < 1.5).filter(|starts| starts.len() >= ROWS);
    let mut best: Option<(f64, f64)> = None;
    for edge in aligned.map(|starts| starts[0]) {
        let place = edge - 0.5;
        let (mut left, mut right, mut across) = (Vec::new(), Vec::new(), 0_usize);
        for part in parts.iter().filter(|part| prose.is(part)) {
            match side(part, place) {
                Side::Left => left.push(part.y),
                Side::Right => right.push(part.y),
                Side::Across => across += 1,
            }
        }
        let rows = beside(&mut left, &mut right).min(beside(&mut right, &mut left));
        let worth = rows as f64 - across as f64 * 0.5;
        if rows >= ROWS && across <= rows * 2 && best.is_none_or(|(most, _)| worth > most) {
            best = Some((worth, place));
        }
    }
    best.map(|(_, place)| place)
}

/// How many of these heights have one of the others no further away than two lines.
fn beside(of: &mut [f64], others: &mut [f64]) -> usize {
    const LINES: f64 = 30.0;
    others.sort_by(f64::total_cmp);
    let near = |y: &f64| {
        let at = others.partition_point(|other| *other < y - LINES);
        others.get(at).is_some_and(|other| *other <= y + LINES)
    };
    of.iter().filter(|y| near(y)).count()
}

/// Rows from the top, each from the left; parts that stand close to each other are one line again.
fn rows(mut parts: Vec<Line>, out: &mut Vec<Line>) {
    parts.sort_by(|a, b| b.y.total_cmp(&a.y));
    let mut row: Vec<Line> = Vec::new();
    let mut finish = |row: &mut Vec<Line>| {
        row.sort_by(|a, b| a.x.total_cmp(&b.x));
        let mut line: Option<Line> = None;
        for part in row.drain(..) {
            match &mut line {
                Some(open) if open.is_followed_by(&part) => open.add(&part),
                _ => out.extend(line.replace(part)),
            }
        }
        out.extend(line);
    };
    for part in parts {
        if row.first().is_some_and(|first| first.y - part.y > first.size.max(part.size) * 0.5) {
            finish(&mut row);
        }
        row.push(part);
    }
    finish(&mut row);
}

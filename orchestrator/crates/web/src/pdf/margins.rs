//! What stands around the text of pages and is no part of it: running headers and footers, page numbers, line numbers.

use super::lines::Line;
use std::collections::HashMap;

/// A line at the edge of this many pages is a running header or footer.
const RUNNING_PAGES: usize = 3;
/// A line that is so much larger than where it repeats is a title, which running headers repeat.
const TITLE_SIZE: f64 = 1.2;
/// Lines of a page that have numbers, at least.
const NUMBERED_LINES: usize = 5;
/// Share of the height of a page's text that numbered lines take, at least.
const NUMBERED_HEIGHT: f64 = 0.5;
/// Numbers between two that are printed: every line has one, or every fifth.
const STEPS: [u32; 4] = [1, 2, 5, 10];
/// Distance of numbers from their common edge, in points.
const ALIGNED: f64 = 1.5;

/// Drops what is no part of the text.
pub(super) fn clear(pages: &mut [Vec<Line>]) {
    drop_running_lines(pages);
    drop_line_numbers(pages);
}

/// Drops page numbers, and lines at the top and bottom that repeat on several pages except for digits. A title stays
/// where it is larger than in the running headers.
fn drop_running_lines(pages: &mut [Vec<Line>]) {
    let key = |line: &Line| line.text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let edges = |page: &[Line]| -> Vec<usize> {
        let mut order: Vec<usize> = (0..page.len()).collect();
        order.sort_by(|&a, &b| page[a].y.total_cmp(&page[b].y));
        order.iter().take(2).chain(order.iter().rev().take(2)).copied().collect()
    };
    // On how many pages each is, and its smallest size.
    let mut repeated: HashMap<String, (usize, f64)> = HashMap::new();
    for page in pages.iter() {
        let mut on_page: HashMap<String, f64> = HashMap::new();
        for line in edges(page).into_iter().map(|i| &page[i]) {
            on_page.entry(key(line)).and_modify(|size| *size = size.min(line.size)).or_insert(line.size);
        }
        for (key, size) in on_page {
            let (count, smallest) = repeated.entry(key).or_insert((0, size));
            *count += 1;
            *smallest = smallest.min(size);
        }
    }
    for page in pages.iter_mut() {
        let edges = edges(page);
        let mut i = 0;
        page.retain(|line| {
            let at_edge = edges.contains(&i);
            i += 1;
            let number = line.text.chars().all(|c| c.is_ascii_digit());
            let running = repeated.get(&key(line)).is_some_and(|(count, smallest)| {
                *count >= RUNNING_PAGES && line.size <= smallest * TITLE_SIZE
            });
            !(at_edge && (number || running))
        });
    }
}

/// A part of a line that is nothing but a number.
#[derive(Debug, Clone, Copy)]
struct Number {
    value: u32,
    /// The line on its page, and the part of that line.
    line: usize,
    part: usize,
    x: f64,
    end: f64,
    y: f64,
}

/// Drops the numbers of lines, in whichever margin or gutter they stand: aligned numbers that count the lines of a page,
/// with nothing else above or below them. They count from the first page on, or on each page.
fn drop_line_numbers(pages: &mut [Vec<Line>]) {
    // What the columns of the page before would go on with.
    let mut next: Vec<u32> = Vec::new();
    for page in pages {
        let parts: Vec<Vec<Line>> = page.iter().map(Line::parts).collect();
        let columns = numbered(&parts);
        let mut expected = std::mem::take(&mut next);
        let mut dropped = Vec::new();
        for column in columns {
            let step = step_of(&column).unwrap_or(1);
            let (first, last) = (column[0].value, column[column.len() - 1].value);
            // Printed every five lines, a page may begin with any of them.
            let goes_on = expected.iter().any(|next| first >= *next && first - next < step.max(3));
            if first <= step || goes_on {
                expected.push(last + 1);
                next.push(last + 1);
                dropped.extend(column.iter().map(|number| (number.line, number.part)));
            }
        }
        if !dropped.is_empty() {
            *page = without(parts, &dropped);
        }
    }
}

/// Lines without some of their parts.
fn without(lines: Vec<Vec<Line>>, dropped: &[(usize, usize)]) -> Vec<Line> {
    let mut kept = Vec::with_capacity(lines.len());
    for (nth, parts) in lines.into_iter().enumerate() {
        let mut line: Option<Line> = None;
        for (at, part) in parts.into_iter().enumerate() {
            if dropped.contains(&(nth, at)) {
                continue;
            }
            match &mut line {
                Some(line) => line.add(&part),
                None => line = Some(part),
            }
        }
        kept.extend(line);
    }
    kept
}

/// The columns of numbers on a page that could count its lines, from left to right, each from the top.
fn numbered(lines: &[Vec<Line>]) -> Vec<Vec<Number>> {
    let mut numbers: Vec<Number> = Vec::new();
    for (line, parts) in lines.iter().enumerate() {
        for (part, of) in parts.iter().enumerate() {
            let is_number = of.text.len() <= 4 && of.text.bytes().all(|byte| byte.is_ascii_digit());
            let Some(value) = of.text.parse().ok().filter(|_| is_number) else { continue };
            numbers.push(Number { value, line, part, x: of.x, end: of.end, y: of.y });
        }
    }
    let mut columns = Vec::new();
    let mut taken = vec![false; numbers.len()];
    // Right-aligned mostly, so that 9 stands above the 0 of 10.
    for edge in [|number: &Number| number.end, |number: &Number| number.x] {
        let mut order: Vec<usize> = (0..numbers.len()).filter(|at| !taken[*at]).collect();
        order.sort_by(|a, b| edge(&numbers[*a]).total_cmp(&edge(&numbers[*b])));
        for aligned in order.chunk_by(|a, b| edge(&numbers[*b]) - edge(&numbers[*a]) < ALIGNED) {
            let mut column: Vec<Number> = aligned.iter().map(|at| numbers[*at]).collect();
            column.sort_by(|a, b| b.y.total_cmp(&a.y));
            if counts_lines(&column, lines) {
                for at in aligned {
                    taken[*at] = true;
                }
                columns.push(column);
            }
        }
    }
    columns.sort_by(|a, b| a[0].x.total_cmp(&b[0].x));
    columns
}

/// Whether numbers, from the top, count lines: in steps, evenly spaced, with nothing else above, between, or below.
fn counts_lines(column: &[Number], lines: &[Vec<Line>]) -> bool {
    let (Some(top), Some(bottom)) = (column.first(), column.last()) else { return false };
    if column.len() < NUMBERED_LINES {
        return false;
    }
    if step_of(column).is_none() {
        return false;
    }
    let mut pitches: Vec<f64> = column.windows(2).map(|pair| pair[0].y - pair[1].y).collect();
    pitches.sort_by(f64::total_cmp);
    let usual = pitches[pitches.len() / 2];
    let even = pitches.iter().filter(|pitch| (**pitch - usual).abs() < usual * 0.3).count();
    if usual <= 0.0 || even * 10 < pitches.len() * 7 {
        return false;
    }
    let (left, right) = column.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(left, right), number| {
        (left.min(number.x), right.max(number.end))
    });
    let (mut highest, mut lowest, mut others) = (f64::NEG_INFINITY, f64::INFINITY, 0_usize);
    for part in lines.iter().flatten() {
        (highest, lowest) = (highest.max(part.y), lowest.min(part.y));
        others += usize::from(part.x < right && part.end > left);
    }
    let height = top.y - bottom.y + usual;
    others <= column.len() + 2 && height > (highest - lowest) * NUMBERED_HEIGHT
}

/// The step of most pairs of neighbors: nine of ten of them have it.
fn step_of(column: &[Number]) -> Option<u32> {
    let rises = |step: u32| {
        let pairs = column.windows(2);
        pairs.filter(|pair| pair[0].value.checked_add(step) == Some(pair[1].value)).count()
    };
    STEPS.into_iter().find(|step| rises(*step) * 10 >= (column.len() - 1) * 9)
}

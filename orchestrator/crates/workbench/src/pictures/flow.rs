//! A flow of boxes in two columns, such as that of PRISMA 2020: each row has a box on the left, which leads to the next one
//! below, and perhaps one on the right, to which the left one leads.

use super::frame::{Anchor, Ids, Size, figure, fitted, line, svg};
use super::scale::Px;
use super::table;
use maud::{Markup, html};

const WIDTH: f64 = 720.0;
const LEFT: (f64, f64) = (1.0, 330.0);
const RIGHT: (f64, f64) = (389.0, 330.0);
/// Height of a line, space in a box, and between rows.
const LINE: f64 = 17.0;
const PAD: f64 = 9.0;
const GAP: f64 = 26.0;
/// Most lines of a box, and most rows.
const LINES: usize = 30;
const ROWS: usize = 20;

/// A line of a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// What is counted.
    pub text: String,
    /// How many; as text, so that "not recorded" can stand there.
    pub count: String,
}

/// A box: its first line is its name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block(pub Vec<Line>);

/// A row of boxes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// The box on the left.
    pub left: Block,
    /// The box on the right.
    pub right: Option<Block>,
    /// Whether the right box leads to the row below, as the left one does, instead of being led to.
    pub joins: bool,
}

/// What the picture and its table say.
#[derive(Debug, Clone, Copy)]
pub struct Texts<'a> {
    /// Name of the picture; also the caption of the table.
    pub title: &'a str,
    /// What the picture shows, in a sentence.
    pub description: &'a str,
    /// Head of the table's column of boxes and lines.
    pub what: &'a str,
    /// Head of the table's column of numbers.
    pub count: &'a str,
}

/// The flow from above to below. Of a box, 30 lines are drawn at most, and 20 rows.
pub fn picture(id: &str, rows: &[Row], texts: &Texts<'_>) -> Markup {
    figure(&drawing(id, rows, texts), &html! {})
}

/// The drawing alone, for a file.
pub fn drawing(id: &str, rows: &[Row], texts: &Texts<'_>) -> Markup {
    let rows = &rows[..rows.len().min(ROWS)];
    let height = |row: &Row| tall(&row.left).max(row.right.as_ref().map_or(0.0, tall));
    let mut tops = Vec::with_capacity(rows.len());
    let mut below = 1.0;
    for row in rows {
        tops.push(below);
        below += height(row) + GAP;
    }
    let middle = LEFT.0 + LEFT.1 / 2.0;
    let drawn = html! {
        @for (at, (row, top)) in rows.iter().zip(&tops).enumerate() {
            (block(&row.left, LEFT, *top))
            @let end = top + tall(&row.left);
            @if let Some(next) = tops.get(at + 1) { (arrow((middle, end), (middle, *next))) }
            @if let Some(right) = &row.right {
                (block(right, RIGHT, *top))
                @if row.joins {
                    @if at + 1 < rows.len() {
                        @let from = RIGHT.0 + RIGHT.1 / 2.0;
                        @let turn = top + height(row) + GAP / 2.0;
                        (line("axis", (from, top + tall(right)), (from, turn), 1.25))
                        (line("axis", (from, turn), (middle, turn), 1.25))
                    }
                } @else {
                    @let across = top + LINE / 2.0 + PAD;
                    (arrow((LEFT.0 + LEFT.1, across), (RIGHT.0, across)))
                }
            }
        }
    };
    let size = Size(WIDTH, (below - GAP + 1.0).max(2.0));
    svg(&Ids::new(id), size, texts.title, texts.description, &drawn)
}

/// All lines with their numbers.
pub fn table(rows: &[Row], texts: &Texts<'_>) -> Markup {
    let blocks = rows.iter().take(ROWS).flat_map(|row| std::iter::once(&row.left).chain(&row.right));
    let lines = blocks.flat_map(|block| block.0.iter().take(LINES));
    let cells = lines.map(|line| [line.text.clone(), line.count.clone()]);
    table::table(texts.title, [texts.what, texts.count], cells)
}

fn tall(block: &Block) -> f64 {
    block.0.len().clamp(1, LINES) as f64 * LINE + 2.0 * PAD
}

fn block(block: &Block, (x, width): (f64, f64), top: f64) -> Markup {
    let count = |line: &Line| super::label::fit(&line.count, width / 2.5);
    html! {
        rect class="axis" x=(Px(x)) y=(Px(top)) width=(Px(width)) height=(Px(tall(block))) rx="4"
            fill="none" stroke="currentColor" stroke-width="1.25" {}
        @for (at, line) in block.0.iter().take(LINES).enumerate() {
            @let y = top + PAD + LINE * (at as f64 + 1.0) - 5.0;
            @let count = count(line);
            @let room = width - 3.0 * PAD - super::label::width(&count) - if at > 0 { 12.0 } else { 0.0 };
            (fitted(x + PAD + if at > 0 { 12.0 } else { 0.0 }, y, Anchor::Start, &line.text, room))
            (super::frame::text(x + width - PAD, y, Anchor::End, &count))
        }
    }
}

fn arrow(from: (f64, f64), to: (f64, f64)) -> Markup {
    let (x, y) = to;
    let is_down = from.1 < to.1;
    let head = if is_down {
        format!("{},{} {},{} {},{}", Px(x - 4.0), Px(y - 7.0), Px(x + 4.0), Px(y - 7.0), Px(x), Px(y))
    } else {
        format!("{},{} {},{} {},{}", Px(x - 7.0), Px(y - 4.0), Px(x - 7.0), Px(y + 4.0), Px(x), Px(y))
    };
    html! {
        (line("axis", from, to, 1.25))
        polygon class="axis" points=(head) fill="currentColor" {}
    }
}

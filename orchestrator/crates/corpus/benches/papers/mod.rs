//! Generated articles in two columns.

#[path = "../../tests/it/pdf.rs"]
mod pdf;

use std::fmt::Write as _;
use std::path::Path;

/// Pages of an article.
pub(crate) const PAGES: usize = 10;
/// Lines of a column.
const LINES: usize = 55;

/// Writes an article into a folder, its columns drawn in the order of reading or row by row. `words` gives the words of
/// a line.
pub(crate) fn write(
    folder: &Path,
    nth: usize,
    is_by_rows: bool,
    words: &mut dyn FnMut() -> String,
) -> std::io::Result<()> {
    let pages: Vec<String> = (0..PAGES).map(|page| content(nth, page, is_by_rows, words)).collect();
    std::fs::write(folder.join(format!("{nth:06}.pdf")), pdf::of(&pages))
}

fn content(nth: usize, page: usize, is_by_rows: bool, words: &mut dyn FnMut() -> String) -> String {
    let mut content = String::new();
    let mut draw = |size: usize, x: usize, y: usize, text: &str| {
        let _ = writeln!(content, "BT /F {size} Tf {x} {y} Td ({text}) Tj ET");
    };
    if page == 0 {
        draw(18, 60, 770, &format!("Article {nth} on {}", words()));
        draw(8, 60, 752, &format!("doi:10.1000/generated.{nth}"));
    }
    let places: Vec<(usize, usize)> = if is_by_rows {
        (0..LINES).flat_map(|line| [(50, line), (320, line)]).collect()
    } else {
        [50, 320].into_iter().flat_map(|x| (0..LINES).map(move |line| (x, line))).collect()
    };
    for (x, line) in places {
        draw(10, x, 730 - line * 12, &words());
    }
    content
}

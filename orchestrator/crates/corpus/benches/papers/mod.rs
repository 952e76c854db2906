//! Generated articles in two columns.

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
    std::fs::write(folder.join(format!("{nth:06}.pdf")), pdf(&pages))
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

fn pdf(pages: &[String]) -> Vec<u8> {
    let kids: String =
        (0..pages.len()).fold(String::new(), |kids, nth| format!("{kids}{} 0 R ", 4 + nth * 2));
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Count {} /Kids [{kids}] >>", pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (nth, content) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 800] /Contents {} 0 R \
             /Resources << /Font << /F 3 0 R >> >> >>",
            5 + nth * 2
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    let (mut file, mut offsets) = ("%PDF-1.4\n".to_owned(), Vec::new());
    for (nth, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", nth + 1);
    }
    let start = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for offset in offsets {
        let _ = writeln!(file, "{offset:010} 00000 n ");
    }
    let _ =
        write!(file, "trailer << /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", objects.len() + 1);
    file.into_bytes()
}

//! PDF files of text in Helvetica.

use std::fmt::Write as _;

/// A PDF with these content streams, one a page of 600 by 800 points; its font is `/F`.
pub(crate) fn of(pages: &[String]) -> Vec<u8> {
    let kids: String =
        (0..pages.len()).fold(String::new(), |kids, nth| format!("{kids}{} 0 R ", 4 + nth * 2));
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Count {} /Kids [{kids}] >>", pages.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    for (nth, content) in pages.iter().enumerate() {
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R \
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
    let size = objects.len() + 1;
    let _ = write!(file, "trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n");
    file.into_bytes()
}

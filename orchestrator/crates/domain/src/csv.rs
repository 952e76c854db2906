//! Comma-separated values (RFC 4180) that are safe to open in a spreadsheet.

/// What a file begins with, so that spreadsheets read it as UTF-8.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A line of cells that [`cell`] wrote, or of numbers, with its end.
pub fn line<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) -> String {
    let mut line = String::new();
    for (place, cell) in cells.into_iter().enumerate() {
        if place > 0 {
            line.push(',');
        }
        line.push_str(cell.as_ref());
    }
    line.push_str("\r\n");
    line
}

/// A text as a cell, quoted if necessary. Spreadsheets execute texts that begin like a formula, and texts are untrusted:
/// such a text gets an apostrophe before it.
pub fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let inert = if is_formula { format!("'{text}") } else { text.to_owned() };
    if inert.contains([',', '"', '\n', '\r']) { format!("\"{}\"", inert.replace('"', "\"\"")) } else { inert }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        for (text, written) in [
            ("plain", "plain"),
            ("a, \"b\"", "\"a, \"\"b\"\"\""),
            ("a \"b\", c\nd", "\"a \"\"b\"\", c\nd\""),
            ("=1+1", "'=1+1"),
            ("-2", "'-2"),
            ("@a,b", "\"'@a,b\""),
            ("−5 °C", "−5 °C"),
        ] {
            assert_eq!(cell(text), written);
        }
    }

    #[test]
    fn lines_end_as_in_the_standard() {
        assert_eq!(line(["a", "1", ""]), "a,1,\r\n");
    }
}

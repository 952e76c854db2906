//! Rows as comma-separated values (RFC 4180).

use super::table::{Cell, Table};

/// Spreadsheets recognize UTF-8 by it.
const BYTE_ORDER_MARK: &str = "\u{feff}";

pub(super) fn written(table: &Table) -> Vec<u8> {
    let mut text = BYTE_ORDER_MARK.to_owned();
    let columns: Vec<String> = table.columns.iter().map(|name| quoted(&inert(name))).collect();
    text.push_str(&columns.join(","));
    text.push_str("\r\n");
    for row in &table.rows {
        let cells: Vec<String> = row
            .iter()
            .map(|cell| match cell {
                Cell::Empty => String::new(),
                Cell::Text(text) => quoted(&inert(text)),
                Cell::Number(number) => number.to_string(),
            })
            .collect();
        text.push_str(&cells.join(","));
        text.push_str("\r\n");
    }
    text.into_bytes()
}

/// A text that no spreadsheet takes for a formula: an apostrophe before what one begins with.
fn inert(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_and_never_formulas() {
        assert_eq!(quoted(&inert("=1+1")), "'=1+1");
        assert_eq!(quoted("a \"b\", c\nd"), "\"a \"\"b\"\", c\nd\"");
        assert_eq!(quoted(&inert("−5 °C")), "−5 °C");
    }
}

//! Rows as a file for a spreadsheet, as `assets/csv.js` writes them.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// Rows as CSV (RFC 4180) that starts with a byte order mark, which spreadsheets need to read it as UTF-8.
pub(crate) fn written<'a>(rows: impl IntoIterator<Item = Vec<&'a str>>) -> String {
    let mut out = "\u{feff}".to_owned();
    for row in rows {
        let fields: Vec<String> = row.into_iter().map(field).collect();
        out += &fields.join(",");
        out += "\r\n";
    }
    out
}

/// A field. Text that a spreadsheet would take for a formula gets an apostrophe before it.
fn field(cell: &str) -> String {
    let formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{cell}") } else { cell.to_owned() };
    if text.contains(['"', ',', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// The file to save, under a name of ASCII letters, digits, and `-_.`.
pub(crate) fn answer(name: &str, content: String) -> Response {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let mut response = content.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn fields_are_quoted_and_formulas_defused() {
        let rows = [vec!["a", "b,c", "say \"x\""], vec!["=1+1", "-2", "line\nbreak"]];
        assert_eq!(written(rows), "\u{feff}a,\"b,c\",\"say \"\"x\"\"\"\r\n'=1+1,'-2,\"line\nbreak\"\r\n");
    }
}

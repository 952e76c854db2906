//! Files to save.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use lyra_domain::csv::{BYTE_ORDER_MARK, cell, line};

/// The media type of [`csv`].
pub(crate) const CSV: &str = "text/csv; charset=utf-8";

/// Rows as CSV that spreadsheets read as UTF-8, as `assets/csv.js` writes them.
pub(crate) fn csv<'a>(rows: impl IntoIterator<Item = Vec<&'a str>>) -> String {
    rows.into_iter().fold(BYTE_ORDER_MARK.to_owned(), |file, row| file + &line(row.into_iter().map(cell)))
}

/// A file to save, under a name of ASCII letters, digits, and `-_.`.
pub(crate) fn attachment(name: &str, media_type: &'static str, content: String) -> Response {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let mut response = content.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_and_formulas_defused() {
        let rows = [vec!["a", "b,c", "say \"x\""], vec!["=1+1", "-2", "line\nbreak"]];
        assert_eq!(csv(rows), "\u{feff}a,\"b,c\",\"say \"\"x\"\"\"\r\n'=1+1,'-2,\"line\nbreak\"\r\n");
    }

    #[test]
    fn a_file_is_saved_under_a_plain_name() {
        let response = attachment("matrix \"1\"\n.csv", CSV, String::new());
        assert_eq!(response.headers()[header::CONTENT_TYPE], CSV);
        assert_eq!(
            response.headers()[header::CONTENT_DISPOSITION],
            "attachment; filename=\"matrix__1__.csv\""
        );
    }
}

//! Rows as comma-separated values (RFC 4180).

use super::table::{Cell, Table};
use lyra_domain::csv::{BYTE_ORDER_MARK, cell, line};

pub(super) fn written(table: &Table) -> Vec<u8> {
    let mut text = BYTE_ORDER_MARK.to_owned();
    text.push_str(&line(table.columns.iter().map(|name| cell(name))));
    for row in &table.rows {
        text.push_str(&line(row.iter().map(|content| match content {
            Cell::Empty => String::new(),
            Cell::Text(text) => cell(text),
            Cell::Number(number) => number.to_string(),
        })));
    }
    text.into_bytes()
}

//! Rows of any shape as JSON.

use serde_json::{Map, Value};
use sqlx::sqlite::SqliteRow;
use sqlx::{Column, Row, TypeInfo, ValueRef};

/// Unique column names: the second `id` becomes `id_2`.
pub(crate) fn column_names<C: Column>(columns: &[C]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(columns.len());
    for column in columns {
        let mut name = column.name().to_owned();
        let mut copy = 2;
        while names.contains(&name) {
            name = format!("{}_{copy}", column.name());
            copy += 1;
        }
        names.push(name);
    }
    names
}

/// A row by column name. Text is truncated to `max_bytes`, with a note at its end; a blob is described, not shown.
pub(crate) fn object(
    row: &SqliteRow,
    names: &[String],
    max_bytes: usize,
) -> Result<Map<String, Value>, sqlx::Error> {
    names.iter().enumerate().map(|(i, name)| Ok((name.clone(), cell(row, i, max_bytes)?))).collect()
}

fn cell(row: &SqliteRow, index: usize, max_bytes: usize) -> Result<Value, sqlx::Error> {
    let raw = row.try_get_raw(index)?;
    if raw.is_null() {
        return Ok(Value::Null);
    }
    let kind = raw.type_info().name().to_owned();
    Ok(match kind.as_str() {
        "INTEGER" => Value::from(row.try_get_unchecked::<i64, _>(index)?),
        "REAL" => {
            let number: f64 = row.try_get_unchecked(index)?;
            // JSON has no infinity.
            if number.is_finite() { Value::from(number) } else { Value::from(number.to_string()) }
        }
        "BLOB" => Value::from(format!("(blob of {} bytes)", row.try_get_unchecked::<&[u8], _>(index)?.len())),
        _ => Value::from(cut(&String::from_utf8_lossy(row.try_get_unchecked(index)?), max_bytes)),
    })
}

fn cut(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max_bytes);
    format!("{}… (cut, {} bytes in all)", &text[..end], text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("ありがとう", 7), "あり… (cut, 15 bytes in all)");
    }
}

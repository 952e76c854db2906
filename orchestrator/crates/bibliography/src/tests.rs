mod detection;
mod formats;
mod properties;
mod written;

use crate::{Format, Record, Rejected, read};

fn records(text: &str, format: Format) -> Vec<Record> {
    read(text.as_bytes(), format).map(|record| record.unwrap()).collect()
}

#[track_caller]
fn one(text: &str, format: Format) -> Record {
    let mut found = records(text, format);
    assert_eq!(found.len(), 1, "{found:#?}");
    found.remove(0)
}

/// Titles of the records that could be read, and lines of those that could not.
fn outcome(text: &str, format: Format) -> (Vec<String>, Vec<(u64, String)>) {
    let (read, rejected): (Vec<_>, Vec<_>) = read(text.as_bytes(), format).partition(Result::is_ok);
    let titles = read.into_iter().flatten().map(|record| record.title).collect();
    let lines = rejected.into_iter().filter_map(Result::err).map(|Rejected { line, reason }| (line, reason));
    (titles, lines.collect())
}

//! SQLite's complaints, turned into what to write instead.

use super::{GuardError, SchemaTable, catalog};
use crate::error::sqlite_code;
use libsqlite3_sys as ffi;
use sqlx::SqliteConnection;

/// The error of a statement that SQLite did not compile or finish.
pub(super) async fn explain(connection: &mut SqliteConnection, sql: &str, error: sqlx::Error) -> GuardError {
    match sqlite_code(&error) {
        Some(ffi::SQLITE_TOOBIG) => return GuardError::TooLarge,
        Some(ffi::SQLITE_NOMEM) => return GuardError::TooMuchMemory,
        Some(ffi::SQLITE_READONLY | ffi::SQLITE_AUTH) => {
            return GuardError::NotReadOnly { action: "this statement".to_owned() };
        }
        Some(ffi::SQLITE_ERROR) => {}
        _ => return error.into(),
    }
    let message = error.as_database_error().map_or_else(String::new, |error| error.message().to_owned());
    let name = |prefix: &str| {
        let rest = message.strip_prefix(prefix)?;
        // SQLite adds advice after the name of a column in double quotes.
        Some(rest.split(" - ").next().unwrap_or(rest).trim_matches('"').to_owned())
    };
    if let Some(table) = name("no such table: ") {
        return unknown_table(&table);
    }
    if let Some(column) = name("no such column: ") {
        let words: Vec<String> =
            sql.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_ascii_lowercase).collect();
        return match catalog::read(connection, |table| words.iter().any(|word| word == table)).await {
            Ok(named) => unknown_column(&named, &column),
            Err(error) => error.into(),
        };
    }
    if let Some(function) = name("no such function: ") {
        return super::authorizer::Denial::Function(function).into();
    }
    GuardError::Syntax { message }
}

fn unknown_table(table: &str) -> GuardError {
    let all = catalog::names().collect::<Vec<_>>().join(", ");
    let hint = match suggestion(&similar(table, catalog::names())) {
        Some(question) => format!("{question} Tables and views: {all}"),
        None => format!("tables and views: {all}"),
    };
    GuardError::UnknownName { what: format!("table `{table}`"), hint }
}

/// Looks among the columns of the tables that the statement names.
fn unknown_column(named: &[SchemaTable], column: &str) -> GuardError {
    let bare = column.rsplit('.').next().unwrap_or(column);
    let candidates = named.iter().flat_map(|table| table.columns.iter().map(|column| column.name.as_str()));
    let question = suggestion(&similar(bare, candidates))
        .unwrap_or_else(|| "no column of its tables has a similar name.".to_owned());
    let tables = named.iter().map(|table| {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        format!(" {} has {}.", table.name, columns.join(", "))
    });
    let hint = format!("{question}{}", tables.collect::<String>());
    GuardError::UnknownName { what: format!("column `{column}`"), hint }
}

/// The most similar name, if any is similar.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    similar(name, candidates).into_iter().next()
}

/// At most three names, the most similar first: those that contain the name or are contained in it, else those with the
/// fewest changed letters.
fn similar<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_ascii_lowercase();
    let mut scored: Vec<(usize, usize, &str)> = candidates
        .map(|candidate| {
            let within = candidate.contains(&name) || candidate.len() > 3 && name.contains(candidate);
            let distance = strsim::levenshtein(&name, candidate);
            (if within { distance.min(1) } else { distance }, distance, candidate)
        })
        .collect();
    scored.sort_unstable();
    scored.dedup();
    let best = scored.first().map_or(0, |(score, ..)| *score);
    let close = |score: usize| score == best && score <= name.chars().count().div_ceil(2);
    scored.into_iter().filter(|(score, ..)| close(*score)).map(|(.., candidate)| candidate).take(3).collect()
}

/// `did you mean …?`
fn suggestion(names: &[&str]) -> Option<String> {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_found() {
        let tables = ["claims", "edges", "v_contradictions"];
        let near = |name| nearest(name, tables.into_iter());
        assert_eq!(near("claim"), Some("claims"));
        assert_eq!(near("edgse"), Some("edges"));
        assert_eq!(near("contradictions"), Some("v_contradictions"));
        assert_eq!(near("zzzz"), None);
        assert_eq!(strsim::levenshtein("kitten", "sitting"), 3);
    }
}

//! A look at the text of a statement before SQLite sees it: is it one, and is it a query? This makes for clear errors; the
//! guard itself is the authorizer.

use super::GuardError;

/// Refuses nothing, several statements, and statements that are no query.
pub(super) fn check(sql: &str) -> Result<(), GuardError> {
    if sql.contains('\0') {
        return Err(GuardError::Syntax { message: "a null character".to_owned() });
    }
    let code = without_comments(sql)?;
    let mut statements = code.iter().filter(|statement| !statement.trim().is_empty());
    let Some(first) = statements.next() else { return Err(GuardError::Empty) };
    let word: String = first.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
    let word = word.to_ascii_uppercase();
    if !word.is_empty() && !["SELECT", "WITH", "VALUES", "EXPLAIN"].contains(&word.as_str()) {
        return Err(if WRITES.contains(&word.as_str()) {
            GuardError::NotReadOnly { action: word }
        } else {
            GuardError::Syntax { message: format!("a query does not start with `{word}`") }
        });
    }
    if statements.next().is_some() { Err(GuardError::SeveralStatements) } else { Ok(()) }
}

/// Words that start statements which are no query.
const WRITES: &[&str] = &[
    "ALTER",
    "ANALYZE",
    "ATTACH",
    "BEGIN",
    "COMMIT",
    "CREATE",
    "DELETE",
    "DETACH",
    "DROP",
    "END",
    "INSERT",
    "PRAGMA",
    "REINDEX",
    "RELEASE",
    "REPLACE",
    "ROLLBACK",
    "SAVEPOINT",
    "UPDATE",
    "VACUUM",
];

/// The statements between semicolons, with literals and quoted names kept and comments left out.
fn without_comments(sql: &str) -> Result<Vec<String>, GuardError> {
    let mut statements = vec![String::new()];
    let mut rest = sql;
    while let Some(next) = rest.chars().next() {
        let taken = match next {
            '?' | ':' | '@' | '$' => {
                return Err(GuardError::Syntax {
                    message: format!(
                        "nothing is bound to the parameter at `{next}`; write the value into the statement"
                    ),
                });
            }
            '\'' | '"' | '`' => quoted(rest, next),
            '[' => rest.find(']').map_or(rest.len(), |end| end + 1),
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            _ => next.len_utf8(),
        };
        let (token, after) = rest.split_at(taken);
        rest = after;
        if next == ';' {
            statements.push(String::new());
        } else if let Some(statement) = statements.last_mut() {
            statement.push_str(if token.starts_with("--") || token.starts_with("/*") { " " } else { token });
        }
    }
    Ok(statements)
}

/// Length of a quoted token; a doubled quote is part of it.
fn quoted(text: &str, quote: char) -> usize {
    let mut at = 1;
    while let Some(end) = text[at..].find(quote) {
        at += end + 1;
        if !text[at..].starts_with(quote) {
            return at;
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(sql: &str, code: Option<&str>) {
        assert_eq!(check(sql).err().map(|error| error.code()), code, "{sql}");
    }

    #[test]
    fn one_query_is_seen_through_literals_and_comments() {
        is("SELECT ';', \"a;b\", [c;d], `e;f` -- ; x\n/* ; */ FROM t;", None);
        is("SELECT 'it''s; fine'; -- done", None);
        is("  with x as (select 1) select * from x ;; ", None);
        is("SELECT 1; SELECT 2", Some("several_statements"));
        is("SELECT '1'';' ; DROP TABLE x", Some("several_statements"));
        is(" /* nothing */ ; ", Some("empty"));
        is("drop table claims", Some("not_read_only"));
        is("/* hi */ PRAGMA user_version", Some("not_read_only"));
        is("hello", Some("syntax"));
        is("SELECT 'open", None);
        is("SELECT '?', x ->> '$.year' FROM t", None);
        is("SELECT ?", Some("syntax"));
    }
}

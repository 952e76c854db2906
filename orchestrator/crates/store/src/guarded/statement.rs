//! Checks the text of a statement before SQLite sees it: it must be a single query. This yields clear errors; the
//! actual guard is the authorizer.

use super::GuardError;
use super::lexer::{Kind, Token};

/// Rejects empty input, several statements, and statements that are not queries.
pub(super) fn check(sql: &str, tokens: &[Token<'_>]) -> Result<(), GuardError> {
    if sql.contains('\0') {
        return Err(GuardError::Syntax { message: "a null character".to_owned() });
    }
    if let Some(bound) =
        tokens.iter().find(|token| ["?", ":", "@", "$"].iter().any(|mark| token.is_mark(mark)))
    {
        return Err(GuardError::Syntax {
            message: format!(
                "nothing is bound to the parameter at `{}`; write the value into the statement",
                bound.text
            ),
        });
    }
    let mut statements = tokens.split(|token| token.is_mark(";")).filter(|statement| !statement.is_empty());
    let Some(first) = statements.next().and_then(<[_]>::first) else { return Err(GuardError::Empty) };
    let word = if first.kind == Kind::Word { first.text.to_ascii_uppercase() } else { String::new() };
    if !word.is_empty() && !["SELECT", "WITH", "VALUES", "EXPLAIN"].contains(&word.as_str()) {
        return Err(if WRITES.contains(&word.as_str()) {
            GuardError::NotReadOnly { action: word }
        } else {
            GuardError::Syntax { message: format!("a query does not start with `{word}`") }
        });
    }
    if statements.next().is_some() { Err(GuardError::SeveralStatements) } else { Ok(()) }
}

/// Keywords that start statements other than queries.
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

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;
    use super::*;

    #[track_caller]
    fn is(sql: &str, code: Option<&str>) {
        assert_eq!(check(sql, &tokens(sql)).err().map(|error| error.code()), code, "{sql}");
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

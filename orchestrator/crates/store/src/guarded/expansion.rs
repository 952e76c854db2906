//! Computes how large a statement becomes when SQLite expands each use of a `WITH` table or a view.
//!
//! SQLite copies such a table for each use while it compiles, where neither steps nor time nor a progress handler
//! count. Twenty tables that each use the previous one twice expand to a million copies, from a statement of a thousand
//! characters. The size is therefore computed before SQLite sees the statement; it may be too large (a column named
//! like a table), never too small.

use super::lexer::{Kind, Token};
use crate::views;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

/// Largest expansion of a statement in bytes of SQL. A single view expands to up to 35 kB.
pub(super) const MAX_BYTES: u64 = 400_000;

/// Bytes of SQL that each view becomes.
static VIEWS: LazyLock<HashMap<&str, u64>> = LazyLock::new(|| {
    let texts = views::texts().unwrap_or_default();
    let mut sizes = HashMap::new();
    // A view may select from others; no chain of views is longer than their number.
    for _ in &texts {
        let larger =
            texts.iter().map(|(name, sql)| (*name, size_with(&super::lexer::tokens(sql), &sizes))).collect();
        if larger == sizes {
            break;
        }
        sizes = larger;
    }
    sizes
});

/// Bytes that the statement becomes, at least.
pub(super) fn size(tokens: &[Token<'_>]) -> u64 {
    size_with(tokens, &VIEWS)
}

fn size_with(tokens: &[Token<'_>], views: &HashMap<&str, u64>) -> u64 {
    let tables = definitions(tokens);
    let uses = uses(tokens);
    let mut unfolding = Unfolding { tokens, views, uses, sizes: vec![Size::Unknown; tables.len()], tables };
    unfolding.of(0..tokens.len(), None)
}

/// A table of a `WITH` clause.
struct Table {
    name: String,
    /// Tokens between its parentheses.
    body: Range<usize>,
}

#[derive(Clone, Copy)]
enum Size {
    Unknown,
    /// It is being computed: the use is inside its own definition.
    Open,
    Known(u64),
}

struct Unfolding<'a> {
    tokens: &'a [Token<'a>],
    views: &'a HashMap<&'a str, u64>,
    tables: Vec<Table>,
    /// Tokens in the position of a table's name, with that name.
    uses: Vec<(usize, String)>,
    sizes: Vec<Size>,
}

impl Unfolding<'_> {
    /// Of a part of the statement, which is the body of the table `within`.
    fn of(&mut self, part: Range<usize>, within: Option<usize>) -> u64 {
        let end = |index: usize| self.tokens[index].at + self.tokens[index].text.len();
        let mut bytes = match part.clone().last() {
            Some(last) => (end(last) - self.tokens[part.start].at) as u64,
            None => 0,
        };
        let from = self.uses.partition_point(|(at, _)| *at < part.start);
        let to = self.uses.partition_point(|(at, _)| *at < part.end);
        for index in from..to {
            let named: Vec<usize> = (0..self.tables.len())
                .filter(|table| self.tables[*table].name == self.uses[index].1)
                .collect();
            let view = self.views.get(self.uses[index].1.as_str()).copied().unwrap_or(0);
            // Of tables of one name in different places, the largest.
            let largest = named.into_iter().map(|table| self.table(table, within)).max().unwrap_or(0);
            bytes = bytes.saturating_add(largest.max(view));
        }
        bytes
    }

    fn table(&mut self, table: usize, within: Option<usize>) -> u64 {
        match self.sizes[table] {
            Size::Known(bytes) => bytes,
            // A recursion reads its rows so far.
            Size::Open if within == Some(table) => 0,
            // Through another table: SQLite would reject it, or names shadow each other.
            Size::Open => u64::MAX,
            Size::Unknown => {
                self.sizes[table] = Size::Open;
                let bytes = self.of(self.tables[table].body.clone(), Some(table));
                self.sizes[table] = Size::Known(bytes);
                bytes
            }
        }
    }
}

/// Every `name [(columns)] AS [NOT] [MATERIALIZED] (body)` of a `WITH` clause.
fn definitions(tokens: &[Token<'_>]) -> Vec<Table> {
    let closed_by = closings(tokens);
    let mut tables = Vec::new();
    for at in 1..tokens.len() {
        let before = &tokens[at - 1];
        let begins = before.is("WITH") || before.is("RECURSIVE") || before.is_mark(",");
        let Some(name) = tokens[at].name().filter(|_| begins) else { continue };
        let mut next = at + 1;
        if tokens.get(next).is_some_and(|token| token.is_mark("(")) {
            next = closed_by[next] + 1;
        }
        if !tokens.get(next).is_some_and(|token| token.is("AS")) {
            continue;
        }
        next += 1;
        while tokens.get(next).is_some_and(|token| token.is("NOT") || token.is("MATERIALIZED")) {
            next += 1;
        }
        if tokens.get(next).is_some_and(|token| token.is_mark("(")) {
            tables.push(Table { name, body: next + 1..closed_by[next].max(next + 1) });
        }
    }
    tables
}

/// For every opening parenthesis, the token that closes it; the end for an unclosed one.
fn closings(tokens: &[Token<'_>]) -> Vec<usize> {
    let mut closed_by = vec![tokens.len(); tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.is_mark("(") {
            open.push(at);
        } else if token.is_mark(")")
            && let Some(opened) = open.pop()
        {
            closed_by[opened] = at;
        }
    }
    closed_by
}

/// Keywords that end a list of tables. None of them can be a name.
const AFTER_TABLES: &[&str] =
    &["SELECT", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "VALUES"];

/// Tokens in the position of a table's name, with that name.
fn uses(tokens: &[Token<'_>]) -> Vec<(usize, String)> {
    let mut uses = Vec::new();
    // Per open parenthesis: a comma separates tables here.
    let mut lists = vec![false];
    let mut expected = false;
    let mut schema_named = false;
    for (at, token) in tokens.iter().enumerate() {
        let list = lists.last().copied().unwrap_or(false);
        let was_expected = expected;
        expected = match token.kind {
            Kind::Mark => match token.text {
                "(" => {
                    lists.push(was_expected);
                    was_expected
                }
                ")" => {
                    lists.pop();
                    if lists.is_empty() {
                        lists.push(false);
                    }
                    false
                }
                "," => list,
                "." => schema_named,
                _ => false,
            },
            _ if token.is("FROM") || token.is("JOIN") => {
                if let Some(list) = lists.last_mut() {
                    *list = true;
                }
                true
            }
            _ if token.is("IN") => true,
            Kind::Word if AFTER_TABLES.iter().any(|word| token.is(word)) => {
                if let Some(list) = lists.last_mut() {
                    *list = false;
                }
                false
            }
            _ => {
                if was_expected && let Some(name) = token.name() {
                    uses.push((at, name));
                }
                false
            }
        };
        schema_named = was_expected && token.kind != Kind::Mark;
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;
    use super::*;

    fn of(sql: &str) -> u64 {
        size(&tokens(sql))
    }

    /// `n` tables that each use the previous one twice.
    fn doubling(n: usize, twice: impl Fn(usize) -> String) -> String {
        let tables: Vec<String> = (1..n).map(|i| format!(", c{i} AS ({})", twice(i - 1))).collect();
        format!("WITH c0 AS (SELECT 1 AS x){} SELECT x FROM c{}", tables.concat(), n - 1)
    }

    #[test]
    fn tables_that_use_each_other_twice_are_too_large_however_they_are_written() {
        let ways: [fn(usize) -> String; 10] = [
            |i| format!("SELECT (SELECT x FROM c{i})+(SELECT x FROM c{i}) AS x"),
            |i| format!("SELECT p.x FROM c{i} p, c{i} q"),
            |i| format!("SELECT p.x FROM C{i} AS p JOIN \"c{i}\" AS q"),
            |i| format!("SELECT x FROM [c{i}] UNION ALL SELECT x FROM `c{i}`"),
            |i| format!("SELECT p.x FROM (c{i} AS p, 'c{i}' AS q)"),
            |i| format!("SELECT x FROM c{i} WHERE x IN c{i}"),
            |i| format!("SELECT p.x FROM/**/c{i} p CROSS JOIN--\nc{i} q"),
            |i| format!("SELECT p.x FROM (SELECT 1 AS y) JOIN c{i} p ON p.x = y, c{i} q"),
            |i| format!("SELECT p.x FROM \u{feff}c{i} p,\u{feff}c{i} q"),
            |i| format!("SELECT p.x FROM \u{b}c{i} p, \u{b}c{i} q"),
        ];
        for way in ways {
            let sql = doubling(20, way);
            assert!(sql.len() < 2_000);
            assert!(of(&sql) > MAX_BYTES, "{sql}: {}", of(&sql));
            assert!(of(&doubling(6, way)) < MAX_BYTES);
        }
    }

    #[test]
    fn ordinary_statements_stay_about_as_large_as_they_are() {
        for sql in [
            "SELECT 1",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i FROM n",
            "WITH x AS (SELECT 1 AS y), y AS (SELECT x.y FROM x) SELECT coalesce(x, y), y FROM y",
            "WITH a(b) AS (SELECT coalesce(b, 1) FROM edges), b AS (SELECT * FROM a) SELECT * FROM b",
            "SELECT ((((",
            ")))",
            "",
        ] {
            assert!(of(sql) <= 5 * sql.len() as u64, "{sql}: {}", of(sql));
        }
        assert_eq!(of("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM b"), u64::MAX);
    }

    #[test]
    fn every_view_can_be_used_several_times() {
        for (name, bytes) in VIEWS.iter() {
            assert!(bytes * 4 < MAX_BYTES, "{name} becomes {bytes} bytes");
            assert!(of(&format!("SELECT * FROM main.{name}")) > *bytes, "{name} is seen behind its schema");
        }
        assert_eq!(VIEWS.len(), 16);
    }
}

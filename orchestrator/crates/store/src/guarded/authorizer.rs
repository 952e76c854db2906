//! The permissions of a guarded statement: read the listed tables and views, call the listed functions.

use super::GuardError;
use super::catalog;
use crate::sqlite::Authorizer;
use libsqlite3_sys as ffi;
use std::sync::{Arc, Mutex, PoisonError};

/// Functions that only compute. Excluded on purpose: everything that touches files, extensions or pointers, functions
/// that produce large values from small ones, and `trim`, which is quadratic with a second argument.
const FUNCTIONS: &[&str] = &[
    // Aggregates and windows.
    "avg",
    "count",
    "group_concat",
    "string_agg",
    "max",
    "min",
    "sum",
    "total",
    "row_number",
    "rank",
    "dense_rank",
    "percent_rank",
    "cume_dist",
    "ntile",
    "lag",
    "lead",
    "first_value",
    "last_value",
    "nth_value",
    // Numbers and choices.
    "abs",
    "round",
    "sign",
    "sqrt",
    "random",
    "coalesce",
    "ifnull",
    "iif",
    "if",
    "nullif",
    "typeof",
    // Text.
    "char",
    "concat",
    "concat_ws",
    "format",
    "glob",
    "hex",
    "instr",
    "length",
    "like",
    "lower",
    "octet_length",
    "printf",
    "quote",
    "replace",
    "substr",
    "substring",
    "unicode",
    "upper",
    // Time.
    "date",
    "time",
    "datetime",
    "julianday",
    "strftime",
    "timediff",
    "unixepoch",
    "current_date",
    "current_time",
    "current_timestamp",
    // JSON.
    "->",
    "->>",
    "json",
    "json_array",
    "json_array_length",
    "json_each",
    "json_error_position",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_object",
    "json_pretty",
    "json_quote",
    "json_tree",
    "json_type",
    "json_valid",
    // Full text.
    "bm25",
    "highlight",
    "match",
    "snippet",
];

/// The refused action, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Denial {
    /// Not a read.
    Action(String),
    /// A table.
    Table(String),
    /// A function.
    Function(String),
}

impl From<Denial> for GuardError {
    fn from(denial: Denial) -> Self {
        match denial {
            Denial::Action(action) => Self::NotReadOnly { action },
            Denial::Table(table) => Self::NotAllowed {
                what: format!("the table `{table}`"),
                hint: format!("tables and views: {}", catalog::names().collect::<Vec<_>>().join(", ")),
            },
            Denial::Function(function) => Self::NotAllowed {
                what: format!("the function `{function}`"),
                hint: format!("functions: {}", FUNCTIONS.join(", ")),
            },
        }
    }
}

/// Allows what is listed and remembers the first refusal.
pub(super) struct Allowed {
    denial: Arc<Mutex<Option<Denial>>>,
}

impl Allowed {
    pub(super) fn new(denial: Arc<Mutex<Option<Denial>>>) -> Self {
        Self { denial }
    }
}

impl Authorizer for Allowed {
    fn allows(&mut self, code: i32, first: Option<&str>, second: Option<&str>) -> bool {
        let Some(denial) = denial(code, first.unwrap_or_default(), second.unwrap_or_default()) else {
            return true;
        };
        self.denial.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(denial);
        false
    }
}

fn denial(code: i32, first: &str, second: &str) -> Option<Denial> {
    match code {
        ffi::SQLITE_SELECT | ffi::SQLITE_RECURSIVE => None,
        ffi::SQLITE_READ => read(first, second),
        // The first name is always empty.
        ffi::SQLITE_FUNCTION if FUNCTIONS.iter().any(|name| name.eq_ignore_ascii_case(second)) => None,
        ffi::SQLITE_FUNCTION => Some(Denial::Function(second.to_owned())),
        // FTS5 runs this itself to check whether its cache is stale.
        ffi::SQLITE_PRAGMA if first.eq_ignore_ascii_case("data_version") && second.is_empty() => None,
        ffi::SQLITE_PRAGMA => Some(Denial::Action(format!("PRAGMA {first}"))),
        ffi::SQLITE_ATTACH => Some(Denial::Action("ATTACH".to_owned())),
        ffi::SQLITE_DETACH => Some(Denial::Action("DETACH".to_owned())),
        ffi::SQLITE_INSERT => Some(Denial::Action(format!("INSERT into {first}"))),
        ffi::SQLITE_UPDATE => Some(Denial::Action(format!("UPDATE of {first}"))),
        ffi::SQLITE_DELETE => Some(Denial::Action(format!("DELETE from {first}"))),
        ffi::SQLITE_TRANSACTION | ffi::SQLITE_SAVEPOINT => Some(Denial::Action("a transaction".to_owned())),
        _ => Some(Denial::Action("changing the schema".to_owned())),
    }
}

fn read(table: &str, column: &str) -> Option<Denial> {
    // Without a column, rows are only counted. SQLite then also passes names of CTEs, which are not tables.
    let open = catalog::is_open(table) || column.is_empty() && !catalog::is_closed(table);
    (!open).then(|| Denial::Table(table.to_owned()))
}

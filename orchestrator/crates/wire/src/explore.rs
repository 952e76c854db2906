//! The evidence as tables.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

/// A table or view that statements can read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// `table`, `view`, or `full text`.
    pub kind: String,
    /// What it holds.
    pub description: String,
    /// Its columns, in order.
    pub columns: Vec<Column>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// `TEXT`, `INTEGER`, `REAL`, or `BLOB`; empty if SQLite has none.
    #[serde(rename = "type")]
    pub kind: String,
}

/// A prepared view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct View {
    /// Its name.
    pub name: String,
    /// What it shows, in one sentence.
    pub description: String,
}

/// Rows of a statement or a view.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Rows {
    /// Names of the columns, in order.
    pub columns: Vec<String>,
    /// One object per row, by column name.
    pub rows: Vec<Map<String, Value>>,
    /// Whether there are more.
    pub truncated: bool,
    /// Milliseconds that a statement took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// How to get more, when something was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

//! Objects as rows of one table with typed columns, for formats that declare their attributes.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Type of a column: the narrowest that fits all its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Integer,
    Number,
    Text,
}

impl Kind {
    /// The name that GEXF and `GraphML` have for it.
    pub(super) fn xml(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "long",
            Self::Number => "double",
            Self::Text => "string",
        }
    }
}

/// Rows of equal columns. A missing value is omitted, not an empty text.
#[derive(Debug, PartialEq)]
pub(super) struct Table {
    /// By name.
    pub(super) columns: Vec<(String, Kind)>,
    rows: Vec<BTreeMap<String, Value>>,
}

impl Table {
    /// Nested objects become columns `outer_inner`, lists become JSON text.
    pub(super) fn new(objects: impl Iterator<Item = Map<String, Value>>) -> Self {
        let mut columns: BTreeMap<String, Kind> = BTreeMap::new();
        let mut rows = Vec::new();
        for object in objects {
            let mut row = BTreeMap::new();
            flatten("", object, &mut row);
            for (name, value) in &row {
                let kind = kind(value);
                columns.entry(name.clone()).and_modify(|known| *known = widest(*known, kind)).or_insert(kind);
            }
            rows.push(row);
        }
        Self { columns: columns.into_iter().collect(), rows }
    }

    /// Every row with its cells in the order of the columns.
    pub(super) fn rows(&self) -> impl Iterator<Item = Vec<Option<String>>> {
        self.rows
            .iter()
            .map(|row| self.columns.iter().map(|(name, _)| row.get(name).map(write_cell)).collect())
    }
}

fn flatten(prefix: &str, object: Map<String, Value>, row: &mut BTreeMap<String, Value>) {
    for (name, value) in object {
        let name = if prefix.is_empty() { name } else { format!("{prefix}_{name}") };
        match value {
            Value::Null => {}
            Value::Object(inner) => flatten(&name, inner, row),
            other => {
                row.insert(name, other);
            }
        }
    }
}

fn kind(value: &Value) -> Kind {
    match value {
        Value::Bool(_) => Kind::Boolean,
        Value::Number(number) if number.is_i64() => Kind::Integer,
        Value::Number(_) => Kind::Number,
        _ => Kind::Text,
    }
}

fn widest(a: Kind, b: Kind) -> Kind {
    match (a, b) {
        _ if a == b => a,
        (Kind::Integer | Kind::Number, Kind::Integer | Kind::Number) => Kind::Number,
        _ => Kind::Text,
    }
}

fn write_cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

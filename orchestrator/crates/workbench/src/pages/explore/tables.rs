//! The tables that statements can read.

use super::with_sql;
use crate::words::Words;
use lyra_store::SchemaTable;
use maud::{Markup, html};

/// Rows that a statement from this list asks for.
const LIMIT: u32 = 50;

/// Every table and view with its columns; descriptions exist in English only.
pub(super) fn browser(words: Words, schema: &[SchemaTable]) -> Markup {
    html! {
        section.stack.tight aria-labelledby="schema" {
            h2 #schema { (words.t("explore.schema")) }
            p.small.quiet { (words.t("explore.schema_note")) }
            ul.stack.tight {
                @for table in schema {
                    li {
                        details id=(format!("table-{}", table.name)) {
                            summary.code { (table.name) }
                            div.stack.tight {
                                p.small lang="en" { (table.description) }
                                ul.columns-of {
                                    @for column in &table.columns {
                                        li.small { code { (column.name) } " " span.quiet { (column.kind.to_lowercase()) } }
                                    }
                                }
                                p.small { a href=(with_sql(&statement(table))) { (words.t("explore.read_table")) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Reads all columns of a table. Names are of the schema, never from a request.
fn statement(table: &SchemaTable) -> String {
    let columns: Vec<String> = table.columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
    let columns = if columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
    format!("SELECT {columns}\nFROM {}\nLIMIT {LIMIT}", table.name)
}

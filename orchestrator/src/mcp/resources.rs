//! Resources: what a client reads and caches instead of calling a tool.

use super::tools::status::{Detail, GetStatusOutput};
use crate::app::{App, AppError, ErrorCode};
use lyra_domain::TaskId;
use lyra_store::SchemaTable;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use schemars::JsonSchema;
use serde::Serialize;
use std::time::Duration;

const SCHEMA: &str = "lyra://schema";
const TASKS: &str = "lyra://tasks/";
const JSON: &str = "application/json";

/// Resources with a fixed address.
pub(super) fn list() -> Vec<Resource> {
    vec![
        Resource::new(SCHEMA, "schema")
            .with_title("Tables and views")
            .with_description(
                "Every table and view that query_graph may read, with its columns and what it is for.",
            )
            .with_mime_type(JSON),
    ]
}

/// Resources whose address holds an id.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{TASKS}{{task_id}}"), "task")
            .with_title("Task")
            .with_description("How a task stands, as get_status with detail `full` says it.")
            .with_mime_type(JSON),
    ]
}

/// Reads one resource.
pub(super) async fn read(app: &App, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let text = if uri == SCHEMA {
        written(&SchemaView::from(app.schema().await.map_err(|error| failed(uri, &error))?))
    } else if let Some(id) = uri.strip_prefix(TASKS) {
        let task: TaskId =
            id.parse().map_err(|error| ErrorData::resource_not_found(format!("{uri}: {error}"), None))?;
        let progress = app.task_status(&task, Duration::ZERO).await.map_err(|error| failed(uri, &error))?;
        written(&GetStatusOutput::new(progress, Detail::Full))
    } else {
        Err(ErrorData::resource_not_found(
            format!("there is no resource {uri}; there are {SCHEMA} and {TASKS}{{task_id}}"),
            None,
        ))
    }?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(JSON)]))
}

fn written<T: Serialize>(value: &T) -> Result<String, ErrorData> {
    serde_json::to_string(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn failed(uri: &str, error: &AppError) -> ErrorData {
    match error.code {
        ErrorCode::NotFound => ErrorData::resource_not_found(format!("{uri}: {error}"), None),
        ErrorCode::InvalidArgument => ErrorData::invalid_params(format!("{uri}: {error}"), None),
        _ => {
            tracing::error!(uri, code = %error.code, %error, "resource cannot be read");
            ErrorData::internal_error(format!("{uri}: {error}"), None)
        }
    }
}

/// What may be read with SQL.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SchemaView {
    /// Tables and views.
    tables: Vec<TableView>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TableView {
    /// Its name.
    name: String,
    /// `table`, `view` or `full text`.
    kind: &'static str,
    /// What it is for.
    description: &'static str,
    /// Its columns, in order.
    columns: Vec<ColumnView>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ColumnView {
    /// Its name.
    name: String,
    /// SQLite type; empty where SQLite does not say.
    #[serde(rename = "type")]
    kind: String,
}

impl From<Vec<SchemaTable>> for SchemaView {
    fn from(tables: Vec<SchemaTable>) -> Self {
        Self { tables: tables.into_iter().map(TableView::from).collect() }
    }
}

impl From<SchemaTable> for TableView {
    fn from(SchemaTable { name, kind, description, columns }: SchemaTable) -> Self {
        let columns =
            columns.into_iter().map(|column| ColumnView { name: column.name, kind: column.kind }).collect();
        Self { name, kind, description, columns }
    }
}

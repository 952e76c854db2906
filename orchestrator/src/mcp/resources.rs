//! Resources: what a client reads and caches instead of calling a tool.

use super::reply::CONTENT_NOTICE;
use super::tools::status::{Detail, GetStatusOutput};
use crate::app::fusion::ProvenanceRequest;
use crate::app::{App, AppError, ErrorCode};
use lyra_domain::{ClaimId, TaskId};
use lyra_store::SchemaTable;
use rmcp::ErrorData;
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;

const SCHEMA: &str = "lyra://schema";
const TASKS: &str = "lyra://tasks/";
const FUSION: &str = "lyra://fusion/";
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
        ResourceTemplate::new(format!("{TASKS}{{task_id}}/materials"), "materials")
            .with_title("Materials of a task")
            .with_description(
                "Everything of a task in one document: claims with confidence and evidence, fragments, the evidence \
                 graph, and the citations among its pages. Large: query_graph gets parts of it.",
            )
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{TASKS}{{task_id}}/graph"), "graph")
            .with_title("Evidence graph of a task")
            .with_description("The task's evidence graph as node-link JSON: nodes, edges, counts by relation.")
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{TASKS}{{task_id}}/claims/{{claim_id}}"), "claim")
            .with_title("Claim")
            .with_description("One claim with its confidence and the passages for and against it.")
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{FUSION}{{run_id}}"), "fusion")
            .with_title("Run of a lane or a fusion")
            .with_description(
                "Where a run comes from and what is in it, as get_provenance says it, with up to 1000 documents and all codes.",
            )
            .with_mime_type(JSON),
    ]
}

/// Reads one resource.
pub(super) async fn read(app: &App, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let text = if uri == SCHEMA {
        written(&SchemaView::from(app.schema().await.map_err(|error| failed(uri, &error))?))
    } else if let Some(path) = uri.strip_prefix(TASKS) {
        of_task(app, uri, path).await
    } else if let Some(run_id) = uri.strip_prefix(FUSION) {
        let request = ProvenanceRequest {
            run_id: run_id.to_owned(),
            top_k_lane: 1_000,
            top_k_code: usize::MAX,
            sample: false,
        };
        written(&app.fusion().provenance(&request).await.map_err(|error| failed(uri, &error))?)
    } else {
        Err(unknown(uri))
    }?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(JSON)]))
}

/// What `path` under the tasks names.
async fn of_task(app: &App, uri: &str, path: &str) -> Result<String, ErrorData> {
    let (id, part) = path.split_once('/').map_or((path, None), |(id, part)| (id, Some(part)));
    let task: TaskId = id.parse().map_err(|error| not_found(uri, error))?;
    let failed = |error| failed(uri, &error);
    match part {
        None => {
            let progress = app.task_status(&task, Duration::ZERO).await.map_err(failed)?;
            written(&GetStatusOutput::new(progress, Detail::Full))
        }
        Some("materials") => marked(
            json!(app.materials(&task).await.map_err(failed)?),
            &[
                "claims[].claim_text",
                "claims[].evidence[].text",
                "claims[].evidence[].title",
                "fragments[].text_content",
                "fragments[].heading_context",
                "evidence_graph.nodes[]",
                "evidence_graph.edges[]",
                "citation_network",
            ],
        ),
        Some("graph") => marked(app.graph(&task).await.map_err(failed)?.node_link(), &["nodes[]", "edges[]"]),
        Some(part) => match part.strip_prefix("claims/") {
            Some(claim) => {
                let claim: ClaimId = claim.parse().map_err(|error| not_found(uri, error))?;
                let found = app.claim_material(&task, &claim).await.map_err(failed)?;
                marked(found, &["claim_text", "evidence[].text", "evidence[].title"])
            }
            None => Err(unknown(uri)),
        },
    }
}

/// Says which parts of a document were copied from outside.
fn marked(mut document: Value, untrusted: &[&str]) -> Result<String, ErrorData> {
    if let Some(fields) = document.as_object_mut() {
        fields.insert("untrusted_fields".to_owned(), json!(untrusted));
        fields.insert("content_notice".to_owned(), json!(CONTENT_NOTICE));
    }
    written(&document)
}

fn not_found(uri: &str, why: impl std::fmt::Display) -> ErrorData {
    ErrorData::resource_not_found(format!("{uri}: {why}"), None)
}

fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(
        format!(
            "there is no resource {uri}; there are {SCHEMA}, {FUSION}{{run_id}}, {TASKS}{{task_id}}, and under a task \
             materials, graph and claims/{{claim_id}}"
        ),
        None,
    )
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

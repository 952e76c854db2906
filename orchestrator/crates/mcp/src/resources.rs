//! Resources: what a client can read and cache instead of calling a tool.

use super::app;
use super::reply::{CONTENT_NOTICE, MAX_BYTES};
use super::tools::library::FetchOutput;
use super::tools::status::{Detail, GetStatusOutput};
use lyra_domain::TaskId;
use lyra_store::SchemaTable;
use lyra_usecases::fusion::ProvenanceRequest;
use lyra_usecases::{App, AppError, DocumentKind, ErrorCode, STORED};
use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;

const SCHEMA: &str = "lyra://schema";
pub(super) const TASKS: &str = "lyra://tasks/";
pub(super) const FUSION: &str = "lyra://fusion/";
const TOOLS: &str = "lyra://tools/";
pub(super) const JSON: &str = "application/json";
/// Tasks on a page of the list.
const LISTED: u32 = 50;
/// Bytes of a page reserved for its own metadata.
const FRAME_BYTES: usize = 2_000;
/// Most documents of a run on a page, and codes of each system.
const RUN_DOCUMENTS: usize = 1_000;
const RUN_CODES: usize = 100;
/// Longest title of a listed task, in characters.
const TITLE_CHARS: usize = 100;

/// A page of the resource list: first the schema and the newest tasks, then older ones.
pub(super) async fn list(app: &App, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let page = app.task_page(LISTED, cursor).await.map_err(|error| failed("resources/list", &error))?;
    let schema = Resource::new(SCHEMA, "schema")
        .with_title("Tables and views")
        .with_description(
            "Every table and view that query_graph may read, with its columns and what it is for.",
        )
        .with_mime_type(JSON);
    let tasks = page.tasks.into_iter().map(|task| {
        let title: String = task.query.chars().take(TITLE_CHARS).collect();
        Resource::new(format!("{TASKS}{}", task.id), task.id.to_string())
            .with_title(title)
            .with_description(format!("A task, {}. Its title is its question.", task.status))
            .with_mime_type(JSON)
    });
    let resources = cursor.is_none().then_some(schema).into_iter().chain(tasks);
    #[cfg(feature = "conformance")]
    let resources = resources.chain(super::fixtures::resources());
    let mut listed = ListResourcesResult::with_all_items(resources.collect());
    listed.next_cursor = page.next_cursor;
    Ok(listed)
}

/// Resources whose address holds an id.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    #[cfg(feature = "conformance")]
    let more = super::fixtures::templates();
    #[cfg(not(feature = "conformance"))]
    let more = Vec::new();
    [
        ResourceTemplate::new(format!("{TASKS}{{task_id}}"), "task")
            .with_title("Task")
            .with_description("A task's state, as get_status with detail `full` returns it.")
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{TASKS}{{task_id}}/materials{{?cursor}}"), "materials")
            .with_title("Materials of a task")
            .with_description(
                "Everything of a task: claims with confidence and evidence, fragments, the evidence graph, and the \
                 citations among its pages. Comes in pages: `page.next` is the address of the next one; lists of the same \
                 name belong together. query_graph gets parts of it.",
            )
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{TASKS}{{task_id}}/graph{{?cursor}}"), "graph")
            .with_title("Evidence graph of a task")
            .with_description(
                "The task's evidence graph as node-link JSON: nodes, edges, counts by relation. Comes in pages, as the \
                 materials do.",
            )
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{TASKS}{{task_id}}/claims/{{claim_id}}{{?cursor}}"), "claim")
            .with_title("Claim")
            .with_description(
                "One claim with its confidence, the passages for and against it, and its history. Comes in pages \
                 where there is much of it.",
            )
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{FUSION}{{run_id}}{{?cursor}}"), "fusion")
            .with_title("Run of a lane or a fusion")
            .with_description(
                "Where a run comes from and what is in it, as get_provenance returns it, with all its documents and up to 100 \
                 codes of each system. Comes in pages: `page.next` is the address of more documents.",
            )
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{STORED}{{+id}}"), "stored")
            .with_title("Stored claim or document")
            .with_description("A claim or document by its id, as `fetch` returns it.")
            .with_mime_type(JSON),
        ResourceTemplate::new(format!("{TOOLS}{{tool}}"), "tool")
            .with_title("Tool")
            .with_description(
                "A tool in full: every argument with its limits, and every field of its results with what it means. The \
                 list of tools is shorter.",
            )
            .with_mime_type(JSON),
    ]
    .into_iter()
    .chain(more)
    .collect()
}

/// Reads one resource.
pub(super) async fn read(app: &App, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    #[cfg(feature = "conformance")]
    if let Some(found) = super::fixtures::read(uri) {
        return Ok(found);
    }
    if uri.starts_with(app::SCHEME) {
        let found = app::read(app, uri).await.map_err(|error| failed(uri, &error))?;
        return found.map(|page| ReadResourceResult::new(vec![page])).ok_or_else(|| unknown(uri));
    }
    let text = if uri == SCHEMA {
        written(&SchemaView::from(app.schema().await.map_err(|error| failed(uri, &error))?))
    } else if let Some(path) = uri.strip_prefix(TASKS) {
        of_task(app, uri, path).await
    } else if let Some(path) = uri.strip_prefix(FUSION) {
        of_run(app, uri, path).await
    } else if let Some(id) = uri.strip_prefix(STORED) {
        let id = percent_encoding::percent_decode_str(id).decode_utf8_lossy();
        let item = app.library_item(&id).await.map_err(|error| failed(uri, &error))?;
        written(&FetchOutput::from(item))
    } else if let Some(name) = uri.strip_prefix(TOOLS) {
        super::tools::find(name).map(|entry| entry.described().to_string()).ok_or_else(|| unknown(uri))
    } else {
        Err(unknown(uri))
    }?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(JSON)]))
}

/// A page of a run: the first one has everything, later ones have more of its documents.
async fn of_run(app: &App, uri: &str, path: &str) -> Result<String, ErrorData> {
    let (run_id, query) = path.split_once('?').map_or((path, None), |(run_id, query)| (run_id, Some(query)));
    let offset: usize = match query {
        None => 0,
        Some(query) => query
            .strip_prefix("cursor=")
            .and_then(|cursor| cursor.parse().ok())
            .ok_or_else(|| unknown(uri))?,
    };
    let request = ProvenanceRequest {
        run_id: run_id.to_owned(),
        offset,
        top_k_lane: RUN_DOCUMENTS,
        top_k_code: RUN_CODES,
        sample: false,
        recall_width: None,
    };
    let mut view = app.fusion().provenance(&request).await.map_err(|error| failed(uri, &error))?;
    let documents = std::mem::take(&mut view.documents);
    let total_items = view.meta.count_returned;
    let mut whole = if offset == 0 { json!(view) } else { json!({ "run_id": view.run_id }) };
    let mut room = (MAX_BYTES - FRAME_BYTES).saturating_sub(whole.to_string().len());
    let mut listed = Vec::new();
    for document in documents {
        let document = json!(document);
        let bytes = document.to_string().len() + 1;
        if bytes > room && !listed.is_empty() {
            break;
        }
        room = room.saturating_sub(bytes);
        listed.push(document);
    }
    let shown = offset + listed.len();
    let about = PageView {
        items: listed.len(),
        total_items,
        next: (shown < total_items && !listed.is_empty()).then(|| format!("{FUSION}{run_id}?cursor={shown}")),
        changed_since_cursor: false,
    };
    if let Some(fields) = whole.as_object_mut() {
        fields.insert("documents".to_owned(), json!(listed));
        fields.insert("page".to_owned(), json!(about));
    }
    written(&whole)
}

/// What `path` under the tasks names.
async fn of_task(app: &App, uri: &str, path: &str) -> Result<String, ErrorData> {
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let (id, part) = path.split_once('/').map_or((path, None), |(id, part)| (id, Some(part)));
    let task: TaskId = id.parse().map_err(|error| not_found(uri, error))?;
    let Some(part) = part else {
        if query.is_some() {
            return Err(unknown(uri));
        }
        let failed = |error| failed(uri, &error);
        let mut progress = app.task_status(&task, Duration::ZERO).await.map_err(failed)?;
        progress.warnings.extend(app.outdated_vectors_note(&task).await.map_err(failed)?);
        return written(&GetStatusOutput::new(&progress, Detail::Full, app.now()));
    };
    let (kind, untrusted): (DocumentKind, &[&str]) = match (part, part.strip_prefix("claims/")) {
        ("materials", _) => (
            DocumentKind::Materials,
            &[
                "claims[].claim",
                "claims[].origin",
                "claims[].evidence[]",
                "fragments[].text",
                "fragments[].heading_context",
                "evidence_graph.nodes[]",
                "evidence_graph.edges[]",
                "citation_network",
            ],
        ),
        ("graph", _) => (DocumentKind::Graph, &["nodes[]", "edges[]"]),
        (_, Some(claim)) => (
            DocumentKind::Claim(claim.parse().map_err(|error| not_found(uri, error))?),
            &["claim", "origin", "evidence[]"],
        ),
        _ => return Err(unknown(uri)),
    };
    let cursor = match query {
        None => None,
        Some(query) => Some(query.strip_prefix("cursor=").ok_or_else(|| unknown(uri))?),
    };
    let page = app
        .document_page(&task, kind, cursor, MAX_BYTES - FRAME_BYTES)
        .await
        .map_err(|error| failed(uri, &error))?;
    let about = PageView {
        items: page.items,
        total_items: page.total_items,
        next: page.next_cursor.map(|cursor| format!("{TASKS}{path}?cursor={cursor}")),
        changed_since_cursor: page.changed,
    };
    let mut document = page.part;
    if let Some(fields) = document.as_object_mut() {
        fields.insert("page".to_owned(), json!(about));
        fields.insert("untrusted_fields".to_owned(), json!(untrusted));
        fields.insert("content_notice".to_owned(), json!(CONTENT_NOTICE));
    }
    written(&document)
}

/// The metadata of a page of a document.
#[derive(Debug, Serialize)]
struct PageView {
    /// Items of lists on this page.
    items: usize,
    /// Items of lists on all pages.
    total_items: usize,
    /// Address of the next page; null on the last.
    next: Option<String>,
    /// The document has changed since the cursor was issued; for a consistent copy, start from the beginning.
    changed_since_cursor: bool,
}

/// The address for a program.
fn named(uri: &str) -> Value {
    json!({ "uri": uri })
}

fn not_found(uri: &str, why: impl std::fmt::Display) -> ErrorData {
    ErrorData::resource_not_found(format!("{uri}: {why}"), Some(named(uri)))
}

fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(
        format!(
            "unknown resource {uri}; the resources are {SCHEMA}, {FUSION}{{run_id}}, {STORED}{{id}}, \
             {TOOLS}{{tool}}, {TASKS}{{task_id}}, and under a task \
             materials, graph and claims/{{claim_id}}, each with ?cursor= for further pages"
        ),
        Some(named(uri)),
    )
}

fn written<T: Serialize>(value: &T) -> Result<String, ErrorData> {
    serde_json::to_string(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn failed(uri: &str, error: &AppError) -> ErrorData {
    match error.code {
        ErrorCode::NotFound => not_found(uri, error),
        ErrorCode::InvalidArgument => ErrorData::invalid_params(format!("{uri}: {error}"), None),
        _ => {
            tracing::error!(uri, code = %error.code, %error, "resource cannot be read");
            ErrorData::internal_error(format!("{uri}: {error}"), None)
        }
    }
}

/// What SQL can read.
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
    /// SQLite type; empty if SQLite has none.
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

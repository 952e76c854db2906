//! The evidence as SQL.

use super::call::{Call, Reply, optional_id, within};
use super::route::{Needs, Nothing, Route, get, post};
use crate::problem::Failure;
use lyra_domain::TaskId;
use lyra_store::{GuardOptions, SchemaTable};
use lyra_wire::{Column, Rows, Table, View};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most rows of a statement or a view, and how many of a view without a limit.
const MOST_ROWS: usize = 200;
const VIEW_ROWS: u32 = 50;

pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/schema", "get_schema", "Tables and views that statements can read", schema),
        post("/sql", "query_graph", "Run one SELECT over the evidence", sql).needs(Needs::Reading),
        get("/views", "list_views", "The prepared views", views),
        get("/views/{name}", "query_view", "The rows of a view", view),
    ]
}

/// The schema.
#[derive(Debug, Serialize, JsonSchema)]
struct Tables {
    /// Tables and views.
    tables: Vec<Table>,
}

async fn schema(call: Call, _: Nothing) -> Result<Reply<Tables>, Failure> {
    let table = |table: SchemaTable| Table {
        name: table.name,
        kind: table.kind.to_owned(),
        description: table.description.to_owned(),
        columns: table
            .columns
            .into_iter()
            .map(|column| Column { name: column.name, kind: column.kind })
            .collect(),
    };
    let tables = call.app().schema().await?.into_iter().map(table).collect();
    Ok(Tables { tables }.into())
}

/// A statement.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Statement {
    /// One SELECT statement (or WITH … SELECT) in SQLite's SQL.
    #[schemars(regex(pattern = r"^\s*(SELECT|WITH|select|with)\s"))]
    sql: String,
    /// Most rows, 1 to 200, default 50.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<usize>,
}

async fn sql(call: Call, body: Statement) -> Result<Reply<Rows>, Failure> {
    let default = GuardOptions::default();
    let limit = within("limit", body.limit.unwrap_or(default.limit), 1..=MOST_ROWS)?;
    let options = GuardOptions { limit, ..default };
    let found = call.app().query_graph(&call.caller.actor, &body.sql, options).await?;
    let (rows, elapsed_ms) = (found.rows, Some(found.elapsed_ms));
    Ok(Rows { columns: found.columns, rows, truncated: found.truncated, elapsed_ms, hint: found.hint }.into())
}

/// The prepared views.
#[derive(Debug, Serialize, JsonSchema)]
struct Views {
    /// In the order of the documentation.
    views: Vec<View>,
}

async fn views(call: Call, _: Nothing) -> Result<Reply<Views>, Failure> {
    let view = |view: &lyra_store::ViewInfo| View {
        name: view.name.to_owned(),
        description: view.description.to_owned(),
    };
    Ok(Views { views: call.app().views().iter().map(view).collect() }.into())
}

/// Which rows of a view.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfView {
    /// Only those of this task.
    #[schemars(regex(pattern = r"^task_.+$"))]
    task_id: Option<String>,
    /// Most rows, 1 to 200, default 50.
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u32>,
}

async fn view(call: Call, query: OfView) -> Result<Reply<Rows>, Failure> {
    let limit = within("limit", query.limit.unwrap_or(VIEW_ROWS), 1..=MOST_ROWS as u32)?;
    let task: Option<TaskId> = optional_id("task_id", query.task_id.as_deref())?;
    let name = call.part("name");
    if !call.app().views().iter().any(|view| view.name == name) {
        let message = format!("there is no view `{name}`");
        return Err(Failure::from(lyra_usecases::AppError::new(lyra_usecases::ErrorCode::NotFound, message))
            .hint("GET /views lists the views"));
    }
    if let Some(task) = &task {
        call.app().task(task).await?;
    }
    let found = call.app().query_view(name, task.as_ref(), None, limit).await?;
    let (columns, rows, truncated) = (found.columns, found.rows, found.truncated);
    Ok(Rows { columns, rows, truncated, elapsed_ms: None, hint: None }.into())
}

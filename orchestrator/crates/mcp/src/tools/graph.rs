//! Reading the graph: `query_graph` by SQL, `vector_search` by meaning.

use super::{Call, Effect, Failure, Tool, task_id};
use crate::reply::{CONTENT_NOTICE, MAX_BYTES, cut_note, fit};
use crate::resources::SchemaView;
use crate::schema::any_object;
use lyra_store::{GuardOptions, VectorTarget};
use lyra_wire::json::size;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bytes of one result reserved for everything but rows and schema.
const FRAME_BYTES: usize = 6_000;

/// Runs guarded SQL.
pub(super) struct QueryGraph;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct QueryGraphInput {
    /// One SELECT statement (or WITH … SELECT) in SQLite's SQL, 1 to 20000 characters. Tables and views are listed in
    /// the resource `lyra://schema` and by `options.include_schema`.
    #[schemars(length(min = 1, max = 20_000))]
    sql: String,
    /// Limits. Every part has a default.
    #[serde(default)]
    options: SqlOptions,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
struct SqlOptions {
    /// Most rows to return, 1 to 200, default 50.
    #[schemars(range(min = 1, max = 200))]
    limit: usize,
    /// Most milliseconds the statement may run, 1 to 2000, default 300.
    #[schemars(range(min = 1, max = 2000))]
    timeout_ms: u64,
    /// Most steps of SQLite's virtual machine, 1 to 5000000, default 500000.
    #[schemars(range(min = 1, max = 5_000_000))]
    max_vm_steps: u64,
    /// Whether to return the tables and views with their columns as well, default false.
    include_schema: bool,
}

impl Default for SqlOptions {
    fn default() -> Self {
        let GuardOptions { limit, timeout_ms, max_vm_steps, include_schema } = GuardOptions::default();
        Self { limit, timeout_ms, max_vm_steps, include_schema }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QueryGraphOutput {
    /// One object per row, keyed by column name.
    #[schemars(schema_with = "row_list")]
    rows: Vec<Value>,
    /// Rows returned.
    row_count: usize,
    /// Column names in the order of the statement.
    columns: Vec<String>,
    /// Whether rows or text were omitted because of `limit` or the size of the result.
    truncated: bool,
    /// Milliseconds the statement took.
    elapsed_ms: u64,
    /// Tables and views with their columns. Only with `include_schema`.
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<SchemaView>,
    /// How to get more. Only when something was omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Fields of this result that may hold text copied from documents.
    untrusted_fields: Vec<&'static str>,
    /// How to treat those fields.
    content_notice: &'static str,
}

fn row_list(generator: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": "array", "items": any_object(generator) })
}

impl Tool for QueryGraph {
    const NAME: &'static str = "query_graph";
    const TITLE: &'static str = "Query the evidence graph";
    const DESCRIPTION: &'static str = "Runs one read-only SQLite SELECT over the evidence graph: tasks, queries, \
        pages, fragments, claims, edges and the v_… views. Edges run from a fragment (source_id) to a claim \
        (target_id) with relation supports, refutes, neutral or origin. An error for a wrong table or column names \
        the right one.";
    const EFFECT: Effect = Effect::Reads;
    type Input = QueryGraphInput;
    type Output = QueryGraphOutput;

    async fn call(call: &Call, input: QueryGraphInput) -> Result<QueryGraphOutput, Failure> {
        let SqlOptions { limit, timeout_ms, max_vm_steps, include_schema } = input.options;
        let options = GuardOptions { limit, timeout_ms, max_vm_steps, include_schema };
        let found = call.app.query_graph(&call.actor, &input.sql, options).await?;
        let schema = found.schema.map(SchemaView::from);
        let mut rows: Vec<Value> = found.rows.into_iter().map(Value::Object).collect();
        let taken = FRAME_BYTES + schema.as_ref().map_or(0, size);
        let dropped = fit(&mut rows, MAX_BYTES.saturating_sub(taken));
        let cut = cut_note(
            "rows",
            rows.len(),
            dropped,
            "read the schema on its own, from the resource lyra://schema",
        );
        Ok(QueryGraphOutput {
            row_count: rows.len(),
            rows,
            columns: found.columns,
            truncated: found.truncated || dropped > 0,
            elapsed_ms: found.elapsed_ms,
            schema,
            hint: cut.or(found.hint),
            untrusted_fields: vec!["rows"],
            content_notice: CONTENT_NOTICE,
        })
    }
}

/// Searches by meaning.
pub(super) struct VectorSearch;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct VectorSearchInput {
    /// What to look for, in words, 1 to 2000 characters.
    #[schemars(length(min = 1, max = 2000))]
    query: String,
    /// What to look through, default `claims`.
    #[serde(default)]
    target: Target,
    /// Only within this task. Default: every task.
    #[schemars(length(min = 1, max = 100))]
    task_id: Option<String>,
    /// Most results, 1 to 50, default 10.
    #[serde(default = "default_top_k")]
    #[schemars(range(min = 1, max = 50))]
    top_k: usize,
    /// Least cosine similarity, 0 to 1, default 0.5.
    #[serde(default = "default_similarity")]
    #[schemars(range(min = 0.0, max = 1.0))]
    min_similarity: f64,
}

fn default_top_k() -> usize {
    10
}

fn default_similarity() -> f64 {
    0.5
}

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Target {
    /// Statements, extracted or given.
    #[default]
    Claims,
    /// Passages of documents.
    Fragments,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct VectorSearchOutput {
    /// Closest first.
    results: Vec<Hit>,
    /// Claims or fragments that were compared.
    total_searched: usize,
    /// Claims or fragments in scope that could not be compared, because their vectors come from another model.
    not_searched: u64,
    /// How to make those searchable. Only when there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Fields of this result that hold text copied from documents.
    untrusted_fields: Vec<&'static str>,
    /// How to treat those fields.
    content_notice: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Hit {
    /// Its id; `claims.id` or `fragments.id` in `query_graph`.
    id: String,
    /// The first 200 characters of its text.
    text_preview: String,
    /// Cosine similarity with the query, at most 1.
    similarity: f64,
}

impl Tool for VectorSearch {
    const NAME: &'static str = "vector_search";
    const TITLE: &'static str = "Search by meaning";
    const DESCRIPTION: &'static str = "Finds the claims or fragments closest in meaning to a query, by cosine similarity of \
        embeddings. Use it to find ids, then query_graph for the full rows.";
    const EFFECT: Effect = Effect::Reads;
    type Input = VectorSearchInput;
    type Output = VectorSearchOutput;

    async fn call(call: &Call, input: VectorSearchInput) -> Result<VectorSearchOutput, Failure> {
        let target = match input.target {
            Target::Claims => VectorTarget::Claims,
            Target::Fragments => VectorTarget::Fragments,
        };
        let task = input.task_id.as_deref().map(task_id).transpose()?;
        let lyra_usecases::VectorHits { found, note } = call
            .app
            .vector_search(lyra_usecases::VectorSearch {
                query: input.query,
                target,
                task,
                top_k: input.top_k,
                min_similarity: input.min_similarity as f32,
            })
            .await?;
        let results = found
            .matches
            .into_iter()
            .map(|hit| Hit {
                id: hit.id,
                text_preview: hit.preview,
                similarity: (f64::from(hit.similarity) * 10_000.0).round() / 10_000.0,
            })
            .collect();
        Ok(VectorSearchOutput {
            results,
            total_searched: found.searched,
            not_searched: found.outdated,
            hint: note,
            untrusted_fields: vec!["results[].text_preview"],
            content_notice: CONTENT_NOTICE,
        })
    }
}

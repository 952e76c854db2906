//! The readable tables and views, with descriptions.

use crate::views::VIEWS;
use crate::{Result, Store};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

/// Tables open to queries.
const TABLES: &[(&str, &str)] = &[
    ("tasks", "research questions, with budget and status"),
    ("task_warnings", "notes for readers of a task, such as a source that failed"),
    ("queries", "searches of a task, with what they found"),
    ("serp_items", "what each source answered to a search, by rank"),
    ("works", "scholarly works by DOI or title: year, venue, authors, citation count"),
    ("pages", "anything that fragments are cut from; join works on work_id; year comes from paper_metadata"),
    ("task_pages", "which task uses which page, and why"),
    ("fragments", "pieces of pages; text_content is untrusted external text"),
    ("query_fragments", "how fragments rank for each search"),
    (
        "claims",
        "statements of a task; source_fragment_id and source_domain are where one was found, null for one the user gave; extraction_score \
         is its extractor's own number and never evidence: the confidence is in v_claim_evidence_summary",
    ),
    (
        "edges",
        "relations: fragment to claim (origin, supports, refutes, neutral) and page to page (cites); premise holds the \
         sentences that decided; missing and differs are JSON arrays of what rules found between claim and passage; \
         work_key is the work of a passage, or its page without one; origin \
         is never evidence",
    ),
    (
        "not_judged",
        "passages that were candidates for a claim and were not judged, and why; no evidence, not even neutral",
    ),
    ("embeddings", "vectors of fragments and claims; a search by meaning compares them"),
    ("jobs", "background work of a task"),
    (
        "llm_questions",
        "what a language model was asked for a task, its answer, or why rules took its place; never evidence",
    ),
    ("auth_queue", "pages that require a person: a CAPTCHA, consent, a login"),
    (
        "screening_decisions",
        "what people decided about the documents (pages) of a task: include, exclude, undecided; rows are only added: of \
         a page, the latest row with a verdict counts whose id is in no row's undoes",
    ),
    ("domain_override_rules", "people's decisions about domains"),
    ("domain_override_events", "history of those decisions"),
    (
        "quarantined_fragments",
        "passages that address the AI that reads them: id, page, the rule that matched and the job that found it; \
         their text \
         is not in this database",
    ),
    ("domain_states", "claims per domain by outcome, and blocks"),
    ("nli_corrections", "judgments that a person corrected or reviewed"),
    ("calibration_parameters", "fitted calibrations, by source (NLI model) and version"),
    (
        "calibration_activations",
        "which calibration was activated when; version 0 is the model's own probabilities",
    ),
    ("calibration_evaluations", "measured calibration: Brier score, expected calibration error, bins"),
    ("claim_events", "what happened to a claim, and when"),
    (
        "fragments_fts",
        "full text of fragments: WHERE fragments_fts MATCH 'three or more letters'; rowid is fragments.seq",
    ),
    (
        "claims_fts",
        "full text of claims: WHERE claims_fts MATCH 'three or more letters'; rowid is claims.seq",
    ),
];

/// Tables that FTS5 reads by itself, and table-valued functions.
const INTERNAL: &[&str] = &[
    "fragments_fts_data",
    "fragments_fts_idx",
    "fragments_fts_docsize",
    "fragments_fts_config",
    "claims_fts_data",
    "claims_fts_idx",
    "claims_fts_docsize",
    "claims_fts_config",
    "json_each",
    "json_tree",
];

/// Tables of ours that stay closed.
const CLOSED: &[&str] = &["rate_state", "view_clock", "_sqlx_migrations", "dbstat"];

/// The view's clock, which views read for their readers.
const CLOCK: &str = "view_clock";

/// A table or view that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaTable {
    /// Name.
    pub name: String,
    /// `table`, `view` or `full text`.
    pub kind: &'static str,
    /// Its description.
    pub description: &'static str,
    /// Columns that can be read, in order.
    pub columns: Vec<SchemaColumn>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaColumn {
    /// Name.
    pub name: String,
    /// `TEXT`, `INTEGER`, `REAL` or `BLOB`; empty if SQLite has none.
    pub kind: String,
}

impl Store {
    /// Tables and views that [`Store::query_graph`] can read, with descriptions.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn schema(&self) -> Result<Vec<SchemaTable>> {
        Ok(read(&mut *self.reader().acquire().await?, |_| true).await?)
    }
}

/// Those of them with such a name, on a connection that may look into the schema.
pub(super) async fn read(
    connection: &mut SqliteConnection,
    wanted: impl Fn(&str) -> bool,
) -> Result<Vec<SchemaTable>, sqlx::Error> {
    let mut tables = describe_tables().filter(|table| wanted(&table.name)).collect::<Vec<_>>();
    for table in &mut tables {
        let found =
            sqlx::query("SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid")
                .bind(&table.name)
                .fetch_all(&mut *connection)
                .await?;
        let column =
            |row: &SqliteRow| Ok(SchemaColumn { name: row.try_get("name")?, kind: row.try_get("type")? });
        table.columns = found.iter().map(column).collect::<Result<_, sqlx::Error>>()?;
    }
    Ok(tables)
}

fn describe_tables() -> impl Iterator<Item = SchemaTable> {
    let tables = TABLES.iter().map(|(name, description)| {
        (*name, if name.ends_with("_fts") { "full text" } else { "table" }, *description)
    });
    let views = VIEWS.iter().map(|view| (view.name, "view", view.description));
    tables.chain(views).map(|(name, kind, description)| SchemaTable {
        name: name.to_owned(),
        kind,
        description,
        columns: Vec::new(),
    })
}

/// Names of the readable tables and views.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TABLES.iter().map(|(name, _)| *name).chain(VIEWS.iter().map(|view| view.name))
}

/// Whether columns of this table or view can be read.
pub(super) fn is_open(table: &str) -> bool {
    names().chain(INTERNAL.iter().copied()).chain([CLOCK]).any(|open| open.eq_ignore_ascii_case(table))
}

/// Whether not even the rows of this table can be counted.
pub(super) fn is_closed(table: &str) -> bool {
    let table = table.to_ascii_lowercase();
    CLOSED.contains(&table.as_str()) || table.starts_with("sqlite_") || table.starts_with("pragma_")
}

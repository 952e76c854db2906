//! Untrusted SQL, guarded by the engine: a separate read-only connection, an authorizer, an inspection of the compiled
//! program, and limits on time, steps, memory and size, before and after SQLite compiles it.

mod authorizer;
mod catalog;
mod error;
mod expansion;
mod hints;
mod lexer;
mod limits;
mod program;
mod statement;

pub use catalog::{SchemaColumn, SchemaTable};
pub use error::GuardError;
pub(crate) use hints::nearest;

use crate::{Store, cells, sqlite};
use authorizer::{Allowed, Denial};
use futures::TryStreamExt;
use lexer::Token;
use limits::{Budget, Exceeded};
use program::Trees;
use serde::{Deserialize, Serialize};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, SqlSafeStr, SqliteConnection, Statement};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longest text in one cell, in bytes.
const MAX_CELL_BYTES: usize = 4_096;
/// Largest result, in bytes of JSON.
const MAX_RESULT_BYTES: usize = 50_000;
/// How long a single step that cannot be interrupted may overrun the time limit before the caller gets its answer.
const GRACE: Duration = Duration::from_millis(250);

/// Limits of one guarded statement. Values out of range are clamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardOptions {
    /// Most rows, 1–200.
    pub limit: usize,
    /// Most milliseconds, 1–2,000.
    pub timeout_ms: u64,
    /// Most instructions of SQLite's virtual machine, 1–5,000,000.
    pub max_vm_steps: u64,
    /// Adds the tables and views that can be read.
    pub include_schema: bool,
}

impl Default for GuardOptions {
    fn default() -> Self {
        Self { limit: 50, timeout_ms: 300, max_vm_steps: 500_000, include_schema: false }
    }
}

impl GuardOptions {
    /// With every value in its range.
    #[must_use]
    pub fn in_range(self) -> Self {
        Self {
            limit: self.limit.clamp(1, 200),
            timeout_ms: self.timeout_ms.clamp(1, 2_000),
            max_vm_steps: self.max_vm_steps.clamp(1, 5_000_000),
            include_schema: self.include_schema,
        }
    }
}

/// The result of a guarded statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuardedRows {
    /// One object per row.
    pub rows: Vec<serde_json::Map<String, serde_json::Value>>,
    /// How many rows these are.
    pub row_count: usize,
    /// Names of the columns, in order; a repeated name gets a number.
    pub columns: Vec<String>,
    /// There is more than these rows.
    pub truncated: bool,
    /// Milliseconds that the statement took.
    pub elapsed_ms: u64,
    /// Readable tables and views, if requested.
    #[serde(skip)]
    pub schema: Option<Vec<SchemaTable>>,
    /// What would get more, when something was cut.
    pub hint: Option<String>,
}

impl Store {
    /// Runs one SELECT on a read-only connection and returns at most `options.limit` rows.
    ///
    /// # Errors
    /// [`GuardError`], which tells what is wrong with the statement and how to fix it.
    pub async fn query_graph(&self, sql: &str, options: GuardOptions) -> Result<GuardedRows, GuardError> {
        let options = options.in_range();
        let (guarded, tokens) = prepared(self.path(), sql, options).await?;
        // A step that cannot be interrupted continues after the caller has its answer. Its resources stay in use until
        // it ends.
        let wait = Duration::from_millis(options.timeout_ms);
        let permit = tokio::time::timeout(wait, Arc::clone(self.statements()).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else { return Err(GuardError::Busy) };
        match guarded.answer(sql, &tokens).await {
            Answer::Rows(mut rows) => {
                if options.include_schema {
                    rows.schema = Some(self.schema().await?);
                }
                Ok(rows)
            }
            Answer::Refused(error) => Err(error),
            Answer::GivenUp(connection) => {
                tokio::spawn(async move {
                    // It waits for the step.
                    let _ = connection.close().await;
                    drop(permit);
                });
                Err(GuardError::Timeout { timeout_ms: options.timeout_ms })
            }
        }
    }
}

/// Runs one SELECT on a database file as [`Store::query_graph`] does, without the schema and without interrupting long
/// steps: for a process that is killed at its deadline.
///
/// # Errors
/// As there.
pub async fn query_file(path: &Path, sql: &str, options: GuardOptions) -> Result<GuardedRows, GuardError> {
    let (mut guarded, tokens) = prepared(path, sql, options.in_range()).await?;
    let started = Instant::now();
    match guarded.run(sql, &tokens).await {
        Ok(rows) => Ok(GuardedRows { elapsed_ms: started.elapsed().as_millis() as u64, ..rows }),
        Err(error) => Err(guarded.explain(sql, error).await),
    }
}

/// Sets the memory limit of SQLite in this process. Larger allocations fail at once, even while a statement is
/// compiled.
pub fn limit_heap(bytes: u32) {
    sqlite::set_heap_limit(bytes.into());
}

/// Looks at the statement's text, and opens a connection for it.
async fn prepared<'a>(
    path: &Path,
    sql: &'a str,
    options: GuardOptions,
) -> Result<(Guarded, Vec<Token<'a>>), GuardError> {
    if sql.len() > usize::from(limits::MAX_SQL) {
        return Err(GuardError::TooLarge);
    }
    let tokens = lexer::tokens(sql);
    statement::check(sql, &tokens)?;
    if expansion::size(&tokens) > expansion::MAX_BYTES {
        return Err(GuardError::TooComplex { max_bytes: expansion::MAX_BYTES });
    }
    Ok((Guarded::open(path, options).await?, tokens))
}

/// The outcome of a statement.
enum Answer {
    Rows(GuardedRows),
    Refused(GuardError),
    /// It timed out, and one of its steps is still running.
    GivenUp(SqliteConnection),
}

/// A connection with its guards.
struct Guarded {
    connection: SqliteConnection,
    path: PathBuf,
    options: GuardOptions,
    trees: Trees,
    denial: Arc<Mutex<Option<Denial>>>,
    exceeded: Arc<Mutex<Option<Exceeded>>>,
}

impl Guarded {
    async fn open(path: &Path, options: GuardOptions) -> Result<Self, GuardError> {
        let mut connection = SqliteConnectOptions::new()
            .filename(path)
            .read_only(true)
            .busy_timeout(Duration::from_millis(options.timeout_ms))
            .pragma("query_only", "on")
            // Sorters and temporary tables count against the memory limit instead of filling a disk.
            .pragma("temp_store", "memory")
            .row_buffer_size(32)
            .disable_statement_logging()
            .connect()
            .await?;
        sqlite::add_functions(&mut connection).await?;
        // The checked statement is the executed one: everything sees the same snapshot.
        sqlx::raw_sql("BEGIN").execute(&mut connection).await?;
        let trees = Trees::read(&mut connection).await?;
        let denial = Arc::default();
        let exceeded = Arc::default();
        let mut handle = connection.lock_handle().await?;
        limits::lower(&mut handle);
        sqlite::set_authorizer(&mut handle, Box::new(Allowed::new(Arc::clone(&denial))))?;
        let mut budget = Budget::new(&options, Arc::clone(&exceeded));
        handle.set_progress_handler(limits::STEPS_PER_CALL, move || budget.goes_on());
        drop(handle);
        Ok(Self { connection, path: path.to_owned(), options, trees, denial, exceeded })
    }

    /// Runs the statement within its time.
    async fn answer(mut self, sql: &str, tokens: &[Token<'_>]) -> Answer {
        let started = Instant::now();
        let allowance = Duration::from_millis(self.options.timeout_ms) + GRACE;
        // The progress handler stops a statement between two steps.
        let found = tokio::time::timeout(allowance, self.run(sql, tokens)).await;
        match found {
            Ok(Ok(mut rows)) => {
                rows.elapsed_ms = started.elapsed().as_millis() as u64;
                Answer::Rows(rows)
            }
            Ok(Err(error)) => Answer::Refused(self.explain(sql, error).await),
            Err(_) => Answer::GivenUp(self.connection),
        }
    }

    async fn run(&mut self, sql: &str, tokens: &[Token<'_>]) -> Result<GuardedRows, sqlx::Error> {
        let options = self.options;
        if let Some(closed) = self.trees.closed_one(&mut self.connection, sql, tokens).await? {
            self.denial.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(closed);
            return Err(sqlx::Error::Protocol("the statement is not allowed".to_owned()));
        }
        let sql = AssertSqlSafe(sql.to_owned()).into_sql_str();
        let statement = (&mut self.connection).prepare(sql.clone()).await?;
        let columns = cells::column_names(statement.columns());
        let mut rows = Vec::new();
        let mut bytes = 0;
        let mut hint = None;
        let mut found = sqlx::query(sql).persistent(false).fetch(&mut self.connection);
        while let Some(row) = found.try_next().await? {
            if rows.len() == options.limit {
                hint = Some(format!(
                    "only the first {} rows are shown: narrow it down with WHERE, or page with LIMIT and OFFSET",
                    options.limit
                ));
                break;
            }
            let row = cells::object(&row, &columns, MAX_CELL_BYTES)?;
            bytes += serde_json::to_string(&row).map_or(0, |text| text.len() + 1);
            if bytes > MAX_RESULT_BYTES {
                hint = Some(format!(
                    "the result would be larger than {MAX_RESULT_BYTES} bytes: select fewer columns, or substr() of \
                     the long ones"
                ));
                break;
            }
            rows.push(row);
        }
        Ok(GuardedRows {
            row_count: rows.len(),
            rows,
            columns,
            truncated: hint.is_some(),
            elapsed_ms: 0,
            schema: None,
            hint,
        })
    }

    /// The error, explained for the author of the statement.
    async fn explain(&self, sql: &str, error: sqlx::Error) -> GuardError {
        match self.exceeded.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Exceeded::Time) => return GuardError::Timeout { timeout_ms: self.options.timeout_ms },
            Some(Exceeded::Steps) => {
                return GuardError::TooManySteps { max_vm_steps: self.options.max_vm_steps };
            }
            Some(Exceeded::Memory) => return GuardError::TooMuchMemory,
            None => {}
        }
        let denial = self.denial.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(denial) = denial {
            return denial.into();
        }
        hints::explain(&self.path, sql, error).await
    }
}

#[cfg(test)]
mod tests;

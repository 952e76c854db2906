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
/// How long a statement waits for a writer that holds the database, which none does for longer than a moment.
const BUSY: Duration = Duration::from_millis(300);

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
        let tokens = check_statement(sql)?;
        let guarded = Guarded::new(connect(self.path()).await?, options).await?;
        // A step that cannot be interrupted goes on after the caller has its answer. What it uses stays taken until it ends.
        let wait = Duration::from_millis(options.timeout_ms);
        let permit = tokio::time::timeout(wait, Arc::clone(self.statements()).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else { return Err(GuardError::Busy) };
        match guarded.answer(sql, &tokens).await {
            StatementOutcome::Rows(mut rows) => {
                if options.include_schema {
                    rows.schema = Some(self.schema().await?);
                }
                Ok(rows)
            }
            StatementOutcome::Refused(error) => Err(error),
            StatementOutcome::GivenUp(connection) => {
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

/// Statements over a database file, one after the other on a connection that stays open between them: for a process that is
/// killed at the end of a statement's time.
#[derive(Debug)]
pub struct QueryFile {
    path: PathBuf,
    /// Without guards and outside of a transaction; none before the first statement and after one that met a limit.
    connection: Option<SqliteConnection>,
}

impl QueryFile {
    /// Of this database, which is opened with the first statement.
    pub fn new(path: PathBuf) -> Self {
        Self { path, connection: None }
    }

    /// Runs one SELECT as [`Store::query_graph`] does, without the schema and without an end to a step that cannot be
    /// interrupted.
    ///
    /// # Errors
    /// As there.
    pub async fn query(&mut self, sql: &str, options: GuardOptions) -> Result<GuardedRows, GuardError> {
        let options = options.in_range();
        let tokens = check_statement(sql)?;
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => connect(&self.path).await?,
        };
        let mut guarded = Guarded::new(connection, options).await?;
        let started = Instant::now();
        match guarded.run(sql, &tokens).await {
            Ok(rows) => {
                self.connection = guarded.release().await.ok();
                Ok(GuardedRows { elapsed_ms: started.elapsed().as_millis() as u64, ..rows })
            }
            Err(error) => {
                let (error, connection) = guarded.explain(sql, error).await;
                self.connection = connection;
                Err(error)
            }
        }
    }
}

/// Sets the memory limit of SQLite in this process. Larger allocations fail at once, even while a statement is
/// compiled.
pub fn limit_heap(bytes: u32) {
    sqlite::set_heap_limit(bytes.into());
}

/// The statement's words, when its text may be compiled.
fn check_statement(sql: &str) -> Result<Vec<Token<'_>>, GuardError> {
    if sql.len() > usize::from(limits::MAX_SQL) {
        return Err(GuardError::TooLarge);
    }
    let tokens = lexer::tokens(sql);
    statement::check(sql, &tokens)?;
    if expansion::size(&tokens) > expansion::MAX_BYTES {
        return Err(GuardError::TooComplex { max_bytes: expansion::MAX_BYTES });
    }
    Ok(tokens)
}

/// A read-only connection, still without guards.
async fn connect(path: &Path) -> Result<SqliteConnection, sqlx::Error> {
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(BUSY)
        .pragma("query_only", "on")
        // Sorters and temporary tables count against the memory limit instead of filling a disk.
        .pragma("temp_store", "memory")
        // Every statement is compiled while the guards are active, and never cached beyond them.
        .statement_cache_capacity(0)
        .row_buffer_size(32)
        .disable_statement_logging()
        .connect()
        .await?;
    sqlite::add_functions(&mut connection).await?;
    limits::lower(&mut connection.lock_handle().await?);
    Ok(connection)
}

/// The outcome of a statement.
enum StatementOutcome {
    Rows(GuardedRows),
    Refused(GuardError),
    /// It timed out, and one of its steps is still running.
    GivenUp(SqliteConnection),
}

/// A connection with its guards, in a transaction.
struct Guarded {
    connection: SqliteConnection,
    options: GuardOptions,
    trees: Trees,
    denial: Arc<Mutex<Option<Denial>>>,
    exceeded: Arc<Mutex<Option<Exceeded>>>,
}

impl Guarded {
    async fn new(mut connection: SqliteConnection, options: GuardOptions) -> Result<Self, sqlx::Error> {
        // What is checked is what is run: all of it sees the database at one moment.
        sqlx::raw_sql("BEGIN").execute(&mut connection).await?;
        let trees = Trees::read(&mut connection).await?;
        let denial = Arc::default();
        let exceeded = Arc::default();
        let mut handle = connection.lock_handle().await?;
        sqlite::set_authorizer(&mut handle, Box::new(Allowed::new(Arc::clone(&denial))))?;
        let mut budget = Budget::new(&options, Arc::clone(&exceeded));
        handle.set_progress_handler(limits::STEPS_PER_CALL, move || budget.goes_on());
        drop(handle);
        Ok(Self { connection, options, trees, denial, exceeded })
    }

    /// The connection, without guards and outside of a transaction.
    async fn release(mut self) -> Result<SqliteConnection, sqlx::Error> {
        let mut handle = self.connection.lock_handle().await?;
        handle.remove_progress_handler();
        sqlite::remove_authorizer(&mut handle);
        drop(handle);
        sqlx::raw_sql("ROLLBACK").execute(&mut self.connection).await?;
        Ok(self.connection)
    }

    /// Runs the statement within its time.
    async fn answer(mut self, sql: &str, tokens: &[Token<'_>]) -> StatementOutcome {
        let started = Instant::now();
        let allowance = Duration::from_millis(self.options.timeout_ms) + GRACE;
        // The progress handler stops a statement between two steps.
        let found = tokio::time::timeout(allowance, self.run(sql, tokens)).await;
        match found {
            Ok(Ok(mut rows)) => {
                rows.elapsed_ms = started.elapsed().as_millis() as u64;
                StatementOutcome::Rows(rows)
            }
            Ok(Err(error)) => StatementOutcome::Refused(self.explain(sql, error).await.0),
            Err(_) => StatementOutcome::GivenUp(self.connection),
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

    /// What is wrong with the statement, in words for its author, and the connection, unless the statement met a limit.
    async fn explain(self, sql: &str, error: sqlx::Error) -> (GuardError, Option<SqliteConnection>) {
        let exceeded = self.exceeded.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(exceeded) = exceeded {
            let error = match exceeded {
                Exceeded::Time => GuardError::Timeout { timeout_ms: self.options.timeout_ms },
                Exceeded::Steps => GuardError::TooManySteps { max_vm_steps: self.options.max_vm_steps },
                Exceeded::Memory => GuardError::TooMuchMemory,
            };
            return (error, None);
        }
        let denial = self.denial.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut connection = match self.release().await {
            Ok(connection) => connection,
            Err(failed) => return (denial.map_or_else(|| failed.into(), GuardError::from), None),
        };
        match denial {
            Some(denial) => (denial.into(), Some(connection)),
            None => match hints::explain(&mut connection, sql, error).await {
                error @ (GuardError::Store { .. } | GuardError::TooMuchMemory) => (error, None),
                error => (error, Some(connection)),
            },
        }
    }
}

#[cfg(test)]
mod tests;

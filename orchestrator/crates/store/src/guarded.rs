//! SQL from outside, guarded by the engine: a read-only connection of its own, an authorizer, limits on time, steps,
//! memory and size.

mod authorizer;
mod catalog;
mod error;
mod hints;
mod limits;
mod statement;

pub use catalog::{SchemaColumn, SchemaTable};
pub use error::GuardError;
pub(crate) use hints::nearest;

use crate::{Store, cells, sqlite};
use authorizer::{Allowed, Denial};
use futures::TryStreamExt;
use limits::{Budget, Exceeded};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Executor, SqlSafeStr, SqliteConnection, Statement};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longest text in one cell, in bytes.
const MAX_CELL_BYTES: usize = 4_096;
/// Largest result, in bytes of JSON.
const MAX_RESULT_BYTES: usize = 50_000;
/// How long a single step that cannot be interrupted may overrun the time limit before the caller gets its answer.
const GRACE: Duration = Duration::from_millis(250);

/// Limits of one guarded statement. Values out of range are brought into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardOptions {
    /// Rows at most, 1–200.
    pub limit: usize,
    /// Milliseconds at most, 1–2,000.
    pub timeout_ms: u64,
    /// Instructions of SQLite's virtual machine at most, 1–5,000,000.
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
    fn in_range(self) -> Self {
        Self {
            limit: self.limit.clamp(1, 200),
            timeout_ms: self.timeout_ms.clamp(1, 2_000),
            max_vm_steps: self.max_vm_steps.clamp(1, 5_000_000),
            include_schema: self.include_schema,
        }
    }
}

/// What a guarded statement found.
#[derive(Debug, Clone, PartialEq)]
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
    /// Tables and views that can be read, when they were asked for.
    pub schema: Option<Vec<SchemaTable>>,
    /// What would get more, when something was cut.
    pub hint: Option<String>,
}

impl Store {
    /// Runs one SELECT on a read-only connection and returns at most `options.limit` rows.
    ///
    /// # Errors
    /// [`GuardError`], which says what is wrong with the statement and what would be right.
    pub async fn query_graph(&self, sql: &str, options: GuardOptions) -> Result<GuardedRows, GuardError> {
        let options = options.in_range();
        statement::check(sql)?;
        let mut guarded = Guarded::open(self, options).await?;
        let started = Instant::now();
        let allowance = Duration::from_millis(options.timeout_ms) + GRACE;
        // The progress handler stops a statement between two steps. A step that takes longer is left to its own
        // connection, which ends with it.
        let found = tokio::time::timeout(allowance, guarded.run(sql, options)).await;
        let elapsed_ms = started.elapsed().as_millis() as u64;
        let mut rows = match found {
            Ok(Ok(rows)) => rows,
            Ok(Err(error)) => return Err(guarded.explain(self, sql, error).await),
            Err(_) => return Err(GuardError::Timeout { timeout_ms: options.timeout_ms }),
        };
        rows.elapsed_ms = elapsed_ms;
        if options.include_schema {
            rows.schema = Some(self.schema().await?);
        }
        Ok(rows)
    }
}

/// A connection with its guards.
struct Guarded {
    connection: SqliteConnection,
    options: GuardOptions,
    denial: Arc<Mutex<Option<Denial>>>,
    exceeded: Arc<Mutex<Option<Exceeded>>>,
}

impl Guarded {
    async fn open(store: &Store, options: GuardOptions) -> Result<Self, GuardError> {
        let mut connection = SqliteConnectOptions::new()
            .filename(store.path())
            .read_only(true)
            .busy_timeout(Duration::from_millis(options.timeout_ms))
            .pragma("query_only", "on")
            // Sorters and temporary tables count against the memory limit instead of filling a disk.
            .pragma("temp_store", "memory")
            .row_buffer_size(1)
            .disable_statement_logging()
            .connect()
            .await?;
        sqlite::add_functions(&mut connection).await?;
        let denial = Arc::default();
        let exceeded = Arc::default();
        let mut handle = connection.lock_handle().await?;
        limits::lower(&mut handle);
        sqlite::set_authorizer(&mut handle, Box::new(Allowed::new(Arc::clone(&denial))))?;
        let mut budget = Budget::new(&options, Arc::clone(&exceeded));
        handle.set_progress_handler(limits::STEPS_PER_CALL, move || budget.goes_on());
        drop(handle);
        Ok(Self { connection, options, denial, exceeded })
    }

    async fn run(&mut self, sql: &str, options: GuardOptions) -> Result<GuardedRows, sqlx::Error> {
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

    /// What went wrong, in words for the one who wrote the statement.
    async fn explain(&self, store: &Store, sql: &str, error: sqlx::Error) -> GuardError {
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
        hints::explain(store, sql, error).await
    }
}

#[cfg(test)]
mod tests;

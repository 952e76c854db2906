//! Agents' SQL statements: in worker processes if possible, and only a few per caller at a time.

use super::{App, AppError, ErrorCode};
use crate::worker::{Kind, SqlJob};
use lyra_store::{GuardOptions, GuardedRows, Store};
use lyra_worker::Pool;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Statements of one caller at a time.
const PER_CALLER: usize = 2;
/// How long a statement waits for others of its caller.
const WAIT: Duration = Duration::from_secs(10);
/// Callers that are remembered before those without a statement are forgotten.
const REMEMBERED: usize = 1_000;

/// Where statements run, and the running ones by caller.
pub(super) struct Statements {
    /// `None` if the application has no worker program.
    pub(super) pool: Option<Pool>,
    /// Whether the log already says that statements run in this process.
    said: AtomicBool,
    callers: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl Statements {
    pub(super) fn new(program: Option<PathBuf>, store: &Store) -> std::io::Result<Self> {
        let database = std::path::absolute(store.path())?;
        let pool = program.map(|program| Kind::Sql.pool(program, vec![database.into()]));
        Ok(Self { pool, said: AtomicBool::new(false), callers: Mutex::default() })
    }

    /// Waits until the caller may run one more.
    async fn turn(&self, caller: &str, wait: Duration) -> Result<OwnedSemaphorePermit, AppError> {
        let turns = {
            let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
            if callers.len() >= REMEMBERED {
                callers.retain(|_, turns| Arc::strong_count(turns) > 1);
            }
            let turns = callers.entry(caller.to_owned());
            Arc::clone(turns.or_insert_with(|| Arc::new(Semaphore::new(PER_CALLER))))
        };
        match tokio::time::timeout(wait, turns.acquire_owned()).await {
            Ok(Ok(turn)) => Ok(turn),
            _ => Err(AppError::new(
                ErrorCode::Unavailable,
                format!("{PER_CALLER} statements of this caller are already running"),
            )
            .with("send it again when one of them has been answered")),
        }
    }
}

impl App {
    /// Runs one guarded, read-only statement over the evidence store. Dropping the future stops the statement.
    ///
    /// # Errors
    /// A statement that is not a single `SELECT` over the listed tables and views, or that exceeds its time, steps or
    /// memory.
    pub async fn query_graph(
        &self,
        caller: &str,
        sql: &str,
        options: GuardOptions,
    ) -> Result<GuardedRows, AppError> {
        let statements = &self.inner.statements;
        let _turn = statements.turn(caller, WAIT).await?;
        if let Some(pool) = &statements.pool {
            match SqlJob::new(sql, options).run(pool).await {
                Ok(answer) => {
                    let mut rows = answer?;
                    if options.include_schema {
                        rows.schema = Some(self.store().schema().await?);
                    }
                    return Ok(rows);
                }
                Err(error) if !statements.said.swap(true, Ordering::Relaxed) => {
                    tracing::warn!(%error, "agents' SQL statements run in this process, without the kernel's limits");
                }
                Err(_) => {}
            }
        }
        Ok(self.store().query_graph(sql, options).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    async fn app(folder: &std::path::Path, program: Option<PathBuf>) -> App {
        let config =
            Config { data_dir: Some(folder.to_owned()), worker_program: program, ..Config::default() };
        crate::testing::open(config).await
    }

    #[tokio::test]
    async fn a_caller_has_two_statements_at_a_time_and_others_have_theirs() {
        const SHORT: Duration = Duration::from_millis(20);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lyra.db");
        let store = Store::open(&path, lyra_store::StoreConfig::default()).await.unwrap();
        let statements = Statements::new(None, &store).unwrap();
        let first = statements.turn("a", SHORT).await.unwrap();
        let _second = statements.turn("a", SHORT).await.unwrap();
        let _other = statements.turn("b", SHORT).await.unwrap();
        let refused = statements.turn("a", SHORT).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Unavailable);
        drop(first);
        let _third = statements.turn("a", SHORT).await.unwrap();
    }

    #[tokio::test]
    async fn without_processes_statements_run_here_and_the_doctor_says_so() {
        let folder = tempfile::tempdir().unwrap();
        for program in [None, Some("/nowhere/lyra".into())] {
            let app = app(folder.path(), program).await;
            let rows = app.query_graph("me", "SELECT 1 AS x", GuardOptions::default()).await.unwrap();
            assert_eq!(rows.rows[0]["x"], 1);
            let found = app.isolation().await;
            assert_eq!(found.health, super::super::Health::Note, "{found:?}");
            assert!(found.seen.contains("in this process"), "{}", found.seen);
            app.close().await;
        }
    }
}

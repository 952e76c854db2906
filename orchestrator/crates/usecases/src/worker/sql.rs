//! Agents' SQL in a process of its own, which has the database open for reading and nothing else.

use super::Kind;
use lyra_store::{GuardError, GuardOptions, GuardedRows, QueryFile, limit_heap};
use lyra_worker::{Access, Limits, Pool, WorkerError};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Memory that SQLite may use, in bytes: a statement that needs more fails with an error.
const HEAP: u32 = 128 << 20;
/// Limits of the whole process, for a statement that makes SQLite exceed its own limit.
pub(super) const LIMITS: Limits =
    Limits { memory: 224 << 20, addresses: 4 << 30, cpu: Duration::from_secs(4), files: 64 };
/// How long a statement may overrun its time before its worker is killed.
const GRACE: Duration = Duration::from_millis(250);

/// One statement.
#[derive(Debug, Serialize, Deserialize)]
pub struct SqlJob {
    sql: String,
    options: GuardOptions,
}

pub(super) fn serve(kind: Kind, arguments: &[OsString]) -> std::io::Result<()> {
    let [database] = arguments else {
        return Err(std::io::Error::other("a worker for SQL wants the path of a database"));
    };
    let database = PathBuf::from(database);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    limit_heap(HEAP);
    let access = access(&database);
    let mut database = QueryFile::new(database);
    lyra_worker::serve(&kind.limits(), &access, kind.most_bytes(), |job| {
        runtime.block_on(answer(&mut database, &job))
    })
}

/// The database and its log, and the index of the log, in which readers mark what they read.
fn access(database: &Path) -> Access {
    let beside = |end: &str| {
        let mut path = database.as_os_str().to_owned();
        path.push(end);
        PathBuf::from(path)
    };
    Access { read: vec![database.to_owned(), beside("-wal")], write: vec![beside("-shm")] }
}

async fn answer(database: &mut QueryFile, job: &[u8]) -> Vec<u8> {
    let answer = match serde_json::from_slice::<SqlJob>(job) {
        Ok(job) => database.query(&job.sql, job.options).await,
        Err(error) => Err(GuardError::Store { message: error.to_string() }),
    };
    // Rows of JSON and texts, which always can be written.
    serde_json::to_vec(&answer).unwrap_or_default()
}

impl SqlJob {
    /// A statement with its limits.
    pub fn new(sql: &str, options: GuardOptions) -> Self {
        Self { sql: sql.to_owned(), options: options.in_range() }
    }

    /// Has it run by a worker, which is killed when its time is over.
    ///
    /// # Errors
    /// The outer one when no worker can be started; the inner one is the statement's.
    pub(crate) async fn run(&self, pool: &Pool) -> Result<Result<GuardedRows, GuardError>, WorkerError> {
        let timeout_ms = self.options.timeout_ms;
        let failed = |message: String| GuardError::Store { message };
        let job = match serde_json::to_vec(self) {
            Ok(job) => job,
            Err(error) => return Ok(Err(failed(error.to_string()))),
        };
        let answer = pool.run(&job, Duration::from_millis(timeout_ms) + GRACE).await;
        Ok(match answer {
            Ok(answer) => {
                serde_json::from_slice(&answer).unwrap_or_else(|error| Err(failed(error.to_string())))
            }
            Err(error @ WorkerError::Start { .. }) => return Err(error),
            Err(WorkerError::Busy) => Err(GuardError::Busy),
            Err(WorkerError::Deadline { .. } | WorkerError::Cpu { .. }) => {
                Err(GuardError::Timeout { timeout_ms })
            }
            Err(WorkerError::Memory { .. }) => Err(GuardError::TooMuchMemory),
            Err(WorkerError::TooLarge { .. }) => Err(GuardError::TooLarge),
            Err(error @ WorkerError::Died { .. }) => Err(failed(error.to_string())),
        })
    }
}

//! Opening the store, and the two ways into it: reading and writing.

use crate::lease::WorkerLock;
use crate::progress::ProgressCache;
use crate::vectors::VectorCache;
use crate::{Result, StoreError, jobs, private, schema, sqlite, views};
use lyra_domain::Job;
use lyra_research::ports::Clock;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Connection, Sqlite, Transaction};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// The evidence store: a SQLite file, and a private one beside it for secrets. Clones share it.
#[derive(Clone)]
pub struct Store {
    inner: Arc<StoreInner>,
    /// The job on whose behalf this clone writes; without one, it may always write.
    leased: Option<Arc<Job>>,
}

struct StoreInner {
    path: PathBuf,
    config: StoreConfig,
    readers: SqlitePool,
    /// One connection: SQLite has one writer, and waiting here is fairer than waiting in its busy handler.
    writer: SqlitePool,
    /// One connection that nothing else uses, which therefore sees every commit as another's.
    watcher: SqlitePool,
    /// One connection, whose temporary tables have the numbers of claims.
    numbers: SqlitePool,
    worker: WorkerLock,
    vectors: VectorCache,
    progress: ProgressCache,
    /// Statements from outside that may run in this process at a time.
    statements: Arc<Semaphore>,
}

/// Untrusted statements that may run in this process at a time, including abandoned ones that still run.
const STATEMENTS: usize = 4;

/// How the store behaves.
#[derive(Clone)]
pub struct StoreConfig {
    /// The clock behind every stored time and every lease.
    pub clock: Arc<dyn Clock>,
    /// Connections for reading.
    pub readers: u32,
    /// How long to wait for another process that is writing.
    pub busy_timeout: Duration,
    /// Attempts of a job before it fails permanently.
    pub max_attempts: u32,
    /// How often a job's worker may die without progress before the job is considered the cause and fails.
    pub max_deaths: u32,
    /// How long a page that requires a person stays in the auth queue.
    pub auth_expiry: Duration,
    /// Vectors of one kind (claims or fragments) up to which a search compares with all of them exactly. Beyond, memory
    /// holds one byte per number, which yields candidates for an exact comparison.
    pub exact_vectors: usize,
    /// Bytes of memory that the vectors of one kind may take. Where they would take more, every search reads them from
    /// disk.
    pub vector_memory: usize,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            readers: 4,
            busy_timeout: Duration::from_secs(15),
            // With the pauses between them, enough for two minutes without an ml-server.
            max_attempts: 10,
            // Deliberately high: killing processes at random should not lose work.
            max_deaths: 25,
            auth_expiry: Duration::from_hours(72),
            exact_vectors: 100_000,
            vector_memory: 512 << 20,
        }
    }
}

/// The system's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that all others are taken from")]
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }
}

impl Store {
    /// Opens the database at `path`, creating it and its folder if missing and upgrading an older one. Folder and files
    /// are accessible to their owner only. Beside it, `private.db` holds the data that untrusted statements must not
    /// read, and `workers/` one locked file per process that takes jobs; jobs of dead processes go back to the queue.
    ///
    /// # Errors
    /// The file is not a Lyra database, comes from a newer version, or is not writable.
    pub async fn open(path: &Path, config: StoreConfig) -> Result<Self> {
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let not_writable = |path: &Path, error: &std::io::Error| StoreError::NotWritable {
            path: path.to_owned(),
            why: error.to_string(),
        };
        let workers = folder.join("workers");
        std::fs::create_dir_all(&workers).map_err(|error| not_writable(&folder, &error))?;
        private::keep_folder_to_owner(&folder);
        let worker = WorkerLock::acquire(&workers).map_err(|error| not_writable(&workers, &error))?;

        // From here on, this process may open the file: no restore runs or starts.
        let turn = schema::turn(&workers).await?;
        schema::check(path).await?;
        private::open(path).await?;
        private::keep_to_owner(path)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // In WAL mode this loses nothing when the process dies, and stays consistent when the machine crashes.
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            .busy_timeout(config.busy_timeout);
        let writer = pool(&options, 1).await.map_err(|error| schema::open_error(path, error))?;
        schema::migrate(path, &writer).await?;
        views::create(&writer).await?;
        drop(turn);
        let reading = options.read_only(true).create_if_missing(false);
        let readers = pool(&reading, config.readers.max(1)).await?;
        let watcher = pool(&reading, 1).await?;
        let numbers = pool(&reading.clone().pragma("temp_store", "memory"), 1).await?;

        let vectors = VectorCache::default();
        let store = Self {
            inner: Arc::new(StoreInner {
                path: path.to_owned(),
                config,
                readers,
                writer,
                watcher,
                numbers,
                worker,
                vectors,
                progress: ProgressCache::default(),
                statements: Arc::new(Semaphore::new(STATEMENTS)),
            }),
            leased: None,
        };
        store.reclaim_dead_workers().await?;
        Ok(store)
    }

    /// The database file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Now, by the clock that stored times are taken from.
    pub fn now(&self) -> jiff::Timestamp {
        self.inner.config.clock.now()
    }

    /// Waits for the connections to finish and closes them.
    pub async fn close(&self) {
        self.inner.readers.close().await;
        self.inner.watcher.close().await;
        self.inner.numbers.close().await;
        self.inner.writer.close().await;
    }

    /// A number that changes with every commit, by this process or another. It only tells whether derived data may be
    /// stale.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn change_stamp(&self) -> Result<i64> {
        Ok(sqlx::query_scalar("PRAGMA data_version").fetch_one(&self.inner.watcher).await?)
    }

    pub(crate) fn reader(&self) -> &SqlitePool {
        &self.inner.readers
    }

    /// A clone for the steps of a job, all of whose writes fail once another lease of the job began or it was stopped.
    pub(crate) fn on_behalf_of(&self, job: &Job) -> Self {
        Self { inner: Arc::clone(&self.inner), leased: Some(Arc::new(job.clone())) }
    }

    /// A transaction that holds the write lock from its start, so that it never fails halfway because of another
    /// writer. On behalf of a job, it begins only while the job's lease holds: the lock keeps others from ending it.
    pub(crate) async fn write(&self) -> Result<Transaction<'static, Sqlite>> {
        let mut tx = self.begin().await?;
        if let Some(job) = &self.leased {
            jobs::leased(&mut tx, job).await?;
        }
        Ok(tx)
    }

    async fn begin(&self) -> Result<Transaction<'static, Sqlite>> {
        let writer = &self.inner.writer;
        match writer.begin_with("BEGIN IMMEDIATE").await {
            // When the disk is full, SQLite ends a transaction by itself, but sqlx still considers it open. Such a
            // connection is unusable.
            Err(sqlx::Error::InvalidSavePointStatement) => {
                writer.acquire().await?.close().await?;
                Ok(writer.begin_with("BEGIN IMMEDIATE").await?)
            }
            begun => Ok(begun?),
        }
    }

    pub(crate) fn numbers(&self) -> &SqlitePool {
        &self.inner.numbers
    }

    pub(crate) fn config(&self) -> &StoreConfig {
        &self.inner.config
    }

    pub(crate) fn vector_cache(&self) -> &VectorCache {
        &self.inner.vectors
    }

    pub(crate) fn progress_cache(&self) -> &ProgressCache {
        &self.inner.progress
    }

    pub(crate) fn statements(&self) -> &Arc<Semaphore> {
        &self.inner.statements
    }

    pub(crate) fn worker(&self) -> &WorkerLock {
        &self.inner.worker
    }

    /// Now, as stored.
    pub(crate) fn stamp(&self) -> String {
        stamp(self.now())
    }
}

/// RFC 3339 in UTC with milliseconds: of one width, so that text order is time order.
pub(crate) fn stamp(time: jiff::Timestamp) -> String {
    format!("{time:.3}")
}

async fn pool(options: &SqliteConnectOptions, connections: u32) -> Result<SqlitePool, sqlx::Error> {
    let database = options.get_filename().to_owned();
    SqlitePoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(Duration::from_mins(1))
        .idle_timeout(None)
        .max_lifetime(None)
        // A transaction that SQLite ended by itself, as on a full disk, leaves a wrong depth counter behind, and no
        // other could begin on that connection.
        .before_acquire(|connection, _| Box::pin(async move { Ok(!connection.is_in_transaction()) }))
        .after_connect(move |connection, _| {
            let database = database.clone();
            Box::pin(async move {
                sqlite::add_functions(connection).await?;
                private::attach(connection, &database).await
            })
        })
        .connect_with(options.clone())
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing::{Bench, Graph};

    /// Sets something of the writing connection.
    async fn pragma(bench: &Bench, sql: &'static str) {
        let mut connection = bench.store.inner.writer.acquire().await.unwrap();
        sqlx::raw_sql(sql).execute(&mut *connection).await.unwrap();
    }

    /// Existing data stays readable while writing fails, and writing works again afterward.
    async fn survives(stop: &'static str, again: &'static str, expect: &str) {
        let bench = Bench::new().await;
        let graph = Graph::new(&bench).await;
        let before = bench.store.claim_reports(&graph.task.id).await.unwrap();
        pragma(&bench, stop).await;
        let mut refused = None;
        for n in 0..200 {
            let warning = format!("{n} {}", "x".repeat(4_000));
            if let Err(error) = bench.store.write_warning(&graph.task.id, &warning).await {
                refused = Some((n, error.to_string()));
                break;
            }
        }
        let (written, error) = refused.expect("a full disk refuses");
        assert_eq!(error, expect);
        assert_eq!(bench.store.claim_reports(&graph.task.id).await.unwrap(), before);
        assert_eq!(bench.count("SELECT count(*) FROM task_warnings").await, written);
        pragma(&bench, again).await;
        bench.store.write_warning(&graph.task.id, "it goes on").await.unwrap();
        assert_eq!(bench.store.check().await.unwrap().problems, []);
    }

    #[tokio::test]
    async fn a_full_disk_is_said_and_nothing_is_lost() {
        // SQLite does not go below its current usage.
        survives(
            "PRAGMA max_page_count = 1",
            "PRAGMA max_page_count = 1000000",
            "the disk with the database is full",
        )
        .await;
    }

    #[tokio::test]
    async fn a_read_only_disk_is_said_and_nothing_is_lost() {
        survives(
            "PRAGMA query_only = on",
            "PRAGMA query_only = off",
            "the disk with the database is read-only",
        )
        .await;
    }

    #[test]
    fn times_sort_as_text() {
        let at = |text: &str| stamp(text.parse().unwrap());
        assert_eq!(at("2026-11-20T00:00:00Z"), "2026-11-20T00:00:00.000Z");
        assert!(at("2026-11-20T00:00:00Z") < at("2026-11-20T00:00:00.5Z"));
    }
}

//! Counts for monitoring.

use crate::progress::job_count;
use crate::rows::RowExt;
use crate::{JobCount, Result, Store};
use lyra_domain::TaskStatus;

/// The store in numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoreCounts {
    /// Jobs of all tasks, by kind and state.
    pub jobs: Vec<JobCount>,
    /// Tasks by status.
    pub tasks: Vec<(TaskStatus, u64)>,
    /// Jobs that a free worker could take or will when their pause is over.
    pub waiting: u64,
    /// Age of the oldest of those in seconds; 0 without any.
    pub oldest_seconds: f64,
    /// Items in the auth queue.
    pub auth_pending: u64,
    /// Bytes of the database file.
    pub database_bytes: u64,
    /// Bytes of its write-ahead log.
    pub log_bytes: u64,
}

impl Store {
    /// The store in numbers, as of one moment.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn counts(&self) -> Result<StoreCounts> {
        let mut tx = self.reader().begin().await?;
        let jobs = sqlx::query(
            "SELECT kind, state, count(*) AS count FROM jobs GROUP BY kind, state ORDER BY kind, state",
        )
        .fetch_all(&mut *tx)
        .await?;
        let tasks =
            sqlx::query("SELECT status, count(*) AS count FROM tasks GROUP BY status ORDER BY status")
                .fetch_all(&mut *tx)
                .await?;
        let queue = sqlx::query(
            "SELECT count(*) AS waiting,
                 coalesce(max(0.0, (julianday(?1) - julianday(min(queued_at))) * 86400.0), 0.0) AS oldest,
                 (SELECT count(*) FROM auth_queue WHERE status IN ('pending', 'in_progress')) AS auth
             FROM jobs WHERE state = 'queued'",
        )
        .bind(self.stamp())
        .fetch_one(&mut *tx)
        .await?;
        let bytes = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |file| file.len());
        let mut log = self.path().as_os_str().to_owned();
        log.push("-wal");
        Ok(StoreCounts {
            jobs: jobs.iter().map(job_count).collect::<Result<_>>()?,
            tasks: tasks
                .iter()
                .map(|row| Ok((row.parsed("status")?, row.count("count")?)))
                .collect::<Result<_>>()?,
            waiting: queue.count("waiting")?,
            oldest_seconds: queue.value("oldest")?,
            auth_pending: queue.count("auth")?,
            database_bytes: bytes(self.path()),
            log_bytes: bytes(std::path::Path::new(&log)),
        })
    }
}

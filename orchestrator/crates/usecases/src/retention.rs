//! Deletion by request or by age, and integrity checks of the database.

use super::{App, AppError};
use lyra_domain::TaskId;
use lyra_store::{Deleted, Deletion, StoreCheck};
use lyra_wire::TaskChange;
use serde::Serialize;
use std::time::{Duration, SystemTime};
use tokio_util::sync::CancellationToken;

/// How often a server checks for old data.
const EVERY: Duration = Duration::from_hours(6);
/// Seconds of a day.
const DAY: u64 = 24 * 3600;

/// What cleaning up removed, or would.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PruneReport {
    /// Tasks that ended more than `retention.task_days` ago.
    pub tasks: Vec<TaskId>,
    /// Their rows, and unreferenced rows.
    pub deleted: Deleted,
    /// Responses cached for more than `retention.cache_days`.
    pub cache_files: u64,
    /// Their bytes.
    pub cache_bytes: u64,
    /// Whether this is a dry run: nothing was removed.
    pub dry_run: bool,
}

impl App {
    /// Deletes a task with everything that no other task uses, or reports what that would be.
    ///
    /// # Errors
    /// No such task, or one with jobs that wait or run.
    pub async fn delete_task(&self, task: &TaskId, how: Deletion) -> Result<Deleted, AppError> {
        let deleted = self.store().delete_task(task, how).await?;
        if how == Deletion::Commit {
            self.publish_task(task, TaskChange::Deleted);
        }
        Ok(deleted)
    }

    /// Removes data older than `[retention]` allows, and unreferenced rows. A dry run counts each task separately, so
    /// data shared by several tasks is not counted.
    ///
    /// # Errors
    /// The database is not writable; earlier deletions stay.
    pub async fn prune(&self, how: Deletion) -> Result<PruneReport, AppError> {
        let retention = &self.config().retention;
        let dry_run = how == Deletion::DryRun;
        let mut report = PruneReport { dry_run, ..PruneReport::default() };
        if retention.task_days > 0 {
            let age = Duration::from_secs(retention.task_days.saturating_mul(DAY));
            let before = self.now().checked_sub(age).unwrap_or(jiff::Timestamp::MIN);
            for task in self.store().tasks_ended_before(before).await? {
                match self.store().delete_task(&task.id, how).await {
                    Ok(deleted) => {
                        add(&mut report.deleted, deleted);
                        report.tasks.push(task.id);
                    }
                    // Resumed or deleted by someone else in the meantime.
                    Err(error) => tracing::info!(task_id = %task.id, %error, "task kept"),
                }
            }
        }
        add(&mut report.deleted, self.store().delete_leftovers(how).await?);
        if retention.cache_days > 0 {
            let age = Duration::from_secs(retention.cache_days.saturating_mul(DAY));
            let before = SystemTime::from(self.now()).checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
            let folder = self.data_dir().join("http-cache");
            let pruned = tokio::task::spawn_blocking(move || {
                lyra_sources::http::prune_cache(&folder, before, dry_run)
            });
            (report.cache_files, report.cache_bytes) = pruned.await.unwrap_or_default();
        }
        Ok(report)
    }

    /// Removes old data now and every few hours, if the configuration sets an age limit.
    pub async fn keep_retention(&self, cancel: CancellationToken) {
        let retention = &self.config().retention;
        if retention.task_days == 0 && retention.cache_days == 0 {
            return;
        }
        loop {
            match self.prune(Deletion::Commit).await {
                Ok(report) if report.tasks.is_empty() => {}
                Ok(report) => {
                    tracing::info!(tasks = report.tasks.len(), "deleted old tasks");
                    self.audit_retention(&report).await;
                }
                Err(error) => tracing::warn!(%error, "old data could not be removed"),
            }
            if cancel.run_until_cancelled(tokio::time::sleep(EVERY)).await.is_none() {
                return;
            }
        }
    }

    /// Reads the whole database and returns its problems.
    ///
    /// # Errors
    /// When it cannot be read at all.
    pub async fn check_store(&self) -> Result<StoreCheck, AppError> {
        Ok(self.store().check().await?)
    }

    /// Rebuilds the full-text indexes of the database.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn rebuild_full_text(&self) -> Result<(), AppError> {
        Ok(self.store().rebuild_full_text().await?)
    }
}

fn add(total: &mut Deleted, more: Deleted) {
    for (table, rows) in more.rows {
        *total.rows.entry(table).or_default() += rows;
    }
    total.cited_pages_kept |= more.cited_pages_kept;
}

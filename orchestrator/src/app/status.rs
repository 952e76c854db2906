//! How a task stands, now or as soon as something changes.

use super::{App, AppError};
use lyra_domain::{JobState, TaskId, TaskStatus};
use lyra_store::TaskProgress;
use std::time::Duration;
use tokio::time::Instant;

/// Longest wait of one call.
pub const MAX_WAIT: Duration = Duration::from_secs(45);
/// How often the store is looked at while waiting; jobs may run in another process.
const POLL: Duration = Duration::from_millis(200);

impl App {
    /// How a task stands. With a `wait`, returns as soon as it has changed, or when the wait is over.
    ///
    /// # Errors
    /// No such task.
    pub async fn task_status(&self, task: &TaskId, wait: Duration) -> Result<TaskProgress, AppError> {
        let until = Instant::now() + wait.min(MAX_WAIT);
        let first = self.store().task_status(task).await?;
        let mut now = first.clone();
        while unchanged(&first, &now) && !idle(&now) && Instant::now() < until {
            tokio::time::sleep(POLL.min(until - Instant::now())).await;
            now = self.store().task_status(task).await?;
        }
        Ok(now)
    }
}

/// Nothing but the clock of a running job has moved, and its questions to a language model.
fn unchanged(before: &TaskProgress, now: &TaskProgress) -> bool {
    TaskProgress { seconds_used: now.seconds_used, llm: now.llm, ..before.clone() } == *now
}

/// Nothing is queued or running.
pub fn idle(progress: &TaskProgress) -> bool {
    progress.jobs_in(JobState::Queued) + progress.jobs_in(JobState::Running) == 0
}

/// The task could not go on.
pub fn failed(progress: &TaskProgress) -> bool {
    progress.task.status == TaskStatus::Failed
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::{Priority, TaskConfig};
    use lyra_research::ports::{EvidenceStore, JobQueue};
    use lyra_store::{NewTask, Store, StoreConfig};

    #[tokio::test]
    async fn a_running_job_alone_is_no_change() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("lyra.db"), StoreConfig::default()).await.unwrap();
        let claims = vec!["Naps help.".to_owned()];
        let new = NewTask { query: "Do naps help?".to_owned(), config: TaskConfig::default(), claims };
        let task = store.create_task(new, Priority::Medium).await.unwrap().id;
        store.lease(Some(&task), Duration::from_mins(1)).await.unwrap().unwrap();
        let before = store.task_status(&task).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        let now = store.task_status(&task).await.unwrap();
        assert!(now.seconds_used > before.seconds_used && unchanged(&before, &now));
        store.add_warning(&task, "a source failed").await.unwrap();
        assert!(!unchanged(&before, &store.task_status(&task).await.unwrap()));
    }
}

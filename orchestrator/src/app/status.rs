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
        while now == first && !idle(&now) && Instant::now() < until {
            tokio::time::sleep(POLL.min(until - Instant::now())).await;
            now = self.store().task_status(task).await?;
        }
        Ok(now)
    }
}

/// Nothing is queued or running.
pub fn idle(progress: &TaskProgress) -> bool {
    progress.jobs_in(JobState::Queued) + progress.jobs_in(JobState::Running) == 0
}

/// The task could not go on.
pub fn failed(progress: &TaskProgress) -> bool {
    progress.task.status == TaskStatus::Failed
}

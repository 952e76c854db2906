//! Working a task off; the tests of `lyra-sources` take it from here too.

use lyra_domain::{JobState, TaskId};
use lyra_research::Worker;
use lyra_store::{Store, TaskProgress};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Works until nothing of the task is left, jobs that are tried again included.
pub(crate) async fn finish(worker: &Worker, store: &Store, task: &TaskId) -> TaskProgress {
    let cancel = CancellationToken::new();
    loop {
        let worked = worker.step(&cancel).await.unwrap();
        let status = store.task_status(task).await.unwrap();
        if status.jobs_in(JobState::Queued) == 0 {
            return status;
        }
        if !worked {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

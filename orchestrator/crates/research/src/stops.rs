//! Stop signals of the tasks at work in this process.

use lyra_domain::TaskId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// One token per task at work; stopping a task cancels its jobs here at once. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Stops {
    tokens: Arc<Mutex<HashMap<TaskId, CancellationToken>>>,
}

impl Stops {
    /// A token for a job of this task, cancelled with the task or with `process`.
    pub(crate) fn token(&self, task: &TaskId, process: &CancellationToken) -> CancellationToken {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.retain(|_, token| !token.is_cancelled());
        tokens.entry(task.clone()).or_insert_with(|| process.child_token()).child_token()
    }

    /// Cancels the jobs of this task that run in this process. Later jobs of the task are not touched.
    pub fn stop(&self, task: &TaskId) {
        if let Some(token) = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).remove(task) {
            token.cancel();
        }
    }
}

//! One query while it is asked: of which sources, and for how long.

use crate::context::Context;
use crate::ports::EvidenceSource;
use crate::{Budget, PortError, Result};
use lyra_domain::{Query, Task};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// One query at work.
pub(crate) struct Search<'a> {
    pub(crate) context: &'a Context,
    /// What it asks.
    pub(crate) sources: &'a [Arc<dyn EvidenceSource>],
    pub(crate) query: &'a Query,
    /// The part of the sources that is asked, after a person has been there; without it the whole.
    pub(crate) part: Option<&'a str>,
    /// When the task's time is used up.
    pub(crate) until: Instant,
    /// Pages that the task's budget still allowed when the search began.
    pub(crate) room: usize,
}

impl<'a> Search<'a> {
    /// Begins with the pages and the time that the task still has.
    pub(crate) async fn begin(
        context: &'a Context,
        task: &Task,
        sources: &'a [Arc<dyn EvidenceSource>],
        query: &'a Query,
        allowed: Duration,
    ) -> Result<Self> {
        let used = context.store.task_pages(&task.id).await?.len();
        let room = (task.config.budget.max_pages as usize).saturating_sub(used);
        Ok(Self { context, sources, query, part: None, until: Instant::now() + allowed, room })
    }

    /// The same, of one part of its sources.
    pub(crate) fn of_part(self, part: &'a str) -> Self {
        Self { part: Some(part), ..self }
    }

    /// Time that is left.
    pub(crate) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

/// A source that takes longer than the task has left counts as one that failed.
pub(crate) async fn within<T>(time: Duration, answer: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::time::timeout(time, answer).await.unwrap_or(Err(PortError::BudgetUsed(Budget::Time)))
}

//! A task's state, now or as soon as something changes.

use super::{App, AppError};
use lyra_domain::{JobState, QueryStatus, TaskId, TaskStatus};
use lyra_store::TaskProgress;
use std::fmt;
use std::time::Duration;
use tokio::time::Instant;

/// Longest wait of one call.
pub const MAX_WAIT: Duration = Duration::from_secs(45);
/// Polling interval of the store while waiting; jobs may run in another process.
const POLL: Duration = Duration::from_millis(200);
/// The same for a subscription, which lasts for as long as a session.
const WATCH: Duration = Duration::from_millis(500);

impl App {
    /// A task's state. With a `wait`, returns as soon as something relevant has changed, or when the wait is over.
    ///
    /// # Errors
    /// No such task.
    pub async fn task_status(&self, task: &TaskId, wait: Duration) -> Result<TaskProgress, AppError> {
        let until = Instant::now() + wait.min(MAX_WAIT);
        let first = self.store().task_status(task).await?;
        let mut now = first.clone();
        while news(&first) == news(&now) && !idle(&now) && Instant::now() < until {
            tokio::time::sleep(POLL.min(until - Instant::now())).await;
            now = self.store().task_status(task).await?;
        }
        Ok(now)
    }
}

/// A task that is watched for news.
pub struct TaskWatch {
    app: App,
    task: TaskId,
    seen: News,
    stamp: i64,
}

impl App {
    /// Watches a task from its present state on.
    ///
    /// # Errors
    /// No such task.
    pub async fn watch_task(&self, task: &TaskId) -> Result<TaskWatch, AppError> {
        let stamp = self.store().change_stamp().await?;
        let seen = news(&self.store().task_status(task).await?);
        Ok(TaskWatch { app: self.clone(), task: task.clone(), seen, stamp })
    }
}

impl TaskWatch {
    /// Waits for a change that ends a wait of [`App::task_status`].
    ///
    /// # Errors
    /// The task was deleted.
    pub async fn changed(&mut self) -> Result<(), AppError> {
        loop {
            tokio::time::sleep(WATCH).await;
            let stamp = self.app.store().change_stamp().await?;
            if stamp == self.stamp {
                continue;
            }
            self.stamp = stamp;
            let now = news(&self.app.store().task_status(&self.task).await?);
            if now != self.seen {
                self.seen = now;
                return Ok(());
            }
        }
    }
}

/// The changes that end a wait: another phase, a finished search, claims found and another quarter of them judged, a
/// warning, a page that requires human verification, a blocked domain. Pages, passages and edges change by the hundred,
/// and a running clock is not news.
pub(super) fn news(progress: &TaskProgress) -> News {
    let open = |status: QueryStatus| matches!(status, QueryStatus::Queued | QueryStatus::Running);
    let ended = progress.queries.iter().filter(|query| !open(query.status)).count();
    let states: Vec<_> =
        progress.jobs.iter().map(|jobs| (jobs.kind.clone(), jobs.state, jobs.count)).collect();
    let quarter = (progress.claims_judged * 4).checked_div(progress.claims);
    News {
        status: progress.task.status,
        stop_reason: progress.stop_reason.clone(),
        ended,
        states,
        claims: (progress.claims, quarter),
        warnings: progress.warnings.len(),
        pending_auth: progress.pending_auth,
        domains: (progress.blocked_domains.len(), progress.overrides.len()),
    }
}

/// What a reader of a task waits for.
#[derive(PartialEq)]
pub(super) struct News {
    status: TaskStatus,
    stop_reason: Option<String>,
    ended: usize,
    states: Vec<(String, JobState, u64)>,
    claims: (u64, Option<u64>),
    warnings: usize,
    pending_auth: u64,
    domains: (usize, usize),
}

/// Nothing is queued or running.
pub fn idle(progress: &TaskProgress) -> bool {
    progress.jobs_in(JobState::Queued) + progress.jobs_in(JobState::Running) == 0
}

/// What a task has not judged, because its work is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unfinished {
    /// Adopted claims that were judged against no passage yet.
    pub claims: u64,
    /// Adopted claims.
    pub of: u64,
    /// The time limit ended the work; without a higher one, resuming it changes nothing.
    pub out_of_time: bool,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { claims, of, .. } = self;
        match claims {
            0 => f.write_str("the task is not finished: it may still find claims and evidence"),
            _ => write!(f, "the task is not finished; claims that are not judged yet: {claims} of {of}"),
        }
    }
}

/// What is left to do: work waits or runs, stopping cancelled some, or the time limit came before all claims were judged.
pub fn unfinished(progress: &TaskProgress) -> Option<Unfinished> {
    let claims = progress.claims.saturating_sub(progress.claims_judged);
    let stopped = progress.stop_reason.is_some() && progress.jobs_in(JobState::Cancelled) > 0;
    let used_up = progress.seconds_used >= f64::from(progress.task.config.budget.max_seconds);
    let out_of_time = used_up && claims > 0;
    let open = !idle(progress) || stopped || out_of_time;
    open.then_some(Unfinished { claims, of: progress.claims, out_of_time })
}

/// The task could not continue.
pub fn failed(progress: &TaskProgress) -> bool {
    progress.task.status == TaskStatus::Failed
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::{Priority, TaskConfig};
    use lyra_research::ports::JobQueue;
    use lyra_store::{NewTask, Store, StoreConfig};

    #[tokio::test]
    async fn a_task_is_unfinished_while_work_waits_was_stopped_or_ran_out_of_time() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("lyra.db"), StoreConfig::default()).await.unwrap();
        let new = NewTask {
            query: "Do naps help?".to_owned(),
            claims: vec!["Naps help.".to_owned()],
            ..NewTask::default()
        };
        let task = store.create_task(new, Priority::Medium).await.unwrap().id;
        let waiting = store.task_status(&task).await.unwrap();
        let open = unfinished(&waiting).unwrap();
        assert_eq!(open, Unfinished { claims: 1, of: 1, out_of_time: false });
        assert!(open.to_string().ends_with("not judged yet: 1 of 1"), "{open}");

        let done = TaskProgress { jobs: Vec::new(), claims: 8, claims_judged: 2, ..waiting };
        assert_eq!(unfinished(&done), None, "claims without a similar passage have no judgment");
        let late = TaskProgress { seconds_used: 1_200.0, ..done.clone() };
        assert_eq!(unfinished(&late), Some(Unfinished { claims: 6, of: 8, out_of_time: true }));
        assert_eq!(unfinished(&TaskProgress { claims_judged: 8, ..late }), None);

        store.stop_task(&task, "enough", lyra_store::StopMode::Graceful).await.unwrap();
        assert!(unfinished(&store.task_status(&task).await.unwrap()).is_some());
    }

    #[tokio::test]
    async fn only_what_a_reader_waits_for_is_news() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("lyra.db"), StoreConfig::default()).await.unwrap();
        let claims = vec!["Naps help.".to_owned()];
        let new = NewTask {
            query: "Do naps help?".to_owned(),
            config: TaskConfig::default(),
            claims,
            question_claim: None,
        };
        let task = store.create_task(new, Priority::Medium).await.unwrap().id;
        store.lease(Some(&task), Duration::from_mins(1)).await.unwrap().unwrap();
        let before = store.task_status(&task).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        let now = store.task_status(&task).await.unwrap();
        assert!(now.seconds_used > before.seconds_used && news(&before) == news(&now));

        let with = |change: fn(&mut TaskProgress)| {
            let mut progress = TaskProgress { claims: 40, claims_judged: 8, ..before.clone() };
            change(&mut progress);
            progress
        };
        let judging = with(|_| {});
        for change in [
            (|now| now.pages += 1) as fn(&mut TaskProgress),
            |now| now.fragments += 10,
            |now| now.edges.insert(lyra_domain::Relation::Neutral, 5).map_or((), |_| ()),
            |now| now.last_activity += Duration::from_secs(1),
            |now| now.claims_judged += 1,
        ] {
            assert!(news(&judging) == news(&with(change)));
        }
        for change in [
            (|now| now.claims += 1) as fn(&mut TaskProgress),
            |now| now.claims_judged = 10,
            |now| now.warnings.push("a source failed".to_owned()),
            |now| now.pending_auth += 1,
            |now| now.task.status = TaskStatus::Failed,
            |now| now.jobs[0].state = JobState::Queued,
        ] {
            assert!(news(&judging) != news(&with(change)));
        }
    }
}

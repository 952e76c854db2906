//! Changes by other processes: one watcher, which runs while somebody listens.

use super::{Feed, lock};
use crate::App;
use crate::status::{News, news};
use lyra_domain::{TaskId, TaskStatus};
use lyra_wire::{Happened, Stale, TaskChange};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// How often the store is asked whether anything changed.
const LOOK: Duration = Duration::from_millis(500);
/// Shortest time between two events `stale`.
const STALE_EVERY: Duration = Duration::from_secs(5);
/// Tasks whose state is compared for listeners of everything.
const TASKS: u32 = 50;

/// What was published last.
#[derive(Default)]
struct Told {
    /// News of the tasks that have listeners.
    news: BTreeMap<TaskId, News>,
    /// State of the newest tasks, once they are known.
    tasks: Option<BTreeMap<TaskId, TaskStatus>>,
}

impl Feed {
    pub(super) fn leave(&self, task: Option<&TaskId>) {
        let mut listeners = lock(&self.listeners);
        let key = task.cloned();
        if let Some(count) = listeners.tasks.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                listeners.tasks.remove(&key);
            }
        }
    }

    /// What is listened to; `None` if no one listens, and then the watcher has ended with this call.
    fn watched(&self, stamp: i64) -> Option<Vec<Option<TaskId>>> {
        let mut listeners = lock(&self.listeners);
        listeners.stamp = Some(stamp);
        if listeners.tasks.is_empty() {
            listeners.watched = false;
            return None;
        }
        Some(listeners.tasks.keys().cloned().collect())
    }
}

impl App {
    /// Counts a listener, and starts the watcher unless it runs.
    pub(super) fn watch_others(&self, task: Option<&TaskId>) {
        let before = {
            let mut listeners = lock(&self.inner.feed.listeners);
            *listeners.tasks.entry(task.cloned()).or_default() += 1;
            if std::mem::replace(&mut listeners.watched, true) {
                return;
            }
            listeners.stamp
        };
        let app = self.clone();
        tokio::spawn(async move { app.watch_store(before).await });
    }

    /// Publishes what changes in the store, until no one listens. `before` is the stamp that was seen last.
    async fn watch_store(self, before: Option<i64>) {
        let feed = &self.inner.feed;
        let (mut told, mut seen) = (Told::default(), before);
        let mut stale = before.is_some();
        let mut last_stale = None;
        loop {
            let stamp = match self.store().change_stamp().await {
                Ok(stamp) => stamp,
                Err(error) => {
                    tracing::debug!(%error, "the store is no longer watched");
                    lock(&feed.listeners).watched = false;
                    return;
                }
            };
            let Some(listened) = feed.watched(stamp) else { return };
            let changed = seen.replace(stamp) != Some(stamp);
            let new = told.tasks.is_none() && told.news.is_empty();
            let known = |task: &Option<TaskId>| match task {
                None => told.tasks.is_some(),
                Some(task) => told.news.contains_key(task),
            };
            if changed || !listened.iter().all(known) {
                self.compare(&mut told, &listened).await;
                stale |= changed && !new;
            }
            if stale && last_stale.is_none_or(|at: Instant| at.elapsed() >= STALE_EVERY) {
                feed.publish(Happened::Stale(Stale::default()));
                (stale, last_stale) = (false, Some(Instant::now()));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Publishes what is new about the tasks that are listened to.
    async fn compare(&self, told: &mut Told, listened: &[Option<TaskId>]) {
        told.news.retain(|task, _| listened.iter().any(|one| one.as_ref() == Some(task)));
        for task in listened.iter().flatten() {
            // A task that was deleted has no more news.
            let Ok(progress) = self.store().task_status(task).await else {
                if told.news.remove(task).is_some() {
                    self.publish_task(task, TaskChange::Deleted);
                }
                continue;
            };
            let now = news(&progress);
            match told.news.get(task) {
                Some(before) if *before == now => continue,
                Some(_) => self.publish_task(task, TaskChange::Changed),
                None => {}
            }
            told.news.insert(task.clone(), now);
        }
        if !listened.contains(&None) {
            told.tasks = None;
            return;
        }
        let Ok(tasks) = self.list_tasks(TASKS).await else { return };
        let now: BTreeMap<TaskId, TaskStatus> =
            tasks.into_iter().map(|task| (task.id, task.status)).collect();
        if let Some(before) = &told.tasks {
            for (task, status) in &now {
                match before.get(task) {
                    None => self.publish_task(task, TaskChange::Created),
                    Some(earlier) if earlier != status => self.publish_task(task, TaskChange::Changed),
                    Some(_) => {}
                }
            }
        }
        told.tasks = Some(now);
    }
}

//! What happens, as a feed of events that can be resumed.
//!
//! Events have ids `EPOCH-N`; the epoch changes with each start. The last 1,024 are kept. Listeners read from that ring
//! at their own pace, so a slow one costs nothing: it learns that it has missed some.

mod foreign;

use crate::App;
use lyra_domain::{ClaimId, EdgeId, TaskId};
use lyra_research::ports::{Event, Step, Subscriber};
use lyra_wire::{
    ClaimChangeKind, ClaimChanged, Happened, JobEvent, StepEvent, StepKind, TaskChange, TaskEvent,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use uuid::Uuid;

/// Events that are kept for listeners that are behind.
const KEPT: usize = 1_024;

/// The events of this process, and those of others on the same data folder while somebody listens.
pub(crate) struct Feed {
    epoch: String,
    ring: Mutex<Ring>,
    /// The number of the latest event, for those that wait.
    latest: watch::Sender<u64>,
    listeners: Mutex<Listeners>,
}

/// The latest events; the first is `first`, numbers begin at 1.
#[derive(Default)]
struct Ring {
    events: VecDeque<Arc<Happened>>,
    last: u64,
}

/// Who listens, and the stamp of the store when it was last compared.
#[derive(Default)]
struct Listeners {
    /// Listeners by task; `None` for those of everything.
    tasks: BTreeMap<Option<TaskId>, usize>,
    watched: bool,
    stamp: Option<i64>,
}

impl Default for Feed {
    fn default() -> Self {
        Self {
            epoch: Uuid::new_v4().simple().to_string()[..12].to_owned(),
            ring: Mutex::default(),
            latest: watch::Sender::new(0),
            listeners: Mutex::default(),
        }
    }
}

impl Ring {
    /// The number of the oldest event that is kept.
    fn first(&self) -> u64 {
        self.last + 1 - self.events.len() as u64
    }
}

impl Feed {
    /// Adds an event.
    pub(crate) fn publish(&self, event: Happened) {
        let last = {
            let mut ring = lock(&self.ring);
            if ring.events.len() == KEPT {
                ring.events.pop_front();
            }
            ring.events.push_back(Arc::new(event));
            ring.last += 1;
            ring.last
        };
        self.latest.send_replace(last);
    }

    fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.epoch)
    }

    /// The number of an id, if it is of this epoch.
    fn number(&self, id: &str) -> Option<u64> {
        let (epoch, number) = id.rsplit_once('-')?;
        (epoch == self.epoch).then(|| number.parse().ok())?
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Subscriber for Feed {
    fn receive(&self, event: &Event) {
        match event {
            Event::Stepped(progress) => self.publish(Happened::Step(step(&progress.task, &progress.step))),
            Event::JobEnded { kind, end, took } => self.publish(Happened::Job(JobEvent {
                kind: (*kind).to_owned(),
                end: end.as_str().to_owned(),
                milliseconds: took.as_millis() as u64,
            })),
            Event::SourceRequested { .. } | Event::RateWaited { .. } | Event::CacheLookedUp { .. } => {}
        }
    }
}

fn step(task: &TaskId, step: &Step) -> StepEvent {
    let (kind, count, of, query) = match step {
        Step::Collected { query, hits } => (StepKind::Collected, *hits, None, Some(query.clone())),
        Step::Fetched { read, of } => (StepKind::Fetched, *read, Some(*of), None),
        Step::Ranked { relevant } => (StepKind::Ranked, *relevant, None, None),
        Step::Expanded { found, .. } => (StepKind::Expanded, *found, None, None),
        Step::Extracted { claims } => (StepKind::Extracted, *claims, None, None),
        Step::Judged { done, of } => (StepKind::Judged, *done, Some(*of), None),
    };
    let (count, of) = (count as u64, of.map(|of| of as u64));
    StepEvent { task_id: task.to_string(), step: kind, count, of, query }
}

/// What a listener gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// An event with its id.
    Event(String, Arc<Happened>),
    /// Events were missed: what is shown must be loaded again. Listening goes on after this id.
    Reset(String),
}

/// Someone who listens to the feed.
pub struct Listener {
    app: App,
    task: Option<TaskId>,
    /// The next number to read.
    next: u64,
    /// The id that it gave is too old, or of another start.
    missed: bool,
    latest: watch::Receiver<u64>,
}

impl App {
    /// Listens to what happens to one task, or to everything, from now on or after the event with this id.
    pub fn events(&self, after: Option<&str>, task: Option<TaskId>) -> Listener {
        let feed = &self.inner.feed;
        let (first, last) = {
            let ring = lock(&feed.ring);
            (ring.first(), ring.last)
        };
        let resumed = after.map(|id| feed.number(id).map(|number| number + 1));
        let (next, missed) = match resumed {
            None => (last + 1, false),
            Some(Some(next)) if (first..=last + 1).contains(&next) => (next, false),
            Some(_) => (last + 1, true),
        };
        self.watch_others(task.as_ref());
        Listener { app: self.clone(), task, next, missed, latest: feed.latest.subscribe() }
    }

    /// Id of the last event.
    pub fn last_event(&self) -> String {
        let feed = &self.inner.feed;
        feed.id(lock(&feed.ring).last)
    }

    /// Tells listeners about a change of a task.
    pub(crate) fn publish_task(&self, task: &TaskId, change: TaskChange) {
        self.inner.feed.publish(Happened::Task(TaskEvent { task_id: task.to_string(), change }));
    }

    /// Tells listeners about a person's change of a claim or of a judgment.
    pub(crate) fn publish_claim(
        &self,
        task: &TaskId,
        claim: &ClaimId,
        change: ClaimChangeKind,
        edge: Option<&EdgeId>,
    ) {
        self.inner.feed.publish(Happened::Claim(ClaimChanged {
            task_id: task.to_string(),
            claim_id: claim.to_string(),
            change,
            edge_id: edge.map(ToString::to_string),
        }));
    }
}

impl Listener {
    /// The id after which the listener hears events.
    pub fn position(&self) -> String {
        self.app.inner.feed.id(self.next - 1)
    }

    /// The next event. Dropping the future loses none.
    pub async fn next(&mut self) -> Heard {
        loop {
            if let Some(heard) = self.read() {
                return heard;
            }
            let next = self.next;
            // The sender lives as long as the application, which this holds.
            let _ = self.latest.wait_for(|last| *last >= next).await;
        }
    }

    /// The next event that is there already.
    fn read(&mut self) -> Option<Heard> {
        let app = self.app.clone();
        let feed = &app.inner.feed;
        let ring = lock(&feed.ring);
        if std::mem::take(&mut self.missed) || self.next < ring.first() {
            self.next = ring.last + 1;
            return Some(Heard::Reset(feed.id(ring.last)));
        }
        while self.next <= ring.last {
            let number = self.next;
            self.next += 1;
            let event = ring.events.get((number - ring.first()) as usize)?;
            if self.concerns(event) {
                return Some(Heard::Event(feed.id(number), Arc::clone(event)));
            }
        }
        None
    }

    fn concerns(&self, event: &Happened) -> bool {
        match (&self.task, event) {
            (None, _) | (Some(_), Happened::Stale(_)) => true,
            (Some(task), event) => event.task_id() == Some(task.as_str()),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.app.inner.feed.leave(self.task.as_ref());
    }
}

#[cfg(test)]
mod tests;

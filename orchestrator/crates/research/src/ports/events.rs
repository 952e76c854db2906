//! What the parts do, as events: metrics and progress displays subscribe to them.

use lyra_domain::TaskId;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How a leased job ended here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobEnd {
    /// It is done.
    Completed,
    /// It failed, for good or until its next attempt.
    Failed,
    /// Its task was stopped, or another worker took it.
    Cancelled,
    /// The process stops and gave it back.
    GivenBack,
}

impl JobEnd {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::GivenBack => "given_back",
        }
    }
}

/// How one request to a source ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestEnd {
    /// An answer below 400.
    Answered,
    /// 4xx but 429.
    ClientError,
    /// 429.
    TooManyRequests,
    /// 5xx.
    ServerError,
    /// No answer in time.
    Timeout,
    /// No connection, or a broken one.
    Unreachable,
    /// Not sent, or its answer not taken: an address that leads inside, robots.txt, size, type.
    Refused,
}

impl RequestEnd {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::ClientError => "client_error",
            Self::TooManyRequests => "too_many_requests",
            Self::ServerError => "server_error",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Refused => "refused",
        }
    }
}

/// What the cache of answers had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheLookup {
    /// A fresh answer, used as it was.
    Hit,
    /// An old one, asked for again.
    Stale,
    /// Nothing.
    Miss,
}

impl CacheLookup {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Stale => "stale",
            Self::Miss => "miss",
        }
    }
}

/// One step of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Task.
    pub task: TaskId,
    /// What happened.
    pub step: Step,
}

/// What a job has just done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Every source has answered or failed.
    Collected {
        /// The query.
        query: String,
        /// Hits over all sources.
        hits: usize,
    },
    /// Pages of works without abstract are fetched.
    Fetched {
        /// Pages read.
        read: usize,
        /// Works tried.
        of: usize,
    },
    /// Fragments are ranked.
    Ranked {
        /// Fragments above the cut-off.
        relevant: usize,
    },
    /// Citations of the best works are followed.
    Expanded {
        /// Works found through citations.
        found: usize,
        /// Those that became pages.
        chosen: usize,
    },
    /// Claims are extracted.
    Extracted {
        /// Claims of the task.
        claims: usize,
    },
    /// One claim is judged.
    Judged {
        /// Claims judged so far.
        done: usize,
        /// Claims to judge.
        of: usize,
    },
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A task made a step.
    Stepped(Progress),
    /// A worker stopped working on a job.
    JobEnded {
        /// Kind of the job: `search`, `resume`, `judge`.
        kind: &'static str,
        /// How it ended.
        end: JobEnd,
        /// How long it was worked on.
        took: Duration,
    },
    /// A request was sent to a provider; every attempt counts.
    SourceRequested {
        /// `semantic_scholar`, `web:example.org`, …
        provider: String,
        /// How it ended.
        end: RequestEnd,
        /// Until its answer was read.
        took: Duration,
    },
    /// A request waited for its turn.
    RateWaited {
        /// As in [`Event::SourceRequested`].
        provider: String,
        /// How long.
        waited: Duration,
    },
    /// The cache of answers was looked into.
    CacheLookedUp {
        /// As in [`Event::SourceRequested`].
        provider: String,
        /// What it had.
        found: CacheLookup,
    },
}

/// Receives events where they happen, so it must return at once.
pub trait Subscriber: Send + Sync {
    /// Something happened. Events of no interest are ignored.
    fn receive(&self, event: &Event);
}

/// The bus: hands each event to every subscriber, in their order. Cheap to clone; without subscribers, events go nowhere.
#[derive(Clone, Default)]
pub struct Events {
    subscribers: Arc<[Arc<dyn Subscriber>]>,
}

impl Events {
    /// A bus with these subscribers.
    pub fn new(subscribers: Vec<Arc<dyn Subscriber>>) -> Self {
        Self { subscribers: subscribers.into() }
    }

    /// Hands an event to every subscriber.
    pub fn publish(&self, event: &Event) {
        for subscriber in self.subscribers.iter() {
            subscriber.receive(event);
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Events({} subscribers)", self.subscribers.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Kept(Mutex<Vec<Event>>);

    impl Subscriber for Kept {
        fn receive(&self, event: &Event) {
            self.0.lock().expect("not poisoned").push(event.clone());
        }
    }

    #[test]
    fn every_subscriber_receives_every_event_in_order() {
        let (first, second) = (Arc::<Kept>::default(), Arc::<Kept>::default());
        let events = Events::new(vec![first.clone(), second.clone()]);
        let waited = |provider: &str| Event::RateWaited {
            provider: provider.to_owned(),
            waited: Duration::from_secs(1),
        };
        let published = [waited("a"), waited("b")];
        for event in &published {
            events.clone().publish(event);
        }
        for kept in [first, second] {
            assert_eq!(*kept.0.lock().expect("not poisoned"), published);
        }
        Events::default().publish(&published[0]);
    }
}

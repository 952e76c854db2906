//! Stand-ins for tests.

mod rates;

pub(crate) use rates::MemoryRates;

use jiff::{SignedDuration, Timestamp};
use lyra_research::ports::Clock;
use std::sync::{Arc, Mutex};

/// A clock that is set by hand.
pub(crate) struct SetClock(pub(crate) Mutex<Timestamp>);

impl SetClock {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new("2026-11-20T09:00:00Z".parse().unwrap())))
    }

    pub(crate) fn jump(&self, seconds: i64) {
        let mut now = self.0.lock().unwrap();
        *now += SignedDuration::from_secs(seconds);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

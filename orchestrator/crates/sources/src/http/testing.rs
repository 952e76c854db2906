//! Stand-ins for tests.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use lyra_research::ports::{Clock, RateState, RateStore};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// Keeps limiter states in memory.
#[derive(Default)]
pub(crate) struct MemoryRates(pub(crate) Mutex<HashMap<String, RateState>>);

#[async_trait]
impl RateStore for MemoryRates {
    async fn load(&self, provider: &str) -> lyra_research::Result<Option<RateState>> {
        Ok(self.0.lock().unwrap().get(provider).cloned())
    }

    async fn save(&self, provider: &str, state: &RateState) -> lyra_research::Result<()> {
        self.0.lock().unwrap().insert(provider.to_owned(), state.clone());
        Ok(())
    }
}

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

//! Limiter states in memory; the tests over real sockets also use them.

use async_trait::async_trait;
use lyra_research::ports::{RateState, RateStore};
use std::collections::HashMap;
use std::sync::Mutex;

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

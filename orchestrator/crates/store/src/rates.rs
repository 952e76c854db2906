//! How providers outside have been doing, so that a restart does not forget a cool-down.

use crate::rows::{RowExt, json};
use crate::{Store, StoreError};
use async_trait::async_trait;
use lyra_research::Result;
use lyra_research::ports::{RateState, RateStore};

#[async_trait]
impl RateStore for Store {
    async fn load(&self, provider: &str) -> Result<Option<RateState>> {
        let found = sqlx::query("SELECT state FROM rate_state WHERE provider = ?")
            .bind(provider)
            .fetch_optional(self.reader())
            .await
            .map_err(StoreError::from)?;
        // An unreadable state counts as missing: it only saves the provider a request.
        Ok(found.map(|row| row.json_or_default("state")).transpose()?)
    }

    async fn save(&self, provider: &str, state: &RateState) -> Result<()> {
        let mut tx = self.write().await?;
        sqlx::query(
            "INSERT INTO rate_state (provider, state, updated_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (provider) DO UPDATE SET state = ?2, updated_at = ?3",
        )
        .bind(provider)
        .bind(json(state)?)
        .bind(self.stamp())
        .execute(&mut *tx)
        .await
        .map_err(StoreError::from)?;
        Ok(tx.commit().await.map_err(StoreError::from)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreConfig;

    #[tokio::test]
    async fn a_state_outlives_the_process_and_junk_counts_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lyra.db");
        let store = Store::open(&path, StoreConfig::default()).await.unwrap();
        assert_eq!(store.load("openalex").await.unwrap(), None);
        let state = RateState {
            last_request: Some("2026-11-20T09:00:00Z".parse().unwrap()),
            refusals: 2,
            paused_at: Some("2026-11-20T09:00:00Z".parse().unwrap()),
            pause_seconds: 60,
            pause_reason: Some("too many requests".to_owned()),
            ..RateState::default()
        };
        store.save("openalex", &RateState::default()).await.unwrap();
        store.save("openalex", &state).await.unwrap();
        store.close().await;
        let store = Store::open(&path, StoreConfig::default()).await.unwrap();
        assert_eq!(store.load("openalex").await.unwrap(), Some(state));
        let mut tx = store.write().await.unwrap();
        sqlx::query("UPDATE rate_state SET state = 'junk'").execute(&mut *tx).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(store.load("openalex").await.unwrap(), Some(RateState::default()));
    }
}

//! Cached publications of external backends, so that reading further does not query them again.

use crate::rows::{RowExt, json};
use crate::store::stamp;
use crate::{Result, Store};
use std::collections::HashMap;
use std::time::Duration;

impl Store {
    /// The cached documents not older than `max_age`, by id.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn cached_texts(
        &self,
        backend: &str,
        corpus: &str,
        id_type: &str,
        ids: &[String],
        max_age: Duration,
    ) -> Result<HashMap<String, String>> {
        let oldest = self.now().checked_sub(max_age).unwrap_or(jiff::Timestamp::MIN);
        let rows = sqlx::query(
            "SELECT id, publication FROM fusion_texts
             WHERE backend = ?1 AND corpus = ?2 AND id_type = ?3 AND id IN (SELECT value FROM json_each(?4))
                 AND fetched_at > ?5",
        )
        .bind(backend)
        .bind(corpus)
        .bind(id_type)
        .bind(json(&ids)?)
        .bind(stamp(oldest))
        .fetch_all(self.reader())
        .await?;
        rows.iter().map(|row| Ok((row.value("id")?, row.value("publication")?))).collect()
    }

    /// Keeps publications, as JSON by id, and drops those older than `max_age`.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn cache_texts(
        &self,
        backend: &str,
        corpus: &str,
        id_type: &str,
        texts: &[(String, String)],
        max_age: Duration,
    ) -> Result<()> {
        let mut tx = self.write().await?;
        let oldest = self.now().checked_sub(max_age).unwrap_or(jiff::Timestamp::MIN);
        sqlx::query("DELETE FROM fusion_texts WHERE fetched_at <= ?")
            .bind(stamp(oldest))
            .execute(&mut *tx)
            .await?;
        let now = self.stamp();
        for (id, publication) in texts {
            sqlx::query(
                "INSERT INTO fusion_texts (backend, corpus, id_type, id, publication, fetched_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (backend, corpus, id_type, id) DO UPDATE SET publication = ?5, fetched_at = ?6",
            )
            .bind(backend)
            .bind(corpus)
            .bind(id_type)
            .bind(id)
            .bind(publication)
            .bind(&now)
            .execute(&mut *tx)
            .await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

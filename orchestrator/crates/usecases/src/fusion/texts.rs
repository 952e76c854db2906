//! Publications from the backend, those of a vendor through the store's cache.

use super::{Fusion, while_waited_for};
use crate::AppError;
use lyra_corpus::backend::{BackendKind, IdType, Publication};
use std::collections::HashMap;
use std::time::Duration;

impl Fusion {
    /// Publications in the order of `ids`, `None` for missing ones. What a vendor returns is cached for a while; failures
    /// and missing publications are not.
    pub(super) async fn publications(
        &self,
        corpus: &str,
        ids: &[String],
        id_type: IdType,
    ) -> Result<Vec<Option<Publication>>, AppError> {
        let (stop, _guard) = while_waited_for();
        let kind = self.backend.kind(corpus);
        let ttl = Duration::from_secs(self.settings.snippet_ttl_hours.saturating_mul(3600));
        if kind != BackendKind::Patentfield || ttl.is_zero() || ids.is_empty() {
            return Ok(self.backend.fetch(corpus, ids, id_type, &stop).await?);
        }
        let kept = self.store.cached_texts(kind.name(), corpus, id_type.name(), ids, ttl).await?;
        let mut known: HashMap<String, Publication> =
            kept.into_iter().filter_map(|(id, text)| Some((id, serde_json::from_str(&text).ok()?))).collect();
        let missing: Vec<String> = ids.iter().filter(|id| !known.contains_key(*id)).cloned().collect();
        if !missing.is_empty() {
            let fetched = self.backend.fetch(corpus, &missing, id_type, &stop).await?;
            let fetched: Vec<(String, Publication)> =
                missing.into_iter().zip(fetched).filter_map(|(id, found)| Some((id, found?))).collect();
            let texts: Vec<(String, String)> = fetched
                .iter()
                .filter_map(|(id, publication)| Some((id.clone(), serde_json::to_string(publication).ok()?)))
                .collect();
            self.store.cache_texts(kind.name(), corpus, id_type.name(), &texts, ttl).await?;
            known.extend(fetched);
        }
        Ok(ids.iter().map(|id| known.get(id).cloned()).collect())
    }
}

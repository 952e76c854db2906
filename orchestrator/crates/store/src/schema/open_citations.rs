//! Citations of a database from before any source could state one.

use super::upgrades::at_version;
use super::*;
use crate::{Store, StoreConfig};

#[tokio::test]
async fn citations_keep_their_source_and_any_source_may_state_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lyra.db");
    let mut old = at_version(&path, 16).await;
    sqlx::raw_sql(
        "UPDATE edges SET citation_source = 'openalex' WHERE relation = 'cites';
         CREATE VIEW v_citation_flow AS SELECT edges.citation_source FROM edges;",
    )
    .execute(&mut old)
    .await
    .unwrap();
    old.close().await.unwrap();

    let store = Store::open(&path, StoreConfig::default()).await.unwrap();
    let mut tx = store.write().await.unwrap();
    sqlx::raw_sql(
        "INSERT INTO edges (id, source_type, source_id, target_type, target_id, relation, citation_source, created_at)
         VALUES ('edge_4', 'page', 'page_2', 'page', 'page_1', 'cites', 'pubmed', '2026-01-01T00:00:00.000Z')",
    )
    .execute(&mut *tx)
    .await
    .unwrap();
    let sources: Vec<String> =
        sqlx::query_scalar("SELECT citation_source FROM edges WHERE relation = 'cites' ORDER BY seq")
            .fetch_all(&mut *tx)
            .await
            .unwrap();
    assert_eq!(sources, ["openalex", "pubmed"]);
}

use super::*;
use crate::testing::Bench;
use crate::{GuardOptions, Store, StoreConfig, VectorQuery, VectorTarget};

async fn error_of(path: &Path) -> String {
    match Store::open(path, StoreConfig::default()).await {
        Ok(_) => panic!("{} was opened", path.display()),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn every_table_of_the_design_is_there_and_strict() {
    let bench = Bench::new().await;
    let loose = bench
        .count(
            "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict
             AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%_fts_%' AND name <> '_sqlx_migrations'",
        )
        .await;
    assert_eq!(loose, 0);
    let schema = bench.store.schema().await.unwrap();
    assert!(schema.iter().all(|table| !table.columns.is_empty() && !table.description.is_empty()));
    assert_eq!(schema.iter().filter(|table| table.kind == "view").count(), 16);
    let closed = bench
        .count("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND name IN ('fusion_texts', 'rate_state')")
        .await;
    assert_eq!(closed, 2);
    let modes: (String, i64) =
        sqlx::query_as("SELECT journal_mode, foreign_keys FROM pragma_journal_mode, pragma_foreign_keys")
            .fetch_one(bench.store.reader())
            .await
            .unwrap();
    assert_eq!(modes, ("wal".to_owned(), 1));
}

#[tokio::test]
async fn a_database_of_the_first_version_is_upgraded_with_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lyra.db");
    let options = SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let pool = SqlitePool::connect_with(options).await.unwrap();
    let first = MIGRATIONS.iter().filter(|migration| migration.version == 1).cloned().collect();
    Migrator::with_migrations(first).run(&pool).await.unwrap();
    sqlx::raw_sql(
        "INSERT INTO pages (id, url, domain, fetch_method, fetched_at, paper_metadata)
         VALUES ('page_1', 'https://a.example', 'a.example', 'http', '2026-01-01T00:00:00.000Z', '{\"year\": 1999}');
         INSERT INTO fragments (id, page_id, fragment_type, position, text_content, char_start, char_end, text_hash)
         VALUES ('frag_1', 'page_1', 'abstract', 0, 'an old finding about 免疫療法', 0, 25, 'x');
         INSERT INTO embeddings (id, target_type, target_id, model_id, dimension, embedding_blob)
         VALUES ('emb_1', 'fragment', 'frag_1', 'm', 2, x'0000803f00000000');",
    )
    .execute(&pool)
    .await
    .unwrap();
    pool.close().await;

    let store = Store::open(&path, StoreConfig::default()).await.unwrap();
    let made = store.embedding_models().await.unwrap();
    assert_eq!((made.len(), made[0].model.as_str(), made[0].vectors, made[0].dimension), (1, "m", 1, 2));
    let query = VectorQuery {
        target: VectorTarget::Fragments,
        task: None,
        model: "m",
        vector: &[1.0, 0.0],
        top_k: 1,
        min_similarity: 0.9,
    };
    assert_eq!(store.search_vectors(query).await.unwrap().matches[0].id, "frag_1");
    for words in ["finding", "免疫療"] {
        let sql = format!(
            "SELECT id, year FROM fragments JOIN pages ON pages.id = page_id
             WHERE fragments.seq IN (SELECT rowid FROM fragments_fts WHERE fragments_fts MATCH '{words}')"
        )
        .replace("SELECT id,", "SELECT fragments.id,");
        let found = store.query_graph(&sql, GuardOptions::default()).await.unwrap();
        assert_eq!(found.row_count, 1, "{words}");
        assert_eq!(found.rows[0]["year"], 1999);
    }
}

#[tokio::test]
async fn opening_again_changes_nothing() {
    let bench = Bench::new().await;
    bench.task(&["kept"]).await;
    let version = "SELECT schema_version FROM pragma_schema_version";
    let before = bench.count(version).await;
    let again = bench.again().await;
    assert_eq!(bench.count(version).await, before, "views and tables were made again");
    assert_eq!(again.list_tasks(10, None).await.unwrap().tasks.len(), 1);
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let bench = Bench::new().await;
    bench
        .execute(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES (9001, 'from the future', 1, x'00', 0)",
        )
        .await;
    let message = error_of(&bench.path()).await;
    let known = super::latest();
    let expect = format!("newer version of Lyra (schema 9001, this version knows up to {known})");
    assert!(message.contains(&expect), "{message}");
}

#[tokio::test]
async fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.db");
    std::fs::write(
        &text,
        "this is a text of more than a hundred bytes, which is what a header takes; ".repeat(9),
    )
    .unwrap();
    let message = error_of(&text).await;
    assert!(
        message.contains("is not a Lyra database: its contents are not those of a SQLite database"),
        "{message}"
    );

    let foreign = folder.path().join("foreign.db");
    let options = SqliteConnectOptions::new().filename(&foreign).create_if_missing(true);
    let pool = SqlitePool::connect_with(options).await.unwrap();
    sqlx::raw_sql("CREATE TABLE bookmarks (url TEXT)").execute(&pool).await.unwrap();
    pool.close().await;
    let message = error_of(&foreign).await;
    assert!(message.contains("the SQLite database of another program"), "{message}");

    let message = error_of(folder.path()).await;
    assert!(message.contains("it is a folder"), "{message}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_made_or_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let message = error_of(&file.join("lyra.db")).await;
    assert!(message.starts_with("cannot write to"), "{message}");

    let closed = folder.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    let mut permissions = std::fs::metadata(&closed).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&closed, permissions).unwrap();
    // A superuser can write anywhere; then there is nothing to test.
    if std::fs::write(closed.join("probe"), "").is_err() {
        let message = error_of(&closed.join("lyra.db")).await;
        assert!(message.starts_with("cannot write to"), "{message}");
    }
}

#[tokio::test]
async fn citations_keep_their_source_and_any_source_may_state_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lyra.db");
    let mut old = upgrades::at_version(&path, 16).await;
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

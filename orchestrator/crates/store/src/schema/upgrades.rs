//! Upgrades from every schema version to the newest, with rows in every table.

use super::*;
use crate::private::APART_SINCE;
use crate::{Store, StoreConfig};
use lyra_domain::{Extraction, Extractor, Probability};
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Row};
use std::collections::BTreeMap;
use std::ops::Range;

const ALWAYS: i64 = i64::MAX;

/// One row or more for every table, by the versions that have the table in this form.
const ROWS: &[(Range<i64>, &str)] = &[
    (
        1..ALWAYS,
        "INSERT INTO tasks (id, query, status, config, budget_pages, budget_seconds, created_at, updated_at)
         VALUES ('task_1', 'does it work?', 'completed', '{}', 120, 1200, '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z');
         INSERT INTO task_warnings (task_id, warning, created_at) VALUES ('task_1', 'a source failed', '2026-01-01T00:00:00.000Z');
         INSERT INTO works (id, title, year, doi, source_api) VALUES ('doi:10.1/a', 'A', 1999, '10.1/a', 'corpus:x');
         INSERT INTO pages (id, url, domain, work_id, fetch_method, fetched_at, paper_metadata)
         VALUES ('page_1', 'https://a.example', 'a.example', 'doi:10.1/a', 'http', '2026-01-01T00:00:00.000Z', '{\"year\": 1999}'),
                ('page_2', 'https://b.example', 'b.example', NULL, 'http', '2026-01-01T00:00:00.000Z', NULL);
         INSERT INTO task_pages (task_id, page_id, reason, source_page_id) VALUES ('task_1', 'page_1', 'serp', NULL), ('task_1', 'page_2', 'citation', 'page_1');
         INSERT INTO fragments (id, page_id, fragment_type, position, text_content, char_start, char_end, text_hash)
         VALUES ('frag_1', 'page_1', 'abstract', 0, 'an old finding about 免疫療法', 0, 25, 'x'),
                ('frag_2', 'page_2', 'paragraph', 0, 'another finding', 0, 15, 'y');
         INSERT INTO claims (id, task_id, claim_text, claim_type, source_fragment_id, created_at)
         VALUES ('claim_1', 'task_1', 'the old finding holds', 'statement', 'frag_1', '2026-01-01T00:00:00.000Z');
         INSERT INTO queries (id, task_id, query_text, claim_id, status, created_at)
         VALUES ('q_1', 'task_1', 'old findings', 'claim_1', 'satisfied', '2026-01-01T00:00:00.000Z');
         INSERT INTO serp_items (id, query_id, source, rank, url, title, page_id)
         VALUES ('serp_1', 'q_1', 'corpus:x', 1, 'https://a.example', 'A', 'page_1');
         INSERT INTO query_fragments (query_id, fragment_id, bm25_score, score, rank, is_relevant) VALUES ('q_1', 'frag_1', 1.5, 0.9, 1, 1);
         INSERT INTO edges (id, source_type, source_id, target_type, target_id, relation, nli_confidence, nli_scores, created_at)
         VALUES ('edge_1', 'fragment', 'frag_1', 'claim', 'claim_1', 'origin', NULL, NULL, '2026-01-01T00:00:00.000Z'),
                ('edge_2', 'fragment', 'frag_2', 'claim', 'claim_1', 'supports', 0.9, '{}', '2026-01-01T00:00:00.000Z'),
                ('edge_3', 'page', 'page_1', 'page', 'page_2', 'cites', NULL, NULL, '2026-01-01T00:00:00.000Z');
         INSERT INTO embeddings (id, target_type, target_id, model_id, dimension, embedding_blob)
         VALUES ('emb_1', 'fragment', 'frag_1', 'm', 1, x'0000803f');
         INSERT INTO jobs (id, task_id, kind, priority, state, input, query_id, queued_at)
         VALUES ('job_1', 'task_1', 'search', 50, 'completed', '{}', 'q_1', '2026-01-01T00:00:00.000Z');",
    ),
    (
        2..ALWAYS,
        "INSERT INTO domain_override_rules (id, domain_pattern, decision, reason, created_at, updated_at)
         VALUES ('dor_1', '*.example', 'block', 'why not', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z');
         INSERT INTO domain_override_events (id, rule_id, action, domain_pattern, decision, created_at)
         VALUES ('doe_1', 'dor_1', 'domain_block', '*.example', 'block', '2026-01-01T00:00:00.000Z');
         INSERT INTO domain_states (domain, category, verified_claims) VALUES ('a.example', 'low', 3);
         INSERT INTO nli_corrections VALUES ('nlc_1', 'edge_2', 'task_1', 'p', 'h', 'neutral', 0.6, 'supports', NULL, '2026-01-01T00:00:00.000Z');
         INSERT INTO calibration_parameters (source, version, method, parameters, is_active, samples, created_at)
         VALUES ('m', 1, 'temperature', '{}', 1, 40, '2026-01-01T00:00:00.000Z');
         INSERT INTO calibration_evaluations VALUES ('cal_1', 'm', 1, 0.1, 0.05, '[]', 40, '2026-01-01T00:00:00.000Z');
         INSERT INTO claim_events (claim_id, event, at) VALUES ('claim_1', 'claim_rejected', '2026-01-02T00:00:00.000Z');
         INSERT INTO rate_state VALUES ('openalex', '{}', '2026-01-01T00:00:00.000Z');
         INSERT INTO view_clock VALUES (1, '2026-01-01T00:00:00.000Z');",
    ),
    (
        5..APART_SINCE,
        "INSERT INTO quarantined_fragments (id, page_id, fragment_type, position, text_content, char_start, char_end,
             text_hash, rule_id, severity, quarantined_at)
         VALUES ('frag_q', 'page_2', 'paragraph', 1, 'dear AI', 0, 7, 'z', 'rule', 'high', '2026-01-01T00:00:00.000Z');",
    ),
    (
        6..ALWAYS,
        "INSERT INTO llm_questions (id, task_id, job_id, purpose, subject, model, answer, calls, failures, seconds, asked_at)
         VALUES ('ask_1', 'task_1', 'job_1', 'relevance', 'doi:10.1/a', 'm', '{}', 1, 0, 0.5, '2026-01-01T00:00:00.000Z');",
    ),
    (
        7..ALWAYS,
        "INSERT INTO calibration_activations (source, action, version, previous_version, at)
         VALUES ('m', 'activate', 1, 0, '2026-01-01T00:00:00.000Z');",
    ),
    (
        11..ALWAYS,
        "INSERT INTO fusion_runs (id, kind, identity, lane, corpus, backend, recipe, docs, meta, created_at, expires_at)
         VALUES ('fulltext-1', 'fulltext', 'a', 'wide', 'c', 'embedded', '{}', '[]', '{}', '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'),
                ('fusion-1', 'fusion', 'b', NULL, 'c', 'embedded', '{}', '[]', '{}', '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z');
         INSERT INTO fusion_parents (run_id, position, lane, parent_id) VALUES ('fusion-1', 0, 'wide', 'fulltext-1');
         INSERT INTO fusion_texts (backend, corpus, id_type, id, publication, fetched_at)
         VALUES ('patentfield', 'c', 'doc_id', 'x', '{}', '2026-01-01T00:00:00.000Z');",
    ),
    (
        12..APART_SINCE,
        "INSERT INTO access_tokens (id, name, scope, token_hash, created_at) VALUES ('abc', 'agent', 'read', 'x', '2026-01-01T00:00:00.000Z');
         INSERT INTO audit_log (at, actor, via, action, arguments, cause_id, outcome)
         VALUES ('2026-01-01T00:00:00.000Z', 'local', 'cli', 'task stop', '{}', 'call_1', 'ok');",
    ),
    (
        15..ALWAYS,
        "INSERT INTO not_judged (claim_id, fragment_id, reason, noted_at)
         VALUES ('claim_1', 'frag_1', 'language', '2026-01-01T00:00:00.000Z');",
    ),
    (
        19..ALWAYS,
        "INSERT INTO screening_decisions (id, task_id, page_id, verdict, reason, basis, undoes, decided_by, decided_at)
         VALUES ('scr_1', 'task_1', 'page_1', 'include', NULL, 'abstract', NULL, 'local', '2026-01-01T00:00:00.000Z'),
                ('scr_2', 'task_1', 'page_2', 'exclude', 'not a study', 'full_text', NULL, 'local', '2026-01-01T00:00:00.000Z'),
                ('scr_3', 'task_1', 'page_2', NULL, NULL, 'full_text', 'scr_2', 'local', '2026-01-01T00:00:00.000Z');",
    ),
    (
        22..ALWAYS,
        "INSERT INTO saved_searches (name, corpus, recipe, seen, created_at, last_run_at, last_run_id, last_new)
         VALUES ('leds', 'c', '{}', '[]', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 'fulltext-1', '[]');",
    ),
    (
        2..APART_SINCE,
        "INSERT INTO auth_queue (id, task_id, job_id, url, domain, auth_type, priority, status, created_at, session)
         VALUES ('auth_1', 'task_1', 'job_1', 'https://a.example', 'a.example', 'captcha', 1, 'completed', '2026-01-01T00:00:00.000Z', 'cookie');
         INSERT INTO http_cache (key, url, status, headers, body, stored_at)
         VALUES ('k', 'https://a.example', 200, '{}', x'00', '2026-01-01T00:00:00.000Z');",
    ),
    (
        APART_SINCE..ALWAYS,
        "INSERT INTO auth_queue (id, task_id, job_id, url, domain, auth_type, priority, status, created_at)
         VALUES ('auth_1', 'task_1', 'job_1', 'https://a.example', 'a.example', 'captcha', 1, 'completed', '2026-01-01T00:00:00.000Z');
         INSERT INTO quarantined_fragments (id, page_id, fragment_type, position, char_start, char_end, text_hash, rule_id,
             severity, quarantined_at)
         VALUES ('frag_q', 'page_2', 'paragraph', 1, 0, 7, 'z', 'rule', 'high', '2026-01-01T00:00:00.000Z');",
    ),
];

type Rows = BTreeMap<String, Vec<Vec<Option<String>>>>;

/// Tables and their stored columns, without those that SQLite keeps for itself.
async fn columns(connection: &mut SqliteConnection, schema: &str) -> BTreeMap<String, Vec<String>> {
    let found = sqlx::query(
        "SELECT t.name AS name, x.name AS column_name FROM pragma_table_list AS t, pragma_table_xinfo(t.name, t.schema) AS x
         WHERE t.schema = ? AND t.type = 'table' AND x.hidden = 0
         AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND t.name <> '_sqlx_migrations' ORDER BY t.name, x.cid",
    )
    .bind(schema)
    .fetch_all(connection)
    .await
    .unwrap();
    let mut columns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in &found {
        columns.entry(row.get("name")).or_default().push(row.get("column_name"));
    }
    columns
}

/// These columns of every row, as text that distinguishes null, numbers, text and bytes.
async fn rows(connection: &mut SqliteConnection, of: &BTreeMap<String, Vec<String>>) -> Rows {
    let mut all = Rows::new();
    for (table, columns) in of {
        let quoted: Vec<String> = columns.iter().map(|column| format!("quote(\"{column}\")")).collect();
        let sql = format!("SELECT {} FROM \"{table}\" ORDER BY 1", quoted.join(", "));
        let found = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut *connection).await.unwrap();
        let rows = found.iter().map(|row| (0..columns.len()).map(|i| row.get(i)).collect()).collect();
        all.insert(table.clone(), rows);
    }
    all
}

/// Every definition in the schema except the views, which are recreated on every opening.
async fn definitions(connection: &mut SqliteConnection) -> Vec<(String, String)> {
    sqlx::query_as(
        "SELECT name, coalesce(sql, '') FROM sqlite_schema
         WHERE type IN ('table', 'index', 'trigger') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )
    .fetch_all(connection)
    .await
    .unwrap()
}

pub(crate) async fn at_version(path: &Path, version: i64) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let pool = SqlitePool::connect_with(options.clone()).await.unwrap();
    let upto = MIGRATIONS.iter().filter(|migration| migration.version <= version).cloned().collect();
    Migrator::with_migrations(upto).run(&pool).await.unwrap();
    for (versions, sql) in ROWS.iter().filter(|(versions, _)| versions.contains(&version)) {
        let mut tx = pool.begin().await.unwrap();
        sqlx::raw_sql(*sql)
            .execute(&mut *tx)
            .await
            .unwrap_or_else(|error| panic!("rows of {versions:?}: {error}"));
        tx.commit().await.unwrap();
    }
    pool.close().await;
    options.connect().await.unwrap()
}

#[tokio::test]
async fn every_earlier_schema_is_upgraded_with_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let fresh = folder.path().join("fresh");
    let store = Store::open(&fresh.join("lyra.db"), StoreConfig::default()).await.unwrap();
    let expected = definitions(&mut store.reader().acquire().await.unwrap()).await;
    let mut kept = columns(&mut store.reader().acquire().await.unwrap(), "main").await;
    kept.extend(columns(&mut store.reader().acquire().await.unwrap(), "private").await);
    for version in MIGRATIONS.iter().map(|migration| migration.version) {
        let home = folder.path().join(format!("version-{version}"));
        std::fs::create_dir(&home).unwrap();
        let path = home.join("lyra.db");
        let mut old = at_version(&path, version).await;
        // Secrets have moved, which another test covers; the others stay in place.
        let mut tables = columns(&mut old, "main").await;
        tables.retain(|table, columns| {
            columns.retain(|column| kept.get(table).is_some_and(|kept| kept.contains(column)));
            kept.contains_key(table)
        });
        let before = rows(&mut old, &tables).await;
        old.close().await.unwrap();
        let without: Vec<&String> =
            before.iter().filter(|(_, rows)| rows.is_empty()).map(|(table, _)| table).collect();
        assert_eq!(without, [""; 0], "add rows of these tables to ROWS, schema {version}");

        let store = Store::open(&path, StoreConfig::default())
            .await
            .unwrap_or_else(|error| panic!("schema {version} cannot be upgraded: {error}"));
        let mut now = store.reader().acquire().await.unwrap();
        let after = rows(&mut now, &tables).await;
        for (table, rows) in &before {
            for row in rows {
                assert!(after[table].contains(row), "schema {version}: a row of {table} was lost: {row:?}");
            }
            // The migration that created the timeline of claims also filled it.
            let added = after[table].len() - rows.len();
            let expect = usize::from(table == "claim_events" && version < 7);
            assert_eq!(added, expect, "schema {version}: rows of {table} came from nowhere");
        }
        assert_eq!(
            definitions(&mut now).await,
            expected,
            "schema {version} does not become what a new one is"
        );
        drop(now);
        let check = store.check().await.unwrap();
        assert_eq!(check.problems, [], "schema {version}");
        let found: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM fragments JOIN fragments_fts ON fragments_fts.rowid = fragments.seq
             WHERE fragments_fts MATCH '免疫療'",
        )
        .fetch_one(store.reader())
        .await
        .unwrap();
        assert_eq!(found, 1, "schema {version}: the full-text index misses what was there");
    }
}

/// The last schema with columns that nothing wrote, and with `llm_claim_confidence`.
const UNTRUTHFUL: i64 = 16;

#[tokio::test]
async fn scores_of_extracted_claims_keep_their_value_and_get_their_extractor() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lyra.db");
    let mut old = at_version(&path, UNTRUTHFUL).await;
    sqlx::raw_sql(
        "INSERT INTO claims (id, task_id, claim_text, claim_type, source_fragment_id, llm_claim_confidence,
             claim_confidence, created_at)
         VALUES ('claim_m', 'task_1', 'stated by the model', 'extracted', 'frag_1', 0.75, 0.5, '2026-01-01T00:00:00.000Z'),
                ('claim_r', 'task_1', 'found by rules before', 'extracted', 'frag_1', 0.625, NULL, '2026-01-01T00:00:00.000Z'),
                ('claim_f', 'task_1', 'found where the model failed', 'extracted', 'frag_2', 1.0, NULL, '2026-01-01T00:00:00.000Z'),
                ('claim_u', 'task_1', 'given by the user', 'user', NULL, NULL, NULL, '2026-01-01T00:00:00.000Z');
         INSERT INTO llm_questions (id, task_id, job_id, purpose, subject, model, answer, fallback_reason, calls, failures,
             seconds, asked_at)
         VALUES ('ask_m', 'task_1', 'job_1', 'extract_claims', 'frag_1', 'm',
                     '{\"claims\": [{\"text\": \"x\", \"confidence\": 0.75}, {\"text\": \"y\", \"confidence\": 1}]}', NULL, 1, 0, 0.5,
                     '2026-01-01T00:00:00.000Z'),
                ('ask_x', 'task_1', 'job_1', 'extract_claims', 'frag_1', 'm', '{\"claims\": [\"x\", 3]}', NULL, 1, 0, 0.5,
                     '2026-01-01T00:00:00.000Z'),
                ('ask_y', 'task_1', 'job_1', 'extract_claims', 'frag_1', 'm', 'not JSON', NULL, 1, 0, 0.5,
                     '2026-01-01T00:00:00.000Z'),
                ('ask_f', 'task_1', 'job_1', 'extract_claims', 'frag_2', 'm', NULL, 'it timed out', 1, 1, 0.5,
                     '2026-01-01T00:00:00.000Z');
         UPDATE queries SET satisfaction_score = 0.5, has_primary_source = 1;
         UPDATE domain_override_rules SET created_by = 'feedback';
         -- A view of an older version that no longer compiles.
         CREATE VIEW v_stale AS SELECT a_column_that_is_gone FROM claims;",
    )
    .execute(&mut old)
    .await
    .unwrap();
    old.close().await.unwrap();

    let store = Store::open(&path, StoreConfig::default()).await.unwrap();
    let found: Vec<(String, Option<String>, Option<f64>)> = sqlx::query_as(
        "SELECT id, extracted_by, extraction_score FROM claims WHERE id <> 'claim_1' ORDER BY id",
    )
    .fetch_all(store.reader())
    .await
    .unwrap();
    let row = |id: &str, by: Option<&str>, score| (id.to_owned(), by.map(str::to_owned), score);
    assert_eq!(
        found,
        [
            row("claim_f", Some("rules"), Some(1.0)),
            row("claim_m", Some("language_model"), Some(0.75)),
            row("claim_r", Some("rules"), Some(0.625)),
            row("claim_u", None, None),
        ]
    );
    let claim = store.read_claim(&"claim_m".parse().unwrap()).await.unwrap();
    let score = Probability::clamped(0.75);
    assert_eq!(claim.extraction, Some(Extraction { extracted_by: Extractor::LanguageModel, score }));
    assert_eq!(store.check().await.unwrap().problems, []);
}

#[tokio::test]
async fn the_file_of_a_backup_of_an_older_schema_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lyra.db");
    at_version(&path, UNTRUTHFUL).await.close().await.unwrap();
    let check = crate::check_file(&path, false).await.unwrap();
    assert_eq!((check.schema, check.problems), (UNTRUTHFUL, Vec::new()));
}

//! Statements for `query_graph`, seeded with `../src/guarded/hostile.sql` (see `.ci/run`). For any input: an answer in
//! time and of bounded size, without secrets, and an unchanged store. libFuzzer bounds the memory.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lyra_store::{GuardOptions, Store, StoreConfig};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const SECRET: &str = "s3cret-cookie-of-a-person";
const OPTIONS: GuardOptions =
    GuardOptions { limit: 50, timeout_ms: 100, max_vm_steps: 500_000, include_schema: false };
/// The time limit, plus the overrun of a step, sanitizers and a busy machine.
const IN_TIME: Duration = Duration::from_secs(10);
/// Rows, and the texts of an error with its hint.
const MOST_BYTES: usize = 64_000;

struct Target {
    runtime: Runtime,
    store: Store,
    stamp: i64,
    _folder: tempfile::TempDir,
}

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let runtime = Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lyra.db");
    let (store, stamp) = runtime.block_on(async {
        let store = Store::open(&path, StoreConfig::default()).await.expect("a store");
        let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
        let rows = format!(
            "INSERT INTO tasks (id, query, status, config, budget_pages, budget_seconds, created_at, updated_at)
             VALUES ('task_1', 'q', 'completed', '{{}}', 1, 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z');
             INSERT INTO pages (id, url, domain, fetch_method, fetched_at, paper_metadata)
             VALUES ('page_1', 'https://a.example', 'a.example', 'http', '2026-01-01T00:00:00.000Z', '{{\"year\": 1999}}');
             INSERT INTO fragments (id, page_id, fragment_type, position, text_content, char_start, char_end, text_hash)
             VALUES ('frag_1', 'page_1', 'abstract', 0, 'a treatment that works', 0, 22, 'x');
             INSERT INTO claims (id, task_id, claim_text, claim_type, source_fragment_id, created_at)
             VALUES ('claim_1', 'task_1', 'it works', 'extracted', 'frag_1', '2026-01-01T00:00:00.000Z');
             INSERT INTO edges (id, source_type, source_id, target_type, target_id, relation, nli_confidence, created_at)
             VALUES ('edge_1', 'fragment', 'frag_1', 'claim', 'claim_1', 'supports', 0.9, '2026-01-01T00:00:00.000Z');
             INSERT INTO auth_queue (id, task_id, url, domain, auth_type, priority, status, created_at)
             VALUES ('auth_1', 'task_1', 'https://a.example', 'a.example', 'login', 1, 'completed', '2026-11-20');
             INSERT INTO rate_state VALUES ('x', '{SECRET}', 'x');"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(rows)).execute(&mut connection).await.expect("rows");
        let stamp = store.change_stamp().await.expect("a stamp");
        (store, stamp)
    });
    Target { runtime, store, stamp, _folder: folder }
});

fuzz_target!(|sql: &str| {
    let target = &*TARGET;
    let started = Instant::now();
    let answer = target.runtime.block_on(target.store.query_graph(sql, OPTIONS));
    assert!(started.elapsed() < IN_TIME, "it took {:?}", started.elapsed());
    let said = match &answer {
        Ok(found) => serde_json::to_string(&found.rows).expect("JSON"),
        // A statement that contains the secret's text may be quoted; it did not read it.
        Err(_) if sql.contains(SECRET) => String::new(),
        Err(error) => format!("{error} {:?}", error.hint()),
    };
    assert!(said.len() <= MOST_BYTES, "{} bytes", said.len());
    assert!(!said.contains(SECRET) || sql.contains(SECRET), "a secret was read: {said}");
    let stamp = target.runtime.block_on(target.store.change_stamp()).expect("a stamp");
    assert_eq!(stamp, target.stamp, "the store was written to");
});

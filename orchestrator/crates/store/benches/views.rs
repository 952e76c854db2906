//! Each view at 10,000 claims and 50,000 edges in one task: from its template, and as the real view over guarded SQL, which
//! is what an agent sends.

use criterion::{Criterion, criterion_group, criterion_main};
use lyra_domain::TaskId;
use lyra_store::{GuardOptions, Store, StoreConfig};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::runtime::Runtime;

/// Of the edges, 30,000 judge, 10,000 say where a claim was found, and 10,000 cite, older pages more often. Pages are of 35
/// years, one in ten of no known year; one citation in ten is returned.
const GRAPH: &str = "
    CREATE TEMP TABLE n AS
    WITH n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9999) SELECT i, (i * 7919) % 10000 AS j FROM n;
    INSERT INTO tasks (id, query, status, config, budget_pages, budget_seconds, created_at, updated_at)
    SELECT 'task_' || i, 'q', 'completed', '{}', 1, 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'
    FROM n WHERE i < 2;
    INSERT INTO works (id, title, year, citation_count, source_api)
    SELECT 'doi:10.1/' || i, 'work ' || i, iif(i % 10, 1990 + i % 35, NULL), j % 500, 'openalex' FROM n;
    INSERT INTO pages (id, url, domain, title, work_id, fetch_method, fetched_at, paper_metadata)
    SELECT printf('page_%032x', j), 'https://d' || (i % 900) || '.example/' || i, 'd' || (i % 900) || '.example', 'page ' || i,
           'doi:10.1/' || i, 'academic_api', '2026-01-01T00:00:00.000Z',
           iif(i % 10, json_object('year', 1990 + i % 35), NULL) FROM n;
    INSERT INTO task_pages (task_id, page_id, reason, depth)
    SELECT 'task_0', printf('page_%032x', j), 'academic_api', i % 2 FROM n;
    INSERT INTO fragments (id, page_id, fragment_type, position, text_content, char_start, char_end, text_hash)
    SELECT printf('frag_%032x', j), printf('page_%032x', j), 'abstract', 0, 'what page ' || i || ' says at some length', 0, 9, i
    FROM n;
    INSERT INTO claims (id, task_id, claim_text, claim_type, source_fragment_id, created_at)
    SELECT printf('claim_%032x', j), 'task_0', 'claim ' || i || ' of ordinary length, about this and that', 'extracted',
           printf('frag_%032x', j), '2026-01-01T00:00:00.000Z' FROM n;
    INSERT INTO edges (id, source_type, source_id, target_type, target_id, relation, nli_confidence, created_at)
    SELECT printf('edge_%016x%016x', n.i, k.i), 'fragment', printf('frag_%032x', (n.i * 31 + k.i * 977 + 1) % 10000), 'claim',
           printf('claim_%032x', n.j), CASE (n.i + k.i) % 4 WHEN 0 THEN 'refutes' WHEN 1 THEN 'neutral' ELSE 'supports' END,
           0.5 + (n.i % 50) / 100.0, '2026-01-01T00:00:00.000Z'
    FROM n JOIN n AS k ON k.i < 3;
    INSERT INTO edges (id, source_type, source_id, target_type, target_id, relation, created_at)
    SELECT printf('edge_o%032x', j), 'fragment', printf('frag_%032x', j), 'claim', printf('claim_%032x', j), 'origin',
           '2026-01-01T00:00:00.000Z' FROM n;
    INSERT INTO edges (id, source_type, source_id, target_type, target_id, relation, citation_source, created_at)
    SELECT printf('edge_c%032x', i), 'page', printf('page_%032x', i), 'page',
           printf('page_%032x', iif(i % 10 = 1, i - 1, iif(i % 10 = 0, i + 1, min((i * 17 + 5) % 10000, j)))), 'cites', 'openalex',
           '2026-01-01T00:00:00.000Z' FROM n;";

fn benches(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lyra.db");
    let store = runtime.block_on(async {
        let store = Store::open(&path, StoreConfig::default()).await.expect("a store");
        let mut connection =
            SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
        sqlx::raw_sql(GRAPH).execute(&mut connection).await.expect("a graph");
        store
    });
    let task: TaskId = "task_0".parse().expect("an id");
    let options = GuardOptions { timeout_ms: 2_000, max_vm_steps: 5_000_000, ..GuardOptions::default() };
    let mut group = criterion.benchmark_group("views");
    group.sample_size(10);
    for view in store.views() {
        let name = view.name;
        group.bench_function(format!("{name}, template"), |bench| {
            bench.iter(|| runtime.block_on(store.query_view(name, Some(&task), 50)).expect("rows"));
        });
        let sql = format!("SELECT * FROM {name} WHERE task_id = '{task}'");
        group.bench_function(format!("{name}, guarded"), |bench| {
            bench.iter(|| runtime.block_on(store.query_graph(&sql, options)).expect("rows"));
        });
    }
    group.finish();
    runtime.block_on(store.close());
}

criterion_group!(views, benches);
criterion_main!(views);

//! Each view at 10,000 claims and 50,000 edges in one task: from its template, and as the real view over guarded SQL,
//! as agents use it.

use criterion::{Criterion, criterion_group, criterion_main};
use lyra_domain::TaskId;
use lyra_store::{GuardOptions, Store, StoreConfig};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::runtime::Runtime;

const GRAPH: &str = include_str!("large.sql");

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
            bench.iter(|| runtime.block_on(store.query_view(name, Some(&task), None, 50)).expect("rows"));
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

//! Pages of claims of a task with 10,000 claims and 50,000 edges, by order and by filter, and the list of tasks with their
//! numbers.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use lyra_domain::TaskId;
use lyra_store::{ClaimFilter, ClaimSort, Side, Store, StoreConfig};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use tokio::runtime::Runtime;

const GRAPH: &str = include_str!("large.sql");
/// Claims on a page.
const LIMIT: u32 = 25;

fn benches(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lyra.db");
    let (store, mut connection) = runtime.block_on(async {
        let store = Store::open(&path, StoreConfig::default()).await.expect("a store");
        let mut connection =
            SqliteConnectOptions::new().filename(&path).connect().await.expect("a connection");
        sqlx::raw_sql(GRAPH).execute(&mut connection).await.expect("a graph");
        (store, connection)
    });
    let task: TaskId = "task_0".parse().expect("an id");
    let read = |filter: &ClaimFilter, sort: ClaimSort, cursor: Option<&str>| {
        runtime.block_on(store.claim_page(&task, filter, sort, LIMIT, cursor)).expect("a page")
    };
    let all = ClaimFilter::default();
    let mut group = criterion.benchmark_group("claim_page");
    group.sample_size(20);
    for sort in ClaimSort::ALL {
        group.bench_function(format!("by {sort}"), |bench| bench.iter(|| read(&all, *sort, None)));
    }
    let mut change = || {
        let touched = sqlx::query("UPDATE tasks SET budget_pages = budget_pages + 1 WHERE id = 'task_1'");
        runtime.block_on(touched.execute(&mut connection)).expect("a change");
    };
    group.bench_function("after a change of the store", |bench| {
        bench.iter_batched(&mut change, |()| read(&all, ClaimSort::Contested, None), BatchSize::PerIteration);
    });
    let next = read(&all, ClaimSort::Contested, None).next_cursor;
    group.bench_function("second page", |bench| {
        bench.iter(|| read(&all, ClaimSort::Contested, next.as_deref()));
    });
    let filters = [
        ("side", ClaimFilter { side: Some(Side::Contested), ..all.clone() }),
        ("years", ClaimFilter { years: (Some(2000), Some(2005)), ..all.clone() }),
        ("source", ClaimFilter { source: Some("d7.example".to_owned()), ..all.clone() }),
        ("text", ClaimFilter { text: Some("claim 77".to_owned()), ..all.clone() }),
        ("confidence", ClaimFilter { confidence: (Some(0.6), Some(0.7)), ..all }),
    ];
    for (name, filter) in &filters {
        group.bench_function(format!("of a {name}"), |bench| {
            bench.iter(|| read(filter, ClaimSort::Contested, None));
        });
    }
    group.bench_function("tasks with numbers", |bench| {
        bench.iter(|| runtime.block_on(store.task_summaries(20, None)).expect("tasks"));
    });
    group.finish();
    runtime.block_on(store.close());
}

criterion_group!(claims, benches);
criterion_main!(claims);

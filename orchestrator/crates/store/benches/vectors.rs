//! Search by meaning at 100,000 vectors (compared exactly) and at 250,000 (candidates by bytes), of 384 numbers each,
//! with the recall of the approximation. `LYRA_BENCH_VECTORS` sets the larger number.
#![expect(clippy::print_stderr, reason = "recall is a result of the bench")]

use criterion::{Criterion, criterion_group, criterion_main};
use lyra_domain::TaskId;
use lyra_research::ports::{EmbeddingTarget, VectorStore};
use lyra_store::{Store, StoreConfig, VectorQuery, VectorTarget};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions};
use std::path::Path;
use std::time::Instant;
use tokio::runtime::Runtime;

const DIMENSION: usize = 384;
const EXACT: usize = 100_000;
const MODEL: &str = "bench";
const QUERIES: usize = 100;
/// Tasks that share the claims.
const TASKS: usize = 10;

/// A normal deviate, near enough: twelve uniform ones.
fn normal(random: &mut fastrand::Rng) -> f32 {
    (0..12).map(|_| random.f32()).sum::<f32>() - 6.0
}

/// Vectors around 200 topics, as those of texts are; or, without topics, in all directions alike, which is the hardest
/// to approximate.
struct Vectors {
    random: fastrand::Rng,
    topics: Vec<Vec<f32>>,
}

impl Vectors {
    fn new(topics: usize) -> Self {
        let mut random = fastrand::Rng::with_seed(42);
        let topics = (0..topics).map(|_| (0..DIMENSION).map(|_| normal(&mut random)).collect()).collect();
        Self { random, topics }
    }

    fn next(&mut self) -> Vec<f32> {
        let random = &mut self.random;
        let topic = (!self.topics.is_empty()).then(|| random.usize(..self.topics.len()));
        let mut vector: Vec<f32> = (0..DIMENSION).map(|_| normal(random)).collect();
        if let Some(topic) = topic {
            vector.iter_mut().zip(&self.topics[topic]).for_each(|(number, centre)| *number += centre);
        }
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        for number in &mut vector {
            *number /= length;
        }
        vector
    }
}

/// A store with `count` claims of ten tasks and their vectors.
async fn fill(path: &Path, count: usize, vectors: &mut Vectors) {
    let store = Store::open(path, StoreConfig::default()).await.expect("a store");
    let mut connection = SqliteConnectOptions::new().filename(path).connect().await.expect("a connection");
    let sql = format!(
        "WITH n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {TASKS} - 1)
         INSERT INTO tasks (id, query, status, config, budget_pages, budget_seconds, created_at, updated_at)
         SELECT 'task_' || i, 'q', 'completed', '{{}}', 1, 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z' FROM n;
         WITH n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {count} - 1)
         INSERT INTO claims (id, task_id, claim_text, claim_type, created_at)
         SELECT 'claim_' || i, 'task_' || (i % {TASKS}), 'what claim ' || i || ' says, at the usual length', 'extracted',
                '2026-01-01T00:00:00.000Z' FROM n;"
    );
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.expect("claims");
    let ids: Vec<usize> = (0..count).collect();
    for part in ids.chunks(5_000) {
        let target = |i: &usize| EmbeddingTarget::Claim(format!("claim_{i}").parse().expect("an id"));
        let rows: Vec<_> = part.iter().map(|i| (target(i), vectors.next())).collect();
        store.put_embeddings(MODEL, &rows).await.expect("vectors");
    }
    store.close().await;
}

async fn open(path: &Path, exact_vectors: usize) -> Store {
    let config = StoreConfig { exact_vectors, ..StoreConfig::default() };
    Store::open(path, config).await.expect("a store")
}

async fn ids(store: &Store, vector: &[f32], task: Option<&TaskId>) -> Vec<String> {
    let query = VectorQuery {
        target: VectorTarget::Claims,
        task,
        model: MODEL,
        vector,
        top_k: 10,
        min_similarity: -1.0,
    };
    store.search_vectors(query).await.expect("matches").matches.into_iter().map(|found| found.id).collect()
}

fn benches(criterion: &mut Criterion) {
    let runtime = Runtime::new().expect("a runtime");
    let large =
        std::env::var("LYRA_BENCH_VECTORS").ok().and_then(|text| text.parse().ok()).unwrap_or(250_000);
    let mut group = criterion.benchmark_group("vector_search");
    group.sample_size(20);
    for (count, topics) in [(EXACT, 200), (large, 200), (large, 0)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lyra.db");
        let mut vectors = Vectors::new(topics);
        runtime.block_on(fill(&path, count, &mut vectors));
        let queries: Vec<Vec<f32>> = (0..QUERIES).map(|_| vectors.next()).collect();
        let task: TaskId = "task_3".parse().expect("an id");

        let store = runtime.block_on(open(&path, EXACT));
        let started = Instant::now();
        runtime.block_on(ids(&store, &queries[0], None));
        eprintln!("{count} vectors, {topics} topics: first search {:.2} s", started.elapsed().as_secs_f64());
        let name = format!("{count} vectors, {topics} topics");
        for (scope, task) in [("everywhere", None), ("one task of ten", Some(&task))] {
            let mut next = queries.iter().cycle();
            group.bench_function(format!("{name}, {scope}"), |bench| {
                bench.iter(|| runtime.block_on(ids(&store, next.next().expect("endless"), task)));
            });
        }
        if count > EXACT {
            // The reference, without approximation.
            let exact = runtime.block_on(open(&path, usize::MAX));
            let mut found = 0;
            for query in &queries {
                let expect = runtime.block_on(ids(&exact, query, None));
                let got = runtime.block_on(ids(&store, query, None));
                found += expect.iter().filter(|id| got.contains(id)).count();
            }
            eprintln!("{name}: recall@10 {:.4} over {QUERIES} queries", found as f64 / (QUERIES * 10) as f64);
            runtime.block_on(exact.close());
        }
        runtime.block_on(store.close());
    }
    group.finish();
}

criterion_group!(vectors, benches);
criterion_main!(vectors);

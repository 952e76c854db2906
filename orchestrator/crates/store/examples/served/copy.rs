//! Fills a database faster than jobs can: copies the rows of all tasks, with other ids, until the file is large enough.

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Connection, SqliteConnection};
use std::fmt::Write;
use std::path::Path;

/// Tables whose rows belong to one task or to its pages, and the column of their order.
const TABLES: [(&str, &str); 12] = [
    ("works", "rowid"),
    ("tasks", "seq"),
    ("pages", "seq"),
    ("task_pages", "seq"),
    ("fragments", "seq"),
    ("claims", "seq"),
    ("claim_events", "seq"),
    ("queries", "seq"),
    ("serp_items", "seq"),
    ("edges", "seq"),
    ("embeddings", "seq"),
    ("jobs", "seq"),
];

/// The full-text indexes.
const INDEXES: [&str; 2] = ["fragments_fts", "claims_fts"];

/// Grows the database to at least so many bytes. What it holds now is copied again and again, under ids in random order,
/// as theirs is. No one else may have it open, and a copy that is interrupted spoils it.
pub(crate) async fn grow(path: &Path, bytes: u64, random: &mut fastrand::Rng) {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(false)
        .journal_mode(SqliteJournalMode::Off)
        .synchronous(SqliteSynchronous::Off)
        .pragma("cache_size", "-4000000");
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    let limits = limits(&mut database).await;
    // The rows have what these look up.
    let looking_up = "SELECT sql FROM sqlite_master WHERE name IN ('edges_find_work', 'claims_find_domain')";
    let triggers: Vec<String> = sqlx::query_scalar(looking_up).fetch_all(&mut database).await.unwrap();
    run(&mut database, "DROP TRIGGER edges_find_work; DROP TRIGGER claims_find_domain").await;
    hash_size(&mut database, 128 << 20).await;
    while std::fs::metadata(path).unwrap().len() < bytes {
        let (turn, mark) = (random.usize(1..15), format!("{:06x}", random.u32(..1 << 24)));
        run(&mut database, "BEGIN IMMEDIATE").await;
        for (table, order, limit) in &limits {
            let rows = format!("{order} <= {limit}");
            copy(&mut database, table, &rows, turn, &mark).await;
            if *table == "queries" {
                let rows = format!("query_id IN (SELECT id FROM queries WHERE {rows})");
                copy(&mut database, "query_fragments", &rows, turn, &mark).await;
            }
        }
        run(&mut database, "COMMIT").await;
    }
    hash_size(&mut database, 1 << 20).await;
    // Large new parts would be merged by the first task that writes; an index that grew task by task has none.
    for index in INDEXES {
        run(&mut database, &format!("INSERT INTO {index} ({index}) VALUES ('optimize')")).await;
    }
    for trigger in triggers {
        run(&mut database, &trigger).await;
    }
    database.close().await.unwrap();
    // Otherwise the first checkpoint would wait for all of this.
    std::fs::File::open(path).unwrap().sync_all().unwrap();
}

/// The last row of each table.
async fn limits(database: &mut SqliteConnection) -> Vec<(&'static str, &'static str, i64)> {
    let mut found = Vec::new();
    for (table, order) in TABLES {
        let last = format!("SELECT max({order}) FROM {table}");
        let last = sqlx::query_scalar(sqlx::AssertSqlSafe(last)).fetch_one(&mut *database).await.unwrap();
        found.push((table, order, last));
    }
    found
}

/// Copies rows of a table; every id in them is turned around and gets a mark, so that copies refer to copies.
async fn copy(database: &mut SqliteConnection, table: &str, rows: &str, turn: usize, mark: &str) {
    let columns = format!("SELECT name FROM pragma_table_info('{table}') WHERE name <> 'seq'");
    let columns: Vec<String> =
        sqlx::query_scalar(sqlx::AssertSqlSafe(columns)).fetch_all(&mut *database).await.unwrap();
    let mut values = String::new();
    for column in &columns {
        let digits = match (table, column.as_str()) {
            (_, "model_id" | "s2_id" | "openalex_id" | "arxiv_id") => None,
            ("works", "id") | (_, "work_id" | "work_key" | "doi" | "url") => Some(16),
            (_, name) if name == "id" || name.ends_with("_id") => Some(32),
            _ => None,
        };
        let separator = if values.is_empty() { "" } else { ", " };
        match digits {
            Some(digits) => write!(
                values,
                "{separator}substr({column}, 1, length({column}) - {digits}) || substr({column}, {turn} - {digits}) \
                 || substr({column}, -{digits}, {turn}) || '{mark}'"
            ),
            None => write!(values, "{separator}{column}"),
        }
        .unwrap();
    }
    let columns = columns.join(", ");
    run(database, &format!("INSERT INTO {table} ({columns}) SELECT {values} FROM {table} WHERE {rows}"))
        .await;
}

/// How many bytes of words the full-text index gathers before it writes them; few large parts need less merging.
async fn hash_size(database: &mut SqliteConnection, bytes: u32) {
    for index in INDEXES {
        run(database, &format!("INSERT INTO {index} ({index}, rank) VALUES ('hashsize', {bytes})")).await;
    }
}

async fn run(database: &mut SqliteConnection, sql: &str) {
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(database).await.unwrap();
}

//! Is the database whole: SQLite's own checks, and references that no foreign key can watch.

use crate::objects::{self, Views};
use crate::rows::RowExt;
use crate::{Result, Store, schema};
use serde::Serialize;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Row, SqliteConnection};
use std::path::Path;

/// Most messages per check.
const MOST_MESSAGES: usize = 20;

/// Queries that return problems, by name.
const ORPHANS: &[(&str, &str)] = &[
    (
        "edge_ends",
        "SELECT 'edge ' || id || ': its ' || source_type || ' ' || source_id || ' is not there' FROM edges
         WHERE NOT CASE source_type WHEN 'fragment' THEN EXISTS (SELECT 1 FROM fragments WHERE id = source_id)
                   WHEN 'claim' THEN EXISTS (SELECT 1 FROM claims WHERE id = source_id)
                   ELSE EXISTS (SELECT 1 FROM pages WHERE id = source_id) END
         UNION ALL
         SELECT 'edge ' || id || ': its ' || target_type || ' ' || target_id || ' is not there' FROM edges
         WHERE NOT CASE target_type WHEN 'claim' THEN EXISTS (SELECT 1 FROM claims WHERE id = target_id)
                   ELSE EXISTS (SELECT 1 FROM pages WHERE id = target_id) END",
    ),
    (
        "edge_works",
        "SELECT 'edge ' || edges.id || ': its work is ' || coalesce(pages.work_id, pages.id) || ', not '
                || coalesce(edges.work_key, 'unknown')
         FROM edges JOIN fragments ON fragments.id = edges.source_id JOIN pages ON pages.id = fragments.page_id
         WHERE edges.source_type = 'fragment'
           AND edges.work_key IS NOT coalesce(nullif(pages.work_id, ''), pages.id)",
    ),
    (
        "claim_domains",
        "SELECT 'claim ' || claims.id || ': its domain is ' || pages.domain || ', not '
                || coalesce(claims.source_domain, 'unknown')
         FROM claims JOIN fragments ON fragments.id = claims.source_fragment_id JOIN pages ON pages.id = fragments.page_id
         WHERE claims.source_domain IS NOT pages.domain",
    ),
    (
        "quarantine",
        "SELECT 'fragment ' || id || ' is in quarantine and among the fragments' FROM quarantined_fragments
         WHERE id IN (SELECT id FROM fragments WHERE text_content <> '')",
    ),
    (
        "embeddings",
        "SELECT 'vector ' || id || ' has ' || length(embedding_blob) || ' bytes for ' || dimension || ' numbers'
         FROM embeddings WHERE length(embedding_blob) <> 4 * dimension",
    ),
];

/// Unreferenced rows. They are harmless leftovers of interrupted steps that only take space.
const LEFTOVERS: &[(&str, &str)] = &[
    (
        "embeddings",
        "SELECT (SELECT count(*) FROM embeddings WHERE target_type = 'fragment'
                 AND target_id NOT IN (SELECT id FROM fragments))
              + (SELECT count(*) FROM embeddings WHERE target_type = 'claim'
                 AND target_id NOT IN (SELECT id FROM claims))",
    ),
    (
        "works",
        "SELECT count(*) FROM works WHERE id NOT IN (SELECT work_id FROM pages WHERE work_id IS NOT NULL)",
    ),
];

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoreCheck {
    /// Version of the schema.
    pub schema: i64,
    /// Bytes of the database.
    pub bytes: u64,
    /// Problems; empty when the database is intact.
    pub problems: Vec<Problem>,
    /// Unreferenced rows by table.
    pub leftovers: Vec<(&'static str, u64)>,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The check that found it.
    pub check: &'static str,
    /// What it found.
    pub found: String,
}

impl Store {
    /// Reads the whole database and returns its problems. It changes nothing; other writers wait while the full-text
    /// indexes are compared with their texts, because SQLite needs the write lock for that.
    ///
    /// # Errors
    /// When the database cannot be read at all.
    pub async fn check(&self) -> Result<StoreCheck> {
        let mut reader = self.reader().acquire().await?;
        let mut check = examine(&mut reader, Views::Present).await?;
        let latest = (&*schema::PRIVATE, schema::latest_of(&schema::PRIVATE));
        for found in objects::differences(&mut reader, "private", latest, Views::None).await? {
            check.problems.push(Problem { check: "schema", found });
        }
        drop(reader);
        let mut tx = self.write().await?;
        for table in ["fragments_fts", "claims_fts"] {
            // Rank 1 compares the index with its text.
            let sql = format!("INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)");
            if let Err(error) = sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&mut *tx).await {
                let found = format!("{table} does not fit its text: {error}");
                check.problems.push(Problem { check: "full_text", found });
            }
        }
        tx.rollback().await?;
        Ok(check)
    }

    /// Rebuilds the full-text indexes from their texts.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub async fn rebuild_full_text(&self) -> Result<()> {
        let mut tx = self.write().await?;
        for table in ["fragments_fts", "claims_fts"] {
            let sql = format!("INSERT INTO {table} ({table}) VALUES ('rebuild')");
            sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&mut *tx).await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

/// The same for a database file that no process has open, such as one in a backup, without its private file. The file
/// is not changed, and the full-text index is not compared with its text. `same_version` means that this version of
/// Lyra wrote it, so its views must match this version.
///
/// # Errors
/// It is not a Lyra database, comes from a newer version, or is unreadable.
pub async fn check_file(path: &Path, same_version: bool) -> Result<StoreCheck> {
    let mut connection = open_immutable(path).await?;
    schema::fits(path, &mut connection, &schema::MIGRATIONS).await?;
    let views = if same_version { Views::Present } else { Views::Replaced };
    let check = examine(&mut connection, views).await;
    connection.close().await?;
    check
}

/// Problems of a private file that no process has open.
///
/// # Errors
/// It is not one of ours, comes from a newer version, or is unreadable.
pub async fn check_private_file(path: &Path) -> Result<Vec<Problem>> {
    let mut connection = open_immutable(path).await?;
    schema::fits(path, &mut connection, &schema::PRIVATE).await?;
    let mut problems = integrity(&mut connection).await?;
    let version: Option<i64> =
        sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations").fetch_one(&mut connection).await?;
    let made = (&*schema::PRIVATE, version.unwrap_or(0));
    let differences = objects::differences(&mut connection, "main", made, Views::None).await?;
    problems.extend(differences.into_iter().map(|found| Problem { check: "schema", found }));
    connection.close().await?;
    Ok(problems)
}

/// Makes no file, not even one for what does not fit into memory.
async fn open_immutable(path: &Path) -> Result<SqliteConnection> {
    let options = SqliteConnectOptions::new().filename(path).read_only(true).immutable(true);
    let options = options.pragma("temp_store", "MEMORY");
    options.connect().await.map_err(|error| schema::open_error(path, error))
}

/// SQLite's own checks of every page.
async fn integrity(connection: &mut SqliteConnection) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for row in sqlx::query("PRAGMA integrity_check").fetch_all(connection).await? {
        let found: String = row.try_get(0)?;
        if found != "ok" {
            problems.push(Problem { check: "integrity", found });
        }
    }
    Ok(problems)
}

async fn examine(connection: &mut SqliteConnection, views: Views) -> Result<StoreCheck> {
    let mut problems = integrity(connection).await?;
    let mut add = |check, found: String| problems.push(Problem { check, found });
    for row in
        sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut *connection).await?.iter().take(MOST_MESSAGES)
    {
        let (table, parent): (String, String) = (row.try_get(0)?, row.try_get(2)?);
        let row: Option<i64> = row.try_get(1)?;
        let row = row.map_or_else(String::new, |row| format!(" {row}"));
        add("foreign_keys", format!("row{row} of {table} refers to a missing row of {parent}"));
    }
    let schema: Option<i64> =
        sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations").fetch_one(&mut *connection).await?;
    let pages: (i64, i64) =
        sqlx::query_as("SELECT page_count, page_size FROM pragma_page_count, pragma_page_size")
            .fetch_one(&mut *connection)
            .await?;
    let made = (&*schema::MIGRATIONS, schema.unwrap_or(0));
    for found in objects::differences(connection, "main", made, views).await? {
        add("schema", found);
    }
    // An older schema lacks tables; it is checked after the upgrade.
    let current = schema == Some(schema::latest());
    for (check, sql) in ORPHANS.iter().filter(|_| current) {
        let sql = format!("{sql} LIMIT {MOST_MESSAGES}");
        for row in sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&mut *connection).await? {
            add(check, row.try_get(0)?);
        }
    }
    let mut leftovers = Vec::new();
    for (table, sql) in LEFTOVERS.iter().filter(|_| current) {
        let row = sqlx::query(sqlx::AssertSqlSafe(format!("SELECT ({sql}) AS rows")))
            .fetch_one(&mut *connection)
            .await?;
        let rows: i64 = row.value("rows")?;
        if rows > 0 {
            leftovers.push((*table, rows.unsigned_abs()));
        }
    }
    Ok(StoreCheck {
        schema: schema.unwrap_or(0),
        bytes: pages.0.unsigned_abs() * pages.1.unsigned_abs(),
        problems,
        leftovers,
    })
}

#[cfg(test)]
mod tests;

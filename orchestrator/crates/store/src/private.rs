//! `private.db`: cookies of logins, tokens, the audit log and the words of passages in quarantine, in a file beside the database
//! that the connection behind agents' SQL never opens. The store's own connections see it as the schema `private`.

use crate::schema::{self, PRIVATE};
use crate::{Result, StoreError};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use std::path::{Path, PathBuf};

/// The first schema version of the database without secrets.
pub(crate) const APART_SINCE: i64 = 16;

/// Copies secrets that older schemas kept in the database itself. It is idempotent.
const COPIES: &[&str] = &[
    "INSERT OR IGNORE INTO private.access_tokens
         (id, name, scope, token_hash, created_at, expires_at, last_used_at, revoked_at)
     SELECT id, name, scope, token_hash, created_at, expires_at, last_used_at, revoked_at
     FROM main.access_tokens ORDER BY seq",
    "INSERT OR IGNORE INTO private.audit_log
         (seq, at, actor, via, action, arguments, task_id, cause_id, outcome, detail)
     SELECT seq, at, actor, via, action, arguments, task_id, cause_id, outcome, detail FROM main.audit_log",
    "INSERT OR IGNORE INTO private.sessions (domain, auth_id, session)
     SELECT domain, id, session FROM main.auth_queue WHERE session IS NOT NULL",
    "INSERT OR IGNORE INTO private.quarantined_texts (id, text_content, heading_context)
     SELECT id, text_content, heading_context FROM main.quarantined_fragments",
];

/// Secrets that no page of the database contains after the rewrite.
const REWRITTEN: &str = "rewritten without secrets";

/// The file that belongs to a database.
pub(crate) fn path(database: &Path) -> PathBuf {
    database.with_file_name("private.db")
}

/// Creates the private file of a database, or upgrades it to the latest version.
pub(crate) async fn open(database: &Path) -> Result<()> {
    let path = path(database);
    schema::check_version(&path, &PRIVATE).await?;
    keep_to_owner(&path)?;
    let options = SqliteConnectOptions::new()
        .filename(&path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .pragma("secure_delete", "on");
    let pool = SqlitePool::connect_with(options).await.map_err(|error| schema::open_error(&path, error))?;
    let migrated = schema::migrate_with(&PRIVATE, &path, &pool).await;
    pool.close().await;
    migrated
}

/// Attaches the private file to a connection to the database.
pub(crate) async fn attach(connection: &mut SqliteConnection, database: &Path) -> Result<(), sqlx::Error> {
    let path = path(database);
    let path = path
        .to_str()
        .ok_or_else(|| sqlx::Error::Protocol(format!("{} is not valid UTF-8", path.display())))?;
    sqlx::query("ATTACH DATABASE ? AS private").bind(path).execute(&mut *connection).await?;
    // Deleted data is overwritten.
    sqlx::query("PRAGMA private.secure_delete = on").execute(connection).await?;
    Ok(())
}

/// Copies the secrets from a database of an older schema. When this returns, the copy is on disk.
pub(crate) async fn take_over(writer: &SqlitePool) -> Result<()> {
    let mut tx = writer.begin_with("BEGIN IMMEDIATE").await?;
    for sql in COPIES {
        sqlx::query(*sql).execute(&mut *tx).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Rewrites the database unless that is done already, so that no free page still contains a secret. `fresh` marks one
/// that never had any.
pub(crate) async fn rewrite(database: &Path, writer: &SqlitePool, fresh: bool) -> Result<()> {
    let done: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM private.done WHERE what = ?)")
        .bind(REWRITTEN)
        .fetch_one(writer)
        .await?;
    if done {
        return Ok(());
    }
    if !fresh {
        tracing::info!(database = %database.display(), "rewriting the database without its secrets, once");
        let mut connection = writer.acquire().await?;
        sqlx::raw_sql("VACUUM main").execute(&mut *connection).await?;
        // The log would keep the old pages.
        let (busy, ..): (i64, i64, i64) =
            sqlx::query_as("PRAGMA main.wal_checkpoint(TRUNCATE)").fetch_one(&mut *connection).await?;
        if busy != 0 {
            tracing::warn!(
                "another process is reading the database: it will be rewritten without its secrets at the next start"
            );
            return Ok(());
        }
    }
    sqlx::query("INSERT OR IGNORE INTO private.done (what) VALUES (?)")
        .bind(REWRITTEN)
        .execute(writer)
        .await?;
    Ok(())
}

/// Revoked tokens by id, with the time, from the data in a folder, in any version.
pub(crate) async fn load_revoked(database: &Path) -> Result<Vec<(String, String)>> {
    for file in [path(database), database.to_owned()] {
        if !file.exists() {
            continue;
        }
        let options = SqliteConnectOptions::new().filename(&file).read_only(true);
        let mut connection = options.connect().await.map_err(|error| schema::open_error(&file, error))?;
        let there: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'access_tokens')",
        )
        .fetch_one(&mut connection)
        .await
        .map_err(|error| schema::open_error(&file, error))?;
        let found = if there {
            sqlx::query_as("SELECT id, revoked_at FROM access_tokens WHERE revoked_at IS NOT NULL")
                .fetch_all(&mut connection)
                .await?
        } else {
            Vec::new()
        };
        connection.close().await?;
        if there {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Restricts a database file and SQLite's files beside it to their owner; a missing one is created with these
/// permissions, and SQLite copies them to the others.
pub(crate) fn keep_to_owner(path: &Path) -> Result<()> {
    let refused = |path: &Path, error: std::io::Error| StoreError::NotWritable {
        path: path.to_owned(),
        why: error.to_string(),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let made = std::fs::File::options().write(true).create_new(true).mode(0o600).open(path);
        match made {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(refused(path, error));
            }
            _ => {}
        }
        for suffix in ["", "-wal", "-shm"] {
            let mut file = path.as_os_str().to_owned();
            file.push(suffix);
            let file = PathBuf::from(file);
            let Ok(found) = std::fs::metadata(&file) else { continue };
            if found.permissions().mode() & 0o077 != 0
                && let Err(error) = std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600))
            {
                tracing::warn!(file = %file.display(), %error, "other users can read this file, and its permissions \
                    cannot be changed");
            }
        }
    }
    #[cfg(not(unix))]
    let _ = (path, refused);
    Ok(())
}

/// Restricts a folder to its owner. A shared one, such as `/tmp`, stays unchanged.
pub(crate) fn keep_folder_to_owner(folder: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        const STICKY: u32 = 0o1000;
        let Ok(found) = std::fs::metadata(folder) else { return };
        let mode = found.permissions().mode();
        let others = mode & 0o077;
        if others == 0 || mode & STICKY != 0 {
            return;
        }
        if let Err(error) = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)) {
            tracing::warn!(folder = %folder.display(), %error, "other users can read this folder, and its \
                permissions cannot be changed");
        }
    }
    #[cfg(not(unix))]
    let _ = folder;
}

#[cfg(test)]
mod tests;

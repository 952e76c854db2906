//! Migrations, and the refusal of files that are not ours.

mod migrations;

pub(crate) use migrations::{MIGRATIONS, PRIVATE};

use crate::error::sqlite_code;
use crate::{Result, StoreError, private, views};
use libsqlite3_sys as ffi;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use sqlx::{ConnectOptions, Connection};
use std::path::Path;

/// Rejects an existing file that is not a Lyra database or comes from a newer version, before writing to it.
pub(crate) async fn check(path: &Path) -> Result<()> {
    check_version(path, &MIGRATIONS).await
}

/// The same of a file with this schema.
pub(crate) async fn check_version(path: &Path, migrations: &Migrator) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(file) if file.is_dir() => {
            return Err(StoreError::NotADatabase { path: path.to_owned(), why: "it is a folder".to_owned() });
        }
        Ok(file) if file.len() > 0 => {}
        _ => return Ok(()),
    }
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut connection = options.connect().await.map_err(|error| open_error(path, error))?;
    let fits = fits(path, &mut connection, migrations).await;
    connection.close().await?;
    fits
}

/// Refuses a file that is not a Lyra database or that is newer than the last of these migrations.
pub(crate) async fn fits(
    path: &Path,
    connection: &mut sqlx::SqliteConnection,
    migrations: &Migrator,
) -> Result<()> {
    let (tables, found) = versions(path, connection).await?;
    let known = latest_of(migrations);
    match found {
        None if tables > 0 => Err(StoreError::NotADatabase {
            path: path.to_owned(),
            why: "it is the SQLite database of another program".to_owned(),
        }),
        Some(found) if found > known => Err(StoreError::Newer { path: path.to_owned(), found, known }),
        _ => Ok(()),
    }
}

/// How many tables there are, and the version of the schema when it is ours.
async fn versions(path: &Path, connection: &mut sqlx::SqliteConnection) -> Result<(i64, Option<i64>)> {
    let (tables, ours): (i64, bool) = sqlx::query_as(
        "SELECT count(*), coalesce(max(name = '_sqlx_migrations'), 0) FROM sqlite_schema WHERE type = 'table'",
    )
    .fetch_one(&mut *connection)
    .await
    .map_err(|error| open_error(path, error))?;
    if !ours {
        return Ok((tables, None));
    }
    let found: Option<i64> =
        sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations").fetch_one(connection).await?;
    Ok((tables, Some(found.unwrap_or(0))))
}

/// Waits until no other process is opening the database in the folder of these workers. Held until the file is dropped.
pub(crate) async fn turn(workers: &Path) -> Result<std::fs::File> {
    let lock_path = workers.join("migrate");
    tokio::task::spawn_blocking(move || {
        let file = std::fs::File::create(lock_path)?;
        file.lock()?;
        Ok::<_, std::io::Error>(file)
    })
    .await
    .map_err(|error| StoreError::corrupt("the migration lock", error))?
    .map_err(|error| StoreError::NotWritable { path: workers.to_owned(), why: error.to_string() })
}

/// Brings the database to the latest version. The caller holds the [`turn`], and the writer sees the private file.
pub(crate) async fn migrate(path: &Path, writer: &SqlitePool) -> Result<()> {
    let found = versions(path, &mut *writer.acquire().await?).await?.1;
    if found.is_some_and(|found| found < latest()) {
        views::remove(writer).await?;
    }
    if found.is_none_or(|found| found < private::APART_SINCE) {
        // The next version drops the secrets, so they must be copied first.
        let before = MIGRATIONS.iter().filter(|migration| migration.version < private::APART_SINCE);
        let before = Migrator::with_migrations(before.cloned().collect());
        migrate_with(&before, path, writer).await?;
        private::take_over(writer).await?;
    }
    migrate_with(&MIGRATIONS, path, writer).await?;
    private::rewrite(path, writer, found.is_none()).await
}

/// Upgrades a file to the latest of these versions.
pub(crate) async fn migrate_with(migrations: &Migrator, path: &Path, writer: &SqlitePool) -> Result<()> {
    let migrated = migrations.run(writer).await;
    migrated.map_err(|error| match error {
        MigrateError::VersionMissing(found) => {
            StoreError::Newer { path: path.to_owned(), found, known: latest_of(migrations) }
        }
        MigrateError::VersionMismatch(version) => StoreError::Altered { path: path.to_owned(), version },
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => open_error(path, error),
        other => StoreError::Database(sqlx::Error::Migrate(Box::new(other))),
    })
}

/// The newest version that this program knows.
pub(crate) fn latest() -> i64 {
    latest_of(&MIGRATIONS)
}

pub(crate) fn latest_of(migrations: &Migrator) -> i64 {
    migrations.iter().map(|migration| migration.version).max().unwrap_or(0)
}

/// An error of opening, in words about the file.
pub(crate) fn open_error(path: &Path, error: sqlx::Error) -> StoreError {
    let path = path.to_owned();
    match sqlite_code(&error) {
        Some(ffi::SQLITE_NOTADB) => StoreError::NotADatabase {
            path,
            why: "its contents are not those of a SQLite database".to_owned(),
        },
        Some(ffi::SQLITE_CORRUPT) => StoreError::NotADatabase { path, why: "it is damaged".to_owned() },
        Some(ffi::SQLITE_READONLY) => StoreError::NotWritable { path, why: "it is read-only".to_owned() },
        Some(ffi::SQLITE_CANTOPEN | ffi::SQLITE_PERM) => {
            StoreError::NotWritable { path, why: "it cannot be opened or created".to_owned() }
        }
        _ => error.into(),
    }
}

#[cfg(test)]
mod contract;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod upgrades;

//! Checks that every table, index, trigger and view of a file is one of ours, because a schema can execute code.

use crate::{Result, sqlite, views};
use sqlx::migrate::Migrator;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use std::collections::BTreeMap;

/// Which views are right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Views {
    /// Those of this version.
    Present,
    /// Views of another version, which are replaced when the database is opened: any whose name begins with `v_`.
    Replaced,
    /// None.
    None,
}

/// Kind and name, with its table and its `CREATE` statement.
type Objects = BTreeMap<(String, String), (String, String)>;

/// The differences between a schema of the connection and the result of these migrations, up to a version.
pub(crate) async fn differences(
    connection: &mut SqliteConnection,
    schema: &str,
    (migrations, version): (&Migrator, i64),
    right: Views,
) -> Result<Vec<String>> {
    let mut expected = build_schema(migrations, version).await?;
    if right == Views::Present {
        for (name, sql) in views::definitions()? {
            expected.insert(("view".to_owned(), name.to_owned()), (name.to_owned(), sql));
        }
    }
    let mut found = read(connection, schema).await?;
    if right == Views::Replaced {
        found.retain(|(kind, name), _| kind != "view" || !name.starts_with("v_"));
    }
    let mut differences = Vec::new();
    for ((kind, name), (table, sql)) in &found {
        match expected.remove(&(kind.clone(), name.clone())) {
            None => differences.push(format!("the {kind} {name} on {table} is not part of this schema")),
            Some(made) if made != (table.clone(), sql.clone()) && !is_written_by_others(kind, name) => {
                differences.push(format!("the {kind} {name} is not defined as in this schema"));
            }
            Some(_) => {}
        }
    }
    differences.extend(expected.keys().map(|(kind, name)| format!("the {kind} {name} is missing")));
    Ok(differences)
}

/// Tables that FTS5 and sqlx define, in words that may change with their versions.
fn is_written_by_others(kind: &str, name: &str) -> bool {
    kind == "table" && (name == "_sqlx_migrations" || name.contains("_fts_"))
}

async fn build_schema(migrations: &Migrator, version: i64) -> Result<Objects> {
    let mut memory = SqliteConnection::connect("sqlite::memory:").await?;
    sqlite::add_functions(&mut memory).await?;
    let upto = migrations.iter().filter(|migration| migration.version <= version).cloned().collect();
    Migrator::with_migrations(upto)
        .run(&mut memory)
        .await
        .map_err(|error| sqlx::Error::Migrate(Box::new(error)))?;
    read(&mut memory, "main").await
}

async fn read(connection: &mut SqliteConnection, schema: &str) -> Result<Objects> {
    let sql = format!(
        "SELECT type, name, tbl_name, coalesce(sql, '') FROM {schema}.sqlite_schema
         WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    );
    let found: Vec<(String, String, String, String)> =
        sqlx::query_as(AssertSqlSafe(sql)).fetch_all(connection).await?;
    Ok(found.into_iter().map(|(kind, name, table, sql)| ((kind, name), (table, sql))).collect())
}

//! A data folder with secrets, and whether something hands them out.

use lyra_tests::TestApp;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use std::path::Path;

/// Part of every secret, and of no attack.
const SECRET: &str = "s3cret";
/// The same in hexadecimal, as `hex()` answers.
const IN_HEX: &str = "733363726574";

async fn execute(file: &Path, sql: String) -> anyhow::Result<()> {
    let mut connection = SqliteConnectOptions::new().filename(file).connect().await?;
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await?;
    Ok(connection.close().await?)
}

/// Puts a secret into every table that is closed.
pub(crate) async fn plant(app: &TestApp) -> anyhow::Result<()> {
    // The first command makes the databases.
    app.json(&["task", "list", "--json"]);
    execute(
        &app.data_dir().join("private.db"),
        format!(
            "INSERT INTO sessions VALUES ('a.example', 'auth_1', '{SECRET}-1');
             INSERT INTO access_tokens (id, name, scope, token_hash, created_at)
             VALUES ('x', '{SECRET}-2', 'full', '{SECRET}-3', 'x');
             INSERT INTO audit_log (at, actor, via, action, arguments, cause_id, outcome)
             VALUES ('x', '{SECRET}-4', 'cli', 'x', '{SECRET}-5', 'x', 'ok');
             INSERT INTO quarantined_texts VALUES ('frag_q', '{SECRET}-6', '{SECRET}-7');"
        ),
    )
    .await?;
    execute(
        &app.data_dir().join("lyra.db"),
        format!("INSERT INTO rate_state VALUES ('{SECRET}-8', '{SECRET}-9', 'x');"),
    )
    .await
}

/// Whether a secret is in a text.
pub(crate) fn leaked(text: &str) -> bool {
    text.contains(SECRET) || text.contains(IN_HEX)
}

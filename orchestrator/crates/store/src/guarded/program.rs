//! The tables that a compiled statement opens. SQLite does not call the authorizer for every name: it skips columns
//! joined by `USING` and `NATURAL`. The program itself is complete: it opens every table that it reads by root page.

use super::authorizer::Denial;
use super::catalog;
use super::lexer::Token;
use sqlx::{AssertSqlSafe, Row, SqlSafeStr, SqliteConnection};
use std::collections::HashMap;

/// The table that a tree of pages belongs to, itself or as one of its indexes, by its first page.
pub(super) struct Trees(HashMap<i64, String>);

impl Trees {
    /// Of the database as the connection's transaction sees it.
    pub(super) async fn read(connection: &mut SqliteConnection) -> Result<Self, sqlx::Error> {
        let found = sqlx::query("SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0")
            .fetch_all(connection)
            .await?;
        let entry = |row: &sqlx::sqlite::SqliteRow| Ok((row.try_get(0)?, row.try_get(1)?));
        Ok(Self(found.iter().map(entry).collect::<Result<_, sqlx::Error>>()?))
    }

    /// The forbidden tables that the statement's program opens. It is compiled but not executed.
    pub(super) async fn closed_one(
        &self,
        connection: &mut SqliteConnection,
        sql: &str,
        tokens: &[Token<'_>],
    ) -> Result<Option<Denial>, sqlx::Error> {
        // An explanation opens nothing.
        if tokens.first().is_some_and(|token| token.is("EXPLAIN")) {
            return Ok(None);
        }
        let explained = AssertSqlSafe(format!("EXPLAIN {sql}")).into_sql_str();
        let program = sqlx::query(explained).persistent(false).fetch_all(connection).await?;
        for step in &program {
            let opcode: &str = step.try_get("opcode")?;
            let (page, database): (i64, i64) = (step.try_get_unchecked("p2")?, step.try_get_unchecked("p3")?);
            if !["OpenRead", "ReopenIdx", "OpenWrite"].contains(&opcode) {
                continue;
            }
            // Other databases must not be read.
            let table = self.0.get(&page).filter(|_| database == 0);
            match table {
                Some(table) if catalog::is_open(table) => {}
                Some(table) => return Ok(Some(Denial::Table(table.clone()))),
                None => return Ok(Some(Denial::Table("sqlite_schema".to_owned()))),
            }
        }
        Ok(None)
    }
}

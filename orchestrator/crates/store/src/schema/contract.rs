//! The schema as it is after every migration, and every statement compiled against it.

use crate::testing::Bench;
use sqlx::{AssertSqlSafe, Executor, SqlSafeStr};
use std::fs;
use std::path::{Path, PathBuf};

#[tokio::test]
async fn the_schema_is_the_one_that_was_agreed() {
    let bench = Bench::new().await;
    for schema in ["main", "private"] {
        let statement =
            format!("SELECT sql FROM {schema}.sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name");
        let mut connection = bench.store.write().await.unwrap();
        let found: Vec<String> =
            sqlx::query_scalar(AssertSqlSafe(statement)).fetch_all(&mut *connection).await.unwrap();
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(format!("schema-{schema}"), found.join(";\n")));
    }
}

#[tokio::test]
async fn every_statement_in_the_sources_compiles() {
    let bench = Bench::new().await;
    let mut connection = bench.store.write().await.unwrap();
    let mut compiled = 0;
    let mut wrong = Vec::new();
    for file in sources(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))) {
        let statements = statements(&fs::read_to_string(&file).unwrap());
        let (temporary, others): (Vec<String>, Vec<String>) =
            statements.into_iter().partition(|text| text.trim_start().starts_with("CREATE TEMP"));
        for tables in temporary {
            sqlx::raw_sql(AssertSqlSafe(tables)).execute(&mut *connection).await.unwrap();
        }
        for statement in others {
            match (&mut *connection).prepare(AssertSqlSafe(statement.clone()).into_sql_str()).await {
                Ok(_) => compiled += 1,
                Err(error) => wrong.push(format!("{}: {error}\n{statement}", file.display())),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    // The scanner finds them: fewer would mean that it went blind.
    assert!(compiled > 220, "{compiled} statements");
}

/// Files with code that is no test.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs")
            && !["tests.rs", "testing.rs", "contract.rs", "upgrades.rs"].contains(&&*name)
        {
            found.push(path);
        }
    }
    found
}

/// Literals, and constants of the same file, that are handed to sqlx whole, up to the tests of the file. Statements that are put
/// together from parts are run by the tests of their functions.
fn statements(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = Vec::new();
    for call in ["query(", "query_as(", "query_scalar(", "raw_sql("] {
        for (at, _) in code.match_indices(&format!("sqlx::{call}")) {
            let argument = code[at + "sqlx::".len() + call.len()..].trim_start();
            let name =
                argument.split(|c: char| !(c.is_ascii_uppercase() || c == '_')).next().unwrap_or_default();
            let constant = || {
                let definition = code.split_once(&format!("const {name}: &str ="))?.1;
                definition.trim_start().strip_prefix('"')
            };
            found.extend(argument.strip_prefix('"').or_else(constant).map(unescaped));
        }
    }
    found
}

/// A string literal, from behind its first quotation mark to the next one that is not escaped.
fn unescaped(literal: &str) -> String {
    let mut text = String::new();
    let mut rest = literal.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => break,
            '\\' => match rest.next() {
                Some('\n') => {
                    let trimmed = rest.as_str().trim_start();
                    rest = trimmed.chars();
                }
                Some('n') => text.push('\n'),
                Some(escaped) => text.push(escaped),
                None => break,
            },
            c => text.push(c),
        }
    }
    text
}

//! Reading rows into domain types.

use crate::{Result, StoreError};
use lyra_domain::{Claim, Extraction, Extractor, Fragment, Probability, Query, Task, TaskConfig};
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use std::str::FromStr;

/// Columns as domain types; a value that does not parse is an error that names its column.
pub(crate) trait RowExt {
    /// A column that SQLite types itself.
    fn value<'r, T>(&'r self, column: &str) -> Result<T>
    where
        T: sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>;
    /// A typed value stored as text.
    fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, column: &str) -> Result<T>;
    /// The same, where null is allowed.
    fn parsed_or_null<T: FromStr<Err: std::fmt::Display>>(&self, column: &str) -> Result<Option<T>>;
    /// How many of something.
    fn count(&self, column: &str) -> Result<u64>;
    /// JSON, or the default when it is null or malformed.
    fn json_or_default<T: DeserializeOwned + Default>(&self, column: &str) -> Result<T>;
}

impl RowExt for SqliteRow {
    fn value<'r, T>(&'r self, column: &str) -> Result<T>
    where
        T: sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
    {
        Ok(self.try_get(column)?)
    }

    fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, column: &str) -> Result<T> {
        let text: String = self.try_get(column)?;
        text.parse().map_err(|error| StoreError::corrupt(format!("column {column}"), error))
    }

    fn parsed_or_null<T: FromStr<Err: std::fmt::Display>>(&self, column: &str) -> Result<Option<T>> {
        let text: Option<String> = self.try_get(column)?;
        text.map(|text| text.parse().map_err(|error| StoreError::corrupt(format!("column {column}"), error)))
            .transpose()
    }

    fn count(&self, column: &str) -> Result<u64> {
        Ok(self.try_get::<i64, _>(column)?.unsigned_abs())
    }

    fn json_or_default<T: DeserializeOwned + Default>(&self, column: &str) -> Result<T> {
        let text: Option<String> = self.try_get(column)?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }
}

/// Text for a JSON column.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| StoreError::corrupt("a value for a JSON column", error))
}

pub(crate) fn task(row: &SqliteRow) -> Result<Task> {
    let config: String = row.value("config")?;
    let config: TaskConfig =
        serde_json::from_str(&config).map_err(|error| StoreError::corrupt("column config", error))?;
    Ok(Task {
        id: row.parsed("id")?,
        query: row.value("query")?,
        status: row.parsed("status")?,
        config,
        created_at: row.parsed("created_at")?,
        started_at: row.parsed_or_null("started_at")?,
        completed_at: row.parsed_or_null("completed_at")?,
        error: row.value("error")?,
    })
}

pub(crate) fn query(row: &SqliteRow) -> Result<Query> {
    Ok(Query {
        id: row.parsed("id")?,
        task_id: row.parsed("task_id")?,
        query_text: row.value("query_text")?,
        claim_id: row.parsed_or_null("claim_id")?,
        language: row.value("language")?,
        sources: row.json_or_default("engines")?,
        status: row.parsed("status")?,
        result_count: row.value("result_count")?,
        pages_fetched: row.value("pages_fetched")?,
        useful_fragments: row.value("useful_fragments")?,
        harvest_rate: row.value("harvest_rate")?,
        source_errors: row.json_or_default("source_errors")?,
    })
}

pub(crate) fn claim(row: &SqliteRow) -> Result<Claim> {
    let extracted_by: Option<Extractor> = row.parsed_or_null("extracted_by")?;
    let score: Option<f64> = row.value("extraction_score")?;
    let extraction = extracted_by
        .zip(score)
        .map(|(extracted_by, score)| Extraction { extracted_by, score: Probability::clamped(score) });
    Ok(Claim {
        id: row.parsed("id")?,
        task_id: row.parsed("task_id")?,
        claim_text: row.value("claim_text")?,
        claim_type: row.value("claim_type")?,
        language: row.value("language")?,
        source_fragment_id: row.parsed_or_null("source_fragment_id")?,
        extraction,
        adoption_status: row.parsed("claim_adoption_status")?,
        verification_status: row.parsed("source_verification_status")?,
    })
}

pub(crate) fn fragment(row: &SqliteRow) -> Result<Fragment> {
    Ok(Fragment {
        id: row.parsed("id")?,
        page_id: row.parsed("page_id")?,
        fragment_type: row.parsed("fragment_type")?,
        position: row.value("position")?,
        text_content: row.value("text_content")?,
        heading_context: row.value("heading_context")?,
        char_start: row.value("char_start")?,
        char_end: row.value("char_end")?,
    })
}

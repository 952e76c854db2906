//! Lane searches that are run again, with the documents that they have returned.

use crate::rows::{RowExt, json};
use crate::{Result, Store, StoreError};
use serde_json::Value;
use sqlx::sqlite::SqliteRow;
use std::collections::BTreeSet;

/// A saved search.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedSearch {
    /// Its name.
    pub name: String,
    /// The corpus that it searches.
    pub corpus: String,
    /// What is searched.
    pub recipe: Value,
    /// Ids of all documents that it has returned.
    pub seen: BTreeSet<String>,
    /// When it was saved.
    pub created_at: jiff::Timestamp,
    /// When it ran last.
    pub last_run_at: jiff::Timestamp,
    /// The run of that time, which may have expired.
    pub last_run_id: String,
    /// Documents that no run before that one returned, by rank; empty until it ran again.
    pub last_new: Vec<String>,
}

/// A search to save, from a run of it.
#[derive(Debug, Clone, Copy)]
pub struct NewSavedSearch<'a> {
    /// Its name.
    pub name: &'a str,
    /// The corpus that it searches.
    pub corpus: &'a str,
    /// What is searched.
    pub recipe: &'a Value,
    /// The run.
    pub run_id: &'a str,
    /// The documents of the run.
    pub seen: &'a [String],
}

impl Store {
    /// Saves a search. `false`, and nothing changes, if the name is taken.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn save_search(&self, search: NewSavedSearch<'_>) -> Result<bool> {
        let mut tx = self.write().await?;
        let done = sqlx::query(
            "INSERT INTO saved_searches (name, corpus, recipe, seen, created_at, last_run_at, last_run_id, last_new)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, '[]') ON CONFLICT (name) DO NOTHING",
        )
        .bind(search.name)
        .bind(search.corpus)
        .bind(json(search.recipe)?)
        .bind(json(&search.seen.iter().collect::<BTreeSet<_>>())?)
        .bind(self.stamp())
        .bind(search.run_id)
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    /// All saved searches, by name.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn saved_searches(&self) -> Result<Vec<SavedSearch>> {
        let rows = sqlx::query("SELECT * FROM saved_searches ORDER BY name").fetch_all(self.reader()).await?;
        rows.iter().map(read).collect()
    }

    /// A saved search by its name.
    ///
    /// # Errors
    /// No such search.
    pub async fn saved_search(&self, name: &str) -> Result<SavedSearch> {
        let found = sqlx::query("SELECT * FROM saved_searches WHERE name = ?")
            .bind(name)
            .fetch_optional(self.reader())
            .await?;
        read(&found.ok_or_else(|| StoreError::NotFound { what: format!("the saved search {name}") })?)
    }

    /// Adds the documents of a new run, by rank, to those that a search has returned. Returns those that are new, or `None` if
    /// the search was deleted meanwhile.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn ran_again(&self, name: &str, run_id: &str, ids: &[String]) -> Result<Option<Vec<String>>> {
        let mut tx = self.write().await?;
        let found = sqlx::query("SELECT seen FROM saved_searches WHERE name = ?")
            .bind(name)
            .fetch_optional(&mut *tx)
            .await?;
        let Some(found) = found else { return Ok(None) };
        let mut seen: BTreeSet<String> = found.json_or_default("seen")?;
        let new: Vec<String> = ids.iter().filter(|id| seen.insert((*id).clone())).cloned().collect();
        sqlx::query(
            "UPDATE saved_searches SET last_run_at = ?2, last_run_id = ?3, seen = ?4, last_new = ?5 WHERE name = ?1",
        )
        .bind(name)
        .bind(self.stamp())
        .bind(run_id)
        .bind(json(&seen)?)
        .bind(json(&new)?)
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(Some(new))
    }

    /// Deletes a saved search. `false` if it does not exist.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn forget_search(&self, name: &str) -> Result<bool> {
        let mut tx = self.write().await?;
        let done =
            sqlx::query("DELETE FROM saved_searches WHERE name = ?").bind(name).execute(&mut *tx).await?;
        tx.commit().await?;
        Ok(done.rows_affected() > 0)
    }
}

fn read(row: &SqliteRow) -> Result<SavedSearch> {
    Ok(SavedSearch {
        name: row.value("name")?,
        corpus: row.value("corpus")?,
        recipe: row.json_or_default("recipe")?,
        seen: row.json_or_default("seen")?,
        created_at: row.parsed("created_at")?,
        last_run_at: row.parsed("last_run_at")?,
        last_run_id: row.value("last_run_id")?,
        last_new: row.json_or_default("last_new")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;
    use serde_json::json;

    #[tokio::test]
    async fn a_search_remembers_what_it_returned() {
        let bench = Bench::new().await;
        let store = &bench.store;
        let recipe = json!({"text": "led"});
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let seen = ids(&["b", "a"]);
        let new = NewSavedSearch { name: "leds", corpus: "p", recipe: &recipe, run_id: "r1", seen: &seen };
        assert!(store.save_search(new).await.unwrap());
        assert!(
            !store.save_search(NewSavedSearch { run_id: "r2", ..new }).await.unwrap(),
            "the name is taken"
        );
        assert_eq!(
            store.ran_again("leds", "r3", &ids(&["d", "a", "c"])).await.unwrap(),
            Some(ids(&["d", "c"]))
        );
        let saved = store.saved_search("leds").await.unwrap();
        assert_eq!((saved.last_run_id.as_str(), saved.seen.len(), saved.last_new.len()), ("r3", 4, 2));
        assert_eq!(store.saved_searches().await.unwrap(), [saved]);
        assert!(store.forget_search("leds").await.unwrap() && !store.forget_search("leds").await.unwrap());
        assert_eq!(store.ran_again("leds", "r4", &[]).await.unwrap(), None);
        assert!(store.saved_search("leds").await.is_err());
    }
}

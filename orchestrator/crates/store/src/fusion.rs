//! Runs of lanes and of their fusion, and texts that came from outside.

#[cfg(test)]
mod tests;
mod texts;

use crate::rows::{RowExt, json};
use crate::store::stamp;
use crate::{Result, Store, StoreError};
use lyra_domain::{hex, named_enum};
use lyra_fusion::RankedDocs;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::sqlite::SqliteRow;
use std::time::Duration;
use uuid::Uuid;

/// How long an expired run can still be read by its id.
const KEPT: Duration = Duration::from_hours(30 * 24);

named_enum! {
    /// The kind of a run.
    pub enum RunKind {
        /// A full-text lane.
        Fulltext = "fulltext",
        /// A semantic lane.
        Semantic = "semantic",
        /// A semantic lane over another scope of text.
        OriginalDense = "original_dense",
        /// A fusion of lanes.
        Fusion = "fusion",
    }
}

/// A run to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    /// Its kind.
    pub kind: RunKind,
    /// Everything that shapes it, in one canonical text; its hash is stored.
    pub shaped_by: String,
    /// The lane's name.
    pub lane: Option<String>,
    /// The corpus searched.
    pub corpus: String,
    /// The backend that has it.
    pub backend: String,
    /// The request.
    pub recipe: Value,
    /// The result.
    pub docs: RankedDocs,
    /// Counts and time.
    pub meta: RunMeta,
    /// The runs that it fuses, with their names in it.
    pub parents: Vec<RunParent>,
    /// The fusion run that this one was changed from.
    pub changed_from: Option<String>,
    /// Its measurements.
    pub assessment: Option<Value>,
    /// Documents that a person judged, inherited from the run that it was derived from.
    pub representatives: Option<Value>,
}

/// Counts and time of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunMeta {
    /// Requested number of documents.
    pub top_k: usize,
    /// Documents in the run.
    pub count_returned: usize,
    /// Whether more matched.
    pub truncated: bool,
    /// Documents that matched, where the backend counts them.
    pub total: Option<u64>,
    /// Milliseconds.
    pub took_ms: u64,
    /// Documents that the search could not find because their embeddings were still to be made.
    #[serde(default)]
    pub unembedded: u64,
    /// Documents may have been missing, because an import had not finished.
    #[serde(default)]
    pub unfinished: bool,
}

/// A run within a fusion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunParent {
    /// Its name in the fusion.
    pub lane: String,
    /// Which run.
    pub run_id: String,
}

/// A stored run.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: RunKind,
    /// SHA-256 of everything that shapes it, in hexadecimal.
    pub identity: String,
    /// The lane's name.
    pub lane: Option<String>,
    /// The corpus searched.
    pub corpus: String,
    /// The backend that has it.
    pub backend: String,
    /// The request.
    pub recipe: Value,
    /// The result.
    pub docs: RankedDocs,
    /// Counts and time.
    pub meta: RunMeta,
    /// The runs that it fuses.
    pub parents: Vec<RunParent>,
    /// The fusion run that this one was changed from.
    pub changed_from: Option<String>,
    /// Its measurements.
    pub assessment: Option<Value>,
    /// Documents that a person judged.
    pub representatives: Option<Value>,
    /// When it was created.
    pub created_at: jiff::Timestamp,
    /// When it expires.
    pub expires_at: jiff::Timestamp,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    /// Its id.
    pub run_id: String,
    /// Its kind.
    pub kind: RunKind,
    /// The lane's name.
    pub lane: Option<String>,
    /// The corpus searched.
    pub corpus: String,
    /// The query or text of a lane; `None` for a fusion.
    pub query: Option<String>,
    /// Documents in it.
    pub count_returned: usize,
    /// When it was created.
    pub created_at: jiff::Timestamp,
}

/// Judgments of a run's documents, in place of those that it had.
#[derive(Debug, Clone, Copy)]
pub struct NewJudgments<'a> {
    /// What the run had.
    pub before: Option<&'a Value>,
    /// Everything that shapes the run from now on.
    pub shaped_by: &'a str,
    /// The judged documents.
    pub representatives: &'a Value,
    /// The measurements made with them.
    pub assessment: &'a Value,
}

impl Store {
    /// Stores a run for `ttl`, and drops runs that expired long ago and that no other run fuses. If a fresh run with
    /// the same identity was stored meanwhile, that one is kept and returned: concurrent identical requests get the
    /// same run.
    ///
    /// # Errors
    /// A parent that is not there.
    pub async fn put_run(&self, run: NewRun, ttl: Duration) -> Result<StoredRun> {
        let now = self.now();
        let identity = hash_identity(&run.shaped_by);
        // Ids differ although identities are the same: a run that expired keeps its own.
        let short = Uuid::new_v4().simple().to_string();
        let id = format!("{}-{}{}", run.kind, &identity[..8], &short[..8]);
        let expires_at = now.checked_add(ttl).unwrap_or(jiff::Timestamp::MAX);
        let mut tx = self.write().await?;
        let known: Option<String> = sqlx::query_scalar(
            "SELECT id FROM fusion_runs WHERE identity = ? AND expires_at > ? ORDER BY seq DESC LIMIT 1",
        )
        .bind(&identity)
        .bind(stamp(now))
        .fetch_optional(&mut *tx)
        .await?;
        if let Some(known) = known {
            drop(tx);
            return self.run(&known).await;
        }
        sqlx::query(
            "INSERT INTO fusion_runs (id, kind, identity, lane, corpus, backend, recipe, docs, meta, changed_from,
                 assessment, representatives, created_at, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        )
        .bind(&id)
        .bind(run.kind.as_str())
        .bind(&identity)
        .bind(&run.lane)
        .bind(&run.corpus)
        .bind(&run.backend)
        .bind(json(&run.recipe)?)
        .bind(json(&run.docs)?)
        .bind(json(&run.meta)?)
        .bind(&run.changed_from)
        .bind(run.assessment.as_ref().map(json).transpose()?)
        .bind(run.representatives.as_ref().map(json).transpose()?)
        .bind(stamp(now))
        .bind(stamp(expires_at))
        .execute(&mut *tx)
        .await?;
        for (position, parent) in (0_i64..).zip(&run.parents) {
            sqlx::query("INSERT INTO fusion_parents (run_id, position, lane, parent_id) VALUES (?, ?, ?, ?)")
                .bind(&id)
                .bind(position)
                .bind(&parent.lane)
                .bind(&parent.run_id)
                .execute(&mut *tx)
                .await?;
        }
        sqlx::query(
            "DELETE FROM fusion_runs WHERE expires_at < ?
             AND NOT EXISTS (SELECT 1 FROM fusion_parents WHERE parent_id = fusion_runs.id)",
        )
        .bind(stamp(now.checked_sub(KEPT).unwrap_or(jiff::Timestamp::MIN)))
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(StoredRun {
            id,
            kind: run.kind,
            identity,
            lane: run.lane,
            corpus: run.corpus,
            backend: run.backend,
            recipe: run.recipe,
            docs: run.docs,
            meta: run.meta,
            parents: run.parents,
            changed_from: run.changed_from,
            assessment: run.assessment,
            representatives: run.representatives,
            created_at: now,
            expires_at,
        })
    }

    /// The newest run of this identity that has not expired.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn fresh_run(&self, shaped_by: &str) -> Result<Option<StoredRun>> {
        let found = sqlx::query(
            "SELECT * FROM fusion_runs WHERE identity = ? AND expires_at > ? ORDER BY seq DESC LIMIT 1",
        )
        .bind(hash_identity(shaped_by))
        .bind(self.stamp())
        .fetch_optional(self.reader())
        .await?;
        match found {
            Some(row) => Ok(Some(self.read_run(&row).await?)),
            None => Ok(None),
        }
    }

    /// A run by its id, expired or not.
    ///
    /// # Errors
    /// No such run.
    pub async fn run(&self, id: &str) -> Result<StoredRun> {
        let found = sqlx::query("SELECT * FROM fusion_runs WHERE id = ?")
            .bind(id)
            .fetch_optional(self.reader())
            .await?
            .ok_or_else(|| StoreError::NotFound { what: format!("the run {id}") })?;
        self.read_run(&found).await
    }

    /// The newest runs, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn runs(&self, limit: u32) -> Result<Vec<RunSummary>> {
        let rows = sqlx::query(
            "SELECT id, kind, lane, corpus, meta, created_at,
                    coalesce(recipe ->> '$.search.kind.query', recipe ->> '$.search.kind.text') AS query
             FROM fusion_runs ORDER BY seq DESC LIMIT ?",
        )
        .bind(limit)
        .fetch_all(self.reader())
        .await?;
        rows.iter()
            .map(|row| {
                let meta: RunMeta = row.json_or_default("meta")?;
                Ok(RunSummary {
                    run_id: row.value("id")?,
                    kind: row.parsed("kind")?,
                    lane: row.value("lane")?,
                    corpus: row.value("corpus")?,
                    query: row.value("query")?,
                    count_returned: meta.count_returned,
                    created_at: row.parsed("created_at")?,
                })
            })
            .collect()
    }

    /// Stores the documents that a person judged, and the measurements made with them. The judgments become part of the
    /// run's identity: fusing the same lanes again creates a run without judgments. Returns `false` and changes nothing
    /// when the run no longer has the judgments that these replace.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn set_representatives(&self, id: &str, judgments: NewJudgments<'_>) -> Result<bool> {
        let before = judgments.before.map(json).transpose()?;
        let mut tx = self.write().await?;
        let done = sqlx::query(
            "UPDATE fusion_runs SET representatives = ?2, assessment = ?3, identity = ?4
             WHERE id = ?1 AND representatives IS ?5",
        )
        .bind(id)
        .bind(json(judgments.representatives)?)
        .bind(json(judgments.assessment)?)
        .bind(hash_identity(judgments.shaped_by))
        .bind(before)
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    async fn read_run(&self, row: &SqliteRow) -> Result<StoredRun> {
        let id: String = row.value("id")?;
        let parents =
            sqlx::query("SELECT lane, parent_id FROM fusion_parents WHERE run_id = ? ORDER BY position")
                .bind(&id)
                .fetch_all(self.reader())
                .await?;
        let parents: Result<Vec<RunParent>> = parents
            .iter()
            .map(|row| Ok(RunParent { lane: row.value("lane")?, run_id: row.value("parent_id")? }))
            .collect();
        let docs: String = row.value("docs")?;
        let docs = serde_json::from_str(&docs).map_err(|error| StoreError::corrupt("column docs", error))?;
        Ok(StoredRun {
            kind: row.parsed("kind")?,
            identity: row.value("identity")?,
            lane: row.value("lane")?,
            corpus: row.value("corpus")?,
            backend: row.value("backend")?,
            recipe: row.json_or_default("recipe")?,
            docs,
            meta: row.json_or_default("meta")?,
            parents: parents?,
            changed_from: row.value("changed_from")?,
            assessment: row.json_or_default("assessment")?,
            representatives: row.json_or_default("representatives")?,
            created_at: row.parsed("created_at")?,
            expires_at: row.parsed("expires_at")?,
            id,
        })
    }
}

/// SHA-256 in hexadecimal.
fn hash_identity(text: &str) -> String {
    hex(&Sha256::digest(text))
}

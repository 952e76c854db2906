//! Search by meaning: the claims or fragments whose vectors are closest to a query's.
//!
//! Vectors are kept in memory per kind, for one model at a time, and updated from the database before every search,
//! because other processes write to it as well.

mod index;

use crate::embeddings::decode;
use crate::rows::{RowExt, json};
use crate::{Result, Store, StoreError};
use futures::TryStreamExt;
use index::{Index, NearRow, Scanned, Scope, Seq, row_bytes};
use lyra_domain::{TaskId, vector};
use sqlx::AssertSqlSafe;
use std::collections::HashMap;
use tokio::sync::{Mutex, MutexGuard};

/// Candidates of a byte scan for the exact comparison: the minimum, and the number per requested row.
const LEAST_CANDIDATES: usize = 200;
const CANDIDATES_PER_RESULT: usize = 4;
/// Rows to read from disk per batch, when there are too many for memory.
const STREAMED: usize = 16_384;

/// The target of a vector search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorTarget {
    /// Adopted claims.
    Claims,
    /// Fragments.
    Fragments,
}

impl VectorTarget {
    /// `claims` or `fragments`, also the name of its table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claims => "claims",
            Self::Fragments => "fragments",
        }
    }

    /// As in `embeddings.target_type`.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Claims => "claim",
            Self::Fragments => "fragment",
        }
    }

    /// The kind as in `embeddings.target_type`.
    pub(crate) fn of_kind(kind: &str) -> Self {
        if kind == Self::Claims.kind() { Self::Claims } else { Self::Fragments }
    }

    fn text_column(self) -> &'static str {
        match self {
            Self::Claims => "claim_text",
            Self::Fragments => "text_content",
        }
    }
}

/// A search by meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorQuery<'a> {
    /// Claims or fragments.
    pub target: VectorTarget,
    /// Within this task only.
    pub task: Option<&'a TaskId>,
    /// The model of the query's vector.
    pub model: &'a str,
    /// The query's vector, L2-normalized.
    pub vector: &'a [f32],
    /// Most results.
    pub top_k: usize,
    /// Least cosine.
    pub min_similarity: f32,
}

/// The result of a vector search.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorMatches {
    /// Closest first, those equally close in the order they were stored.
    pub matches: Vec<VectorMatch>,
    /// Vectors compared.
    pub searched: usize,
    /// Texts in scope that could not be compared, as their vectors are of other models.
    pub outdated: u64,
}

/// A claim or fragment that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorMatch {
    /// Its id.
    pub id: String,
    /// The first 200 characters of its text.
    pub preview: String,
    /// Cosine with the query.
    pub similarity: f32,
}

/// Vectors in memory, of claims and of fragments.
#[derive(Default)]
pub(crate) struct VectorCache {
    claims: Mutex<Option<Loaded>>,
    fragments: Mutex<Option<Loaded>>,
}

impl VectorCache {
    async fn of(&self, target: VectorTarget) -> MutexGuard<'_, Option<Loaded>> {
        match target {
            VectorTarget::Claims => self.claims.lock().await,
            VectorTarget::Fragments => self.fragments.lock().await,
        }
    }
}

/// An index, and the state of the database that it shows.
struct Loaded {
    model: String,
    state: VectorState,
    index: Index,
}

/// The state of a model's vectors in the database. Equal states mean equal vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct VectorState {
    dimension: usize,
    vectors: usize,
    last_seq: i64,
    removals: i64,
}

impl Store {
    /// The claims or fragments closest to a vector. The first search of a process reads the vectors into memory.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for a task that does not exist, [`StoreError::NoVectors`] and
    /// [`StoreError::OutdatedVectors`] when nothing can be compared, [`StoreError::OtherDimension`].
    pub async fn search_vectors(&self, query: VectorQuery<'_>) -> Result<VectorMatches> {
        if let Some(task) = query.task {
            let exists = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM tasks WHERE id = ?)");
            if !exists.bind(task.as_str()).fetch_one(self.reader()).await? {
                return Err(StoreError::not_found("task", task));
            }
        }
        let outdated = self.outdated_count(query.model, query.task, Some(query.target)).await?;
        let nothing = || {
            let of = query.task.map_or(String::new(), |task| format!(" of {task}"));
            if outdated > 0 {
                let what = format!("{}{of}", query.target.as_str());
                StoreError::OutdatedVectors { what, model: query.model.to_owned() }
            } else {
                StoreError::NoVectors { what: format!("{}{of}", query.target.kind()) }
            }
        };
        let state = self.vector_state(query.target, query.model).await?;
        let state = state.filter(|state| state.vectors > 0).ok_or_else(nothing)?;
        if state.dimension != query.vector.len() {
            return Err(StoreError::OtherDimension {
                model: query.model.to_owned(),
                found: query.vector.len(),
                stored: state.dimension,
            });
        }
        let scope = self.vector_scope(query.target, query.task).await?;
        let found = match self.vectors_in_memory(query.target, query.model).await? {
            Some(index) if index.is_quantised() => self.nearest_by_candidates(&query, index, scope).await?,
            Some(index) => {
                let (vector, top_k, least) = (query.vector.to_vec(), query.top_k, query.min_similarity);
                blocking(move || index.scan(&vector, &scope, top_k, least)).await?
            }
            None => self.nearest_on_disk(&query, state, scope).await?,
        };
        if found.searched == 0 {
            return Err(nothing());
        }
        let matches = self.describe_matches(query.target, &found.best).await?;
        Ok(VectorMatches { matches, searched: found.searched, outdated })
    }

    async fn vector_state(&self, target: VectorTarget, model: &str) -> Result<Option<VectorState>> {
        let row = sqlx::query(
            "SELECT dimension, vectors, last_seq, removals FROM embedding_models WHERE target_type = ? AND model_id = ?",
        )
        .bind(target.kind())
        .bind(model)
        .fetch_optional(self.reader())
        .await?;
        row.map(|row| {
            Ok(VectorState {
                dimension: row.count("dimension")? as usize,
                vectors: row.count("vectors")? as usize,
                last_seq: row.value("last_seq")?,
                removals: row.value("removals")?,
            })
        })
        .transpose()
    }

    /// Which rows may be found. The numbers of many rows come as one JSON text: that is ten times faster than a row each.
    async fn vector_scope(&self, target: VectorTarget, task: Option<&TaskId>) -> Result<Scope> {
        let sql = match (target, task.is_some()) {
            (VectorTarget::Fragments, false) => return Ok(Scope::default()),
            (VectorTarget::Fragments, true) => {
                "SELECT json_group_array(fragments.seq) FROM task_pages
                 JOIN fragments ON fragments.page_id = task_pages.page_id WHERE task_id = ?"
            }
            (VectorTarget::Claims, true) => {
                "SELECT json_group_array(seq) FROM claims INDEXED BY claims_adopted
                 WHERE task_id = ? AND claim_adoption_status = 'adopted'"
            }
            (VectorTarget::Claims, false) => {
                "SELECT json_group_array(seq) FROM claims INDEXED BY claims_not_adopted
                 WHERE claim_adoption_status = 'not_adopted'"
            }
        };
        let query = sqlx::query_scalar(sql);
        let query = if let Some(task) = task { query.bind(task.as_str()) } else { query };
        let rows: String = query.fetch_one(self.reader()).await?;
        let rows: Vec<Seq> =
            serde_json::from_str(&rows).map_err(|error| StoreError::corrupt("a list of rows", error))?;
        Ok(if task.is_some() { Scope::only(&rows) } else { Scope::without(&rows) })
    }

    /// The current vectors of a model; `None` when they are too many for memory.
    async fn vectors_in_memory(&self, target: VectorTarget, model: &str) -> Result<Option<Index>> {
        let mut slot = self.vector_cache().of(target).await;
        let Some(state) = self.vector_state(target, model).await? else { return Ok(None) };
        let quantised = state.vectors > self.config().exact_vectors;
        if state.vectors * row_bytes(state.dimension, quantised) > self.config().vector_memory {
            *slot = None;
            return Ok(None);
        }
        let fits = |loaded: &Loaded| {
            loaded.model == model
                && loaded.state.removals == state.removals
                && loaded.state.last_seq <= state.last_seq
                && loaded.index.dimension() == state.dimension
        };
        // A partial failure leaves nothing behind.
        let (mut index, read_to) = match slot.take() {
            Some(loaded) if fits(&loaded) => (loaded.index, loaded.state.last_seq),
            _ => (Index::new(state.dimension, quantised), 0),
        };
        if quantised && !index.is_quantised() {
            index = blocking(move || index.quantise()).await?;
        }
        if read_to < state.last_seq {
            let to = state.last_seq;
            self.read_vectors(target, model, state.dimension, read_to..to, i64::MAX, |_, seq, vector| {
                index.push(seq, vector);
            })
            .await?;
            tracing::debug!(
                target = target.as_str(),
                rows = index.rows(),
                bytes = index.bytes(),
                "vectors read"
            );
        }
        *slot = Some(Loaded { model: model.to_owned(), state, index: index.clone() });
        Ok(Some(index))
    }

    /// Yields vectors in insertion order: position, row, and numbers.
    async fn read_vectors(
        &self,
        target: VectorTarget,
        model: &str,
        dimension: usize,
        between: std::ops::Range<i64>,
        limit: i64,
        mut take: impl FnMut(i64, Seq, &[f32]),
    ) -> Result<()> {
        let table = target.as_str();
        // In the order of `seq`: `+` keeps SQLite from using an index on a column.
        let sql = format!(
            "SELECT embeddings.seq AS place, {table}.seq AS row_seq, embedding_blob
             FROM embeddings CROSS JOIN {table} ON {table}.id = target_id
             WHERE +target_type = ? AND +model_id = ? AND embeddings.seq > ? AND embeddings.seq <= ?
             ORDER BY embeddings.seq LIMIT ?"
        );
        let mut rows = sqlx::query(AssertSqlSafe(sql))
            .bind(target.kind())
            .bind(model)
            .bind(between.start)
            .bind(between.end)
            .bind(limit)
            .fetch(self.reader());
        while let Some(row) = rows.try_next().await? {
            let vector = decode(row.value("embedding_blob")?)?;
            if vector.len() != dimension {
                let why = format!("{} numbers where others of `{model}` have {dimension}", vector.len());
                return Err(StoreError::corrupt("an embedding", why));
            }
            take(row.value("place")?, row.value("row_seq")?, &vector);
        }
        Ok(())
    }

    /// Candidates by bytes, then their own vectors.
    async fn nearest_by_candidates(
        &self,
        query: &VectorQuery<'_>,
        index: Index,
        scope: Scope,
    ) -> Result<Scanned> {
        let pool = LEAST_CANDIDATES.max(query.top_k.saturating_mul(CANDIDATES_PER_RESULT));
        let vector = query.vector.to_vec();
        let coarse = blocking(move || index.scan(&vector, &scope, pool, f32::NEG_INFINITY)).await?;
        let seqs: Vec<Seq> = coarse.best.iter().map(|found| found.seq).collect();
        let table = query.target.as_str();
        let rows = sqlx::query(AssertSqlSafe(format!(
            "SELECT {table}.seq, embedding_blob FROM json_each(?) AS candidate
             CROSS JOIN {table} ON {table}.seq = candidate.value
             CROSS JOIN embeddings ON target_type = ? AND target_id = {table}.id AND model_id = ?"
        )))
        .bind(json(&seqs)?)
        .bind(query.target.kind())
        .bind(query.model)
        .fetch_all(self.reader())
        .await?;
        let mut best = Vec::with_capacity(rows.len());
        for row in &rows {
            let similarity = vector::dot(query.vector, &decode(row.value("embedding_blob")?)?);
            if similarity >= query.min_similarity {
                best.push(NearRow { similarity, seq: row.value("seq")? });
            }
        }
        best.sort_unstable();
        best.truncate(query.top_k);
        Ok(Scanned { best, searched: coarse.searched })
    }

    /// Everything from disk, a part at a time.
    async fn nearest_on_disk(
        &self,
        query: &VectorQuery<'_>,
        state: VectorState,
        scope: Scope,
    ) -> Result<Scanned> {
        let mut best = Scanned::EMPTY;
        let mut read_to = 0;
        while read_to < state.last_seq {
            let mut part = Index::new(state.dimension, false);
            let between = read_to..state.last_seq;
            let mut last = state.last_seq;
            self.read_vectors(
                query.target,
                query.model,
                state.dimension,
                between,
                STREAMED.cast_signed() as i64,
                |place, seq, vector| {
                    last = place;
                    part.push(seq, vector);
                },
            )
            .await?;
            read_to = if part.rows() < STREAMED { state.last_seq } else { last };
            let (vector, top_k, least) = (query.vector.to_vec(), query.top_k, query.min_similarity);
            let scope = scope.clone();
            let found = blocking(move || part.scan(&vector, &scope, top_k, least)).await?;
            best = best.merge(found, query.top_k);
        }
        Ok(best)
    }

    /// Ids and texts of the results. Rows deleted meanwhile are skipped.
    async fn describe_matches(&self, target: VectorTarget, found: &[NearRow]) -> Result<Vec<VectorMatch>> {
        let seqs: Vec<Seq> = found.iter().map(|found| found.seq).collect();
        let rows = sqlx::query(AssertSqlSafe(format!(
            "SELECT seq, id, substr({}, 1, 200) AS preview FROM {} WHERE seq IN (SELECT value FROM json_each(?))",
            target.text_column(),
            target.as_str()
        )))
        .bind(json(&seqs)?)
        .fetch_all(self.reader())
        .await?;
        let mut texts: HashMap<Seq, (String, String)> = HashMap::new();
        for row in &rows {
            texts.insert(row.value("seq")?, (row.value("id")?, row.value("preview")?));
        }
        let described = found.iter().filter_map(|found| {
            let (id, preview) = texts.remove(&found.seq)?;
            Some(VectorMatch { id, preview, similarity: found.similarity })
        });
        Ok(described.collect())
    }
}

/// Runs work of milliseconds off the async threads.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| StoreError::corrupt("a search by meaning", error))
}

#[cfg(test)]
mod tests;

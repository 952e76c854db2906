//! A corpus whose documents are on a cluster: an index that Lyra made and maintains.

use super::bulk::{self, Change, Refused, Written, write_alias};
use super::cluster::Cluster;
use super::dsl;
use super::mapping::{Plan, VERSION, added, vector_field};
use super::record::{self, Vectors};
use crate::backend::{FeatureScope, Filter};
use crate::manifest::{Manifest, OnCluster};
use crate::{CorpusError, Document, Result};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::HashMap;
use tokio_util::sync::CancellationToken;

/// Documents of a page when all are read.
const PAGE: usize = 500;
/// How long the cluster keeps what it needs for the next page.
const KEEP: &str = "5m";

/// A corpus on a cluster.
#[derive(Debug, Clone)]
pub(crate) struct Shelf {
    pub(crate) cluster: Cluster,
    pub(crate) manifest: Manifest,
    /// The index that counts.
    pub(crate) index: String,
}

/// What is there of a document: its checksum, and the scopes of its vectors.
pub(crate) type State = (u64, Vec<FeatureScope>);

/// A document to write.
#[derive(Debug)]
pub(crate) struct Put<'a> {
    pub(crate) document: &'a Document,
    pub(crate) hash: u64,
    pub(crate) vectors: Vectors,
}

impl Shelf {
    /// The corpus of a manifest, `None` for one that is not on a cluster. Does not connect.
    ///
    /// # Errors
    /// No cluster is configured.
    pub(crate) fn of(cluster: Option<&Cluster>, manifest: Manifest) -> Result<Option<Self>> {
        let Some(place) = &manifest.opensearch else { return Ok(None) };
        let Some(cluster) = cluster.cloned() else {
            return Err(CorpusError::Search {
                why: format!(
                    "corpus `{}` is on OpenSearch ({}), and no cluster is configured",
                    manifest.name, place.url
                ),
                expected: "set fusion.backends.opensearch.url".to_owned(),
            });
        };
        let index = place.index.clone();
        Ok(Some(Self { cluster, manifest, index }))
    }

    fn place(&self) -> Result<&OnCluster> {
        let place = self.manifest.opensearch.as_ref();
        place.ok_or_else(|| self.cluster.error("the corpus is not on a cluster", false))
    }

    fn plan<'a>(
        &'a self,
        created: &'a str,
        scopes: &'a [FeatureScope],
        dimension: usize,
    ) -> Result<Plan<'a>> {
        Ok(Plan {
            corpus: &self.manifest.name,
            created,
            analyzer: self.place()?.analyzer,
            shards: self.cluster.config().shards,
            scopes,
            dimension,
        })
    }

    /// That it is the cluster to which the corpus was imported.
    pub(crate) async fn check_cluster(&self, stop: &CancellationToken) -> Result<()> {
        let (place, here) = (self.place()?, self.cluster.greeting(stop).await?);
        if place.cluster == here.uuid {
            return Ok(());
        }
        Err(self.cluster.error(
            format!(
                "corpus `{}` was imported to the cluster at {}, and the configured one is another: set its address, or \
                 remove the corpus and import it again",
                self.manifest.name, place.url
            ),
            false,
        ))
    }

    /// Creates an index with vectors of these scopes, and leaves one that is there and is ours.
    ///
    /// # Errors
    /// An index of this name that is of another corpus or has another mapping.
    pub(crate) async fn create(
        &self,
        index: &str,
        scopes: &[FeatureScope],
        dimension: usize,
        stop: &CancellationToken,
    ) -> Result<()> {
        let created = self.manifest.created.to_string();
        let plan = self.plan(&created, scopes, dimension)?;
        if self.mapping(index, stop).await?.is_none() {
            let mut body = plan.body();
            body["aliases"] = json!({ write_alias(index): {} });
            let made = self.cluster.ask(&Method::PUT, &[index], &[], Some(&body), stop).await;
            // The answer to an earlier attempt may have been lost.
            if let Err(error) = made
                && self.mapping(index, stop).await?.is_none()
            {
                return Err(match error {
                    CorpusError::Backend { why, passing: false, .. } if why.contains("kuromoji") => {
                        let hint =
                            "install the plugin analysis-kuromoji on every node, or choose another analyzer";
                        self.cluster.error(format!("{why}: {hint}"), false)
                    }
                    error => error,
                });
            }
        }
        self.check_mapping(index, scopes, dimension, stop).await
    }

    /// The mapping of an index, `None` without an index.
    async fn mapping(&self, index: &str, stop: &CancellationToken) -> Result<Option<Value>> {
        let answer = self.cluster.ask(&Method::GET, &[index, "_mapping"], &[], None, stop).await?;
        Ok(answer.map(|mut answer| answer[index]["mappings"].take()))
    }

    /// That an index is this corpus', and is mapped as this version of Lyra reads and writes it.
    pub(crate) async fn check_mapping(
        &self,
        index: &str,
        scopes: &[FeatureScope],
        dimension: usize,
        stop: &CancellationToken,
    ) -> Result<()> {
        let name = &self.manifest.name;
        let found = self.mapping(index, stop).await?;
        let found = found.ok_or_else(|| self.gone(index))?;
        let meta = &found["_meta"]["lyra"];
        let created = self.manifest.created.to_string();
        if meta["created"] != created.as_str() {
            let why = format!(
                "index `{index}` is not of this corpus `{name}`: give the corpus another name, or set \
                 fusion.backends.opensearch.prefix"
            );
            return Err(self.cluster.error(why, false));
        }
        let version = meta["mapping"].as_u64().unwrap_or(0);
        if version != VERSION {
            let what = if version > VERSION { "use a newer Lyra" } else { "rebuild the corpus" };
            let why = format!(
                "index `{index}` has version {version} of Lyra's mapping, and this Lyra has {VERSION}: {what}"
            );
            return Err(self.cluster.error(why, false));
        }
        let differences = self.plan(&created, scopes, dimension)?.differences(&found);
        if differences.is_empty() {
            return Ok(());
        }
        let why = format!(
            "the mapping of index `{index}` is not what Lyra made: {}; rebuild the corpus, which makes a new index of its \
             documents",
            differences.join("; ")
        );
        Err(self.cluster.error(why, false))
    }

    /// [`Shelf::check_mapping`] of the index that counts, once in the life of the process.
    pub(crate) async fn check_once(&self, stop: &CancellationToken) -> Result<()> {
        let Manifest { scopes, dimension, .. } = &self.manifest;
        let what = format!("{} {scopes:?} {dimension}", self.index);
        self.cluster.once(what, self.check_mapping(&self.index, scopes, *dimension, stop)).await
    }

    pub(super) fn gone(&self, index: &str) -> CorpusError {
        let why = format!(
            "index `{index}` of corpus `{}` is no longer on the cluster: remove the corpus, and import it again",
            self.manifest.name
        );
        self.cluster.error(why, false)
    }

    /// The same error for a missing index: the corpus itself is there.
    fn here(&self, error: CorpusError) -> CorpusError {
        match error {
            CorpusError::NotFound { name } if name != self.manifest.name => self.gone(&self.index),
            error => error,
        }
    }

    /// Adds vectors of further scopes to the mapping.
    pub(crate) async fn add_scopes(
        &self,
        scopes: &[FeatureScope],
        dimension: usize,
        stop: &CancellationToken,
    ) -> Result<()> {
        let body = added(scopes, dimension);
        self.cluster.get(&Method::PUT, &[&self.index, "_mapping"], Some(&body), stop).await.map(drop)
    }

    /// Lets the alias lead to an index, and nowhere else, in one step.
    pub(crate) async fn point(&self, index: &str, stop: &CancellationToken) -> Result<()> {
        let alias = &self.place()?.alias;
        let now = self.cluster.ask(&Method::GET, &["_alias", alias], &[], None, stop).await?;
        let mut actions: Vec<Value> = now
            .iter()
            .filter_map(Value::as_object)
            .flat_map(|indices| indices.keys())
            .filter(|name| name.as_str() != index)
            .map(|name| json!({"remove": {"index": name, "alias": alias}}))
            .collect();
        actions.push(json!({"add": {"index": index, "alias": alias}}));
        self.cluster
            .get(&Method::POST, &["_aliases"], Some(&json!({"actions": actions})), stop)
            .await
            .map(drop)
    }

    /// Whether the alias leads to an index of another corpus, or is an index itself.
    pub(crate) async fn check_alias(&self, stop: &CancellationToken) -> Result<()> {
        let alias = &self.place()?.alias;
        let Some(found) = self.cluster.ask(&Method::GET, &[alias, "_mapping"], &[], None, stop).await? else {
            return Ok(());
        };
        let created = self.manifest.created.to_string();
        for (index, found) in found.as_object().into_iter().flatten() {
            if found["mappings"]["_meta"]["lyra"]["created"] != created.as_str() {
                let why = format!(
                    "`{alias}` is on the cluster already (index `{index}`) and is not of this corpus: give the corpus another \
                     name, or set fusion.backends.opensearch.prefix"
                );
                return Err(self.cluster.error(why, false));
            }
        }
        Ok(())
    }

    /// Deletes an index of this corpus, if it exists.
    pub(crate) async fn drop_index(&self, index: &str, stop: &CancellationToken) -> Result<()> {
        let Some(found) = self.mapping(index, stop).await? else { return Ok(()) };
        let created = self.manifest.created.to_string();
        if found["_meta"]["lyra"]["created"] != created.as_str() {
            tracing::warn!(index, "the index is not of this corpus, and stays");
            return Ok(());
        }
        self.cluster.ask(&Method::DELETE, &[index], &[], None, stop).await.map(drop)
    }

    /// Writes documents.
    pub(crate) async fn put(
        &self,
        index: &str,
        documents: &[Put<'_>],
        stop: &CancellationToken,
    ) -> Result<Written> {
        let mut changes = Vec::with_capacity(documents.len());
        for Put { document, hash, vectors } in documents {
            changes.push(Change::put(&document.doc_id, &record::source(document, *hash, vectors)?));
        }
        bulk::write(&self.cluster, index, changes, stop).await.map_err(|error| self.here(error))
    }

    /// Adds vectors to documents that are there.
    pub(crate) async fn add_vectors(
        &self,
        documents: Vec<(String, Vectors)>,
        stop: &CancellationToken,
    ) -> Result<Vec<Refused>> {
        let change = |(id, vectors): (String, Vectors)| {
            let fields: serde_json::Map<String, Value> =
                record::vector_fields(&vectors).into_iter().collect();
            Change::update(&id, &Value::Object(fields))
        };
        let changes = documents.into_iter().map(change).collect();
        let written = bulk::write(&self.cluster, &self.index, changes, stop).await;
        written.map(|written| written.refused).map_err(|error| self.here(error))
    }

    /// Writes metadata into a document that is there, whose vectors stay.
    pub(crate) async fn describe(
        &self,
        document: &Document,
        hash: u64,
        stop: &CancellationToken,
    ) -> Result<()> {
        let mut fields = record::source(document, hash, &Vectors::new())?;
        if let Some(fields) = fields.as_object_mut() {
            fields.remove("embedded");
        }
        let changes = vec![Change::update(&document.doc_id, &fields)];
        let written = bulk::write(&self.cluster, &self.index, changes, stop).await?;
        match written.refused.into_iter().next() {
            None => Ok(()),
            Some(Refused { id, reason }) => Err(self.cluster.error(format!("`{id}`: {reason}"), false)),
        }
    }

    /// Removes documents.
    pub(crate) async fn delete(&self, ids: &[String], stop: &CancellationToken) -> Result<()> {
        let changes = ids.iter().map(|id| Change::delete(id)).collect();
        bulk::write(&self.cluster, &self.index, changes, stop)
            .await
            .map_err(|error| self.here(error))
            .map(drop)
    }

    /// Makes what was written visible to searches.
    pub(crate) async fn refresh(&self, index: &str, stop: &CancellationToken) -> Result<()> {
        let answer = self.cluster.get(&Method::POST, &[index, "_refresh"], None, stop).await;
        self.cluster.whole(&answer.map_err(|error| self.here(error))?)
    }

    /// Documents that match; all with `match_all`.
    pub(crate) async fn count(&self, query: &Value, stop: &CancellationToken) -> Result<u64> {
        self.cluster.count(&self.index, query, stop).await.map_err(|error| self.here(error))
    }

    /// Documents with a vector of a scope.
    pub(crate) async fn embedded(&self, scope: FeatureScope, stop: &CancellationToken) -> Result<u64> {
        self.count(&json!({"term": {"embedded": scope.name()}}), stop).await
    }

    /// Bytes of the primary shards.
    pub(crate) async fn bytes(&self, stop: &CancellationToken) -> Result<u64> {
        let answer = self.cluster.get(&Method::GET, &[&self.index, "_stats", "store"], None, stop).await?;
        Ok(answer["_all"]["primaries"]["store"]["size_in_bytes"].as_u64().unwrap_or(0))
    }

    /// Changes whenever documents may have changed: from the sequence numbers of the primary shards.
    pub(crate) async fn version(&self, stop: &CancellationToken) -> Result<String> {
        super::version(&self.cluster, &self.index, stop).await.map_err(|error| self.here(error))
    }

    /// What is there of documents, by id.
    pub(crate) async fn states(
        &self,
        index: &str,
        ids: &[String],
        stop: &CancellationToken,
    ) -> Result<HashMap<String, State>> {
        let found = self.cluster.by_id(index, ids, Some(&["hash", "embedded"]), stop).await;
        let found = found.map_err(|error| self.here(error))?;
        Ok(found.into_iter().filter_map(|(id, source)| Some((id, record::state(&source)?))).collect())
    }

    /// Documents by id.
    pub(crate) async fn documents(
        &self,
        ids: &[String],
        stop: &CancellationToken,
    ) -> Result<HashMap<String, Document>> {
        let found = self.cluster.by_id(&self.index, ids, Some(&record::FIELDS), stop).await;
        let found = found.map_err(|error| self.here(error))?;
        found.into_iter().map(|(id, source)| Ok((id.clone(), record::document(&id, source)?))).collect()
    }

    /// Vectors of a scope by document id; documents without one are left out.
    pub(crate) async fn vectors(
        &self,
        ids: &[String],
        scope: FeatureScope,
        stop: &CancellationToken,
    ) -> Result<HashMap<String, Vec<f32>>> {
        let field = vector_field(scope);
        let found = self.cluster.by_id(&self.index, ids, Some(&[&field]), stop).await;
        let found = found.map_err(|error| self.here(error))?;
        Ok(found.into_iter().filter_map(|(id, source)| Some((id, record::vector(&source, scope)?))).collect())
    }

    /// Documents that lack a vector of one of these scopes, at most `most`, in the order of their ids from `after` on.
    pub(crate) async fn lacking(
        &self,
        scopes: &[FeatureScope],
        after: Option<&str>,
        most: usize,
        stop: &CancellationToken,
    ) -> Result<Vec<(Document, Vec<FeatureScope>)>> {
        let all: Vec<Value> =
            scopes.iter().map(|scope| json!({"term": {"embedded": scope.name()}})).collect();
        let mut body = json!({
            "size": most, "sort": [{"id": "asc"}], "track_total_hits": false,
            "_source": record::FIELDS.into_iter().chain(["hash", "embedded"]).collect::<Vec<_>>(),
            "query": {"bool": {"must_not": [{"bool": {"filter": all}}]}},
        });
        if let Some(after) = after {
            body["search_after"] = json!([after]);
        }
        let mut answer =
            self.cluster.search(Some(&self.index), &body, stop).await.map_err(|error| self.here(error))?;
        let hits = answer["hits"]["hits"].as_array_mut().map(std::mem::take).unwrap_or_default();
        hits.into_iter()
            .map(|mut hit| {
                let has = record::state(&hit["_source"]).map(|(_, scopes)| scopes).unwrap_or_default();
                let id = hit["_id"].as_str().unwrap_or_default().to_owned();
                Ok((record::document(&id, hit["_source"].take())?, has))
            })
            .collect()
    }

    /// What lets the documents through that filters let through.
    pub(crate) fn matching(filters: &[Filter]) -> Value {
        dsl::filtered(json!({"match_all": {}}), &dsl::filters(filters))
    }

    /// Reads the documents of an index that filters let through, ordered by id, a page at a time.
    pub(crate) async fn pages(&self, filters: &[Filter], stop: &CancellationToken) -> Result<Pages<'_>> {
        let query = [("keep_alive", KEEP)];
        let path = [self.index.as_str(), "_search", "point_in_time"];
        let answer = self.cluster.ask(&Method::POST, &path, &query, None, stop).await?;
        let answer = answer.ok_or_else(|| self.gone(&self.index))?;
        self.cluster.whole(&answer)?;
        let id = answer["pit_id"].as_str().unwrap_or_default().to_owned();
        Ok(Pages { shelf: self, id, query: Self::matching(filters), after: None, ended: false })
    }
}

/// All documents at one moment, page by page.
pub(crate) struct Pages<'a> {
    shelf: &'a Shelf,
    id: String,
    query: Value,
    after: Option<Value>,
    ended: bool,
}

impl Pages<'_> {
    /// The next documents in the order of their ids; none at the end.
    pub(crate) async fn next(&mut self, stop: &CancellationToken) -> Result<Vec<Document>> {
        if self.ended {
            return Ok(Vec::new());
        }
        let mut body = json!({
            "size": PAGE, "query": self.query, "sort": [{"id": "asc"}], "track_total_hits": false,
            "_source": record::FIELDS, "pit": {"id": self.id, "keep_alive": KEEP},
        });
        if let Some(after) = &self.after {
            body["search_after"] = after.clone();
        }
        let mut answer = self.shelf.cluster.search(None, &body, stop).await?;
        if let Some(id) = answer["pit_id"].as_str() {
            id.clone_into(&mut self.id);
        }
        let hits = answer["hits"]["hits"].as_array_mut().map(std::mem::take).unwrap_or_default();
        self.ended = hits.len() < PAGE;
        self.after = hits.last().map(|hit| hit["sort"].clone());
        let documents = hits.into_iter().map(|mut hit| {
            let id = hit["_id"].as_str().unwrap_or_default().to_owned();
            record::document(&id, hit["_source"].take())
        });
        let documents = documents.collect::<Result<Vec<_>>>()?;
        if self.ended {
            self.end(stop).await;
        }
        Ok(documents)
    }

    /// Lets the cluster forget the moment.
    pub(crate) async fn end(&mut self, stop: &CancellationToken) {
        self.ended = true;
        let body = json!({"pit_id": [self.id]});
        let path = ["_search", "point_in_time"];
        if let Err(error) = self.shelf.cluster.ask(&Method::DELETE, &path, &[], Some(&body), stop).await {
            tracing::debug!(%error, "the cluster forgets the point in time by itself");
        }
    }
}

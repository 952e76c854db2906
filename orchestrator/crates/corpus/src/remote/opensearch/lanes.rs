//! Lanes over one index.

use super::cluster::Cluster;
use super::dsl::{self, Scoring, Words};
use super::mapping::{foreign_differences, vector_field};
use super::score::Statistics;
use super::shelf::Shelf;
use super::{CODES, publication, record};
use crate::backend::{
    BackendKind, FeatureScope, IdType, LaneHit, LaneHits, LaneKind, LaneQuery, MAX_TOP_K, Publication,
    other_forms,
};
use crate::remote::{codes, lane_hits};
use crate::{CorpusError, Result, search};
use lyra_research::ports::{Inference, TextRole};
use lyra_text::query::Query;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Numbers of documents per request.
const BATCH: usize = 200;
/// Neighbors that the graph of vectors is searched for, at least, and per document that is wanted: what is beyond them
/// is thrown away, and what is among them is closer to the true neighbors.
const LEAST_NEIGHBOURS: usize = 100;
const NEIGHBOURS_PER_RESULT: usize = 2;

/// An index, and what is known about it.
pub(crate) struct Lanes<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) corpus: &'a str,
    pub(super) index: &'a str,
    vectors: BTreeMap<FeatureScope, String>,
    /// The corpus, if Lyra made the index.
    shelf: Option<&'a Shelf>,
}

impl<'a> Lanes<'a> {
    /// Over an index that others maintain.
    pub(super) fn foreign(cluster: &'a Cluster, corpus: &'a str, index: &'a str) -> Self {
        Self { cluster, corpus, index, vectors: cluster.config().vectors.clone(), shelf: None }
    }

    /// Over the index of a corpus.
    pub(crate) fn of(shelf: &'a Shelf) -> Self {
        let field = |scope: &FeatureScope| (*scope, vector_field(*scope));
        Self {
            cluster: &shelf.cluster,
            corpus: &shelf.manifest.name,
            index: &shelf.index,
            vectors: shelf.manifest.scopes.iter().map(field).collect(),
            shelf: Some(shelf),
        }
    }

    /// The error with the corpus in place of the index.
    pub(super) fn named(&self, error: CorpusError) -> CorpusError {
        match error {
            CorpusError::NotFound { name } if name == self.index => match self.shelf {
                Some(shelf) => shelf.gone(self.index),
                None => CorpusError::NotFound { name: self.corpus.to_owned() },
            },
            other => other,
        }
    }

    /// Runs a lane that was checked.
    pub(crate) async fn search(
        &self,
        query: &LaneQuery,
        inference: &dyn Inference,
        stop: &CancellationToken,
    ) -> Result<LaneHits> {
        if self.shelf.is_some() {
            query.check_fields(BackendKind::OpenSearch)?;
        }
        self.run(query, inference, stop).await.map_err(|error| self.named(error))
    }

    async fn run(
        &self,
        query: &LaneQuery,
        inference: &dyn Inference,
        stop: &CancellationToken,
    ) -> Result<LaneHits> {
        let start = Instant::now();
        if let Some(shelf) = self.shelf {
            shelf.check_once(stop).await?;
            check_labels(shelf, query, stop).await?;
        }
        let filters = dsl::filters(&query.filters);
        let (clause, scope) = match &query.kind {
            LaneKind::FullText { query: text, boosts } => {
                let tree = Query::parse(text)?;
                let clause = if let Some(shelf) = self.shelf {
                    let analyzer = shelf.manifest.opensearch.as_ref().map(|place| place.analyzer);
                    let statistics =
                        Statistics::of(self.cluster, self.index, analyzer.unwrap_or_default(), &tree, stop)
                            .await?;
                    dsl::query(&tree, boosts, &Scoring::Fielded(&statistics))?
                } else {
                    self.check_mapping(&[], stop).await?;
                    let words = self.words(&tree, stop).await?;
                    dsl::query(&tree, boosts, &Scoring::Plain(&words))?
                };
                (dsl::filtered(clause, &filters), None)
            }
            LaneKind::Semantic { text, scope } => {
                let field = self.vector_field(*scope)?;
                let vector = self.vector(text, inference, stop).await?;
                if self.shelf.is_none() {
                    self.check_mapping(&[(field, vector.len())], stop).await?;
                }
                let k = (query.top_k * NEIGHBOURS_PER_RESULT).clamp(LEAST_NEIGHBOURS, MAX_TOP_K);
                (dsl::knn(field, &vector, k, &filters), Some(*scope))
            }
        };
        let fields: Vec<&str> = CODES.iter().map(|(_, field)| *field).collect();
        let body = json!({
            "size": query.top_k.min(MAX_TOP_K),
            "query": clause,
            "_source": fields,
            "track_total_hits": scope.is_none(),
        });
        let answer = self.cluster.search(Some(self.index), &body, stop).await?;
        let found = answer["hits"]["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
        let hits = found.iter().filter_map(|hit| {
            let score = hit["_score"].as_f64()?;
            Some(LaneHit {
                doc_id: hit["_id"].as_str()?.to_owned(),
                // Lucene gives (1 + cosine) / 2.
                score: if scope.is_some() && self.shelf.is_some() {
                    2.0 * score - 1.0
                } else {
                    rounded(score)
                },
                codes: codes(&hit["_source"], CODES),
            })
        });
        let hits: Vec<LaneHit> = hits.collect();
        let (total, unembedded) = match scope {
            None => (answer["hits"]["total"]["value"].as_u64(), 0),
            Some(scope) => {
                let has = self.has_vector(scope)?;
                let total = self.cluster.count(self.index, &dsl::filtered(has, &filters), stop).await?;
                (Some(total), self.unembedded(scope, stop).await?)
            }
        };
        Ok(LaneHits { unembedded, ..lane_hits(hits, total, query.top_k, start) })
    }

    /// What lets documents through that a search by meaning can find.
    fn has_vector(&self, scope: FeatureScope) -> Result<Value> {
        if self.shelf.is_some() {
            return Ok(json!({"term": {"embedded": scope.name()}}));
        }
        Ok(json!({"exists": {"field": self.vector_field(scope)?}}))
    }

    /// Documents whose vectors of a scope are still to be made.
    async fn unembedded(&self, scope: FeatureScope, stop: &CancellationToken) -> Result<u64> {
        let Some(shelf) = self.shelf.filter(|shelf| !shelf.manifest.pending.is_empty()) else { return Ok(0) };
        // Those that wait for all their vectors lack the one that every document has.
        let scope = if shelf.manifest.pending.contains(&scope) { scope } else { FeatureScope::Wide };
        let lacking = json!({"bool": {"must_not": [{"term": {"embedded": scope.name()}}]}});
        shelf.count(&lacking, stop).await
    }

    /// What the index's analyzer makes of the words of the query's proximities.
    async fn words(&self, tree: &Query, stop: &CancellationToken) -> Result<Words> {
        let mut words = Words::new();
        for (leaf, _) in tree.leaves() {
            let Query::Near(near) = leaf else { continue };
            for word in &near.texts().concat() {
                if words.contains_key(word) {
                    continue;
                }
                let body = json!({"field": "desc", "text": word});
                let answer =
                    self.cluster.get(&Method::POST, &[self.index, "_analyze"], Some(&body), stop).await?;
                let tokens = answer["tokens"].as_array().map(Vec::as_slice).unwrap_or_default();
                let token = |token: &Value| {
                    Some((token["position"].as_u64()? as u32, token["token"].as_str()?.to_owned()))
                };
                words.insert(word.clone(), tokens.iter().filter_map(token).collect());
            }
        }
        Ok(words)
    }

    /// That an index of others has fields of the kinds that lanes ask for.
    async fn check_mapping(&self, vectors: &[(&str, usize)], stop: &CancellationToken) -> Result<()> {
        let what = format!("{} {vectors:?}", self.index);
        self.cluster.once(what, self.compare_mapping(vectors, stop)).await
    }

    async fn compare_mapping(&self, vectors: &[(&str, usize)], stop: &CancellationToken) -> Result<()> {
        let answer = self.cluster.get(&Method::GET, &[self.index, "_mapping"], None, stop).await?;
        // An alias leads to an index of another name.
        for (index, found) in answer.as_object().into_iter().flatten() {
            let differences = foreign_differences(&found["mappings"], vectors);
            if !differences.is_empty() {
                let why = format!(
                    "the mapping of index `{index}` is not one that lanes can search: {}; change the mapping and index the \
                     documents again, or name other fields in the configuration",
                    differences.join("; ")
                );
                return Err(self.cluster.error(why, false));
            }
        }
        Ok(())
    }

    async fn vector(
        &self,
        text: &str,
        inference: &dyn Inference,
        stop: &CancellationToken,
    ) -> Result<Vec<f32>> {
        if let Some(shelf) = self.shelf {
            let models = inference.models().await?;
            if models.embedder != shelf.manifest.embedder {
                return Err(CorpusError::ModelChanged {
                    name: self.corpus.to_owned(),
                    stored: shelf.manifest.embedder.clone(),
                    now: models.embedder,
                });
            }
            let language = lyra_text::language(text);
            if !models.read(language) {
                let why = format!("`{}` does not read `{}`", models.embedder, language.unwrap_or_default());
                return Err(CorpusError::NoQueryVector { why });
            }
        }
        let text = [lyra_text::normalise(text)];
        let embedded = async { Ok::<_, CorpusError>(inference.embed(TextRole::Query, &text).await?) };
        let mut vectors = crate::embedded::stoppable(stop, embedded).await?;
        vectors
            .pop()
            .ok_or_else(|| CorpusError::NoQueryVector { why: "the embedder returned none".to_owned() })
    }

    fn vector_field(&self, scope: FeatureScope) -> Result<&str> {
        let field = self.vectors.get(&scope).map(String::as_str);
        field.ok_or_else(|| {
            let has: Vec<&str> = self.vectors.keys().map(|scope| scope.name()).collect();
            if let Some(shelf) = self.shelf {
                if has.is_empty() {
                    return search::without_embeddings(0, !shelf.manifest.pending.is_empty());
                }
                let why = format!("corpus `{}` has no embeddings of scope `{scope}`", self.corpus);
                let expected =
                    format!("use {}, or import the files again with the scope `{scope}`", has.join(" or "));
                return CorpusError::Search { why, expected };
            }
            let expected = if has.is_empty() {
                "name the index's vector fields in the configuration".to_owned()
            } else {
                format!("use {}, or name its vector field in the configuration", has.join(" or "))
            };
            CorpusError::Search { why: format!("opensearch has no vectors of scope `{scope}`"), expected }
        })
    }

    /// Publications in the order of `ids`.
    pub(crate) async fn fetch(
        &self,
        ids: &[String],
        id_type: IdType,
        stop: &CancellationToken,
    ) -> Result<Vec<Option<Publication>>> {
        let mut found = self.by_number(ids, id_type, stop).await.map_err(|error| self.named(error))?;
        let absent: Vec<&String> = ids.iter().filter(|id| !found.contains_key(*id)).collect();
        let forms: Vec<(&String, Vec<String>)> = absent.into_iter().map(|id| (id, other_forms(id))).collect();
        let others: Vec<String> = forms.iter().flat_map(|(_, forms)| forms.iter().cloned()).collect();
        if !others.is_empty() {
            let by_form = self.by_number(&others, id_type, stop).await.map_err(|error| self.named(error))?;
            for (id, forms) in forms {
                if let Some(one) = forms.iter().find_map(|form| by_form.get(form)) {
                    found.insert(id.clone(), one.clone());
                }
            }
        }
        Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
    }

    async fn by_number(
        &self,
        ids: &[String],
        id_type: IdType,
        stop: &CancellationToken,
    ) -> Result<HashMap<String, Publication>> {
        let mut found: HashMap<String, Publication> = HashMap::new();
        if id_type == IdType::DocId {
            let sources = self.cluster.by_id(self.index, ids, self.fields(), stop).await?;
            for (id, source) in sources {
                found.insert(id.clone(), self.publication(&id, source)?);
            }
            return Ok(found);
        }
        for ids in ids.chunks(BATCH) {
            let mut body = json!({
                "size": MAX_TOP_K,
                "query": {"bool": {"filter": [{"terms": {id_type.name(): ids}}]}},
            });
            if let Some(fields) = self.fields() {
                body["_source"] = json!(fields);
            }
            let mut answer = self.cluster.search(Some(self.index), &body, stop).await?;
            let hits = answer["hits"]["hits"].as_array_mut().map(std::mem::take).unwrap_or_default();
            let mut documents = Vec::new();
            for mut hit in hits {
                let id = hit["_id"].as_str().unwrap_or_default().to_owned();
                documents.push(self.publication(&id, hit["_source"].take())?);
            }
            documents.sort_by(|a, b| a.doc_id.cmp(&b.doc_id));
            for document in documents {
                if let Some(number) = id_type.of(&document).map(str::to_owned) {
                    found.entry(number).or_insert(document);
                }
            }
        }
        Ok(found)
    }

    /// Fields of a source that make a publication; all where vectors are not known by name.
    fn fields(&self) -> Option<&'static [&'static str]> {
        self.shelf.map(|_| record::FIELDS.as_slice())
    }

    fn publication(&self, id: &str, source: Value) -> Result<Publication> {
        if self.shelf.is_some() {
            Ok(record::document(id, source)?.publication())
        } else {
            Ok(publication(id, &source))
        }
    }

    /// L2-normalized vectors in the order of `ids`.
    pub(crate) async fn embeddings(
        &self,
        ids: &[String],
        scope: FeatureScope,
        stop: &CancellationToken,
    ) -> Result<Vec<Option<Vec<f32>>>> {
        let Some(field) = self.vectors.get(&scope) else { return Ok(vec![None; ids.len()]) };
        let sources = self.cluster.by_id(self.index, ids, Some(&[field]), stop).await;
        let sources = sources.map_err(|error| self.named(error))?;
        let vector = |id: &String| {
            let numbers = sources.get(id)?[field.as_str()].as_array()?;
            let mut vector: Vec<f32> =
                numbers.iter().map(|x| x.as_f64().map(|x| x as f32)).collect::<Option<_>>()?;
            let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
            if length > 0.0 {
                for x in &mut vector {
                    *x /= length;
                }
            }
            Some(vector)
        };
        Ok(ids.iter().map(vector).collect())
    }
}

/// That the tags and collections of a lane's filters are those of some document.
async fn check_labels(shelf: &Shelf, query: &LaneQuery, stop: &CancellationToken) -> Result<()> {
    super::check_labels(shelf, &query.filters, stop).await
}

/// Scores to four decimals, as those of local corpora: equal documents tie, and ties are ordered by id.
fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

//! A cluster of `OpenSearch`: the same lanes, translated to its query DSL.
//!
//! An index holds one corpus: documents whose `_id` is the document id, with the fields of a publication by their names
//! (`title abst claim desc` analyzed text; `ipc_codes cpc_codes fi_codes ft_codes` keywords in normal form;
//! `app_id pub_id exam_id country lang` keywords; `applicants cross_en_applicants` text; `app_date pub_date` dates;
//! `year` an integer) and a `knn_vector` per feature scope. The index's analyzer decides what a word is, and so what a
//! proximity counts.

mod dsl;

use super::http::{Auth, Client};
use super::{codes, day, lane_hits, strings};
use crate::backend::{
    BackendKind, FeatureScope, IdType, LaneHit, LaneHits, LaneKind, LaneQuery, MAX_TOP_K, Publication,
    SearchBackend,
};
use crate::hash::fnv;
use crate::{CorpusError, Result};
use async_trait::async_trait;
use dsl::Words;
use lyra_domain::Doi;
use lyra_domain::classification::System;
use lyra_research::ports::{Inference, TextRole};
use lyra_text::query::Query;
use reqwest::Method;
use secrecy::SecretString;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Documents fetched per request.
const BATCH: usize = 200;
/// Fields with codes, by system.
const CODES: [(System, &str); 4] = [
    (System::Ipc, "ipc_codes"),
    (System::Cpc, "cpc_codes"),
    (System::Fi, "fi_codes"),
    (System::Ft, "ft_codes"),
];

/// Where the cluster is, and what is searched there.
#[derive(Debug, Clone)]
pub struct OpenSearchConfig {
    /// Address, such as `https://search.example.org:9200`.
    pub url: String,
    /// User, with `password`.
    pub user: Option<String>,
    /// The user's password, or alone the key of `Authorization: ApiKey …`.
    pub password: Option<SecretString>,
    /// Index of each corpus; every index that is not hidden, by its own name, when empty.
    pub indices: BTreeMap<String, String>,
    /// Vector field of each feature scope.
    pub vectors: BTreeMap<FeatureScope, String>,
    /// Limit of one request.
    pub timeout: Duration,
}

/// Lanes over indices of a cluster; semantic lanes embed their text with the models behind `inference`, which must be
/// those that made the cluster's vectors.
pub struct OpenSearchBackend {
    client: Client,
    indices: BTreeMap<String, String>,
    vectors: BTreeMap<FeatureScope, String>,
    inference: Arc<dyn Inference>,
}

impl OpenSearchBackend {
    /// Creates a backend without connecting.
    ///
    /// # Errors
    /// [`CorpusError::Search`] for settings that cannot be used.
    pub fn new(config: OpenSearchConfig, inference: Arc<dyn Inference>) -> Result<Self> {
        let auth = match (config.user, config.password) {
            (Some(user), Some(password)) => Auth::Basic { user, password },
            (None, Some(key)) => Auth::Scheme { scheme: "ApiKey", key },
            (Some(_), None) => {
                return Err(CorpusError::Search {
                    why: "opensearch: there is a user and no password".to_owned(),
                    expected: "give both, or neither".to_owned(),
                });
            }
            (None, None) => Auth::None,
        };
        let client = Client::new(BackendKind::OpenSearch, &config.url, auth, config.timeout)?;
        Ok(Self { client, indices: config.indices, vectors: config.vectors, inference })
    }

    fn index<'a>(&'a self, corpus: &'a str) -> Result<&'a str> {
        if self.indices.is_empty() && !corpus.is_empty() && !corpus.starts_with(['.', '_', '-']) {
            return Ok(corpus);
        }
        let index = self.indices.get(corpus).map(String::as_str);
        index.ok_or_else(|| CorpusError::NotFound { name: corpus.to_owned() })
    }

    /// `POST /INDEX/ACTION`.
    async fn post(
        &self,
        corpus: &str,
        action: &str,
        body: &Value,
        stop: &CancellationToken,
    ) -> Result<Value> {
        let answer =
            self.client.ask(&Method::POST, &[self.index(corpus)?, action], &[], Some(body), stop).await?;
        answer.ok_or_else(|| CorpusError::NotFound { name: corpus.to_owned() })
    }

    /// What the index's analyzer makes of the words of the query's proximities.
    async fn words(&self, corpus: &str, tree: &Query, stop: &CancellationToken) -> Result<Words> {
        let mut words = Words::new();
        for (leaf, _) in tree.leaves() {
            let Query::Near(near) = leaf else { continue };
            for word in near.texts().into_iter().flatten() {
                if words.contains_key(&word) {
                    continue;
                }
                let answer =
                    self.post(corpus, "_analyze", &json!({"field": "desc", "text": word}), stop).await?;
                let tokens = answer["tokens"].as_array().map(Vec::as_slice).unwrap_or_default();
                let token = |token: &Value| {
                    Some((token["position"].as_u64()? as u32, token["token"].as_str()?.to_owned()))
                };
                words.insert(word, tokens.iter().filter_map(token).collect());
            }
        }
        Ok(words)
    }

    async fn vector(&self, text: &str) -> Result<Vec<f32>> {
        let text = lyra_text::normalise(text);
        let mut vectors = self.inference.embed(TextRole::Query, std::slice::from_ref(&text)).await?;
        vectors
            .pop()
            .ok_or_else(|| CorpusError::NoQueryVector { why: "the embedder returned none".to_owned() })
    }

    fn vector_field(&self, scope: FeatureScope) -> Result<&str> {
        self.vectors.get(&scope).map(String::as_str).ok_or_else(|| {
            let has: Vec<&str> = self.vectors.keys().map(|scope| scope.name()).collect();
            let expected = if has.is_empty() {
                "name the index's vector fields in the configuration".to_owned()
            } else {
                format!("use {}, or name its vector field in the configuration", has.join(" or "))
            };
            CorpusError::Search { why: format!("opensearch has no vectors of scope `{scope}`"), expected }
        })
    }

    /// Sources of documents by `_id`.
    async fn by_id(
        &self,
        corpus: &str,
        ids: &[String],
        fields: Option<&[&str]>,
        stop: &CancellationToken,
    ) -> Result<HashMap<String, Value>> {
        let mut found = HashMap::new();
        for ids in ids.chunks(BATCH) {
            let mut documents: Vec<Value> = ids.iter().map(|id| json!({"_id": id})).collect();
            if let Some(fields) = fields {
                for document in &mut documents {
                    document["_source"] = json!(fields);
                }
            }
            let answer = self.post(corpus, "_mget", &json!({"docs": documents}), stop).await?;
            for document in answer["docs"].as_array().into_iter().flatten() {
                if document["found"] == true
                    && let Some(id) = document["_id"].as_str()
                {
                    found.insert(id.to_owned(), document["_source"].clone());
                }
            }
        }
        Ok(found)
    }
}

#[async_trait]
impl SearchBackend for OpenSearchBackend {
    fn kind(&self) -> BackendKind {
        BackendKind::OpenSearch
    }

    async fn corpora(&self) -> Result<Vec<String>> {
        if !self.indices.is_empty() {
            return Ok(self.indices.keys().cloned().collect());
        }
        let query = [("format", "json"), ("h", "index"), ("expand_wildcards", "open")];
        let stop = CancellationToken::new();
        let answer = self.client.ask(&Method::GET, &["_cat", "indices"], &query, None, &stop).await?;
        let rows = answer.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let names = rows.iter().filter_map(|row| row["index"].as_str());
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).map(str::to_owned).collect();
        names.sort();
        Ok(names)
    }

    /// From the sequence numbers of the shards, which every change of a document raises.
    async fn snapshot(&self, corpus: &str) -> Result<String> {
        let index = self.index(corpus)?;
        let query = [("level", "shards")];
        let stop = CancellationToken::new();
        let answer = self.client.ask(&Method::GET, &[index, "_stats", "docs"], &query, None, &stop).await?;
        let answer = answer.ok_or_else(|| CorpusError::NotFound { name: corpus.to_owned() })?;
        let mut state = Vec::new();
        for (name, index) in answer["indices"].as_object().into_iter().flatten() {
            for (number, copies) in index["shards"].as_object().into_iter().flatten() {
                for shard in copies.as_array().into_iter().flatten() {
                    if shard["routing"]["primary"] == true {
                        let (docs, numbers) = (&shard["docs"], &shard["seq_no"]);
                        state.push(format!(
                            "{name} {} {number} {} {} {}",
                            index["uuid"], docs["count"], docs["deleted"], numbers["max_seq_no"]
                        ));
                    }
                }
            }
        }
        if state.is_empty() {
            return Err(self.client.error("the statistics name no shards of the index".to_owned(), false));
        }
        state.sort();
        Ok(format!("{:016x}", fnv(state.join("\n").as_bytes())))
    }

    async fn search(&self, query: &LaneQuery, stop: &CancellationToken) -> Result<LaneHits> {
        let start = Instant::now();
        query.check()?;
        query.check_remote(self.kind())?;
        let filters = dsl::filters(&query.filters);
        let (clause, counts) = match &query.kind {
            LaneKind::FullText { query: text, boosts } => {
                let tree = Query::parse(text)?;
                let words = self.words(&query.corpus, &tree, stop).await?;
                let clause = dsl::query(&tree, boosts, &words)?;
                (dsl::filtered(clause, &filters), true)
            }
            LaneKind::Semantic { text, scope } => {
                let field = self.vector_field(*scope)?;
                let vector = self.vector(text).await?;
                (dsl::knn(field, &vector, query.top_k, &filters), false)
            }
        };
        let fields: Vec<&str> = CODES.iter().map(|(_, field)| *field).collect();
        let body = json!({
            "size": query.top_k.min(MAX_TOP_K),
            "query": clause,
            "_source": fields,
            "track_total_hits": counts,
        });
        let answer = self.post(&query.corpus, "_search", &body, stop).await?;
        let found = answer["hits"]["hits"].as_array().map(Vec::as_slice).unwrap_or_default();
        let hits = found
            .iter()
            .filter_map(|hit| {
                Some(LaneHit {
                    doc_id: hit["_id"].as_str()?.to_owned(),
                    score: hit["_score"].as_f64()?,
                    codes: codes(&hit["_source"], CODES),
                })
            })
            .collect();
        let total = answer["hits"]["total"]["value"].as_u64().filter(|_| counts);
        Ok(lane_hits(hits, total, query.top_k, start))
    }

    async fn fetch(
        &self,
        corpus: &str,
        ids: &[String],
        id_type: IdType,
        stop: &CancellationToken,
    ) -> Result<Vec<Option<Publication>>> {
        let mut found: HashMap<String, Publication> = HashMap::new();
        if id_type == IdType::DocId {
            let sources = self.by_id(corpus, ids, None, stop).await?;
            found.extend(sources.into_iter().map(|(id, source)| (id.clone(), publication(&id, &source))));
        } else {
            for ids in ids.chunks(BATCH) {
                let body = json!({
                    "size": MAX_TOP_K,
                    "query": {"bool": {"filter": [{"terms": {id_type.name(): ids}}]}},
                });
                let answer = self.post(corpus, "_search", &body, stop).await?;
                let mut documents: Vec<Publication> = answer["hits"]["hits"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|hit| Some(publication(hit["_id"].as_str()?, &hit["_source"])))
                    .collect();
                documents.sort_by(|a, b| a.doc_id.cmp(&b.doc_id));
                for document in documents {
                    if let Some(number) = id_type.of(&document).map(str::to_owned) {
                        found.entry(number).or_insert(document);
                    }
                }
            }
        }
        Ok(ids.iter().map(|id| found.get(id).cloned()).collect())
    }

    async fn embeddings(&self, corpus: &str, ids: &[String]) -> Result<Vec<Option<Vec<f32>>>> {
        let Some(field) = self.vectors.get(&FeatureScope::Wide) else { return Ok(vec![None; ids.len()]) };
        let sources = self.by_id(corpus, ids, Some(&[field]), &CancellationToken::new()).await?;
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

fn publication(id: &str, source: &Value) -> Publication {
    let text = |field: &str| strings(&source[field]).join("\n");
    let one = |field: &str| source[field].as_str().map(str::to_owned);
    Publication {
        doc_id: id.to_owned(),
        url: one("url"),
        authors: strings(&source["authors"]),
        app_id: one("app_id"),
        pub_id: one("pub_id"),
        exam_id: one("exam_id"),
        title: text("title"),
        abst: text("abst"),
        claim: text("claim"),
        desc: text("desc"),
        codes: codes(source, CODES),
        app_date: day(&source["app_date"]),
        pub_date: day(&source["pub_date"]),
        country: one("country"),
        lang: one("lang"),
        applicants: strings(&source["applicants"]),
        cross_en_applicants: strings(&source["cross_en_applicants"]),
        doi: one("doi").and_then(|doi| Doi::parse(&doi)),
        venue: one("venue"),
        year: source["year"].as_i64().and_then(|year| i32::try_from(year).ok()),
    }
}

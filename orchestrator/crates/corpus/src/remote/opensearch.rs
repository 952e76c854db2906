//! A cluster of `OpenSearch`: the same lanes, translated to its query DSL.
//!
//! An index holds one corpus: documents whose `_id` is the document id, with the fields of a publication by their names
//! (`title abst claim desc` analyzed text; `ipc_codes cpc_codes fi_codes ft_codes` keywords in normal form;
//! `app_id pub_id exam_id country lang` keywords; `applicants cross_en_applicants` text; `app_date pub_date` dates;
//! `year` an integer) and a `knn_vector` per feature scope. Lyra makes and maintains the index of a corpus that was
//! imported to the cluster (`mapping.rs`), and searches those that others maintain. The index's analyzer decides what a
//! word is, and so what a proximity counts.

mod bulk;
mod cluster;
mod dsl;
mod evidence;
mod fault;
mod lanes;
mod mapping;
mod paragraphs;
mod record;
mod score;
mod shelf;

pub(crate) use bulk::Written;
pub use cluster::{Cluster, OpenSearchConfig};
pub(crate) use evidence::{check_labels, labels, search as search_evidence};
pub(crate) use lanes::Lanes;
pub use mapping::Analyzer;
pub(crate) use shelf::{Put, Shelf, State};

use super::{codes, day, strings};
use crate::backend::{BackendKind, FeatureScope, IdType, LaneHits, LaneQuery, Publication, SearchBackend};
use crate::hash::fnv;
use crate::{CorpusError, Result};
use async_trait::async_trait;
use lyra_domain::Doi;
use lyra_domain::classification::System;
use lyra_research::ports::Inference;
use reqwest::Method;
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Fields with codes, by system.
const CODES: [(System, &str); 4] = [
    (System::Ipc, "ipc_codes"),
    (System::Cpc, "cpc_codes"),
    (System::Fi, "fi_codes"),
    (System::Ft, "ft_codes"),
];

/// Lanes over indices of a cluster that others maintain; semantic lanes embed their text with the models behind
/// `inference`, which must be those that made the cluster's vectors.
pub struct OpenSearchBackend {
    cluster: Cluster,
    inference: Arc<dyn Inference>,
}

impl OpenSearchBackend {
    /// A backend over a cluster.
    pub fn new(cluster: Cluster, inference: Arc<dyn Inference>) -> Self {
        Self { cluster, inference }
    }

    fn lanes<'a>(&'a self, corpus: &'a str) -> Result<Lanes<'a>> {
        let config = self.cluster.config();
        let own = config.indices.get(corpus).map(String::as_str);
        let is_index = config.every_index
            && !corpus.is_empty()
            && !corpus.starts_with(['.', '_', '-'])
            && !corpus.starts_with(&config.prefix);
        let index = own.or(is_index.then_some(corpus));
        let index = index.ok_or_else(|| CorpusError::NotFound { name: corpus.to_owned() })?;
        Ok(Lanes::foreign(&self.cluster, corpus, index))
    }
}

#[async_trait]
impl SearchBackend for OpenSearchBackend {
    fn kind(&self, _: &str) -> BackendKind {
        BackendKind::OpenSearch
    }

    fn claims(&self, corpus: &str) -> bool {
        self.lanes(corpus).is_ok()
    }

    async fn corpora(&self) -> Result<Vec<String>> {
        let config = self.cluster.config();
        let mut names: Vec<String> = config.indices.keys().cloned().collect();
        if config.every_index {
            let query = [("format", "json"), ("h", "index"), ("expand_wildcards", "open")];
            let stop = CancellationToken::new();
            let answer = self.cluster.ask(&Method::GET, &["_cat", "indices"], &query, None, &stop).await?;
            let rows = answer.as_ref().and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            let found = rows.iter().filter_map(|row| row["index"].as_str());
            let others = found.filter(|name| {
                let named = config.indices.values().any(|index| index == name);
                !named && !name.starts_with('.') && !name.starts_with(&config.prefix)
            });
            names.extend(others.map(str::to_owned));
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    async fn snapshot(&self, corpus: &str) -> Result<String> {
        let lanes = self.lanes(corpus)?;
        let version = version(&self.cluster, lanes.index, &CancellationToken::new()).await;
        version.map_err(|error| lanes.named(error))
    }

    async fn search(&self, query: &LaneQuery, stop: &CancellationToken) -> Result<LaneHits> {
        query.check()?;
        query.check_remote(BackendKind::OpenSearch)?;
        self.lanes(&query.corpus)?.search(query, &*self.inference, stop).await
    }

    async fn fetch(
        &self,
        corpus: &str,
        ids: &[String],
        id_type: IdType,
        stop: &CancellationToken,
    ) -> Result<Vec<Option<Publication>>> {
        self.lanes(corpus)?.fetch(ids, id_type, stop).await
    }

    async fn embeddings(&self, corpus: &str, ids: &[String]) -> Result<Vec<Option<Vec<f32>>>> {
        self.lanes(corpus)?.embeddings(ids, FeatureScope::Wide, &CancellationToken::new()).await
    }
}

/// Names a state of an index: from the sequence numbers of the shards, which every change of a document raises.
///
/// # Errors
/// An index of which a shard is missing: its state is not known.
async fn version(cluster: &Cluster, index: &str, stop: &CancellationToken) -> Result<String> {
    let health = cluster.get(&Method::GET, &["_cluster", "health", index], None, stop).await?;
    if health["status"] == "red" && health["timed_out"] != true {
        let why = format!(
            "shards of index `{index}` are missing (red): a node with them is away. GET /_cluster/allocation/explain tells why"
        );
        return Err(cluster.error(why, true));
    }
    let query = [("level", "shards")];
    let answer = cluster.ask(&Method::GET, &[index, "_stats", "docs"], &query, None, stop).await?;
    let answer = answer.ok_or_else(|| CorpusError::NotFound { name: index.to_owned() })?;
    cluster.whole(&answer)?;
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
        return Err(cluster.error("the statistics name no shards of the index", false));
    }
    state.sort();
    Ok(format!("{:016x}", fnv(state.join("\n").as_bytes())))
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
        ..Publication::default()
    }
}

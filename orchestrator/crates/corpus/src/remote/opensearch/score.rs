//! BM25F on a cluster: what `search/fielded.rs` computes for local corpora, from what the cluster knows of a query's words.
//!
//! The similarity of lane fields (`mapping.rs`) gives the occurrences of a field by its length, times the query's boost.
//! Their sum over the fields is BM25F's term frequency; a script makes the score of it: `idf · tf·(k1 + 1) / (k1 + tf)`.

use super::cluster::Cluster;
use super::fault::{meaning, reason};
use super::mapping::Analyzer;
use crate::backend::FieldBoosts;
use crate::search::text_fields;
use crate::{CorpusError, Result};
use lyra_text::fulltext::{Part, Pattern};
use lyra_text::query::{Field, Query};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use tokio_util::sync::CancellationToken;

const K1: f64 = 1.2;
const SCRIPT: &str = "params.idf * 2.2 * _score / (1.2 + _score)";
/// Fields that lanes search.
const FIELDS: [&str; 4] = ["title", "abst", "claim", "desc"];

/// What a cluster knows of the words of a query.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    /// Documents, as far as they have one of the fields.
    documents: f64,
    /// Average number of terms of a field, over all documents.
    lengths: HashMap<String, f64>,
    words: HashMap<String, Word>,
}

/// A word or phrase.
#[derive(Debug, Default, Clone)]
pub(super) struct Word {
    /// Its terms with their positions.
    pub(super) terms: Vec<(u32, String)>,
    /// Documents with each term, by field.
    frequencies: HashMap<(String, String), f64>,
}

impl Statistics {
    /// Asks the cluster for the terms of a query, and how frequent they are.
    pub(super) async fn of(
        cluster: &Cluster,
        index: &str,
        analyzer: Analyzer,
        tree: &Query,
        stop: &CancellationToken,
    ) -> Result<Self> {
        let mut texts = BTreeSet::new();
        for (leaf, _) in tree.leaves() {
            match leaf {
                Query::Term(term) if term.field.is_none_or(Field::is_text) => {
                    texts.insert(term.text.clone());
                }
                Query::Near(near) => texts.extend(near.texts().into_iter().flatten()),
                _ => {}
            }
        }
        if texts.is_empty() {
            return Ok(Self::default());
        }
        let (_, query_analyzer) = analyzer.pair();
        let analyzers: HashMap<&str, &str> = FIELDS.iter().map(|field| (*field, query_analyzer)).collect();
        let asked = texts.iter().map(|text| {
            let document: HashMap<&str, &String> = FIELDS.iter().map(|field| (*field, text)).collect();
            json!({
                "doc": document, "per_field_analyzer": analyzers, "fields": FIELDS, "routing": "0",
                "term_statistics": true, "field_statistics": true, "positions": true, "offsets": false, "payloads": false,
            })
        });
        let body = json!({"docs": asked.collect::<Vec<_>>()});
        let answer = cluster.ask(&Method::POST, &[index, "_mtermvectors"], &[], Some(&body), stop).await?;
        let answer = answer.ok_or_else(|| CorpusError::NotFound { name: index.to_owned() })?;
        let found = answer["docs"].as_array().map(Vec::as_slice).unwrap_or_default();
        if let Some(error) = found.iter().map(|one| &one["error"]).find(|error| !error.is_null()) {
            if error["type"] == "index_not_found_exception" {
                return Err(CorpusError::NotFound { name: index.to_owned() });
            }
            let (why, passing) = meaning(error).unwrap_or_else(|| (reason(error), true));
            return Err(cluster.error(why, passing));
        }
        if found.len() != texts.len() {
            return Err(cluster.error("the statistics of the query's words are incomplete", true));
        }
        let mut statistics = Self::default();
        let mut sums: HashMap<&str, f64> = HashMap::new();
        for (text, one) in texts.iter().zip(found) {
            let mut word = Word::default();
            let mut terms = BTreeSet::new();
            for field in FIELDS {
                let of_field = &one["term_vectors"][field];
                let count = |name: &str| of_field["field_statistics"][name].as_f64().unwrap_or(0.0).max(0.0);
                statistics.documents = statistics.documents.max(count("doc_count"));
                sums.insert(field, count("sum_ttf"));
                for (term, about) in of_field["terms"].as_object().into_iter().flatten() {
                    let frequency = about["doc_freq"].as_f64().unwrap_or(0.0);
                    word.frequencies.insert((field.to_owned(), term.clone()), frequency);
                    for token in about["tokens"].as_array().into_iter().flatten() {
                        terms.insert((token["position"].as_u64().unwrap_or(0) as u32, term.clone()));
                    }
                }
            }
            word.terms = terms.into_iter().collect();
            if analyzer == Analyzer::Mixed {
                word.place(text);
            }
            statistics.words.insert(text.clone(), word);
        }
        let documents = statistics.documents.max(1.0);
        statistics.lengths =
            sums.into_iter().map(|(field, sum)| (field.to_owned(), sum / documents)).collect();
        Ok(statistics)
    }

    pub(super) fn word(&self, text: &str) -> Option<&Word> {
        self.words.get(text)
    }

    /// The fields of a leaf, each with the boost that makes its similarity a part of BM25F's term frequency. `terms` is
    /// how many terms stand in the leaf's query: Lucene adds the occurrences up once for each.
    pub(super) fn fields(
        &self,
        boosts: &FieldBoosts,
        only: Option<Field>,
        terms: usize,
    ) -> Vec<(&'static str, f64)> {
        let fields: Vec<(&'static str, f64)> =
            text_fields(boosts, only).map(|(field, weight)| (field.name(), f64::from(weight))).collect();
        let length = |field: &str| self.lengths.get(field).copied().unwrap_or(0.0);
        let plain: f64 = fields.iter().map(|(field, _)| length(field)).sum();
        let weighed: f64 = fields.iter().map(|(field, weight)| weight * length(field)).sum();
        let scale = if weighed > 0.0 { plain / weighed } else { 1.0 };
        let terms = terms.max(1) as f64;
        fields.into_iter().map(|(field, weight)| (field, weight * scale / terms)).collect()
    }

    /// The score of a leaf whose clauses give the term frequency.
    pub(super) fn scored(clauses: Vec<Value>, idf: f64) -> Value {
        let any = match <[Value; 1]>::try_from(clauses) {
            Ok([one]) => one,
            Err(many) => json!({"bool": {"should": many, "minimum_should_match": 1}}),
        };
        json!({"script_score": {"query": any, "script": {"source": SCRIPT, "params": {"idf": idf}}}})
    }

    /// The sum of the idf of the terms that weigh: of each group its most frequent alternative's.
    pub(super) fn idf(&self, groups: &[Vec<String>], fields: &[(&'static str, f64)]) -> f64 {
        let idf = |n: f64| (1.0 + (self.documents - n + 0.5).max(0.0) / (n + 0.5)).ln();
        let mut sum = 0.0;
        for group in groups {
            let mut usual: Vec<f64> = Vec::new();
            let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
            for text in group {
                let Some(word) = self.words.get(text) else { continue };
                let of: Vec<f64> =
                    word.weighing(text).iter().map(|term| word.frequency(term, fields)).collect();
                if usual.is_empty() || least(&of) > least(&usual) {
                    usual = of;
                }
            }
            sum += usual.into_iter().map(idf).sum::<f64>();
        }
        sum
    }
}

impl Word {
    /// Keeps the terms that a local corpus looks for, at its positions: the analyzer of queries makes every pair of CJK
    /// characters, also those that two others cover, and begins the next word one position too early.
    fn place(&mut self, text: &str) {
        if let Some(own) = self.own(text) {
            self.terms = own;
        }
    }

    /// What a local corpus looks for, with positions, if the analyzer makes these terms too.
    fn own(&self, text: &str) -> Option<Vec<(u32, String)>> {
        let parts = Pattern::of(text).parts.into_iter();
        let own: Vec<(u32, String)> = parts
            .filter_map(|(offset, part)| match part {
                Part::Term(term) => Some((offset, term)),
                // Refused before.
                Part::Written(_) | Part::Wildcard(_) => None,
            })
            .collect();
        let has = |term: &str| self.terms.iter().any(|(_, of)| of == term);
        (!own.is_empty() && own.iter().all(|(_, term)| has(term))).then_some(own)
    }

    /// Terms whose frequency counts.
    fn weighing(&self, text: &str) -> Vec<String> {
        let terms = self.own(text).unwrap_or_else(|| self.terms.clone());
        terms.into_iter().map(|(_, term)| term).collect()
    }

    fn frequency(&self, term: &str, fields: &[(&'static str, f64)]) -> f64 {
        let of =
            |field: &str| self.frequencies.get(&(field.to_owned(), term.to_owned())).copied().unwrap_or(0.0);
        fields.iter().map(|(field, _)| of(field)).fold(0.0, f64::max)
    }
}

/// The script and the constant say the same.
const _: () = assert!(K1 + 1.0 == 2.2);

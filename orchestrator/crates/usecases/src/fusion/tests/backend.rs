//! A backend over documents in memory: full text by the reference matcher, meaning by shared words.

use async_trait::async_trait;
use lyra_corpus::backend::{
    BackendKind, Codes, Filter, IdType, LaneHit, LaneHits, LaneKind, LaneQuery, Publication, SearchBackend,
};
use lyra_corpus::{CorpusError, Result};
use lyra_domain::classification::{Code, System};
use lyra_text::query::{Query, Texts, matches};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio_util::sync::CancellationToken;

pub(super) struct Memory {
    pub(super) kind: BackendKind,
    pub(super) documents: Vec<Publication>,
    /// Documents that searches find, from the first on.
    pub(super) imported: AtomicUsize,
    pub(super) searches: AtomicUsize,
    pub(super) version: AtomicUsize,
    pub(super) down: AtomicBool,
}

/// Sixty patents on lamps: every third on light-emitting diodes, some of them with heat sinks, a few at gates.
pub(super) fn documents() -> Vec<Publication> {
    (0..60)
        .map(|i| {
            let mut codes = Codes::default();
            let code = if i % 3 == 0 { "H01L33/64" } else { "F21V29/00" };
            codes.add(System::Ipc, code).unwrap();
            let lamp = if i % 3 == 0 { "LED" } else { "lamp" };
            let heat = if i % 4 == 0 { " with a heat sink for the heat of the light" } else { "" };
            let gate = if i % 12 == 0 { " at a gate of a system" } else { "" };
            Publication {
                doc_id: format!("d{i:03}"),
                pub_id: Some(format!("US{i}A")),
                title: format!("A {lamp} number {i}"),
                abst: format!("The light of a {lamp}{heat}{gate}."),
                claim: format!("1. A {lamp}{heat}. 光源{i}を備える。"),
                desc: format!("This {lamp} gives light{heat}. ").repeat(40 + i),
                codes,
                country: Some("JP".to_owned()),
                ..Publication::default()
            }
        })
        .collect()
}

impl Memory {
    pub(super) fn new(documents: Vec<Publication>) -> Self {
        Self {
            kind: BackendKind::Embedded,
            imported: AtomicUsize::new(documents.len()),
            documents,
            searches: AtomicUsize::new(0),
            version: AtomicUsize::new(0),
            down: AtomicBool::new(false),
        }
    }

    pub(super) fn import(&self, count: usize) {
        self.imported.store(count, Ordering::Relaxed);
        self.version.fetch_add(1, Ordering::Relaxed);
    }

    fn reachable(&self) -> Result<()> {
        if self.down.load(Ordering::Relaxed) {
            return Err(CorpusError::Backend {
                backend: self.kind,
                why: "no answer".to_owned(),
                passing: true,
            });
        }
        Ok(())
    }
}

fn passes(document: &Publication, filter: &Filter) -> bool {
    match filter {
        Filter::Codes { system, include, .. } => document.codes.of(*system).iter().any(|code| {
            let code = Code::parse(*system, code).unwrap();
            include.iter().any(|wide| wide.contains(&code))
        }),
        Filter::Values { include, .. } => document.country.iter().any(|country| include.contains(country)),
        Filter::Dates { .. } => true,
    }
}

#[async_trait]
impl SearchBackend for Memory {
    fn kind(&self, _: &str) -> BackendKind {
        self.kind
    }

    fn claims(&self, _: &str) -> bool {
        true
    }

    async fn corpora(&self) -> Result<Vec<String>> {
        Ok(vec!["patents".to_owned()])
    }

    async fn snapshot(&self, _corpus: &str) -> Result<String> {
        Ok(self.version.load(Ordering::Relaxed).to_string())
    }

    async fn search(&self, query: &LaneQuery, _stop: &CancellationToken) -> Result<LaneHits> {
        self.searches.fetch_add(1, Ordering::Relaxed);
        let scored = |document: &Publication| -> f64 {
            let texts = Texts {
                title: &document.title,
                abst: &document.abst,
                claim: &document.claim,
                desc: &document.desc,
            };
            match &query.kind {
                LaneKind::FullText { query, boosts } => {
                    let query = Query::parse(query).unwrap();
                    let only = |field: &str| match field {
                        "title" => Texts { title: texts.title, ..Texts::default() },
                        "abst" => Texts { abst: texts.abst, ..Texts::default() },
                        "claim" => Texts { claim: texts.claim, ..Texts::default() },
                        _ => Texts { desc: texts.desc, ..Texts::default() },
                    };
                    let found = boosts.iter().filter(|(field, _)| matches(&query, &only(field)));
                    let score: f64 = found.map(|(_, weight)| f64::from(weight)).sum();
                    if matches(&query, &texts) { score + 1.0 } else { 0.0 }
                }
                LaneKind::Semantic { text, .. } => {
                    let wanted: HashSet<String> = lyra_text::words(text).into_iter().collect();
                    let has: HashSet<String> = lyra_text::words(&document.abst).into_iter().collect();
                    wanted.intersection(&has).count() as f64
                }
            }
        };
        if let LaneKind::FullText { query, .. } = &query.kind
            && query.contains("unreachable")
        {
            return Err(CorpusError::Backend {
                backend: self.kind,
                why: "no answer".to_owned(),
                passing: true,
            });
        }
        let mut hits: Vec<LaneHit> = self
            .documents
            .iter()
            .take(self.imported.load(Ordering::Relaxed))
            .filter(|document| query.filters.iter().all(|filter| passes(document, filter)))
            .map(|d| LaneHit { doc_id: d.doc_id.clone(), score: scored(d), codes: d.codes.clone() })
            .filter(|hit| hit.score > 0.0)
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.doc_id.cmp(&b.doc_id)));
        let total = hits.len();
        hits.truncate(query.top_k);
        Ok(LaneHits {
            truncated: hits.len() < total,
            total: Some(total as u64),
            hits,
            took_ms: 1,
            ..LaneHits::default()
        })
    }

    async fn fetch(
        &self,
        _corpus: &str,
        ids: &[String],
        id_type: IdType,
        _stop: &CancellationToken,
    ) -> Result<Vec<Option<Publication>>> {
        self.reachable()?;
        let found = |id: &String| self.documents.iter().find(|d| id_type.of(d) == Some(id)).cloned();
        Ok(ids.iter().map(found).collect())
    }

    async fn family_keys(&self, _corpus: &str, ids: &[String]) -> Result<Vec<Vec<String>>> {
        // d000 to d009 are one family, and so on.
        Ok(ids.iter().map(|id| vec![format!("family:{}", &id[..3])]).collect())
    }

    async fn embeddings(&self, _corpus: &str, ids: &[String]) -> Result<Vec<Option<Vec<f32>>>> {
        Ok(vec![None; ids.len()])
    }
}

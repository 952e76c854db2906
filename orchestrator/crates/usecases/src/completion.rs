//! Metadata of imported papers, completed through the academic APIs.
//!
//! A paper is looked up by its identifiers, else searched by its title. What a source knows of it is taken only if it
//! surely is the same work, fills fields that the file leaves empty, and is recorded as coming from that source.

mod same;

use super::{App, AppError};
use lyra_corpus::{Completion, Document};
use lyra_domain::{Identifier, Work};
use lyra_research::ports::{ContentRules, EvidenceSource, Hit};
use same::is_same;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Documents asked about before what was found is written.
const BATCH: usize = 16;
/// Works that a search by title compares.
const COMPARED: usize = 5;
/// Shortest title that is searched for, in words, or ideographs by three.
const TELLING: usize = 3;

/// What completing the documents of a corpus did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CompletedMetadata {
    /// Documents that got fields, by source.
    pub by_source: BTreeMap<String, u64>,
    /// Documents that no source knows for sure.
    pub unknown: u64,
    /// Documents that are left, because a source failed or the work was interrupted.
    pub left: u64,
    /// Sources that failed, with the reason. They were not asked again.
    pub failed: BTreeMap<String, String>,
}

impl CompletedMetadata {
    /// Whether there is anything to say.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The sources that are asked, and which of them failed.
struct Asking {
    sources: Vec<Arc<dyn EvidenceSource>>,
    rules: Arc<dyn ContentRules>,
    failed: BTreeMap<String, String>,
}

impl App {
    /// Completes documents from papers that lack a DOI, authors, or the year, through `sources`, or else through the
    /// academic APIs among the default sources; without any, nothing is asked. Documents are asked about once, unless a
    /// source fails. `progress` gets the documents that were asked about, and all of them.
    ///
    /// # Errors
    /// An unknown source, a corpus that cannot be read or written. A source that fails is not an error.
    pub async fn complete_corpus(
        &self,
        name: &str,
        sources: &[String],
        progress: &(dyn Fn(u64, u64) + Send + Sync),
        cancel: &CancellationToken,
    ) -> Result<CompletedMetadata, AppError> {
        let sources = self.scholarly(sources)?;
        if sources.is_empty() {
            return Ok(CompletedMetadata::default());
        }
        let corpora = &self.inner.corpora;
        let incomplete = corpora.incomplete(name).await?;
        let rules = Arc::new(self.web().rules());
        let mut asking = Asking { sources, rules, failed: BTreeMap::new() };
        let (mut done, all) = (CompletedMetadata::default(), incomplete.len() as u64);
        for batch in incomplete.chunks(BATCH) {
            let mut documents = Vec::with_capacity(batch.len());
            for id in batch {
                documents.push((id.clone(), corpora.document(name, id).await?));
            }
            let Some(found) = cancel.run_until_cancelled(asking.about(&documents)).await else { break };
            let mut answered = Vec::new();
            for ((id, _), completion) in documents.into_iter().zip(found) {
                match completion {
                    Some(completion) => {
                        *done.by_source.entry(completion.source.clone()).or_default() += 1;
                        answered.push((id, Some(completion)));
                    }
                    // A source that failed may know it.
                    None if asking.failed.is_empty() => {
                        done.unknown += 1;
                        answered.push((id, None));
                    }
                    None => done.left += 1,
                }
            }
            corpora.complete(name, answered).await?;
            let asked = done.by_source.values().sum::<u64>() + done.unknown + done.left;
            progress(asked, all);
            if asking.failed.len() == asking.sources.len() {
                break;
            }
        }
        done.left = all - done.by_source.values().sum::<u64>() - done.unknown;
        done.failed = asking.failed;
        Ok(done)
    }

    /// The academic APIs that are named, else those among the default sources.
    fn scholarly(&self, named: &[String]) -> Result<Vec<Arc<dyn EvidenceSource>>, AppError> {
        let sources = &self.inner.outside.sources;
        for name in named {
            if sources.get(name.trim()).is_none_or(|opened| opened.api.is_none()) {
                return Err(AppError::invalid(
                    format!("`{name}` is not an academic source"),
                    format!("the academic sources are {}", sources.api_names().join(", ")),
                ));
            }
        }
        let asked = if named.is_empty() { &self.config().sources.default } else { named };
        let chosen = sources.iter().filter(|opened| {
            opened.api.is_some() && asked.iter().any(|name| opened.provider.is_named(name.trim()))
        });
        Ok(chosen.map(|opened| Arc::clone(&opened.source)).collect())
    }
}

impl Asking {
    /// What the sources know of these documents; a document that is gone has nothing to complete.
    async fn about(&mut self, documents: &[(String, Option<Document>)]) -> Vec<Option<Completion>> {
        let mut found: Vec<Option<Completion>> = vec![None; documents.len()];
        for nth in 0..self.sources.len() {
            let source = Arc::clone(&self.sources[nth]);
            let open: Vec<(usize, &Document)> = documents
                .iter()
                .enumerate()
                .filter_map(|(nth, (_, document))| Some((nth, document.as_ref()?)))
                .filter(|(nth, document)| found[*nth].is_none() && document.lacks_metadata())
                .collect();
            let identifiers: Vec<Identifier> =
                open.iter().flat_map(|(_, document)| identifiers_of(document)).collect();
            let hits = self.lookup(&*source, &identifiers).await;
            for (place, document) in &open {
                let own = identifiers_of(document);
                let known = hits.iter().find(|hit| hit.work.identifiers().any(|id| own.contains(&id)));
                found[*place] = known.and_then(|hit| completion(&*source, document, &hit.work));
            }
            for (place, document) in open {
                if found[place].is_some() || !is_telling(&document.title) {
                    continue;
                }
                let hits = self.search(&*source, document).await;
                let same = hits.iter().find(|hit| is_same(document, &hit.work));
                found[place] = same.and_then(|hit| completion(&*source, document, &hit.work));
            }
        }
        found
    }

    async fn lookup(&mut self, source: &dyn EvidenceSource, ids: &[Identifier]) -> Vec<Hit> {
        let Some(scholarly) = source.scholarly().filter(|_| !ids.is_empty()) else { return Vec::new() };
        if self.failed.contains_key(source.name()) {
            return Vec::new();
        }
        let answer = scholarly.lookup(ids).await;
        self.harmless(source, answer).await
    }

    async fn search(&mut self, source: &dyn EvidenceSource, document: &Document) -> Vec<Hit> {
        if self.failed.contains_key(source.name()) {
            return Vec::new();
        }
        let answer = source.search(&document.title, document.language.as_deref(), COMPARED).await;
        self.harmless(source, answer.map(|answer| answer.hits)).await
    }

    /// Hits without those whose metadata addresses an AI; a failure is remembered.
    async fn harmless(
        &mut self,
        source: &dyn EvidenceSource,
        answer: lyra_research::Result<Vec<Hit>>,
    ) -> Vec<Hit> {
        let rules = &self.rules;
        let looked: lyra_research::Result<Vec<Hit>> = async {
            let hits = answer?;
            let text = |hit: &Hit| {
                let venue = hit.work.venue.clone().unwrap_or_default();
                [hit.work.title.clone(), hit.work.authors.join(" "), venue].join("\n")
            };
            let dangers = rules.dangers(hits.iter().map(text).collect()).await?;
            let harmless = hits.into_iter().zip(dangers).filter(|(_, danger)| danger.is_none());
            Ok(harmless.map(|(hit, _)| hit).collect())
        }
        .await;
        match looked {
            Ok(hits) => hits,
            Err(error) => {
                tracing::warn!(source = source.name(), %error, "metadata is not completed through this source");
                self.failed.insert(source.name().to_owned(), error.to_string());
                Vec::new()
            }
        }
    }
}

fn identifiers_of(document: &Document) -> Vec<Identifier> {
    document
        .doi
        .clone()
        .map(Identifier::Doi)
        .into_iter()
        .chain(document.identifiers.iter().cloned())
        .collect()
}

/// What a work adds to a document, if anything.
fn completion(source: &dyn EvidenceSource, document: &Document, work: &Work) -> Option<Completion> {
    let adds = (document.doi.is_none() && work.doi.is_some())
        || (document.authors.is_empty() && !work.authors.is_empty())
        || (document.year.is_none() && work.year.is_some());
    adds.then(|| Completion { source: source.name().to_owned(), work: work.clone() })
}

/// Whether a title is worth a search: a file's name is not.
fn is_telling(title: &str) -> bool {
    let ideographs = title.chars().filter(|c| *c >= '\u{3040}').count();
    title.split_whitespace().count() + ideographs / 3 > TELLING
}

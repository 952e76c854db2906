//! What is stored, as a library: claims, documents of tasks, and documents of corpora, found by one query and read by
//! id.
//!
//! Ids are `claim_…`, `page_…`, and `corpus:NAME/DOCUMENT`.

mod texts;

use super::{App, AppError, ErrorCode, VectorSearch, fusion};
use futures::future::try_join3;
use lyra_corpus::backend::{IdType, Publication};
use lyra_corpus::{EmbeddedBackend, Method};
use lyra_domain::{Citation, ClaimId, PageId, TaskId};
use lyra_fusion::{Lane, Method as FusionMethod, Pool, RankedDocs, Ranking};
use lyra_store::{StoredClaim, StoredPage, VectorTarget};
use lyra_wire::ItemFacts;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use std::collections::HashMap;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Most results of a search.
const RESULTS: usize = 20;
/// Candidates of every way to search.
const CANDIDATES: usize = 30;
/// Words of the query that are searched for.
const WORDS: usize = 24;
/// Least cosine of a candidate.
const SIMILAR: f32 = 0.35;
/// Constant of reciprocal rank fusion.
const RRF: f64 = 60.0;
/// Longest query, in characters.
const MAX_QUERY: usize = 2_000;
/// Prefix of the ids of documents in corpora.
const CORPUS: &str = "corpus:";
/// Characters of an id that are escaped in an address.
const ESCAPED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b':').remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// Addresses of stored items that have no address of their own.
pub const STORED: &str = "lyra://stored/";

/// The results of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shelf {
    /// Best first, claims and documents in turn, at most 20.
    pub entries: Vec<LibraryEntry>,
    /// What could not be searched, and why.
    pub notes: Vec<String>,
}

/// A stored item by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryEntry {
    /// What [`App::library_item`] takes.
    pub id: String,
    /// The claim, or the title of the document.
    pub title: String,
    /// A DOI or address, or the `lyra://` address of an item that has none.
    pub url: String,
}

/// A stored item as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct LibraryItem {
    /// Its name.
    pub entry: LibraryEntry,
    /// The text of a document; a claim with the passages for and against it.
    pub text: String,
    /// Facts about it: its kind, what to cite, and for a claim its numbers.
    pub metadata: ItemFacts,
}

impl App {
    /// Claims and documents that match a query, by words and by meaning. Reads only.
    ///
    /// # Errors
    /// An empty or over-long query, or a store that cannot be read. Models or corpora that fail are noted instead.
    pub async fn search_library(&self, query: &str) -> Result<Shelf, AppError> {
        let length = query.chars().count();
        if query.trim().is_empty() || length > MAX_QUERY {
            return Err(AppError::invalid(
                format!("`query` has {length} characters"),
                format!("say what to search for in 1 to {MAX_QUERY} characters"),
            ));
        }
        let (claims, documents, (corpora, mut notes)) = try_join3(
            self.found(VectorTarget::Claims, query),
            self.found(VectorTarget::Fragments, query),
            self.in_corpora(query),
        )
        .await?;
        let single = |lane| (1.0, lane);
        let (claims, note) = (claims.0.into_iter().map(single).collect(), claims.1);
        notes.extend(note);
        let (mut lanes, note) = (documents.0.into_iter().map(single).collect::<Vec<_>>(), documents.1);
        notes.extend(note);
        notes.dedup();
        // The search of a corpus has compared words and meaning already, and counts for both.
        lanes.extend(corpora.into_iter().map(|lane| (2.0, lane)));
        Ok(Shelf { entries: in_turn(fused(claims), fused(lanes)), notes })
    }

    /// A stored item.
    ///
    /// # Errors
    /// An id of another kind, or of nothing that is stored.
    pub async fn library_item(&self, id: &str) -> Result<LibraryItem, AppError> {
        let id = id.trim();
        if let Ok(claim) = id.parse::<ClaimId>() {
            let report = self.store().claim_report(&claim).await?;
            let origin = report.origin.as_ref().map(|origin| &origin.citation);
            let entry = claim_entry(&claim, &report.claim.task_id, &report.claim.claim_text, origin);
            return Ok(texts::claim(&report, entry));
        }
        if let Ok(page) = id.parse::<PageId>() {
            let document = self.store().stored_document(&page).await?;
            return Ok(texts::document(&document, page_entry(&document.page)));
        }
        let named = id.strip_prefix(CORPUS).and_then(|rest| rest.split_once('/'));
        let (corpus, document) = named.ok_or_else(|| {
            AppError::invalid(
                format!("`{id}` is not the id of a stored item"),
                "give an id that `search` returned: claim_…, page_…, or corpus:NAME/DOCUMENT",
            )
        })?;
        let found = self.documents_of(corpus, &[document.to_owned()]).await?;
        let found = found.into_iter().flatten().next().ok_or_else(|| {
            AppError::new(ErrorCode::NotFound, format!("corpus `{corpus}` has no document `{document}`"))
        })?;
        Ok(texts::publication(&found, document_entry(corpus, &found)))
    }

    /// Claims, or the pages of passages, by words and by meaning; and why they were not compared by meaning, if so.
    async fn found(
        &self,
        target: VectorTarget,
        query: &str,
    ) -> Result<(Vec<Vec<LibraryEntry>>, Option<String>), AppError> {
        let mut words = lyra_text::content_words(query);
        words.sort_unstable();
        words.dedup();
        words.truncate(WORDS);
        let by_words = self.store().containing(target, &words, CANDIDATES).await?;
        let search = VectorSearch {
            query: query.to_owned(),
            target,
            task: None,
            top_k: CANDIDATES,
            min_similarity: SIMILAR,
        };
        let (by_meaning, note) = match self.vector_search(search).await {
            Ok(hits) => (hits.found.matches.into_iter().map(|hit| hit.id).collect(), hits.note),
            // Nothing is stored yet.
            Err(error) if error.code == ErrorCode::NotFound => (Vec::new(), None),
            Err(error) if error.code == ErrorCode::Internal => return Err(error),
            Err(error) => (Vec::new(), Some(format!("searched by words only: {error}"))),
        };
        let mut lanes = Vec::new();
        for ids in [by_words, by_meaning] {
            lanes.push(match target {
                VectorTarget::Claims => {
                    let claims = self.store().stored_claims(&ids).await?;
                    let entry = |claim: &StoredClaim| {
                        claim_entry(&claim.id, &claim.task, &claim.text, claim.origin.as_ref())
                    };
                    claims.iter().map(entry).collect()
                }
                VectorTarget::Fragments => {
                    self.store().pages_of(&ids).await?.iter().map(page_entry).collect()
                }
            });
        }
        Ok((lanes, note))
    }

    /// The best documents of every imported corpus, and what could not be searched. The example corpus counts only
    /// where it is the only one.
    async fn in_corpora(&self, query: &str) -> Result<(Vec<Vec<LibraryEntry>>, Vec<String>), AppError> {
        let mut names: Vec<String> =
            self.list_corpora().await?.into_iter().map(|corpus| corpus.name).collect();
        if names.len() > 1 {
            names.retain(|name| name != super::corpora::EXAMPLE);
        }
        let (mut lanes, mut notes) = (Vec::new(), Vec::new());
        for name in names {
            match self.in_corpus(&name, query).await {
                Ok((entries, note)) => {
                    lanes.push(entries);
                    notes.extend(note.map(|note| format!("corpus {name}: {note}")));
                }
                Err(error) => notes.push(format!("corpus {name} was not searched: {error}")),
            }
        }
        Ok((lanes, notes))
    }

    async fn in_corpus(
        &self,
        name: &str,
        query: &str,
    ) -> Result<(Vec<LibraryEntry>, Option<String>), AppError> {
        let (found, why) = match self.search_corpus(name, query, Method::Hybrid, CANDIDATES).await {
            Ok(found) => (found, None),
            Err(error) => {
                let words = self.search_corpus(name, query, Method::Bm25, CANDIDATES).await?;
                (words, Some(format!("searched by words only: {error}")))
            }
        };
        let matching = found.hits.iter().filter(|hit| {
            hit.bm25.is_some_and(|score| score > 0.0)
                || hit.cosine.is_some_and(|cosine| cosine >= f64::from(SIMILAR))
        });
        let ids: Vec<String> = matching.map(|hit| hit.document.doc_id.clone()).collect();
        let documents = self.documents_of(name, &ids).await?;
        let entries = documents.iter().flatten().map(|document| document_entry(name, document));
        Ok((entries.collect(), found.note.or(why)))
    }

    /// Documents of a local corpus by id. Text in them that addresses an AI is withheld.
    async fn documents_of(&self, corpus: &str, ids: &[String]) -> Result<Vec<Option<Publication>>, AppError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let local = EmbeddedBackend::new(self.inner.corpora.clone(), self.inner.inference.clone());
        let gate = fusion::Gate::before(Arc::new(local), self.web().rules());
        Ok(gate.fetch(corpus, ids, IdType::DocId, &CancellationToken::new()).await?)
    }
}

/// The lanes as one list by weighted reciprocal rank fusion, every item once.
fn fused(lanes: Vec<(f64, Vec<LibraryEntry>)>) -> Vec<LibraryEntry> {
    let mut entries: HashMap<String, LibraryEntry> = HashMap::new();
    // A document may be in a corpus and among the pages of a task; its address tells.
    let mut by_address: HashMap<String, String> = HashMap::new();
    let mut ranked = Vec::new();
    for (weight, lane) in lanes {
        let ids: Vec<String> = lane
            .into_iter()
            .map(|entry| {
                // Claims of one document are items of their own.
                let is_claim = entry.id.parse::<ClaimId>().is_ok();
                let address = if is_claim { entry.id.clone() } else { entry.url.clone() };
                let id = by_address.entry(address).or_insert_with(|| entry.id.clone()).clone();
                entries.entry(id.clone()).or_insert(entry);
                id
            })
            .collect();
        ranked.push((weight, RankedDocs::new(ids.into_iter().map(|id| (id, 0.0, Vec::new())))));
    }
    let names: Vec<String> = (0..ranked.len()).map(|place| place.to_string()).collect();
    let lanes: Vec<Lane<'_>> =
        names.iter().zip(&ranked).map(|(name, (_, docs))| Lane { name, docs, limit: CANDIDATES }).collect();
    let weights: Vec<f64> = ranked.iter().map(|(weight, _)| *weight).collect();
    let pool = Pool::new(&lanes);
    let order = Ranking::new(&pool, &weights, (FusionMethod::Rrf, RRF), None).order;
    order.into_iter().filter_map(|doc| entries.remove(pool.id(doc))).collect()
}

/// The first of both lists, then the second of both, and so on: their scores do not compare.
fn in_turn(claims: Vec<LibraryEntry>, documents: Vec<LibraryEntry>) -> Vec<LibraryEntry> {
    let (mut claims, mut documents) = (claims.into_iter(), documents.into_iter());
    let mut entries = Vec::new();
    loop {
        let next = [claims.next(), documents.next()];
        if next.iter().all(Option::is_none) || entries.len() >= RESULTS {
            entries.truncate(RESULTS);
            return entries;
        }
        entries.extend(next.into_iter().flatten());
    }
}

/// Where a person can read what a citation names.
fn link(citation: &Citation) -> Option<String> {
    let doi = citation.doi.as_ref().map(|doi| format!("https://doi.org/{doi}"));
    doi.or_else(|| citation.url.clone().filter(|url| url.starts_with("http")))
}

fn claim_entry(id: &ClaimId, task: &TaskId, text: &str, origin: Option<&Citation>) -> LibraryEntry {
    let url = origin.and_then(link).unwrap_or_else(|| format!("lyra://tasks/{task}/claims/{id}"));
    LibraryEntry { id: id.to_string(), title: text.to_owned(), url }
}

fn page_entry(page: &StoredPage) -> LibraryEntry {
    let id = page.id.to_string();
    // The address of a document in a corpus is its id there, so that both are one result.
    let own = if page.address.starts_with(CORPUS) { &page.address } else { &id };
    let url = link(&page.citation).unwrap_or_else(|| stored(own));
    LibraryEntry { title: named(&page.citation.title, &id), url, id }
}

fn document_entry(corpus: &str, document: &Publication) -> LibraryEntry {
    let id = format!("{CORPUS}{corpus}/{}", document.doc_id);
    let doi = document.doi.as_ref().map(|doi| format!("https://doi.org/{doi}"));
    let url = doi.or_else(|| document.url.clone().filter(|url| url.starts_with("http")));
    LibraryEntry {
        title: named(&document.title, &document.doc_id),
        url: url.unwrap_or_else(|| stored(&id)),
        id,
    }
}

/// The title, or the id of something without one.
fn named(title: &str, id: &str) -> String {
    if title.trim().is_empty() { id.to_owned() } else { title.to_owned() }
}

/// The address of a stored item.
fn stored(id: &str) -> String {
    format!("{STORED}{}", percent_encoding::utf8_percent_encode(id, ESCAPED))
}

#[cfg(test)]
mod tests;

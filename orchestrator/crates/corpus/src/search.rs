//! Search: BM25, dense, and the mix of both.

mod citation;
mod codes;
mod cursor;
mod dense;
mod exclude;
mod fielded;
mod filters;
mod lane;
mod lexical;
mod near;
mod truncated;
mod walk;

pub(crate) use filters::Accepted;
pub(crate) use lane::{Attribute, attribute, full_text, semantic, text_fields, unreadable};
pub(crate) use lexical::{BODY_SCORE, TITLE_WEIGHT};

use crate::backend::{FeatureScope, Filter, ValueField};
use crate::corpora::Opened;
use crate::{CorpusError, Document, Result, labels};
use lyra_domain::ranking::{min_max, mix};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use tantivy::DocAddress;

/// Share of BM25 in the hybrid score; the cosine gets the rest (evidence design, section 2, step 6).
pub(crate) const BM25_WEIGHT: f64 = 0.3;
/// Candidates that each method puts into the hybrid's pool, at least.
pub(crate) const POOL: usize = 150;

/// How documents are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// BM25 over title and text.
    Bm25,
    /// Cosine of the query's and the document's embeddings, over all documents.
    Dense,
    /// `0.3·bm25 + 0.7·cosine`, both min-max normalized over the best 150 of each.
    #[default]
    Hybrid,
}

/// No search method has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a search method: use bm25, dense or hybrid")]
pub struct UnknownMethod(String);

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(text: &str) -> Result<Self, UnknownMethod> {
        match text {
            "bm25" => Ok(Self::Bm25),
            "dense" => Ok(Self::Dense),
            "hybrid" => Ok(Self::Hybrid),
            other => Err(UnknownMethod(other.to_owned())),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bm25 => "bm25",
            Self::Dense => "dense",
            Self::Hybrid => "hybrid",
        })
    }
}

/// Which texts of documents a search looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Within {
    /// Title and text of the paper.
    #[default]
    Paper,
    /// The person's own notes, marks, and comments on them, by BM25.
    Notes,
}

/// Which texts of the documents that it finds a search returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Texts {
    /// All that there are.
    #[default]
    All,
    /// Those that passages are taken from: the abstract, and the full text of a paper whose sections are known. A cluster
    /// sends neither the claims and description of a patent, nor more than 80 paragraphs of a full text: those that say
    /// most about the query, each on its line.
    OfPassages,
}

/// What narrows a search.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Narrow {
    /// Texts that are looked at.
    pub within: Within,
    /// All must hold.
    pub filters: Vec<Filter>,
    /// Texts that are returned.
    pub texts: Texts,
}

impl Narrow {
    /// Documents with all of these tags that are in all of these collections, or in one below each.
    ///
    /// # Errors
    /// [`CorpusError::Filter`] for a blank name.
    pub fn of(tags: &[String], collections: &[String]) -> Result<Self> {
        let tags = tags.iter().map(|tag| Filter::with(ValueField::Tag, tag));
        let collections = collections.iter().map(|path| Filter::with(ValueField::Collection, path));
        let filters = tags.chain(collections).collect::<std::result::Result<_, _>>()?;
        Ok(Self { filters, ..Self::default() })
    }
}

/// A document that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CorpusHit {
    /// Place in the list, from 1.
    pub rank: usize,
    /// What the list is ordered by: BM25 (≥ 0), the cosine in [−1, 1], or the mix in [0, 1].
    pub score: f64,
    /// BM25, when the method used it; 0 when no word matches.
    pub bm25: Option<f64>,
    /// Cosine with the query, when the method used it.
    pub cosine: Option<f64>,
    /// The document.
    pub document: Document,
    /// Its embedding, `Models::dimension` numbers, when it is sound.
    #[serde(skip)]
    pub embedding: Option<Vec<f32>>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchResult {
    /// The method that was used: BM25 where the hybrid had no vector to compare with.
    pub method: Method,
    /// Why another method was used than the one asked for, and why documents may be missing.
    pub note: Option<String>,
    /// The model that made the corpus' embeddings.
    pub embedder: String,
    /// Best first, ties by document id.
    pub hits: Vec<CorpusHit>,
}

/// A candidate with the scores that are known.
struct Candidate {
    id: String,
    address: DocAddress,
    bm25: Option<f64>,
    cosine: Option<f64>,
    score: f64,
}

/// Searches an opened corpus; blocking.
pub(crate) fn search(
    corpus: &Opened,
    query: &str,
    method: Method,
    k: usize,
    vector: Option<&[f32]>,
    narrow: &Narrow,
) -> Result<Vec<CorpusHit>> {
    if narrow.within == Within::Notes && method != Method::Bm25 {
        return Err(CorpusError::Search {
            why: format!("notes have no embeddings, which {method} search compares"),
            expected: "search them with bm25".to_owned(),
        });
    }
    labels::check(&corpus.snapshot, &narrow.filters)?;
    if let Some(vector) = vector {
        check_vector(corpus, vector)?;
    }
    let needed = || vector.ok_or_else(|| CorpusError::NoQueryVector { why: "none was given".to_owned() });
    let mut candidates = match method {
        Method::Bm25 => lexical_candidates(corpus, query, k, narrow)?,
        Method::Dense => dense_candidates(corpus, needed()?, k, narrow)?,
        Method::Hybrid => hybrid_candidates(corpus, query, needed()?, k, narrow)?,
    };
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
    candidates.truncate(k);
    candidates.into_iter().enumerate().map(|(i, candidate)| hit(corpus, i + 1, &candidate)).collect()
}

/// That a query vector can be compared with the corpus' embeddings.
fn check_vector(corpus: &Opened, vector: &[f32]) -> Result<()> {
    let dimension = corpus.manifest.dimension;
    if dimension == 0 {
        return Err(without_embeddings(corpus.snapshot.count(), !corpus.manifest.pending.is_empty()));
    }
    if vector.len() != dimension {
        return Err(CorpusError::BadEmbedding {
            got: format!("a query vector of {} numbers", vector.len()),
            expected: dimension.to_string(),
        });
    }
    Ok(())
}

/// What search by meaning does not find while documents lack embeddings: some of `all` have none yet, or not in all scopes.
pub(crate) fn partly_embedded(pending: &[FeatureScope], embedded: u64, all: u64) -> String {
    if embedded < all {
        return format!(
            "{embedded} of {all} documents are embedded so far; the others are found by words only"
        );
    }
    let pending: Vec<&str> = pending.iter().map(|scope| scope.name()).collect();
    format!("not all documents are embedded yet in: {}", pending.join(", "))
}

/// What is wrong with dense search in a corpus that was imported without embeddings, or whose embeddings are `pending`.
pub(crate) fn without_embeddings(documents: u64, pending: bool) -> CorpusError {
    let why = if pending {
        format!(
            "none of the {documents} documents of the corpus is embedded yet; that goes on in the background"
        )
    } else {
        "the corpus was imported without embeddings; import the files again with all scopes".to_owned()
    };
    CorpusError::NoQueryVector { why }
}

fn lexical_candidates(corpus: &Opened, query: &str, k: usize, narrow: &Narrow) -> Result<Vec<Candidate>> {
    let Some(query) = lexical::query(&corpus.snapshot, query, narrow.within) else { return Ok(Vec::new()) };
    let query = filters::filtered(&corpus.snapshot.fields, query, &narrow.filters);
    let found = lexical::top(&corpus.snapshot, &*query, k)?;
    let ids = corpus.snapshot.ids()?;
    let candidate = |(address, bm25)| {
        Ok(Candidate { id: ids.of(address)?, address, bm25: Some(bm25), cosine: None, score: bm25 })
    };
    found.into_iter().map(candidate).collect()
}

fn dense_candidates(corpus: &Opened, vector: &[f32], k: usize, narrow: &Narrow) -> Result<Vec<Candidate>> {
    let accepted = Accepted::of(&corpus.snapshot, &narrow.filters)?;
    let found = dense::top(corpus, FeatureScope::Wide, vector, k, |at| accepted.holds(at))?;
    let ids = corpus.snapshot.ids()?;
    let candidate = |(address, cosine)| {
        Ok(Candidate { id: ids.of(address)?, address, bm25: None, cosine: Some(cosine), score: cosine })
    };
    found.into_iter().map(candidate).collect()
}

/// The union of each method's best, each with both true scores.
fn hybrid_candidates(
    corpus: &Opened,
    text: &str,
    vector: &[f32],
    k: usize,
    narrow: &Narrow,
) -> Result<Vec<Candidate>> {
    let pool = POOL.max(k);
    let mut found: HashMap<DocAddress, Candidate> = HashMap::new();
    // Cut by score and id before the union, so that ties at the pool's edge do not depend on the index's layout.
    let lexical = lexical_candidates(corpus, text, pool, narrow)?;
    let dense = dense_candidates(corpus, vector, pool, narrow)?;
    for mut list in [lexical, dense] {
        list.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
        list.truncate(pool);
        for candidate in list {
            let known = found.entry(candidate.address).or_insert_with(|| Candidate {
                id: candidate.id,
                bm25: None,
                cosine: None,
                ..candidate
            });
            known.bm25 = known.bm25.or(candidate.bm25);
            known.cosine = known.cosine.or(candidate.cosine);
        }
    }
    let mut candidates: Vec<Candidate> = found.into_values().collect();
    let unscored: Vec<DocAddress> =
        candidates.iter().filter(|c| c.bm25.is_none()).map(|c| c.address).collect();
    let scores = match lexical::query(&corpus.snapshot, text, narrow.within) {
        Some(query) => lexical::scores(&corpus.snapshot, &*query, unscored)?,
        None => HashMap::new(),
    };
    for candidate in &mut candidates {
        let bm25 = candidate.bm25.or_else(|| scores.get(&candidate.address).copied()).unwrap_or(0.0);
        candidate.bm25 = Some(bm25);
        if candidate.cosine.is_none() {
            candidate.cosine = Some(dense::cosine(corpus, candidate.address, vector)?);
        }
    }
    let bm25: Vec<f64> = candidates.iter().filter_map(|c| c.bm25).collect();
    let cosine: Vec<f64> = candidates.iter().filter_map(|c| c.cosine).collect();
    for (candidate, score) in candidates.iter_mut().zip(mix(&min_max(&bm25), &min_max(&cosine), BM25_WEIGHT))
    {
        candidate.score = score;
    }
    Ok(candidates)
}

fn hit(corpus: &Opened, rank: usize, candidate: &Candidate) -> Result<CorpusHit> {
    let embedding = if corpus.manifest.dimension > 0 {
        corpus.embedding(FeatureScope::Wide, candidate.address)?.map(<[f32]>::to_vec)
    } else {
        None
    };
    let document = corpus.snapshot.document(candidate.address)?;
    Ok(CorpusHit {
        rank,
        score: candidate.score,
        bm25: candidate.bm25,
        cosine: candidate.cosine,
        document,
        embedding,
    })
}

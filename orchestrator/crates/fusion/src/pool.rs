//! The documents of several ranked lists, each once, with their ranks and codes.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// One ranked list that goes into a blend.
#[derive(Debug, Clone, Copy)]
pub struct Lane<'a> {
    /// Its name for weights and contributions.
    pub name: &'a str,
    /// Its documents, best first. Of a repeated one the first place counts.
    pub docs: &'a RankedDocs,
    /// Most documents taken from it.
    pub limit: usize,
}

/// A ranked list as a run keeps it: documents, the search's own scores, classification codes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RankedDocs {
    /// Document ids, best first.
    pub ids: Vec<String>,
    /// Scores of the search, as many as `ids`; empty, or all 0, where it has none.
    pub scores: Vec<f64>,
    /// The distinct codes of the documents, as `system:code` (`ipc:H01L33/20`).
    pub vocabulary: Vec<String>,
    /// For every document the places of its codes in `vocabulary`, in the document's order; empty when codes are unknown.
    pub codes: Vec<Vec<u32>>,
}

impl RankedDocs {
    /// A list of documents with codes written as `system:code`.
    pub fn new(docs: impl IntoIterator<Item = (String, f64, Vec<String>)>) -> Self {
        let mut list = Self::default();
        let mut known: HashMap<String, u32> = HashMap::new();
        for (id, score, codes) in docs {
            let places = codes
                .into_iter()
                .map(|code| {
                    let next = list.vocabulary.len() as u32;
                    *known.entry(code).or_insert_with_key(|code| {
                        list.vocabulary.push(code.clone());
                        next
                    })
                })
                .collect();
            list.ids.push(id);
            list.scores.push(score);
            list.codes.push(places);
        }
        list
    }

    /// Whether the search gave scores: one finite number per document, not all of them 0. An empty list lacks nothing.
    pub fn is_scored(&self) -> bool {
        self.ids.is_empty()
            || self.scores.len() == self.ids.len()
                && self.scores.iter().all(|score| score.is_finite())
                && self.scores.iter().any(|score| *score != 0.0)
    }

    /// The lowest and the highest score.
    fn least_and_most(&self) -> (f64, f64) {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        self.scores.iter().fold(ends, |(least, most), &score| (least.min(score), most.max(score)))
    }

    /// The codes of the document at this place of the list.
    pub fn codes_of(&self, place: usize) -> impl Iterator<Item = &str> {
        let codes = self.codes.get(place).map(Vec::as_slice).unwrap_or_default();
        codes.iter().filter_map(|&code| self.vocabulary.get(code as usize).map(String::as_str))
    }

    /// In how many of the first `top` documents each code occurs, the most frequent first, then by name.
    pub fn code_counts(&self, top: usize) -> Vec<(&str, usize)> {
        let mut counts = vec![0_usize; self.vocabulary.len()];
        for codes in self.codes.iter().take(top) {
            let mut codes = codes.clone();
            codes.sort_unstable();
            codes.dedup();
            for code in codes {
                if let Some(count) = counts.get_mut(code as usize) {
                    *count += 1;
                }
            }
        }
        let mut counted: Vec<(&str, usize)> =
            self.vocabulary.iter().map(String::as_str).zip(counts).filter(|&(_, count)| count > 0).collect();
        counted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        counted
    }
}

/// Where a score is between the lowest and the highest one, 0 to 1; 1 if they are the same.
fn between(score: f64, (least, most): (f64, f64)) -> f64 {
    if most > least { (score - least) / (most - least) } else { 1.0 }
}

/// Every document of some lanes once. Documents are numbered in the order in which the lanes name them.
#[derive(Debug, Clone)]
pub struct Pool<'a> {
    names: Vec<&'a str>,
    ids: Vec<&'a str>,
    /// Ranks from 1, 0 where the lane does not have the document; one row of lanes per document.
    ranks: Vec<u32>,
    /// Scores from 0 to 1 within each lane, 0 where the lane does not have the document; rows as in `ranks`.
    scores: Vec<f64>,
    is_scored: bool,
    vocabulary: Vec<&'a str>,
    codes: Vec<Vec<u32>>,
}

impl<'a> Pool<'a> {
    /// Brings the lanes together.
    pub fn new(lanes: &[Lane<'a>]) -> Self {
        let width = lanes.len();
        let most = lanes.iter().map(|lane| lane.docs.ids.len().min(lane.limit)).max().unwrap_or(0);
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(most * 2);
        let mut words: HashMap<&str, u32> = HashMap::new();
        let mut pool = Self {
            names: lanes.iter().map(|lane| lane.name).collect(),
            ids: Vec::with_capacity(most * 2),
            ranks: Vec::with_capacity(most * 2 * width),
            scores: Vec::with_capacity(most * 2 * width),
            is_scored: lanes.iter().all(|lane| lane.docs.is_scored()),
            vocabulary: Vec::new(),
            codes: Vec::with_capacity(most * 2),
        };
        for (column, lane) in lanes.iter().enumerate() {
            // The lane's numbers of codes in the pool's numbers.
            let translated: Vec<u32> = lane
                .docs
                .vocabulary
                .iter()
                .map(|code| {
                    let next = pool.vocabulary.len() as u32;
                    *words.entry(code).or_insert_with(|| {
                        pool.vocabulary.push(code);
                        next
                    })
                })
                .collect();
            let least_and_most = lane.docs.least_and_most();
            for (rank, id) in (1_u32..).zip(lane.docs.ids.iter().take(lane.limit)) {
                let place = *places.entry(id).or_insert_with(|| {
                    pool.ids.push(id);
                    pool.ranks.resize(pool.ids.len() * width, 0);
                    pool.scores.resize(pool.ids.len() * width, 0.0);
                    pool.codes.push(Vec::new());
                    pool.ids.len() - 1
                });
                let cell = &mut pool.ranks[place * width + column];
                if *cell == 0 {
                    *cell = rank;
                    let score = lane.docs.scores.get(rank as usize - 1).copied().unwrap_or_default();
                    pool.scores[place * width + column] = between(score, least_and_most);
                }
                if pool.codes[place].is_empty()
                    && let Some(codes) = lane.docs.codes.get(rank as usize - 1)
                {
                    pool.codes[place] =
                        codes.iter().filter_map(|&code| translated.get(code as usize).copied()).collect();
                }
            }
        }
        pool
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether no lane found anything.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The lanes' names.
    pub fn names(&self) -> &[&'a str] {
        &self.names
    }

    /// A document's id.
    pub fn id(&self, doc: usize) -> &'a str {
        self.ids[doc]
    }

    /// A document's rank in every lane, from 1; 0 where a lane does not have it.
    pub fn ranks(&self, doc: usize) -> &[u32] {
        &self.ranks[doc * self.names.len()..][..self.names.len()]
    }

    /// A document's score in every lane from 0 (the lane's lowest, or absent) to 1 (its highest): min-max normalization over
    /// the whole lane. A lane whose scores are all the same gives 1 to each of its documents.
    pub fn scores(&self, doc: usize) -> &[f64] {
        &self.scores[doc * self.names.len()..][..self.names.len()]
    }

    /// Whether every lane has scores.
    pub fn is_scored(&self) -> bool {
        self.is_scored
    }

    /// The distinct codes of all documents, as `system:code`.
    pub fn vocabulary(&self) -> &[&'a str] {
        &self.vocabulary
    }

    /// Places of a document's codes in the vocabulary, in the document's order.
    pub fn codes(&self, doc: usize) -> &[u32] {
        &self.codes[doc]
    }

    /// The codes of a document as text.
    pub fn code_names(&self, doc: usize) -> impl Iterator<Item = &'a str> + '_ {
        self.codes[doc].iter().map(|&code| self.vocabulary[code as usize])
    }
}

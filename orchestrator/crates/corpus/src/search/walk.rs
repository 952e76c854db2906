//! Every match of a query, counted, and the best of them: one walk through the postings, over every core.
//!
//! Counting alone has to read the positions of each document that holds the words of a phrase, so that nothing is gained by
//! passing over documents that cannot be among the best.

use super::dense::best;
use super::lexical::rounded;
use crate::index::Snapshot;
use crate::{CorpusError, Result};
use rayon::prelude::*;
use std::ops::Range;
use tantivy::query::{EnableScoring, Query, Weight};
use tantivy::{DocAddress, DocId, Searcher, SegmentReader, TERMINATED};

/// Documents that one core walks through at least: opening the postings of a truncated word takes time.
const LEAST_PART: u32 = 65_536;
/// Parts for each core, so that a core with easy ones takes more of them.
const PARTS: usize = 2;

/// The best `k` (at least 1) with all that tie with the last of them, in no order, and how many documents match.
pub(super) fn all(snapshot: &Snapshot, query: &dyn Query, k: usize) -> Result<(Vec<(DocAddress, f64)>, u64)> {
    let searcher = &snapshot.searcher;
    let walked = || -> tantivy::Result<Vec<Best>> {
        let weight = query.weight(EnableScoring::enabled_from_searcher(searcher))?;
        let sizes: Vec<u32> = searcher.segment_readers().iter().map(SegmentReader::max_doc).collect();
        let most = part_size(&sizes, rayon::current_num_threads());
        parts(&sizes, most).par_iter().map(|part| walk(&*weight, searcher, part, k)).collect()
    };
    let mut best = Best::of(k);
    walked().map_err(CorpusError::index(&snapshot.name))?.into_iter().for_each(|part| best.join(part));
    Ok(best.end())
}

/// Documents of one segment.
#[derive(Debug, Clone, PartialEq)]
struct Part {
    segment: u32,
    docs: Range<DocId>,
}

/// How many documents a part may have.
fn part_size(sizes: &[u32], cores: usize) -> u32 {
    let all: usize = sizes.iter().map(|size| *size as usize).sum();
    let even = all.div_ceil((cores * PARTS).max(1));
    u32::try_from(even).unwrap_or(u32::MAX).max(LEAST_PART)
}

/// The documents of segments, in parts that are about equal within a segment.
fn parts(sizes: &[u32], most: u32) -> Vec<Part> {
    let mut parts = Vec::new();
    for (segment, &size) in (0..).zip(sizes) {
        let count = size.div_ceil(most);
        let at = |nth: u32| (u64::from(size) * u64::from(nth) / u64::from(count)) as DocId;
        parts.extend((0..count).map(|nth| Part { segment, docs: at(nth)..at(nth + 1) }));
    }
    parts
}

fn walk(weight: &dyn Weight, searcher: &Searcher, part: &Part, k: usize) -> tantivy::Result<Best> {
    let reader = searcher.segment_reader(part.segment);
    let mut scorer = weight.scorer(reader, 1.0)?;
    if scorer.doc() < part.docs.start {
        scorer.seek(part.docs.start);
    }
    let mut best = Best::of(k);
    let alive = reader.alive_bitset();
    loop {
        let doc = scorer.doc();
        if doc == TERMINATED || doc >= part.docs.end {
            return Ok(best);
        }
        if alive.is_none_or(|alive| alive.is_alive(doc)) {
            best.add(DocAddress::new(part.segment, doc), scorer.score());
        }
        scorer.advance();
    }
}

/// The highest scores so far, and how many there were.
struct Best {
    k: usize,
    found: Vec<(DocAddress, f64)>,
    total: u64,
    /// Lower scores are not among the best.
    least: f64,
    /// So many are kept before they are cut.
    room: usize,
}

impl Best {
    fn of(k: usize) -> Self {
        Self { k, found: Vec::new(), total: 0, least: f64::NEG_INFINITY, room: 2 * k + 64 }
    }

    fn add(&mut self, at: DocAddress, score: f32) {
        self.total += 1;
        let score = rounded(score);
        if score < self.least {
            return;
        }
        self.found.push((at, score));
        if self.found.len() >= self.room {
            self.cut();
            self.room = 2 * self.found.len() + 64;
        }
    }

    fn join(&mut self, other: Self) {
        self.total += other.total;
        self.found.extend(other.found);
    }

    fn end(mut self) -> (Vec<(DocAddress, f64)>, u64) {
        self.cut();
        (self.found, self.total)
    }

    fn cut(&mut self) {
        if self.found.len() > self.k {
            self.found = best(std::mem::take(&mut self.found), self.k);
            self.least = self.found.iter().map(|(_, score)| *score).fold(f64::INFINITY, f64::min);
        }
    }
}

#[cfg(test)]
mod tests;

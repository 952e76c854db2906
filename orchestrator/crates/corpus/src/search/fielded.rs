//! BM25F: a word, phrase or proximity looked for in several fields and scored once.
//!
//! Occurrences are weighed by their field and added up before they saturate, so that a word in the title is worth many
//! in the description, and yet none counts more than idf·(k1 + 1). A sum of BM25 over fields, each times its weight,
//! would let the heaviest field decide alone: on SciFact's training queries the preset `wide` (80/10/5/1) has an
//! nDCG@10 of 0.703 this way, and 0.520 by such a sum.
//!
//! `tf = Σ_f w_f·n_f / (1 − b + b·len_f/avglen_f)`, `score = idf · tf·(k1 + 1) / (k1 + tf)` (Zaragoza et al., TREC 2004;
//! Robertson & Zaragoza 2009, section 3.6.1), k1 = 1.2, b = 0.75, Lucene's idf with the document frequency of the field
//! that has the word most often. The weights are scaled so that they leave the average length of a document as it is
//! (Robertson, Zaragoza & Taylor 2004), for only then does k1 mean what it means in BM25: with one field, or with equal
//! weights and equal lengths, this is BM25.

use super::cursor::Cursor;
use super::near::{Near, Places, Terms};
use crate::index::LaneField;
use std::sync::Arc;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::query::{Bm25StatisticsProvider, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError};

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// What is looked for, in fields with their weights (> 0).
#[derive(Debug, Clone)]
pub(super) struct FieldedQuery {
    fields: Vec<(LaneField, f32)>,
    near: Near,
}

impl FieldedQuery {
    pub(super) fn new(fields: Vec<(LaneField, f32)>, near: Near) -> Self {
        Self { fields, near }
    }

    /// The sum of the idf of the words that weigh.
    fn idf(&self, statistics: &dyn Bm25StatisticsProvider) -> tantivy::Result<f64> {
        let all = statistics.total_num_docs()?;
        let documents = all as f64;
        let frequency = |terms: &Terms| -> tantivy::Result<u64> {
            let mut most = 0;
            for (field, _) in &self.fields {
                most = most.max(terms.frequency(*field, |term| statistics.doc_freq(term))?);
            }
            Ok(most.min(all))
        };
        let frequencies = self.near.weighing(frequency)?;
        let idf = |n: u64| (1.0 + (documents - n as f64 + 0.5) / (n as f64 + 0.5)).ln();
        Ok(frequencies.into_iter().map(idf).sum())
    }

    /// What one occurrence counts, by field and by the length of the field in its document (the index's 256 lengths).
    fn counts(&self, statistics: &dyn Bm25StatisticsProvider) -> tantivy::Result<Vec<Arc<[Score]>>> {
        let documents = statistics.total_num_docs()?.max(1) as f64;
        let mut averages = Vec::with_capacity(self.fields.len());
        for (field, weight) in &self.fields {
            averages.push((f64::from(*weight), statistics.total_num_tokens(field.terms)? as f64 / documents));
        }
        let plain: f64 = averages.iter().map(|(_, average)| average).sum();
        let weighed: f64 = averages.iter().map(|(weight, average)| weight * average).sum();
        let scale = if weighed > 0.0 { plain / weighed } else { 1.0 };
        let table = |(weight, average): (f64, f64)| {
            let count = |id| {
                let length = f64::from(FieldNormReader::id_to_fieldnorm(id));
                // Without a single word in the field there is no occurrence to count either.
                let relative = if average > 0.0 { length / average } else { 1.0 };
                (scale * weight / (1.0 - B + B * relative)) as Score
            };
            (0..=u8::MAX).map(count).collect()
        };
        Ok(averages.into_iter().map(table).collect())
    }
}

impl Query for FieldedQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let similarity = match &scoring {
            EnableScoring::Enabled { statistics_provider, .. } => Some(Similarity {
                factor: (self.idf(*statistics_provider)? * (K1 + 1.0)) as Score,
                counts: self.counts(*statistics_provider)?,
            }),
            EnableScoring::Disabled { .. } => None,
        };
        Ok(Box::new(FieldedWeight { query: self.clone(), similarity }))
    }
}

struct Similarity {
    /// idf·(k1 + 1)
    factor: Score,
    counts: Vec<Arc<[Score]>>,
}

struct FieldedWeight {
    query: FieldedQuery,
    similarity: Option<Similarity>,
}

impl FieldedWeight {
    fn fielded_scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<FieldedScorer> {
        let mut fields = Vec::with_capacity(self.query.fields.len());
        for (nth, (field, _)) in self.query.fields.iter().enumerate() {
            let occurrences = if let Some(word) = self.query.near.word() {
                let Some(found) = word.open(*field, reader, IndexRecordOption::WithFreqs)? else { continue };
                Occurrences::Word(found)
            } else {
                Occurrences::Places(self.query.near.places(*field, reader)?)
            };
            fields.push(InField { occurrences, weighing: self.weighing(nth, reader)? });
        }
        let factor = self.similarity.as_ref().map(|similarity| similarity.factor * boost);
        let mut scorer = FieldedScorer { fields, factor, doc: 0 };
        scorer.settle();
        Ok(scorer)
    }

    fn weighing(&self, nth: usize, reader: &SegmentReader) -> tantivy::Result<Weighing> {
        let (field, _) = self.query.fields[nth];
        Ok(Weighing {
            lengths: reader.get_fieldnorms_reader(field.terms)?,
            counts: self.similarity.as_ref().and_then(|similarity| similarity.counts.get(nth).cloned()),
        })
    }
}

impl Weight for FieldedWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(self.fielded_scorer(reader, boost)?))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self.fielded_scorer(reader, 1.0)?;
        if scorer.doc() > doc || scorer.seek(doc) != doc {
            return Err(TantivyError::InvalidArgument(format!("document {doc} does not match")));
        }
        Ok(Explanation::new("BM25F", scorer.score()))
    }
}

/// The documents of one field, with how often each matches.
enum Occurrences {
    Word(Cursor),
    Places(Places),
}

impl Occurrences {
    fn doc(&self) -> DocId {
        match self {
            Self::Word(postings) => postings.doc(),
            Self::Places(places) => places.doc(),
        }
    }

    fn advance(&mut self) {
        match self {
            Self::Word(postings) => postings.advance(),
            Self::Places(places) => places.advance(),
        };
    }

    fn seek(&mut self, target: DocId) {
        if self.doc() < target {
            match self {
                Self::Word(postings) => postings.seek(target),
                Self::Places(places) => places.seek(target),
            };
        }
    }

    fn count(&self) -> u32 {
        match self {
            Self::Word(postings) => postings.frequency(),
            Self::Places(places) => places.count(),
        }
    }

    fn size_hint(&self) -> u32 {
        match self {
            Self::Word(postings) => postings.size_hint(),
            Self::Places(places) => places.size_hint(),
        }
    }
}

struct InField {
    occurrences: Occurrences,
    weighing: Weighing,
}

/// What the occurrences in a field count.
struct Weighing {
    lengths: FieldNormReader,
    /// What one counts, by the length's id; `None` when nothing is scored.
    counts: Option<Arc<[Score]>>,
}

impl Weighing {
    fn of(&self, doc: DocId, occurrences: u32) -> Score {
        let length = self.lengths.fieldnorm_id(doc);
        let count = self.counts.as_ref().and_then(|counts| counts.get(usize::from(length)).copied());
        count.unwrap_or(0.0) * occurrences as Score
    }
}

/// The score of so many weighed occurrences.
fn saturated(factor: Score, frequency: Score) -> Score {
    factor * frequency / (K1 as Score + frequency)
}

struct FieldedScorer {
    fields: Vec<InField>,
    factor: Option<Score>,
    /// The first of the fields' documents.
    doc: DocId,
}

impl FieldedScorer {
    fn settle(&mut self) -> DocId {
        let docs = self.fields.iter().map(|field| field.occurrences.doc());
        self.doc = docs.min().unwrap_or(TERMINATED);
        self.doc
    }
}

impl DocSet for FieldedScorer {
    fn advance(&mut self) -> DocId {
        let doc = self.doc;
        if doc == TERMINATED {
            return TERMINATED;
        }
        for field in self.fields.iter_mut().filter(|field| field.occurrences.doc() == doc) {
            field.occurrences.advance();
        }
        self.settle()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        for field in &mut self.fields {
            field.occurrences.seek(target);
        }
        self.settle()
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        self.fields.iter().map(|field| field.occurrences.size_hint()).fold(0, u32::saturating_add)
    }
}

impl Scorer for FieldedScorer {
    fn score(&mut self) -> Score {
        let Some(factor) = self.factor else { return 1.0 };
        let mut frequency = 0.0;
        for field in self.fields.iter().filter(|field| field.occurrences.doc() == self.doc) {
            frequency += field.weighing.of(self.doc, field.occurrences.count());
        }
        saturated(factor, frequency)
    }
}

#[cfg(test)]
mod tests;

//! Proximity over the positions of the index: tantivy finds the documents that hold all words, and each is checked
//! exactly, with the function that also checks texts in memory.

use lyra_text::fulltext::Pattern;
use lyra_text::{Span, near};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{
    Bm25StatisticsProvider, Bm25Weight, BooleanQuery, ConstScoreQuery, EnableScoring, Explanation, Occur,
    Query, Scorer, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError, Term};

/// One occurrence of each group near the others, in one field.
#[derive(Debug, Clone)]
pub(super) struct NearQuery {
    field: Field,
    groups: Vec<Vec<Pattern>>,
    distance: u32,
    ordered: bool,
}

impl NearQuery {
    /// Words without letters, which the query's parser refuses, are nowhere.
    pub(super) fn new(field: Field, groups: &[Vec<String>], distance: u32, ordered: bool) -> Self {
        let patterns = |group: &Vec<String>| {
            group.iter().map(|word| Pattern::of(word)).filter(|pattern| !pattern.is_empty()).collect()
        };
        Self { field, groups: groups.iter().map(patterns).collect(), distance, ordered }
    }

    /// Documents with a word of every group, wherever.
    fn candidates(&self) -> BooleanQuery {
        let group = |group: &Vec<Pattern>| -> (Occur, Box<dyn Query>) {
            let words = group.iter().filter_map(|word| super::lane::pattern(self.field, word));
            (Occur::Must, Box::new(BooleanQuery::new(words.map(|word| (Occur::Should, word)).collect())))
        };
        BooleanQuery::new(self.groups.iter().map(group).collect())
    }

    fn term(&self, text: &str) -> Term {
        Term::from_field_text(self.field, text)
    }

    /// The terms that weigh: of each group its most frequent alternative's, so that a rare synonym does not make a
    /// match with the usual word look rare.
    fn weighing(&self, statistics: &dyn Bm25StatisticsProvider) -> tantivy::Result<Vec<Term>> {
        let mut weighing = Vec::new();
        for group in &self.groups {
            let mut usual: Option<(u64, Vec<Term>)> = None;
            for pattern in group {
                let terms: Vec<Term> = pattern.parts.iter().map(|(_, text)| self.term(text)).collect();
                let mut documents = u64::MAX;
                for term in &terms {
                    documents = documents.min(statistics.doc_freq(term)?);
                }
                if usual.as_ref().is_none_or(|(most, _)| documents > *most) {
                    usual = Some((documents, terms));
                }
            }
            weighing.extend(usual.into_iter().flat_map(|(_, terms)| terms));
        }
        Ok(weighing)
    }
}

impl Query for NearQuery {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let similarity = match &scoring {
            EnableScoring::Enabled { statistics_provider, .. } => {
                let terms = self.weighing(*statistics_provider)?;
                if terms.is_empty() {
                    None
                } else {
                    Some(Bm25Weight::for_terms(*statistics_provider, &terms)?)
                }
            }
            EnableScoring::Disabled { .. } => None,
        };
        let candidates = ConstScoreQuery::new(Box::new(self.candidates()), 0.0).weight(scoring)?;
        Ok(Box::new(NearWeight { query: self.clone(), candidates, similarity }))
    }
}

struct NearWeight {
    query: NearQuery,
    candidates: Box<dyn Weight>,
    similarity: Option<Bm25Weight>,
}

impl NearWeight {
    fn near_scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<NearScorer> {
        let inverted = reader.inverted_index(self.query.field)?;
        let mut texts: Vec<&str> = Vec::new();
        let mut postings: Vec<Reader> = Vec::new();
        let mut groups = Vec::with_capacity(self.query.groups.len());
        for group in &self.query.groups {
            let mut alternatives = Vec::with_capacity(group.len());
            'pattern: for pattern in group {
                let mut parts = Vec::with_capacity(pattern.parts.len());
                for (offset, text) in &pattern.parts {
                    let nth = if let Some(nth) = texts.iter().position(|known| known == text) {
                        nth
                    } else {
                        let term = self.query.term(text);
                        let found =
                            inverted.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)?;
                        // A word that this segment does not have.
                        let Some(found) = found else { continue 'pattern };
                        texts.push(text);
                        postings.push(Reader { postings: found, positions: Vec::new(), of: None });
                        postings.len() - 1
                    };
                    parts.push((*offset, nth));
                }
                alternatives.push(Alternative { parts, width: pattern.width });
            }
            groups.push(alternatives);
        }
        let mut scorer = NearScorer {
            candidates: self.candidates.scorer(reader, 1.0)?,
            postings,
            groups,
            distance: self.query.distance,
            ordered: self.query.ordered,
            lengths: reader.get_fieldnorms_reader(self.query.field)?,
            similarity: self.similarity.as_ref().map(|weight| weight.boost_by(boost)),
            count: 0,
        };
        let first = scorer.candidates.doc();
        scorer.settle(first);
        Ok(scorer)
    }
}

impl Weight for NearWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(self.near_scorer(reader, boost)?))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let mut scorer = self.near_scorer(reader, 1.0)?;
        if scorer.doc() > doc || scorer.seek(doc) != doc {
            return Err(TantivyError::InvalidArgument(format!("document {doc} does not match")));
        }
        Ok(Explanation::new("proximity", scorer.score()))
    }
}

/// A word: terms at offsets, by their place among the scorer's postings.
struct Alternative {
    parts: Vec<(u32, usize)>,
    width: u32,
}

/// Postings of a term, with its positions in one document.
struct Reader {
    postings: SegmentPostings,
    positions: Vec<u32>,
    of: Option<DocId>,
}

impl Reader {
    /// Goes to a document, which is not before the last one, and reads the positions there; none when it lacks the term.
    fn read(&mut self, doc: DocId) {
        if self.of == Some(doc) {
            return;
        }
        self.of = Some(doc);
        if self.postings.doc() < doc {
            self.postings.seek(doc);
        }
        if self.postings.doc() == doc {
            self.postings.positions(&mut self.positions);
        } else {
            self.positions.clear();
        }
    }
}

struct NearScorer {
    candidates: Box<dyn Scorer>,
    postings: Vec<Reader>,
    groups: Vec<Vec<Alternative>>,
    distance: u32,
    ordered: bool,
    lengths: FieldNormReader,
    similarity: Option<Bm25Weight>,
    /// Places in the current document.
    count: u32,
}

impl NearScorer {
    /// From a candidate to the first document that matches.
    fn settle(&mut self, mut doc: DocId) -> DocId {
        while doc != TERMINATED {
            self.count = self.places(doc);
            if self.count > 0 {
                break;
            }
            doc = self.candidates.advance();
        }
        doc
    }

    fn places(&mut self, doc: DocId) -> u32 {
        let mut groups: Vec<Vec<Span>> = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let mut spans = Vec::new();
            for alternative in group {
                for (_, nth) in &alternative.parts {
                    self.postings[*nth].read(doc);
                }
                let Some(((_, first), others)) = alternative.parts.split_first() else { continue };
                let starts = self.postings[*first].positions.iter().copied();
                let whole = |start: u32| {
                    let at = |(offset, nth): &(u32, usize)| {
                        self.postings[*nth].positions.binary_search(&(start + offset)).is_ok()
                    };
                    others.iter().all(at)
                };
                let span = |start| Span { start, end: start + alternative.width };
                spans.extend(starts.filter(|start| whole(*start)).map(span));
            }
            groups.push(spans);
        }
        near(&groups, self.distance, self.ordered).len() as u32
    }
}

impl DocSet for NearScorer {
    fn advance(&mut self) -> DocId {
        let next = self.candidates.advance();
        self.settle(next)
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc() >= target {
            return self.doc();
        }
        let next = self.candidates.seek(target);
        self.settle(next)
    }

    fn doc(&self) -> DocId {
        self.candidates.doc()
    }

    fn size_hint(&self) -> u32 {
        self.candidates.size_hint()
    }
}

impl Scorer for NearScorer {
    fn score(&mut self) -> Score {
        let length = self.lengths.fieldnorm_id(self.doc());
        self.similarity.as_ref().map_or(1.0, |weight| weight.score(length, self.count))
    }
}

//! Words, phrases and proximity over the positions of one field: tantivy finds the documents that hold all words, and
//! each is checked exactly, with the function that also checks texts in memory.

use lyra_text::fulltext::Pattern;
use lyra_text::{Span, near};
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{BooleanQuery, ConstScoreQuery, Occur, Query, Scorer, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

/// One occurrence of each group near the others; with a single group, an occurrence of one of its patterns.
#[derive(Debug, Clone)]
pub(super) struct Near {
    groups: Vec<Vec<Pattern>>,
    distance: u32,
    ordered: bool,
}

impl Near {
    /// A word or phrase, `None` when there is nothing to look for.
    pub(super) fn exactly(text: &str) -> Option<Self> {
        let pattern = Pattern::of(text);
        (!pattern.is_empty()).then(|| Self { groups: vec![vec![pattern]], distance: 0, ordered: true })
    }

    /// Words without letters, which the query's parser refuses, are nowhere.
    pub(super) fn new(groups: &[Vec<String>], distance: u32, ordered: bool) -> Self {
        let patterns = |group: &Vec<String>| {
            group.iter().map(|word| Pattern::of(word)).filter(|pattern| !pattern.is_empty()).collect()
        };
        Self { groups: groups.iter().map(patterns).collect(), distance, ordered }
    }

    /// The term, where a single one is all that is looked for.
    pub(super) fn word(&self) -> Option<&str> {
        match self.pattern()?.parts.as_slice() {
            [(_, term)] => Some(term),
            _ => None,
        }
    }

    fn pattern(&self) -> Option<&Pattern> {
        match self.groups.as_slice() {
            [group] => match group.as_slice() {
                [pattern] => Some(pattern),
                _ => None,
            },
            _ => None,
        }
    }

    /// Documents with all terms of a pattern of every group, wherever in the field.
    pub(super) fn candidates(&self, field: Field) -> ConstScoreQuery {
        let term = |text: &str| -> Box<dyn Query> {
            Box::new(TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::Basic))
        };
        let all = |pattern: &Pattern| -> Box<dyn Query> {
            match pattern.parts.as_slice() {
                [(_, text)] => term(text),
                parts => Box::new(BooleanQuery::new(
                    parts.iter().map(|(_, text)| (Occur::Must, term(text))).collect(),
                )),
            }
        };
        let group = |group: &Vec<Pattern>| -> (Occur, Box<dyn Query>) {
            let any = group.iter().map(|pattern| (Occur::Should, all(pattern))).collect();
            (Occur::Must, Box::new(BooleanQuery::new(any)))
        };
        let query = match self.pattern() {
            Some(pattern) => all(pattern),
            None => Box::new(BooleanQuery::new(self.groups.iter().map(group).collect())),
        };
        ConstScoreQuery::new(query, 0.0)
    }

    /// The document frequencies of the terms that weigh: of each group its most frequent alternative's, so that a rare
    /// synonym does not make a match with the usual word look rare.
    pub(super) fn weighing<E>(&self, frequency: impl Fn(&str) -> Result<u64, E>) -> Result<Vec<u64>, E> {
        let mut weighing = Vec::new();
        for group in &self.groups {
            let mut usual: Vec<u64> = Vec::new();
            for pattern in group {
                let of = pattern.parts.iter().map(|(_, text)| frequency(text));
                let of = of.collect::<Result<Vec<u64>, E>>()?;
                if usual.is_empty() || of.iter().min() > usual.iter().min() {
                    usual = of;
                }
            }
            weighing.extend(usual);
        }
        Ok(weighing)
    }

    /// The places in a field of a segment.
    pub(super) fn places(
        &self,
        field: Field,
        candidates: Box<dyn Scorer>,
        reader: &SegmentReader,
    ) -> tantivy::Result<Places> {
        let inverted = reader.inverted_index(field)?;
        let mut texts: Vec<&str> = Vec::new();
        let mut postings: Vec<Reader> = Vec::new();
        let mut groups = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let mut alternatives = Vec::with_capacity(group.len());
            'pattern: for pattern in group {
                let mut parts = Vec::with_capacity(pattern.parts.len());
                for (offset, text) in &pattern.parts {
                    let nth = if let Some(nth) = texts.iter().position(|known| known == text) {
                        nth
                    } else {
                        let term = Term::from_field_text(field, text);
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
        let first = candidates.doc();
        let mut places = Places {
            candidates,
            postings,
            groups,
            single: self.pattern().is_some(),
            distance: self.distance,
            ordered: self.ordered,
            count: 0,
        };
        places.settle(first);
        Ok(places)
    }
}

/// A word: terms at offsets, by their place among the postings.
struct Alternative {
    parts: Vec<(u32, usize)>,
    width: u32,
}

impl Alternative {
    /// Where it begins in the document that the postings were read for.
    fn starts<'a>(&'a self, postings: &'a [Reader]) -> impl Iterator<Item = u32> + 'a {
        let positions = move |nth: usize| postings[nth].positions.as_slice();
        // The part with the fewest occurrences tells where to look for the others.
        let rarest = self.parts.iter().min_by_key(|(_, nth)| positions(*nth).len());
        let starts = rarest.into_iter().flat_map(move |(offset, nth)| {
            positions(*nth).iter().filter_map(move |position| position.checked_sub(*offset))
        });
        starts.filter(move |start| {
            self.parts.iter().all(|(offset, nth)| positions(*nth).binary_search(&(start + offset)).is_ok())
        })
    }
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

/// Documents with at least one place that matches.
pub(super) struct Places {
    candidates: Box<dyn Scorer>,
    postings: Vec<Reader>,
    groups: Vec<Vec<Alternative>>,
    /// Whether one pattern is all that is looked for: then its occurrences are the places.
    single: bool,
    distance: u32,
    ordered: bool,
    /// Places in the current document.
    count: u32,
}

impl Places {
    /// Places in the current document.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// From a candidate to the first document that matches.
    fn settle(&mut self, mut doc: DocId) -> DocId {
        while doc != TERMINATED {
            self.count = self.matches(doc);
            if self.count > 0 {
                break;
            }
            doc = self.candidates.advance();
        }
        doc
    }

    fn matches(&mut self, doc: DocId) -> u32 {
        for (_, nth) in self.groups.iter().flatten().flat_map(|alternative| &alternative.parts) {
            self.postings[*nth].read(doc);
        }
        if self.single {
            let starts = self.groups.iter().flatten().flat_map(|pattern| pattern.starts(&self.postings));
            return starts.count() as u32;
        }
        let spans = |alternative: &'_ Alternative| -> Vec<Span> {
            let span = |start| Span { start, end: start + alternative.width };
            alternative.starts(&self.postings).map(span).collect()
        };
        let groups: Vec<Vec<Span>> =
            self.groups.iter().map(|group| group.iter().flat_map(spans).collect()).collect();
        near(&groups, self.distance, self.ordered).len() as u32
    }
}

impl DocSet for Places {
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

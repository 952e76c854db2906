//! A walk through the documents of one term, or of any of several.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::{DocId, DocSet, TERMINATED};

/// Where one of some terms stands.
pub(super) enum Cursor {
    One(Box<SegmentPostings>),
    Any(Box<Union>),
}

impl Cursor {
    pub(super) fn one(postings: SegmentPostings) -> Self {
        Self::One(Box::new(postings))
    }

    /// `None` without any term.
    pub(super) fn any(mut postings: Vec<SegmentPostings>) -> Option<Self> {
        match (postings.len(), postings.pop()) {
            (_, None) => None,
            (1, Some(one)) => Some(Self::one(one)),
            (_, Some(last)) => {
                postings.push(last);
                Some(Self::Any(Box::new(Union::of(postings))))
            }
        }
    }

    pub(super) fn doc(&self) -> DocId {
        match self {
            Self::One(postings) => postings.doc(),
            Self::Any(union) => union.doc,
        }
    }

    pub(super) fn advance(&mut self) -> DocId {
        match self {
            Self::One(postings) => postings.advance(),
            Self::Any(union) => union.seek(union.doc.saturating_add(1)),
        }
    }

    /// The first document from `target` on; the current one if it is not before.
    pub(super) fn seek(&mut self, target: DocId) -> DocId {
        match self {
            Self::One(postings) if postings.doc() >= target => postings.doc(),
            Self::One(postings) => postings.seek(target),
            Self::Any(union) => union.seek(target),
        }
    }

    /// Occurrences in the current document.
    pub(super) fn frequency(&self) -> u32 {
        match self {
            Self::One(postings) => postings.term_freq(),
            Self::Any(union) => {
                union.here.iter().map(|nth| union.postings[*nth].term_freq()).fold(0, u32::saturating_add)
            }
        }
    }

    /// Positions in the current document, ascending.
    pub(super) fn positions(&mut self, positions: &mut Vec<u32>) {
        match self {
            Self::One(postings) => postings.positions(positions),
            Self::Any(union) => {
                positions.clear();
                for nth in &union.here {
                    union.postings[*nth].append_positions_with_offset(0, positions);
                }
                positions.sort_unstable();
            }
        }
    }

    /// At most so many documents.
    pub(super) fn size_hint(&self) -> u32 {
        match self {
            Self::One(postings) => postings.size_hint(),
            Self::Any(union) => union.postings.iter().map(DocSet::size_hint).fold(0, u32::saturating_add),
        }
    }
}

/// Several terms at once, by the document that comes next.
pub(super) struct Union {
    postings: Vec<SegmentPostings>,
    /// Those beyond the current document.
    ahead: BinaryHeap<Reverse<(DocId, usize)>>,
    /// Those in the current document.
    here: Vec<usize>,
    doc: DocId,
}

impl Union {
    fn of(postings: Vec<SegmentPostings>) -> Self {
        let ahead =
            postings.iter().enumerate().map(|(nth, postings)| Reverse((postings.doc(), nth))).collect();
        let mut union = Self { postings, ahead, here: Vec::new(), doc: 0 };
        union.settle();
        union
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc >= target {
            return self.doc;
        }
        for nth in std::mem::take(&mut self.here) {
            self.push(nth, target);
        }
        while let Some(Reverse((doc, nth))) = self.ahead.peek().copied()
            && doc < target
        {
            self.ahead.pop();
            self.push(nth, target);
        }
        self.settle()
    }

    /// Puts a term behind the current document back, at its first document from `target` on.
    fn push(&mut self, nth: usize, target: DocId) {
        let doc = self.postings[nth].seek(target);
        if doc != TERMINATED {
            self.ahead.push(Reverse((doc, nth)));
        }
    }

    fn settle(&mut self) -> DocId {
        self.doc = self.ahead.peek().map_or(TERMINATED, |Reverse((doc, _))| *doc);
        while let Some(Reverse((doc, nth))) = self.ahead.peek().copied()
            && doc == self.doc
            && doc != TERMINATED
        {
            self.ahead.pop();
            self.here.push(nth);
        }
        self.doc
    }
}

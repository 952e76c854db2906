//! Words, phrases and proximity over the positions of one field: each document that holds all words is checked exactly,
//! with the function that also checks texts in memory.

use super::cursor::Cursor;
use super::truncated::Expansion;
use crate::index::LaneField;
use lyra_text::fulltext::{self, Part};
use lyra_text::{Span, Wildcard, near};
use std::sync::Arc;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

/// One occurrence of each group near the others; with a single group, an occurrence of one of its patterns.
#[derive(Debug, Clone)]
pub(super) struct Near {
    groups: Vec<Vec<Pattern>>,
    distance: u32,
    ordered: bool,
}

/// Terms at fixed distances.
#[derive(Debug, Clone)]
struct Pattern {
    parts: Vec<(u32, Terms)>,
    width: u32,
}

/// What may stand at one place.
#[derive(Debug, Clone)]
pub(super) enum Terms {
    Term(String),
    Written(String),
    Truncated(Arc<Expansion>),
}

impl Near {
    /// Patterns as they are asked for; empty ones are nowhere. `expand` looks truncated words up.
    pub(super) fn new<E>(
        groups: Vec<Vec<fulltext::Pattern>>,
        distance: u32,
        ordered: bool,
        mut expand: impl FnMut(&Wildcard) -> Result<Expansion, E>,
    ) -> Result<Self, E> {
        let mut pattern = |pattern: fulltext::Pattern| {
            let mut parts = Vec::with_capacity(pattern.parts.len());
            for (offset, part) in pattern.parts {
                let terms = match part {
                    Part::Term(text) => Terms::Term(text),
                    Part::Written(text) => Terms::Written(text),
                    Part::Wildcard(wildcard) => Terms::Truncated(Arc::new(expand(&wildcard)?)),
                };
                parts.push((offset, terms));
            }
            Ok(Pattern { parts, width: pattern.width })
        };
        let mut patterns = |group: Vec<fulltext::Pattern>| {
            group.into_iter().filter(|of| !of.is_empty()).map(&mut pattern).collect::<Result<Vec<_>, E>>()
        };
        let groups = groups.into_iter().map(&mut patterns).collect::<Result<_, E>>()?;
        Ok(Self { groups, distance, ordered })
    }

    /// What is looked for, where it takes one place only.
    pub(super) fn word(&self) -> Option<&Terms> {
        match self.pattern()?.parts.as_slice() {
            [(_, terms)] => Some(terms),
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

    /// The document frequencies of the terms that weigh: of each group its most frequent alternative's, so that a rare
    /// synonym does not make a match with the usual word look rare.
    pub(super) fn weighing<E>(&self, frequency: impl Fn(&Terms) -> Result<u64, E>) -> Result<Vec<u64>, E> {
        let mut weighing = Vec::new();
        for group in &self.groups {
            let mut usual: Vec<u64> = Vec::new();
            for pattern in group {
                let of = pattern.parts.iter().map(|(_, terms)| frequency(terms));
                let of = of.collect::<Result<Vec<u64>, E>>()?;
                if usual.is_empty() || of.iter().min() > usual.iter().min() {
                    usual = of;
                }
            }
            weighing.extend(usual);
        }
        Ok(weighing)
    }

    /// The documents of a segment that match in a field.
    pub(super) fn places(&self, field: LaneField, reader: &SegmentReader) -> tantivy::Result<Places> {
        let mut groups = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let mut runs = Vec::with_capacity(group.len());
            for pattern in group {
                runs.extend(Run::open(pattern, field, reader)?);
            }
            groups.push(Group::of(runs));
        }
        let (single, distance, ordered) = (self.pattern().is_some(), self.distance, self.ordered);
        let mut candidates = Candidates { groups, single, distance, ordered, doc: 0, starts: Vec::new() };
        candidates.seek(0);
        Ok(Places::of(candidates))
    }
}

impl Terms {
    /// The field that has them.
    fn field(&self, field: LaneField) -> Field {
        match self {
            Self::Term(_) => field.terms,
            Self::Written(_) | Self::Truncated(_) => field.written,
        }
    }

    /// How many documents have one.
    pub(super) fn frequency<E>(
        &self,
        field: LaneField,
        of: impl Fn(&Term) -> Result<u64, E>,
    ) -> Result<u64, E> {
        match self {
            Self::Term(text) | Self::Written(text) => of(&Term::from_field_text(self.field(field), text)),
            Self::Truncated(expansion) => Ok(expansion.frequency(field.written)),
        }
    }

    /// Where they stand in a segment, `None` where they do not.
    pub(super) fn open(
        &self,
        field: LaneField,
        reader: &SegmentReader,
        record: IndexRecordOption,
    ) -> tantivy::Result<Option<Cursor>> {
        let own = self.field(field);
        let inverted = reader.inverted_index(own)?;
        match self {
            Self::Term(text) | Self::Written(text) => {
                let found = inverted.read_postings(&Term::from_field_text(own, text), record)?;
                Ok(found.map(Cursor::one))
            }
            Self::Truncated(expansion) => {
                let places = expansion.places(own, reader.segment_id());
                let open = |info| inverted.read_postings_from_terminfo(info, record);
                let postings = places.iter().map(open).collect::<std::io::Result<Vec<_>>>()?;
                Ok(Cursor::any(postings))
            }
        }
    }
}

/// The documents that hold all terms of a pattern.
struct Run {
    /// The rarest first.
    parts: Vec<Place>,
    width: u32,
    doc: DocId,
}

struct Place {
    offset: u32,
    cursor: Cursor,
    positions: Vec<u32>,
}

impl Run {
    /// `None` where a segment lacks one of the terms.
    fn open(pattern: &Pattern, field: LaneField, reader: &SegmentReader) -> tantivy::Result<Option<Self>> {
        let mut parts = Vec::with_capacity(pattern.parts.len());
        for (offset, terms) in &pattern.parts {
            let found = terms.open(field, reader, IndexRecordOption::WithFreqsAndPositions)?;
            let Some(cursor) = found else { return Ok(None) };
            parts.push(Place { offset: *offset, cursor, positions: Vec::new() });
        }
        parts.sort_by_key(|part| part.cursor.size_hint());
        let mut run = Self { parts, width: pattern.width, doc: 0 };
        run.seek(0);
        Ok(Some(run))
    }

    /// The first document from `target` on with all terms.
    fn seek(&mut self, target: DocId) -> DocId {
        self.doc = meet(&mut self.parts, target, |part, target| part.cursor.seek(target));
        self.doc
    }

    /// Where it begins in the current document, ascending, in `starts`.
    fn starts(&mut self, starts: &mut Vec<u32>) {
        starts.clear();
        let Some((first, others)) = self.parts.split_first_mut() else { return };
        first.read();
        starts.extend(first.positions.iter().filter_map(|position| position.checked_sub(first.offset)));
        for other in others {
            if starts.is_empty() {
                return;
            }
            other.read();
            // Both lists ascend.
            let mut at = other.positions.iter().copied().peekable();
            starts.retain(|start| {
                let wanted = start + other.offset;
                while at.next_if(|position| *position < wanted).is_some() {}
                at.peek() == Some(&wanted)
            });
        }
    }

    fn size_hint(&self) -> u32 {
        self.parts.first().map_or(0, |part| part.cursor.size_hint())
    }
}

impl Place {
    fn read(&mut self) {
        self.cursor.positions(&mut self.positions);
    }
}

/// The documents with one of several patterns.
struct Group {
    runs: Vec<Run>,
    doc: DocId,
}

impl Group {
    fn of(runs: Vec<Run>) -> Self {
        let mut group = Self { runs, doc: 0 };
        group.settle();
        group
    }

    fn settle(&mut self) -> DocId {
        self.doc = self.runs.iter().map(|run| run.doc).min().unwrap_or(TERMINATED);
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc < target {
            for run in self.runs.iter_mut().filter(|run| run.doc < target) {
                run.seek(target);
            }
            self.settle();
        }
        self.doc
    }

    fn spans(&mut self, starts: &mut Vec<u32>) -> Vec<Span> {
        let doc = self.doc;
        let mut spans = Vec::new();
        for run in self.runs.iter_mut().filter(|run| run.doc == doc) {
            run.starts(starts);
            spans.extend(starts.iter().map(|start| Span { start: *start, end: start + run.width }));
        }
        spans
    }
}

/// The first document from `target` on at which all members are. `seek` moves a member to its first document from one on.
fn meet<T>(members: &mut [T], mut target: DocId, mut seek: impl FnMut(&mut T, DocId) -> DocId) -> DocId {
    'document: loop {
        for member in &mut *members {
            let doc = seek(member, target);
            if doc == TERMINATED {
                return TERMINATED;
            }
            if doc > target {
                target = doc;
                continue 'document;
            }
        }
        return target;
    }
}

/// Documents that hold words of every group, wherever in the field.
struct Candidates {
    groups: Vec<Group>,
    /// Whether one pattern is all that is looked for: then its occurrences are the places.
    single: bool,
    distance: u32,
    ordered: bool,
    doc: DocId,
    starts: Vec<u32>,
}

impl Candidates {
    fn doc(&self) -> DocId {
        self.doc
    }

    fn advance(&mut self) -> DocId {
        if self.doc == TERMINATED { TERMINATED } else { self.seek(self.doc + 1) }
    }

    /// The first candidate from `target` on, which is not before the current one.
    fn seek(&mut self, target: DocId) -> DocId {
        if self.groups.is_empty() || target == TERMINATED {
            self.doc = TERMINATED;
            return TERMINATED;
        }
        self.doc = meet(&mut self.groups, target, Group::seek);
        self.doc
    }

    /// Places in the current document.
    fn count(&mut self) -> u32 {
        if self.single {
            let run = self.groups.first_mut().and_then(|group| group.runs.first_mut());
            return run.map_or(0, |run| {
                run.starts(&mut self.starts);
                self.starts.len() as u32
            });
        }
        let starts = &mut self.starts;
        let groups: Vec<Vec<Span>> = self.groups.iter_mut().map(|group| group.spans(starts)).collect();
        near(&groups, self.distance, self.ordered).len() as u32
    }

    fn size_hint(&self) -> u32 {
        let group = |group: &Group| group.runs.iter().map(Run::size_hint).fold(0, u32::saturating_add);
        self.groups.iter().map(group).min().unwrap_or(0)
    }
}

/// Documents with at least one place that matches.
pub(super) struct Places {
    candidates: Candidates,
    /// Places in the current document.
    count: u32,
}

impl Places {
    fn of(candidates: Candidates) -> Self {
        let mut places = Self { candidates, count: 0 };
        places.settle();
        places
    }

    /// Places in the current document.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// From a candidate to the first document that matches.
    fn settle(&mut self) -> DocId {
        while self.candidates.doc() != TERMINATED {
            self.count = self.candidates.count();
            if self.count > 0 {
                break;
            }
            self.candidates.advance();
        }
        self.candidates.doc()
    }
}

impl DocSet for Places {
    fn advance(&mut self) -> DocId {
        self.candidates.advance();
        self.settle()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc() < target {
            self.candidates.seek(target);
            self.settle();
        }
        self.doc()
    }

    fn doc(&self) -> DocId {
        self.candidates.doc()
    }

    fn size_hint(&self) -> u32 {
        self.candidates.size_hint()
    }
}

//! Evaluates queries on texts in memory: for highlighting passages, and as the reference for testing indexes.

use super::{Field, Near, Query, Term};
use crate::fulltext::{self, Part, Pattern, terms, words_as_written};
use crate::near::{Span, near};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;

/// The texts of one document.
#[derive(Debug, Clone, Copy, Default)]
pub struct Texts<'a> {
    /// Title.
    pub title: &'a str,
    /// Abstract.
    pub abst: &'a str,
    /// Claims.
    pub claim: &'a str,
    /// Description.
    pub desc: &'a str,
}

impl<'a> Texts<'a> {
    fn of(&self, field: Field) -> &'a str {
        match field {
            Field::Title => self.title,
            Field::Abst => self.abst,
            Field::Claim => self.claim,
            Field::Desc => self.desc,
            _ => "",
        }
    }
}

/// Whether a document matches; terms bound to codes, names and the like match nothing here.
pub fn matches(query: &Query, texts: &Texts<'_>) -> bool {
    let fields = [Field::Title, Field::Abst, Field::Claim, Field::Desc];
    let indexed: Vec<(Field, Indexed<'_>)> =
        fields.into_iter().map(|field| (field, Indexed::of(texts.of(field)))).collect();
    holds(query, &indexed)
}

fn holds(query: &Query, texts: &[(Field, Indexed<'_>)]) -> bool {
    let any = |only: Option<Field>, found: &dyn Fn(&Indexed<'_>) -> bool| {
        texts.iter().any(|(field, text)| only.is_none_or(|only| only == *field) && found(text))
    };
    match query {
        Query::And(parts) => parts.iter().all(|part| holds(part, texts)),
        Query::Or(parts) => parts.iter().any(|part| holds(part, texts)),
        Query::Not(part) => !holds(part, texts),
        Query::Term(term) => any(term.field, &|text| !text.pattern(&term.word().pattern()).is_empty()),
        Query::Near(part) => any(part.field, &|text| !text.near(part).is_empty()),
    }
}

/// Bytes of `text`, of the given field, that a query's words, phrases and proximities match, ascending and without
/// overlap; terms under `NOT` are skipped.
pub fn highlights(query: &Query, field: Field, text: &str) -> Vec<std::ops::Range<usize>> {
    let indexed = Indexed::of(text);
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    mark(query, field, &indexed, &mut ranges);
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<std::ops::Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn mark(query: &Query, field: Field, text: &Indexed<'_>, ranges: &mut Vec<std::ops::Range<usize>>) {
    let here = |only: Option<Field>| only.is_none_or(|only| only == field);
    match query {
        Query::And(parts) | Query::Or(parts) => parts.iter().for_each(|part| mark(part, field, text, ranges)),
        Query::Term(term @ Term { field: only, .. }) if here(*only) => {
            ranges
                .extend(text.pattern(&term.word().pattern()).into_iter().filter_map(|span| text.bytes(span)));
        }
        Query::Near(part) if here(part.field) => {
            ranges.extend(text.near(part).into_iter().filter_map(|span| text.bytes(span)));
        }
        // Under NOT, or bound to another field.
        Query::Not(_) | Query::Term(_) | Query::Near(_) => {}
    }
}

/// A text by its terms.
struct Indexed<'a> {
    text: &'a str,
    positions: HashMap<String, Vec<u32>>,
    /// Of the words as written; most queries do not ask for them.
    written: OnceCell<HashMap<String, Vec<u32>>>,
    /// First and one past the last byte by position.
    bytes: HashMap<u32, (usize, usize)>,
}

impl<'a> Indexed<'a> {
    fn of(text: &'a str) -> Self {
        let mut positions: HashMap<String, Vec<u32>> = HashMap::new();
        let mut bytes = HashMap::new();
        for fulltext::Term { text, position, start, end } in terms(text) {
            // The first term of a position is its character or word, a pair reaches further.
            bytes.entry(position).or_insert((start, end));
            positions.entry(text).or_default().push(position);
        }
        Self { text, positions, written: OnceCell::new(), bytes }
    }

    /// Where a part stands, ascending.
    fn positions(&self, part: &Part) -> Cow<'_, [u32]> {
        let written = || {
            self.written.get_or_init(|| {
                let mut positions: HashMap<String, Vec<u32>> = HashMap::new();
                for word in words_as_written(self.text) {
                    positions.entry(word.text).or_default().push(word.position);
                }
                positions
            })
        };
        match part {
            Part::Term(term) => self.positions.get(term).map_or(Cow::Borrowed(&[]), |at| Cow::Borrowed(at)),
            Part::Written(word) => written().get(word).map_or(Cow::Borrowed(&[]), |at| Cow::Borrowed(at)),
            Part::Wildcard(wildcard) => {
                let fitting = written().iter().filter(|(word, _)| wildcard.fits(word));
                let mut at: Vec<u32> = fitting.flat_map(|(_, at)| at).copied().collect();
                at.sort_unstable();
                Cow::Owned(at)
            }
        }
    }

    fn pattern(&self, pattern: &Pattern) -> Vec<Span> {
        let parts: Vec<(u32, Cow<'_, [u32]>)> =
            pattern.parts.iter().map(|(offset, part)| (*offset, self.positions(part))).collect();
        let Some((_, starts)) = parts.first() else { return Vec::new() };
        let stands =
            |start: u32| parts.iter().all(|(offset, at)| at.binary_search(&(start + offset)).is_ok());
        starts
            .iter()
            .filter(|start| stands(**start))
            .map(|start| Span { start: *start, end: start + pattern.width })
            .collect()
    }

    fn near(&self, query: &Near) -> Vec<Span> {
        let groups: Vec<Vec<Span>> = query
            .groups
            .iter()
            .map(|group| group.iter().flat_map(|word| self.pattern(&word.pattern())).collect())
            .collect();
        near(&groups, query.distance, query.ordered)
    }

    fn bytes(&self, span: Span) -> Option<std::ops::Range<usize>> {
        let (start, _) = self.bytes.get(&span.start)?;
        // The last position may hold a mark.
        let end = (span.start..span.end).rev().find_map(|at| self.bytes.get(&at))?.1;
        Some(*start..end)
    }
}

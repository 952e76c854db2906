//! Filters of lanes as queries of the index.

use super::exclude::excluded;
use crate::backend::{DateField, DateRange, Filter, ValueField};
use crate::index::{Fields, Snapshot, day_number};
use crate::labels;
use crate::{CorpusError, Result};
use lyra_domain::classification::{Code, System};
use lyra_text::fulltext::Pattern;
use std::ops::Bound;
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, EnableScoring, Occur, Query, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, TERMINATED, Term};

type Queries = Vec<Box<dyn Query>>;

/// One clause per filter, without influence on scores; those that exclude come as `MustNot`.
pub(super) fn clauses(fields: &Fields, filters: &[Filter]) -> Vec<(Occur, Box<dyn Query>)> {
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for filter in filters {
        let (include, exclude): (Queries, Queries) = match filter {
            Filter::Codes { include, exclude, system } => {
                let one = |code: &Code| self::code(fields, *system, code);
                (include.iter().map(one).collect(), exclude.iter().map(one).collect())
            }
            Filter::Values { field, include, exclude } => {
                let one = |value: &String| self::value(fields, *field, value);
                (include.iter().map(one).collect(), exclude.iter().map(one).collect())
            }
            Filter::Dates { field, include, exclude } => {
                let one = |range: &DateRange| dates(fields, *field, *range);
                (include.iter().map(one).collect(), exclude.iter().map(one).collect())
            }
        };
        if !include.is_empty() {
            clauses.push((Occur::Must, silent(any(include))));
        }
        if !exclude.is_empty() {
            clauses.push((Occur::MustNot, excluded(any(exclude))));
        }
    }
    clauses
}

/// A query under filters.
pub(super) fn filtered(fields: &Fields, query: Box<dyn Query>, filters: &[Filter]) -> Box<dyn Query> {
    let mut clauses = clauses(fields, filters);
    if clauses.is_empty() {
        return query;
    }
    clauses.insert(0, (Occur::Must, query));
    Box::new(BooleanQuery::new(clauses))
}

/// Documents of a code or one below it, in any system of its tree.
pub(super) fn code(fields: &Fields, system: System, code: &Code) -> Box<dyn Query> {
    let same_tree = System::ALL.into_iter().filter(|other| other.tree() == system.tree());
    any(same_tree.map(|of| exact(fields.path(of), code.as_str())).collect())
}

/// Documents with a value.
pub(super) fn value(fields: &Fields, field: ValueField, value: &str) -> Box<dyn Query> {
    match field {
        ValueField::Country => exact(fields.country, &value.to_ascii_uppercase()),
        ValueField::Lang => exact(fields.lang, &value.to_ascii_lowercase()),
        ValueField::Assignee => name(fields.assignee, value),
        ValueField::Inventor => name(fields.inventor, value),
        ValueField::Tag => exact(fields.tag, &labels::tag(value)),
        ValueField::Collection => exact(fields.collection, &labels::path(value)),
    }
}

fn name(field: Field, value: &str) -> Box<dyn Query> {
    super::lane::pattern(field, &Pattern::of(value)).unwrap_or_else(|| any(Vec::new()))
}

fn dates(fields: &Fields, field: DateField, range: DateRange) -> Box<dyn Query> {
    let (field, number): (Field, fn(jiff::civil::Date) -> i64) = match field {
        DateField::PubYear => (fields.year, |date| i64::from(date.year())),
        DateField::PubDate => (fields.pub_date, day_number),
        DateField::AppDate => (fields.app_date, day_number),
    };
    let bound = |date: Option<jiff::civil::Date>| {
        date.map_or(Bound::Unbounded, |date| Bound::Included(Term::from_field_i64(field, number(date))))
    };
    match (bound(range.from), bound(range.to)) {
        // Without both ends a range has no field to name; `Filter` never builds one.
        (Bound::Unbounded, Bound::Unbounded) => Box::new(AllQuery),
        (from, to) => Box::new(RangeQuery::new(from, to)),
    }
}

pub(super) fn exact(field: Field, text: &str) -> Box<dyn Query> {
    Box::new(TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::Basic))
}

pub(super) fn any(mut queries: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    match (queries.len(), queries.pop()) {
        (1, Some(one)) => one,
        (_, last) => {
            queries.extend(last);
            Box::new(BooleanQuery::new(queries.into_iter().map(|query| (Occur::Should, query)).collect()))
        }
    }
}

/// A query that lets documents through and adds nothing to their scores.
pub(super) fn silent(query: Box<dyn Query>) -> Box<dyn Query> {
    Box::new(ConstScoreQuery::new(query, 0.0))
}

/// The documents that filters let through; all of them without filters.
pub(crate) struct Accepted {
    segments: Option<Vec<Vec<bool>>>,
}

impl Accepted {
    pub(crate) fn of(snapshot: &Snapshot, filters: &[Filter]) -> Result<Self> {
        if filters.is_empty() {
            return Ok(Self { segments: None });
        }
        let failed = CorpusError::index(&snapshot.name);
        let mut clauses = clauses(&snapshot.fields, filters);
        if clauses.iter().all(|(occur, _)| *occur == Occur::MustNot) {
            clauses.push((Occur::Must, Box::new(AllQuery)));
        }
        let query = BooleanQuery::new(clauses);
        let weight =
            query.weight(EnableScoring::disabled_from_searcher(&snapshot.searcher)).map_err(&failed)?;
        let mut segments = Vec::new();
        for reader in snapshot.searcher.segment_readers() {
            let mut accepted = vec![false; reader.max_doc() as usize];
            let mut scorer = weight.scorer(reader, 1.0).map_err(&failed)?;
            let mut doc = scorer.doc();
            while doc != TERMINATED {
                accepted[doc as usize] = true;
                doc = scorer.advance();
            }
            segments.push(accepted);
        }
        Ok(Self { segments: Some(segments) })
    }

    /// How many documents they let through; `None` without filters.
    pub(crate) fn count(&self) -> Option<u64> {
        let segments = self.segments.as_ref()?;
        Some(segments.iter().flatten().filter(|accepted| **accepted).count() as u64)
    }

    pub(crate) fn holds(&self, at: DocAddress) -> bool {
        self.segments.as_ref().is_none_or(|segments| {
            segments.get(at.segment_ord as usize).and_then(|docs| docs.get(at.doc_id as usize)) == Some(&true)
        })
    }
}

//! Lanes: queries of the query language, and texts compared by meaning, both under filters.

use super::citation::{Direction, citation};
use super::exclude::excluded;
use super::fielded::FieldedQuery;
use super::filters::{self, Accepted};
use super::near;
use super::truncated::{Expansion, MAX_WORDS};
use super::{check_vector, codes, dense, walk};
use crate::backend::{FeatureScope, FieldBoosts, Filter, LaneHit, LaneHits, ValueField};
use crate::corpora::Opened;
use crate::index::{Fields, LaneField, Snapshot};
use crate::{CorpusError, Result, labels};
use lyra_domain::classification::{Code, System};
use lyra_text::Wildcard;
use lyra_text::fulltext::{Part, Pattern};
use lyra_text::query::{self, Near, Query as Tree, QueryError};
use std::cell::Cell;
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScoreQuery, EmptyQuery, Occur, PhraseQuery, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, Term};

/// Runs a query of the query language.
pub(crate) fn full_text(
    corpus: &Opened,
    tree: &Tree,
    boosts: &FieldBoosts,
    filters: &[Filter],
    k: usize,
) -> Result<LaneHits> {
    let fields = corpus.snapshot.fields;
    let compiler =
        Compiler { snapshot: &corpus.snapshot, fields: &fields, boosts, words: Cell::new(MAX_WORDS) };
    let compiled = compiler.query(tree)?;
    labels::check(&corpus.snapshot, filters)?;
    let query = filters::filtered(&fields, compiled, filters);
    let (found, total) = walk::all(&corpus.snapshot, &*query, k)?;
    hits(&corpus.snapshot, found, k, total)
}

/// Compares a query vector with the embeddings of a scope.
pub(crate) fn semantic(
    corpus: &Opened,
    vector: &[f32],
    scope: FeatureScope,
    filters: &[Filter],
    k: usize,
) -> Result<LaneHits> {
    check_vector(corpus, vector)?;
    labels::check(&corpus.snapshot, filters)?;
    let accepted = Accepted::of(&corpus.snapshot, filters)?;
    let found = dense::top(corpus, scope, vector, k, |at| accepted.holds(at))?;
    let total = dense::count(corpus, scope, |at| accepted.holds(at))?;
    hits(&corpus.snapshot, found, k, total)
}

/// Orders what was found, cuts it to `k`, and adds ids and codes.
fn hits(snapshot: &Snapshot, found: Vec<(DocAddress, f64)>, k: usize, total: u64) -> Result<LaneHits> {
    let addresses: Vec<DocAddress> = found.iter().map(|(at, _)| *at).collect();
    let ids = snapshot.ids()?.all(&addresses)?;
    let mut found: Vec<(String, f64, DocAddress)> =
        ids.into_iter().zip(found).map(|(id, (at, score))| (id, score, at)).collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let truncated = total > k as u64;
    found.truncate(k);
    let addresses: Vec<DocAddress> = found.iter().map(|(.., at)| *at).collect();
    let codes = codes::of(snapshot, &addresses)?;
    let hit = |((doc_id, score, _), codes)| LaneHit { doc_id, score, codes };
    let hits = found.into_iter().zip(codes).map(hit).collect();
    Ok(LaneHits { hits, truncated, total: Some(total), ..LaneHits::default() })
}

/// A pattern in one field, `None` when there is nothing to look for.
pub(super) fn pattern(field: Field, pattern: &Pattern) -> Option<Box<dyn Query>> {
    let term = |part: &Part| match part {
        Part::Term(text) => Some(Term::from_field_text(field, text)),
        // Fields of attributes have no words as written.
        Part::Written(_) | Part::Wildcard(_) => None,
    };
    match pattern.parts.as_slice() {
        [] => None,
        [(_, part)] => Some(Box::new(TermQuery::new(term(part)?, IndexRecordOption::WithFreqs))),
        parts => {
            let terms = parts.iter().map(|(offset, part)| Some((*offset as usize, term(part)?)));
            Some(Box::new(PhraseQuery::new_with_offset(terms.collect::<Option<_>>()?)))
        }
    }
}

struct Compiler<'a> {
    snapshot: &'a Snapshot,
    fields: &'a Fields,
    boosts: &'a FieldBoosts,
    /// How many more words the truncated words of the query may stand for.
    words: Cell<usize>,
}

impl Compiler<'_> {
    fn query(&self, tree: &Tree) -> Result<Box<dyn Query>> {
        Ok(match tree {
            Tree::And(parts) => {
                let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
                for part in parts {
                    clauses.push(match part {
                        Tree::Not(inner) => (Occur::MustNot, excluded(self.query(inner)?)),
                        other => (Occur::Must, self.query(other)?),
                    });
                }
                if clauses.iter().all(|(occur, _)| *occur == Occur::MustNot) {
                    clauses.push((Occur::Must, everything()));
                }
                Box::new(BooleanQuery::new(clauses))
            }
            Tree::Or(parts) => {
                let any = |part| Ok((Occur::Should, self.query(part)?));
                Box::new(BooleanQuery::new(parts.iter().map(any).collect::<Result<_>>()?))
            }
            Tree::Not(inner) => Box::new(BooleanQuery::new(vec![
                (Occur::Must, everything()),
                (Occur::MustNot, excluded(self.query(inner)?)),
            ])),
            Tree::Term(_) | Tree::Near(_) => self.leaf(tree)?,
        })
    }

    /// A word, phrase or proximity over the text fields, or the value of an attribute.
    fn leaf(&self, leaf: &Tree) -> Result<Box<dyn Query>> {
        let (only, groups, distance, ordered, at) = match leaf {
            Tree::Term(term) => {
                if let Some(field) = term.field.filter(|field| !field.is_text()) {
                    return self.attribute(field, &term.text, term.at);
                }
                (term.field, vec![vec![term.word().pattern()]], 0, true, term.at)
            }
            Tree::Near(Near { groups, distance, ordered, field, at }) => {
                let groups = groups.iter().map(|group| group.iter().map(query::Word::pattern).collect());
                (*field, groups.collect(), *distance, *ordered, *at)
            }
            _ => return Ok(Box::new(EmptyQuery)),
        };
        let fields: Vec<(LaneField, f32)> = text_fields(self.boosts, only)
            .filter_map(|(field, boost)| Some((self.fields.lane(field)?, boost)))
            .collect();
        if fields.is_empty() {
            return Ok(Box::new(EmptyQuery));
        }
        let written: Vec<Field> = fields.iter().map(|(field, _)| field.written).collect();
        let expand = |wildcard: &Wildcard| self.expansion(wildcard, &written, at);
        let near = near::Near::new(groups, distance, ordered, expand)?;
        Ok(Box::new(FieldedQuery::new(fields, near)))
    }

    /// The words that a truncated word stands for.
    fn expansion(&self, wildcard: &Wildcard, fields: &[Field], at: query::Range) -> Result<Expansion> {
        let failed = CorpusError::index(&self.snapshot.name);
        let most = self.words.get();
        let found = Expansion::of(wildcard, fields, &self.snapshot.searcher, most).map_err(failed)?;
        let Some(found) = found else {
            let error = QueryError {
                at: at.start,
                found: format!("`{wildcard}`"),
                expected: format!(
                    "more of the word: the truncated words of a query stand for at most {MAX_WORDS} words of the corpus"
                ),
                instead: None,
            };
            return Err(error.into());
        };
        self.words.set(most - found.words);
        Ok(found)
    }

    /// A code, a name, a country or a language lets documents through and does not weigh; each citation weighs 1, so that
    /// documents with more of them come first.
    fn attribute(&self, field: query::Field, text: &str, at: query::Range) -> Result<Box<dyn Query>> {
        let query = match attribute(field) {
            Some(Attribute::Citation(direction)) => {
                let query = citation(self.snapshot, direction, text)?;
                return Ok(Box::new(ConstScoreQuery::new(query, 1.0)));
            }
            Some(Attribute::Code(system)) => {
                let code =
                    Code::parse(system, text).map_err(|error| unreadable(at, text, &error.to_string()))?;
                filters::code(self.fields, system, &code)
            }
            Some(Attribute::Value(of)) => filters::value(self.fields, of, text),
            None => Box::new(EmptyQuery),
        };
        Ok(filters::silent(query))
    }
}

/// The text fields that a leaf is looked for in, with their weights: the one it is bound to, else those that weigh.
pub(crate) fn text_fields(
    boosts: &FieldBoosts,
    only: Option<query::Field>,
) -> impl Iterator<Item = (query::Field, f32)> {
    let weights = [
        (query::Field::Title, boosts.title),
        (query::Field::Abst, boosts.abst),
        (query::Field::Claim, boosts.claim),
        (query::Field::Desc, boosts.desc),
    ];
    weights.into_iter().filter_map(move |(field, weight)| match only {
        // A field that is named counts even where it has no weight of its own.
        Some(only) => (only == field).then_some((field, if weight > 0.0 { weight } else { 1.0 })),
        None => (weight > 0.0).then_some((field, weight)),
    })
}

/// What a field that holds no running text holds.
pub(crate) enum Attribute {
    Code(System),
    Value(ValueField),
    Citation(Direction),
}

pub(crate) fn attribute(field: query::Field) -> Option<Attribute> {
    Some(match field {
        query::Field::Ipc => Attribute::Code(System::Ipc),
        query::Field::Cpc => Attribute::Code(System::Cpc),
        query::Field::Fi => Attribute::Code(System::Fi),
        query::Field::Ft => Attribute::Code(System::Ft),
        query::Field::Uspc => Attribute::Code(System::Uspc),
        query::Field::Locarno => Attribute::Code(System::Locarno),
        query::Field::Inventor => Attribute::Value(ValueField::Inventor),
        query::Field::Cites => Attribute::Citation(Direction::Citing),
        query::Field::CitedBy => Attribute::Citation(Direction::Cited),
        query::Field::Assignee => Attribute::Value(ValueField::Assignee),
        query::Field::Country => Attribute::Value(ValueField::Country),
        query::Field::Lang => Attribute::Value(ValueField::Lang),
        query::Field::Title | query::Field::Abst | query::Field::Claim | query::Field::Desc => return None,
    })
}

/// The error for an invalid code in a query.
pub(crate) fn unreadable(at: query::Range, text: &str, expected: &str) -> CorpusError {
    let expected = format!("a code: {expected}");
    QueryError { at: at.start, found: format!("`{text}`"), expected, instead: None }.into()
}

fn everything() -> Box<dyn Query> {
    filters::silent(Box::new(AllQuery))
}

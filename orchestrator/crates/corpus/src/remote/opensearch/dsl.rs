//! Queries and filters in the query DSL.

use super::score::Statistics;
use crate::backend::{DateField, DateRange, FieldBoosts, Filter, ValueField};
use crate::search::{Attribute, attribute, text_fields, unreadable};
use crate::{CorpusError, Result, labels};
use lyra_domain::classification::{Code, Level, System};
use lyra_text::fulltext::Pattern;
use lyra_text::query::{Field, Near, Query, Term, Word};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// Tokens of each word of a proximity with their positions, from the index's analyzer.
pub(super) type Words = HashMap<String, Vec<(u32, String)>>;

/// How documents are scored.
pub(super) enum Scoring<'a> {
    /// By the index's own similarity, each field for itself: in indices of others.
    Plain(&'a Words),
    /// By BM25F, in indices that Lyra made.
    Fielded(&'a Statistics),
}

/// Groups of which every order is asked for.
const MOST_IN_ANY_ORDER: usize = 4;

/// Clauses that documents must hold, and must not.
pub(super) struct Filters {
    must: Vec<Value>,
    must_not: Vec<Value>,
}

/// A query of the query language.
pub(super) fn query(tree: &Query, boosts: &FieldBoosts, scoring: &Scoring<'_>) -> Result<Value> {
    let many =
        |parts: &[Query]| parts.iter().map(|part| query(part, boosts, scoring)).collect::<Result<Vec<_>>>();
    Ok(match tree {
        Query::And(parts) => {
            let (not, must): (Vec<_>, Vec<_>) =
                parts.iter().cloned().partition(|part| matches!(part, Query::Not(_)));
            let not: Vec<Query> = not
                .into_iter()
                .map(|part| match part {
                    Query::Not(inner) => *inner,
                    other => other,
                })
                .collect();
            let mut clause = json!({});
            if !must.is_empty() {
                clause["must"] = json!(many(&must)?);
            }
            if !not.is_empty() {
                clause["must_not"] = json!(many(&not)?);
            }
            json!({"bool": clause})
        }
        Query::Or(parts) => json!({"bool": {"should": many(parts)?, "minimum_should_match": 1}}),
        Query::Not(part) => json!({"bool": {"must_not": [query(part, boosts, scoring)?]}}),
        Query::Term(term) => match term.field.and_then(attribute) {
            Some(Attribute::Code(system)) => {
                let parsed = Code::parse(system, &term.text);
                let code = parsed.map_err(|error| unreadable(term.at, &term.text, &error.to_string()))?;
                silent(&self::code(system, &code))
            }
            // Refused before.
            Some(Attribute::Citation(_)) => json!({"match_none": {}}),
            Some(Attribute::Value(field)) => silent(&value(field, &term.text)),
            None => match scoring {
                Scoring::Plain(_) => self::term(term, boosts),
                Scoring::Fielded(statistics) => fielded_term(term, boosts, statistics),
            },
        },
        Query::Near(near) => match scoring {
            Scoring::Plain(words) => {
                let tokens = |word: &str| words.get(word).map(Vec::as_slice).unwrap_or_default();
                any_field(near_fields(near, &plain_fields(boosts, near.field), &tokens, false)?)
            }
            Scoring::Fielded(statistics) => fielded_near(near, boosts, statistics)?,
        },
    })
}

fn plain_fields(boosts: &FieldBoosts, only: Option<Field>) -> Vec<(&'static str, f64)> {
    text_fields(boosts, only).map(|(field, boost)| (field.name(), f64::from(boost))).collect()
}

fn term(term: &Term, boosts: &FieldBoosts) -> Value {
    // One word may be matched anywhere; several, or CJK characters, stand together.
    let together = term.quoted || Pattern::of(&term.text).width > 1;
    if let Some(field) = term.field {
        let boost = text_fields(boosts, Some(field)).next().map_or(1.0, |(_, boost)| boost);
        let kind = if together { "match_phrase" } else { "match" };
        return json!({kind: {field.name(): {"query": term.text, "boost": boost}}});
    }
    let fields: Vec<String> =
        text_fields(boosts, None).map(|(field, boost)| format!("{}^{boost}", field.name())).collect();
    let kind = if together { "phrase" } else { "most_fields" };
    json!({"multi_match": {"query": term.text, "type": kind, "fields": fields}})
}

fn fielded_term(term: &Term, boosts: &FieldBoosts, statistics: &Statistics) -> Value {
    let terms = statistics.word(&term.text).map(|word| word.terms.as_slice()).unwrap_or_default();
    let fields = statistics.fields(boosts, term.field, terms.len());
    let clauses: Vec<Value> = fields
        .iter()
        .filter_map(|(field, boost)| match terms {
            [(_, one)] => Some(json!({"term": {*field: {"value": one, "boost": boost}}})),
            _ if has_gaps(terms) => Some(boosted(span(field, terms)?, *boost)),
            _ => Some(json!({"match_phrase": {*field: {"query": term.text, "boost": boost}}})),
        })
        .collect();
    if terms.is_empty() || clauses.is_empty() {
        return json!({"match_none": {}});
    }
    Statistics::scored(clauses, statistics.idf(&[vec![term.text.clone()]], &fields))
}

fn fielded_near(near: &Near, boosts: &FieldBoosts, statistics: &Statistics) -> Result<Value> {
    let tokens = |word: &str| statistics.word(word).map(|word| word.terms.as_slice()).unwrap_or_default();
    let terms = near.groups.iter().flatten().map(|word| tokens(&word.text).len()).sum();
    let fields = statistics.fields(boosts, near.field, terms);
    let clauses = near_fields(near, &fields, &tokens, true)?;
    if clauses.is_empty() {
        return Ok(json!({"match_none": {}}));
    }
    Ok(Statistics::scored(clauses, statistics.idf(&near.texts(), &fields)))
}

/// A proximity in each field; none where the analyzer leaves nothing of a group. `by_characters` is whether each CJK
/// character takes a position in the index, as in those that Lyra makes: a pair then ends one position behind its token.
/// Without that, the positions of other indices are not known so exactly, and a word may begin one further.
fn near_fields<'a>(
    near: &Near,
    fields: &[(&'static str, f64)],
    tokens: &impl Fn(&str) -> &'a [(u32, String)],
    by_characters: bool,
) -> Result<Vec<Value>> {
    let missing = |word: &Word| Pattern::of(&word.text).width.saturating_sub(width(tokens(&word.text)));
    let mut clauses = Vec::new();
    for (field, boost) in fields {
        let mut groups = Vec::new();
        for group in &near.groups {
            let spans = group.iter().filter_map(|word| {
                let span = span(field, tokens(&word.text))?;
                Some(if by_characters { padded(span, field, missing(word)) } else { span })
            });
            let spans: Vec<Value> = spans.collect();
            let slack = if by_characters { 0 } else { group.iter().map(missing).max().unwrap_or(0) };
            let span = match <[Value; 1]>::try_from(spans) {
                Ok([one]) => one,
                Err(none) if none.is_empty() => return Ok(Vec::new()),
                Err(many) => json!({"span_or": {"clauses": many}}),
            };
            groups.push((span, slack));
        }
        let clause =
            if near.ordered { in_order(&groups, near.distance) } else { in_any_order(&groups, near)? };
        clauses.push(boosted(clause, *boost));
    }
    Ok(clauses)
}

/// Groups one behind the other, each near the one before. Nested from the end: for each place of a group, Lucene looks at
/// the nearest place behind it alone, which has to be one from which the rest of the chain goes on.
fn in_order(groups: &[(Value, u32)], distance: u32) -> Value {
    let mut groups = groups.iter().rev();
    let Some((mut chain, _)) = groups.next().cloned() else { return json!({"match_none": {}}) };
    for (before, slack) in groups {
        chain =
            json!({"span_near": {"clauses": [before, chain], "slop": distance + slack, "in_order": true}});
    }
    chain
}

/// Groups in every order.
fn in_any_order(groups: &[(Value, u32)], near: &Near) -> Result<Value> {
    if groups.len() > MOST_IN_ANY_ORDER {
        return Err(CorpusError::Search {
            why: format!("opensearch: a proximity of {} groups in any order", groups.len()),
            expected: format!("use at most {MOST_IN_ANY_ORDER} groups, or the given order (*ONP)"),
        });
    }
    let orders: Vec<Value> = orders(groups).iter().map(|order| in_order(order, near.distance)).collect();
    Ok(json!({"span_or": {"clauses": orders}}))
}

fn orders(groups: &[(Value, u32)]) -> Vec<Vec<(Value, u32)>> {
    if groups.len() < 2 {
        return vec![groups.to_vec()];
    }
    let mut all = Vec::new();
    for nth in 0..groups.len() {
        let mut rest = groups.to_vec();
        let first = rest.remove(nth);
        all.extend(orders(&rest).into_iter().map(|mut order| {
            order.insert(0, first.clone());
            order
        }));
    }
    all
}

fn any_field(mut clauses: Vec<Value>) -> Value {
    match (clauses.len(), clauses.pop()) {
        (_, None) => json!({"match_none": {}}),
        (1, Some(one)) => one,
        (_, Some(last)) => {
            clauses.push(last);
            json!({"bool": {"should": clauses, "minimum_should_match": 1}})
        }
    }
}

fn width(tokens: &[(u32, String)]) -> u32 {
    match (tokens.first(), tokens.last()) {
        (Some((first, _)), Some((last, _))) => last - first + 1,
        _ => 0,
    }
}

/// A span that ends so many positions later.
fn padded(span: Value, field: &str, positions: u32) -> Value {
    if positions == 0 {
        return span;
    }
    let gap = json!({"span_gap": {field: positions}});
    json!({"span_near": {"clauses": [span, gap], "slop": 0, "in_order": true}})
}

/// A clause of spans that counts so much.
fn boosted(mut clause: Value, boost: f64) -> Value {
    if let Some(kind) = clause.as_object_mut().and_then(|clause| clause.values_mut().next()) {
        kind["boost"] = json!(boost);
    }
    clause
}

/// Whether tokens do not stand one behind the other: the analyzer left something out, or a pair of CJK characters, which
/// takes two positions, stands before another token.
fn has_gaps(tokens: &[(u32, String)]) -> bool {
    tokens.windows(2).any(|pair| matches!(pair, [(a, _), (b, _)] if b - a > 1))
}

/// A word at fixed positions; `None` when the analyzer leaves nothing of it. Tokens at one position stand for each other.
fn span(field: &str, tokens: &[(u32, String)]) -> Option<Value> {
    let mut places: BTreeMap<u32, Vec<Value>> = BTreeMap::new();
    for (position, token) in tokens {
        places.entry(*position).or_default().push(json!({"span_term": {field: token}}));
    }
    let mut spans = Vec::new();
    let mut next = None;
    for (position, mut terms) in places {
        if let Some(gap) = next.map(|next| position - next).filter(|gap| *gap > 0) {
            spans.push(json!({"span_gap": {field: gap}}));
        }
        next = Some(position + 1);
        spans.extend(match terms.len() {
            1 => terms.pop(),
            _ => Some(json!({"span_or": {"clauses": terms}})),
        });
    }
    match spans.len() {
        0 | 1 => spans.pop(),
        _ => Some(json!({"span_near": {"clauses": spans, "slop": 0, "in_order": true}})),
    }
}

/// All filters of a lane.
pub(super) fn filters(list: &[Filter]) -> Filters {
    let mut filters = Filters { must: Vec::new(), must_not: Vec::new() };
    for filter in list {
        let (include, exclude): (Vec<Value>, Vec<Value>) = match filter {
            Filter::Codes { system, include, exclude } => {
                let one = |code: &Code| self::code(*system, code);
                (include.iter().map(one).collect(), exclude.iter().map(one).collect())
            }
            Filter::Values { field, include, exclude } => {
                let one = |text: &String| value(*field, text);
                (include.iter().map(one).collect(), exclude.iter().map(one).collect())
            }
            Filter::Dates { field, include, exclude } => {
                let one = |range: &DateRange| dates(*field, *range);
                (include.iter().map(one).collect(), exclude.iter().map(one).collect())
            }
        };
        match <[Value; 1]>::try_from(include) {
            Ok([one]) => filters.must.push(one),
            Err(many) if many.is_empty() => {}
            Err(many) => filters.must.push(any(&many)),
        }
        filters.must_not.extend(exclude);
    }
    filters
}

/// A code or one below it, in any system of its tree.
fn code(system: System, code: &Code) -> Value {
    let same_tree = System::ALL.into_iter().filter(|other| other.tree() == system.tree());
    let all: Vec<Value> = same_tree.map(|of| code_of(of, code)).collect();
    match <[Value; 1]>::try_from(all) {
        Ok([one]) => one,
        Err(many) => any(&many),
    }
}

/// A code or one below it: codes are stored in normal form, whose prefixes follow the hierarchy up to a mark.
fn code_of(system: System, code: &Code) -> Value {
    let field = format!("{}_codes", system.name());
    let text = code.as_str();
    let exact = json!({"term": {&field: text}});
    let below: &[&str] = match (system, code.level()) {
        (_, Level::Section | Level::Class | Level::Subclass) | (System::Ft, Level::MainGroup) => &[""],
        (_, Level::MainGroup) => &["/"],
        (System::Fi, Level::Subgroup) => &[",", "@"],
        (System::Fi, Level::Subdivision) => &["@"],
        (System::Ft, Level::Subgroup) => &["."],
        _ => &[],
    };
    if below == [""] {
        return json!({"prefix": {&field: text}});
    }
    let mut clauses = vec![exact];
    clauses.extend(below.iter().map(|mark| json!({"prefix": {&field: format!("{text}{mark}")}})));
    match <[Value; 1]>::try_from(clauses) {
        Ok([one]) => one,
        Err(many) => any(&many),
    }
}

fn value(field: ValueField, text: &str) -> Value {
    match field {
        ValueField::Country => json!({"term": {"country": text.to_ascii_uppercase()}}),
        ValueField::Lang => json!({"term": {"lang": text.to_ascii_lowercase()}}),
        // Lanes over indices of others refuse them before.
        ValueField::Tag => json!({"term": {"tag": labels::tag(text)}}),
        ValueField::Collection => json!({"term": {"collection": labels::path(text)}}),
        // Refused before.
        ValueField::Inventor => json!({"match_none": {}}),
        ValueField::Assignee => {
            json!({"multi_match": {"query": text, "type": "phrase", "fields": ["applicants", "cross_en_applicants"]}})
        }
    }
}

fn dates(field: DateField, range: DateRange) -> Value {
    let mut days = json!({});
    for (name, date) in [("gte", range.from), ("lte", range.to)] {
        if let Some(date) = date {
            days[name] = json!(date.to_string());
        }
    }
    match field {
        DateField::PubDate => json!({"range": {"pub_date": days}}),
        DateField::AppDate => json!({"range": {"app_date": days}}),
        DateField::PubYear => {
            let mut years = json!({});
            for (name, date) in [("gte", range.from), ("lte", range.to)] {
                if let Some(date) = date {
                    years[name] = json!(date.year());
                }
            }
            json!({"range": {"year": years}})
        }
    }
}

fn any(clauses: &[Value]) -> Value {
    json!({"bool": {"should": clauses, "minimum_should_match": 1}})
}

/// A clause that lets documents through and does not weigh.
fn silent(clause: &Value) -> Value {
    json!({"constant_score": {"filter": clause, "boost": 0.0}})
}

/// A query under filters.
pub(super) fn filtered(clause: Value, filters: &Filters) -> Value {
    if filters.must.is_empty() && filters.must_not.is_empty() {
        return clause;
    }
    let mut all = json!({"must": [clause]});
    if !filters.must.is_empty() {
        all["filter"] = json!(filters.must);
    }
    if !filters.must_not.is_empty() {
        all["must_not"] = json!(filters.must_not);
    }
    json!({"bool": all})
}

/// The nearest `k` vectors among the documents that the filters let through.
pub(super) fn knn(field: &str, vector: &[f32], k: usize, filters: &Filters) -> Value {
    let mut search = json!({"vector": vector, "k": k});
    if !filters.must.is_empty() || !filters.must_not.is_empty() {
        let mut all = json!({});
        if !filters.must.is_empty() {
            all["filter"] = json!(filters.must);
        }
        if !filters.must_not.is_empty() {
            all["must_not"] = json!(filters.must_not);
        }
        search["filter"] = json!({"bool": all});
    }
    json!({"knn": {field: search}})
}

//! Queries and filters in the query DSL.

use crate::Result;
use crate::backend::{DateField, DateRange, FieldBoosts, Filter, ValueField};
use crate::search::{Attribute, attribute, text_fields, unreadable};
use lyra_domain::classification::{Code, Level, System};
use lyra_text::fulltext::Pattern;
use lyra_text::query::{Field, Near, Query, Term};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Tokens of each word of a proximity with their positions, from the index's analyzer.
pub(super) type Words = HashMap<String, Vec<(u32, String)>>;

/// Clauses that documents must hold, and must not.
pub(super) struct Filters {
    must: Vec<Value>,
    must_not: Vec<Value>,
}

/// A query of the query language.
pub(super) fn query(tree: &Query, boosts: &FieldBoosts, words: &Words) -> Result<Value> {
    let many =
        |parts: &[Query]| parts.iter().map(|part| query(part, boosts, words)).collect::<Result<Vec<_>>>();
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
        Query::Not(part) => json!({"bool": {"must_not": [query(part, boosts, words)?]}}),
        Query::Term(term) => self::term(term, boosts)?,
        Query::Near(near) => self::near(near, boosts, words),
    })
}

fn term(term: &Term, boosts: &FieldBoosts) -> Result<Value> {
    if let Some(attribute) = term.field.and_then(attribute) {
        return Ok(match attribute {
            Attribute::Code(system) => {
                let parsed = Code::parse(system, &term.text);
                let code = parsed.map_err(|error| unreadable(term.at, &term.text, &error.to_string()))?;
                silent(&self::code(system, &code))
            }
            Attribute::Value(field) => silent(&value(field, &term.text)),
        });
    }
    // One word may be matched anywhere; several, or CJK characters, stand together.
    let together = term.quoted || Pattern::of(&term.text).width > 1;
    if let Some(field) = term.field {
        let boost = text_fields(boosts, Some(field)).next().map_or(1.0, |(_, boost)| boost);
        let kind = if together { "match_phrase" } else { "match" };
        return Ok(json!({kind: {field.name(): {"query": term.text, "boost": boost}}}));
    }
    let fields: Vec<String> =
        text_fields(boosts, None).map(|(field, boost)| format!("{}^{boost}", field.name())).collect();
    let kind = if together { "phrase" } else { "most_fields" };
    Ok(json!({"multi_match": {"query": term.text, "type": kind, "fields": fields}}))
}

fn near(near: &Near, boosts: &FieldBoosts, words: &Words) -> Value {
    let in_field = |(field, boost): (Field, f32)| {
        let mut slop = 0;
        let mut clauses = Vec::new();
        for (nth, group) in near.groups.iter().enumerate() {
            let spans: Vec<Value> =
                group.iter().filter_map(|word| span(field.name(), words.get(&word.text)?)).collect();
            // A CJK analyzer that makes pairs has one position less than characters: the next word begins one further.
            let missing = group.iter().map(|word| {
                let taken = words.get(&word.text).map_or(0, |tokens| width(tokens));
                Pattern::of(&word.text).width.saturating_sub(taken)
            });
            if nth + 1 < near.groups.len() {
                slop += near.distance + missing.max().unwrap_or(0);
            }
            clauses.push(match <[Value; 1]>::try_from(spans) {
                Ok([one]) => one,
                Err(many) => json!({"span_or": {"clauses": many}}),
            });
        }
        json!({"span_near": {"clauses": clauses, "slop": slop, "in_order": near.ordered, "boost": boost}})
    };
    let mut fields: Vec<Value> = text_fields(boosts, near.field).map(in_field).collect();
    match (fields.len(), fields.pop()) {
        (1, Some(one)) => one,
        (_, last) => {
            fields.extend(last);
            json!({"bool": {"should": fields, "minimum_should_match": 1}})
        }
    }
}

fn width(tokens: &[(u32, String)]) -> u32 {
    match (tokens.first(), tokens.last()) {
        (Some((first, _)), Some((last, _))) => last - first + 1,
        _ => 0,
    }
}

/// A word at fixed positions; `None` when the analyzer leaves nothing of it.
fn span(field: &str, tokens: &[(u32, String)]) -> Option<Value> {
    let mut terms: Vec<Value> =
        tokens.iter().map(|(_, token)| json!({"span_term": {field: token}})).collect();
    match terms.len() {
        0 => None,
        1 => terms.pop(),
        _ => Some(json!({"span_near": {"clauses": terms, "slop": 0, "in_order": true}})),
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

/// A code or one below it: codes are stored in normal form, whose prefixes follow the hierarchy up to a mark.
fn code(system: System, code: &Code) -> Value {
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
        // Refused before: other machines have no library of the person's.
        ValueField::Tag | ValueField::Collection => json!({"match_none": {}}),
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

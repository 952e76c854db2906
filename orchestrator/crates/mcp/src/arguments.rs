//! Validates a call's arguments against the tool's own schema and explains what is wrong.
//!
//! The schema is the single source of truth: what it promises to accept is accepted, and every error names the
//! argument, what is wrong with it and what would be right. It is lenient in two cases, because AIs need that: `null`
//! for an optional argument means that it is absent, and `3.0` is the integer 3.

use super::reply::Failure;
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Reads the arguments as `T`, whose schema is `schema`.
pub(super) fn read<T: DeserializeOwned>(schema: &JsonObject, arguments: JsonObject) -> Result<T, Failure> {
    let mut value = Value::Object(arguments);
    check(schema, &mut value, "")?;
    serde_json::from_value(value)
        .map_err(|error| Failure::argument(format!("the arguments cannot be read: {error}")))
}

fn check(schema: &JsonObject, value: &mut Value, path: &str) -> Result<(), Failure> {
    match (text(schema, "type"), value) {
        ("object", Value::Object(fields)) => check_object(schema, fields, path),
        ("array", Value::Array(items)) => check_array(schema, items, path),
        ("string", Value::String(given)) => check_string(schema, given, path),
        ("integer" | "number", number @ Value::Number(_)) => check_number(schema, number, path),
        ("boolean", Value::Bool(_)) => Ok(()),
        (_, value) => Err(wrong(schema, path, &format!("is {}", describe(value)))),
    }
}

fn check_object(schema: &JsonObject, fields: &mut JsonObject, path: &str) -> Result<(), Failure> {
    let empty = JsonObject::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    fields.retain(|name, value| {
        !value.is_null() || required.contains(&name.as_str()) || !known.contains_key(name)
    });
    for (name, value) in fields.iter_mut() {
        let Some(Value::Object(field)) = known.get(name) else {
            return Err(unknown(name, known, path));
        };
        check(field, value, &join(path, name))?;
    }
    for name in required {
        if !fields.contains_key(name)
            && let Some(Value::Object(field)) = known.get(name)
        {
            return Err(wrong(field, &join(path, name), "is missing"));
        }
    }
    Ok(())
}

fn check_array(schema: &JsonObject, items: &mut [Value], path: &str) -> Result<(), Failure> {
    let count = items.len() as u64;
    if count < number(schema, "minItems").unwrap_or(0)
        || count > number(schema, "maxItems").unwrap_or(u64::MAX)
    {
        return Err(wrong(schema, path, &format!("has {count} items")));
    }
    if let Some(Value::Object(item)) = schema.get("items") {
        for (index, value) in items.iter_mut().enumerate() {
            check(item, value, &format!("{path}[{index}]"))?;
        }
    }
    Ok(())
}

fn check_string(schema: &JsonObject, given: &str, path: &str) -> Result<(), Failure> {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        if !words.iter().any(|word| word == given) {
            return Err(wrong(schema, path, &format!("is {}", quoted(given))));
        }
        return Ok(());
    }
    let length = given.chars().count() as u64;
    let shortest = number(schema, "minLength").unwrap_or(0);
    if shortest > 0 && given.trim().is_empty() {
        return Err(wrong(schema, path, "is blank"));
    }
    if length < shortest || length > number(schema, "maxLength").unwrap_or(u64::MAX) {
        return Err(wrong(schema, path, &format!("has {length} characters")));
    }
    Ok(())
}

fn check_number(schema: &JsonObject, value: &mut Value, path: &str) -> Result<(), Failure> {
    let Some(given) = value.as_f64() else { return Err(wrong(schema, path, "is out of range")) };
    if text(schema, "type") == "integer" && !(value.is_i64() || value.is_u64()) {
        if given.fract() != 0.0 || given.abs() > 1e15 {
            return Err(wrong(schema, path, &format!("is {given}")));
        }
        *value = json!(given as i64);
    }
    let limit = |key| schema.get(key).and_then(Value::as_f64);
    if limit("minimum").is_some_and(|least| given < least)
        || limit("maximum").is_some_and(|most| given > most)
    {
        return Err(wrong(schema, path, &format!("is {given}")));
    }
    Ok(())
}

fn unknown(name: &str, known: &JsonObject, path: &str) -> Failure {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let meant = closest(name, &places(known, path)).map(|close| format!(", did you mean `{close}`?"));
    let within = if path.is_empty() { "this tool takes".to_owned() } else { format!("`{path}` takes") };
    let full = join(path, name);
    Failure::argument(format!("argument `{full}` is unknown{}", meant.unwrap_or_default()))
        .hint(format!("{within} {}", names.join(", ")))
        .details(json!({ "argument": full, "known": names }))
}

/// Every argument from here down, by short name and by full name.
fn places(known: &JsonObject, path: &str) -> Vec<(String, String)> {
    let mut found: Vec<_> = known.keys().map(|name| (name.clone(), join(path, name))).collect();
    for (name, field) in known {
        if let Some(Value::Object(inner)) = field.get("properties") {
            found.extend(places(inner, &join(path, name)));
        }
    }
    found
}

fn wrong(schema: &JsonObject, path: &str, what: &str) -> Failure {
    let right = expected(schema);
    if path.is_empty() {
        return Failure::argument(format!("the arguments are not {right}"));
    }
    let failure = Failure::argument(format!("argument `{path}` {what}, it should be {right}"))
        .details(json!({ "argument": path, "expected": right }));
    match schema.get("description").and_then(Value::as_str) {
        Some(about) => failure.hint(format!("{path}: {about}")),
        None => failure,
    }
}

/// A description of what the schema accepts.
fn expected(schema: &JsonObject) -> String {
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        return format!("one of {}", words.join(", "));
    }
    let range = |low: &str, high: &str| match (schema.get(low), schema.get(high)) {
        (Some(low), Some(high)) => Some(format!("{low} to {high}")),
        (Some(low), None) => Some(format!("{low} or more")),
        (None, Some(high)) => Some(format!("at most {high}")),
        (None, None) => None,
    };
    let number = |kind: &str| match range("minimum", "maximum") {
        Some(range) => format!("{kind}, {range}"),
        None => kind.to_owned(),
    };
    match text(schema, "type") {
        "integer" => number("an integer"),
        "number" => number("a number"),
        "boolean" => "true or false".to_owned(),
        "array" => range("minItems", "maxItems")
            .map_or("a list".to_owned(), |range| format!("a list of {range} items")),
        "object" => "an object".to_owned(),
        _ => range("minLength", "maxLength")
            .map_or("a string".to_owned(), |range| format!("a string of {range} characters")),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string {}", quoted(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// The full name of the argument that a misspelled or misplaced one most likely means, if one is close enough.
fn closest<'a>(name: &str, places: &'a [(String, String)]) -> Option<&'a str> {
    let name = name.to_lowercase();
    places
        .iter()
        .map(|(own, full)| {
            let nested = name.len() > 2 && (own.contains(&name) || name.contains(own.as_str()));
            let edits = strsim::levenshtein(&name, own);
            (if nested { edits.min(1) } else { edits }, own, full)
        })
        .min_by_key(|&(edits, ..)| edits)
        .filter(|&(edits, own, _)| {
            let length = own.chars().count();
            edits < length && edits <= length.div_ceil(3).max(2)
        })
        .map(|(.., full)| full.as_str())
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn text<'a>(schema: &'a JsonObject, key: &str) -> &'a str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(schema: &JsonObject, key: &str) -> Option<u64> {
    schema.get(key).and_then(Value::as_u64)
}

#[cfg(test)]
mod tests;

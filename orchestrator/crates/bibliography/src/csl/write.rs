//! Records as CSL-JSON.

use crate::Record;
use crate::names::person;
use crate::text::line;
use crate::write::{Parts, guarded};
use serde_json::{Map, Value, json};

/// The item of a record, indented as a part of an array.
pub(crate) fn written(record: &Record, key: &str) -> String {
    let mut item = Map::new();
    let mut put = |name: &str, value: Value| {
        let is_empty = match &value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        if !is_empty {
            item.insert(name.to_owned(), value);
        }
    };
    let text = |value: &Option<String>| Value::from(value.as_deref().map(shown).unwrap_or_default());
    put("id", key.into());
    put("type", record.kind.csl().into());
    put("title", shown(&record.title).into());
    put("author", record.authors.iter().map(|of| name(&line(of))).collect());
    put("editor", record.editors.iter().map(|of| name(&line(of))).collect());
    put("container-title", text(&record.venue));
    put("volume", text(&record.volume));
    put("issue", text(&record.issue));
    put("page", text(&record.pages));
    put("publisher", text(&record.publisher));
    put("publisher-place", text(&record.place));
    put("edition", text(&record.edition));
    put("issued", date(record.date.as_deref(), record.year));
    put("DOI", record.doi.as_ref().map(lyra_domain::Doi::as_str).unwrap_or_default().into());
    put("PMID", text(&record.pmid));
    put("PMCID", text(&record.pmcid));
    if let Some(arxiv) = &record.arxiv {
        put("archive", "arXiv".into());
        put("archive_location", arxiv.to_string().into());
    }
    put("ISBN", record.isbn.join(", ").into());
    put("ISSN", record.issn.join(", ").into());
    put("URL", line(record.url.as_deref().unwrap_or_default()).into());
    put("accessed", date(record.accessed.as_deref(), None));
    put("language", text(&record.language));
    put("abstract", lines(record.abstract_text.as_deref().unwrap_or_default()).into());
    let tags: Vec<String> = record.tags.iter().map(shown).collect();
    if tags.iter().any(|tag| tag.contains([',', ';'])) {
        put("categories", tags.into());
    } else {
        put("keyword", tags.join(", ").into());
    }
    put("status", if record.is_retracted { "retracted" } else { "" }.into());
    let notes: Vec<String> = record.notes.iter().map(|note| lines(note)).collect();
    put("note", notes.join("\n").into());
    put("custom", custom(record, notes).into());
    let item = serde_json::to_string_pretty(&Value::Object(item)).unwrap_or_default();
    let indented: Vec<String> = item.lines().map(|line| format!("  {line}")).collect();
    indented.join("\n")
}

/// What CSL has no variable for.
fn custom(record: &Record, notes: Vec<String>) -> Map<String, Value> {
    let mut custom = Map::new();
    if !record.collections.is_empty() {
        custom.insert("collections".to_owned(), record.collections.clone().into());
    }
    if !record.files.is_empty() {
        custom.insert("files".to_owned(), json!(record.files));
    }
    if notes.len() > 1 {
        custom.insert("notes".to_owned(), notes.into());
    }
    custom
}

fn name(name: &str) -> Value {
    match Parts::of(name).filter(|parts| !parts.given.is_empty()) {
        Some(Parts { family, given, suffix }) if person(family, given, suffix) == name => {
            let mut parts = json!({"family": guarded(family), "given": guarded(given)});
            if !suffix.is_empty() {
                parts["suffix"] = suffix.into();
            }
            parts
        }
        _ => json!({"literal": guarded(name)}),
    }
}

fn date(date: Option<&str>, year: Option<i32>) -> Value {
    let parts = date.unwrap_or_default().split('-');
    let mut parts: Vec<i32> = parts.map_while(|part| part.parse().ok()).collect();
    if parts.is_empty() {
        parts.extend(year);
    }
    if parts.is_empty() { Value::Null } else { json!({"date-parts": [parts]}) }
}

fn shown(text: impl AsRef<str>) -> String {
    guarded(&line(text.as_ref())).into_owned()
}

fn lines(text: &str) -> String {
    let lines = text.lines().map(line).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
    guarded(&lines).into_owned()
}

//! A document as an index holds it, and back.

use super::mapping::vector_field;
use crate::backend::FeatureScope;
use crate::{CorpusError, Document, Result, labels};
use serde_json::{Map, Value, json};

/// Fields of [`Document`] that have a field of their own: in `stored`, they are left out.
const OWN: [(&str, &str); 4] = [("title", "title"), ("text", "abst"), ("claim", "claim"), ("desc", "desc")];
/// Fields that make a document, without vectors.
pub(super) const FIELDS: [&str; 5] = ["title", "abst", "claim", "desc", "stored"];

/// Those of them that are short: without claims, and without description or full text.
pub(super) const SHORT_FIELDS: [&str; 3] = ["title", "abst", "stored"];

/// Vectors of a document, with the scopes that have each.
pub(crate) type Vectors = Vec<(Vec<FeatureScope>, Vec<f32>)>;

/// What an index holds of a document.
pub(super) fn source(document: &Document, hash: u64, vectors: &Vectors) -> Result<Value> {
    let mut stored = serde_json::to_value(document).map_err(|error| unreadable(&document.doc_id, &error))?;
    if let Some(fields) = stored.as_object_mut() {
        for (name, _) in OWN {
            fields.remove(name);
        }
        fields.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
    }
    let mut source = Map::new();
    let mut put = |name: &str, value: Value| {
        let is_empty = match &value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(list) => list.is_empty(),
            _ => false,
        };
        if !is_empty {
            source.insert(name.to_owned(), value);
        }
    };
    put("id", json!(document.doc_id));
    for ((_, field), text) in
        OWN.iter().zip([&document.title, &document.text, &document.claim, &document.desc])
    {
        put(field, json!(text));
    }
    for (field, codes) in [
        ("ipc_codes", &document.codes.ipc),
        ("cpc_codes", &document.codes.cpc),
        ("fi_codes", &document.codes.fi),
        ("ft_codes", &document.codes.ft),
    ] {
        put(field, json!(codes));
    }
    for (field, value) in [
        ("app_id", &document.app_id),
        ("pub_id", &document.pub_id),
        ("exam_id", &document.exam_id),
        ("country", &document.country),
        ("lang", &document.language),
    ] {
        put(field, json!(value));
    }
    put("app_date", json!(document.app_date.map(|date| date.to_string())));
    put("pub_date", json!(document.pub_date.map(|date| date.to_string())));
    put("year", json!(document.year));
    put("applicants", json!(document.applicants));
    put("cross_en_applicants", json!(document.cross_en_applicants));
    put("tag", json!(document.tags.iter().map(|tag| labels::tag(tag)).collect::<Vec<_>>()));
    put("collection", json!(labels::with_ancestors(&document.collections)));
    for (field, names) in [("tags", &document.tags), ("collections", &document.collections)] {
        let named = names.iter().filter(|name| !name.trim().is_empty());
        put(field, json!(named.map(|name| labels::short(name)).collect::<Vec<_>>()));
    }
    put("notes", json!(document.own_words().collect::<Vec<_>>()));
    put("hash", json!(format!("{hash:016x}")));
    put("stored", stored);
    for (field, value) in vector_fields(vectors) {
        put(&field, value);
    }
    Ok(Value::Object(source))
}

/// The fields that hold vectors, and the one that says which.
pub(super) fn vector_fields(vectors: &Vectors) -> Vec<(String, Value)> {
    let scopes: Vec<&str> = vectors.iter().flat_map(|(scopes, _)| scopes).map(|scope| scope.name()).collect();
    let mut fields = vec![("embedded".to_owned(), json!(scopes))];
    for (scopes, vector) in vectors {
        fields.extend(scopes.iter().map(|scope| (vector_field(*scope), json!(vector))));
    }
    fields
}

/// The document of a source that has at least [`FIELDS`].
pub(super) fn document(id: &str, mut source: Value) -> Result<Document> {
    let mut stored = source["stored"].take();
    if stored.is_null() {
        stored = json!({"doc_id": id});
    }
    for (name, field) in OWN {
        if let Value::String(text) = source[field].take() {
            stored[name] = Value::String(text);
        }
    }
    serde_json::from_value(stored).map_err(|error| unreadable(id, &error))
}

/// Whether a source is that of a document whose sections are known.
pub(super) fn has_sections(source: &Value) -> bool {
    source["stored"]["sections"].as_array().is_some_and(|sections| !sections.is_empty())
}

/// The checksum that was written with a document, and the scopes of its vectors.
pub(super) fn state(source: &Value) -> Option<(u64, Vec<FeatureScope>)> {
    let hash = u64::from_str_radix(source["hash"].as_str()?, 16).ok()?;
    let names = super::strings(&source["embedded"]);
    Some((hash, names.iter().filter_map(|name| name.parse().ok()).collect()))
}

/// The vector of a scope.
pub(super) fn vector(source: &Value, scope: FeatureScope) -> Option<Vec<f32>> {
    let numbers = source[vector_field(scope)].as_array()?;
    numbers.iter().map(|number| number.as_f64().map(|number| number as f32)).collect()
}

fn unreadable(id: &str, error: &serde_json::Error) -> CorpusError {
    CorpusError::Index { name: id.to_owned(), why: format!("stored document: {error}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_comes_back_as_it_was() {
        let mut whole = Document {
            doc_id: "US-1".to_owned(),
            title: "太陽電池".to_owned(),
            text: "Light.".to_owned(),
            desc: "One.\nTwo.".to_owned(),
            tags: vec!["To Read".to_owned(), " ".to_owned()],
            collections: vec!["Sleep/Naps".to_owned()],
            year: Some(2020),
            pub_date: Some(jiff::civil::date(2020, 1, 7)),
            authors: vec!["A".to_owned()],
            ..Document::default()
        };
        whole.codes.ipc.push("H01L31/04".to_owned());
        let vectors = vec![(vec![FeatureScope::Wide, FeatureScope::TitleAbstClaims], vec![0.1_f32, -0.25])];
        let source = source(&whole, 0xabc, &vectors).unwrap();
        assert_eq!(source["collection"], json!(["sleep", "sleep/naps"]));
        assert_eq!(source["tags"], json!(["To Read"]));
        assert!(source.get("claim").is_none() && source["stored"].get("title").is_none());
        assert_eq!(state(&source), Some((0xabc, vec![FeatureScope::Wide, FeatureScope::TitleAbstClaims])));
        assert_eq!(vector(&source, FeatureScope::TitleAbstClaims), Some(vec![0.1, -0.25]));
        assert_eq!(document("US-1", source).unwrap(), whole);
    }
}

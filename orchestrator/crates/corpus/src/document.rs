//! A document of a corpus, and how it is read from a line of JSON.

use lyra_domain::{Doi, Work};
use lyra_text::{language, normalise};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A document as it is stored and returned.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// Identifier within the corpus.
    pub doc_id: String,
    /// Title, may be empty.
    pub title: String,
    /// Abstract or text, may be empty when there is a title.
    pub text: String,
    /// Address of the document.
    pub url: Option<String>,
    /// DOI.
    pub doi: Option<Doi>,
    /// Year of publication.
    pub year: Option<i32>,
    /// Journal, conference or site.
    pub venue: Option<String>,
    /// Names in the order of the by-line.
    pub authors: Vec<String>,
    /// ISO 639-1 code: as given, else detected.
    pub language: Option<String>,
    /// How often others cite it.
    pub citation_count: Option<u32>,
    /// What it cites: DOIs or ids of the same corpus.
    pub references: Vec<String>,
}

impl Document {
    /// Reads one line of JSON Lines; the error is the reason to report, in a few words.
    ///
    /// `id` may be a number or be called `doc_id` or `_id`; `abstract` may be called `text` and be a list of sentences;
    /// authors may be strings or objects with a `name`; years and counts may be strings of digits. Other fields are
    /// ignored. A DOI that is none is left out.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("invalid JSON: {error}"))?;
        let Value::Object(fields) = value else { return Err("not a JSON object".to_owned()) };
        let doc_id = match first(&fields, &["id", "doc_id", "_id"]) {
            None => return Err("missing id".to_owned()),
            Some((_, Value::String(id))) if !id.trim().is_empty() => id.trim().to_owned(),
            Some((_, Value::Number(id))) => id.to_string(),
            Some((name, Value::String(_))) => return Err(format!("`{name}` is empty")),
            Some((name, _)) => return Err(format!("`{name}` must be a string or a number")),
        };
        if doc_id.len() > MAX_ID {
            return Err(format!("id is longer than {MAX_ID} bytes"));
        }
        let title = normalise(&text(&fields, &["title"])?.unwrap_or_default());
        let body = text(&fields, &["abstract", "text"])?.unwrap_or_default().trim().to_owned();
        if title.is_empty() && body.is_empty() {
            return Err("no title and no text".to_owned());
        }
        let given = text(&fields, &["language", "lang"])?.map(|code| code.trim().to_lowercase());
        let language = given
            .filter(|code| code.len() == 2)
            .or_else(|| language(if body.is_empty() { &title } else { &body }).map(str::to_owned));
        let year =
            number(&fields, "year")?.map(|year| i32::try_from(year).map_err(|_| "`year` is out of range"));
        let count = number(&fields, "citation_count")?;
        let count = count.map(|count| u32::try_from(count).map_err(|_| "`citation_count` is out of range"));
        Ok(Self {
            doc_id,
            title,
            text: body,
            url: text(&fields, &["url"])?.filter(|url| !url.trim().is_empty()),
            doi: text(&fields, &["doi"])?.and_then(|doi| Doi::parse(&doi)),
            year: year.transpose()?,
            venue: text(&fields, &["venue", "journal"])?.filter(|venue| !venue.trim().is_empty()),
            authors: names(&fields, "authors")?,
            language,
            citation_count: count.transpose()?,
            references: names(&fields, "references")?,
        })
    }

    /// The document's metadata as a work found in corpus `corpus`.
    pub fn work(&self, corpus: &str) -> Work {
        Work {
            title: self.title.clone(),
            year: self.year,
            venue: self.venue.clone(),
            doi: self.doi.clone(),
            authors: self.authors.clone(),
            citation_count: self.citation_count,
            references: self.references.clone(),
            source_api: format!("corpus:{corpus}"),
            ..Work::default()
        }
    }

    /// Where to find it: its own address, its DOI's, else `corpus:NAME/DOC_ID`.
    pub fn address(&self, corpus: &str) -> String {
        match (&self.url, &self.doi) {
            (Some(url), _) => url.clone(),
            (None, Some(doi)) => format!("https://doi.org/{doi}"),
            (None, None) => format!("corpus:{corpus}/{}", self.doc_id),
        }
    }
}

/// Longest id in bytes.
const MAX_ID: usize = 512;

fn first<'a>(fields: &'a Map<String, Value>, names: &[&'a str]) -> Option<(&'a str, &'a Value)> {
    names
        .iter()
        .find_map(|name| fields.get(*name).filter(|value| !value.is_null()).map(|value| (*name, value)))
}

/// A string, or a list of strings joined by spaces.
fn text(fields: &Map<String, Value>, names: &[&str]) -> Result<Option<String>, String> {
    match first(fields, names) {
        None => Ok(None),
        Some((_, Value::String(text))) => Ok(Some(text.clone())),
        Some((name, Value::Array(parts))) => {
            let parts: Option<Vec<&str>> = parts.iter().map(Value::as_str).collect();
            let parts = parts.ok_or_else(|| format!("`{name}` holds something else than strings"))?;
            Ok(Some(parts.iter().map(|part| part.trim()).collect::<Vec<_>>().join(" ")))
        }
        Some((name, _)) => Err(format!("`{name}` must be a string")),
    }
}

fn number(fields: &Map<String, Value>, name: &str) -> Result<Option<i64>, String> {
    match first(fields, &[name]) {
        None => Ok(None),
        Some((_, Value::Number(number))) => {
            number.as_i64().map(Some).ok_or_else(|| format!("`{name}` must be a whole number"))
        }
        Some((_, Value::String(digits))) if digits.trim().is_empty() => Ok(None),
        Some((_, Value::String(digits))) => {
            digits.trim().parse().map(Some).map_err(|_| format!("`{name}` must be a whole number"))
        }
        Some(_) => Err(format!("`{name}` must be a whole number")),
    }
}

/// A list of strings, of numbers, or of objects with a `name`, `doi` or `id`; one string is a list of one.
fn names(fields: &Map<String, Value>, name: &str) -> Result<Vec<String>, String> {
    let items = match first(fields, &[name]) {
        None => return Ok(Vec::new()),
        Some((_, Value::String(one))) => return Ok(vec![one.trim().to_owned()]),
        Some((_, Value::Array(items))) => items,
        Some(_) => return Err(format!("`{name}` must be a list")),
    };
    items
        .iter()
        .map(|item| match item {
            Value::String(text) => Ok(text.trim().to_owned()),
            Value::Number(number) => Ok(number.to_string()),
            Value::Object(fields) => text(fields, &["name", "doi", "id"])?
                .ok_or_else(|| format!("`{name}` holds an object without a name")),
            _ => Err(format!("`{name}` holds something else than strings")),
        })
        .filter(|item| item.as_ref().map_or(true, |text| !text.is_empty()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn real_files_vary() {
        let document = Document::parse(
            r#"{"doc_id": 4983, "title": " Naps ", "abstract": ["We slept. ", "It helped."], "year": "2014",
               "authors": [{"name": "A. B."}, "C. D."], "doi": "https://doi.org/10.1000/X", "references": [7], "venue": ""}"#,
        )
        .unwrap();
        assert_eq!(document.doc_id, "4983");
        assert_eq!((document.title.as_str(), document.text.as_str()), ("Naps", "We slept. It helped."));
        assert_eq!((document.year, document.venue.as_deref()), (Some(2014), None));
        assert_eq!(document.authors, ["A. B.", "C. D."]);
        assert_eq!(document.references, ["7"]);
        assert_eq!(document.address("x"), "https://doi.org/10.1000/x");
        assert_eq!(
            Document::parse(r#"{"_id": "a", "text": "昼寝は記憶を助ける。"}"#).unwrap().language.as_deref(),
            Some("ja")
        );
        assert_eq!(Document::parse(r#"{"_id": "a", "text": "x"}"#).unwrap().address("c"), "corpus:c/a");
    }

    #[test]
    fn reasons() {
        let check = |line: &str, expect: &str| {
            let reason = Document::parse(line).unwrap_err();
            assert!(reason.starts_with(expect), "{reason}");
        };
        check("{", "invalid JSON: ");
        check("[]", "not a JSON object");
        check(r#"{"title": "x"}"#, "missing id");
        check(r#"{"id": "", "title": "x"}"#, "`id` is empty");
        check(r#"{"id": {}, "title": "x"}"#, "`id` must be a string or a number");
        check(r#"{"id": 1, "title": " "}"#, "no title and no text");
        check(r#"{"id": 1, "title": 5}"#, "`title` must be a string");
        check(r#"{"id": 1, "abstract": ["a", 5]}"#, "`abstract` holds something else than strings");
        check(r#"{"id": 1, "title": "x", "year": "soon"}"#, "`year` must be a whole number");
        check(r#"{"id": 1, "title": "x", "authors": [[]]}"#, "`authors` holds something else than strings");
        check(r#"{"id": 1, "title": "x", "citation_count": -1}"#, "`citation_count` is out of range");
    }

    proptest! {
        #[test]
        fn any_line_is_a_document_or_a_reason(line in any::<String>()) {
            let _ = Document::parse(&line);
        }

        #[test]
        fn what_is_stored_is_read_back(id in "[a-z0-9]{1,8}", title in any::<String>(), body in any::<String>()) {
            let line = serde_json::json!({"id": id, "title": title, "text": body}).to_string();
            if let Ok(document) = Document::parse(&line) {
                let stored = serde_json::to_string(&document).unwrap();
                prop_assert_eq!(serde_json::from_str::<Document>(&stored).unwrap(), document);
            }
        }
    }
}

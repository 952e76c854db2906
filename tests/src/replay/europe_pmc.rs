//! Europe PMC.

use super::Question;
use super::works::{Catalogue, Record, examples};
use serde_json::{Value, json};

/// Before every path.
pub(super) const PATH: &str = "/europepmc/";

pub(super) fn catalogue() -> anyhow::Result<Catalogue> {
    let mut known = Catalogue::default();
    for example in examples()?.iter().filter(|example| example.serial % 4 != 2) {
        let passage = &example.passage;
        let id = (30_000_000 + example.serial).to_string();
        let kind = if example.number == 5 { "Retracted Publication" } else { "Journal Article" };
        let names: Vec<Value> = passage.authors.iter().map(|name| json!({"fullName": name})).collect();
        known.add(Record {
            names: vec![format!("med:{id}"), format!("doi:{}", example.doi())],
            cites: example.cites().map(|(doi, _)| format!("doi:{doi}")).collect(),
            text: format!("{} {}", passage.title, passage.text),
            json: json!({
                "id": id, "source": "MED", "pmid": id, "doi": example.doi(), "title": format!("{}.", passage.title),
                "authorList": {"author": names}, "journalInfo": {"journal": {"title": passage.venue}},
                "pubYear": passage.year.to_string(), "firstPublicationDate": format!("{}-01-01", passage.year),
                "abstractText": passage.text, "language": passage.language, "isOpenAccess": "N",
                "citedByCount": example.citation_count(),
                "pubTypeList": {"pubType": [kind]},
            }),
        });
    }
    Ok(known)
}

pub(super) fn answer(known: &Catalogue, path: &str, question: &Question) -> Option<Value> {
    if path == "search" {
        let query = question.parameter("query");
        let names = named(query);
        let found: Vec<&Record> = if names.is_empty() {
            known.search(query.split(" AND (SRC:").next().unwrap_or_default())
        } else {
            names.iter().filter_map(|name| known.get(name)).collect()
        };
        let found: Vec<&Value> = found.into_iter().map(|record| &record.json).collect();
        return Some(
            json!({"hitCount": found.len(), "nextCursorMark": "*", "resultList": {"result": found}}),
        );
    }
    let mut parts = path.split('/');
    let (source, id, kind) = (parts.next()?, parts.next()?, parts.next()?);
    let record = known.get(&format!("{source}:{id}"))?;
    let listed = |records: Vec<&Record>| -> Value {
        records.iter().map(|record| json!({"id": record.json["id"], "source": "MED"})).collect()
    };
    match kind {
        "citations" => {
            let list = listed(known.citations(record));
            Some(json!({"hitCount": list.as_array()?.len(), "citationList": {"citation": list}}))
        }
        "references" => {
            let list = listed(known.references(record));
            Some(json!({"hitCount": list.as_array()?.len(), "referenceList": {"reference": list}}))
        }
        _ => None,
    }
}

/// The identifiers that a query names: `DOI:"10.5555/x"`, `(EXT_ID:1 AND SRC:MED)`.
fn named(query: &str) -> Vec<String> {
    let terms = query.split(" OR ").map(|term| term.trim_matches(['(', ')']));
    let name = |term: &str| {
        let number =
            || term.strip_prefix("EXT_ID:")?.strip_suffix(" AND SRC:MED").map(|id| format!("med:{id}"));
        let doi = || term.strip_prefix("DOI:").map(|doi| format!("doi:{}", doi.trim_matches('"')));
        number().or_else(doi)
    };
    terms.filter_map(name).collect()
}

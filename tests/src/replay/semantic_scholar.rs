//! The Graph API of Semantic Scholar.

use super::Question;
use super::works::{Catalogue, Record, examples, recorded};
use serde_json::{Value, json};

pub(super) fn catalogue(address: &str) -> anyhow::Result<Catalogue> {
    let mut known = Catalogue::default();
    // A work that the API has no abstract of: its text has to be fetched from where it stands.
    known.add(record(super::web::unabridged(address), Vec::new()));
    for example in examples()?.iter().filter(|example| example.serial % 4 != 0) {
        let passage = &example.passage;
        let paper = json!({
            "paperId": format!("{:040x}", example.serial), "corpusId": example.serial,
            "externalIds": {"DOI": example.doi(), "CorpusId": example.serial},
            "url": format!("https://www.semanticscholar.org/paper/{:040x}", example.serial),
            "title": passage.title, "abstract": passage.text, "venue": passage.venue, "year": passage.year,
            "publicationDate": format!("{}-01-01", passage.year),
            "authors": passage.authors.iter().map(|name| json!({"name": name})).collect::<Vec<_>>(),
            "citationCount": example.citation_count(), "referenceCount": example.cites().count(),
        });
        known.add(record(paper, example.cites().map(|(doi, _)| format!("doi:{doi}")).collect()));
    }
    for answer in recorded("api.semanticscholar.org/graph")? {
        papers(answer, &mut known);
    }
    Ok(known)
}

/// Every paper anywhere in an answer.
fn papers(value: Value, known: &mut Catalogue) {
    match value {
        Value::Object(fields) if fields.contains_key("paperId") => {
            known.add(record(Value::Object(fields), Vec::new()));
        }
        Value::Object(fields) => fields.into_iter().for_each(|(_, value)| papers(value, known)),
        Value::Array(values) => values.into_iter().for_each(|value| papers(value, known)),
        _ => {}
    }
}

fn record(paper: Value, cites: Vec<String>) -> Record {
    let ids = &paper["externalIds"];
    let names = [
        paper["paperId"].as_str().map(str::to_owned),
        ids["DOI"].as_str().map(|doi| format!("doi:{doi}")),
        ids["CorpusId"].as_u64().map(|id| format!("corpusid:{id}")),
    ];
    let text = |field: &str| paper[field].as_str().unwrap_or_default().to_owned();
    Record {
        names: names.into_iter().flatten().map(|name| name.to_lowercase()).collect(),
        cites,
        text: format!("{} {}", text("title"), text("abstract")),
        json: paper,
    }
}

pub(super) fn answer(known: &Catalogue, path: &str, question: &Question) -> Option<Value> {
    if path.starts_with("search") {
        let found: Vec<_> =
            known.search(question.parameter("query")).into_iter().map(|r| r.json.clone()).collect();
        return Some(match path {
            "search" => page(found, question),
            "search/bulk" => json!({"total": found.len(), "token": null, "data": found}),
            "search/match" if found.is_empty() => return None,
            "search/match" => json!({"data": [found[0]]}),
            _ => return None,
        });
    }
    if path == "batch" {
        let ids = question.body.as_ref()?["ids"].as_array()?;
        let one =
            |id: &Value| known.get(id.as_str().unwrap_or_default()).map_or(Value::Null, |r| r.json.clone());
        return Some(ids.iter().map(one).collect());
    }
    let linked = |entry: &str, records: Vec<&Record>| {
        let data = records.into_iter().map(|record| json!({entry: record.json})).collect();
        Some(page(data, question))
    };
    if let Some(id) = path.strip_suffix("/references") {
        linked("citedPaper", known.references(known.get(id)?))
    } else if let Some(id) = path.strip_suffix("/citations") {
        linked("citingPaper", known.citations(known.get(id)?))
    } else {
        known.get(path).map(|record| record.json.clone())
    }
}

fn page(all: Vec<Value>, question: &Question) -> Value {
    let (offset, limit) = (question.number("offset", 0), question.number("limit", 100));
    let total = all.len();
    let data: Vec<Value> = all.into_iter().skip(offset).take(limit).collect();
    let mut page = json!({"total": total, "offset": offset, "data": data});
    if offset + limit < total {
        page["next"] = json!(offset + limit);
    }
    page
}

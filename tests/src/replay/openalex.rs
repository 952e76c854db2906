//! OpenAlex.

use super::Question;
use super::works::{Catalogue, Record, examples, recorded};
use serde_json::{Map, Value, json};

pub(super) fn catalogue() -> anyhow::Result<Catalogue> {
    let mut known = Catalogue::default();
    for example in examples()?.iter().filter(|example| example.serial % 4 != 1) {
        let passage = &example.passage;
        let cited: Vec<String> = example.cites().map(|(_, serial)| address(serial)).collect();
        known.add(record(json!({
            "id": address(example.serial), "doi": format!("https://doi.org/{}", example.doi()),
            "title": passage.title, "display_name": passage.title, "language": passage.language,
            "ids": {"openalex": address(example.serial)},
            "publication_year": passage.year, "publication_date": format!("{}-01-01", passage.year),
            "primary_location": {"source": {"display_name": passage.venue}},
            "authorships": passage.authors.iter().map(|name| json!({"author": {"display_name": name}})).collect::<Vec<_>>(),
            "cited_by_count": example.citation_count(), "referenced_works_count": cited.len(),
            "referenced_works": cited, "is_retracted": example.number == 5,
            "abstract_inverted_index": inverted(&passage.text),
        })));
    }
    for answer in recorded("api.openalex.org/works")? {
        match answer {
            Value::Object(mut page) if page.contains_key("results") => {
                if let Some(Value::Array(works)) = page.remove("results") {
                    for work in works {
                        known.add(record(work));
                    }
                }
            }
            work => known.add(record(work)),
        }
    }
    Ok(known)
}

fn address(serial: usize) -> String {
    format!("https://openalex.org/W{}", 9_000_000_000 + serial)
}

fn inverted(text: &str) -> Value {
    let mut index: Map<String, Value> = Map::new();
    for (place, word) in text.split_whitespace().enumerate() {
        if let Value::Array(places) = index.entry(word).or_insert_with(|| json!([])) {
            places.push(json!(place));
        }
    }
    Value::Object(index)
}

fn record(work: Value) -> Record {
    let short = |value: &Value| value.as_str().and_then(|id| id.rsplit('/').next()).map(str::to_lowercase);
    let doi = work["doi"].as_str().map(|doi| doi.to_lowercase().replace("https://doi.org/", "doi:"));
    let cited = work["referenced_works"].as_array().into_iter().flatten().filter_map(short).collect();
    let words = work["abstract_inverted_index"].as_object().into_iter().flat_map(Map::keys);
    let text =
        words.fold(work["title"].as_str().unwrap_or_default().to_owned(), |text, word| text + " " + word);
    Record { names: short(&work["id"]).into_iter().chain(doi).collect(), cites: cited, text, json: work }
}

pub(super) fn answer(known: &Catalogue, question: &Question) -> Option<Value> {
    if let Some(id) = question.path.strip_prefix("/works/") {
        return known.get(id).map(|record| record.json.clone());
    }
    if question.path != "/works" {
        return None;
    }
    let search = question.parameter("search");
    let mut found =
        if search.is_empty() { filtered(known, question.parameter("filter")) } else { known.search(search) };
    if question.parameter("sort") == "cited_by_count:desc" {
        found.sort_by_key(|record| std::cmp::Reverse(record.json["cited_by_count"].as_u64()));
    }
    let (from, count) = (question.number("cursor", 0), question.number("per_page", 25));
    let results: Vec<&Value> = found.iter().skip(from).take(count).map(|record| &record.json).collect();
    let next = (from + count < found.len()).then(|| (from + count).to_string());
    Some(json!({"meta": {"count": found.len(), "per_page": count, "next_cursor": next}, "results": results}))
}

fn filtered<'a>(known: &'a Catalogue, filter: &str) -> Vec<&'a Record> {
    let Some((field, values)) = filter.split_once(':') else { return Vec::new() };
    let values = values.split('|');
    match field {
        "cites" => values.filter_map(|id| known.get(id)).flat_map(|record| known.citations(record)).collect(),
        "openalex" => values.filter_map(|id| known.get(id)).collect(),
        "doi" | "pmid" | "pmcid" => values.filter_map(|id| known.get(&format!("{field}:{id}"))).collect(),
        "title.search" => known.search(filter),
        _ => Vec::new(),
    }
}

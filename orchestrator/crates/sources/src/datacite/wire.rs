//! The API's JSON (JSON:API). Everything may be absent or null.

use crate::Paper;
use crate::markup::unmarked;
use crate::paper::{address, filled, imprint};
use crate::records::Records;
use crate::registry::DATACITE;
use lyra_domain::{Doi, Identifier, Work};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
pub(super) struct List {
    pub(super) data: Option<Records<Entry>>,
    pub(super) meta: Option<Meta>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meta {
    pub(super) total: Option<u64>,
    pub(super) total_pages: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Entry {
    attributes: Attributes,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Attributes {
    doi: Option<String>,
    titles: Option<Vec<Title>>,
    creators: Option<Vec<Creator>>,
    /// A name, or an object with one.
    publisher: Option<Value>,
    container: Option<Container>,
    /// A number, in some records as text.
    publication_year: Option<Value>,
    language: Option<String>,
    types: Option<Types>,
    descriptions: Option<Vec<Description>>,
    dates: Option<Vec<Date>>,
    url: Option<String>,
    citation_count: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Title {
    title: Option<String>,
    /// Absent for the main title.
    title_type: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Creator {
    /// `Family, Given` for people.
    name: Option<String>,
    given_name: Option<String>,
    family_name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Container {
    title: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Types {
    resource_type_general: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Description {
    description: Option<String>,
    /// `Abstract`, `Methods`, `TechnicalInfo`, …
    description_type: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Date {
    date: Option<String>,
    date_type: Option<String>,
}

impl Entry {
    /// `None` for a record without DOI or title.
    pub(super) fn into_paper(self) -> Option<Paper> {
        let about = self.attributes;
        let doi = Doi::parse(about.doi.as_deref()?)?;
        let mut titles: Vec<Title> = about.titles.into_iter().flatten().collect();
        // Translated and alternative titles have a type.
        titles.sort_by_key(|title| title.title_type.is_some());
        let title = titles.into_iter().find_map(|title| filled(title.title.map(|text| unmarked(&text))))?;
        let abstract_text = about.descriptions.into_iter().flatten().find_map(|description| {
            let of_work = description.description_type.as_deref() == Some("Abstract");
            filled(description.description.filter(|_| of_work).map(|text| unmarked(&text)))
        });
        let publisher = about.publisher.and_then(|publisher| match publisher {
            Value::String(name) => Some(name),
            other => other.get("name")?.as_str().map(str::to_owned),
        });
        let kind = about.types.and_then(|types| types.resource_type_general);
        let imprint = imprint(kind.as_deref(), publisher);
        let container = about.container.and_then(|container| container.title);
        let venue = filled(container).or_else(|| imprint.publisher.clone());
        // A data set is not an article: its venue says so.
        let venue = match kind.as_deref() {
            Some("Dataset") => {
                Some(venue.map_or_else(|| "data set".to_owned(), |venue| format!("{venue} (data set)")))
            }
            Some("Software") => {
                Some(venue.map_or_else(|| "software".to_owned(), |venue| format!("{venue} (software)")))
            }
            _ => venue,
        };
        let issued = about.dates.into_iter().flatten().find_map(|date| {
            let issued = date.date_type.as_deref() == Some("Issued");
            filled(date.date.filter(|_| issued)).filter(|date| date.len() == 10)
        });
        let mut work = Work {
            title,
            year: about.publication_year.as_ref().and_then(year),
            published_date: issued,
            venue,
            imprint,
            authors: about.creators.into_iter().flatten().filter_map(name).collect(),
            citation_count: about.citation_count,
            source_api: DATACITE.name.to_owned(),
            ..Work::default()
        };
        let arxiv = doi.arxiv().map(Identifier::Arxiv);
        [Some(Identifier::Doi(doi)), arxiv].into_iter().flatten().for_each(|id| work.add_identifier(id));
        let code = |code: &String| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_lowercase());
        Some(Paper {
            url: address(&work, filled(about.url)),
            work,
            abstract_text,
            language: about.language.filter(code),
        })
    }
}

fn name(creator: Creator) -> Option<String> {
    match (filled(creator.given_name), filled(creator.family_name)) {
        (Some(given), Some(family)) => Some(format!("{given} {family}")),
        _ => filled(creator.name),
    }
}

fn year(value: &Value) -> Option<i32> {
    match value {
        Value::Number(number) => i32::try_from(number.as_i64()?).ok(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

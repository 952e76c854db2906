//! What a page says of itself: citation tags, JSON-LD, Open Graph, microdata.

use super::PublishedDate;
use crate::dom::single_spaces;
use dom_query::Document;
use lyra_domain::{Doi, given_first};
use serde_json::Value;
use std::collections::HashMap;
use url::Url;

/// Names on one by-line; a longer list is no by-line.
const MAX_AUTHORS: usize = 200;
/// Characters that an abstract has at least; less is a teaser.
const MIN_ABSTRACT: usize = 80;
/// Nodes of JSON-LD that are looked at.
const MAX_JSON_NODES: usize = 5_000;

/// What was found. Everything is the page's own word.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) title: Option<String>,
    /// All that it gives as its title, some with the site's name.
    pub(super) titles: Vec<String>,
    /// What it gives as its description: often the beginning of its text.
    pub(super) descriptions: Vec<String>,
    pub(super) authors: Vec<String>,
    pub(super) published: Option<PublishedDate>,
    pub(super) site: Option<String>,
    pub(super) language: Option<String>,
    pub(super) canonical_url: Option<Url>,
    pub(super) doi: Option<Doi>,
    pub(super) pdf_url: Option<Url>,
    pub(super) abstract_text: Option<String>,
}

pub(super) fn read(document: &Document, base: &Url) -> Said {
    let tags = Tags::of(document);
    let linked = LinkedData::of(document);
    let published = tags
        .first(&[
            "citation_publication_date",
            "citation_date",
            "citation_online_date",
            "prism.publicationdate",
        ])
        .or_else(|| linked.date.clone())
        .or_else(|| {
            tags.first(&[
                "article:published_time",
                "og:article:published_time",
                "datepublished",
                "dc.date.issued",
                "dcterms.issued",
                "dc.date",
                "dcterms.date",
                "dcterms.created",
                "parsely-pub-date",
                "sailthru.date",
                "pubdate",
                "publishdate",
                "publish-date",
                "date",
                "citation_year",
            ])
        })
        .and_then(|text| PublishedDate::parse(&text))
        .or_else(|| {
            attribute(document, "[itemprop='datePublished']", &["content", "datetime"])
                .or_else(|| {
                    attribute(
                        document,
                        "time[pubdate], article time[datetime], header time[datetime]",
                        &["datetime"],
                    )
                })
                .and_then(|text| PublishedDate::parse(&text))
        });
    let authors = [
        tags.all(&["citation_author", "citation_authors"])
            .iter()
            .flat_map(|names| names.split(';'))
            // Tags that name one author each have the family name first.
            .map(|name| given_first(&single_spaces(name)))
            .collect(),
        linked.authors.clone(),
        tags.all(&[
            "author",
            "article:author",
            "dc.creator",
            "dcterms.creator",
            "byl",
            "parsely-author",
            "sailthru.author",
        ])
        .iter()
        .flat_map(|text| if is_inverted(text) { vec![given_first(text)] } else { names(Some(text)) })
        .collect::<Vec<String>>(),
        document
            .select("[rel='author'], [itemprop='author'] [itemprop='name']")
            .nodes()
            .iter()
            .flat_map(|node| names(Some(&node.text())))
            .collect(),
    ]
    .into_iter()
    .map(distinct)
    .find(|names| !names.is_empty())
    .unwrap_or_default();
    let address =
        |href: String| base.join(href.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let every =
        |names: &[&str]| -> Vec<String> { names.iter().filter_map(|name| tags.first(&[name])).collect() };
    let mut titles = every(&["citation_title", "og:title", "twitter:title", "headline", "dc.title"]);
    titles.extend(document.select("title").nodes().first().map(|node| single_spaces(&node.text())));
    Said {
        title: tags.first(&["citation_title", "dc.title", "dcterms.title"]),
        titles,
        descriptions: every(&["og:description", "description", "twitter:description"]),
        authors,
        published,
        site: tags.first(&["og:site_name", "citation_journal_title", "application-name"]).or(linked.site),
        language: attribute(document, "html", &["lang", "xml:lang"])
            .or_else(|| tags.first(&["citation_language", "dc.language", "og:locale", "content-language"])),
        canonical_url: attribute(document, "link[rel='canonical']", &["href"])
            .or_else(|| tags.first(&["og:url"]))
            .and_then(address),
        doi: tags
            .first(&[
                "citation_doi",
                "dc.identifier.doi",
                "prism.doi",
                "dc.identifier",
                "bepress_citation_doi",
            ])
            .and_then(|text| Doi::parse(&text))
            .or(linked.doi),
        pdf_url: tags
            .first(&["citation_pdf_url", "bepress_citation_pdf_url", "eprints.document_url"])
            .and_then(address),
        abstract_text: tags
            .first(&["citation_abstract", "dcterms.abstract", "dc.description.abstract", "eprints.abstract"])
            // Publishers put paragraphs and formulas into the attribute.
            .map(|text| single_spaces(&Document::fragment(text).text()))
            .filter(|text| text.chars().count() >= MIN_ABSTRACT),
    }
}

/// Names in a by-line such as `By Ann Lee and Bo Ek`; what is an address or no name is left out.
pub(crate) fn names(byline: Option<&str>) -> Vec<String> {
    let text = single_spaces(byline.unwrap_or_default());
    let lower = text.to_lowercase();
    let text = ["by ", "von ", "par ", "por ", "文："]
        .iter()
        .find(|by| lower.starts_with(**by))
        .map_or(text.as_str(), |by| text.get(by.len()..).unwrap_or_default());
    let found = text
        .split([',', ';', '|', '、', '·', '\u{2022}'])
        .flat_map(|part| part.split(" and "))
        .flat_map(|part| part.split(" & "))
        .map(|name| name.trim().to_owned())
        .filter(|name| {
            let words = name.split_whitespace().count();
            (1..=6).contains(&words)
                && name.chars().count() <= 60
                && name.chars().any(char::is_alphabetic)
                && !name.contains("://")
                && !name.contains('@')
                && PublishedDate::parse(name).is_none()
                && !name.chars().any(|c| c.is_ascii_digit())
        })
        .collect();
    distinct(found)
}

/// Whether the family name stands first, as in `Lee, Ann` and `de Vries, Jan`, rather than a comma between two people.
fn is_inverted(name: &str) -> bool {
    let Some((family, given)) = name.split_once(',') else { return false };
    let words =
        |text: &str| text.split_whitespace().filter(|word| word.starts_with(char::is_uppercase)).count();
    let one_name = words(family) == 1 && !given.contains(',') && !given.contains(" and ");
    one_name && (1..=3).contains(&given.split_whitespace().count())
}

fn distinct(names: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for name in names {
        if !name.is_empty() && !name.contains("://") && !kept.contains(&name) && kept.len() < MAX_AUTHORS {
            kept.push(name);
        }
    }
    kept
}

fn attribute(document: &Document, css: &str, attributes: &[&str]) -> Option<String> {
    let found = document.select(css);
    let node = found.nodes().first()?;
    attributes
        .iter()
        .find_map(|name| node.attr(name))
        .map(|value| single_spaces(&value))
        .filter(|value| !value.is_empty())
}

/// `meta` tags by name, in lower case.
struct Tags(HashMap<String, Vec<String>>);

impl Tags {
    fn of(document: &Document) -> Self {
        let mut tags: HashMap<String, Vec<String>> = HashMap::new();
        for node in document.select("meta[content]").nodes() {
            let content = single_spaces(&node.attr_or("content", ""));
            if content.is_empty() {
                continue;
            }
            for attribute in ["name", "property", "itemprop", "http-equiv"] {
                // One attribute may hold several names.
                let named = node.attr_or(attribute, "").to_lowercase();
                for name in named.split_whitespace() {
                    tags.entry(name.to_owned()).or_default().push(content.clone());
                }
            }
        }
        Self(tags)
    }

    fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.0.get(*name)?.first().cloned())
    }

    fn all(&self, names: &[&str]) -> Vec<String> {
        names.iter().find_map(|name| self.0.get(*name).cloned()).unwrap_or_default()
    }
}

/// The part of schema.org's JSON-LD that is read.
#[derive(Debug, Default)]
struct LinkedData {
    authors: Vec<String>,
    date: Option<String>,
    site: Option<String>,
    doi: Option<Doi>,
}

impl LinkedData {
    fn of(document: &Document) -> Self {
        let mut found = Self::default();
        for node in document.select("script[type='application/ld+json']").nodes() {
            let Ok(value) = serde_json::from_str::<Value>(node.text().trim()) else { continue };
            // Breadth first: the page's own article stands above articles that it mentions.
            let mut todo = std::collections::VecDeque::from([&value]);
            let mut looked = 0;
            while let Some(value) = todo.pop_front() {
                looked += 1;
                if looked > MAX_JSON_NODES {
                    break;
                }
                match value {
                    Value::Array(items) => todo.extend(items),
                    Value::Object(object) => {
                        if object.get("@type").is_some_and(is_article) {
                            found.fill(object);
                        }
                        todo.extend(object.values().filter(|value| value.is_object() || value.is_array()));
                    }
                    _ => {}
                }
            }
        }
        found
    }

    fn fill(&mut self, article: &serde_json::Map<String, Value>) {
        if self.authors.is_empty() {
            self.authors = distinct(article.get("author").map(person_names).unwrap_or_default());
        }
        if self.date.is_none() {
            self.date = article.get("datePublished").and_then(Value::as_str).map(str::to_owned);
        }
        if self.doi.is_none() {
            self.doi = ["doi", "identifier", "sameAs", "@id"]
                .iter()
                .filter_map(|key| article.get(*key))
                .find_map(doi_of);
        }
        if self.site.is_none() {
            self.site =
                article.get("publisher").and_then(|publisher| person_names(publisher).into_iter().next());
        }
    }
}

fn is_article(kind: &Value) -> bool {
    let is = |kind: &Value| {
        kind.as_str().is_some_and(|kind| {
            kind.ends_with("Article")
                || kind.ends_with("Posting")
                || matches!(kind, "Report" | "Thesis" | "Book" | "Dataset")
        })
    };
    is(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is))
}

/// The DOI that an identifier is or has: a text, a `PropertyValue`, or the first of several.
fn doi_of(value: &Value) -> Option<Doi> {
    match value {
        Value::String(text) => Doi::parse(text),
        Value::Array(several) => several.iter().take(MAX_AUTHORS).find_map(doi_of),
        Value::Object(property) => property.get("value").and_then(Value::as_str).and_then(Doi::parse),
        _ => None,
    }
}

fn person_names(value: &Value) -> Vec<String> {
    match value {
        Value::String(name) => names(Some(name)),
        Value::Array(people) => people.iter().take(MAX_AUTHORS).flat_map(person_names).collect(),
        Value::Object(person) => match person.get("name") {
            Some(Value::String(name)) => vec![single_spaces(name)],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(single_spaces).collect(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

//! What is known about a document, apart from its text.

use crate::pages::corpora::{address, found};
use crate::parts::place;
use crate::words::Words;
use lyra_corpus::{Document, Stage, Version};
use lyra_domain::Identifier;
use maud::{Markup, html};

/// References that are listed.
const REFERENCES: usize = 200;

pub(super) fn facts(words: Words, corpus: &str, document: &Document) -> Markup {
    let list = |title: &'static str, values: &[String]| (title, values.join(", "));
    let text = |title: &'static str, value: &Option<String>| (title, value.clone().unwrap_or_default());
    let number = |title: &'static str, value: Option<u32>| {
        (title, value.map_or_else(String::new, |n| words.number(u64::from(n))))
    };
    let date = |title: &'static str, value: Option<jiff::civil::Date>| {
        (title, value.map_or_else(String::new, |date| date.to_string()))
    };
    let plain = [
        list("corpora.authors", &document.authors),
        text("corpora.venue", &document.venue),
        text("corpora.language", &document.language),
        number("corpora.cited", document.citation_count),
        list("corpora.files_of_document", &document.files),
        list("corpora.applicants", &document.applicants),
        list("corpora.applicants_in_latin", &document.cross_en_applicants),
        text("corpora.country", &document.country),
        text("corpora.application", &document.app_id),
        date("corpora.filed", document.app_date),
        text("corpora.publication", &document.pub_id),
        date("corpora.published", document.pub_date),
        text("corpora.grant", &document.exam_id),
        list("corpora.ipc", &document.codes.ipc),
        list("corpora.cpc", &document.codes.cpc),
        list("corpora.fi", &document.codes.fi),
        list("corpora.f_terms", &document.codes.ft),
    ];
    html! {
        section.stack.tight aria-labelledby="about-title" {
            h2 #about-title { (words.t("corpora.about")) }
            dl.meta {
                (identifiers(words, document))
                @for (title, value) in plain.iter().filter(|(_, value)| !value.is_empty()) {
                    dt { (words.t(title)) } dd { (value) }
                }
                (labels(words.t("corpora.tags"), "tag", corpus, &document.tags))
                (labels(words.t("corpora.collections"), "collection", corpus, &document.collections))
                @for version in &document.versions { (one_version(words, version)) }
                @for completed in &document.completed {
                    dt { (words.t("corpora.completed")) }
                    dd { (words.with("corpora.completed_by", &[("field", field(words, &completed.field)), ("source", &completed.source)])) }
                }
            }
            (references(words, document))
        }
    }
}

/// Identifiers and addresses, as links where a browser may open them.
fn identifiers(words: Words, document: &Document) -> Markup {
    let zotero = document.zotero.as_deref().filter(|address| address.starts_with("zotero://select/"));
    html! {
        @if let Some(doi) = &document.doi {
            dt { "DOI" }
            dd { a href=(format!("https://doi.org/{doi}")) rel="noreferrer noopener external" { (doi) } }
        }
        @for identifier in &document.identifiers {
            @let (name, value, address) = known(identifier);
            dt { (name) }
            dd {
                @match address {
                    Some(address) => { a href=(address) rel="noreferrer noopener external" { (value) } }
                    None => { (value) }
                }
            }
        }
        @if let Some(url) = &document.url {
            dt { (words.t("corpora.address")) }
            dd {
                @if place::is_web(url) { a href=(url) rel="noreferrer noopener external" { (url) } } @else { (url) }
            }
        }
        @if let Some(zotero) = zotero {
            dt { "Zotero" }
            dd { a href=(zotero) { (words.t("corpora.open_in_zotero")) } }
        }
    }
}

/// Name, number, and page of an identifier.
fn known(identifier: &Identifier) -> (&'static str, String, Option<String>) {
    match identifier {
        Identifier::Doi(doi) => ("DOI", doi.to_string(), Some(format!("https://doi.org/{doi}"))),
        Identifier::Pmid(id) => ("PMID", id.clone(), Some(format!("https://pubmed.ncbi.nlm.nih.gov/{id}/"))),
        Identifier::Pmcid(id) => {
            ("PMC", id.clone(), Some(format!("https://pmc.ncbi.nlm.nih.gov/articles/{id}/")))
        }
        Identifier::Arxiv(id) => ("arXiv", id.to_string(), Some(format!("https://arxiv.org/abs/{id}"))),
        Identifier::OpenAlex(id) => ("OpenAlex", id.clone(), Some(format!("https://openalex.org/{id}"))),
        Identifier::SemanticScholar(id) => {
            ("Semantic Scholar", id.clone(), Some(format!("https://www.semanticscholar.org/paper/{id}")))
        }
        Identifier::CorpusId(id) => ("Semantic Scholar", id.clone(), None),
        Identifier::Nct(id) => {
            ("ClinicalTrials.gov", id.clone(), Some(format!("https://clinicaltrials.gov/study/{id}")))
        }
    }
}

/// Tags or collections, each leading to a search of those documents.
fn labels(title: &str, name: &str, corpus: &str, labels: &[String]) -> Markup {
    html! {
        @if !labels.is_empty() {
            dt { (title) }
            dd {
                @for (at, label) in labels.iter().enumerate() {
                    @if at > 0 { ", " }
                    a href=(format!("{}?{}", address(corpus), found::field(name, label))) { (label) }
                }
            }
        }
    }
}

fn one_version(words: Words, version: &Version) -> Markup {
    let year = version.year.map(|year| year.to_string());
    let doi = version.doi.as_ref().map(ToString::to_string);
    let parts: Vec<String> = [version.venue.clone(), year, doi].into_iter().flatten().collect();
    html! {
        dt {
            (words.t(match version.stage {
                Stage::Preprint => "corpora.preprint",
                Stage::Published => "corpora.published_version",
            }))
        }
        dd { (parts.join(", ")) @if version.is_shown { " " span.pill { (words.t("corpora.shown_version")) } } }
    }
}

/// A field that a source filled in.
fn field<'a>(words: Words, field: &'a str) -> &'a str {
    match field {
        "doi" => "DOI",
        "authors" => words.t("corpora.authors"),
        "year" => words.t("corpora.year"),
        "venue" => words.t("corpora.venue"),
        "identifiers" => words.t("corpora.identifiers"),
        other => other,
    }
}

fn references(words: Words, document: &Document) -> Markup {
    let count = document.references.len();
    html! {
        @if count > 0 {
            details #references {
                summary.small { (words.t("corpora.references")) " (" (words.number(count as u64)) ")" }
                ul.small.stack.tight {
                    @for reference in document.references.iter().take(REFERENCES) { li { (reference) } }
                    @if count > REFERENCES {
                        li.quiet { (words.with("corpora.more_labels", &[("n", &words.number((count - REFERENCES) as u64))])) }
                    }
                }
            }
        }
    }
}

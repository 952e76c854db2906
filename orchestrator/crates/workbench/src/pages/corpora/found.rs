//! Search in a corpus, and what it found.

use super::{address, document_address, snippet};
use crate::parts::place;
use crate::words::Words;
use lyra_corpus::{CorpusHit, Document, Labels, Method, Narrow, SearchResult, Within};
use lyra_domain::Citation;
use lyra_usecases::{App, AppError, ErrorCode};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

/// Documents that are listed at first, and added by each "more".
const STEP: usize = 20;
/// Most documents that are listed.
const MOST: usize = 200;
/// Tags and collections that the fields suggest.
const SUGGESTED: usize = 300;

/// What the address asks for; an empty field asks for nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(in crate::pages) struct Wanted {
    query: String,
    within: String,
    tag: String,
    collection: String,
    limit: String,
    /// Looks for duplicates in a large corpus too.
    pub(super) duplicates: Option<String>,
}

/// Documents, and why a search by words took the place of one by meaning; or why it cannot be answered.
pub(super) type Found = Result<(SearchResult, Option<String>), AppError>;

impl Wanted {
    fn limit(&self) -> usize {
        self.limit.trim().parse().map_or(STEP, |limit: usize| limit.clamp(1, MOST))
    }

    fn in_notes(&self) -> bool {
        self.within == "notes"
    }

    fn narrow(&self) -> Result<Narrow, AppError> {
        let one = |text: &String| {
            Some(text.trim().to_owned()).filter(|text| !text.is_empty()).into_iter().collect::<Vec<_>>()
        };
        let narrow = Narrow::of(&one(&self.tag), &one(&self.collection))?;
        Ok(Narrow { within: if self.in_notes() { Within::Notes } else { Within::Paper }, ..narrow })
    }

    /// The same search with more documents; none when there can be no more.
    fn more(&self, corpus: &str, found: usize) -> Option<String> {
        let limit = self.limit();
        let more = (found >= limit && limit < MOST).then(|| (limit + STEP).min(MOST).to_string())?;
        let fields = [
            ("query", &*self.query),
            ("within", &*self.within),
            ("tag", &*self.tag),
            ("collection", &*self.collection),
            ("limit", &*more),
        ];
        let query: Vec<String> = fields
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| field(name, value))
            .collect();
        Some(format!("{}?{}#hit-{}", address(corpus), query.join("&"), found + 1))
    }
}

/// A field of an address.
pub(super) fn field(name: &str, value: &str) -> String {
    format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
}

/// What is found; `None` when nothing is asked for. Where the models do not answer, words are searched for.
pub(super) async fn search(app: &App, corpus: &str, wanted: &Wanted) -> Result<Option<Found>, AppError> {
    let query = wanted.query.trim();
    if query.is_empty() {
        return Ok(None);
    }
    match answer(app, corpus, query, wanted).await {
        Err(error) if error.code == ErrorCode::InvalidArgument => Ok(Some(Err(error))),
        other => other.map(|found| Some(Ok(found))),
    }
}

async fn answer(
    app: &App,
    corpus: &str,
    query: &str,
    wanted: &Wanted,
) -> Result<(SearchResult, Option<String>), AppError> {
    let narrow = wanted.narrow()?;
    let search =
        async |method| app.search_narrowed_corpus(corpus, query, method, wanted.limit(), &narrow).await;
    match search(if wanted.in_notes() { Method::Bm25 } else { Method::Hybrid }).await {
        Err(error) if error.code == ErrorCode::Unavailable => {
            Ok((search(Method::Bm25).await?, Some(error.message)))
        }
        Err(error) => Err(error),
        Ok(found) => {
            let note = found.note.clone();
            Ok((found, note))
        }
    }
}

pub(super) fn form(words: Words, wanted: &Wanted, labels: &Labels) -> Markup {
    let suggested = |id: &str, labels: &[lyra_corpus::Label]| {
        html! { datalist id=(id) { @for label in labels.iter().take(SUGGESTED) { option value=(label.name) {} } } }
    };
    html! {
        form.stack method="get" role="search" {
            div.row {
                label.field.grows {
                    (words.t("corpora.query"))
                    input type="search" name="query" value=(wanted.query) maxlength="2000";
                }
                button.button.main { (words.t("corpora.find")) }
            }
            div.row {
                label.field {
                    (words.t("corpora.within"))
                    select name="within" {
                        option value="" { (words.t("corpora.in_papers")) }
                        option value="notes" selected[wanted.in_notes()] { (words.t("corpora.in_notes")) }
                    }
                }
                @if !labels.tags.is_empty() {
                    label.field { (words.t("corpora.tag")) input name="tag" list="known-tags" value=(wanted.tag); }
                    (suggested("known-tags", &labels.tags))
                }
                @if !labels.collections.is_empty() {
                    label.field {
                        (words.t("corpora.collection"))
                        input name="collection" list="known-collections" value=(wanted.collection);
                    }
                    (suggested("known-collections", &labels.collections))
                }
            }
        }
    }
}

pub(super) fn list(words: Words, corpus: &str, wanted: &Wanted, found: &Found) -> Markup {
    html! {
        div.stack #found {
            @match found {
                Err(error) => {
                    p.note role="alert" {
                        (error.message)
                        @if let Some(advice) = error.remedy.as_ref().and_then(|remedy| remedy.advice()) { " " (advice) }
                    }
                }
                Ok((found, note)) => {
                    p.quiet.small role="status" { (words.count("corpora.found_one", "corpora.found_other", found.hits.len() as u64)) }
                    @if let Some(note) = note { p.note.small { (words.t("corpora.by_words")) " " (note) } }
                    @if found.hits.is_empty() { p { (words.t("corpora.nothing_found")) } }
                    ol.claims { @for hit in &found.hits { (card(words, corpus, wanted, hit)) } }
                    @if let Some(more) = wanted.more(corpus, found.hits.len()) { p { a.button href=(more) { (words.t("common.more")) } } }
                }
            }
        }
    }
}

fn card(words: Words, corpus: &str, wanted: &Wanted, hit: &CorpusHit) -> Markup {
    let document = &hit.document;
    let snippet = snippet::of(document, &wanted.query, wanted.in_notes());
    let mut citation = citation(document);
    citation.section = snippet.as_ref().and_then(|snippet| snippet.place(words));
    html! {
        li id=(format!("hit-{}", hit.rank)) class="card claim" data-item {
            h3 {
                a data-opens href=(document_address(corpus, &document.doc_id)) lang=[document.language.as_deref()] {
                    @if document.title.is_empty() { (words.t("common.untitled")) } @else { (document.title) }
                }
            }
            p.small { (place::about(words, &citation)) }
            @if let Some(snippet) = &snippet { p.small.snippet lang=[document.language.as_deref()] { (snippet.marked()) } }
        }
    }
}

/// How a document is cited.
pub(super) fn citation(document: &Document) -> Citation {
    Citation {
        title: document.title.clone(),
        authors: document.authors.clone(),
        year: document.year,
        venue: document.venue.clone(),
        doi: document.doi.as_ref().map(ToString::to_string),
        url: document.url.clone(),
        doc_id: Some(document.doc_id.clone()),
        section: None,
        is_retracted: Some(document.is_retracted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(limit: &str) -> Wanted {
        Wanted {
            query: "nap & sleep".to_owned(),
            tag: "a b".to_owned(),
            limit: limit.to_owned(),
            ..Wanted::default()
        }
    }

    #[test]
    fn a_longer_list_is_offered_until_all_are_shown() {
        let more = wanted("").more("papers", 20);
        assert_eq!(
            more.as_deref(),
            Some("/corpora/papers?query=nap%20%26%20sleep&tag=a%20b&limit=40#hit-21")
        );
        assert_eq!(wanted("40").more("papers", 21), None);
        assert_eq!(wanted("200").more("papers", 200), None);
        assert_eq!([wanted("0"), wanted("9999"), wanted("x")].map(|wanted| wanted.limit()), [1, MOST, STEP]);
    }

    #[test]
    fn a_blank_tag_narrows_nothing() {
        let blank = Wanted { tag: " ".to_owned(), within: "notes".to_owned(), ..Wanted::default() };
        let narrow = blank.narrow().expect("nothing is narrowed");
        assert!(narrow.filters.is_empty());
        assert_eq!(narrow.within, Within::Notes);
    }
}

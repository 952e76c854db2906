//! The API's JSON. Everything may be absent or null.

use crate::Paper;
use crate::markup::unmarked;
use crate::paper::{address, filled};
use crate::records::Records;
use crate::registry::CORE;
use lyra_domain::{ArxivId, Doi, Identifier, Work};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct List {
    pub(super) total_hits: Option<u64>,
    pub(super) results: Option<Records<WireWork>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct WireWork {
    id: Option<u64>,
    title: Option<String>,
    #[serde(rename = "abstract")]
    abstract_text: Option<String>,
    authors: Option<Vec<Author>>,
    doi: Option<String>,
    arxiv_id: Option<String>,
    pubmed_id: Option<String>,
    year_published: Option<i32>,
    /// `2019-05-31T00:00:00`.
    published_date: Option<String>,
    publisher: Option<String>,
    journals: Option<Vec<Journal>>,
    language: Option<Language>,
    download_url: Option<String>,
    citation_count: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct Author {
    /// `Family, Given`.
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Journal {
    title: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Language {
    code: Option<String>,
}

impl WireWork {
    /// `None` for a record without title.
    pub(super) fn into_paper(self) -> Option<Paper> {
        let journal = self.journals.into_iter().flatten().find_map(|journal| filled(journal.title));
        let day = self.published_date.as_deref().and_then(|date| date.get(..10)).map(str::to_owned);
        let mut work = Work {
            title: filled(self.title.map(|title| unmarked(&title)))?,
            year: self.year_published.or_else(|| day.as_deref()?.get(..4)?.parse().ok()),
            published_date: day,
            venue: journal.or_else(|| filled(self.publisher)),
            authors: self.authors.into_iter().flatten().filter_map(|author| filled(author.name)).collect(),
            citation_count: self.citation_count,
            oa_url: filled(self.download_url).filter(|url| url.starts_with("http")),
            source_api: CORE.name.to_owned(),
            ..Work::default()
        };
        let doi = self.doi.and_then(|doi| Doi::parse(&doi));
        let known = [
            doi.clone().map(Identifier::Doi),
            doi.and_then(|doi| doi.arxiv()).map(Identifier::Arxiv),
            self.arxiv_id.and_then(|id| ArxivId::parse(&id)).map(Identifier::Arxiv),
            self.pubmed_id.and_then(|id| Identifier::pmid(&id)),
        ];
        known.into_iter().flatten().for_each(|id| work.add_identifier(id));
        let page = self.id.map(|id| format!("https://core.ac.uk/works/{id}"));
        let code = self.language.and_then(|language| language.code);
        Some(Paper {
            url: address(&work, page),
            work,
            abstract_text: filled(self.abstract_text.map(|text| unmarked(&text))),
            language: code
                .filter(|code| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_lowercase())),
        })
    }
}

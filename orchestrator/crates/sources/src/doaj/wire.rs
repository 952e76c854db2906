//! The API's JSON. Everything may be absent or null.

use crate::Paper;
use crate::markup::unmarked;
use crate::paper::{address, filled};
use crate::records::Records;
use crate::registry::DOAJ;
use lyra_domain::{Doi, Identifier, Imprint, Work, WorkKind};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(super) struct List {
    pub(super) total: Option<u64>,
    /// Address of the next page.
    pub(super) next: Option<String>,
    pub(super) results: Option<Records<Article>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Article {
    id: Option<String>,
    bibjson: Record,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Record {
    title: Option<String>,
    #[serde(rename = "abstract")]
    abstract_text: Option<String>,
    /// A number as text.
    year: Option<String>,
    author: Option<Vec<Author>>,
    identifier: Option<Vec<Name>>,
    journal: Option<Journal>,
    link: Option<Vec<Link>>,
}

#[derive(Debug, Deserialize)]
struct Author {
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Name {
    /// `doi`, `pissn`, `eissn`.
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Journal {
    title: Option<String>,
    /// Codes in capitals, of the journal: `["EN", "ES"]`.
    language: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct Link {
    /// `fulltext`.
    #[serde(rename = "type")]
    kind: Option<String>,
    url: Option<String>,
}

impl Article {
    /// `None` for a record without title.
    pub(super) fn into_paper(self) -> Option<Paper> {
        let about = self.bibjson;
        let is = |kind: &Option<String>, expected: &str| {
            kind.as_deref().is_some_and(|kind| kind.eq_ignore_ascii_case(expected))
        };
        let doi = about
            .identifier
            .into_iter()
            .flatten()
            .find_map(|name| Doi::parse(name.id.as_deref().filter(|_| is(&name.kind, "doi"))?));
        let text = about.link.into_iter().flatten().find_map(|link| {
            let full = is(&link.kind, "fulltext");
            filled(link.url.filter(|url| full && url.starts_with("http")))
        });
        let journal = about.journal;
        // A journal in one language has its articles in it.
        let language = journal.as_ref().and_then(|journal| match journal.language.as_deref()? {
            [code] if code.len() == 2 => Some(code.to_ascii_lowercase()),
            _ => None,
        });
        let mut work = Work {
            title: filled(about.title.map(|title| unmarked(&title)))?,
            year: about.year.and_then(|year| year.trim().parse().ok()),
            venue: filled(journal.and_then(|journal| journal.title)),
            imprint: Imprint { kind: Some(WorkKind::Article), ..Imprint::default() },
            authors: about.author.into_iter().flatten().filter_map(|author| filled(author.name)).collect(),
            oa_url: text,
            source_api: DOAJ.name.to_owned(),
            ..Work::default()
        };
        if let Some(doi) = doi {
            work.add_identifier(Identifier::Doi(doi));
        }
        let page = self.id.map(|id| format!("https://doaj.org/article/{id}"));
        Some(Paper {
            url: address(&work, page),
            work,
            abstract_text: filled(about.abstract_text.map(|text| unmarked(&text))),
            language,
        })
    }
}

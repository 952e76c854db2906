//! The API's JSON (`formatversion=2`). Everything may be absent.

use crate::Paper;
use crate::paper::filled;
use crate::records::Records;
use crate::registry::WIKIPEDIA;
use lyra_domain::{Doi, Identifier, Work};
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Deserialize)]
pub(super) struct Reply {
    #[serde(rename = "continue")]
    pub(super) next: Option<Next>,
    pub(super) error: Option<Failure>,
    pub(super) query: Option<Query>,
}

/// Where the next page begins. Other properties may be continued as well: more links than fit are not read.
#[derive(Debug, Deserialize)]
pub(super) struct Next {
    pub(super) gsroffset: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Failure {
    pub(super) code: Option<String>,
    pub(super) info: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Query {
    pub(super) pages: Option<Records<Page>>,
    pub(super) searchinfo: Option<SearchInfo>,
}

#[derive(Debug, Deserialize)]
pub(super) struct SearchInfo {
    pub(super) totalhits: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Page {
    title: Option<String>,
    /// Place in the search's list, from 1.
    pub(super) index: Option<u64>,
    extract: Option<String>,
    fullurl: Option<String>,
    pagelanguage: Option<String>,
    pageprops: Option<Properties>,
    revisions: Vec<Revision>,
    extlinks: Vec<Link>,
}

#[derive(Debug, Deserialize)]
struct Properties {
    /// An empty text on pages that list the meanings of their title.
    disambiguation: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Revision {
    timestamp: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Link {
    url: Option<String>,
}

/// The DOI that an entry of [`Work::references`] stands for.
pub(super) fn cited(entry: &str) -> Option<Identifier> {
    entry.strip_prefix("doi:").and_then(Doi::parse).map(Identifier::Doi)
}

impl Page {
    /// `None` for a page without title, address, or introduction, and for one that lists the meanings of its title.
    pub(super) fn paper(&self) -> Option<Paper> {
        if self.pageprops.as_ref().is_some_and(|properties| properties.disambiguation.is_some()) {
            return None;
        }
        let text = filled(self.extract.clone())?;
        let edited = self.revisions.first().and_then(|revision| revision.timestamp.as_deref()?.get(..10));
        let mut references: Vec<String> = Vec::new();
        for doi in self.extlinks.iter().filter_map(|link| Doi::parse(link.url.as_deref()?)) {
            let entry = Identifier::Doi(doi).to_string();
            if !references.contains(&entry) {
                references.push(entry);
            }
        }
        let work = Work {
            title: filled(self.title.clone())?,
            year: edited.and_then(|date| date.get(..4)?.parse().ok()),
            published_date: edited.map(str::to_owned),
            venue: Some("Wikipedia (encyclopedia)".to_owned()),
            authors: vec!["Wikipedia contributors".to_owned()],
            references,
            source_api: WIKIPEDIA.name.to_owned(),
            ..Work::default()
        };
        let language = self.pagelanguage.clone().filter(|code| code.len() == 2);
        Some(Paper { work, abstract_text: Some(text), language, url: filled(self.fullurl.clone())? })
    }
}

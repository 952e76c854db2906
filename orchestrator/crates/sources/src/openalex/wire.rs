//! The API's JSON. Everything may be absent or null.

use crate::Paper;
use crate::paper::{address, filled, imprint};
use crate::records::Records;
use crate::registry::OPENALEX;
use lyra_domain::{Doi, Identifier, Work};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

#[derive(Debug, Deserialize)]
pub(super) struct WirePage {
    pub(super) meta: Option<Meta>,
    pub(super) results: Option<Records<WireWork>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Meta {
    pub(super) count: Option<u64>,
    pub(super) next_cursor: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireWork {
    id: Option<String>,
    doi: Option<String>,
    title: Option<String>,
    display_name: Option<String>,
    ids: Option<Ids>,
    #[serde(rename = "type")]
    kind: Option<String>,
    language: Option<String>,
    publication_year: Option<i32>,
    publication_date: Option<String>,
    primary_location: Option<Location>,
    best_oa_location: Option<Location>,
    open_access: Option<OpenAccess>,
    authorships: Option<Vec<Authorship>>,
    cited_by_count: Option<u32>,
    referenced_works_count: Option<u32>,
    referenced_works: Option<Vec<String>>,
    is_retracted: Option<bool>,
    abstract_inverted_index: Option<HashMap<String, Vec<u32>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Ids {
    pmid: Option<String>,
    pmcid: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Location {
    landing_page_url: Option<String>,
    pdf_url: Option<String>,
    source: Option<Source>,
    raw_source_name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Source {
    display_name: Option<String>,
    /// `journal`, `conference`, `repository`, …
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Debug, Deserialize)]
struct OpenAccess {
    oa_url: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Authorship {
    author: Option<Author>,
    raw_author_name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Author {
    display_name: Option<String>,
}

impl From<WireWork> for Paper {
    fn from(wire: WireWork) -> Self {
        let ids = wire.ids.unwrap_or_default();
        let place = wire.primary_location;
        let free = wire.best_oa_location.and_then(|place| place.pdf_url.or(place.landing_page_url));
        let venue = place.as_ref().and_then(|place| {
            let source = place.source.as_ref().and_then(|source| source.display_name.clone());
            filled(source).or_else(|| filled(place.raw_source_name.clone()))
        });
        let source = place.as_ref().and_then(|place| place.source.as_ref());
        let in_proceedings = source.and_then(|source| source.kind.as_deref()) == Some("conference");
        // A paper of a conference is an `article`, too.
        let kind = wire
            .kind
            .as_deref()
            .map(|kind| if kind == "article" && in_proceedings { "conference" } else { kind });
        let name = |authorship: Authorship| {
            filled(authorship.author.and_then(|author| author.display_name))
                .or_else(|| filled(authorship.raw_author_name))
        };
        let references = wire.referenced_works.unwrap_or_default();
        let cited =
            |id: &String| Identifier::openalex(id).map(|_| id.rsplit('/').next().unwrap_or(id).to_owned());
        let mut work = Work {
            title: filled(wire.title).or_else(|| filled(wire.display_name)).unwrap_or_default(),
            year: wire.publication_year,
            published_date: filled(wire.publication_date),
            venue,
            imprint: imprint(kind, None),
            authors: wire.authorships.into_iter().flatten().filter_map(name).collect(),
            citation_count: wire.cited_by_count,
            reference_count: wire.referenced_works_count,
            is_retracted: wire.is_retracted,
            oa_url: filled(wire.open_access.and_then(|open| open.oa_url)).or_else(|| filled(free)),
            references: references.iter().filter_map(cited).collect(),
            source_api: OPENALEX.name.to_owned(),
            ..Work::default()
        };
        let last = |address: Option<String>| {
            address.map(|a| a.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned())
        };
        let doi = wire.doi.and_then(|doi| Doi::parse(&doi));
        let known = [
            doi.clone().map(Identifier::Doi),
            doi.and_then(|doi| doi.arxiv()).map(Identifier::Arxiv),
            last(ids.pmid).and_then(|id| Identifier::pmid(&id)),
            last(ids.pmcid).and_then(|id| Identifier::pmcid(&id)),
            wire.id.as_deref().and_then(Identifier::openalex),
        ];
        known.into_iter().flatten().for_each(|id| work.add_identifier(id));
        let landing = place.and_then(|place| place.landing_page_url);
        let language = wire
            .language
            .filter(|code| code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_lowercase()));
        Self {
            url: address(&work, filled(landing).or(wire.id)),
            work,
            abstract_text: wire.abstract_inverted_index.and_then(|index| abstract_of(&index)),
            language,
        }
    }
}

/// The abstract from its inverted index: every word with its positions.
fn abstract_of(index: &HashMap<String, Vec<u32>>) -> Option<String> {
    let places =
        index.iter().flat_map(|(word, places)| places.iter().map(move |place| (*place, word.as_str())));
    // A word per place; of two words at the same place, the alphabetically first stays, because nothing says which is
    // right.
    let mut words: BTreeMap<u32, &str> = BTreeMap::new();
    for (place, word) in places {
        words.entry(place).and_modify(|known| *known = (*known).min(word)).or_insert(word);
    }
    filled(Some(words.into_values().collect::<Vec<_>>().join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::WorkKind;

    #[test]
    fn an_abstract_is_put_together_again() {
        let index =
            serde_json::json!({"Naps": [0, 4_000_000_000_u32], "help": [1], "some": [2], "adults.": [3]});
        let index: HashMap<String, Vec<u32>> = serde_json::from_value(index).unwrap();
        assert_eq!(abstract_of(&index).as_deref(), Some("Naps help some adults. Naps"));
        assert_eq!(abstract_of(&HashMap::new()), None);
    }

    #[test]
    fn papers_of_conferences_are_told_from_articles() {
        let kind = |kind: &str, source: &str| {
            let wire = serde_json::json!({"type": kind, "primary_location": {"source": {"type": source}}});
            Paper::from(serde_json::from_value::<WireWork>(wire).unwrap()).work.imprint.kind
        };
        for (of, source, expect) in [
            ("article", "journal", Some(WorkKind::Article)),
            ("article", "conference", Some(WorkKind::ConferencePaper)),
            ("preprint", "repository", Some(WorkKind::Preprint)),
            ("dissertation", "repository", Some(WorkKind::Thesis)),
            ("paratext", "journal", None),
        ] {
            assert_eq!(kind(of, source), expect, "{of} {source}");
        }
    }

    #[test]
    fn a_work_of_nulls_is_a_work_without_anything() {
        let null = serde_json::json!({"id": "https://openalex.org/W1", "doi": null, "title": null, "ids": null,
            "language": "ng2", "primary_location": {"landing_page_url": null, "source": null, "pdf_url": null,
            "raw_source_name": null}, "authorships": [{"author": null, "raw_author_name": "A. Sato"}],
            "is_retracted": null, "abstract_inverted_index": null});
        let paper = Paper::from(serde_json::from_value::<WireWork>(null).unwrap());
        assert_eq!(
            (paper.url.as_str(), paper.work.authors.as_slice()),
            ("https://openalex.org/W1", &["A. Sato".to_owned()][..])
        );
        assert_eq!((paper.work.is_retracted, paper.abstract_text, paper.language), (None, None, None));
    }
}

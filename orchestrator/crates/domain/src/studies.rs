//! What stored facts connect works: the same registered trial, the same identifier, the same title and year, the same
//! authors and year, a citation. They are facts about records, not a finding that works rest on one study.

use crate::{Identifier, named_enum};
use std::collections::{BTreeMap, BTreeSet};

/// Fewest authors of a by-line that tells works apart.
const AUTHORS: usize = 2;

named_enum! {
    /// What connects works.
    pub enum LinkKind {
        /// Their texts, or records, name the same registration of a trial.
        Registration = "registration",
        /// Their records have the same identifier, as a preprint and its published version do.
        Identifier = "identifier",
        /// Their records have the same title and year.
        Title = "title",
        /// Their records have the same by-line, of two authors or more, and the same year.
        Authors = "authors",
        /// The first cites the second.
        Cites = "cites",
    }
}

/// What is stored about a work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkFacts {
    /// Key of the work.
    pub key: String,
    /// Title.
    pub title: String,
    /// Year of publication.
    pub year: Option<i32>,
    /// Names in the order of the by-line.
    pub authors: Vec<String>,
    /// Identifiers of its record.
    pub identifiers: Vec<Identifier>,
    /// Registrations of trials that its passages name.
    pub registrations: Vec<Identifier>,
    /// Keys of works that it cites.
    pub cites: Vec<String>,
}

/// Works that a stored fact connects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// What connects them.
    pub kind: LinkKind,
    /// What they share, as it is stored; empty for a citation.
    pub value: String,
    /// Keys of the works in the order given, at least two, each once. Of a citation: what cites, then what is cited.
    pub works: Vec<String>,
}

/// The links between these works by kind, each in the order of what they share.
pub fn links(works: &[WorkFacts]) -> Vec<Link> {
    let mut sharing: BTreeMap<(LinkKind, String), (String, Vec<&str>)> = BTreeMap::new();
    for work in works {
        for (kind, compared, shown) in shareable(work) {
            let (_, keys) = sharing.entry((kind, compared)).or_insert_with(|| (shown, Vec::new()));
            if !keys.contains(&work.key.as_str()) {
                keys.push(&work.key);
            }
        }
    }
    let shared = sharing.into_iter().filter(|(_, (_, keys))| keys.len() > 1);
    let shared = shared.map(|((kind, _), (value, keys))| Link {
        kind,
        value,
        works: keys.into_iter().map(str::to_owned).collect(),
    });
    shared.chain(citations(works)).collect()
}

/// What other works may share with this one: as it is compared, and as it is shown.
fn shareable(work: &WorkFacts) -> Vec<(LinkKind, String, String)> {
    let mut found = Vec::new();
    for id in work.registrations.iter().chain(&work.identifiers) {
        let (kind, value) = match id {
            Identifier::Nct(number) => (LinkKind::Registration, number.clone()),
            Identifier::Doi(doi) => match doi.arxiv() {
                Some(arxiv) => (LinkKind::Identifier, Identifier::Arxiv(arxiv).to_string()),
                None => (LinkKind::Identifier, id.to_string()),
            },
            _ => (LinkKind::Identifier, id.to_string()),
        };
        found.push((kind, value.clone(), value));
    }
    let Some(year) = work.year else { return found };
    let title = folded(&work.title);
    if !title.is_empty() {
        found.push((LinkKind::Title, format!("{year} {title}"), format!("{} ({year})", work.title)));
    }
    let by_line: Vec<String> = work.authors.iter().map(|name| folded(name)).collect();
    if by_line.len() >= AUTHORS && by_line.iter().all(|name| !name.is_empty()) {
        let shown = format!("{} ({year})", work.authors.join(", "));
        found.push((LinkKind::Authors, format!("{year} {}", by_line.join("|")), shown));
    }
    found
}

fn citations(works: &[WorkFacts]) -> impl Iterator<Item = Link> {
    let known: BTreeSet<&str> = works.iter().map(|work| work.key.as_str()).collect();
    works.iter().flat_map(move |work| {
        let cited: BTreeSet<&str> = work.cites.iter().map(String::as_str).collect();
        let cited: Vec<&str> =
            cited.into_iter().filter(|key| known.contains(key) && *key != work.key).collect();
        cited.into_iter().map(|key| Link {
            kind: LinkKind::Cites,
            value: String::new(),
            works: vec![work.key.clone(), key.to_owned()],
        })
    })
}

/// Words in lower case with single spaces.
pub(crate) fn folded(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(key: &str, title: &str, year: Option<i32>, authors: &[&str], ids: &str, text: &str) -> WorkFacts {
        WorkFacts {
            key: key.to_owned(),
            title: title.to_owned(),
            year,
            authors: authors.iter().map(ToString::to_string).collect(),
            identifiers: Identifier::in_text(ids),
            registrations: Identifier::registrations_in(text),
            cites: Vec::new(),
        }
    }

    fn of(works: &[WorkFacts]) -> Vec<(LinkKind, String, String)> {
        links(works).into_iter().map(|link| (link.kind, link.value, link.works.join(" "))).collect()
    }

    #[test]
    fn works_that_share_a_stored_fact_are_linked_with_it() {
        let works = [
            work(
                "a",
                "On naps",
                Some(2019),
                &["Ada Okafor", "B. Li"],
                "doi:10.1000/a arXiv:2101.00001",
                "NCT01234567",
            ),
            work("b", "On  Naps.", Some(2019), &["Ada Okafor", "B. Li"], "doi:10.48550/arXiv.2101.00001", ""),
            work("c", "On sleep", Some(2020), &["Ada Okafor"], "", "see nct01234567 and NCT00000001"),
            work("d", "On sleep", Some(2020), &["Ada Okafor"], "", ""),
        ];
        let link = |kind, value: &str, works: &str| (kind, value.to_owned(), works.to_owned());
        assert_eq!(
            of(&works),
            [
                link(LinkKind::Registration, "NCT01234567", "a c"),
                link(LinkKind::Identifier, "arxiv:2101.00001", "a b"),
                link(LinkKind::Title, "On naps (2019)", "a b"),
                link(LinkKind::Title, "On sleep (2020)", "c d"),
                link(LinkKind::Authors, "Ada Okafor, B. Li (2019)", "a b"),
            ]
        );
    }

    #[test]
    fn what_is_not_stored_links_nothing() {
        let unknown = |key| work(key, "", None, &[], "", "");
        assert_eq!(of(&[unknown("a"), unknown("b")]), []);
        // Titles and by-lines without a year are too common to distinguish works.
        let undated = |key| work(key, "Sleep", None, &["A", "B"], "", "");
        assert_eq!(of(&[undated("a"), undated("b")]), []);
        assert_eq!(of(&[work("a", "Sleep", Some(2000), &["A", "B"], "doi:10.1000/a", "NCT01234567")]), []);
    }

    #[test]
    fn citations_are_between_these_works_each_once() {
        let citing = |key: &str, cites: &[&str]| WorkFacts {
            key: key.to_owned(),
            cites: cites.iter().map(ToString::to_string).collect(),
            ..WorkFacts::default()
        };
        let works = [citing("a", &["b", "z", "a", "b"]), citing("b", &[])];
        assert_eq!(of(&works), [(LinkKind::Cites, String::new(), "a b".to_owned())]);
    }
}

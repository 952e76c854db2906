//! Versions of a work: the preprint, and what was published of it.

use crate::Document;
use lyra_domain::{Doi, Identifier, WorkKind};
use serde::{Deserialize, Serialize};

/// Where a version stands between its authors and its journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// In a journal, proceedings, or a book.
    Published,
    /// On a preprint server.
    Preprint,
}

/// One version of a work that has several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Which one it is.
    pub stage: Stage,
    /// DOI.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doi: Option<Doi>,
    /// Other identifiers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identifiers: Vec<Identifier>,
    /// Year in which it came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// Journal or server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub venue: Option<String>,
    /// Address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether the document shows its text.
    #[serde(default)]
    pub is_shown: bool,
}

/// Beginnings of the DOIs of preprint servers.
const SERVERS: [&str; 10] = [
    "10.48550/arxiv.",
    "10.21203/rs.",
    "10.31234/",
    "10.31219/",
    "10.26434/chemrxiv",
    "10.2139/ssrn.",
    "10.20944/preprints",
    "10.36227/techrxiv",
    "10.22541/au.",
    "10.64898/",
];
/// The registrant of bioRxiv and medRxiv, whose journals have names in their DOIs.
const COLD_SPRING_HARBOR: &str = "10.1101/";
/// Beginnings of the names of preprint servers.
const NAMES: [&str; 9] = [
    "arxiv",
    "biorxiv",
    "medrxiv",
    "chemrxiv",
    "psyarxiv",
    "ssrn",
    "research square",
    "preprints.org",
    "techrxiv",
];

/// Whether a DOI is that of a preprint server.
pub(crate) fn is_of_server(doi: &Doi) -> bool {
    let doi = doi.as_str();
    SERVERS.iter().any(|server| doi.starts_with(server))
        || doi
            .strip_prefix(COLD_SPRING_HARBOR)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

impl Document {
    /// Which version of its work a record is, if its DOI, its other identifiers, or its venue tell. With both versions
    /// known, it is the published one.
    pub(crate) fn stage(&self) -> Option<Stage> {
        let is_server = |venue: &String| {
            let venue = venue.to_lowercase();
            NAMES.iter().any(|name| venue.starts_with(name))
        };
        let is_preprint = match (&self.doi, &self.venue) {
            _ if !self.versions.is_empty() => false,
            (Some(doi), _) => is_of_server(doi),
            (None, Some(venue)) => is_server(venue),
            (None, None) if self.identifiers.iter().any(|id| matches!(id, Identifier::Pmid(_))) => false,
            (None, None) if self.is_on_arxiv() => true,
            (None, None) => return None,
        };
        Some(if is_preprint { Stage::Preprint } else { Stage::Published })
    }

    /// Which version a file is, if it says so. The copies of a preprint server have its identifier on their first page,
    /// and may name the DOI of what was published later.
    pub(crate) fn stage_of_file(&self) -> Option<Stage> {
        match &self.doi {
            _ if self.is_on_arxiv() => Some(Stage::Preprint),
            Some(doi) if is_of_server(doi) => Some(Stage::Preprint),
            Some(_) => Some(Stage::Published),
            None => None,
        }
    }

    fn is_on_arxiv(&self) -> bool {
        self.identifiers.iter().any(|id| matches!(id, Identifier::Arxiv(_)))
    }

    fn as_version(&self, stage: Stage) -> Version {
        let doi = self.doi.clone().filter(|doi| is_of_server(doi) == (stage == Stage::Preprint));
        Version {
            stage,
            doi,
            identifiers: self.identifiers.clone(),
            year: self.year,
            venue: self.venue.clone(),
            url: self.url.clone(),
            is_shown: false,
        }
    }

    /// Joins a version of the work with another one. This one says what the work is. The text of the published version
    /// is shown, or that of the preprint if there is no other; the DOI and the imprint are those of the published version
    /// too. Unless both versions are known and differ, they count as one.
    pub(crate) fn join(&mut self, stage: Option<Stage>, mut other: Self, stage_of_other: Option<Stage>) {
        let differing = stage.zip(stage_of_other).filter(|(stage, other)| stage != other);
        let Some((stage, stage_of_other)) = differing else {
            self.fill_from(other);
            return;
        };
        let versions = |document: &Self, stage| match &document.versions[..] {
            [] => vec![document.as_version(stage)],
            known => known.to_vec(),
        };
        let mut both = versions(self, stage);
        both.extend(versions(&other, stage_of_other));
        let stage_of_text =
            |document: &Self, stage| (!document.desc.is_empty()).then(|| document.shown().unwrap_or(stage));
        let (own, others) = (stage_of_text(self, stage), stage_of_text(&other, stage_of_other));
        if others == Some(Stage::Published) && own != Some(Stage::Published) {
            self.desc = std::mem::take(&mut other.desc);
            self.sections = std::mem::take(&mut other.sections);
            self.references = std::mem::take(&mut other.references);
        }
        if stage == Stage::Preprint && other.doi.is_some() {
            self.doi = other.doi.take();
        }
        if stage == Stage::Preprint && self.imprint.kind == Some(WorkKind::Preprint) {
            self.imprint = std::mem::take(&mut other.imprint);
        }
        self.fill_from(other);
        self.versions = both;
        self.show(own.into_iter().chain(others).min().unwrap_or(Stage::Published));
    }

    /// Which version's text is shown; `None` if the work has one version only.
    pub(crate) fn shown(&self) -> Option<Stage> {
        self.versions.iter().find(|version| version.is_shown).map(|version| version.stage)
    }

    /// Has the text of a version shown; of each stage, one version is kept, with what all say about it.
    pub(crate) fn show(&mut self, stage: Stage) {
        let mut versions: Vec<Version> = Vec::new();
        for version in std::mem::take(&mut self.versions) {
            let Some(known) = versions.iter_mut().find(|known| known.stage == version.stage) else {
                versions.push(version);
                continue;
            };
            known.doi = known.doi.take().or(version.doi);
            known.year = known.year.or(version.year);
            known.venue = known.venue.take().or(version.venue);
            known.url = known.url.take().or(version.url);
            for id in version.identifiers {
                if !known.identifiers.contains(&id) {
                    known.identifiers.push(id);
                }
            }
        }
        versions.sort_by_key(|version| version.stage);
        for version in &mut versions {
            version.is_shown = version.stage == stage;
        }
        self.versions = versions;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(doi: &str, venue: &str) -> Document {
        let venue = Some(venue.to_owned()).filter(|venue| !venue.is_empty());
        Document { doi: Doi::parse(doi), venue, ..Document::default() }
    }

    #[test]
    fn stages() {
        for (doi, venue, stage) in [
            ("10.48550/arXiv.2401.00001", "", Stage::Preprint),
            ("10.1101/2020.01.01.123456", "", Stage::Preprint),
            ("10.1101/gr.123456.119", "Genome Research", Stage::Published),
            ("10.1000/a", "arXiv", Stage::Published),
            ("", "arXiv:2401.00001 [cs]", Stage::Preprint),
            ("", "Sleep", Stage::Published),
        ] {
            assert_eq!(document(doi, venue).stage(), Some(stage), "{doi} {venue}");
        }
        assert_eq!(document("", "").stage(), None);
        let arxiv = Identifier::in_text("arXiv:2401.00001");
        let on_arxiv = Document { identifiers: arxiv.clone(), ..Document::default() };
        assert_eq!(on_arxiv.stage(), Some(Stage::Preprint));
        let in_journal = Document { venue: Some("Sleep".to_owned()), ..on_arxiv };
        assert_eq!(
            (in_journal.stage(), in_journal.stage_of_file()),
            (Some(Stage::Published), Some(Stage::Preprint))
        );
    }

    #[test]
    fn both_versions_are_kept() {
        let published = document("10.1000/a", "Sleep");
        let preprint = Document {
            desc: "Early.".to_owned(),
            year: Some(2019),
            ..document("10.1101/2019.01.01.1", "bioRxiv")
        };
        let dois = |document: &Document| -> Vec<String> {
            document.versions.iter().filter_map(|version| Some(version.doi.as_ref()?.to_string())).collect()
        };
        let mut joined = published.clone();
        joined.join(Some(Stage::Published), preprint.clone(), Some(Stage::Preprint));
        assert_eq!((joined.desc.as_str(), joined.shown()), ("Early.", Some(Stage::Preprint)));
        assert_eq!(dois(&joined), ["10.1000/a", "10.1101/2019.01.01.1"]);
        // The text of what was published takes the place of the preprint's, whichever comes first.
        let file = Document { desc: "Final.".to_owned(), ..published };
        let mut later = joined.clone();
        later.join(Some(Stage::Preprint), file.clone(), Some(Stage::Published));
        assert_eq!((later.desc.as_str(), later.shown()), ("Final.", Some(Stage::Published)));
        let mut other = preprint.clone();
        other.join(Some(Stage::Preprint), file, Some(Stage::Published));
        assert_eq!((other.desc.as_str(), other.shown()), ("Final.", Some(Stage::Published)));
        assert_eq!((dois(&other), other.doi), (dois(&later), Doi::parse("10.1000/a")));
        let again = later.clone();
        later.join(Some(Stage::Published), preprint, Some(Stage::Preprint));
        assert_eq!(later, again);
    }
}

//! What tells works apart that have a key in common.

use super::ids::words;
use super::{YEARS_TO_PRINT, keys};
use crate::Document;
use crate::document::{Stage, is_of_server};
use crate::ledger::Entry;
use lyra_domain::{Doi, Identifier};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// What works are compared by that have a title, an identifier, or the name of a file in common.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// The title as keys have it, if it tells the work from others.
    title: Option<String>,
    year: Option<i32>,
    /// Words of the first author's name, the family name at the end; empty if it is not known.
    author: Vec<String>,
    doi: Option<Doi>,
    /// Unknown for a file that does not say it.
    pub(super) stage: Option<Stage>,
}

impl Facts {
    pub(super) fn of(document: &Document, stage: Option<Stage>) -> Self {
        Self {
            title: title_in(&keys(document)),
            year: document.year,
            author: author(document),
            doi: document.doi.clone(),
            stage,
        }
    }

    /// What an earlier import noted of a paper.
    pub(super) fn of_entry(entry: &Entry) -> Self {
        let others = || entry.keys.iter().filter(|key| !key.starts_with("title:"));
        let paper = Document {
            doi: others().find_map(|key| Doi::parse(key.strip_prefix("doi:")?)),
            identifiers: others().flat_map(|key| Identifier::in_text(key)).collect(),
            year: entry.year,
            authors: entry.author.iter().cloned().collect(),
            ..Document::default()
        };
        let stage = paper.stage_of_file().or(Some(Stage::Published));
        Self { title: title_in(&entry.keys), ..Self::of(&paper, stage) }
    }

    /// Takes what another record of the same version says.
    pub(super) fn complete_from(&mut self, other: &Self) {
        if self.is_version_of(other) {
            return;
        }
        self.title = self.title.take().or_else(|| other.title.clone());
        self.year = self.year.or(other.year);
        self.doi = self.doi.take().or_else(|| other.doi.clone());
        if self.author.is_empty() {
            self.author.clone_from(&other.author);
        }
    }

    /// Whether two works that have this key in common are the same.
    pub(super) fn agree(&self, key: &str, other: &Self) -> bool {
        match key.split_once(':') {
            Some(("doi", _)) => true,
            Some(("title", _)) => self.same_title(other),
            // With its folder, a file's name says which file it is.
            Some(("file", name)) if name.contains('/') => true,
            Some(("file", _)) => !self.other_doi(other) && !self.other_title(other),
            _ => !self.other_doi(other),
        }
    }

    /// Whether one is known to be a preprint, and the other what was published.
    pub(super) fn is_version_of(&self, other: &Self) -> bool {
        self.stage.zip(other.stage).is_some_and(|(a, b)| a != b)
    }

    /// Whether the years and the first authors agree, as far as both are known.
    pub(super) fn same_origin(&self, other: &Self) -> bool {
        self.same_author(other) && self.within(0, other)
    }

    /// Whether two works with one title are the same. A preprint may be older than what was published of it, and has
    /// another DOI. Files do not always say who wrote them, and when.
    fn same_title(&self, other: &Self) -> bool {
        let years = if self.is_version_of(other) { YEARS_TO_PRINT } else { 1 };
        self.same_author(other) && self.within(years, other) && !self.other_doi(other)
    }

    /// Whether the first authors may be the same. Programs write `Lee, Ann`, `Ann Lee`, `Lee A`, and `Ann Lee Jr.`
    fn same_author(&self, other: &Self) -> bool {
        let families = self.author.last().zip(other.author.last());
        families.is_none_or(|(a, b)| other.author.contains(a) || self.author.contains(b))
    }

    fn within(&self, years: i32, other: &Self) -> bool {
        self.year.zip(other.year).is_none_or(|(a, b)| (a - b).abs() <= years)
    }

    /// Whether the DOIs name different works: a preprint has another one than what was published of it.
    fn other_doi(&self, other: &Self) -> bool {
        let differ = |(a, b): (&Doi, &Doi)| a != b && is_of_server(a) == is_of_server(b);
        !self.is_version_of(other) && self.doi.as_ref().zip(other.doi.as_ref()).is_some_and(differ)
    }

    /// Whether the titles are those of different works. One may lack its subtitle.
    fn other_title(&self, other: &Self) -> bool {
        let titles = self.title.as_ref().zip(other.title.as_ref());
        titles.is_some_and(|(a, b)| !a.contains(b.as_str()) && !b.contains(a.as_str()))
    }
}

/// The title among the keys of a work.
fn title_in(keys: &[String]) -> Option<String> {
    keys.iter().find_map(|key| key.strip_prefix("title:").map(str::to_owned))
}

/// Words of the first author's name without initials and diacritics, the last one of the family name at the end.
fn author(document: &Document) -> Vec<String> {
    let Some(name) = document.authors.first() else { return Vec::new() };
    let (family, given) = name.split_once(',').unwrap_or((name, ""));
    let mut all = words(given);
    all.extend(words(family));
    all.retain(|word| word.len() > 1);
    all.iter().map(|word| word.nfd().filter(|c| !is_combining_mark(*c)).collect()).collect()
}

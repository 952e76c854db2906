//! What tells works apart that have a title in common.

use super::{YEARS_TO_PRINT, family};
use crate::Document;
use crate::document::Stage;
use crate::ledger::Entry;
use lyra_domain::{Doi, Identifier};

/// What works are compared by that have a title in common.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    year: Option<i32>,
    /// Last word of the first author's name.
    author: Option<String>,
    doi: Option<Doi>,
    /// Unknown for a file that does not say it.
    pub(super) stage: Option<Stage>,
}

impl Facts {
    pub(super) fn of(document: &Document, stage: Option<Stage>) -> Self {
        Self { year: document.year, author: family(document), doi: document.doi.clone(), stage }
    }

    /// What an earlier import noted of a paper.
    pub(super) fn of_entry(entry: &Entry) -> Self {
        let keys = || entry.keys.iter().filter(|key| !key.starts_with("title:"));
        let paper = Document {
            doi: keys().find_map(|key| Doi::parse(key.strip_prefix("doi:")?)),
            identifiers: keys().flat_map(|key| Identifier::in_text(key)).collect(),
            year: entry.year,
            ..Document::default()
        };
        Self::of(&paper, paper.stage_of_file().or(Some(Stage::Published)))
    }

    /// Whether two works with one title are the same. A preprint may be older than what was published of it, and has
    /// another DOI. Files do not always say who wrote them, and when.
    pub(super) fn fits(&self, other: &Self, is_file: bool) -> bool {
        let within = |most| self.year.zip(other.year).is_none_or(|(a, b)| (a - b).abs() <= most);
        let differ = self.doi.as_ref().zip(other.doi.as_ref()).is_some_and(|(a, b)| a != b);
        let versions = self.stage.zip(other.stage).is_some_and(|(a, b)| a != b);
        let same_author = self.author.as_ref().zip(other.author.as_ref()).is_none_or(|(a, b)| a == b);
        (versions && within(YEARS_TO_PRINT) && same_author)
            || (within(1) && (is_file || (!versions && !differ)))
    }
}

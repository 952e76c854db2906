//! One document of two records of the same work.

use crate::document::{Stage, Version};
use crate::{Annotation, Document};
use std::collections::HashSet;

impl Document {
    /// Takes from another record of the same work what this one lacks. Names of files, identifiers, tags, collections,
    /// notes, and annotations of both are kept. But for annotations, those of the other come first: it may be the
    /// stored one, whose order then stays.
    pub(crate) fn fill_from(&mut self, other: Self) {
        let Self { identifiers, files, tags, collections, notes, annotations, .. } = self;
        let mut other = other;
        *identifiers = both(std::mem::take(&mut other.identifiers), std::mem::take(identifiers));
        *files = both(std::mem::take(&mut other.files), std::mem::take(files));
        *tags = both(std::mem::take(&mut other.tags), std::mem::take(tags));
        *collections = both(std::mem::take(&mut other.collections), std::mem::take(collections));
        *notes = both(std::mem::take(&mut other.notes), std::mem::take(notes));
        *annotations = marked(std::mem::take(annotations), std::mem::take(&mut other.annotations));
        self.complete_from(other);
    }

    /// Takes the fields that this one lacks.
    fn complete_from(&mut self, other: Self) {
        fn text(own: &mut String, other: String) {
            if own.is_empty() {
                *own = other;
            }
        }
        self.complete_patent_from(&other);
        if self.versions.is_empty() {
            self.versions = other.versions;
        } else if !other.versions.is_empty() {
            let shown =
                |versions: &[Version]| versions.iter().find(|version| version.is_shown).map(|v| v.stage);
            let (own, others) = (self.shown(), shown(&other.versions));
            let stage = if self.desc.is_empty() { others.or(own) } else { own };
            self.versions.extend(other.versions);
            self.show(stage.unwrap_or(Stage::Published));
        }
        text(&mut self.doc_id, other.doc_id);
        text(&mut self.title, other.title);
        text(&mut self.text, other.text);
        text(&mut self.claim, other.claim);
        if self.desc.is_empty() {
            (self.desc, self.sections) = (other.desc, other.sections);
        }
        if self.authors.is_empty() {
            self.authors = other.authors;
        }
        if self.references.is_empty() {
            self.references = other.references;
        }
        self.zotero = self.zotero.take().or(other.zotero);
        self.url = self.url.take().or(other.url);
        self.doi = self.doi.take().or(other.doi);
        self.year = self.year.or(other.year);
        // Volume, issue, and pages are those of the venue.
        if self.venue.is_none() || self.venue == other.venue || other.venue.is_none() {
            self.volume = self.volume.take().or(other.volume);
            self.issue = self.issue.take().or(other.issue);
            self.pages = self.pages.take().or(other.pages);
        }
        self.venue = self.venue.take().or(other.venue);
        self.imprint.complete_from(&other.imprint);
        self.language = self.language.take().or(other.language);
        self.is_retracted |= other.is_retracted;
        self.citation_count = self.citation_count.or(other.citation_count);
        if self.completed.is_empty() {
            self.completed = other.completed;
        }
    }

    /// Takes what only patents have.
    fn complete_patent_from(&mut self, other: &Self) {
        fn taken<T: Clone>(own: &mut Option<T>, other: Option<&T>) {
            *own = own.take().or_else(|| other.cloned());
        }
        fn list<T: Clone>(own: &mut Vec<T>, other: &[T]) {
            if own.is_empty() {
                *own = other.to_vec();
            }
        }
        if self.codes.is_empty() {
            self.codes.clone_from(&other.codes);
        }
        taken(&mut self.app_id, other.app_id.as_ref());
        taken(&mut self.pub_id, other.pub_id.as_ref());
        taken(&mut self.exam_id, other.exam_id.as_ref());
        taken(&mut self.app_date, other.app_date.as_ref());
        taken(&mut self.pub_date, other.pub_date.as_ref());
        taken(&mut self.country, other.country.as_ref());
        taken(&mut self.family_id, other.family_id.as_ref());
        taken(&mut self.legal_status, other.legal_status.as_ref());
        list(&mut self.applicants, &other.applicants);
        list(&mut self.cross_en_applicants, &other.cross_en_applicants);
        list(&mut self.priorities, &other.priorities);
        list(&mut self.legal_events, &other.legal_events);
    }

    /// What a paper says beside what the corpus has of it: its text is new, the rest stays. If the corpus has the
    /// published version's text, that of the preprint does not replace it.
    pub(in crate::import) fn with_text_of(mut self, paper: Self) -> Self {
        let is_older =
            self.shown() == Some(Stage::Published) && paper.stage_of_file() == Some(Stage::Preprint);
        if !paper.desc.is_empty() && !is_older {
            (self.desc, self.sections) = (paper.desc.clone(), paper.sections.clone());
        }
        if !paper.references.is_empty() && !is_older {
            self.references.clone_from(&paper.references);
        }
        let mut paper = paper;
        self.identifiers = both(self.identifiers, std::mem::take(&mut paper.identifiers));
        self.files = both(self.files, std::mem::take(&mut paper.files));
        self.tags = both(self.tags, std::mem::take(&mut paper.tags));
        self.annotations = marked(self.annotations, std::mem::take(&mut paper.annotations));
        self.complete_from(paper);
        self
    }
}

/// Both lists, each item once.
fn both<T: PartialEq>(mut first: Vec<T>, second: Vec<T>) -> Vec<T> {
    for item in second {
        if !first.contains(&item) {
            first.push(item);
        }
    }
    first
}

/// Both lists of annotations. Programs write them into the file as well: what says the same is there once.
fn marked(mut first: Vec<Annotation>, second: Vec<Annotation>) -> Vec<Annotation> {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let key = |annotation: &Annotation| (squeezed(&annotation.text), squeezed(&annotation.comment));
    let mut known: HashSet<_> = first.iter().map(key).collect();
    first.extend(second.into_iter().filter(|annotation| known.insert(key(annotation))));
    first
}

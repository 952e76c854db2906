//! Stored items as text with facts. Says what was found and judged, never what it means.

use super::{LibraryEntry, LibraryItem};
use lyra_corpus::backend::Publication;
use lyra_domain::{Citation, ClaimReport, Evidence, Relation};
use lyra_store::StoredDocument;
use lyra_wire::json::thousandths;
use lyra_wire::{ItemFacts, ItemNumbers};
use std::fmt::Write;

/// A claim with the passages that were judged against it.
pub(super) fn claim(report: &ClaimReport, entry: LibraryEntry) -> LibraryItem {
    let (confidence, uncertainty) =
        (thousandths(report.posterior.confidence()), thousandths(report.posterior.uncertainty()));
    let mut text = format!(
        "{}\n\nConfidence {confidence}, uncertainty {uncertainty}. Passages: {} supporting, {} refuting, {} neutral, {} \
         not judged.\n",
        report.claim.claim_text,
        report.supporting_count,
        report.refuting_count,
        report.neutral_count,
        report.not_judged_count
    );
    if let Some(origin) = &report.origin {
        section(&mut text, "Found in", [(origin.text.as_str(), cited(&origin.citation))]);
    }
    for (relation, title) in [(Relation::Supports, "Supporting"), (Relation::Refutes, "Refuting")] {
        let side = report.evidence.iter().filter(|evidence| evidence.relation == relation);
        section(&mut text, title, side.map(|one: &Evidence| (one.text.as_str(), cited(&one.citation()))));
    }
    let metadata = ItemFacts {
        kind: "claim",
        citation: report.origin.as_ref().map(|origin| cited(&origin.citation)),
        numbers: Some(ItemNumbers {
            task_id: report.claim.task_id.to_string(),
            confidence,
            uncertainty,
            supporting_count: report.supporting_count,
            refuting_count: report.refuting_count,
            neutral_count: report.neutral_count,
            not_judged_count: report.not_judged_count,
            independent_sources: report.independent_sources,
        }),
        ..ItemFacts::default()
    };
    LibraryItem { entry, text, metadata }
}

/// A page: its passages, below their headings.
pub(super) fn document(document: &StoredDocument, entry: LibraryEntry) -> LibraryItem {
    let mut text = String::new();
    let mut above: Option<&str> = None;
    for (heading, passage) in &document.passages {
        let heading = heading.as_deref();
        if let Some(heading) = heading.filter(|heading| above != Some(heading)) {
            paragraph(&mut text, heading);
        }
        above = heading;
        paragraph(&mut text, passage);
    }
    let metadata = ItemFacts {
        language: document.language.clone(),
        fetched_at: Some(document.fetched_at.clone()),
        ..of_document(&document.page.citation)
    };
    LibraryItem { entry, text, metadata }
}

/// A document of a corpus: abstract, claims, description.
pub(super) fn publication(publication: &Publication, entry: LibraryEntry) -> LibraryItem {
    let mut text = String::new();
    for part in [&publication.abst, &publication.claim, &publication.desc] {
        paragraph(&mut text, part);
    }
    let citation = Citation {
        title: publication.title.clone(),
        authors: publication.authors.clone(),
        year: publication.year,
        venue: publication.venue.clone(),
        doi: publication.doi.as_ref().map(ToString::to_string),
        url: publication.url.clone(),
        doc_id: Some(publication.doc_id.clone()),
        section: None,
        is_retracted: None,
    };
    let metadata = ItemFacts {
        doc_id: citation.doc_id.clone(),
        language: publication.lang.clone(),
        applicants: publication.applicants.clone(),
        publication_number: publication.pub_id.clone(),
        publication_date: publication.pub_date.map(|date| date.to_string()),
        country: publication.country.clone(),
        ..of_document(&citation)
    };
    LibraryItem { entry, text, metadata }
}

/// What to cite of a document.
fn of_document(citation: &Citation) -> ItemFacts {
    ItemFacts {
        kind: "document",
        citation: Some(cited(citation)),
        authors: citation.authors.clone(),
        year: citation.year,
        venue: citation.venue.clone(),
        doi: citation.doi.clone(),
        is_retracted: citation.is_retracted,
        ..ItemFacts::default()
    }
}

fn paragraph(text: &mut String, part: &str) {
    let part = part.trim();
    if !part.is_empty() {
        text.push_str(if text.is_empty() { "" } else { "\n\n" });
        text.push_str(part);
    }
}

fn section<'a>(text: &mut String, title: &str, passages: impl IntoIterator<Item = (&'a str, String)>) {
    let mut passages = passages.into_iter().peekable();
    if passages.peek().is_some() {
        let _ = writeln!(text, "\n{title}:");
    }
    for (passage, source) in passages {
        let _ = writeln!(text, "- \u{201c}{}\u{201d} ({source})", passage.trim());
    }
}

/// Authors, year, title, venue, and where to read it.
fn cited(citation: &Citation) -> String {
    let authors = match &citation.authors[..] {
        [] => None,
        [one] => Some(one.clone()),
        [one, other] => Some(format!("{one} and {other}")),
        [one, ..] => Some(format!("{one} et al.")),
    };
    let title = Some(citation.title.trim().to_owned()).filter(|title| !title.is_empty());
    let place = super::link(citation).or_else(|| citation.doc_id.clone());
    let retracted = (citation.is_retracted == Some(true)).then(|| "RETRACTED".to_owned());
    let year = citation.year.map(|year| year.to_string());
    let parts = [authors, year, title, citation.venue.clone(), citation.section.clone(), place, retracted];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

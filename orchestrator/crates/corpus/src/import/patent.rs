//! Patent documents of the offices, each as its own schema names things.

pub(super) mod api;
mod cited;
pub(super) mod exchange;
pub(super) mod jp;
pub(super) mod pap;
pub(super) mod st32;
pub(super) mod us;

use super::xml::Element;
use crate::Document;
use crate::backend::Codes;
use crate::document::Priority;
use crate::document::json::{OddCodes, civil};
use lyra_domain::classification::System;

/// Collects codes in normal form, and invalid codes as written.
#[derive(Default)]
pub(super) struct CodeList {
    pub(super) codes: Codes,
    pub(super) odd: OddCodes,
}

impl CodeList {
    pub(super) fn add(&mut self, system: System, written: &str) {
        if !written.trim().is_empty() && self.codes.add(system, written).is_err() {
            self.odd.push(format!("{system} {}", written.trim()));
        }
    }

    /// A code in its parts: section, class, subclass, main group, subgroup.
    fn add_parts(&mut self, system: System, element: &Element) {
        let part = |name| element.text_at(name).unwrap_or_default();
        let whole = match element.text_at("text") {
            Some(text) => text,
            None => format!(
                "{}{}{}{}/{}",
                part("section"),
                part("class"),
                part("subclass"),
                part("main-group"),
                part("subgroup")
            ),
        };
        self.add(system, whole.trim_end_matches('/'));
    }
}

/// `US-06859910-B2`: office, number as it is written, kind.
pub(super) fn number(office: &str, number: &str, kind: Option<&str>) -> String {
    let number: String = number.chars().filter(|c| !c.is_whitespace()).collect();
    match kind.filter(|kind| !kind.is_empty()) {
        Some(kind) => format!("{office}-{number}-{kind}"),
        None => format!("{office}-{number}"),
    }
}

/// Sets the identifiers of a publication by its kind: `A` is the application's publication, anything else a grant.
pub(super) fn identify(document: &mut Document, office: &str, doc_number: &str, kind: &str) {
    document.doc_id = number(office, doc_number, Some(kind));
    document.country = Some(office.to_owned());
    let published = kind.starts_with('A') && !(office == "US" && kind == "A");
    *(if published { &mut document.pub_id } else { &mut document.exam_id }) = Some(document.doc_id.clone());
}

/// A name as it is written once: the first of those that are there.
pub(super) fn name_of(element: &Element, organisation: &[&str], person: &[&str]) -> Option<String> {
    if let Some(name) = organisation.iter().find_map(|path| element.text_at(path)) {
        return Some(name);
    }
    let parts: Vec<String> = person.iter().filter_map(|path| element.text_at(path)).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Priorities as the USPTO and the JPO write them: country, number, and date of each.
pub(super) fn priorities(bib: &Element) -> Vec<Priority> {
    let priority = |claim: &Element| {
        let digits = claim.text_at("doc-number");
        let office = claim.text_at("country").unwrap_or_default();
        let number =
            digits.map(|digits| if office.is_empty() { digits } else { number(&office, &digits, None) });
        Priority { number, date: claim.text_at("date").and_then(|date| civil(&date)) }
    };
    let claims = bib.below("priority-claim").into_iter().map(priority);
    claims.filter(|priority| *priority != Priority::default()).collect()
}

/// `Last; First` as `First Last`.
pub(super) fn first_last(name: &str) -> String {
    name.split_once(';')
        .map_or_else(|| name.to_owned(), |(last, first)| format!("{} {}", first.trim(), last.trim()))
        .trim()
        .to_owned()
}

/// Without repetitions, in order.
pub(super) fn distinct(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// No headings but those in the document.
pub(super) fn plain(_: &str) -> Option<&'static str> {
    None
}

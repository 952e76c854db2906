//! Publications in the EPO's exchange format: `exchange-document` of Open Patent Services and DOCDB, members of families
//! with their legal events, and full texts.

use super::{CodeList, cited, distinct, identify, number, plain};
use crate::Document;
use crate::document::json::{OddCodes, civil};
use crate::document::{LegalEvent, Priority};
use crate::import::xml::Element;
use lyra_domain::classification::System;
use lyra_text::normalise;

/// Roots of such files.
pub(in crate::import) const ROOTS: [&str; 3] =
    ["world-patent-data", "exchange-documents", "fulltext-documents"];
/// Elements that say something about one publication.
pub(in crate::import) const RECORDS: [&str; 3] = ["exchange-document", "family-member", "fulltext-document"];

/// Forms of numbers and names, the best first.
const NUMBERS: [&str; 3] = ["docdb", "epodoc", "original"];
const NAMES: [&str; 4] = ["docdba", "original", "docdb", "epodoc"];

/// Reads one of [`RECORDS`]; the error is the reason to report.
pub(in crate::import) fn read(record: &Element) -> Result<(Document, OddCodes), String> {
    let (mut document, mut codes) = (Document::default(), CodeList::default());
    let status = record.attribute("status").filter(|status| status.contains("not found"));
    if let Some(status) = status {
        return Err(format!("the service has no such publication: {status}"));
    }
    if record.name == "family-member" {
        member(record, &mut document);
        if let Some(inner) = record.at("exchange-document") {
            publication(inner, &mut document, &mut codes);
        }
    } else {
        publication(record, &mut document, &mut codes);
    }
    if document.doc_id.is_empty() {
        return Err(format!("`{}` names no publication: a country and a number are missing", record.name));
    }
    document.codes = codes.codes;
    Ok((document, codes.odd))
}

/// A number in its parts.
#[derive(Debug, Default)]
struct Id {
    country: String,
    number: String,
    kind: String,
    date: Option<jiff::civil::Date>,
}

impl Id {
    fn of(element: &Element) -> Self {
        let text = |name| element.text_at(name).unwrap_or_default();
        Self {
            country: text("country"),
            number: text("doc-number"),
            kind: text("kind"),
            date: civil(&text("date")),
        }
    }

    /// `EP-99203729`, or `NL19981010536` of a form without a country.
    fn application(&self) -> Option<String> {
        match (self.country.as_str(), self.number.as_str()) {
            (_, "") => None,
            ("", number) => Some(number.to_owned()),
            (country, digits) => Some(number(country, digits, None)),
        }
    }
}

/// How good the form of a number is: 0 is the best.
fn rank(form: Option<&str>) -> usize {
    NUMBERS.iter().position(|name| Some(*name) == form).unwrap_or(if form.is_none() {
        0
    } else {
        NUMBERS.len()
    })
}

/// The number in the best form.
fn best<'a>(written: impl Iterator<Item = &'a Element>) -> Option<&'a Element> {
    written.min_by_key(|id| rank(id.attribute("document-id-type")))
}

/// The number of `tag` in the best form that is there, with the date that any form has.
fn id(parent: &Element, tag: &str) -> Option<Id> {
    let mut found: Vec<(usize, Id)> = Vec::new();
    for reference in parent.all(tag) {
        for written in reference.all("document-id") {
            let own = written.attribute("document-id-type").or_else(|| written.attribute("data-format"));
            found.push((rank(own.or_else(|| reference.attribute("data-format"))), Id::of(written)));
        }
    }
    let date = found.iter().find_map(|(_, id)| id.date);
    let (_, best) = found.into_iter().min_by_key(|(rank, _)| *rank)?;
    Some(Id { date: best.date.or(date), ..best })
}

/// What all records have: numbers and dates. Attributes of DOCDB say the same as its elements.
fn numbers(record: &Element, bib: Option<&Element>, document: &mut Document) {
    let attribute = |name| record.attribute(name).unwrap_or_default().to_owned();
    let given = bib.and_then(|bib| id(bib, "publication-reference")).unwrap_or_default();
    let or = |own: String, other: String| if own.is_empty() { other } else { own };
    let (country, doc_number) =
        (or(attribute("country"), given.country), or(attribute("doc-number"), given.number));
    if country.len() == 2 && !doc_number.is_empty() && document.doc_id.is_empty() {
        identify(document, &country, &doc_number, &or(attribute("kind"), given.kind));
    }
    let published = civil(&attribute("date-publ"));
    document.pub_date = document.pub_date.or(given.date).or(published);
    let family = record.attribute("family-id").filter(|id| !id.trim().is_empty());
    document.family_id = document.family_id.take().or_else(|| family.map(|id| id.trim().to_owned()));
    let Some(bib) = bib else { return };
    if let Some(application) = id(bib, "application-reference") {
        document.app_id = document.app_id.take().or_else(|| application.application());
        document.app_date = document.app_date.or(application.date);
    }
    if document.priorities.is_empty() {
        let claims = bib.at("priority-claims").unwrap_or(bib);
        let priority = |claim: &Element| {
            let number = best(claim.all("document-id")).map(Id::of)?.application();
            let date = claim.all("document-id").find_map(|written| Id::of(written).date);
            (number.is_some() || date.is_some()).then_some(Priority { number, date })
        };
        for claim in claims.all("priority-claim").filter_map(priority) {
            if !document.priorities.contains(&claim) {
                document.priorities.push(claim);
            }
        }
    }
}

/// A member of a family, with its legal events if they were asked for.
fn member(record: &Element, document: &mut Document) {
    numbers(record, Some(record), document);
    let event = |event: &Element| {
        let part = |name: &str| event.below(name).first().map(|part| part.text()).unwrap_or_default();
        LegalEvent {
            date: civil(&part("L007EP")),
            code: event.attribute("code").unwrap_or_default().trim().to_owned(),
            text: event.attribute("desc").unwrap_or_default().trim().to_owned(),
        }
    };
    document.legal_events = record.all("legal").map(event).collect();
}

/// Bibliography and texts.
fn publication(record: &Element, document: &mut Document, codes: &mut CodeList) {
    let bib = record.at("bibliographic-data");
    numbers(record, bib, document);
    if let Some(bib) = bib {
        let (title, language) = in_english(bib, "invention-title").unzip();
        document.title = title.map(|title| normalise(&title.text())).unwrap_or_default();
        document.language = language.flatten();
        classifications(bib, codes);
        let parties = bib.at("parties");
        let named = |list: &str, tag: &'static str, name: &str| -> Vec<String> {
            let list = parties.and_then(|parties| parties.at(list));
            names(list.into_iter().flat_map(|list| list.all(tag)), name)
        };
        document.authors = named("inventors", "inventor", "inventor-name");
        document.applicants = named("applicants", "applicant", "applicant-name");
        let reference = |citation: &Element| {
            if let Some(text) = citation.at("nplcit") {
                return cited::literature(&text.text_at("text").unwrap_or_else(|| text.text()));
            }
            let id = Id::of(best(citation.at("patcit")?.all("document-id"))?);
            match (id.country.as_str(), id.number.as_str()) {
                (_, "") => None,
                ("", epodoc) => Some(epodoc.to_owned()),
                (country, digits) => Some(number(country, digits, Some(&id.kind))),
            }
        };
        let citations = bib.at("references-cited").into_iter().flat_map(|list| list.all("citation"));
        document.references = distinct(citations.filter_map(reference));
    }
    if let Some((text, language)) = in_english(record, "abstract") {
        document.text = text.lines(&plain);
        document.language = language.or(document.language.take());
    }
    if let Some((text, language)) = in_english(record, "description") {
        document.desc = text.lines(&plain);
        document.language = language.or(document.language.take());
    }
    if let Some((claims, language)) = in_english(record, "claims") {
        let each: Vec<String> = claims.below("claim-text").into_iter().map(Element::text).collect();
        let each = if each.is_empty() { vec![claims.text()] } else { each };
        document.claim = each.into_iter().filter(|claim| !claim.is_empty()).collect::<Vec<_>>().join("\n");
        document.language = document.language.take().or(language);
    }
}

/// The English one of several versions of a text, else the first, and its language.
fn in_english<'a>(parent: &'a Element, tag: &'a str) -> Option<(&'a Element, Option<String>)> {
    let language =
        |text: &Element| text.attribute("lang").map(str::to_lowercase).filter(|code| code.len() == 2);
    let texts = || parent.all(tag).filter(|text| !text.text().is_empty());
    let text = texts().find(|text| language(text).as_deref() == Some("en")).or_else(|| texts().next())?;
    Some((text, language(text)))
}

/// Names of parties in the best form that is there, without their countries.
fn names<'a>(parties: impl Iterator<Item = &'a Element>, tag: &str) -> Vec<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for party in parties {
        let form = party.attribute("data-format").unwrap_or("docdb");
        let rank = NAMES.iter().position(|name| *name == form).unwrap_or(NAMES.len());
        if let Some(name) = party.text_at(&format!("{tag}/name")) {
            found.push((rank, without_country(&name)));
        }
    }
    let best = found.iter().map(|(rank, _)| *rank).min();
    distinct(found.into_iter().filter(|(rank, _)| Some(*rank) == best).map(|(_, name)| name))
}

/// `KOSMAN WILHELMUS [NL]` without what is in brackets.
pub(in crate::import) fn without_country(name: &str) -> String {
    let name = name.trim().trim_end_matches(',').trim_end();
    let bare = name.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    match bare {
        Some((bare, country)) if country.len() == 2 => bare.trim_end().to_owned(),
        _ => normalise(name),
    }
}

fn classifications(bib: &Element, codes: &mut CodeList) {
    let texts = |list: &str, tag: &str| -> Vec<String> {
        bib.at(list).into_iter().flat_map(|list| list.all(tag)).map(Element::text).collect()
    };
    let ipcr = bib.at("classifications-ipcr").into_iter().flat_map(|list| list.all("classification-ipcr"));
    ipcr.for_each(|code| codes.add_parts(System::Ipc, code));
    for code in &texts("classification-ipc", "text") {
        codes.add(System::Ipc, code);
    }
    let lists = bib.all("patent-classifications");
    for code in lists.flat_map(|list| list.all("patent-classification")) {
        let scheme = code.at("classification-scheme").and_then(|of| of.attribute("scheme")).unwrap_or("");
        let system = match scheme {
            _ if scheme.starts_with("CPC") => System::Cpc,
            "UC" | "USPC" => System::Uspc,
            "FI" => System::Fi,
            "FTERM" => System::Ft,
            _ => continue,
        };
        match code.text_at("classification-symbol") {
            Some(symbol) => codes.add(system, &symbol),
            None => codes.add_parts(system, code),
        }
    }
}

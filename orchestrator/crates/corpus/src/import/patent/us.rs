//! USPTO grants and applications since 2004/2005 (`us-patent-grant`, `us-patent-application`, v4.0 to v4.x).

use super::{CodeList, cited, distinct, identify, name_of, number, plain, priorities};
use crate::Document;
use crate::document::json::{OddCodes, civil};
use crate::import::xml::Element;
use lyra_domain::classification::System;
use lyra_text::normalise;

pub(in crate::import) fn read(root: &Element) -> (Document, OddCodes) {
    let mut document = Document { language: Some("en".to_owned()), ..Document::default() };
    let mut codes = CodeList::default();
    if let Some(bib) =
        root.at("us-bibliographic-data-grant").or_else(|| root.at("us-bibliographic-data-application"))
    {
        bibliography(bib, &mut document, &mut codes);
    }
    document.text = root.at("abstract").map(|text| text.lines(&plain)).unwrap_or_default();
    document.desc = root.at("description").map(|text| text.lines(&plain)).unwrap_or_default();
    let claims = root.at("claims").map(|claims| claims.all("claim").map(Element::text).collect::<Vec<_>>());
    document.claim = claims.unwrap_or_default().join("\n");
    document.codes = codes.codes;
    (document, codes.odd)
}

fn bibliography(bib: &Element, document: &mut Document, codes: &mut CodeList) {
    if let Some(of) = bib.at("publication-reference/document-id") {
        let text = |name| of.text_at(name).unwrap_or_default();
        if let Some(doc_number) = of.text_at("doc-number") {
            identify(document, &text("country"), &doc_number, &text("kind"));
        }
        document.pub_date = civil(&text("date"));
    }
    if let Some(of) = bib.at("application-reference/document-id") {
        let text = |name| of.text_at(name).unwrap_or_default();
        document.app_id =
            of.text_at("doc-number").map(|doc_number| number(&text("country"), &doc_number, None));
        document.app_date = civil(&text("date"));
    }
    // A grant names the publication of its application.
    if document.exam_id.is_some()
        && let Some(of) = bib.at("us-related-documents/related-publication/document-id")
    {
        let text = |name| of.text_at(name).unwrap_or_default();
        document.pub_id = of
            .text_at("doc-number")
            .map(|doc_number| number(&text("country"), &doc_number, Some(&text("kind"))));
    }
    document.title = bib.text_at("invention-title").map(|title| normalise(&title)).unwrap_or_default();
    classifications(bib, codes);
    document.priorities = bib.at("priority-claims").map(priorities).unwrap_or_default();

    let name = |element: &Element| {
        name_of(element, &["addressbook/orgname"], &["addressbook/first-name", "addressbook/last-name"])
    };
    let mut inventors: Vec<String> = bib.below("inventor").into_iter().filter_map(name).collect();
    let mut applicants: Vec<String> = bib
        .below("assignee")
        .into_iter()
        .filter_map(|element| name(element).or_else(|| name_of(element, &["orgname"], &[])))
        .collect();
    let mut inventors_who_applied = Vec::new();
    for applicant in bib.below("us-applicant").into_iter().chain(bib.below("applicant")) {
        let Some(name) = name(applicant) else { continue };
        if applicant.attribute("app-type") == Some("applicant-inventor") {
            inventors_who_applied.push(name);
        } else {
            applicants.push(name);
        }
    }
    inventors.extend(inventors_who_applied.iter().cloned());
    if applicants.is_empty() {
        applicants = inventors_who_applied;
    }
    document.authors = distinct(inventors);
    document.applicants = distinct(applicants);
    let patents = bib.below("patcit").into_iter().filter_map(|cited| cited::patent(cited.at("document-id")?));
    let literature = bib.below("nplcit").into_iter().filter_map(|text| cited::literature(&text.text()));
    document.references = distinct(patents.chain(literature));
}

fn classifications(bib: &Element, codes: &mut CodeList) {
    if let Some(old) = bib.at("classification-ipc") {
        for name in ["main-classification", "further-classification"] {
            old.all(name).for_each(|code| codes.add(System::Ipc, &code.text()));
        }
    }
    for code in bib.at("classifications-ipcr").into_iter().flat_map(|list| list.all("classification-ipcr")) {
        codes.add_parts(System::Ipc, code);
    }
    for code in bib.at("classifications-cpc").into_iter().flat_map(|list| list.below("classification-cpc")) {
        codes.add_parts(System::Cpc, code);
    }
    if let Some(of) = bib.at("classification-locarno") {
        of.all("main-classification").for_each(|code| codes.add(System::Locarno, &code.text()));
    }
    // Columns count in these codes.
    if let Some(national) = bib.at("classification-national") {
        for name in ["main-classification", "further-classification"] {
            let codes_of = national.all(name).map(Element::columns).filter(|code| code.trim() != "None");
            codes_of.for_each(|code| codes.add(System::Uspc, &code));
        }
    }
}

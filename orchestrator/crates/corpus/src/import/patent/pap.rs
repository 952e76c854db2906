//! USPTO applications of 2001 to 2004 (`patent-application-publication`).

use super::{CodeList, distinct, identify, name_of, number, plain};
use crate::Document;
use crate::document::Priority;
use crate::document::json::{OddCodes, civil};
use crate::import::xml::Element;
use lyra_domain::classification::System;
use lyra_text::normalise;

pub(in crate::import) fn read(root: &Element) -> (Document, OddCodes) {
    let mut document = Document { language: Some("en".to_owned()), ..Document::default() };
    let mut codes = CodeList::default();
    if let Some(bib) = root.at("subdoc-bibliographic-information") {
        let text = |path| bib.text_at(path).unwrap_or_default();
        if let Some(doc_number) = bib.text_at("document-id/doc-number") {
            identify(&mut document, "US", &doc_number, &text("document-id/kind-code"));
        }
        document.pub_date = civil(&text("document-id/document-date"));
        document.app_id = bib
            .text_at("domestic-filing-data/application-number/doc-number")
            .map(|doc_number| number("US", &doc_number, None));
        document.app_date = civil(&text("domestic-filing-data/filing-date"));
        document.title = normalise(&text("technical-information/title-of-invention"));
        for code in bib.below("ipc") {
            codes.add(System::Ipc, &code.text());
        }
        for code in bib.below("uspc") {
            let part = |name| code.text_at(name).unwrap_or_default();
            codes.add(System::Uspc, &format!("{}/{}", part("class"), part("subclass")));
        }
        for claim in bib.below("foreign-priority-data") {
            let office = claim.text_at("country-code").unwrap_or_default();
            let doc_number = claim.text_at("priority-application-number/doc-number");
            document.priorities.push(Priority {
                number: doc_number.map(|doc_number| number(&office, &doc_number, None)),
                date: claim.text_at("filing-date").and_then(|date| civil(&date)),
            });
        }
        let person = ["name/given-name", "name/middle-name", "name/family-name"];
        let name =
            |element: &Element| name_of(element, &["organization-name", "name/organization-name"], &person);
        let inventors = ["first-named-inventor", "inventor"];
        document.authors = distinct(inventors.into_iter().flat_map(|tag| bib.below(tag)).filter_map(name));
        document.applicants = distinct(bib.below("assignee").into_iter().filter_map(name));
    }
    document.text = root.at("subdoc-abstract").map(paragraphs).unwrap_or_default();
    document.desc = root.at("subdoc-description").map(|text| text.lines(&plain)).unwrap_or_default();
    let claims =
        root.at("subdoc-claims").map(|claims| claims.all("claim").map(Element::text).collect::<Vec<_>>());
    document.claim = claims.unwrap_or_default().join("\n");
    document.codes = codes.codes;
    (document, codes.odd)
}

/// Without the heading "Abstract of Disclosure".
fn paragraphs(element: &Element) -> String {
    let texts: Vec<String> = element.below("paragraph").into_iter().map(Element::text).collect();
    texts.join("\n")
}

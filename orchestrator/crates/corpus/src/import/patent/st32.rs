//! Documents whose bibliography goes by INID codes (WIPO ST.32, ST.36): USPTO grants of 2001 to 2004 (`PATDOC`) and
//! the EPO's (`ep-patent-document`, all versions).

use super::{CodeList, cited, distinct, identify, number, plain};
use crate::Document;
use crate::document::Priority;
use crate::document::json::{OddCodes, civil};
use crate::import::xml::Element;
use lyra_domain::classification::System;
use lyra_text::normalise;

/// A USPTO grant.
pub(in crate::import) fn grant(root: &Element) -> (Document, OddCodes) {
    let (mut document, mut codes) = (Document::default(), CodeList::default());
    document.language = Some("en".to_owned());
    if let Some(bib) = root.at("SDOBI") {
        common(bib, &mut document, &mut codes);
        document.title = bib.text_at("B500/B540").map(|title| normalise(&title)).unwrap_or_default();
        document.authors = names(bib, "B721");
        document.applicants = names(bib, "B731");
        let patent = |element: &&Element| {
            let document = element.at("PCIT/DOC")?;
            let office = document.text_at("CTRY").unwrap_or_else(|| "US".to_owned());
            Some(number(&office, &document.text_at("DNUM")?, document.text_at("KIND").as_deref()))
        };
        let literature = bib.below("B562").into_iter().filter_map(|text| cited::literature(&text.text()));
        document.references = distinct(bib.below("B561").iter().filter_map(patent).chain(literature));
    }
    document.text = root.at("SDOAB").map(|text| text.lines(&plain)).unwrap_or_default();
    document.desc = root.at("SDODE").map(|text| text.lines(&plain)).unwrap_or_default();
    let claims: Vec<String> =
        root.at("SDOCL").map(|claims| claims.below("CLM")).into_iter().flatten().map(Element::text).collect();
    document.claim = claims.join("\n");
    document.codes = codes.codes;
    (document, codes.odd)
}

/// An EPO document. Texts come in up to three languages: those in the document's own are taken.
pub(in crate::import) fn epo(root: &Element) -> (Document, OddCodes) {
    let (mut document, mut codes) = (Document::default(), CodeList::default());
    let own = root.attribute("lang").unwrap_or("en").to_lowercase();
    if let Some(bib) = root.at("SDOBI") {
        common(bib, &mut document, &mut codes);
        document.title = title(bib, &own);
        document.authors = names(bib, "B721");
        let mut applicants = names(bib, "B711");
        applicants.extend(names(bib, "B731"));
        document.applicants = distinct(applicants);
        document.references =
            bib.at("B500/B560").map(|report| cited::of_report(report).collect()).unwrap_or_default();
    }
    let text = |name: &'static str| {
        let all: Vec<&Element> = root.all(name).collect();
        let in_own = all.iter().find(|element| element.attribute("lang").is_none_or(|lang| lang == own));
        in_own.or(all.first()).copied()
    };
    document.text = text("abstract").map(|text| text.lines(&plain)).unwrap_or_default();
    document.desc = text("description").map(|text| text.lines(&plain)).unwrap_or_default();
    let claims = text("claims").map(|claims| claims.all("claim").map(Element::text).collect::<Vec<_>>());
    document.claim = claims.unwrap_or_default().join("\n");
    // Added at the end of what the EPO prints: what the description cites.
    for list in root.all("ep-reference-list") {
        document.references.extend(list.below("document-id").into_iter().filter_map(cited::patent));
        let literature = list.below("nplcit").into_iter();
        document.references.extend(literature.filter_map(cited::parts));
    }
    document.references = distinct(document.references);
    document.language = Some(own);
    document.codes = codes.codes;
    (document, codes.odd)
}

/// Numbers, dates and codes.
fn common(bib: &Element, document: &mut Document, codes: &mut CodeList) {
    let text = |path| bib.text_at(path).unwrap_or_default();
    let office = bib.text_at("B100/B190").unwrap_or_else(|| "EP".to_owned());
    if let Some(doc_number) = bib.text_at("B100/B110") {
        identify(document, &office, &doc_number, &text("B100/B130"));
    }
    document.pub_date = civil(&text("B100/B140"));
    document.app_id = bib.text_at("B200/B210").map(|doc_number| number(&office, &doc_number, None));
    document.app_date = civil(&text("B200/B220"));
    // Designs are classified by Locarno in the same place.
    let is_design = bib.at("B400/B472/B474").is_some() || text("B100/B130").starts_with('S');
    if let Some(list) = bib.at("B500/B510") {
        let system = if is_design { System::Locarno } else { System::Ipc };
        for name in ["B511", "B512", "B513"] {
            list.all(name).for_each(|code| codes.add(system, &code.text()));
        }
    }
    if let Some(list) = bib.at("B500/B520").filter(|_| office == "US") {
        for name in ["B521", "B522"] {
            list.all(name).for_each(|code| codes.add(System::Uspc, &code.columns()));
        }
    }
    // Numbers (B310), dates (B320), and countries (B330) take turns.
    for part in bib.at("B300").into_iter().flat_map(Element::elements) {
        let last = document.priorities.last_mut();
        match (part.name.as_str(), last) {
            ("B310", _) => {
                document.priorities.push(Priority { number: Some(part.text()), date: None });
            }
            ("B320", Some(last)) => last.date = civil(&part.text()),
            ("B330", Some(last)) => {
                last.number = last.number.take().map(|digits| number(&part.text(), &digits, None));
            }
            _ => {}
        }
    }
    for (list, system) in [("B510EP", System::Ipc), ("B520EP", System::Cpc)] {
        for list in bib.below(list) {
            for code in
                ["classification-ipcr", "classification-cpc"].into_iter().flat_map(|name| list.below(name))
            {
                codes.add_parts(system, code);
            }
        }
    }
}

/// The title in the document's language, the first otherwise; languages (B541) and titles (B542) take turns.
fn title(bib: &Element, own: &str) -> String {
    let Some(list) = bib.at("B500/B540") else { return String::new() };
    let mut first = None;
    let mut language = String::new();
    for element in list.elements() {
        match element.name.as_str() {
            "B541" => language = element.text().to_lowercase(),
            "B542" if language == own => return normalise(&element.text()),
            "B542" => first = first.or_else(|| Some(normalise(&element.text()))),
            _ => {}
        }
    }
    first.unwrap_or_default()
}

/// Names of parties: an organization or one name (`snm` holds both at the EPO), or first and last name.
fn names(bib: &Element, tag: &str) -> Vec<String> {
    let name = |element: &Element| {
        let part =
            |tag: &str| element.below(tag).first().map(|part| part.text()).filter(|text| !text.is_empty());
        part("ONM").or_else(|| part("snm")).or_else(|| match (part("FNM"), part("SNM")) {
            (Some(first), Some(last)) => Some(format!("{first} {last}")),
            (one, other) => one.or(other),
        })
    };
    distinct(bib.below(tag).into_iter().filter_map(name))
}

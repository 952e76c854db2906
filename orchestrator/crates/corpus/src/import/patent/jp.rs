//! JPO gazettes (`jp-official-gazette`): unexamined and examined publications, with FI and F-terms.

use super::{CodeList, distinct, identify, number, priorities};
use crate::Document;
use crate::document::json::{OddCodes, civil};
use crate::import::xml::Element;
use lyra_domain::classification::System;
use lyra_text::normalise;

pub(in crate::import) fn read(root: &Element) -> (Document, OddCodes) {
    let mut document = Document { language: Some("ja".to_owned()), ..Document::default() };
    let mut codes = CodeList::default();
    let kind = root.attribute("kind-of-st16").or_else(|| root.attribute("kind-of-jp")).unwrap_or("A");
    if let Some(bib) = root.at("bibliographic-data") {
        let text = |path| bib.text_at(path).unwrap_or_default();
        if let Some(doc_number) = bib.text_at("publication-reference/document-id/doc-number") {
            identify(&mut document, "JP", &doc_number, kind);
        }
        document.pub_date = civil(&text("publication-reference/document-id/date"));
        document.app_id = bib
            .text_at("application-reference/document-id/doc-number")
            .map(|doc_number| number("JP", &doc_number, None));
        document.app_date = civil(&text("application-reference/document-id/date"));
        document.priorities = priorities(bib);
        document.title = normalise(&text("invention-title"));
        let names = |tag| {
            let name = |party: &Element| party.below("name").first().map(|name| normalise(&name.text()));
            distinct(bib.below(tag).into_iter().filter_map(name).filter(|name| !name.is_empty()))
        };
        document.authors = names("inventor");
        document.applicants = names("applicant");
        for (list, system) in [("classification-ipc", System::Ipc), ("classification-national", System::Fi)] {
            for list in bib.all(list) {
                for code in list.elements().filter(|element| element.name.ends_with("-clsf")) {
                    codes.add(system, &code.text());
                }
            }
        }
        let terms = bib.below("f-term");
        // A theme stands for itself where no term of it is given.
        let themes = if terms.is_empty() { bib.below("theme-code") } else { Vec::new() };
        terms.into_iter().chain(themes).for_each(|term| codes.add(System::Ft, &term.text()));
    }
    document.text = root.at("abstract").map(|text| text.lines(&heading)).unwrap_or_default();
    document.desc = root.at("description").map(|text| text.lines(&heading)).unwrap_or_default();
    let claims = root.at("claims").map(|claims| claims.all("claim").map(Element::text).collect::<Vec<_>>());
    document.claim = claims.unwrap_or_default().join("\n");
    document.codes = codes.codes;
    (document, codes.odd)
}

/// The headings that the printed gazette shows for its elements.
fn heading(name: &str) -> Option<&'static str> {
    Some(match name {
        "technical-field" => "\n【技術分野】\n",
        "background-art" => "\n【背景技術】\n",
        "citation-list" => "\n【先行技術文献】\n",
        "disclosure" | "summary-of-invention" => "\n【発明の概要】\n",
        "tech-problem" => "\n【発明が解決しようとする課題】\n",
        "tech-solution" => "\n【課題を解決するための手段】\n",
        "advantageous-effects" => "\n【発明の効果】\n",
        "best-mode" | "mode-for-invention" | "description-of-embodiments" => {
            "\n【発明を実施するための形態】\n"
        }
        "embodiments-example" => "\n【実施例】\n",
        "industrial-applicability" => "\n【産業上の利用可能性】\n",
        "description-of-drawings" => "\n【図面の簡単な説明】\n",
        "reference-signs-list" => "\n【符号の説明】\n",
        _ => return None,
    })
}

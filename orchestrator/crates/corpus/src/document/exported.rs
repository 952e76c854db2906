//! Documents as lines that an export writes and an import takes back unchanged.

use super::json::OddCodes;
use crate::backend::Codes;
use crate::{Document, Version};
use lyra_bibliography::{isbns, issns};
use lyra_domain::classification::System;
use lyra_domain::{Doi, Identifier, Imprint};
use serde_json::{Map, Value, json};

/// The field that tells such a line from those of others; its value is the version of the line's form.
const MARK: &str = "lyra_document";
const VERSION: u64 = 1;

/// A line without its end.
pub(crate) fn write(document: &Document) -> String {
    let mut fields = Map::new();
    fields.insert(MARK.to_owned(), json!(VERSION));
    if let Ok(Value::Object(own)) = serde_json::to_value(document) {
        fields.extend(own.into_iter().filter(|(_, value)| !value.is_null()));
    }
    Value::Object(fields).to_string()
}

/// The version of a line that an export wrote.
pub(super) fn version(fields: &Map<String, Value>) -> Option<&Value> {
    fields.get(MARK)
}

/// Reads such a line; the error is the reason to report. A person may have changed it, so identifiers and codes are
/// checked as those of other files are.
pub(super) fn read(version: &Value, fields: &Map<String, Value>) -> Result<(Document, OddCodes), String> {
    if *version != json!(VERSION) {
        return Err(format!("`{MARK}` is {version} and this version reads {VERSION}: use a newer lyra"));
    }
    let document = serde_json::from_value(Value::Object(fields.clone()));
    let document: Document = document.map_err(|error| format!("a document of an export: {error}"))?;
    let (mut codes, mut odd) = (Codes::default(), Vec::new());
    for system in System::ALL {
        for written in document.codes.of(system) {
            if codes.add(system, written).is_err() {
                odd.push(format!("{system} {written}"));
            }
        }
    }
    let document = Document {
        doi: document.doi.and_then(|doi| Doi::parse(doi.as_str())),
        identifiers: document.identifiers.iter().filter_map(checked).collect(),
        versions: document.versions.into_iter().map(version_checked).collect(),
        imprint: imprint_checked(document.imprint),
        zotero: document.zotero.filter(|address| address.starts_with("zotero://select/")),
        codes,
        ..document
    };
    Ok((document.finish()?, odd))
}

fn checked(identifier: &Identifier) -> Option<Identifier> {
    match identifier {
        Identifier::Doi(doi) => Doi::parse(doi.as_str()).map(Identifier::Doi),
        Identifier::Pmid(id) => Identifier::pmid(id),
        Identifier::Pmcid(id) => Identifier::pmcid(id),
        Identifier::Arxiv(id) => lyra_domain::ArxivId::parse(&id.to_string()).map(Identifier::Arxiv),
        Identifier::OpenAlex(id) => Identifier::openalex(id),
        Identifier::SemanticScholar(id) => Identifier::semantic_scholar(id),
        Identifier::CorpusId(id) => Identifier::corpus_id(id),
        Identifier::Nct(id) => Identifier::nct(id),
    }
}

fn imprint_checked(imprint: Imprint) -> Imprint {
    Imprint { isbn: isbns(&imprint.isbn), issn: issns(&imprint.issn), ..imprint }
}

fn version_checked(version: Version) -> Version {
    Version {
        doi: version.doi.and_then(|doi| Doi::parse(doi.as_str())),
        identifiers: version.identifiers.iter().filter_map(checked).collect(),
        ..version
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::parse;
    use super::*;
    use crate::{Annotation, LegalEvent, Priority, Section, Stage};
    use lyra_domain::WorkKind;
    use proptest::prelude::*;

    #[test]
    fn lines_that_were_changed_are_checked() {
        for (line, expect) in [
            (r#"{"lyra_document": 2, "doc_id": "a"}"#, "`lyra_document` is 2 and this version reads 1"),
            (r#"{"lyra_document": 1, "title": "T"}"#, "missing id"),
            (r#"{"lyra_document": 1, "doc_id": "a", "title": 5}"#, "a document of an export: invalid type"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.starts_with(expect), "{error}");
        }
        let line = r#"{"lyra_document": 1, "doc_id": "a", "title": "T", "doi": "nonsense",
            "identifiers": [{"kind": "pmid", "value": "x"}, {"kind": "pmid", "value": "7"}], "codes": {"ipc": ["nonsense"]},
            "isbn": ["nonsense", "978-3-16-148410-0"]}"#;
        let (document, odd) = parse(line).unwrap();
        assert_eq!((document.doi, odd), (None, vec!["ipc nonsense".to_owned()]));
        assert_eq!(document.imprint.isbn, ["9783161484100"]);
        assert_eq!(document.identifiers, [Identifier::Pmid("7".to_owned())]);
    }

    fn texts() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec(any::<String>(), 0..3)
    }

    proptest! {
        #[test]
        fn lines_are_taken_back_unchanged(
            (id, title, text, desc) in ("[!-~]{1,20}", any::<String>(), any::<String>(), any::<String>()),
            (tags, collections, notes, authors, files) in (texts(), texts(), texts(), texts(), texts()),
            sections in prop::collection::vec((0_u32..9, prop::option::of(any::<String>()), prop::option::of(1_u32..99)), 0..4),
            (year, pmid, is_patent) in (prop::option::of(-500_i32..3000), prop::option::of(1_u32..9_999_999), any::<bool>()),
            (marks, stages, is_retracted) in (
                prop::collection::vec((any::<String>(), any::<String>(), prop::option::of(any::<String>())), 0..3),
                prop::collection::vec((any::<bool>(), prop::option::of(any::<String>())), 0..3),
                any::<bool>(),
            ),
        ) {
            let document = Document {
                doc_id: id,
                title,
                text,
                desc,
                sections: sections.into_iter().map(|(line, heading, page)| Section { line, heading, page }).collect(),
                tags,
                collections,
                notes,
                authors,
                files,
                year,
                is_retracted,
                zotero: is_retracted.then(|| "zotero://select/library/items/NAPS2345".to_owned()),
                annotations: marks
                    .into_iter()
                    .map(|(text, comment, page)| Annotation { text, comment, color: page.clone(), page })
                    .collect(),
                versions: stages
                    .into_iter()
                    .map(|(is_shown, venue)| Version {
                        stage: if is_shown { Stage::Published } else { Stage::Preprint },
                        doi: Doi::parse("10.1101/2019.01.01.1"),
                        identifiers: Identifier::pmid("7").into_iter().collect(),
                        year,
                        url: venue.clone(),
                        venue,
                        is_shown,
                    })
                    .collect(),
                doi: Doi::parse("10.1000/X(1)<2>"),
                identifiers: pmid.and_then(|pmid| Identifier::pmid(&pmid.to_string())).into_iter().collect(),
                codes: if is_patent { Codes { ipc: vec!["A61B5/00".to_owned()], uspc: vec!["D14/138".to_owned()], locarno: vec!["14-03".to_owned()], ..Codes::default() } } else { Codes::default() },
                app_date: is_patent.then(|| jiff::civil::date(2004, 4, 23)),
                imprint: Imprint {
                    kind: Some(if is_patent { WorkKind::Patent } else { WorkKind::Thesis }),
                    publisher: year.map(|year| format!("University of {year}")),
                    isbn: vec!["9783161484100".to_owned()],
                    issn: vec!["1234-567X".to_owned()],
                    ..Imprint::default()
                },
                volume: (!is_patent).then(|| "12".to_owned()),
                issue: (!is_patent).then(|| "3".to_owned()),
                pages: (!is_patent).then(|| "101-109".to_owned()),
                priorities: if is_patent { vec![Priority { number: pmid.map(|n| format!("NL {n}")), date: Some(jiff::civil::date(1998, 11, 12)) }] } else { Vec::new() },
                family_id: is_patent.then(|| "19768124".to_owned()),
                legal_status: is_patent.then(|| "Expired".to_owned()),
                legal_events: if is_patent { vec![LegalEvent { date: None, code: "AS".to_owned(), text: "ASSIGNMENT".to_owned() }] } else { Vec::new() },
                ..Document::default()
            };
            prop_assume!(document.check().is_ok());
            let document = document.finish().unwrap();
            let line = write(&document);
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(parse(&line), Ok((document, Vec::new())));
        }
    }
}

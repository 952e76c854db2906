//! Answers of patent services in JSON: Open Patent Services, USPTO Public Search, the USPTO Open Data Portal, and what the
//! Python library `patent_client` stores of the first two.

use super::exchange::{self, without_country};
use super::{CodeList, distinct, identify, number, plain};
use crate::Document;
use crate::backend::number::dashed;
use crate::document::json::civil;
use crate::document::{LegalEvent, Priority};
use crate::import::records::{Read, Record};
use crate::import::xml::Element;
use lyra_domain::classification::System;
use lyra_text::normalise;
use serde_json::{Map, Value};
use std::io::{BufRead, Read as _};

/// Longest answer in bytes.
const MAX_FILE: u64 = 32 << 20;
/// Names in the beginnings of answers.
const MARKS: [&str; 7] = [
    "world-patent-data\"",
    "\"patentFileWrapperDataBag\"",
    "\"numFound\"",
    "\"guid\"",
    "\"publication_reference_docdb\"",
    "\"document_id\"",
    "\"num_results\"",
];

type Object = Map<String, Value>;

/// Whether a file that begins like this is such an answer, and not one object a line.
pub(in crate::import) fn is_answer(beginning: &str) -> bool {
    let begins = beginning.starts_with(['{', '[']);
    let first = beginning.lines().next().unwrap_or_default();
    let is_line = first.len() < beginning.len() && serde_json::from_str::<Value>(first).is_ok();
    begins && !is_line && MARKS.iter().any(|mark| beginning.contains(mark))
}

/// Reads all publications of an answer.
pub(in crate::import) fn read(content: impl BufRead) -> std::io::Result<Vec<Record>> {
    let mut bytes = Vec::new();
    content.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    let rejected = |why: String| Ok(vec![Record::new(1, Err(why))]);
    if bytes.len() as u64 > MAX_FILE {
        return rejected(format!(
            "longer than {} MiB: ask the service for fewer publications at once",
            MAX_FILE >> 20
        ));
    }
    let bytes = bytes.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(&bytes);
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => Ok(records(value)),
        Err(error) => rejected(format!("invalid JSON: {error}")),
    }
}

fn records(answer: Value) -> Vec<Record> {
    let outcomes: Vec<Read> = match answer {
        Value::Array(items) => items.iter().map(|item| each(item, public_search)).collect(),
        Value::Object(object) => of_object(&object),
        _ => Vec::new(),
    };
    if outcomes.is_empty() {
        let why = "no publication in it: Lyra reads answers of EPO Open Patent Services, USPTO Public Search, and the \
                   USPTO Open Data Portal; other documents stand as one object a line";
        return vec![Record::new(1, Err(why.to_owned()))];
    }
    let numbered = |(nth, outcome): (usize, Read)| {
        let told = |why| format!("publication {nth} of the answer: {why}");
        Record::part(1, outcome.map_err(told))
    };
    (1..).zip(outcomes).map(numbered).collect()
}

fn of_object(object: &Object) -> Vec<Read> {
    let list = |name: &str| object.get(name).and_then(Value::as_array);
    if let Some((name, answer)) = object.iter().find(|(name, _)| name.ends_with("world-patent-data")) {
        let root = element(name, answer);
        return exchange::RECORDS.iter().flat_map(|name| root.below(name)).map(exchange::read).collect();
    }
    if let Some(items) = list("patentFileWrapperDataBag") {
        return items.iter().map(|item| each(item, data_portal)).collect();
    }
    if let Some(items) = list("patents").or_else(|| list("docs")) {
        return items.iter().map(|item| each(item, public_search)).collect();
    }
    if object.contains_key("guid") {
        return vec![public_search(object)];
    }
    if let Some(items) = list("documents").or_else(|| list("results")) {
        return items.iter().map(|item| each(item, client_document)).collect();
    }
    if object.contains_key("document_id") {
        return vec![client_text(object)];
    }
    Vec::new()
}

fn each(item: &Value, read: fn(&Object) -> Read) -> Read {
    item.as_object().map_or_else(|| Err("not a JSON object".to_owned()), read)
}

/// JSON of Open Patent Services as the elements that it stands for: `@name` is an attribute, `$` the text.
fn element(name: &str, value: &Value) -> Element {
    let mut element = Element::new(name.rsplit(':').next().unwrap_or(name));
    fill(&mut element, value, 0);
    element
}

/// Deepest nesting of an answer: `serde_json` reads no deeper.
const MAX_DEPTH: usize = 128;

fn fill(element: &mut Element, value: &Value, depth: usize) {
    let Value::Object(object) = value else {
        element.push_text(text_of(value));
        return;
    };
    for (name, part) in object {
        if let Some(attribute) = name.strip_prefix('@') {
            element.set(attribute.rsplit(':').next().unwrap_or(attribute), text_of(part));
        } else if name == "$" {
            element.push_text(text_of(part));
        } else if depth < MAX_DEPTH {
            let parts = part.as_array().map_or(std::slice::from_ref(part), Vec::as_slice);
            for part in parts {
                let mut child = Element::new(name.rsplit(':').next().unwrap_or(name));
                fill(&mut child, part, depth + 1);
                element.push(child);
            }
        }
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// A text or number by its name; empty if there is none.
fn text(object: &Object, name: &str) -> String {
    object.get(name).map(text_of).unwrap_or_default().trim().to_owned()
}

/// Texts of a list, or the parts of one text with `;` between them.
fn texts(object: &Object, name: &str) -> Vec<String> {
    let all: Vec<String> = match object.get(name) {
        Some(Value::Array(items)) => items.iter().map(text_of).collect(),
        Some(Value::String(text)) => text.split(';').map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    all.iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
}

/// A text of every object in a list.
fn of_each(object: &Object, list: &str, name: &str) -> Vec<String> {
    let items = object.get(list).and_then(Value::as_array).into_iter().flatten();
    let named = items.filter_map(Value::as_object).map(|item| text(item, name));
    distinct(named.filter(|name| !name.is_empty()))
}

/// The day of a time stamp.
fn day(text: &str) -> Option<jiff::civil::Date> {
    civil(text.get(..10).unwrap_or(text))
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

/// The number of a US grant in the eight places of the office's files: `07272630`, `D0513425`.
fn padded(number: &str) -> String {
    let (series, digits) = number.split_at(number.find(|c: char| c.is_ascii_digit()).unwrap_or(0));
    format!("{series}{digits:0>width$}", width = 8_usize.saturating_sub(series.len()))
}

/// USPTO Public Search: the list of results, and single documents with their texts.
fn public_search(item: &Object) -> Read {
    let (mut document, mut codes) = (Document::default(), CodeList::default());
    let guid = text(item, "guid");
    let [office, doc_number, kind] = guid.split('-').collect::<Vec<_>>()[..] else {
        return Err(format!(
            "`guid` is `{guid}`, which is no office, number, and kind such as US-11803561-B1"
        ));
    };
    let is_application = kind.starts_with('A') && doc_number.len() > 8;
    let doc_number = if is_application { doc_number.to_owned() } else { padded(doc_number) };
    identify(&mut document, office, &doc_number, kind);
    document.title = normalise(&text(item, "inventionTitle"));
    document.pub_date = day(&text(item, "datePublished"));
    document.app_date = texts(item, "applicationFilingDate").first().and_then(|date| day(date));
    document.app_id =
        some(text(item, "applicationNumber").replace('/', "")).map(|id| number(office, &id, None));
    document.language = some(text(item, "languageIndicator").to_lowercase()).filter(|code| code.len() == 2);
    document.family_id = some(text(item, "familyIdentifierCur")).filter(|id| id != "0");
    let first = text(item, "inventorsShort");
    let inventors = match item.get("inventorsName") {
        Some(Value::Array(_)) => texts(item, "inventorsName"),
        _ => vec![first.strip_suffix("et al.").unwrap_or(&first).trim().to_owned()],
    };
    document.authors = distinct(inventors.iter().filter_map(|name| some(super::first_last(name))));
    let assignees = texts(item, "assigneeName");
    document.applicants =
        distinct(if assignees.is_empty() { texts(item, "applicantName") } else { assignees });
    document.references = distinct(texts(item, "urpn").iter().map(|cited| number(office, cited, None)));
    for (name, system) in [
        ("ipcCodeFlattened", System::Ipc),
        ("cpcInventiveFlattened", System::Cpc),
        ("cpcAdditionalFlattened", System::Cpc),
        ("uspcFullClassificationFlattened", System::Uspc),
    ] {
        for code in &texts(item, name) {
            codes.add(system, code);
        }
    }
    let markup = |name: &str| Element::of_markup(&text(item, name)).lines(&plain);
    document.text = markup("abstractHtml");
    let parts = ["backgroundTextHtml", "briefHtml", "descriptionHtml"].map(markup);
    document.desc = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    document.claim = markup("claimsHtml");
    document.codes = codes.codes;
    Ok((document, codes.odd))
}

/// The USPTO Open Data Portal: one application.
fn data_portal(item: &Object) -> Read {
    let (mut document, mut codes) = (Document::default(), CodeList::default());
    let nothing = Object::new();
    let meta = item.get("applicationMetaData").and_then(Value::as_object).unwrap_or(&nothing);
    let application = text(item, "applicationNumberText");
    let published = some(text(meta, "earliestPublicationNumber")).map(|id| dashed(&id));
    let granted = some(text(meta, "patentNumber")).map(|patent| {
        // The portal names no kinds: they follow from the type, and from whether the application was published.
        let kind = match (text(meta, "applicationTypeCode").as_str(), &published) {
            ("DES", _) => "S1",
            ("PLT", None) => "P2",
            ("PLT", Some(_)) => "P3",
            ("REI" | "REX", _) => "E1",
            (_, None) => "B1",
            (_, Some(_)) => "B2",
        };
        number("US", &padded(&patent), Some(kind))
    });
    document.app_id = some(application.replace(['/', ','], "")).map(|id| number("US", &id, None));
    let Some(id) = granted.clone().or_else(|| published.clone()).or_else(|| document.app_id.clone()) else {
        return Err("it has no `applicationNumberText`".to_owned());
    };
    document.doc_id = id;
    document.country = Some("US".to_owned());
    (document.exam_id, document.pub_id) = (granted, published);
    document.title = normalise(&text(meta, "inventionTitle"));
    document.pub_date = day(&text(meta, "grantDate")).or_else(|| day(&text(meta, "earliestPublicationDate")));
    document.app_date = day(&text(meta, "filingDate"));
    document.authors = of_each(meta, "inventorBag", "inventorNameText");
    document.applicants = of_each(meta, "applicantBag", "applicantNameText");
    document.legal_status = some(text(meta, "applicationStatusDescriptionText"));
    for code in &texts(meta, "cpcClassificationBag") {
        codes.add(System::Cpc, code);
    }
    codes.add(System::Uspc, &text(meta, "class/subclass"));
    let objects = |name: &str| {
        item.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
    };
    document.priorities = objects("foreignPriorityBag")
        .map(|of| Priority {
            number: some(text(of, "applicationNumberText")),
            date: day(&text(of, "filingDate")),
        })
        .collect();
    document.legal_events = objects("eventDataBag")
        .map(|of| LegalEvent {
            date: day(&text(of, "eventDate")),
            code: text(of, "eventCode"),
            text: text(of, "eventDescriptionText"),
        })
        .collect();
    document.codes = codes.codes;
    Ok((document, codes.odd))
}

/// A document of `patent_client`, with its bibliography or its number alone.
fn client_document(item: &Object) -> Read {
    let (mut document, mut codes) = client_number(item)?;
    document.family_id = some(text(item, "family_id"));
    document.title = normalise(&text(item, "title"));
    text(item, "abstract").clone_into(&mut document.text);
    let of = |name: &str, part: &str| {
        item.get(name).and_then(Value::as_object).map(|of| text(of, part)).unwrap_or_default()
    };
    document.pub_date = day(&of("publication_reference_docdb", "date"));
    document.app_date = ["docdb", "epodoc"]
        .iter()
        .find_map(|form| day(&of(&format!("application_reference_{form}"), "date")));
    let (country, application) =
        (of("application_reference_docdb", "country"), of("application_reference_docdb", "number"));
    document.app_id = some(application).map(|id| number(&country, &id, None));
    let best = |names: [&str; 2]| {
        let found = names.iter().map(|name| texts_apart(item, name)).find(|names| !names.is_empty());
        distinct(found.unwrap_or_default().iter().map(|name| without_country(name)))
    };
    document.authors = best(["inventors_original", "inventors_epodoc"]);
    document.applicants = best(["applicants_original", "applicants_epodoc"]);
    for (name, system) in
        [("intl_class", System::Ipc), ("cpc_class", System::Cpc), ("us_class", System::Uspc)]
    {
        for code in &texts_apart(item, name) {
            codes.add(system, code);
        }
    }
    let objects = |name: &str| {
        item.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
    };
    let claims = objects("priority_claims").filter(|of| text(of, "id_type") != "original");
    document.priorities = claims
        .map(|of| Priority { number: some(text(of, "number")), date: day(&text(of, "date")) })
        .collect();
    document.references =
        distinct(objects("citations").filter_map(|of| some(dashed(&text(of, "docdb_number")))));
    document.codes = codes.codes;
    Ok((document, codes.odd))
}

/// Claims or description of a document of `patent_client`.
fn client_text(object: &Object) -> Read {
    let id = object.get("document_id").and_then(Value::as_object);
    let (mut document, codes) = client_number(id.ok_or("`document_id` is not an object")?)?;
    let lines = |text: &str| crate::document::json::lines(text);
    document.desc = lines(&text(object, "description"));
    document.claim = lines(&text(object, "claim_text"));
    Ok((document, codes.odd))
}

fn client_number(item: &Object) -> Result<(Document, CodeList), String> {
    let (country, doc_number, kind) = (text(item, "country"), text(item, "doc_number"), text(item, "kind"));
    if country.len() != 2 || doc_number.is_empty() {
        return Err("it names no publication: `country` or `doc_number` is missing".to_owned());
    }
    let mut document = Document::default();
    identify(&mut document, &country, &doc_number, &kind);
    Ok((document, CodeList::default()))
}

/// Texts of a list as they are.
fn texts_apart(object: &Object, name: &str) -> Vec<String> {
    object
        .get(name)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(text_of)
        .filter(|text| !text.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::json::OddCodes;

    fn read_one(text: &str) -> Result<(Document, OddCodes), String> {
        let mut records = records(serde_json::from_str(text).unwrap());
        assert_eq!(records.len(), 1);
        records.remove(0).outcome
    }

    #[test]
    fn open_patent_services() {
        let answer = r#"{"ops:world-patent-data": {"@xmlns": {"$": "x"}, "exchange-documents": {"exchange-document": {
            "@country": "EP", "@doc-number": "1000000", "@kind": "A1", "@family-id": "19768124",
            "bibliographic-data": {
                "publication-reference": {"document-id": [
                    {"@document-id-type": "docdb", "country": {"$": "EP"}, "doc-number": {"$": "1000000"}, "kind": {"$": "A1"}, "date": {"$": "20000517"}},
                    {"@document-id-type": "epodoc", "doc-number": {"$": "EP1000000"}}]},
                "priority-claims": {"priority-claim": {"@sequence": "1", "document-id": {"@document-id-type": "epodoc", "doc-number": {"$": "NL19981010536"}, "date": {"$": "19981112"}}}},
                "parties": {"inventors": {"inventor": [{"@data-format": "epodoc", "inventor-name": {"name": {"$": "KOSMAN W [NL]"}}}]}},
                "invention-title": [{"@lang": "de", "$": "Ziegel"}, {"@lang": "en", "$": "Bricks"}],
                "references-cited": {"citation": [{"patcit": {"document-id": {"@document-id-type": "docdb", "country": {"$": "DE"}, "doc-number": {"$": "3546191"}, "kind": {"$": "A1"}}}}, {"nplcit": {"text": {"$": "SMITH: Naps, doi:10.1000/X"}}}]}
            }}}}}"#;
        let (document, odd) = read_one(answer).unwrap();
        assert_eq!((document.doc_id.as_str(), document.title.as_str()), ("EP-1000000-A1", "Bricks"));
        assert_eq!(document.authors, ["KOSMAN W"]);
        assert_eq!(document.references, ["DE-3546191-A1", "10.1000/x"]);
        assert_eq!(document.family_id.as_deref(), Some("19768124"));
        assert_eq!(document.priority_date(), civil("19981112"));
        assert_eq!((document.pub_date, odd.len()), (civil("20000517"), 0));
    }

    #[test]
    fn the_open_data_portal() {
        let answer = r#"{"count": 1, "patentFileWrapperDataBag": [{"applicationNumberText": "14000001", "applicationMetaData": {
            "inventionTitle": "TRANSISTOR", "patentNumber": "9000001", "applicationTypeCode": "UTL", "filingDate": "2012-12-19", "grantDate": "2016-06-07",
            "earliestPublicationNumber": "US 2014-0000001 A1", "earliestPublicationDate": "2014-06-19", "applicationStatusDescriptionText": "Patented Case",
            "class/subclass": "257/197000", "cpcClassificationBag": ["H01L29/66325"], "inventorBag": [{"inventorNameText": "Ann Lee"}],
            "applicantBag": [{"applicantNameText": "Example S.A."}]},
            "foreignPriorityBag": [{"ipOfficeName": "FRANCE", "filingDate": "2012-12-19", "applicationNumberText": "1200001"}],
            "eventDataBag": [{"eventCode": "PTAC", "eventDescriptionText": "Patent Issue", "eventDate": "2016-06-07"}]}]}"#;
        let (document, _) = read_one(answer).unwrap();
        assert_eq!(document.doc_id, "US-09000001-B2");
        assert_eq!(
            (document.pub_id.as_deref(), document.app_id.as_deref()),
            (Some("US-20140000001-A1"), Some("US-14000001"))
        );
        assert_eq!(
            (document.codes.uspc.as_slice(), document.legal_status.as_deref()),
            (&["257/197".to_owned()][..], Some("Patented Case"))
        );
        assert_eq!((document.priority_date(), document.legal_events.len()), (civil("20121219"), 1));
        let error =
            read_one(r#"{"patentFileWrapperDataBag": [{"applicationMetaData": {"inventionTitle": "X"}}]}"#)
                .unwrap_err();
        assert_eq!(error, "publication 1 of the answer: it has no `applicationNumberText`");
    }

    #[test]
    fn public_search_with_texts() {
        let item = r#"{"guid": "US-7000001-B2", "inventionTitle": "Lamp", "inventorsName": ["Lee; Ann", "Ek; Bo"], "urpn": ["5000001", "20010000001"],
            "abstractHtml": "A lamp <b>dims</b>.", "claimsHtml": "1. A lamp.<br />2. The lamp of claim 1 & a cable.", "uspcFullClassificationFlattened": "362/101;D26/1"}"#;
        let (document, odd) = read_one(item).unwrap();
        assert_eq!(document.doc_id, "US-07000001-B2");
        assert_eq!(document.authors, ["Ann Lee", "Bo Ek"]);
        assert_eq!(document.references, ["US-5000001", "US-20010000001"]);
        assert_eq!(
            (document.text.as_str(), document.claim.as_str()),
            ("A lamp dims.", "1. A lamp.\n2. The lamp of claim 1 & a cable.")
        );
        assert_eq!(
            (document.codes.uspc.as_slice(), odd.len()),
            (&["362/101".to_owned(), "D26/1".to_owned()][..], 0)
        );
        assert!(read_one(r#"{"guid": "nonsense"}"#).unwrap_err().contains("`guid` is `nonsense`"));
    }

    #[test]
    fn other_json_is_refused() {
        for text in ["{}", "[]", r#"{"patents": []}"#, "7"] {
            let error = read_one(text).unwrap_err();
            assert!(error.starts_with("no publication in it"), "{text}: {error}");
        }
        assert!(is_answer("{\n  \"numFound\": 1,") && !is_answer("{\"guid\": 1}\n{\"guid\": 2}\n"));
        assert!(is_answer("{\"patentFileWrapperDataBag\": ["));
        let broken = read(std::io::Cursor::new(b"{\"numFound\": ")).unwrap();
        assert!(broken[0].outcome.as_ref().is_err_and(|why| why.starts_with("invalid JSON: ")));
    }
}

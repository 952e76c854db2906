//! A document from a line of JSON.

use super::Priority;
use crate::Document;
use crate::backend::Codes;
use lyra_bibliography::{isbns, issns};
use lyra_domain::classification::System;
use lyra_domain::{Doi, Imprint, WorkKind};
use lyra_text::normalise;
use serde_json::{Map, Value};

/// Codes that are not valid in their system, as written.
pub(crate) type OddCodes = Vec<String>;

/// Reads one line of JSON Lines; the error is the reason to report, in a few words.
///
/// `id` may be a number or be called `doc_id`, `app_doc_id` or `_id`; `abstract` may be called `abst` or `text`; texts
/// may be lists of strings; authors may be strings or objects with a `name`; years and counts may be strings of digits.
/// Other fields are ignored. Invalid DOIs, countries, and codes are dropped; codes are reported.
pub(crate) fn parse(line: &str) -> Result<(Document, OddCodes), String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("invalid JSON: {error}"))?;
    let Value::Object(fields) = value else { return Err("not a JSON object".to_owned()) };
    match super::exported::version(&fields) {
        Some(version) => super::exported::read(version, &fields),
        None => read(&fields),
    }
}

/// Reads an object; also a row of a table, whose values are strings.
pub(crate) fn read(fields: &Map<String, Value>) -> Result<(Document, OddCodes), String> {
    let doc_id = match first(fields, &["id", "doc_id", "app_doc_id", "_id"]) {
        None => return Err("missing id".to_owned()),
        Some((_, Value::String(id))) if !id.trim().is_empty() => id.trim().to_owned(),
        Some((_, Value::Number(id))) => id.to_string(),
        Some((name, Value::String(_))) => return Err(format!("`{name}` is empty")),
        Some((name, _)) => return Err(format!("`{name}` must be a string or a number")),
    };
    let one = |names: &[&str]| -> Result<Option<String>, String> {
        Ok(text(fields, names, " ")?.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()))
    };
    let language = one(&["language", "lang"])?.map(|code| code.to_lowercase()).filter(|code| code.len() == 2);
    let year = number(fields, "year")?.map(|year| i32::try_from(year).map_err(|_| "`year` is out of range"));
    let count = number(fields, "citation_count")?;
    let count = count.map(|count| u32::try_from(count).map_err(|_| "`citation_count` is out of range"));
    let (codes, odd) = codes(fields)?;
    let country = one(&["country"])?;
    let document = Document {
        title: normalise(&text(fields, &["title"], " ")?.unwrap_or_default()),
        text: text(fields, &["abstract", "abst", "text"], " ")?.unwrap_or_default().trim().to_owned(),
        claim: lines(&text(fields, &["claims", "claim"], "\n")?.unwrap_or_default()),
        desc: lines(&text(fields, &["description", "desc"], "\n")?.unwrap_or_default()),
        url: one(&["url"])?,
        doi: one(&["doi"])?.and_then(|doi| Doi::parse(&doi)),
        year: year.transpose()?,
        venue: one(&["venue", "journal"])?,
        imprint: imprint(fields),
        volume: scalar(fields, "volume")?,
        issue: scalar(fields, "issue")?,
        pages: scalar(fields, "pages")?,
        authors: names(fields, &["inventors", "authors"])?,
        language,
        citation_count: count.transpose()?,
        references: names(fields, &["references", "cites"])?,
        tags: names(fields, &["tags"])?,
        collections: names(fields, &["collections"])?,
        notes: names(fields, &["notes"])?,
        priorities: priorities(fields)?,
        family_id: scalar(fields, "family_id")?,
        legal_status: one(&["legal_status"])?,
        app_id: one(&["app_id"])?,
        pub_id: one(&["pub_id"])?,
        exam_id: one(&["exam_id"])?,
        app_date: date(fields, "app_date")?,
        // `date` may mean anything in a paper's file, so an invalid one is dropped.
        pub_date: match date(fields, "pub_date")? {
            None => date(fields, "date").unwrap_or_default(),
            known => known,
        },
        country: country
            .filter(|code| code.len() == 2 && code.bytes().all(|b| b.is_ascii_alphabetic()))
            .map(|code| code.to_ascii_uppercase()),
        applicants: names(fields, &["applicants", "assignees", "assignee"])?,
        cross_en_applicants: names(fields, &["cross_en_applicants"])?,
        codes,
        doc_id,
        ..Document::default()
    };
    Ok((document.finish()?, odd))
}

/// What it is, and who published it. Fields of these names may hold anything, so that other values are dropped.
fn imprint(fields: &Map<String, Value>) -> Imprint {
    let one = |name: &str| scalar(fields, name).ok().flatten();
    let many = |name: &str| names(fields, &[name]).unwrap_or_default();
    Imprint {
        kind: one("type").and_then(|word| WorkKind::of_catalog(&word)),
        publisher: one("publisher"),
        place: one("place"),
        edition: one("edition"),
        editors: many("editors"),
        isbn: isbns(&many("isbn")),
        issn: issns(&many("issn")),
    }
}

fn codes(fields: &Map<String, Value>) -> Result<(Codes, OddCodes), String> {
    let (mut codes, mut odd) = (Codes::default(), Vec::new());
    for (system, keys) in [
        (System::Ipc, &["ipc", "ipc_codes"][..]),
        (System::Cpc, &["cpc", "cpc_codes"]),
        (System::Fi, &["fi", "fi_codes"]),
        (System::Ft, &["ft", "ft_codes", "fterm", "f_terms"]),
        (System::Uspc, &["uspc", "uspc_codes"]),
        (System::Locarno, &["locarno", "locarno_codes"]),
    ] {
        for written in names(fields, keys)? {
            if codes.add(system, &written).is_err() {
                odd.push(format!("{system} {written}"));
            }
        }
    }
    Ok((codes, odd))
}

/// Earlier applications: numbers, or objects with `number` and `date`; `priority_date` is the first date of all.
fn priorities(fields: &Map<String, Value>) -> Result<Vec<Priority>, String> {
    const NAMES: [&str; 2] = ["priorities", "priority_numbers"];
    let mut found: Vec<Priority> = match first(fields, &NAMES) {
        Some((_, Value::Array(items))) if items.iter().any(Value::is_object) => {
            let object = |item: &Value| {
                let fields = item.as_object().ok_or("`priorities` mixes objects and other values")?;
                Ok(Priority { number: scalar(fields, "number")?, date: date(fields, "date")? })
            };
            items.iter().map(object).collect::<Result<_, String>>()?
        }
        _ => {
            let numbers = names(fields, &NAMES)?;
            numbers.into_iter().map(|number| Priority { number: Some(number), date: None }).collect()
        }
    };
    // Some services write date and number of the earliest one in a cell.
    let date = match date(fields, "priority_date") {
        Ok(date) => date,
        Err(_) if !found.is_empty() => None,
        Err(reason) => return Err(reason),
    };
    if date.is_some() && found.iter().all(|priority| priority.date.is_none()) {
        match &mut found[..] {
            [one] => one.date = date,
            _ => found.push(Priority { number: None, date }),
        }
    }
    Ok(found)
}

/// A text, or a number as text.
fn scalar(fields: &Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match first(fields, &[name]) {
        Some((_, Value::Number(number))) => Ok(Some(number.to_string())),
        _ => {
            Ok(text(fields, &[name], " ")?.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()))
        }
    }
}

/// Text by lines without blank ones.
pub(crate) fn lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// A date as `2010-01-07`, `20100107`, `2010/01/07` or `2010.01.07`; days and months 00 are the first.
pub(crate) fn civil(text: &str) -> Option<jiff::civil::Date> {
    let digits: String = text.trim().chars().filter(|c| !matches!(c, '-' | '/' | '.')).take(9).collect();
    if digits.len() != 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = |range: std::ops::Range<usize>| digits.get(range)?.parse::<i16>().ok();
    let day = |n: i16| i8::try_from(n.max(1)).ok();
    jiff::civil::Date::new(part(0..4)?, day(part(4..6)?)?, day(part(6..8)?)?).ok()
}

fn date(fields: &Map<String, Value>, name: &str) -> Result<Option<jiff::civil::Date>, String> {
    let text = match first(fields, &[name]) {
        None => return Ok(None),
        Some((_, Value::String(text))) if text.trim().is_empty() => return Ok(None),
        Some((_, Value::String(text))) => text.clone(),
        Some((_, other)) => other.to_string(),
    };
    civil(&text).map(Some).ok_or_else(|| format!("`{name}` must be a date as yyyy-mm-dd"))
}

fn first<'a>(fields: &'a Map<String, Value>, names: &[&'a str]) -> Option<(&'a str, &'a Value)> {
    names
        .iter()
        .find_map(|name| fields.get(*name).filter(|value| !value.is_null()).map(|value| (*name, value)))
}

/// A string, or a list of strings joined.
fn text(fields: &Map<String, Value>, names: &[&str], between: &str) -> Result<Option<String>, String> {
    match first(fields, names) {
        None => Ok(None),
        Some((_, Value::String(text))) => Ok(Some(text.clone())),
        Some((name, Value::Array(parts))) => {
            let parts: Option<Vec<&str>> = parts.iter().map(Value::as_str).collect();
            let parts = parts.ok_or_else(|| format!("`{name}` holds something else than strings"))?;
            // Of a list, each item is one line.
            let item = |part: &&str| match between {
                "\n" => part.split_whitespace().collect::<Vec<_>>().join(" "),
                _ => part.trim().to_owned(),
            };
            Ok(Some(parts.iter().map(item).collect::<Vec<_>>().join(between)))
        }
        Some((name, _)) => Err(format!("`{name}` must be a string")),
    }
}

fn number(fields: &Map<String, Value>, name: &str) -> Result<Option<i64>, String> {
    match first(fields, &[name]) {
        None => Ok(None),
        Some((_, Value::Number(number))) => {
            number.as_i64().map(Some).ok_or_else(|| format!("`{name}` must be a whole number"))
        }
        Some((_, Value::String(digits))) if digits.trim().is_empty() => Ok(None),
        Some((_, Value::String(digits))) => {
            digits.trim().parse().map(Some).map_err(|_| format!("`{name}` must be a whole number"))
        }
        Some(_) => Err(format!("`{name}` must be a whole number")),
    }
}

/// A list of strings, of numbers, or of objects with a `name`, `doi` or `id`; one string is a list of one.
fn names(fields: &Map<String, Value>, names: &[&str]) -> Result<Vec<String>, String> {
    let (name, items) = match first(fields, names) {
        None => return Ok(Vec::new()),
        Some((_, Value::String(one))) if one.trim().is_empty() => return Ok(Vec::new()),
        Some((_, Value::String(one))) => return Ok(vec![one.trim().to_owned()]),
        Some((name, Value::Array(items))) => (name, items),
        Some((name, _)) => return Err(format!("`{name}` must be a list")),
    };
    items
        .iter()
        .map(|item| match item {
            Value::String(text) => Ok(text.trim().to_owned()),
            Value::Number(number) => Ok(number.to_string()),
            Value::Object(fields) => text(fields, &["name", "doi", "id"], " ")?
                .ok_or_else(|| format!("`{name}` holds an object without a name")),
            _ => Err(format!("`{name}` holds something else than strings")),
        })
        .filter(|item| item.as_ref().map_or(true, |text| !text.is_empty()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_line(line: &str) -> Result<Document, String> {
        parse(line).map(|(document, _)| document)
    }

    #[test]
    fn real_files_vary() {
        let document = read_line(
            r#"{"doc_id": 4983, "title": " Naps ", "abstract": ["We slept. ", "It helped."], "year": "2014",
               "authors": [{"name": "A. B."}, "C. D."], "doi": "https://doi.org/10.1000/X", "references": [7], "venue": ""}"#,
        )
        .unwrap();
        assert_eq!(document.doc_id, "4983");
        assert_eq!((document.title.as_str(), document.text.as_str()), ("Naps", "We slept. It helped."));
        assert_eq!((document.year, document.venue.as_deref()), (Some(2014), None));
        assert_eq!(document.authors, ["A. B.", "C. D."]);
        assert_eq!(document.references, ["7"]);
        assert_eq!(document.address("x"), "https://doi.org/10.1000/x");
        assert_eq!(
            read_line(r#"{"_id": "a", "text": "昼寝は記憶を助ける。"}"#).unwrap().language.as_deref(),
            Some("ja")
        );
        assert_eq!(read_line(r#"{"_id": "a", "text": "x"}"#).unwrap().address("c"), "corpus:c/a");
    }

    #[test]
    fn patents() {
        let line = r#"{"id": "US-20050004437-A1", "lang": "en", "date": "20050106", "title": "Device", "abstract": "",
            "claims": ["1. A device.", "2. The device\nof claim 1."], "description": "One.\n\n Two.", "ipc": ["A61B005/00", "nonsense"],
            "cpc": [], "fi": "A61B5/00,100", "fterm": ["4C117 XA01"], "cites": ["US-1"], "applicants": [{"name": "Dr. X"}], "app_date": "2004-04-23"}"#;
        let (document, odd) = parse(line).unwrap();
        assert_eq!(odd, ["ipc nonsense"]);
        assert_eq!((document.country.as_deref(), document.year), (Some("US"), Some(2005)));
        assert_eq!(document.claim, "1. A device.\n2. The device of claim 1.");
        assert_eq!(document.desc, "One.\nTwo.");
        assert_eq!(document.codes.ipc, ["A61B5/00"]);
        assert_eq!(document.codes.ft, ["4C117XA01"]);
        assert_eq!(document.app_date, civil("20040423"));
        assert_eq!(document.applicants, ["Dr. X"]);
        assert_eq!(civil("19980800"), Some(jiff::civil::date(1998, 8, 1)));
        assert_eq!((civil("2010-13-01"), civil("201"), civil("２０１００１０７")), (None, None, None));
    }

    #[test]
    fn fields_of_patents_and_of_articles() {
        let line = r#"{"id": "US-D0513425-S1", "title": "Chair", "uspc": ["D 6334"], "locarno": "LOC (7) Cl. 06-01", "inventors": ["A. B."],
            "priorities": [{"number": "EM 1", "date": "2004-01-02"}, {"number": "EM 2"}], "family_id": 7, "legal_status": "Expired"}"#;
        let document = read_line(line).unwrap();
        assert_eq!((document.country.as_deref(), document.authors.len()), (Some("US"), 1));
        assert_eq!(
            (document.codes.uspc[0].as_str(), document.codes.locarno[0].as_str()),
            ("D6/334", "06-01")
        );
        assert_eq!((document.priority_date(), document.priorities.len()), (civil("20040102"), 2));
        assert_eq!(
            (document.family_id.as_deref(), document.legal_status.as_deref()),
            (Some("7"), Some("Expired"))
        );
        let line = r#"{"id": 1, "title": "x", "priority_numbers": ["NL 1"], "priority_date": "1998-11-12", "volume": 12, "issue": "3", "pages": "101-109"}"#;
        let document = read_line(line).unwrap();
        assert_eq!(
            document.priorities,
            [Priority { number: Some("NL 1".to_owned()), date: civil("19981112") }]
        );
        assert_eq!(
            [document.volume, document.issue, document.pages].map(Option::unwrap),
            ["12", "3", "101-109"]
        );
    }

    #[test]
    fn kinds_and_publishers() {
        let line = r#"{"id": 1, "title": "x", "type": "Book Chapter", "venue": "Sleep", "publisher": "North Press", "edition": 2,
            "editors": [{"name": "Jane Doe"}], "isbn": ["978-3-16-148410-0", "7"], "issn": "1234-567x"}"#;
        let imprint = read_line(line).unwrap().imprint;
        assert_eq!(
            (imprint.kind, imprint.publisher.as_deref(), imprint.edition.as_deref()),
            (Some(WorkKind::Chapter), Some("North Press"), Some("2"))
        );
        assert_eq!(
            (&imprint.editors[..], &imprint.isbn[..]),
            (&["Jane Doe".to_owned()][..], &["9783161484100".to_owned()][..])
        );
        assert_eq!(imprint.issn, ["1234-567X"]);
        let odd = r#"{"id": 1, "title": "x", "type": ["a", 5], "publisher": {"name": "North"}, "editors": 5, "isbn": [[]]}"#;
        assert_eq!(read_line(odd).unwrap().imprint, Imprint::default());
    }

    #[test]
    fn reasons() {
        let check = |line: &str, expect: &str| {
            let reason = read_line(line).unwrap_err();
            assert!(reason.starts_with(expect), "{reason}");
        };
        check("{", "invalid JSON: ");
        check("[]", "not a JSON object");
        check(r#"{"title": "x"}"#, "missing id");
        check(r#"{"id": "", "title": "x"}"#, "`id` is empty");
        check(r#"{"id": {}, "title": "x"}"#, "`id` must be a string or a number");
        check(r#"{"id": 1, "title": " "}"#, "no title and no text");
        check(r#"{"id": 1, "title": 5}"#, "`title` must be a string");
        check(r#"{"id": 1, "abstract": ["a", 5]}"#, "`abstract` holds something else than strings");
        check(r#"{"id": 1, "title": "x", "year": "soon"}"#, "`year` must be a whole number");
        check(r#"{"id": 1, "title": "x", "authors": [[]]}"#, "`authors` holds something else than strings");
        check(r#"{"id": 1, "title": "x", "citation_count": -1}"#, "`citation_count` is out of range");
        check(
            r#"{"id": 1, "title": "x", "priority_date": "soon"}"#,
            "`priority_date` must be a date as yyyy-mm-dd",
        );
        check(
            r#"{"id": 1, "title": "x", "priorities": [{"number": "A", "date": "x"}]}"#,
            "`date` must be a date",
        );
        check(r#"{"id": 1, "title": "x", "volume": {}}"#, "`volume` must be a string");
    }

    proptest! {
        #[test]
        fn any_line_is_a_document_or_a_reason(line in any::<String>()) {
            let _ = read_line(&line);
        }

        #[test]
        fn what_is_stored_is_read_back(id in "[a-z0-9]{1,8}", title in any::<String>(), body in any::<String>()) {
            let line = serde_json::json!({"id": id, "title": title, "text": body}).to_string();
            if let Ok(document) = read_line(&line) {
                let stored = serde_json::to_string(&document).unwrap();
                prop_assert_eq!(serde_json::from_str::<Document>(&stored).unwrap(), document);
            }
        }
    }
}

//! Stand-in answers, written after the public documentation of each API, with the fields that it names. They are not
//! recordings: nothing here shows what an API does beyond its documentation.

use crate::support::Seen;
use serde_json::{Value, json};

/// Sources with stand-in answers.
pub(crate) const NAMES: [&str; 6] = ["clinicaltrials", "wikipedia", "datacite", "doaj", "core", "unpaywall"];

/// The right answer of a source: two records. Of Unpaywall, the record of the DOI that is asked for.
pub(super) fn right(name: &str, seen: &Seen) -> Value {
    match name {
        "unpaywall" => unpaywall(seen.path.rsplit('/').next().unwrap_or_default()),
        _ => with_records(name, &[record(name, 1), record(name, 2)]),
    }
}

/// The answer with these records where the API lists its own.
pub(super) fn with_records(name: &str, records: &[Value]) -> Value {
    match name {
        "clinicaltrials" => json!({"totalCount": records.len(), "studies": records}),
        "wikipedia" => json!({"batchcomplete": true, "query": {"pages": records}}),
        "datacite" => {
            json!({"data": records, "meta": {"total": records.len(), "totalPages": 1, "page": 1}})
        }
        "doaj" => json!({"total": records.len(), "page": 1, "pageSize": 10, "results": records}),
        "core" => json!({"totalHits": records.len(), "limit": 10, "offset": 0, "results": records}),
        other => panic!("{other} has no lists"),
    }
}

/// Record `n` of a source.
pub(super) fn record(name: &str, n: u32) -> Value {
    match name {
        "clinicaltrials" => trial(n),
        "wikipedia" => article(n),
        "datacite" => json!({"id": format!("10.5281/zenodo.{n}"), "type": "dois", "attributes": {
            "doi": format!("10.5281/zenodo.{n}"),
            "titles": [{"title": "Thé vert", "titleType": "TranslatedTitle"}, {"title": format!("Tea data {n}")}],
            "creators": [
                {"name": "Sato, Aya", "givenName": "Aya", "familyName": "Sato", "nameType": "Personal"},
                {"name": "Tea Board", "nameType": "Organizational"},
            ],
            "publisher": "Zenodo", "container": {}, "language": "en",
            "publicationYear": if n == 1 { json!(2021) } else { json!("2021") },
            "types": {"resourceTypeGeneral": "Dataset"},
            "descriptions": [
                {"description": "Columns are days.", "descriptionType": "TechnicalInfo"},
                {"description": "<p>Scores of <i>attention</i>.</p>", "descriptionType": "Abstract"},
            ],
            "dates": [{"date": "2021-03-04", "dateType": "Issued"}],
            "url": format!("https://zenodo.org/record/{n}"), "citationCount": 3,
        }}),
        "doaj" => json!({"id": format!("{n:032x}"), "last_updated": "2024-01-01T00:00:00Z", "bibjson": {
            "title": format!("Tea trial {n}"), "abstract": "<p>Tea helped.</p>", "year": "2019", "month": "5",
            "author": [{"name": "Aya Sato", "affiliation": "A school"}],
            "identifier": [{"type": "eissn", "id": "1234-5678"}, {"type": "doi", "id": format!("10.3389/{n}")}],
            "journal": {"title": "Tea Notes", "publisher": "Leaf", "language": ["EN"]},
            "link": [{"type": "fulltext", "url": format!("https://leaf.example/{n}"), "content_type": "HTML"}],
        }}),
        "core" => json!({"id": 100 + n, "title": format!("Tea thesis {n}"), "abstract": "Tea helped.",
            "authors": [{"name": "Sato, Aya"}], "doi": format!("10.1000/{n}"), "arxivId": null, "pubmedId": "77",
            "yearPublished": 2018, "publishedDate": "2018-05-31T00:00:00", "publisher": "A University",
            "journals": [], "language": {"code": "en", "name": "English"}, "citationCount": 0,
            "downloadUrl": format!("https://core.ac.uk/download/{n}.pdf"), "fullText": "Long. ".repeat(50)}),
        other => panic!("{other} has no records"),
    }
}

/// A trial with results, as `resultsSection` reports them.
fn trial(n: u32) -> Value {
    let number = format!("NCT0123456{n}");
    let value = |group: &str, value: &str| json!({"groupId": group, "value": value, "spread": "4.1"});
    json!({
        "hasResults": true,
        "protocolSection": {
            "identificationModule": {"nctId": number, "briefTitle": "Tea in schools",
                "officialTitle": "Green Tea and the Attention of Students", "organization": {"fullName": "Leaf"}},
            "statusModule": {"overallStatus": "COMPLETED", "startDateStruct": {"date": "2019-01"},
                "studyFirstPostDateStruct": {"date": "2018-12-01", "type": "ACTUAL"},
                "resultsFirstPostDateStruct": {"date": "2021-06-30", "type": "ACTUAL"}},
            "sponsorCollaboratorsModule": {"leadSponsor": {"name": "Leaf University", "class": "OTHER"}},
            "descriptionModule": {"briefSummary": "Does green tea improve\n\nthe attention of students?"},
            "conditionsModule": {"conditions": ["Attention", "Fatigue"]},
            "designModule": {"studyType": "INTERVENTIONAL", "phases": ["PHASE2", "PHASE3"],
                "designInfo": {"allocation": "RANDOMIZED"}, "enrollmentInfo": {"count": 120, "type": "ACTUAL"}},
            "armsInterventionsModule": {"interventions": [{"type": "DIETARY_SUPPLEMENT", "name": "Green tea"},
                {"type": "OTHER", "name": "Hot water"}]},
            "outcomesModule": {
                "primaryOutcomes": [{"measure": "Attention score", "timeFrame": "8 weeks"}],
                "secondaryOutcomes": [{"measure": "Sleep", "timeFrame": "8 weeks"}]},
            "referencesModule": {"references": [
                {"pmid": "111", "type": "BACKGROUND"}, {"pmid": "222", "type": "RESULT", "citation": "Sato A."}]},
        },
        "resultsSection": {"outcomeMeasuresModule": {"outcomeMeasures": [
            {"type": "SECONDARY", "title": "Sleep", "reportingStatus": "NOT_POSTED", "groups": [], "classes": []},
            {"type": "PRIMARY", "title": "Attention score", "timeFrame": "8 weeks", "paramType": "MEAN",
                "dispersionType": "STANDARD_DEVIATION", "unitOfMeasure": "points", "reportingStatus": "POSTED",
                "groups": [{"id": "OG000", "title": "Green tea"}, {"id": "OG001", "title": "Hot water"}],
                "denoms": [{"units": "Participants", "counts": [
                    {"groupId": "OG000", "value": "60"}, {"groupId": "OG001", "value": "58"}]}],
                "classes": [{"categories": [{"measurements": [value("OG000", "31.2"), value("OG001", "29.9")]}]}],
                "analyses": [{"groupIds": ["OG000", "OG001"], "paramType": "MEAN_DIFFERENCE", "paramValue": "1.3",
                    "ciPctValue": "95", "ciLowerLimit": "-0.2", "ciUpperLimit": "2.8", "pValue": "0.09",
                    "statisticalMethod": "t-test, 2 sided"}]},
        ]}},
    })
}

/// An article; the API lists articles by their numbers, and says their place in the search.
fn article(n: u32) -> Value {
    json!({"pageid": n, "ns": 0, "title": format!("Tea {n}"), "index": 3 - n, "pagelanguage": "en",
        "extract": format!("Green tea improved the attention of students in trial number {n}."),
        "fullurl": format!("https://en.wikipedia.org/wiki/Tea_{n}"),
        "revisions": [{"timestamp": "2024-05-31T10:00:00Z"}],
        "extlinks": [{"url": "https://doi.org/10.1000%2F7"}, {"url": "https://doi.org/10.1000/7"},
            {"url": "https://doi.org/help"}]})
}

fn unpaywall(doi: &str) -> Value {
    json!({"doi": format!("10.1000/{doi}"), "title": "Tea", "is_oa": true, "year": 2020, "journal_name": "Tea Notes",
        "best_oa_location": {"url": "https://leaf.example/a", "url_for_pdf": null},
        "oa_locations": [{"url": "https://leaf.example/a", "url_for_pdf": null},
            {"url": "https://leaf.example/b", "url_for_pdf": "https://leaf.example/b.pdf"}],
        "z_authors": [{"given": "Aya", "family": "Sato"}, {"raw_author_name": "Tea Board"}]})
}

//! Europe PMC against small answers written after its documentation (<https://europepmc.org/RestfulWebService>),
//! because none is recorded.

use crate::bench::{Bench, text};
use crate::support::{Seen, StandIn, client, json, reply};
use axum::response::Response as Reply;
use lyra_domain::{Doi, FetchMethod, FragmentType, Identifier, TaskStatus, Work};
use lyra_research::ports::{EvidenceSource, ScholarlySource};
use lyra_sources::{ApiConfig, ApiSource, Error, EuropePmc};
use lyra_store::GuardOptions;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// The documented path of the web service.
const REST: &str = "/europepmc/webservices/rest";

const ARTICLE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.3 20210610//EN"
    "JATS-archivearticle1-3.dtd">
<article xml:lang="en" article-type="research-article"><front><article-meta>
<article-id pub-id-type="pmcid">PMC77</article-id><article-id pub-id-type="doi">10.1000/a</article-id>
<title-group><article-title>Naps and memory</article-title></title-group>
<abstract><p>Naps help.</p></abstract></article-meta></front>
<body><sec><title>Results</title><p>Naps improved recall in 40 adults.</p>
<sec><title>Sleepers</title><p>Long naps did not.</p></sec></sec></body>
<back><ref-list><ref><mixed-citation>Lee A. Sleep. 2019.</mixed-citation></ref></ref-list></back></article>"#;

fn europe_pmc(base: &Url) -> EuropePmc {
    let config = ApiConfig {
        base_url: base.join(REST).unwrap(),
        trusted: true,
        api_key: None,
        mailto: Some("me@example.org".to_owned()),
        min_interval: Some(Duration::ZERO),
        cache_ttl: Duration::ZERO,
    };
    EuropePmc::new(client(None), &config)
}

fn doi(text: &str) -> Doi {
    Doi::parse(text).unwrap()
}

/// A record of the result type `core`.
fn core() -> Value {
    json!({
        "id": "123", "source": "MED", "pmid": "123", "pmcid": "PMC77", "doi": "10.1000/A",
        "title": "Naps &amp; <i>memory</i> in adults.", "authorString": "Sato A, Sleep Study Group.",
        "authorList": {"author": [
            {"fullName": "Sato A", "firstName": "Aiko", "lastName": "Sato", "initials": "A"},
            {"collectiveName": "Sleep Study Group"}]},
        "journalInfo": {"issue": "2", "volume": "7", "yearOfPublication": 2020, "journal": {"title": "Sleep notes"}},
        "pubYear": "2020", "language": "eng",
        "abstractText": "<h4>Background</h4>Naps are short. <h4>Results</h4>Recall rose (p &lt; 0.05).",
        "pubTypeList": {"pubType": ["research-article", "Journal Article"]},
        "fullTextUrlList": {"fullTextUrl": [
            {"availability": "Subscription required", "availabilityCode": "S", "documentStyle": "doi",
             "site": "DOI", "url": "https://doi.org/10.1000/a"},
            {"availability": "Open access", "availabilityCode": "OA", "documentStyle": "html",
             "site": "Europe_PMC", "url": "https://europepmc.org/articles/PMC77"},
            {"availability": "Open access", "availabilityCode": "OA", "documentStyle": "pdf",
             "site": "Europe_PMC", "url": "https://europepmc.org/articles/PMC77?pdf=render"}]},
        "isOpenAccess": "Y", "inEPMC": "Y", "citedByCount": 5, "firstPublicationDate": "2020-05-01",
    })
}

fn page(records: &[Value], total: usize, next: &str) -> Reply {
    let body = json!({"version": "6.9", "hitCount": total, "nextCursorMark": next,
        "request": {"resultType": "core"}, "resultList": {"result": records}});
    json(200, &body.to_string())
}

/// The parameter `query` of a request.
fn asked(query: &str) -> String {
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.find(|(name, _)| name == "query").map(|(_, value)| value.into_owned()).unwrap_or_default()
}

#[tokio::test]
async fn a_record_is_read_whole() {
    let server = StandIn::start(|_, _| page(&[core()], 1, "*")).await;
    let found = europe_pmc(&server.url).papers("Do naps improve memory: in adults?", 10).await.unwrap();
    assert_eq!(server.seen()[0].path, format!("{REST}/search"));
    let query = server.seen()[0].query.clone();
    assert_eq!(asked(&query), "(naps AND improve AND memory AND adults) AND (SRC:MED OR SRC:PMC OR SRC:PPR)");
    assert!(query.contains("resultType=core&format=json&pageSize=10&cursorMark=*"), "{query}");
    assert!(query.ends_with("&email=me%40example.org"), "{query}");
    let paper = &found[0];
    assert_eq!(
        paper.abstract_text.as_deref(),
        Some("Background\nNaps are short.\nResults\nRecall rose (p < 0.05).")
    );
    assert_eq!((paper.url.as_str(), paper.language.as_deref()), ("https://doi.org/10.1000/a", Some("en")));
    let work = &paper.work;
    assert_eq!(
        (work.title.as_str(), work.venue.as_deref()),
        ("Naps & memory in adults", Some("Sleep notes"))
    );
    assert_eq!(work.authors, ["Aiko Sato", "Sleep Study Group"]);
    assert_eq!((work.year, work.published_date.as_deref()), (Some(2020), Some("2020-05-01")));
    assert_eq!((work.citation_count, work.is_retracted, work.ids.len()), (Some(5), Some(false), 2));
    assert_eq!(work.oa_url.as_deref(), Some("https://europepmc.org/articles/PMC77?pdf=render"));
}

#[tokio::test]
async fn pages_follow_the_cursor_and_notices_are_left_out() {
    let server = StandIn::start(|seen, _| {
        let mut notice = core();
        notice["pubTypeList"] = json!({"pubType": ["Retraction of Publication"]});
        if seen.query.contains("cursorMark=*") {
            page(&[core(), notice], 3, "AoE=")
        } else {
            page(&[core()], 3, "AoE=")
        }
    })
    .await;
    assert_eq!(europe_pmc(&server.url).papers("naps", 10).await.unwrap().len(), 2);
    assert_eq!(server.seen().len(), 2);
    assert!(server.seen()[1].query.contains("cursorMark=AoE%3D"), "{}", server.seen()[1].query);
}

#[tokio::test]
async fn a_question_whose_words_are_never_together_is_asked_for_any_of_them() {
    let server = StandIn::start(|seen, _| {
        if asked(&seen.query).contains("naps OR memory") {
            page(&[core()], 1, "*")
        } else {
            page(&[], 0, "*")
        }
    })
    .await;
    assert_eq!(europe_pmc(&server.url).papers("naps and memory", 10).await.unwrap().len(), 1);
    assert_eq!(server.seen().len(), 2);
    assert!(europe_pmc(&server.url).papers(" ?! ", 10).await.unwrap().is_empty());
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn works_are_named_by_their_identifiers() {
    let server = StandIn::start(|_, _| page(&[core()], 1, "*")).await;
    let ids = [
        Identifier::Doi(doi("10.1000/a(1)")),
        Identifier::pmid("123").unwrap(),
        Identifier::pmcid("PMC77").unwrap(),
        Identifier::openalex("W1").unwrap(),
    ];
    assert_eq!(europe_pmc(&server.url).batch(&ids).await.unwrap().len(), 1);
    let query = asked(&server.seen()[0].query);
    assert_eq!(query, "DOI:\"10.1000/a(1)\" OR (EXT_ID:123 AND SRC:MED) OR PMCID:PMC77");
    let many: Vec<Identifier> = (1..=100).map(|n| Identifier::pmid(&n.to_string()).unwrap()).collect();
    europe_pmc(&server.url).batch(&many).await.unwrap();
    assert_eq!(server.seen().len(), 1 + 3, "forty alternatives per request");
}

#[tokio::test]
async fn citations_and_references_come_with_their_abstracts() {
    let server = StandIn::start(|seen, _| match seen.path.strip_prefix(REST).unwrap() {
        "/MED/123/citations" => {
            let entry =
                json!({"id": "5", "source": "MED", "citationType": "JOURNAL ARTICLE", "title": "Later."});
            json(200, &json!({"hitCount": 1, "citationList": {"citation": [entry]}}).to_string())
        }
        "/MED/123/references" => {
            let known = json!({"id": "6", "source": "MED", "citedOrder": 1, "match": "Y"});
            let by_doi = json!({"citedOrder": 2, "match": "N", "doi": "10.1000/c"});
            let unknown = json!({"citedOrder": 3, "match": "N", "title": "A book"});
            let list = json!([known, by_doi, unknown]);
            json(200, &json!({"hitCount": 3, "referenceList": {"reference": list}}).to_string())
        }
        "/search" => page(&[core()], 1, "*"),
        _ => reply(404, &[], ""),
    })
    .await;
    let api = europe_pmc(&server.url);
    let work = Work { ids: vec![Identifier::pmid("123").unwrap()], ..Work::default() };
    let found = api.citations(&work, 50).await.unwrap();
    assert!(found.len() == 1 && found[0].text.is_some(), "{found:?}");
    assert_eq!(asked(&server.seen()[1].query), "(EXT_ID:5 AND SRC:MED)");
    assert!(
        server.seen()[0].query.starts_with("page=1&pageSize=50&format=json"),
        "{}",
        server.seen()[0].query
    );
    api.references(&work, 50).await.unwrap();
    assert_eq!(asked(&server.seen()[3].query), "(EXT_ID:6 AND SRC:MED) OR DOI:\"10.1000/c\"");

    // A work that is known by its DOI only is looked up first.
    let work = Work { doi: Some(doi("10.1000/a")), ..Work::default() };
    assert_eq!(api.citations(&work, 50).await.unwrap().len(), 1);
    assert_eq!(asked(&server.seen()[4].query), "DOI:\"10.1000/a\"");
    assert_eq!(server.seen()[5].path, format!("{REST}/MED/123/citations"));
    let unknown = Work { ids: vec![Identifier::openalex("W1").unwrap()], ..Work::default() };
    assert!(api.citations(&unknown, 50).await.unwrap().is_empty());
}

#[tokio::test]
async fn open_full_texts_come_in_pieces_with_their_headings() {
    let server = StandIn::start(|seen, _| match seen.path.strip_prefix(REST).unwrap() {
        "/PMC77/fullTextXML" => reply(200, &[("content-type", "application/xml")], ARTICLE),
        "/PMC78/fullTextXML" => reply(200, &[("content-type", "application/xml")], &ARTICLE[..700]),
        // The same with 404 for works outside the open access subset.
        _ => reply(404, &[("content-type", "application/xml")], ""),
    })
    .await;
    let api = europe_pmc(&server.url);
    let work = |pmcid: &str| Work { ids: vec![Identifier::pmcid(pmcid).unwrap()], ..Work::default() };
    let page = api.full_text(&work("PMC77")).await.unwrap().unwrap();
    let pieces: Vec<(FragmentType, Option<&str>, &str)> = page
        .fragments
        .iter()
        .map(|piece| (piece.fragment_type, piece.heading_context.as_deref(), piece.text_content.as_str()))
        .collect();
    assert_eq!(
        pieces,
        [
            (FragmentType::Abstract, None, "Naps help."),
            (FragmentType::Paragraph, Some("Results"), "Naps improved recall in 40 adults."),
            (FragmentType::Paragraph, Some("Results › Sleepers"), "Long naps did not."),
        ]
    );
    assert_eq!((page.title.as_str(), page.language.as_deref()), ("Naps and memory", Some("en")));
    assert_eq!((page.method, page.answer.http_status), (FetchMethod::AcademicApi, 200));
    assert!(api.full_text(&work("PMC79")).await.unwrap().is_none());
    assert!(api.full_text(&Work { doi: Some(doi("10.1000/a")), ..Work::default() }).await.unwrap().is_none());
    let error = api.full_text(&work("PMC78")).await.unwrap_err().to_string();
    assert!(error.contains("full text cannot be read"), "{error}");
    assert_eq!(server.seen().len(), 3, "without a PMCID there is nothing to ask for");
}

#[tokio::test]
async fn an_error_with_status_200_is_told() {
    let server =
        StandIn::start(|_, _| json(200, r#"{"errCode": 400, "errMsg": "Invalid cursor mark"}"#)).await;
    let error = europe_pmc(&server.url).papers("naps", 5).await.unwrap_err();
    assert!(matches!(&error, Error::Unexpected { why, .. } if why == "Invalid cursor mark"), "{error}");
    let server = StandIn::start(|_, _| page(&[core()], 4_321, "AoE=")).await;
    assert_eq!(europe_pmc(&server.url).probe().await.unwrap().matches, 4_321);
}

/// Works 1 and 2 have abstracts; 7 has none, and is in the open access subset.
fn about_tea(seen: &Seen) -> Reply {
    let record = |n: u32, text: Value| {
        json!({"id": n.to_string(), "source": "MED", "pmid": n.to_string(), "pmcid": format!("PMC{n}"),
            "doi": format!("10.1000/{n}"), "title": format!("A trial of green tea and attention, number {n}."),
            "abstractText": text, "pubYear": "2020", "citedByCount": n})
    };
    match seen.path.strip_prefix(REST).unwrap() {
        "/search" => {
            page(&[record(1, text(1).into()), record(2, text(2).into()), record(7, Value::Null)], 3, "*")
        }
        "/PMC7/fullTextXML" => {
            let body = format!("<body><sec><title>Results</title><p>{}</p></sec></body>", text(7));
            let article = ARTICLE.replace("<abstract><p>Naps help.</p></abstract>", "");
            let (front, back) =
                (article.split("<body>").next().unwrap(), article.split("</body>").last().unwrap());
            reply(200, &[("content-type", "application/xml")], format!("{front}{body}{back}"))
        }
        _ => json(200, r#"{"hitCount": 0}"#),
    }
}

#[tokio::test]
async fn a_task_reads_works_without_abstract_from_their_open_full_text() {
    let server = StandIn::start(|seen, _| about_tea(seen)).await;
    let mut bench = Bench::new(|_, _, _| None).await;
    let source: Arc<dyn EvidenceSource> = Arc::new(europe_pmc(&server.url));
    bench.worker.context.sources = Arc::new(move |_| vec![Arc::clone(&source)]);
    let status = bench.run().await;
    assert_eq!((status.task.status, status.pages), (TaskStatus::Completed, 3), "{:?}", status.warnings);
    assert!(status.warnings.is_empty() && status.claims > 0, "{:?}", status.warnings);
    let sql = "SELECT fragments.heading_context, pages.fetch_method, pages.domain_category, pages.url FROM fragments
        JOIN pages ON pages.id = page_id WHERE fragments.heading_context IS NOT NULL";
    let rows = bench.store.query_graph(sql, GuardOptions::default()).await.unwrap().rows;
    assert_eq!(rows.len(), 1, "{rows:?}");
    for (column, expect) in [
        ("heading_context", "Results"),
        ("fetch_method", "academic_api"),
        ("url", "https://doi.org/10.1000/7"),
    ] {
        assert_eq!(rows[0][column], expect, "{column}");
    }
    let asked = server.seen().len();
    // Again: it is known, and not asked for.
    bench.search(&status.task.id).await;
    let texts = server.seen()[asked..].iter().filter(|seen| seen.path.ends_with("fullTextXML")).count();
    assert_eq!(texts, 0);
}

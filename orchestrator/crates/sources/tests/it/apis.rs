//! Both clients against small answers written for these tests, and against recorded ones.

use crate::recorded::{ListRecorded, Recordings};
use crate::support::{StandIn, client, json, reply};
use lyra_domain::{CanonicalPaperIndex, Coverage, Doi, FoundBy, Identifier, Precedence, Work, WorkKind};
use lyra_research::ports::ScholarlySource;
use lyra_sources::{ApiConfig, ApiSource, Error, OpenAlex, SemanticScholar};
use secrecy::SecretString;
use serde_json::json;
use std::time::Duration;
use url::Url;

fn config(base: &Url) -> ApiConfig {
    ApiConfig {
        base_url: base.clone(),
        trusted: true,
        api_key: None,
        mailto: None,
        min_interval: Some(Duration::ZERO),
        cache_ttl: Duration::ZERO,
    }
}

fn s2(base: &Url) -> SemanticScholar {
    SemanticScholar::new(client(None), &config(&base.join("graph/v1").unwrap()))
}

fn openalex(base: &Url) -> OpenAlex {
    OpenAlex::new(client(None), &ApiConfig { mailto: Some("me@example.org".to_owned()), ..config(base) })
}

fn doi(text: &str) -> Identifier {
    Identifier::Doi(Doi::parse(text).unwrap())
}

#[tokio::test]
async fn semantic_scholar_is_asked_by_every_identifier() {
    let server = StandIn::start(|_, _| json(200, r#"{"paperId":null,"title":"T"}"#)).await;
    let api = s2(&server.url);
    for (id, path) in [
        (doi("10.1000/a(1)<2>"), "DOI:10.1000/a(1)%3C2%3E"),
        (Identifier::pmid("123").unwrap(), "PMID:123"),
        (Identifier::pmcid("PMC77").unwrap(), "PMCID:77"),
        (Identifier::in_text("arXiv:hep-th/9901001").remove(0), "ARXIV:hep-th/9901001"),
        (Identifier::corpus_id("9").unwrap(), "CorpusId:9"),
        (Identifier::semantic_scholar(&"ab".repeat(20)).unwrap(), &*"ab".repeat(20)),
    ] {
        assert!(api.paper(&id).await.unwrap().is_some());
        assert_eq!(server.seen().pop().unwrap().path, format!("/graph/v1/paper/{path}"));
    }
    assert!(api.paper(&Identifier::openalex("W1").unwrap()).await.unwrap().is_none());
    assert_eq!(server.seen().len(), 6, "OpenAlex's ids mean nothing there");
    let fields = server.seen()[0].query.clone();
    assert!(!fields.contains("nfluential") && !fields.contains("tldr"), "{fields}");
}

#[tokio::test]
async fn only_an_address_that_the_configuration_names_may_be_inside() {
    let server = StandIn::start(|_, _| json(200, "{}")).await;
    let config = ApiConfig { trusted: false, ..config(&server.url) };
    let error = OpenAlex::new(client(None), &config).papers("naps", 1).await.unwrap_err();
    assert!(matches!(error, Error::Forbidden { .. }) && server.seen().is_empty(), "{error}");
}

#[tokio::test]
async fn a_paper_is_read_whole() {
    let server = StandIn::start(|_, _| {
        json(200, &json!({
            "paperId": "ab".repeat(20), "corpusId": 9, "title": "Naps and memory", "abstract": " Naps help. ",
            "externalIds": {"DOI": "10.1000/A", "PubMed": "123", "PubMedCentral": "77", "ArXiv": "2101.00001", "CorpusId": 9},
            "venue": "", "journal": {"name": "Sleep Notes"}, "year": 2020, "publicationDate": "2020-05-01",
            "authors": [{"name": "A. Sato"}, {"name": null}], "citationCount": 5, "referenceCount": 3,
            "openAccessPdf": {"url": "https://example.org/a.pdf"}, "url": "https://www.semanticscholar.org/paper/x",
            "publicationTypes": ["JournalArticle", "Conference"],
        }).to_string())
    })
    .await;
    let paper = s2(&server.url).paper(&doi("10.1000/a")).await.unwrap().unwrap();
    assert_eq!(
        (paper.url.as_str(), paper.abstract_text.as_deref()),
        ("https://doi.org/10.1000/a", Some("Naps help."))
    );
    let work = paper.work;
    assert_eq!((work.venue.as_deref(), work.authors.len(), work.ids.len()), (Some("Sleep Notes"), 1, 5));
    assert_eq!(work.imprint.kind, Some(WorkKind::ConferencePaper));
    assert_eq!(
        (work.published_date.as_deref(), work.reference_count, work.is_retracted),
        (Some("2020-05-01"), Some(3), None)
    );
}

#[tokio::test]
async fn no_match_comes_in_three_shapes() {
    let server = StandIn::start(|_, before| match before {
        0 => json(404, r#"{"error":"Title match not found"}"#),
        1 => json(200, r#"{"data":[]}"#),
        2 => reply(404, &[("content-type", "text/html")], "<!doctype html><title>404 Not Found</title>"),
        _ => json(200, r#"{"data":[{"title":"Naps","matchScore":99.1}]}"#),
    })
    .await;
    let api = s2(&server.url);
    for expect in [false, false, false, true] {
        assert_eq!(api.title_match("Naps: a review?").await.unwrap().is_some(), expect);
    }
    assert!(server.seen()[0].query.starts_with("query=Naps+a+review&"));
    assert!(api.title_match(" ?! ").await.unwrap().is_none());
}

#[tokio::test]
async fn errors_are_told_in_the_words_of_the_api() {
    for (status, body, expect) in [
        (
            400,
            r#"{"error":"Unrecognized or unsupported fields: [x]"}"#,
            "Unrecognized or unsupported fields: [x]",
        ),
        (403, r#"{"message":"Forbidden"}"#, "Forbidden"),
        (
            401,
            r#"{"error":"Invalid or missing API key","message":"API key not found"}"#,
            "Invalid or missing API key: API key not found",
        ),
        (418, "<html>", "I'm a teapot"),
    ] {
        let server = StandIn::start(move |_, _| json(status, body)).await;
        let error = openalex(&server.url).papers("naps", 5).await.unwrap_err();
        assert_eq!(error.to_string(), format!("openalex refused the request ({status}): {expect}"));
        assert!(!error.is_transient());
    }
}

#[tokio::test]
async fn keys_and_mail_go_along_and_many_refusals_are_borne() {
    let refuse = |_: &crate::support::Seen, _| json(429, r#"{"message":"Too Many Requests","code":"429"}"#);
    for (key, asked) in [(None, 2), (Some(SecretString::from("KEY")), 5)] {
        let server = StandIn::start(refuse).await;
        let config = ApiConfig { api_key: key.clone(), ..config(&server.at("graph/v1")) };
        let api = SemanticScholar::new(client(None), &config);
        let error = api.papers("naps", 5).await.unwrap_err();
        assert!(matches!(error, Error::CoolingDown { .. }), "{error}");
        assert_eq!(server.seen().len(), asked);
        assert_eq!(server.seen()[0].headers.contains_key("x-api-key"), key.is_some());
        assert!(api.pause().await.is_some());
    }
    let server = StandIn::start(|_, _| json(200, r#"{"results":[]}"#)).await;
    let (api_key, mailto) = (Some(SecretString::from("KEY")), Some("me@example.org".to_owned()));
    let config = ApiConfig { api_key, mailto, ..config(&server.url) };
    OpenAlex::new(client(None), &config).papers("naps?", 5).await.unwrap();
    let query = server.seen()[0].query.clone();
    assert!(
        query.starts_with("search=naps&") && query.ends_with("&mailto=me%40example.org&api_key=KEY"),
        "{query}"
    );
}

#[tokio::test]
async fn an_exhausted_budget_is_a_pause_until_midnight() {
    let server = StandIn::start(|_, _| {
        let headers = [("content-type", "application/json"), ("retry-after", "36000")];
        reply(429, &headers, r#"{"error":"Rate limit exceeded","message":"Insufficient budget."}"#)
    })
    .await;
    let error = openalex(&server.url).papers("naps", 5).await.unwrap_err();
    assert_eq!(error.retry_after_seconds(), Some(36_000));
    assert!(error.to_string().contains("Rate limit exceeded: Insufficient budget."), "{error}");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn identifiers_are_asked_for_in_batches() {
    let server = StandIn::start(|seen, _| {
        if seen.path.ends_with("/batch") {
            let ids: serde_json::Value = serde_json::from_slice(&seen.body).unwrap();
            let known: Vec<_> = ids["ids"].as_array().unwrap().iter().map(|id| {
                if id == "PMID:1" { json!(null) } else { json!({"title": id}) }
            }).collect();
            return json(200, &json!(known).to_string());
        }
        json(200, &json!({"results": [{"id": "https://openalex.org/W5", "title": "x"}], "meta": {"next_cursor": null}}).to_string())
    })
    .await;
    let ids: Vec<Identifier> = (1..=1_100).map(|n| Identifier::pmid(&n.to_string()).unwrap()).collect();
    let found = s2(&server.url).batch(&ids).await.unwrap();
    assert_eq!((found.len(), server.seen().len()), (1_099, 3));
    let mut ids: Vec<Identifier> =
        (1..=120).map(|n| Identifier::openalex(&format!("W{n}")).unwrap()).collect();
    ids.extend([doi("10.1000/a"), doi("10.1000/a"), doi("10.1000/b,c"), Identifier::corpus_id("7").unwrap()]);
    openalex(&server.url).batch(&ids).await.unwrap();
    let asked: Vec<_> = server.seen().split_off(3);
    assert_eq!(asked.len(), 5, "one odd DOI by itself, one DOI, and 120 ids in three");
    assert_eq!(asked[0].path, "/works/doi:10.1000/b,c");
    assert!(asked[1].query.starts_with("filter=doi%3A10.1000%2Fa&"));
    let sizes: Vec<usize> = asked[2..].iter().map(|seen| seen.query.matches("%7C").count() + 1).collect();
    assert_eq!(sizes, [50, 50, 20]);
}

#[tokio::test]
async fn citations_are_followed_page_by_page() {
    let server = StandIn::start(|seen, _| {
        let page = |results: Vec<u32>, next: Option<&str>| {
            let works: Vec<_> = results.iter().map(|n| json!({"id": format!("https://openalex.org/W{n}")})).collect();
            json(200, &json!({"results": works, "meta": {"count": 4, "next_cursor": next}}).to_string())
        };
        match (seen.path.as_str(), seen.query.as_str()) {
            ("/works/doi:10.1000/a", _) => json(200, &json!({
                "id": "https://openalex.org/W9", "referenced_works": ["https://openalex.org/W1", "https://openalex.org/W2"],
            }).to_string()),
            (_, query) if query.contains("cursor=*") && query.contains("cites%3AW9") => page(vec![1, 2], Some("more")),
            (_, query) if query.contains("cursor=more") => page(vec![3], None),
            (_, query) if query.contains("openalex%3AW1%7CW2") => page(vec![1, 2], None),
            ("/graph/v1/paper/DOI:10.1000/a/citations", query) if query.contains("offset=0") => {
                json(200, r#"{"offset":0,"next":1,"data":[{"isInfluential":true,"citingPaper":{"title":"one"}}]}"#)
            }
            ("/graph/v1/paper/DOI:10.1000/a/citations", _) => json(200, r#"{"offset":1,"data":[{"citingPaper":{"title":"two"}}]}"#),
            ("/graph/v1/paper/DOI:10.1000/a/references", _) => json(200, r#"{"data":null,"citingPaperInfo":{}}"#),
            _ => json(500, "{}"),
        }
    })
    .await;
    let work = Work { doi: Doi::parse("10.1000/a"), ..Work::default() };
    let api = openalex(&server.url);
    assert_eq!(api.citations(&work, 10).await.unwrap().len(), 3);
    assert_eq!(api.citations(&work, 2).await.unwrap().len(), 2);
    assert_eq!(api.references(&work, 10).await.unwrap().len(), 2);
    let api = s2(&server.url);
    let titles: Vec<String> =
        api.citations(&work, 10).await.unwrap().into_iter().map(|hit| hit.work.title).collect();
    assert_eq!(titles, ["one", "two"]);
    assert!(api.references(&work, 10).await.unwrap().is_empty(), "withheld by the publisher");
}

#[tokio::test]
async fn recorded_searches() {
    let Some(server) = Recordings::serve().await else { return };
    let api = s2(&server.url);
    let found = api.papers("turing", 150).await.unwrap();
    assert!(
        found.len() == 150 && found.iter().all(|paper| !paper.work.title.is_empty() && !paper.url.is_empty())
    );
    assert!(api.papers("n0 r3sult s3arch t3rm", 10).await.unwrap().is_empty());
    let bulk = api.bulk("kubernetes", 1_500).await.unwrap();
    assert!(bulk.len() > 1_000, "two pages: {}", bulk.len());
    let found = openalex(&server.url).list_recorded().await;
    assert_eq!(found.len(), 200);
    let with_abstract = found.iter().filter(|paper| paper.abstract_text.is_some()).count();
    assert!(with_abstract > 100, "{with_abstract}");
    assert!(found.iter().all(|paper| paper.work.is_retracted.is_some()));
}

#[tokio::test]
async fn recorded_lookups() {
    let Some(server) = Recordings::serve().await else { return };
    let api = s2(&server.url);
    let found =
        api.batch(&[doi("10.2139/ssrn.2250500"), Identifier::corpus_id("470667").unwrap()]).await.unwrap();
    assert_eq!(found.len(), 3, "the recorded batch has an unknown paper and three known ones");
    assert!(found.iter().all(|paper| paper.abstract_text.is_some() && paper.work.doi.is_some()));
    assert!(api.paper(&Identifier::corpus_id("404").unwrap()).await.unwrap().is_none());
    let work = found.into_iter().find(|p| p.work.doi == Doi::parse("10.2139/ssrn.2250500")).unwrap().work;
    let only_doi = Work { doi: work.doi.clone(), ..Work::default() };
    assert_eq!(api.references(&only_doi, 200).await.unwrap().len(), 67);
    let cited = Work { ids: vec![Identifier::corpus_id("14514057").unwrap()], ..Work::default() };
    assert_eq!(api.citations(&cited, 100).await.unwrap().len(), 100);

    let api = openalex(&server.url);
    let paper = api.paper(&Identifier::openalex("W4234567890").unwrap()).await.unwrap().unwrap();
    assert_eq!(
        (paper.work.title.as_str(), paper.work.doi.map(|d| d.to_string()).as_deref()),
        ("", Some("10.4018/jnn.20180101"))
    );
    let ids = ["W3045921891", "W3046863325"].map(|id| Identifier::openalex(id).unwrap());
    assert_eq!(api.batch(&ids).await.unwrap().len(), 2);
}

/// The records of both APIs for one work merge into one work.
#[tokio::test]
async fn recorded_works_merge_by_doi() {
    let Some(server) = Recordings::serve().await else { return };
    let papers = openalex(&server.url).list_recorded().await;
    let mut index = CanonicalPaperIndex::default();
    let mut dois = std::collections::HashSet::new();
    for paper in &papers {
        dois.extend(paper.work.doi.clone());
        index.add(FoundBy::Api, Precedence::LAST, paper.work.clone());
    }
    // The other API formats the same works differently: title in capitals, initials, a year later, no other id.
    for paper in &papers {
        let work = &paper.work;
        index.add(
            FoundBy::Serp,
            Precedence::LAST,
            Work {
                doi: work.doi.clone(),
                title: work.title.to_uppercase(),
                year: work.year.map(|year| year + 1),
                source_api: "web".to_owned(),
                ..Work::default()
            },
        );
    }
    let works = index.works();
    for doi in &dois {
        let named = works.iter().filter(|found| found.work.doi.as_ref() == Some(doi)).collect::<Vec<_>>();
        assert_eq!(named.len(), 1, "{doi}");
        assert_eq!(named[0].coverage, Coverage::Both);
    }
    assert!(dois.len() > 100, "{}", dois.len());
}

//! Crossref against recorded answers, and against small ones written after its documentation where none is recorded:
//! notices of retractions, lists of several works.

use crate::recorded::shared;
use crate::support::{StandIn, client, json, reply};
use lyra_domain::{Doi, Identifier, Work};
use lyra_research::ports::ScholarlySource;
use lyra_sources::{ApiConfig, ApiSource, Crossref};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Read;
use std::time::Duration;
use url::Url;

fn crossref(base: &Url) -> Crossref {
    let config = ApiConfig {
        base_url: base.clone(),
        trusted: true,
        api_key: None,
        mailto: Some("me@example.org".to_owned()),
        min_interval: Some(Duration::ZERO),
        cache_ttl: Duration::ZERO,
    };
    Crossref::new(client(None), &config)
}

fn doi(text: &str) -> Doi {
    Doi::parse(text).unwrap()
}

/// A server of the recorded answers: single works by DOI, and searches by title.
async fn recorded() -> Option<StandIn> {
    let folder = shared("data/academic_more")?;
    let mut answers: HashMap<String, (u16, String, Vec<u8>)> = HashMap::new();
    for line in std::fs::read_to_string(folder.join("index.jsonl")).unwrap().lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let url: Url = entry["url"].as_str().unwrap().parse().unwrap();
        if entry["provider"] != "crossref" || url.path().contains("/transform/") {
            continue;
        }
        let title =
            url.query_pairs().find(|(name, _)| name == "query.title").map(|(_, title)| title.to_lowercase());
        // Some searches were recorded with a few fields only.
        let partial = url.query_pairs().any(|(name, _)| name == "select" || name == "query.author");
        let key = title.unwrap_or_else(|| url.path().replace("%2F", "/").to_lowercase());
        let mut body = Vec::new();
        let packed = std::fs::read(folder.join(entry["body"].as_str().unwrap())).unwrap();
        flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut body).unwrap();
        let status = u16::try_from(entry["status"].as_u64().unwrap()).unwrap();
        let kind = entry["headers"]["content-type"].as_str().unwrap_or("application/json").to_owned();
        if !partial || !answers.contains_key(&key) {
            answers.insert(key, (status, kind, body));
        }
    }
    Some(
        StandIn::start(move |seen, _| {
            let query = url::form_urlencoded::parse(seen.query.as_bytes());
            let title = query
                .into_owned()
                .find(|(name, _)| name == "query.title")
                .map(|(_, title)| title.to_lowercase());
            match answers.get(&title.unwrap_or_else(|| seen.path.to_lowercase())) {
                Some((status, kind, body)) => reply(*status, &[("content-type", kind)], body.clone()),
                None => reply(404, &[("content-type", "text/plain")], "Resource not found."),
            }
        })
        .await,
    )
}

#[tokio::test]
async fn recorded_works_are_read_whole() {
    let Some(server) = recorded().await else { return };
    let api = crossref(&server.url);
    let paper = api.paper(&doi("10.1063/1.4938384")).await.unwrap().unwrap();
    assert_eq!(paper.url, "https://doi.org/10.1063/1.4938384");
    let text = paper.abstract_text.unwrap();
    assert!(text.starts_with("Metal-oxide layers are likely") && text.contains("(<75 K)"), "{text}");
    assert!(!text.contains("jats") && !text.contains("&lt;"), "{text}");
    let work = paper.work;
    assert!(work.title.starts_with("Effect of native oxide layers on copper"), "{}", work.title);
    assert_eq!(work.authors[..2], ["Michael D. Skarlinski", "David J. Quesnel"]);
    assert_eq!((work.year, work.published_date.as_deref()), (Some(2015), Some("2015-12-21")));
    assert_eq!((work.citation_count, work.reference_count), (Some(10), Some(57)));
    assert!(work.references.contains(&"10.1021/nn504883m".to_owned()), "{:?}", work.references);
    assert_eq!((work.is_retracted, paper.language.as_deref()), (Some(false), Some("en")));

    // A correction is no retraction.
    let corrected = api.paper(&doi("10.1073/pnas.1414271111")).await.unwrap().unwrap();
    assert_eq!(corrected.work.is_retracted, Some(false));
    assert!(corrected.abstract_text.unwrap().starts_with("Significance\nThe inadequate"));
    // A preprint, whose abstract begins with its heading.
    let preprint = api.paper(&doi("10.1101/2024.04.01.587366")).await.unwrap().unwrap();
    assert!(preprint.abstract_text.unwrap().starts_with("Understanding the effects"));
    // The DOIs of arXiv are registered elsewhere: here, a 404 in plain text.
    assert!(api.paper(&doi("10.48550/arxiv.2312.07559")).await.unwrap().is_none());
    let queries: Vec<String> = server.seen().into_iter().map(|seen| seen.query).collect();
    assert!(queries.iter().all(|query| query == "mailto=me%40example.org"), "{queries:?}");
}

#[tokio::test]
async fn recorded_titles_are_matched() {
    let Some(server) = recorded().await else { return };
    let api = crossref(&server.url);
    let found =
        api.title_match("Augmenting large language models with chemistry tools").await.unwrap().unwrap();
    assert_eq!(found.work.doi, Some(doi("10.1038/s42256-024-00832-8")));
    assert_eq!(found.work.venue.as_deref(), Some("Nature Machine Intelligence"));
    assert!(found.abstract_text.unwrap().starts_with("Large language models"));
    assert!(api.title_match("askldjrq3rjaw938h").await.unwrap().is_none());
}

fn item(n: u32, more: &Value) -> Value {
    let (doi, title) = (format!("10.1000/{n}"), format!("Naps &amp; memory {n}"));
    let mut item = json!({"DOI": doi, "title": [title], "type": "journal-article"});
    item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    item
}

#[tokio::test]
async fn searches_leave_out_what_is_no_work_and_mark_what_was_retracted() {
    let server = StandIn::start(|_, _| {
        let update = |kind: &str| json!([{"type": kind, "DOI": "10.1000/9", "source": "retraction-watch"}]);
        let items = [
            item(1, &json!({})),
            item(2, &json!({"updated-by": update("retraction")})),
            item(3, &json!({"update-to": update("retraction"), "title": ["Retraction: Naps"]})),
            item(4, &json!({"type": "component"})),
            item(5, &json!({"type": "peer-review"})),
            item(6, &json!({"title": ["RETRACTED: Naps"]})),
            item(
                7,
                &json!({"license": [{"URL": "https://creativecommons.org/licenses/by/4.0/"}],
                "link": [{"URL": "https://example.org/7.xml", "content-type": "text/xml"},
                    {"URL": "https://example.org/7.pdf", "content-type": "application/pdf"}]}),
            ),
        ];
        json(200, &json!({"message": {"total-results": 7, "items": items}}).to_string())
    })
    .await;
    let found = crossref(&server.url).papers("naps & memory?", 20).await.unwrap();
    let told: Vec<(String, Option<bool>)> = found
        .iter()
        .map(|paper| (paper.work.doi.clone().unwrap().to_string(), paper.work.is_retracted))
        .collect();
    let expect = [("10.1000/1", false), ("10.1000/2", true), ("10.1000/6", true), ("10.1000/7", false)];
    assert_eq!(told, expect.map(|(doi, retracted)| (doi.to_owned(), Some(retracted))));
    assert_eq!(found[0].work.title, "Naps & memory 1");
    assert_eq!(found[3].work.oa_url.as_deref(), Some("https://example.org/7.pdf"));
    assert!(server.seen()[0].query.starts_with("query.bibliographic=naps+memory&select=DOI%2C"));
}

#[tokio::test]
async fn references_are_looked_up_and_lookups_go_in_batches() {
    let server = StandIn::start(|seen, _| match seen.path.as_str() {
        "/works/10.1000/a" => {
            let cited = json!([{"DOI": "10.1000/1"}, {"unstructured": "Lee, 2019"}, {"DOI": "10.1000/2"}]);
            json(200, &json!({"message": {"DOI": "10.1000/a", "reference": cited}}).to_string())
        }
        "/works/10.1000/b,c" => json(200, &json!({"message": {"DOI": "10.1000/b,c"}}).to_string()),
        _ => {
            let items: Vec<Value> = (1..=2).map(|n| item(n, &json!({}))).collect();
            json(200, &json!({"message": {"total-results": 2, "items": items}}).to_string())
        }
    })
    .await;
    let api = crossref(&server.url);
    let work = Work { doi: Some(doi("10.1000/a")), ..Work::default() };
    assert_eq!(api.references(&work, 10).await.unwrap().len(), 2);
    assert!(
        server.seen()[1].query.starts_with("filter=doi%3A10.1000%2F1%2Cdoi%3A10.1000%2F2&"),
        "{:?}",
        server.seen()[1]
    );
    assert!(api.citations(&work, 10).await.unwrap().is_empty());
    assert_eq!(server.seen().len(), 2, "it does not show who cites a work");

    let mut ids: Vec<Identifier> = (1..=60).map(|n| Identifier::Doi(doi(&format!("10.1000/{n}")))).collect();
    ids.extend([Identifier::Doi(doi("10.1000/b,c")), Identifier::Doi(doi("10.48550/arxiv.2101.00001"))]);
    ids.push(Identifier::pmid("1").unwrap());
    api.batch(&ids).await.unwrap();
    let asked = server.seen().split_off(2);
    let sizes: Vec<usize> = asked.iter().map(|seen| seen.query.matches("doi%3A").count()).collect();
    assert_eq!(sizes, [0, 50, 10], "one odd DOI by itself, and the others in two");
    assert!(api.knows_retractions());
    assert_eq!(api.probe().await.unwrap().matches, 2);
}

//! Unpaywall: by stand-in answers, and by recorded ones.

use super::{doi, found, open, open_with};
use crate::catalogs::answers::right;
use crate::support::{Seen, StandIn, json, reply};
use flate2::read::GzDecoder;
use lyra_sources::{ApiConfig, Unpaywall};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

#[tokio::test]
async fn any_copy_as_pdf_comes_before_a_landing_page() {
    let server = StandIn::start(|seen, _| json(200, &right("unpaywall", seen).to_string())).await;
    let hits = found(open("unpaywall", &server).as_ref()).await.unwrap();
    assert_eq!(hits[0].work.oa_url.as_deref(), Some("https://leaf.example/b.pdf"));
    assert_eq!(hits[0].work.authors, ["Aya Sato", "Tea Board"]);
    assert_eq!(hits[0].text, None);
    let asked = &server.seen()[0];
    assert!(asked.path.starts_with("/api/10.1000/") && asked.query == "email=me%40example.org", "{asked:?}");
}

#[tokio::test]
async fn without_an_address_it_says_which_setting_is_missing_and_asks_nothing() {
    let server = StandIn::start(|_, _| json(200, "{}")).await;
    let without = |config| ApiConfig { mailto: Some(" ".to_owned()), ..config };
    let source = open_with("unpaywall", &server, without);
    let error = found(source.as_ref()).await.unwrap_err().to_string();
    assert!(error.contains("sources.unpaywall.mailto") && error.contains("email address"), "{error}");
    assert!(source.probe().await.is_err());
    assert!(source.search("tea", None, 5).await.unwrap().hits.is_empty(), "it answers no searches");
    assert!(server.seen().is_empty());
}

/// A server of the recorded answers; `None`, with the reason printed, when they are not there.
#[expect(clippy::print_stdout, reason = "says why it skips")]
async fn recorded() -> Option<StandIn> {
    let shared = std::env::var_os("LYRA_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared"), PathBuf::from);
    let folder = shared.join("data/academic_more");
    let Ok(index) = std::fs::read_to_string(folder.join("index.jsonl")) else {
        println!("skipped: {} is not there (set LYRA_SHARED to the shared folder)", folder.display());
        return None;
    };
    let mut answers: BTreeMap<String, (u16, Vec<u8>)> = BTreeMap::new();
    for line in index.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        if entry["provider"] != "unpaywall" {
            continue;
        }
        let url: url::Url = entry["url"].as_str().unwrap().parse().unwrap();
        let mut body = Vec::new();
        let file = std::fs::File::open(folder.join(entry["body"].as_str().unwrap())).unwrap();
        GzDecoder::new(file).read_to_end(&mut body).unwrap();
        let status = u16::try_from(entry["status"].as_u64().unwrap()).unwrap();
        answers.insert(key(url.path(), url.query().unwrap_or_default()), (status, body));
    }
    let answer = move |seen: &Seen, _| match answers.get(&key(&seen.path, &seen.query)) {
        Some((status, body)) => reply(*status, &[("content-type", "application/json")], body.clone()),
        None => json(404, r#"{"error":true,"message":"not recorded"}"#),
    };
    Some(StandIn::start(answer).await)
}

/// The path and the words that are searched for, without punctuation, which the client leaves out.
fn key(path: &str, query: &str) -> String {
    let words = url::form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "query");
    let words =
        words.map(|(_, words)| words.replace(|c: char| !c.is_alphanumeric(), " ")).unwrap_or_default();
    format!("{path} {}", words.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[tokio::test]
async fn recorded_copies() {
    let Some(server) = recorded().await else { return };
    let config = ApiConfig {
        base_url: server.at("v2"),
        trusted: true,
        api_key: None,
        mailto: Some("me@example.org".to_owned()),
        min_interval: Some(Duration::ZERO),
        cache_ttl: Duration::ZERO,
    };
    let api = Unpaywall::new(crate::support::client(None), &config);
    let ids = [
        "10.1016/j.xgen.2025.100814",
        "10.1023/a:1007154515475",
        "10.1007/s40278-023-41815-2",
        "10.1016/j.addr.2015.01.008",
        "10.1073/pnas.1414271111",
        "10.1000/unknown",
    ];
    let found = api.batch(&ids.map(doi)).await.unwrap();
    assert_eq!(found.len(), 5);
    let of = |doi: &str| {
        let named = |work: &lyra_domain::Work| work.doi.as_ref().is_some_and(|known| known.as_str() == doi);
        found.iter().map(|paper| &paper.work).find(|work| named(work)).unwrap()
    };
    let free = of("10.1073/pnas.1414271111");
    assert_eq!(free.oa_url.as_deref(), Some("https://www.pnas.org/content/pnas/111/45/E4832.full.pdf"));
    assert_eq!(free.authors.first().map(String::as_str), Some("Eleftherios A. Makris"));
    assert_eq!((free.year, free.published_date.as_deref()), (Some(2014), Some("2014-10-27")));
    assert_eq!(of("10.1023/a:1007154515475").oa_url, None);
    let landing = of("10.1016/j.addr.2015.01.008").oa_url.as_deref();
    assert_eq!(landing, Some("https://doi.org/10.1016/j.addr.2015.01.008"));

    let title = "Effect of native oxide layers on copper thin-film tensile properties: \
                 A reactive molecular dynamics study";
    let titled = api.titled(title, 5).await.unwrap();
    assert_eq!(
        (titled.len(), titled[0].work.authors.first().map(String::as_str)),
        (1, Some("Michael D. Skarlinski"))
    );
    let none = "PaperQA: Retrieval-Augmented Generative Agent for Scientific Research";
    assert!(api.titled(none, 5).await.unwrap().is_empty());
}

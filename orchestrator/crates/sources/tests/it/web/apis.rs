//! APIs of web search against stand-ins. What these send is written after the documentation of each, not recorded.

#[path = "../../../../web/src/serp/api/answers.rs"]
mod answers;
mod logs;

use super::{article, engines};
use crate::support::{MemoryRates, Now, Seen, StandIn, client, config, html, json, reply};
use answers::{ANSWERS, Answers};
use axum::response::Response as Reply;
use lyra_research::ports::{EvidenceSource, RateStore};
use lyra_sources::Error;
use lyra_sources::http::{HttpClient, Origin};
use lyra_sources::web::{
    FetchLimits, Pages, RuleFiles, Rules, WebApi, WebApiConfig, WebBudget, WebSearch, WebSource,
};
use lyra_web::serp::{SearchApi, SerpPage};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

const KEY: &str = "KEY-5f2c";

/// The API at this address, with the key.
fn api(name: &str, base_url: Url) -> WebApi {
    let config = WebApiConfig {
        base_url: Some(base_url),
        api_key: Some(SecretString::from(KEY)),
        min_interval: Some(Duration::ZERO),
        daily_budget: None,
    };
    WebApi::open(SearchApi::named(name).unwrap(), config).unwrap()
}

fn built_in() -> Rules {
    Rules::open(&RuleFiles::default()).unwrap()
}

fn search(http: HttpClient, name: &str, server: &StandIn) -> WebSearch {
    WebSearch::new(http, built_in(), Vec::new()).with_apis(vec![api(name, server.at("/base/"))])
}

/// Header and value that carry the key of each API.
fn key_header(name: &str) -> (&'static str, String) {
    match name {
        "brave" => ("x-subscription-token", KEY.to_owned()),
        "serper" | "exa" => ("x-api-key", KEY.to_owned()),
        _ => ("authorization", format!("Bearer {KEY}")),
    }
}

fn is_post(name: &str) -> bool {
    !matches!(name, "searxng" | "brave")
}

/// Files below this folder that have this text in their name or content.
fn files_with(folder: &Path, text: &str) -> usize {
    let paths = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    paths
        .map(|path| {
            if path.is_dir() {
                return files_with(&path, text);
            }
            let inside = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(text);
            usize::from(inside || path.file_name().unwrap().to_string_lossy().contains(text))
        })
        .sum()
}

#[tokio::test]
async fn each_api_is_asked_with_its_key_in_its_header_and_nowhere_else() {
    for Answers { name, good, .. } in ANSWERS {
        let server = StandIn::start(move |_, _| json(200, good)).await;
        let folder = tempfile::tempdir().unwrap();
        let search = search(client(Some(folder.path())), name, &server);
        let answer = search.ask(name, "naps memory", Some("en")).await.unwrap();
        let SerpPage::Results { results, unread, .. } = answer.page else { panic!("{name}") };
        let urls: Vec<&str> = results.iter().map(|result| result.url.as_str()).collect();
        assert_eq!(urls, ["https://example.org/nap", "https://example.com/sleep"], "{name}");
        assert_eq!((results[0].title.as_str(), unread), ("Naps & memory", 0), "{name}");
        let Seen { method, path, query, headers, body } = server.seen().remove(0);
        let (header, value) = key_header(name);
        assert_eq!(headers[header], value.as_str(), "{name}");
        assert_eq!(
            headers.values().filter(|value| value.to_str().unwrap().contains(KEY)).count(),
            1,
            "{name}"
        );
        let body = String::from_utf8(body).unwrap();
        assert!(!format!("{path}{query}{body}{}", answer.url).contains(KEY), "{name}");
        assert_eq!(method == "POST", is_post(name), "{name}");
        let asked =
            if is_post(name) { body.contains("\"naps memory\"") } else { query.contains("q=naps+memory") };
        assert!(
            asked && path.starts_with("/base/") && path.ends_with("/search"),
            "{name}: {path} {query} {body}"
        );
        // Brave's terms forbid storing its results.
        search.ask(name, "naps memory", Some("en")).await.unwrap();
        assert_eq!(server.seen().len(), if name == "brave" { 2 } else { 1 }, "{name}");
        let kept = (files_with(folder.path(), KEY), files_with(folder.path(), "example.org/nap"));
        assert_eq!(kept, (0, usize::from(name != "brave")), "{name}");
    }
}

#[tokio::test]
async fn nothing_found_is_an_answer_and_odd_hits_are_counted() {
    for Answers { name, good, empty, .. } in ANSWERS {
        let server = StandIn::start(move |_, n| {
            let odd = good.replacen("\"https://example.com/sleep\"", "7", 9);
            json(200, if n == 0 { empty } else { &odd })
        })
        .await;
        let search = search(client(None), name, &server);
        assert_eq!(search.ask(name, "naps", None).await.unwrap().page, SerpPage::NoResults, "{name}");
        let SerpPage::Results { results, unread, .. } = search.ask(name, "naps", None).await.unwrap().page
        else {
            panic!("{name}")
        };
        assert_eq!((results.len(), unread), (1, 1), "{name}");
    }
}

/// The error of an API that gives this answer, with what the store of limits keeps.
async fn refused(name: &str, answer: impl Fn() -> Reply + Send + Sync + 'static) -> (Error, usize, String) {
    let server = StandIn::start(move |_, _| answer()).await;
    let (folder, rates) = (tempfile::tempdir().unwrap(), Arc::new(MemoryRates::default()));
    let http = HttpClient::new(config(Some(folder.path())), rates.clone(), Arc::new(Now)).unwrap();
    let search = search(http, name, &server);
    let error = search.ask(name, "naps", None).await.unwrap_err();
    let asked = server.seen().len();
    let kept = rates.load(&format!("api:{name}")).await.unwrap();
    assert_eq!(files_with(folder.path(), ""), 0, "{name}: an error is not cached");
    (error, asked, format!("{kept:?}"))
}

/// The body, with the key repeated wherever an explanation may be.
fn repeating(body: &str) -> String {
    let Ok(mut value) = serde_json::from_str(body) else { return format!("{body}<p>{KEY}</p>") };
    repeat(&mut value);
    value.to_string()
}

fn repeat(value: &mut Value) {
    match value {
        Value::String(text) => *text = format!("{text} [{KEY}]"),
        Value::Array(items) => items.iter_mut().for_each(repeat),
        Value::Object(fields) => fields.values_mut().for_each(repeat),
        _ => {}
    }
}

#[tokio::test]
async fn every_failure_has_its_type_and_none_repeats_the_key() {
    let logged = logs::Logged::start();
    let mut said = Vec::new();
    for Answers { name, good, bad_key, no_quota, .. } in ANSWERS {
        let (status, body) = (bad_key.0, repeating(bad_key.1));
        let (error, asked, kept) = refused(name, move || json(status, &body)).await;
        assert!(matches!(&error, Error::Key { status: s, .. } if *s == status), "{name}: {error}");
        let words = error.to_string();
        assert!(words.contains(&format!("check sources.web.apis.{name}.api_key")), "{words}");
        assert_eq!((asked, error.is_transient()), (1, false), "{name}");
        said.push(format!("{words} {error:?} {kept}"));
        if let Some((status, body)) = no_quota {
            let body = repeating(body);
            let (error, asked, kept) = refused(name, move || json(status, &body)).await;
            assert!(matches!(&error, Error::Quota { status: s, .. } if *s == status), "{name}: {error}");
            assert!(error.to_string().contains("wait for its renewal"), "{error}");
            assert_eq!((asked, error.is_transient()), (1, false), "{name}");
            said.push(format!("{error} {error:?} {kept}"));
        }
        let headers = [("content-type", "application/json"), ("retry-after", "3600")];
        let body = format!(r#"{{"error": "slow down, {KEY}", "message": "Bearer {KEY}"}}"#);
        let (error, asked, kept) = refused(name, move || reply(429, &headers, body.clone())).await;
        let seconds = error.retry_after_seconds();
        assert!(matches!(error, Error::CoolingDown { .. }) && seconds == Some(3_600), "{name}: {error}");
        assert_eq!(asked, 1, "{name}");
        said.push(format!("{error} {error:?} {kept}"));
        for (what, asked_times, answer) in [
            ("`text/html` instead of application/json", 1, html(format!("<h1>Sign in, {KEY}"))),
            ("its JSON cannot be read", 1, json(200, &good[..good.len() / 2])),
            ("it has no list of hits at", 1, json(200, &format!(r#"{{"error": "down, {KEY}"}}"#))),
            ("500 Internal Server Error", 2, json(500, &format!(r#"{{"error": "down, {KEY}"}}"#))),
        ] {
            let (head, body) = answer.into_parts();
            let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
            let again = move || Reply::from_parts(head.clone(), body.clone().into());
            let (error, asked, kept) = refused(name, again).await;
            assert!(error.to_string().contains(what), "{name}: {error}");
            assert_eq!((asked, error.is_transient()), (asked_times, asked_times == 2), "{name}: {error}");
            said.push(format!("{error} {error:?} {kept}"));
        }
    }
    let logged = logged.lines();
    assert!(logged.iter().any(|line| line.contains("cooling down")), "{logged:?}");
    for line in said.iter().chain(&logged) {
        assert!(!line.contains(KEY), "{line}");
    }
}

#[tokio::test]
async fn an_instance_without_json_says_what_to_change() {
    let (error, ..) = refused("searxng", || reply(403, &[("content-type", "text/html")], "Forbidden")).await;
    let words = error.to_string();
    assert!(matches!(error, Error::Setting { .. }) && words.contains("`search.formats`"), "{words}");
    let silent = r#"{"results": [], "unresponsive_engines": [["brave", "CAPTCHA"]]}"#;
    let server = StandIn::start(move |_, n| json(200, if n == 0 { silent } else { ANSWERS[0].good })).await;
    let folder = tempfile::tempdir().unwrap();
    let search = search(client(Some(folder.path())), "searxng", &server);
    let first = search.ask("searxng", "naps", None).await.unwrap().page;
    assert!(matches!(&first, SerpPage::Refused { why } if why.contains("brave (CAPTCHA)")), "{first:?}");
    let second = search.ask("searxng", "naps", None).await.unwrap().page;
    assert!(matches!(second, SerpPage::Results { .. }), "it is asked again: {second:?}");
}

#[tokio::test]
async fn an_api_without_its_key_or_address_says_what_to_set() {
    let row = |name: &str| SearchApi::named(name).unwrap();
    for Answers { name, .. } in ANSWERS {
        assert!(WebApi::open(row(name), WebApiConfig::default()).is_none(), "{name}");
    }
    let without_key = |name: &str, base: Option<&str>| {
        let base_url = base.map(|base| base.parse().unwrap());
        WebApi::open(row(name), WebApiConfig { base_url, ..WebApiConfig::default() })
    };
    let own = without_key("searxng", Some("http://127.0.0.1:8888")).unwrap();
    assert!(!own.has_key());
    assert!(without_key("kagi", Some("http://127.0.0.1:8888")).is_none());
    let search = WebSearch::new(client(None), built_in(), Vec::new()).with_apis(vec![own]);
    let why = async |name: &str| search.ask(name, "naps", None).await.unwrap_err().to_string();
    assert!(why("kagi").await.starts_with("sources.web.apis.kagi.api_key: "), "{}", why("kagi").await);
    let unknown = why("altavista").await;
    assert!(unknown.contains("the engines are: searxng, bing, brave, duckduckgo"), "{unknown}");
    assert!(search.knows("searxng") && search.knows("bing") && !search.knows("exa"));
}

/// Two sites' worth of articles, and an engine `lists` whose result page names one of them.
async fn site() -> StandIn {
    StandIn::start(|asked, _| match asked.path.as_str() {
        "/article" | "/other" => html(article("Naps and memory", "")),
        _ => reply(404, &[], ""),
    })
    .await
}

fn hits(site: &StandIn, paths: &[&str]) -> Value {
    paths.iter().map(|path| json!({ "title": path, "url": site.at(path), "content": "" })).collect()
}

/// The web with these APIs, with an engine whose page lists what `pages` answers.
fn web(folder: &Path, apis: Vec<WebApi>, pages: &StandIn, site: &StandIn) -> WebSource {
    let all = engines(folder, pages);
    let trusted: Vec<Origin> = [&pages.url, &site.url].into_iter().filter_map(Origin::of).collect();
    let fetched =
        FetchLimits { trusted: Origin::of(&site.url).into_iter().collect(), ..FetchLimits::default() };
    WebSource::new(
        WebSearch::new(client(None), all.clone(), trusted).with_apis(apis),
        Pages::new(client(None), all.clone(), fetched),
        all,
        WebBudget { pages: 4, ..WebBudget::default() },
    )
}

#[tokio::test]
async fn apis_come_before_result_pages_and_their_failures_are_said() {
    let site = site().await;
    let listed = format!(
        "<div id=links><div class=result><a class=result__a href='{}'>x</a></div></div>",
        site.at("/other")
    );
    let pages = StandIn::start(move |_, _| html(listed.clone())).await;
    let found = json!({ "results": hits(&site, &["/article"]), "unresponsive_engines": [] }).to_string();
    let good = StandIn::start(move |_, _| json(200, &found)).await;
    let none = StandIn::start(|_, _| json(200, r#"{"results": []}"#)).await;
    let down = StandIn::start(|_, _| json(402, r#"{"error": "no credit"}"#)).await;
    let folder = tempfile::tempdir().unwrap();
    let ask = async |apis: Vec<WebApi>| {
        let source = web(folder.path(), apis, &pages, &site);
        let answer = source.search("naps", Some("en"), 10).await.unwrap();
        let paths: Vec<String> =
            answer.hits.iter().map(|hit| hit.url.parse::<Url>().unwrap().path().to_owned()).collect();
        (paths, answer.notes.join("\n"), pages.seen().len())
    };
    // One that answers is enough, also when it found nothing.
    let first = ask(vec![api("searxng", good.url.clone())]).await;
    assert_eq!(first, (vec!["/article".to_owned()], String::new(), 0));
    assert_eq!(ask(vec![api("searxng", none.url.clone())]).await, (Vec::new(), String::new(), 0));
    // The next is asked when one fails, and when it found little.
    let second = ask(vec![api("exa", down.url.clone()), api("tavily", good.url.clone())]).await;
    assert_eq!((second.0.len(), second.2), (1, 0));
    assert!(
        second.1.starts_with("exa: the quota of the API key for Exa is used up (402: no credit)"),
        "{}",
        second.1
    );
    let asked = good.seen().len();
    ask(vec![api("searxng", none.url.clone()), api("tavily", good.url.clone())]).await;
    assert_eq!(good.seen().len(), asked + 1);
    // Without any answer, result pages are read.
    let last = ask(vec![api("exa", down.url.clone())]).await;
    assert_eq!(last.0, ["/other"]);
    assert!(last.1.contains("exa: the quota") && last.2 > 0, "{}", last.1);
}

#[tokio::test]
async fn an_api_takes_the_place_of_the_engine_with_its_name() {
    let server = StandIn::start(|_, _| json(200, ANSWERS[1].good)).await;
    let search = search(client(None), "brave", &server);
    let general = search.readable(lyra_web::serp::Category::General);
    assert!(
        general.contains(&"duckduckgo".to_owned()) && !general.contains(&"brave".to_owned()),
        "{general:?}"
    );
    assert!(search.ask("brave", "naps", None).await.is_ok());
    let probe = search.probe(&search.apis()[0]).await.unwrap();
    assert_eq!((probe.matches, server.seen().len()), (2, 2));
    assert_eq!(search.pause(&search.apis()[0]).await, None);
}

#[tokio::test]
async fn an_instance_on_this_machine_opens_no_other_door() {
    let inside = StandIn::start(|_, _| html(article("Inside", ""))).await;
    let site = site().await;
    let (own, elsewhere) = (inside.url.clone(), inside.at("/elsewhere"));
    let instance = StandIn::start(move |asked, n| {
        if n == 1 {
            return reply(302, &[("location", elsewhere.as_str())], "");
        }
        let itself = format!("http://{}/preferences", asked.headers["host"].to_str().unwrap());
        let urls = [
            own.as_str(),
            &itself,
            "http://169.254.169.254/latest/",
            "http://localhost/",
            "file:///etc/passwd",
        ];
        let hits: Value = urls.iter().map(|url| json!({ "title": "x", "url": url, "content": "" })).collect();
        json(200, &json!({ "results": hits }).to_string())
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let source = web(folder.path(), vec![api("searxng", instance.url.clone())], &site, &site);
    let answer = source.search("naps", Some("en"), 10).await.unwrap();
    assert!(answer.hits.is_empty() && inside.seen().is_empty(), "{:?}", answer.notes);
    assert_eq!((instance.seen().len(), answer.notes.len()), (1, 4), "{:?}", answer.notes);
    assert!(answer.notes.iter().all(|note| note.contains("must not be fetched")), "{:?}", answer.notes);
    // A redirect leads inside as little as a hit, and takes no key along.
    let search = search(client(None), "searxng", &instance);
    let error = search.ask("searxng", "naps", None).await.unwrap_err();
    assert!(matches!(error, Error::Forbidden { .. }) && inside.seen().is_empty(), "{error}");
}

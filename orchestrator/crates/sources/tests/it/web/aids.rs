//! What helps where a plain request does not: the browser, and the cookies of a person.

use super::{RESULTS, article, engines, pages, rules};
use crate::browser;
use crate::support::{Now, StandIn, client, html, reply};
use lyra_domain::{FetchMethod, Priority};
use lyra_research::ports::{Answer, Clock, EvidenceSource};
use lyra_sources::Error;
use lyra_sources::browser::Browser;
use lyra_sources::cookies::{Session, Sessions};
use lyra_sources::http::Origin;
use lyra_sources::web::{Aids, FetchLimits, Pages, RuleFiles, Rules, WebBudget, WebSearch, WebSource};
use lyra_web::serp::SerpPage;

/// Answers with one session for one domain.
struct Kept(Session);

#[async_trait::async_trait]
impl lyra_research::ports::SessionStore for Kept {
    async fn session(&self, domain: &str) -> lyra_research::Result<Option<String>> {
        Ok((domain == self.0.domain).then(|| serde_json::to_string(&self.0).unwrap()))
    }
}

fn person(host: &str) -> Sessions {
    let file = format!("{host}\tFALSE\t/\tFALSE\t0\tpass\tperson\n");
    let agent = Some("Somebody/1.0".to_owned());
    Sessions::new(std::sync::Arc::new(Kept(Session::from_file(host, &file, agent, Now.now()).unwrap())))
}

/// Without a browser, and with one if installed.
fn with_and_without() -> Vec<Option<Browser>> {
    [None].into_iter().chain(browser::browser(client(None)).map(Some)).collect()
}

#[tokio::test]
async fn a_page_that_is_nothing_without_scripts_is_loaded_by_the_browser() {
    let server = StandIn::start(|asked, _| match asked.path.as_str() {
        "/app" => html(
            "<div id=app></div><script>fetch('/text').then(r => r.text()).then(t => app.innerHTML = \
            t)</script>",
        ),
        "/text" => reply(200, &[], article("By script", "")),
        "/short" => html(
            "<html><body><article><p>A nap of an hour helped the forty adults who took \
            it.</p></article><script>1</script>",
        ),
        "/wall" => html("<div class=g-recaptcha></div><script>document.body.innerHTML = 'let in'</script>"),
        "/astray" => html("<script>location = '/private'</script>"),
        "/robots.txt" => reply(200, &[("content-type", "text/plain")], "User-agent: *\nDisallow: /private\n"),
        _ => html(article("Private", "")),
    })
    .await;
    for browser in with_and_without() {
        let has_browser = browser.is_some();
        let (_folder, pages) = pages(&server, "");
        let pages = pages.with_aids(Aids { browser, ..Aids::default() });
        let fetch = async |path: &str| pages.fetch(server.at(path).as_str()).await;
        match fetch("/app").await {
            Ok(page) => {
                assert!(has_browser && page.extracted.text.contains("learned sixty pairs"));
                assert_eq!((page.fetch_method, page.status), (FetchMethod::Browser, 200));
            }
            Err(error) => {
                assert!(!has_browser && error.to_string().contains("no browser available"), "{error}");
            }
        }
        let short = fetch("/short").await.unwrap();
        assert_eq!(short.fetch_method, FetchMethod::Http, "the browser found no more");
        // A challenge is reported and never attempted.
        assert!(matches!(fetch("/wall").await.unwrap_err(), Error::Challenge { .. }));
        if has_browser {
            let error = fetch("/astray").await.unwrap_err();
            assert!(error.to_string().contains("robots"), "{error}");
        }
    }
}

#[tokio::test]
async fn an_engine_says_how_it_is_reached() {
    let server = StandIn::start(|asked, _| match asked.path.as_str() {
        "/captcha" => html("<div class=g-recaptcha></div>"),
        _ => html(format!("<body><script>document.body.innerHTML = `{RESULTS}`</script>")),
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("engines.yaml");
    let rules = engines(folder.path(), &server);
    let yaml = std::fs::read_to_string(&file).unwrap();
    for (transport, plain) in [("http", 1), ("browser", 0), ("http_then_browser", 1)] {
        let with =
            yaml.replace("min_interval_ms: 0", &format!("min_interval_ms: 0\n    transport: {transport}"));
        std::fs::write(&file, with).unwrap();
        let rules = Rules::open(&RuleFiles { engines: Some(file.clone()), ..RuleFiles::default() }).unwrap();
        for browser in with_and_without() {
            let has_browser = browser.is_some();
            let trusted = Origin::of(&server.url).into_iter().collect();
            let aids = Aids { browser, ..Aids::default() };
            let search = WebSearch::new(client(None), rules.clone(), trusted).with_aids(aids);
            let asked = || server.seen().iter().filter(|seen| seen.path == "/lists").count();
            let before = asked();
            let answer = search.ask("lists", "naps", None).await;
            match (&answer, transport, has_browser) {
                (Ok(answer), "browser" | "http_then_browser", true) => {
                    assert!(matches!(answer.page, SerpPage::Results { .. }), "{transport}: {answer:?}");
                    assert_eq!(asked() - before, plain + 1);
                }
                (Err(error), "browser", false) => assert!(error.to_string().contains("no browser available")),
                (Ok(answer), ..) => {
                    assert!(matches!(answer.page, SerpPage::Drift { .. }), "{transport}: {answer:?}");
                }
                (Err(error), ..) => panic!("{transport}: {error}"),
            }
            if transport != "browser" {
                let challenged = search.ask("captcha", "naps", None).await.unwrap();
                assert!(
                    matches!(challenged.page, SerpPage::Challenge { .. }),
                    "no browser is tried on a challenge"
                );
            }
        }
    }
    drop(rules);
}

#[tokio::test]
async fn cookies_of_a_person_are_sent_by_client_and_browser_to_their_host_only() {
    let other = StandIn::start(|_, _| html(article("Other", ""))).await;
    let there = other.at("/x").to_string();
    let server = StandIn::start(move |asked, _| {
        let known = asked.headers.get("cookie").is_some_and(|cookies| cookies == "pass=person");
        match asked.path.as_str() {
            _ if !known => reply(403, &[("content-type", "text/html")], "<title>Just a moment...</title>"),
            "/away" => reply(302, &[("location", there.as_str())], ""),
            "/app" => {
                html(format!("<div id=a></div><script>a.innerHTML = `{}`</script>", article("By script", "")))
            }
            _ => html(article("Known", "")),
        }
    })
    .await;
    let cache = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let trusted = [&server.url, &other.url].into_iter().filter_map(Origin::of).collect();
    let limits = FetchLimits { trusted, ..FetchLimits::default() };
    let http = client(Some(cache.path()));
    let pages = Pages::new(http, rules(folder.path(), ""), limits);
    let fetch = async |pages: &Pages, path: &str| pages.fetch(server.at(path).as_str()).await;
    assert!(matches!(fetch(&pages, "/page").await.unwrap_err(), Error::Challenge { .. }));
    let browser = browser::browser(client(None));
    let has_browser = browser.is_some();
    let known = pages.with_aids(Aids { browser, sessions: Some(person("127.0.0.1")), ..Aids::default() });
    assert_eq!(fetch(&known, "/page").await.unwrap().extracted.title, "Known");
    assert_eq!(fetch(&known, "/away").await.unwrap().extracted.title, "Other");
    if has_browser {
        assert_eq!(fetch(&known, "/app").await.unwrap().fetch_method, FetchMethod::Browser);
    }
    for seen in
        server.seen().iter().filter(|seen| seen.headers.contains_key("cookie") && seen.path != "/favicon.ico")
    {
        assert_eq!(seen.headers["user-agent"], "Somebody/1.0", "{}", seen.path);
    }
    let kept = std::fs::read_dir(cache.path())
        .unwrap()
        .flatten()
        .flat_map(|part| std::fs::read_dir(part.path()).unwrap());
    for file in kept.flatten() {
        let bytes = std::fs::read(file.path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("pass=person"), "a cookie is in the cache");
    }
}

#[tokio::test]
async fn what_wants_a_person_waits_and_is_asked_again_alone() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let open = Arc::new(AtomicBool::new(false));
    let state = open.clone();
    let site = StandIn::start(move |asked, _| match asked.path.as_str() {
        "/wall" if !state.load(Ordering::Relaxed) => {
            reply(403, &[("content-type", "text/html")], "<title>Just a moment...</title>")
        }
        "/robots.txt" => reply(404, &[], ""),
        path => html(article(path, "")),
    })
    .await;
    let (base, state) = (site.url.clone(), open.clone());
    let server = StandIn::start(move |asked, _| {
        let entry =
            |path: &str| format!("<div class=result><a class=result__a href='{base}{path}'>{path}</a></div>");
        match asked.path.as_str() {
            "/lists" => html(format!("<div id=links>{}{}</div>", entry("article"), entry("wall"))),
            "/captcha" if state.load(Ordering::Relaxed) => {
                html(format!("<div id=links>{}</div>", entry("more")))
            }
            _ => html("<div class=g-recaptcha></div>"),
        }
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let trusted: Vec<Origin> = [&server.url, &site.url].into_iter().filter_map(Origin::of).collect();
    let rules = engines(folder.path(), &server);
    let cache = tempfile::tempdir().unwrap();
    let http = client(Some(cache.path()));
    let source = |names: &[&str]| {
        WebSource::new(
            WebSearch::new(http.clone(), rules.clone(), trusted.clone()),
            Pages::new(
                http.clone(),
                rules.clone(),
                FetchLimits { trusted: trusted.clone(), ..FetchLimits::default() },
            ),
            rules.clone(),
            WebBudget { engines: names.iter().map(ToString::to_string).collect(), ..WebBudget::default() },
        )
    };
    let asking = source(&["lists", "captcha"]);
    let Answer { hits, waiting, .. } = asking.search("naps", None, 10).await.unwrap();
    assert_eq!(hits.len(), 1);
    let seen: Vec<_> = waiting.iter().map(|w| (w.part.as_str(), w.auth_type.as_str(), w.priority)).collect();
    let page = format!("page:{}", site.at("/wall"));
    assert_eq!(
        seen,
        [("engine:captcha", "captcha", Priority::High), (&*page, "cloudflare", Priority::Medium)]
    );
    assert!(waiting.iter().all(|w| w.domain == "127.0.0.1") && waiting[0].url.contains("captcha?q=naps"));
    // Every engine requires a person: that is an answer, and no reason to retry at once.
    let walled = source(&["captcha"]);
    let answer = walled.search("naps", None, 10).await.unwrap();
    assert_eq!((answer.hits.len(), answer.waiting.len()), (0, 1));
    // The person did not pass it: it waits again.
    let answer = walled.resume("engine:captcha", "naps", None, 10).await.unwrap();
    assert_eq!((answer.hits.len(), answer.waiting.len()), (0, 1));

    open.store(true, Ordering::Relaxed);
    let before = server.seen().len();
    let Answer { hits, waiting, .. } = asking.resume("engine:captcha", "naps", None, 10).await.unwrap();
    assert!(hits[0].url.ends_with("/more") && waiting.is_empty(), "{hits:?}");
    assert_eq!(server.seen().len() - before, 1, "only that engine is asked");
    let Answer { hits, pages, .. } = asking.resume(&page, "naps", None, 10).await.unwrap();
    assert!(hits[0].url.ends_with("/wall") && pages.contains_key(&hits[0].url));
    assert!(asking.resume("letter:a", "naps", None, 10).await.is_err());
}

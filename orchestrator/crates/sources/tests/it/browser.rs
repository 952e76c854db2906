//! A real Chromium against stand-ins on loopback. Skipped with a message if none is installed.

use crate::support::{MemoryRates, Names, Now, StandIn, client, config, html, reply};
use lyra_sources::Error;
use lyra_sources::browser::{Browser, BrowserConfig, Choice};
use lyra_sources::http::{HttpClient, Policy};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use url::Url;

fn settings(choice: Choice) -> BrowserConfig {
    BrowserConfig { choice, pages: 2, idle: Duration::from_secs(30), agent: "Lyra/0.1 (tests)".to_owned() }
}

/// The installed browser, or `None` with a word on why the test is skipped.
#[expect(clippy::print_stdout, reason = "says why a test skips")]
pub(crate) fn browser(http: HttpClient) -> Option<Browser> {
    let browser = Browser::new(http, settings(Choice::Auto));
    browser.executable().inspect_err(|error| println!("skipped: {error}")).ok()?;
    Some(browser)
}

/// A browser with a marker, to distinguish it from those of other tests.
struct Marked {
    path: PathBuf,
    mark: String,
    _folder: tempfile::TempDir,
}

impl Marked {
    fn new() -> Option<Self> {
        let installed = browser(client(None))?;
        let folder = tempfile::tempdir().unwrap();
        let (path, mark) = (folder.path().join("chromium"), format!("--mark={}", folder.path().display()));
        // Written by another process: a file that this one has open for writing, if only in a fork, cannot be run.
        let write = r#"printf '#!/bin/sh\nexec %s %s "$@"\n' "$1" "$2" > "$3" && chmod 755 "$3""#;
        let written = std::process::Command::new("/bin/sh")
            .args(["-c", write, "sh"])
            .args([installed.executable().unwrap().as_os_str(), mark.as_ref(), path.as_os_str()])
            .status();
        assert!(written.unwrap().success());
        Some(Self { path, mark, _folder: folder })
    }

    /// Ids of its processes.
    fn processes(&self) -> Vec<String> {
        let ids =
            std::fs::read_dir("/proc").unwrap().flatten().filter_map(|e| e.file_name().into_string().ok());
        let line = |id: &String| std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        ids.filter(|id| String::from_utf8_lossy(&line(id)).contains(&self.mark)).collect()
    }
}

fn text(response: &lyra_sources::http::Response) -> String {
    String::from_utf8(response.body.to_vec()).unwrap()
}

/// A page whose scripts request everything that must not be reached, and then record the results.
fn nosy(others: &[String]) -> String {
    let others = serde_json::to_string(others).unwrap();
    format!(
        "<script>const got = [];
         Promise.allSettled({others}.map(url => fetch(url, {{mode: 'no-cors'}}).then(() => got.push(url))))
           .then(() => {{ document.body.innerHTML = '<p id=done>reached:' + got.join(' ') + ';</p>'; }});</script><body>"
    )
}

async fn site(inside: Url) -> StandIn {
    StandIn::start(move |asked, before| match asked.path.as_str() {
        "/app" => html(
            "<html><head><title>App</title></head><body><div id=app></div><script src=/app.js></script></body></html>",
        ),
        "/app.js" => reply(
            200,
            &[("content-type", "text/javascript")],
            "fetch('/data').then(r => r.json()).then(d => { const p = document.createElement('p');
               p.textContent = d.text + ' & ' + navigator.userAgent; document.getElementById('app').append(p); })",
        ),
        "/data" => reply(200, &[("content-type", "application/json")], r#"{"text":"Naps help, says a script."}"#),
        "/moved" => reply(302, &[("location", "/app")], ""),
        "/inside" => reply(302, &[("location", inside.as_str())], ""),
        "/metadata" => html("<script>location.href = 'http://169.254.169.254/latest/meta-data/';</script>"),
        "/nosy" => html(nosy(&[
            inside.to_string(),
            inside.as_str().replace("127.0.0.1", "localhost"),
            inside.as_str().replace("127.0.0.1", "[::1]"),
            inside.as_str().replace("http:", "https:"),
            "http://169.254.169.254/latest/meta-data/".to_owned(),
            "http://10.0.0.1/".to_owned(),
        ])),
        "/busy" => html("<p>before</p><script>while (true) {}</script>"),
        "/large" => html(format!("<p>{}</p>", "x".repeat(400_000))),
        "/flood" => html("<script>let n = 0; const more = () => fetch('/blob?' + n++).then(r => r.text()).then(more); more();</script>"),
        "/blob" => reply(200, &[], "y".repeat(200_000)),
        "/file" => reply(200, &[("content-type", "application/zip"), ("content-disposition", "attachment")], "PK"),
        "/picture" => reply(200, &[("content-type", "image/svg+xml")], "<svg xmlns='http://www.w3.org/2000/svg'/>"),
        "/gone" => reply(404, &[("content-type", "text/html")], "<p>gone</p>"),
        "/dialog" => html("<body><script>alert('stop'); document.body.append('after the dialog');</script>"),
        "/count" => html(format!("<p>{before} {:?}</p>", asked.headers.get("cookie"))),
        "/slow" => html("<script src=/never.js></script><p>text</p>"),
        _ => reply(404, &[], "no"),
    })
    .await
}

fn policy(server: &StandIn) -> Policy {
    Policy { timeout: Duration::from_secs(30), max_bytes: 300_000, ..server.policy() }
}

#[tokio::test]
async fn a_page_is_what_its_scripts_made_of_it() {
    let server = site("http://127.0.0.1:9/".parse().unwrap()).await;
    let Some(browser) = browser(client(None)) else { return };
    let load = async |path: &str| browser.load(&policy(&server), &server.at(path), None).await;
    let page = load("/moved").await.unwrap();
    assert_eq!((page.status.as_u16(), page.url.as_str()), (200, server.at("/app").as_str()));
    let body = text(&page);
    assert!(body.contains("Naps help, says a script.") && body.contains("Lyra/0.1 (tests)"), "{body}");
    assert!(!body.contains("Headless"));
    assert_eq!(load("/gone").await.unwrap().status.as_u16(), 404);
    assert!(text(&load("/dialog").await.unwrap()).contains("after the dialog"));
    for (path, part) in [("/file", "aborted"), ("/picture", "image/svg+xml")] {
        let error = load(path).await.unwrap_err().to_string();
        assert!(error.contains(part), "{path}: {error}");
    }
    assert!(matches!(load("/large").await.unwrap_err(), Error::TooLarge { limit: 300_000, .. }));
    assert!(matches!(load("/flood").await.unwrap_err(), Error::TooLarge { limit: 1_200_000, .. }));
}

#[tokio::test]
async fn nothing_inside_is_reached_by_whatever_way() {
    let secret = StandIn::start(|_, _| html("secret")).await;
    let server = site(secret.url.clone()).await;
    let Some(browser) = browser(client(None)) else { return };
    let load = async |path: &str| browser.load(&policy(&server), &server.at(path), None).await;
    for (path, part) in [("/inside", "port"), ("/metadata", "link-local")] {
        let error = load(path).await.unwrap_err();
        assert!(matches!(&error, Error::Forbidden { why, .. } if why.contains(part)), "{path}: {error}");
    }
    let seen = text(&load("/nosy").await.unwrap());
    assert!(seen.contains("reached:;"), "{seen}");
    assert!(secret.seen().is_empty(), "{:?}", secret.seen());
    let error = browser.load(&policy(&server), &secret.url, None).await.unwrap_err();
    assert!(matches!(error, Error::Forbidden { .. }), "{error}");
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused() {
    let names = Arc::new(Names::of(&["127.0.0.1"]));
    let http =
        HttpClient::with_resolver(config(None), Arc::new(MemoryRates::default()), Arc::new(Now), names)
            .unwrap();
    let Some(browser) = browser(http) else { return };
    for url in ["http://rebound.example/", "https://rebound.example/"] {
        let error = browser.load(&Policy::new("web"), &url.parse().unwrap(), None).await.unwrap_err();
        assert!(matches!(&error, Error::Forbidden { why, .. } if why.contains("loopback")), "{url}: {error}");
    }
}

#[tokio::test]
async fn no_datagram_leaves_past_the_proxy() {
    let listener = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let stun = format!("stun:{}", listener.local_addr().unwrap());
    let server = StandIn::start(move |_, _| {
        html(format!(
            "<body><iframe></iframe><script>
             const RTC = window.RTCPeerConnection || document.querySelector('iframe').contentWindow.RTCPeerConnection;
             try {{ const c = new RTC({{iceServers: [{{urls: '{stun}'}}]}}); c.createDataChannel('x');
                    c.createOffer().then(o => c.setLocalDescription(o)); }} catch (e) {{}}
             setTimeout(() => document.body.append('tried'), 1500);
             fetch('/wait');</script>"
        ))
    })
    .await;
    let Some(browser) = browser(client(None)) else { return };
    browser.load(&policy(&server), &server.url, None).await.unwrap();
    let mut datagram = [0; 64];
    assert!(listener.try_recv(&mut datagram).is_err(), "a datagram came");
}

#[tokio::test]
async fn a_page_that_never_ends_is_given_up_and_the_next_one_loads() {
    let server = site("http://127.0.0.1:9/".parse().unwrap()).await;
    let Some(browser) = browser(client(None)) else { return };
    let short = Policy { timeout: Duration::from_secs(2), ..policy(&server) };
    let error = browser.load(&short, &server.at("/busy"), None).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. } | Error::Browser { .. }), "{error}");
    assert!(
        text(&browser.load(&policy(&server), &server.at("/app"), None).await.unwrap()).contains("Naps help")
    );
    let twice = [server.at("/app"), server.at("/moved")];
    let both = twice.iter().map(|url| async { browser.load(&policy(&server), url, None).await.unwrap() });
    assert_eq!(futures::future::join_all(both).await.len(), 2);
}

#[tokio::test]
async fn a_browser_killed_in_the_middle_is_an_error_and_the_next_page_starts_another() {
    let server = StandIn::start(|asked, _| match asked.path.as_str() {
        "/" => html("<p>fine</p>"),
        _ => html("<script>while (true) {}</script>"),
    })
    .await;
    let Some(marked) = Marked::new() else { return };
    let browser = Browser::new(client(None), settings(Choice::Path(marked.path.clone())));
    assert!(browser.load(&policy(&server), &server.url, None).await.is_ok());
    let (policy, hanging) = (policy(&server), server.at("/hang"));
    let (error, ()) = tokio::join!(browser.load(&policy, &hanging, None), async {
        while server.seen().iter().all(|seen| seen.path != "/hang") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let ids = marked.processes().join(" ");
        std::process::Command::new("/bin/sh").args(["-c", &format!("kill -KILL {ids}")]).status().unwrap();
    });
    let error = error.unwrap_err();
    assert!(matches!(&error, Error::Browser { why, .. } if why.contains("ended")), "{error}");
    assert!(browser.load(&policy, &server.url, None).await.is_ok());
    browser.close().await;
}

#[tokio::test]
async fn an_idle_browser_is_ended() {
    let server = StandIn::start(|_, _| html("<p>fine</p>")).await;
    let Some(marked) = Marked::new() else { return };
    let idle =
        BrowserConfig { idle: Duration::from_millis(50), ..settings(Choice::Path(marked.path.clone())) };
    let browser = Browser::new(client(None), idle);
    assert!(browser.load(&policy(&server), &server.url, None).await.is_ok());
    for _ in 0..500 {
        if marked.processes().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it still runs: {:?}", marked.processes());
}

#[tokio::test]
async fn without_a_browser_the_error_says_where_it_was_looked_for() {
    let browser = Browser::new(client(None), settings(Choice::from_setting("/nowhere/chromium")));
    let error =
        browser.load(&Policy::new("web"), &"http://example.org/".parse().unwrap(), None).await.unwrap_err();
    let words = error.to_string();
    assert!(words.contains("/nowhere/chromium") && words.contains("[sources.web]"), "{words}");
}

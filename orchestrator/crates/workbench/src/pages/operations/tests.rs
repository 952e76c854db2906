//! The pages of this part over an application that was just opened.

use async_trait::async_trait;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use lyra_research::PortError;
use lyra_store::{AuditOutcome, AuditVia, GuardOptions, Scope};
use lyra_usecases::config::{Config, MlConfig};
use lyra_usecases::{App, Caller, LocalModels, Mutation, StartedModels};
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;
use tower::ServiceExt;

/// Stands in for models; each request for them fails.
struct NoModels;

#[async_trait]
impl LocalModels for NoModels {
    async fn start(&self, _: &MlConfig) -> lyra_research::Result<Box<dyn StartedModels>> {
        Err(PortError::Unavailable { what: "models".to_owned(), why: "a test has none".to_owned() })
    }
}

async fn open(folder: &std::path::Path) -> App {
    let config = Config { data_dir: Some(folder.to_owned()), ..Config::default() };
    App::open(config, Arc::new(NoModels)).await.expect("the application opens")
}

/// Status and text of a page, as a visitor with this scope sees it.
async fn get(app: &App, address: &str, scope: Scope, language: &str) -> (StatusCode, String) {
    let mut request =
        Request::get(address).header("accept-language", language).body(Body::empty()).expect("a request");
    request.extensions_mut().insert(Caller { actor: "token:me".to_owned(), via: AuditVia::Http, scope });
    let answer = crate::router(app.clone()).oneshot(request).await.expect("an answer");
    let status = answer.status();
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    (status, String::from_utf8(body.to_vec()).expect("text"))
}

#[tokio::test]
async fn an_empty_store_has_every_page_in_both_languages() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = open(folder.path()).await;
    for (address, language, expected) in [
        (
            "/explore",
            "en",
            &["<h1>Explore</h1>", "id=\"table-claims\"", "Claims with evidence on both sides"][..],
        ),
        (
            "/explore?view=v_contradictions",
            "en",
            &["No rows.", "<caption>Claims with evidence on both sides</caption>"],
        ),
        ("/explore?sql=SELECT%20%3C/textarea%3E", "en", &["SELECT &lt;/textarea&gt;</textarea>"]),
        ("/explore", "ja", &["<h1>データ</h1>", "支持と反証の両方がある主張"]),
        ("/calibration", "en", &["<h1>Calibration</h1>", "No samples yet", "lyra calibration fit"]),
        ("/calibration", "ja", &["<h1>較正</h1>"]),
        ("/operations", "en", &["<h1>Operations</h1>", "No tokens yet.", "Save a backup"]),
        ("/operations", "ja", &["<h1>運用</h1>"]),
    ] {
        let (status, html) = get(&app, address, Scope::Full, language).await;
        assert_eq!(status, StatusCode::OK, "{address}: {html}");
        for text in expected {
            assert!(html.contains(text), "{address} lacks {text}: {html}");
        }
        headings_are_in_order(address, &html);
        fields_have_labels(address, &html);
        ids_are_unique(address, &html);
    }
    for address in ["/explore?view=nothing", "/explore?view=v_contradictions&task=nothing"] {
        let (status, html) = get(&app, address, Scope::Full, "en").await;
        assert!(status.is_client_error(), "{address}: {status} {html}");
    }
    app.close().await;
}

/// Every prepared view has a title in the reader's language, and can be read.
#[tokio::test]
async fn every_view_is_titled_and_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = open(folder.path()).await;
    let (_, html) = get(&app, "/explore", Scope::Read, "ja").await;
    for view in app.views() {
        assert!(!html.contains(&format!("{}</option>", view.description)), "{} has no title", view.name);
        let address = format!("/explore?view={}", view.name);
        let (status, html) = get(&app, &address, Scope::Read, "en").await;
        assert_eq!(status, StatusCode::OK, "{address}: {html}");
    }
    app.close().await;
}

/// Each statement that the page offers runs as it stands.
#[tokio::test]
async fn offered_statements_are_sound() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = open(folder.path()).await;
    let (_, html) = get(&app, "/explore?view=v_hub_pages", Scope::Read, "en").await;
    let mut offered = 0;
    for link in html.split("href=\"/explore?sql=").skip(1) {
        let encoded = link.split('#').next().expect("a statement");
        let sql = percent_encoding::percent_decode_str(encoded).decode_utf8().expect("text");
        let outcome = app.query_graph("test", &sql, GuardOptions::default()).await;
        assert!(outcome.is_ok(), "{sql}: {outcome:?}");
        offered += 1;
    }
    assert!(offered > 20, "{offered}");
    app.close().await;
}

#[tokio::test]
async fn operations_need_full_access_and_show_what_was_sent_as_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = open(folder.path()).await;
    let made = app.create_token("laptop", Scope::Full, None).await.expect("a token");
    let caller = Caller { actor: "token:laptop".to_owned(), via: AuditVia::Http, scope: Scope::Full };
    let call = Mutation::begin(caller, "POST /api/v1/tasks", json!({ "query": "<script>alert(1)</script>" }));
    app.audit(call, AuditOutcome::Ok, None).await;
    let (status, html) = get(&app, "/operations", Scope::Read, "en").await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    assert!(html.contains("needs a token with full access") && !html.contains("laptop"), "{html}");
    let (_, html) = get(&app, "/operations", Scope::Full, "en").await;
    assert!(html.contains("&lt;script&gt;alert(1)"), "{html}");
    assert!(html.contains(&format!("DELETE /api/v1/tokens/{}", made.token.id)), "{html}");
    assert!(!html.contains(&made.text), "the secret is never shown again");
    let (_, html) = get(&app, "/operations?actor=token%3Aother", Scope::Full, "en").await;
    assert!(html.contains("No entry fits."), "{html}");
    app.close().await;
}

/// One first heading, and no level left out on the way down.
fn headings_are_in_order(address: &str, html: &str) {
    let main = html.split("<main").nth(1).and_then(|rest| rest.split("</main>").next()).expect("content");
    let levels: Vec<u32> =
        main.split("<h").skip(1).filter_map(|rest| rest.chars().next()?.to_digit(10)).collect();
    assert_eq!(levels.first(), Some(&1), "{address}: {levels:?}");
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1, "{address}: {levels:?}");
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{address}: {levels:?}");
}

fn ids_are_unique(address: &str, html: &str) {
    let mut seen = HashSet::new();
    for id in html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(seen.insert(id), "{address} has two elements `{id}`");
    }
}

/// Every field stands in a label.
fn fields_have_labels(address: &str, html: &str) {
    for field in ["<input", "<select", "<textarea"] {
        for (at, _) in html.match_indices(field) {
            let before = &html[..at];
            let (open, closed) = (before.rfind("<label"), before.rfind("</label>"));
            assert!(open > closed, "{address}: {}", &html[at..html.floor_char_boundary(at + 80)]);
        }
    }
}

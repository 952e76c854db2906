use super::{Site, contains};
use lyra_domain::domains::OverrideDecision;
use lyra_store::Scope;
use serde_json::json;

#[tokio::test]
async fn sources_say_what_they_are_and_what_they_lack() {
    let mut site = Site::new().await;
    site.import_lines("papers", &[json!({ "id": "1", "title": "Naps", "abstract": "They help." })]).await;
    let page = site.page("/sources").await;
    contains(
        &page,
        &[
            "<h1>Sources</h1>",
            "openalex",
            "Scholarly API",
            "Not configured. Set",
            r#"href="/corpora/papers""#,
        ],
    );
    contains(&page, &["Nothing waits.", "No decisions yet.", "No domain is blocked.", "data-test-sources"]);
    contains(&site.get_in("ja", "/sources").await.1, &["<h1>情報源</h1>", "学術 API"]);
    site.scope = Scope::Read;
    let page = site.page("/sources").await;
    assert!(!page.contains("data-test-sources") && !page.contains("data-api=\"PUT"));
}

#[tokio::test]
async fn decisions_about_domains_are_shown_with_their_undo() {
    let site = Site::new().await;
    site.app
        .override_domain("*.example.org", OverrideDecision::Block, "<b>advertisements</b>")
        .await
        .expect("a decision");
    let page = site.page("/sources").await;
    contains(&page, &["*.example.org", "&lt;b&gt;advertisements&lt;/b&gt;", "Blocked</span>"]);
    contains(&page, &[r#"data-api="DELETE /api/v1/domains/%2A%2Eexample%2Eorg""#, "data-undo-body="]);
    assert!(!page.contains("<b>"));
    site.app.clear_override("*.example.org", None).await.expect("it is withdrawn");
    contains(&site.page("/sources").await, &["No decisions yet."]);
}

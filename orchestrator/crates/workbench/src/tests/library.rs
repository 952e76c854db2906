use super::{Site, contains};
use axum::http::StatusCode;
use lyra_store::Scope;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The example corpus.
fn example() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/corpus");
    ["nap.jsonl", "remote-work.jsonl"].map(|name| folder.join(name)).to_vec()
}

#[tokio::test]
async fn an_empty_library_shows_where_files_go() {
    let mut site = Site::new().await;
    let page = site.page("/corpora").await;
    contains(
        &page,
        &["<h1>Library</h1>", "No corpus yet", "data-imports", r#"href="/corpora" aria-current="page""#],
    );
    contains(&site.get_in("ja", "/corpora").await.1, &["<h1>ライブラリー</h1>", "コーパスはまだありません"]);
    let (status, page) = site.get("/corpora/missing").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    contains(&page, &["corpus `missing` does not exist"]);
    site.scope = Scope::Read;
    let page = site.page("/corpora").await;
    contains(&page, &["This token is read-only"]);
    assert!(!page.contains("data-imports"));
}

#[tokio::test]
async fn the_example_corpus_is_listed_searched_and_read() {
    let mut site = Site::new().await;
    site.import("example", &example()).await;
    contains(&site.page("/corpora").await, &[r#"href="/corpora/example">example</a>"#, "Example</span>"]);

    let page = site.page("/corpora/example").await;
    contains(
        &page,
        &["<h1>example</h1>", "invented to show how Lyra works", "No two documents look like the same work."],
    );
    contains(
        &page,
        &[r#"data-api="DELETE /api/v1/corpora/example""#, r#"data-then="/corpora""#, "data-ask="],
    );

    let found = site.page("/corpora/example?query=nap+word+recall").await;
    let document = "/corpora/example/documents/nap%2D01";
    contains(
        &found,
        &["<mark>nap</mark>", document, "Searched by words only.", "Ottilie Marrenwood", "2014"],
    );
    contains(&site.page("/corpora/example?query=zzyzx").await, &["No document matches."]);
    contains(&site.page("/corpora/example?query=nap&tag=unknown").await, &[r#"role="alert""#]);

    let page = site.page(document).await;
    contains(
        &page,
        &[
            "<h1 lang=\"en\">Twenty minutes after lunch",
            "<h2 lang=\"en\">Abstract</h2>",
            "Lakeside Journal of Sleep Practice",
        ],
    );
    assert_eq!(site.get("/corpora/example/documents/none").await.0, StatusCode::NOT_FOUND);

    site.scope = Scope::Read;
    let page = site.page("/corpora/example").await;
    assert!(!page.contains("DELETE /api") && !page.contains("data-imports"));
}

#[tokio::test]
async fn what_documents_say_is_text() {
    let site = Site::new().await;
    let hostile = r#"<script>alert(1)</script>"><img src=x onerror=alert(1)>"#;
    let document = |id: &str| {
        json!({
            "id": id, "title": format!("Naps {hostile}"), "abstract": format!("A nap helps. {hostile}"), "year": 2020,
            "authors": [hostile], "venue": hostile, "url": "javascript:alert(1)", "tags": [hostile], "collections": [format!("a/{hostile}")],
            "notes": [hostile], "references": [hostile],
        })
    };
    site.import_lines("hostile", &[document("10.1/a \"b\" <c>"), document("second")]).await;
    let first = "/corpora/hostile/documents/10%2E1%2Fa%20%22b%22%20%3Cc%3E";
    for address in [
        "/corpora",
        "/corpora/hostile",
        "/corpora/hostile?query=nap",
        "/corpora/hostile?query=%3Cscript%3Ealert%281%29%3C%2Fscript%3E&tag=%22%3E%3Cb%3E",
        "/corpora/hostile?query=alert&within=notes",
        first,
        "/",
    ] {
        let page = site.page(address).await;
        assert!(
            !page.contains("<script>") && !page.contains("<img") && !page.contains("<b>"),
            "{address}: {page}"
        );
        assert!(!page.contains("href=\"javascript:"), "{address}");
    }
    let page = site.page(first).await;
    contains(
        &page,
        &["Naps &lt;script&gt;", "My notes and highlights", "References", "10.1/a &quot;b&quot; &lt;c&gt;"],
    );
    contains(
        &site.page("/corpora/hostile").await,
        &["1 work is probably here more than once.", "Same title and year", first],
    );
    contains(&site.page("/corpora/hostile?query=nap").await, &[first, "2 documents"]);
}

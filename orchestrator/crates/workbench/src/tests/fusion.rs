use super::{Site, contains};
use axum::http::StatusCode;
use lyra_store::{AuditFilter, Scope};
use lyra_usecases::fusion::{BlendRequest, LaneSearch, RunRef, Show, recipe};
use lyra_wire::fusion::{CodeInput, RecipeInput};
use serde_json::json;

const HOSTILE: &str = "<script>alert(1)</script>\"><img src=x onerror=alert(1)>";

async fn lamps() -> Site {
    let site = Site::new().await;
    let document = |i: usize| {
        let (what, code) = if i.is_multiple_of(2) { ("LED", "H01L33/64") } else { ("filament", "H01K1/00") };
        json!({
            "id": format!("d{i:02}"), "title": format!("A {what} lamp {HOSTILE}"), "ipc": [code],
            "abstract": format!("The lamp {HOSTILE} has a {what} and **stars**."), "year": 2000 + i,
        })
    };
    let documents: Vec<_> = (0..30).map(document).collect();
    site.import_lines("lamps", &documents).await;
    site
}

/// A lane's run, and a blend of two.
async fn runs(site: &Site) -> (String, String) {
    let fusion = site.app.fusion();
    let search = |lane: &str, text: &str| LaneSearch {
        lane: Some(lane.to_owned()),
        text: text.to_owned(),
        top_k: 100,
        corpus: Some("lamps".to_owned()),
        ..LaneSearch::default()
    };
    let wide = fusion.search_lane(search("wide", "lamp"), Show::default()).await.expect("a run");
    let precise = fusion.search_lane(search("precision", "led"), Show::default()).await.expect("a run");
    let profile = vec![CodeInput { code: "ipc:H01L33".to_owned(), weight: 1.0 }];
    let given = RecipeInput { target_profile: Some(profile), ..RecipeInput::default() };
    let runs = [&wide, &precise].map(|run| RunRef { run_id: run.run_id.clone(), lane: None }).to_vec();
    let blend = fusion
        .blend(BlendRequest { runs, recipe: recipe(given).expect("a recipe"), peek: None })
        .await
        .expect("a blend");
    (wide.run_id, blend.run_id)
}

#[tokio::test]
async fn lanes_are_searched_by_the_address_alone() {
    let site = lamps().await;
    let page = site.page("/fusion").await;
    contains(&page, &["<h1>Search lanes</h1>", "name=\"query\"", "<option value=\"wide\"", "None yet."]);
    let page =
        site.page("/fusion?corpus=lamps&lane=wide&query=lamp&lane=precision&query=led+AND+(lamp&go=1").await;
    contains(
        &page,
        &["id=\"found\"", "30</b> documents", "1 lane could not be searched", "aria-invalid=\"true\""],
    );
    contains(
        &page,
        &["Character 14: found the end, expected", "<mark>▲</mark>", "name=\"run\" value=\"wide=fulltext-"],
    );
    contains(
        &site.page("/fusion?corpus=lamps&lane=wide&query=led&more=1").await,
        &["Lane 2", ">led</textarea>"],
    );
    contains(&site.page("/fusion?corpus=none&lane=wide&query=led&go=1").await, &["unknown corpus `none`"]);
    contains(&site.get_in("ja", "/fusion").await.1, &["<h1>検索レーン</h1>"]);
}

#[tokio::test]
async fn a_blend_shows_what_each_lane_adds_and_all_text_stays_text() {
    let mut site = lamps().await;
    let (lane, blend) = runs(&site).await;
    let page = site.page(&format!("/fusion/runs/{blend}")).await;
    contains(
        &page,
        &["What each lane adds to document 1", "<mark>LED</mark>", "&lt;script&gt;", "**stars**"],
    );
    contains(
        &page,
        &[
            "With fewer than 10, no depth can be named",
            "ipc:H01L33=1</textarea>",
            "format=xlsx",
            "role=\"img\"",
            "H01K1/00",
        ],
    );
    contains(
        &site.page(&format!("/fusion/runs/{blend}?offset=20")).await,
        &["21 to 30 of 30", "Previous documents"],
    );
    let compared = site.page(&format!("/fusion/runs/{blend}?with={lane}&depth=10")).await;
    contains(
        &compared,
        &[
            "of the first 10 documents are in both",
            "Only in this run",
            "It is unknown which of the two is better",
        ],
    );
    let review = site.page(&format!("/fusion/runs/{blend}?review=20")).await;
    contains(&review, &["data-review=", "name=\"label-1\"", "matches the core"]);
    assert_eq!(review.matches("data-judged=").count(), 20);
    let lane_page = site.page(&format!("/fusion/runs/{lane}")).await;
    contains(&lane_page, &["<h1>wide</h1>", "<bdi>lamp</bdi>"]);
    for page in [&page, &compared, &review, &lane_page] {
        assert!(!page.contains("<script>alert") && !page.contains("<img"), "{page}");
    }
    site.scope = Scope::Read;
    let page = site.page(&format!("/fusion/runs/{blend}?review=20")).await;
    contains(&page, &["This token is read-only", "Make the new blend"]);
    assert!(!page.contains("data-review="));
}

#[tokio::test]
async fn blends_are_made_and_changed_by_addresses() {
    let site = lamps().await;
    let (lane, blend) = runs(&site).await;
    let (status, _) = site.get(&format!("/fusion/blend?run=wide={lane}&w.wide=2&go=1")).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let (status, _) = site.get(&format!("/fusion/runs/{blend}/change?w.wide=3&rrf_k=20&go=1")).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    contains(
        &site.page(&format!("/fusion/runs/{blend}/change?w.wide=3&profile=nonsense&go=1")).await,
        &["role=\"alert\"", "`nonsense` is not a name with a weight", "value=\"3\"", ">nonsense</textarea>"],
    );
    contains(
        &site.page(&format!("/fusion/blend?run={lane}")).await,
        &["Blend these runs", "value=\"wide=fulltext-"],
    );
    contains(&site.page("/fusion/blend").await, &["No run was chosen"]);
    let listed = site.page("/fusion").await;
    contains(&listed, &[blend.as_str(), lane.as_str(), "type=\"checkbox\""]);
    assert_eq!(site.get("/fusion/runs/fusion-0").await.0, StatusCode::NOT_FOUND);
    assert_eq!(site.get("/fusion/blend?run=nothing&go=1").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_stores_a_run_is_recorded_and_limited_for_readers() {
    let mut site = lamps().await;
    let (lane, blend) = runs(&site).await;
    let blend_them = format!("/fusion/blend?run=wide={lane}&w.wide=2&go=1");
    site.page("/fusion?corpus=lamps&lane=wide&query=led&go=1").await;
    site.get(&blend_them).await;
    site.get(&format!("/fusion/runs/{blend}/change?w.wide=3&go=1")).await;
    site.get("/fusion/runs/fusion-0/change?w.wide=3&go=1").await;
    // Only to look stores nothing.
    site.page(&format!("/fusion/runs/{blend}")).await;
    let log = site.app.audit_log(&AuditFilter::default(), 50).await.expect("the log");
    let noted: Vec<String> = log.iter().map(|entry| format!("{} {}", entry.action, entry.outcome)).collect();
    assert_eq!(noted, ["change_blend error", "change_blend ok", "blend_runs ok", "search_lanes ok"]);
    assert!(log[3].detail.as_deref().is_some_and(|detail| detail.contains("fulltext-")), "{log:?}");
    assert!(log[2].arguments["address"].as_str().is_some_and(|address| address == blend_them), "{log:?}");

    site.scope = Scope::Read;
    for _ in 0..20 {
        assert_eq!(site.get(&blend_them).await.0, StatusCode::SEE_OTHER);
    }
    let (status, page) = site.get(&blend_them).await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{page}");
    contains(&page, &["Not available right now", "try again in "]);
    let log = site.app.audit_log(&AuditFilter::default(), 50).await.expect("the log");
    assert_eq!((log.len(), log[0].outcome.as_str()), (25, "refused"));
    site.scope = Scope::Full;
    assert_eq!(site.get(&blend_them).await.0, StatusCode::SEE_OTHER);
}

//! Judgments: read on their page, corrected, taken back, and left out.

use super::*;
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;

/// A page whose only passage supports a claim.
const JUDGED: &str = "
    INSERT INTO pages (id, url, domain, title, fetch_method, fetched_at)
    VALUES ('page_1', 'https://a.example/1', 'a.example', 'On naps', 'http', '2026-01-01T00:00:00.000Z');
    INSERT INTO task_pages (task_id, page_id, reason, depth)
    SELECT id, 'page_1', 'academic_api', 0 FROM tasks;
    INSERT INTO fragments (id, page_id, fragment_type, position, text_content, char_start, char_end, text_hash)
    VALUES ('frag_1', 'page_1', 'paragraph', 0, 'Naps helped in all 40 people.', 0, 29, 'h');
    INSERT INTO edges (id, source_type, source_id, target_type, target_id, relation, nli_confidence, nli_model,
                       nli_scores, created_at)
    SELECT 'edge_1', 'fragment', 'frag_1', 'claim', id, 'supports', 0.9, 'model',
           '{\"supports\":0.9,\"refutes\":0.05,\"neutral\":0.05}', '2026-01-01T00:00:00.000Z'
    FROM claims WHERE claim_text = 'Naps help.';
";

#[tokio::test]
async fn a_judgment_is_read_corrected_taken_back_and_left_out() {
    let server = Server::start(false).await;
    let task = server.task().await;
    let path = server.app.data_dir().join("lyra.db");
    let mut connection = SqliteConnectOptions::new().filename(path).connect().await.expect("a connection");
    sqlx::raw_sql(JUDGED).execute(&mut connection).await.expect("a judgment");

    let page = server.get("/pages/page_1").await;
    assert_eq!(page.status, 200, "{page:?}");
    let mark = &page.body["fragments"][0]["judged"][0];
    assert_eq!((&mark["edge_id"], &mark["relation"]), (&json!("edge_1"), &json!("supports")), "{page:?}");
    let claim = mark["claim_id"].as_str().expect("an id").to_owned();
    assert_eq!(server.get("/pages/page_1?quarantined=true").await.status, 200);
    assert_eq!(server.get("/pages/page_1?quarantined=maybe").await.status, 400);

    let without = server.post(&format!("/claims/{claim}/without"), json!({"edge_ids": ["edge_1"]})).await;
    assert_eq!(
        (&without.body["before"]["supporting_count"], &without.body["after"]["supporting_count"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(without.body["after"]["confidence"], 0.5, "{without:?}");

    let wrong = json!({"relation": "refutes", "reason": "it says the opposite"});
    let corrected = server.post("/edges/edge_1/correction", wrong).await;
    assert_eq!(corrected.status, 200, "{corrected:?}");
    assert_eq!(
        (&corrected.body["previous_relation"], &corrected.body["relation"], &corrected.body["task_id"]),
        (&json!("supports"), &json!("refutes"), &json!(task))
    );
    assert!(
        corrected.body["confidence"].as_f64().is_some_and(|confidence| confidence < 0.5),
        "{corrected:?}"
    );
    let undone = server.delete("/edges/edge_1/correction").await;
    assert_eq!((undone.status, &undone.body["relation"]), (StatusCode::OK, &json!("supports")), "{undone:?}");
    let nothing = server.delete("/edges/edge_1/correction").await;
    assert!(nothing.status.is_client_error() && is_problem(&nothing), "{nothing:?}");
    assert_eq!(
        server.audit().await,
        ["undo_correction error", "undo_correction ok", "correct_edge ok"],
        "leaving out is no change"
    );
    server.close().await;
}

#[tokio::test]
async fn several_claims_are_rejected_and_restored_together_or_not_at_all() {
    let server = Server::start(false).await;
    let task = server.task().await;
    let listed = async || {
        let page = server.get(&format!("/tasks/{task}/claims")).await;
        let claims = page.body["claims"].as_array().expect("claims").clone();
        claims.iter().map(|claim| claim["claim_id"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    let claims = listed().await;
    assert!(!claims.is_empty());
    let (reject, restore) = (format!("/tasks/{task}/claims/reject"), format!("/tasks/{task}/claims/restore"));

    let unknown: Vec<&str> = claims.iter().map(String::as_str).chain(["claim_unknown"]).collect();
    let refused = server.post(&reject, json!({"claims": unknown, "reason": "off topic"})).await;
    assert!(refused.status == 404 && is_problem(&refused), "{refused:?}");
    for wrong in [json!({"claims": [], "reason": "x"}), json!({"claims": claims, "reason": " "})] {
        let refused = server.post(&reject, wrong).await;
        assert!(refused.status == 400 && is_problem(&refused), "{refused:?}");
    }
    let other = server.task().await;
    let refused =
        server.post(&format!("/tasks/{other}/claims/reject"), json!({"claims": claims, "reason": "x"})).await;
    assert_eq!(refused.status, 404, "claims of another task: {refused:?}");
    assert_eq!(listed().await, claims, "nothing was rejected");

    let rejected = server.post(&reject, json!({"claims": claims, "reason": "off topic"})).await;
    assert_eq!(rejected.status, 200, "{rejected:?}");
    assert_eq!(rejected.body["claims"][0]["status"], "not_adopted");
    assert!(listed().await.is_empty());
    let restored = server.post(&restore, json!({"claims": claims})).await;
    assert_eq!(restored.body["claims"][0]["previous_status"], "not_adopted", "{restored:?}");
    assert_eq!(listed().await, claims);
    server.close().await;
}

#[tokio::test]
async fn a_budget_is_changed_without_a_search() {
    let server = Server::start(false).await;
    let task = server.task().await;
    let path = format!("/tasks/{task}/budget");
    let changed = server.post(&path, json!({"budget_pages": 300})).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let budget = &changed.body["config"]["budget"];
    assert_eq!((&budget["max_pages"], &budget["max_seconds"]), (&json!(300), &json!(1200)), "{changed:?}");
    for wrong in
        [json!({}), json!({"budget_pages": 0}), json!({"budget_pages": 501}), json!({"budget_seconds": 0})]
    {
        let refused = server.post(&path, wrong.clone()).await;
        assert!(refused.status == 400 && is_problem(&refused), "{wrong}: {refused:?}");
    }
    assert_eq!(server.post("/tasks/task_unknown/budget", json!({"budget_pages": 3})).await.status, 404);
    server.close().await;
}

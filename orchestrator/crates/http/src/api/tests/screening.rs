//! Screening over the API: decisions, conflicts, undo, lists, and the flow.

use super::*;

/// A task with three documents.
async fn with_documents(server: &Server) -> (String, Vec<String>) {
    let task = server.task().await;
    let path = server.folder.path().join("lyra.db");
    let pool =
        sqlx::SqlitePool::connect(&format!("sqlite://{}", path.display())).await.expect("the database");
    let mut pages = Vec::new();
    for (n, title) in ["Naps help memory", "Tea and caffeine", "Naps of adults"].into_iter().enumerate() {
        let page = format!("page_{n}");
        sqlx::query(
            "INSERT INTO pages (id, url, domain, title, fetch_method, fetched_at)
             VALUES (?1, 'https://' || ?1 || '.example/', ?1 || '.example', ?2, 'academic_api', '2026-01-01T00:00:00.000Z')",
        )
        .bind(&page)
        .bind(title)
        .execute(&pool)
        .await
        .expect("a page");
        sqlx::query("INSERT INTO task_pages (task_id, page_id, reason) VALUES (?, ?, 'manual')")
            .bind(&task)
            .bind(&page)
            .execute(&pool)
            .await
            .expect("a document");
        pages.push(page);
    }
    pool.close().await;
    (task, pages)
}

#[tokio::test]
async fn decisions_are_stored_replaced_and_taken_back() {
    let server = Server::start(false).await;
    let (task, pages) = with_documents(&server).await;
    let at = format!("/tasks/{task}/screening");
    let put =
        async |page: &str, body: Value| server.send("PUT", &format!("{BASE}{at}/{page}"), &[], &body).await;
    let state = server.get(&format!("{at}?limit=2")).await;
    assert_eq!(state.status, StatusCode::OK);
    assert_eq!(state.body["next"].as_array().map(Vec::len), Some(2));
    assert_eq!(state.body["next"][0]["because"], "search");
    assert!(state.body["recall"].is_null());

    let first = put(&pages[0], json!({ "verdict": "include" })).await;
    assert_eq!((first.status, &first.body["progress"]["included"]), (StatusCode::OK, &json!(1)));
    let id = first.body["decision"]["decision_id"].as_str().expect("an id").to_owned();
    // Another window that knows of no decision does not overwrite it.
    let blind = put(&pages[0], json!({ "verdict": "exclude" })).await;
    assert_eq!((blind.status, &blind.body["code"]), (StatusCode::CONFLICT, &json!("conflict")));
    assert!(is_problem(&blind) && blind.body["details"]["decision_id"] == json!(id), "{blind:?}");
    let change = json!({ "verdict": "exclude", "reason": "not a study", "replaces": id });
    let second = put(&pages[0], change).await;
    assert_eq!(second.body["decision"]["reason"], "not a study");
    let stale = server.delete(&format!("{at}/{}/{id}", pages[0])).await;
    assert_eq!(stale.status, StatusCode::CONFLICT);
    let newer = second.body["decision"]["decision_id"].as_str().expect("an id");
    let undone = server.delete(&format!("{at}/{}/{newer}", pages[0])).await;
    assert_eq!(undone.body["decision"]["decision_id"], json!(id));

    put(&pages[1], json!({ "verdict": "exclude", "reason": "other" })).await;
    let learned = server.get(&at).await;
    assert_eq!(
        (&learned.body["next"][0]["page_id"], &learned.body["next"][0]["because"]),
        (&json!(pages[2]), &json!("promising"))
    );
    assert_eq!(
        learned.body["curve"],
        json!([{ "screened": 1, "included": 1 }, { "screened": 2, "included": 1 }])
    );
    let excluded = server.get(&format!("{at}/decisions?verdict=exclude&text=TEA")).await;
    assert_eq!(
        (&excluded.body["total"], &excluded.body["decided"][0]["page_id"]),
        (&json!(1), &json!(pages[1]))
    );
    let flow = server.get(&format!("/tasks/{task}/prisma")).await;
    assert_eq!(
        (&flow.body["identified"], &flow.body["screened"], &flow.body["open"]),
        (&json!(3), &json!(2), &json!(1))
    );
    let materials = server.get(&format!("/tasks/{task}/materials")).await;
    assert_eq!(materials.body["screening"].as_array().map(Vec::len), Some(3));
    assert_eq!(materials.body["screening"][1]["taken_back"], true);

    for wrong in [json!({ "verdict": "maybe" }), json!({ "verdict": "include", "reason": "other" })] {
        let refused = put(&pages[2], wrong).await;
        assert!(refused.status.is_client_error() && is_problem(&refused), "{refused:?}");
    }
    assert_eq!(put("page_none", json!({ "verdict": "include" })).await.status, StatusCode::NOT_FOUND);
    let reader = server.token("reader", Scope::Read).await;
    let headers = [("authorization", reader.as_str())];
    let path = format!("{BASE}{at}/{}", pages[2]);
    let refused = server.send("PUT", &path, &headers, &json!({ "verdict": "include" })).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    server.close().await;
}

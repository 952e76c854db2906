use super::*;
use axum::body::to_bytes;
use lyra_corpus::ImportOptions;

/// A server with a corpus of lamps, without embeddings.
async fn lamps() -> Server {
    let server = Server::start(false).await;
    let documents: Vec<String> = (0..40)
        .map(|i| {
            let (what, code) = if i % 2 == 0 { ("LED", "H01L33/64") } else { ("filament", "H01K1/00") };
            let sink = if i % 4 == 0 { " with a heat sink" } else { "" };
            json!({
                "id": format!("d{i:02}"), "title": format!("=A {what} lamp, number {i}"), "ipc": [code], "year": 2000 + i,
                "abstract": format!("The <b>lamp</b> has a {what}{sink}."),
            })
            .to_string()
        })
        .collect();
    let path = server.folder.path().join("lamps.jsonl");
    std::fs::write(&path, documents.join("\n")).expect("a file");
    let options = ImportOptions { scopes: Some(Vec::new()), ..ImportOptions::default() };
    let cancel = CancellationToken::new();
    let report =
        server.app.import_corpus("lamps", &[path], &options, &|_| {}, &cancel).await.expect("an import");
    assert_eq!(report.rejected, []);
    server
}

/// A blend of two lanes, and its lanes' runs.
async fn blend(server: &Server) -> (String, Vec<String>) {
    let lanes = json!({"lanes": [
        {"lane": "wide", "query": "lamp", "corpus": "lamps"},
        {"lane": "precision", "query": "led AND \"heat sink\"", "corpus": "lamps", "filters": [{"field": "ipc", "include_codes": ["H01L"]}]},
    ]});
    let searched = server.post("/fusion/multisearch", lanes).await;
    assert_eq!(
        (searched.status, &searched.body["success_count"]),
        (StatusCode::OK, &json!(2)),
        "{searched:?}"
    );
    let runs: Vec<String> = searched.body["lanes"]
        .as_array()
        .expect("lanes")
        .iter()
        .map(|lane| lane["run"]["run_id"].as_str().expect("an id").to_owned())
        .collect();
    let given: Vec<Value> = runs.iter().map(|run| json!({"run_id": run})).collect();
    let recipe = json!({"target_profile": [{"code": "ipc:H01L33", "weight": 1}]});
    let blended = server.post("/fusion/blends", json!({"runs": given, "recipe": recipe})).await;
    assert_eq!(blended.status, 200, "{blended:?}");
    (blended.body["run_id"].as_str().expect("an id").to_owned(), runs)
}

#[tokio::test]
async fn a_query_is_checked_at_its_place() {
    let server = Server::start(false).await;
    let good = server.post("/fusion/check", json!({"query": "led heat"})).await;
    assert_eq!(good.body, json!({"reading": "(led AND heat)", "notes": []}), "{good:?}");
    let bad = server.post("/fusion/check", json!({"query": "昼 AND (led"})).await;
    assert_eq!(
        (&bad.body["fault"]["position"], &bad.body["fault"]["length"]),
        (&json!(11), &json!(0)),
        "{bad:?}"
    );
    assert!(bad.body["fault"]["expected"].is_string() && bad.body["reading"].is_null());
    server.close().await;
}

#[tokio::test]
async fn lanes_are_searched_blended_changed_and_compared() {
    let server = lamps().await;
    assert_eq!(server.get("/fusion/lanes").await.body["lanes"].as_array().map(Vec::len), Some(6));
    let (blended, runs) = blend(&server).await;
    let wrong = server.post("/fusion/searches", json!({"query": "led AND", "corpus": "lamps"})).await;
    assert_eq!(
        (wrong.status, &wrong.body["details"]["position"]),
        (StatusCode::BAD_REQUEST, &json!(8)),
        "{wrong:?}"
    );
    let listed = server.get("/fusion/runs?limit=3").await;
    assert_eq!(listed.body["runs"][0]["run_id"], json!(blended), "{listed:?}");
    let queries =
        listed.body["runs"].as_array().into_iter().flatten().filter_map(|run| run["query"].as_str());
    assert_eq!(queries.collect::<std::collections::BTreeSet<_>>(), ["lamp", "led AND \"heat sink\""].into());

    let documents = server.get(&format!("/fusion/runs/{blended}/documents?limit=3")).await;
    let first = &documents.body["documents"][0];
    assert_eq!((&documents.body["total"], &documents.body["next_offset"]), (&json!(40), &json!(3)));
    let shares: f64 = first["shares"].as_object().expect("shares").values().filter_map(Value::as_f64).sum();
    assert!((shares - 1.0).abs() < 1e-4 && first["codes"] == json!(["ipc:H01L33/64"]), "{first}");
    let pieces = &first["hits"][1]["pieces"];
    assert_eq!(
        (&pieces[0], &pieces[1]["text"], &pieces[1]["hit"]),
        (&json!({"text": "The <b>", "hit": false}), &json!("lamp"), &json!(true)),
        "{first}"
    );

    let nothing = server.post(&format!("/fusion/blends/{blended}/change"), json!({})).await;
    assert_eq!(nothing.status, 400, "{nothing:?}");
    let delta = json!({"weights": [{"lane": "precision", "weight": 0}, {"lane": "code", "weight": 0}]});
    let changed = server.post(&format!("/fusion/blends/{blended}/change"), delta).await;
    assert_eq!(
        (changed.status, &changed.body["changed_from"]),
        (StatusCode::OK, &json!(blended)),
        "{changed:?}"
    );
    let other = changed.body["run_id"].as_str().expect("an id");
    let compared = server.get(&format!("/fusion/runs/{blended}/compared/{other}?depth=10")).await;
    let count = |list: &str| compared.body[list].as_array().map_or(0, Vec::len);
    assert_eq!(count("moved") + count("only_this"), 10, "{compared:?}");
    assert_eq!(count("only_this"), count("only_other"), "{compared:?}");
    for own in compared.body["only_this"].as_array().expect("a list") {
        assert!(own["other_rank"].as_u64().is_some_and(|rank| rank > 10), "{own}");
    }
    let same = server.get(&format!("/fusion/runs/{blended}/compared/{blended}")).await;
    assert_eq!(same.status, 400, "{same:?}");
    let lane = server.get(&format!("/fusion/runs/{}", runs[0])).await;
    assert_eq!((&lane.body["kind"], &lane.body["meta"]["count_returned"]), (&json!("fulltext"), &json!(40)));
    let recorded =
        ["change_blend ok", "change_blend error", "search_lane error", "blend_runs ok", "search_lanes ok"];
    assert_eq!(server.audit().await, recorded, "each stores a run, or tried to");
    server.close().await;
}

#[tokio::test]
async fn judgments_add_up_and_are_recorded() {
    let server = lamps().await;
    let (blended, _) = blend(&server).await;
    let sample = server.get(&format!("/fusion/runs/{blended}?sample=true")).await;
    let sample: Vec<Value> = sample.body["sample"].as_array().expect("a sample").clone();
    let judged: Vec<Value> = sample
        .iter()
        .enumerate()
        .map(|(at, one)| json!({"doc_id": one["doc_id"], "label": if at % 2 == 0 { "A" } else { "C" }}))
        .collect();
    let path = format!("/fusion/blends/{blended}/representatives");
    let stored = server.post(&path, json!({"representatives": judged})).await;
    assert_eq!(
        (stored.status, &stored.body["estimate"]["judged"]),
        (StatusCode::OK, &json!(judged.len())),
        "{stored:?}"
    );
    let again = server.post(&path, json!({"representatives": judged})).await;
    assert_eq!(again.body["estimate"], stored.body["estimate"], "the same labels change nothing: {again:?}");
    let none = server.post(&path, json!({"representatives": []})).await;
    assert_eq!(none.status, 400, "{none:?}");
    let run = server.get(&format!("/fusion/runs/{blended}")).await;
    assert_eq!(run.body["representatives"].as_array().map(Vec::len), Some(judged.len()), "{run:?}");
    let recorded = [
        "register_representatives error",
        "register_representatives ok",
        "register_representatives ok",
        "blend_runs ok",
        "search_lanes ok",
    ];
    assert_eq!(server.audit().await, recorded);
    server.close().await;
}

#[tokio::test]
async fn a_search_is_saved_and_run_again() {
    let server = lamps().await;
    let (_, runs) = blend(&server).await;
    let saved = server.post("/fusion/saved", json!({"name": "lamps and leds", "run_id": runs[0]})).await;
    assert_eq!((saved.status, &saved.body["seen"]), (StatusCode::OK, &json!(40)), "{saved:?}");
    let listed = server.get("/fusion/saved").await;
    assert_eq!(listed.body["searches"][0], saved.body);
    let again = server.post("/fusion/saved/lamps%20and%20leds/run", json!({})).await;
    assert_eq!((again.status, &again.body["new_count"]), (StatusCode::OK, &json!(0)), "{again:?}");
    let unknown = server.post("/fusion/saved/none/run", json!({})).await;
    assert_eq!(unknown.status, 404, "{unknown:?}");
    assert_eq!(server.delete("/fusion/saved/lamps%20and%20leds").await.status, StatusCode::OK);
    assert_eq!(server.get("/fusion/saved").await.body["searches"], json!([]));
    server.close().await;
}

#[tokio::test]
async fn a_run_is_a_file_in_three_formats() {
    let server = lamps().await;
    let (blended, _) = blend(&server).await;
    let mut files = Vec::new();
    for format in ["csv", "xlsx", "ris"] {
        let path = format!("{BASE}/fusion/runs/{blended}/file?format={format}");
        let response = server.raw("GET", &path, &[], Body::empty()).await;
        assert_eq!(response.status(), 200, "{format}");
        let disposition = response.headers()["content-disposition"].to_str().expect("text").to_owned();
        assert_eq!(disposition, format!("attachment; filename=\"{blended}.{format}\""));
        files.push(to_bytes(response.into_body(), 10_000_000).await.expect("a body"));
    }
    let csv = String::from_utf8(files[0].to_vec()).expect("text");
    let lines: Vec<&str> = csv.split("\r\n").collect();
    assert_eq!(lines.len(), 42, "a head, 40 documents, and the end");
    assert!(
        lines[0].starts_with("\u{feff}rank,doc_id,title,score,rank in wide,rank in precision,share of wide,"),
        "{}",
        lines[0]
    );
    assert!(lines[1].starts_with("1,d00,\"'=A LED lamp, number 0\","), "{}", lines[1]);
    assert_eq!(&files[1][..2], b"PK");
    let ris = String::from_utf8(files[2].to_vec()).expect("text");
    assert_eq!(ris.matches("\r\nER  - ").count(), 40, "{ris}");
    assert!(ris.contains(&format!("Lyra {blended}: rank 1 (precision 1, wide ")), "{ris}");
    let wrong = server.get(&format!("/fusion/runs/{blended}/file?format=pdf")).await;
    assert!(wrong.status == 400 && is_problem(&wrong), "{wrong:?}");
    server.close().await;
}

/// A server whose read-only tokens may make so many searches an hour.
async fn limited(per_hour: u32) -> Server {
    let mut config = Config::default();
    config.server.reader_searches_per_hour = per_hour;
    Server::with(true, config).await
}

/// What may be sent to search, blend and change, by the API and by the pages.
const STORING: [(&str, &str); 7] = [
    ("POST", "/api/v1/fusion/searches"),
    ("POST", "/api/v1/fusion/multisearch"),
    ("POST", "/api/v1/fusion/blends"),
    ("POST", "/api/v1/fusion/blends/fusion-0/change"),
    ("GET", "/fusion?lane=wide&query=led&go=1"),
    ("GET", "/fusion/blend?run=wide=fulltext-0&go=1"),
    ("GET", "/fusion/runs/fusion-0/change?rrf_k=20&go=1"),
];

#[tokio::test]
async fn pages_and_routes_share_the_searches_of_a_read_only_token() {
    let server = limited(1).await;
    let viewer = server.token("viewer", Scope::Read).await;
    let headers = [("authorization", viewer.as_str()), ("content-type", "application/json")];
    let body = || Body::from("{\"query\": \"led\"}");
    // A burst of ten, wherever they come in; without a corpus each of them fails.
    for (method, path) in STORING.iter().cycle().take(10) {
        let status = server.raw(method, path, &headers, body()).await.status();
        assert!(![403, 429].contains(&status.as_u16()), "{method} {path} {status}");
    }
    for (method, path) in STORING {
        let answer = server.raw(method, path, &headers, body()).await;
        assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS, "{method} {path}");
        let wait: u64 = answer.headers()["retry-after"].to_str().expect("text").parse().expect("seconds");
        assert!((3_500..=3_600).contains(&wait), "{wait}");
        let bytes = to_bytes(answer.into_body(), 10_000_000).await.expect("a body");
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("has stored as many runs as it may for now; try again in"), "{text}");
    }
    for path in ["/fusion", "/fusion/blend", "/api/v1/fusion/runs"] {
        assert_eq!(server.raw("GET", path, &headers, Body::empty()).await.status(), 200, "{path}");
    }
    let entries = server.app.audit_log(&AuditFilter::default(), 200).await.expect("the log");
    let count = |outcome| entries.iter().filter(|entry| entry.outcome == outcome).count();
    assert_eq!((entries.len(), count(AuditOutcome::Refused)), (17, STORING.len()), "{entries:?}");
    assert!(entries.iter().all(|entry| entry.actor == "token:viewer"));
    let agent = server.token("agent", Scope::Full).await;
    let headers = [("authorization", agent.as_str()), ("content-type", "application/json")];
    for (method, path) in STORING.iter().cycle().take(20) {
        let status = server.raw(method, path, &headers, body()).await.status();
        assert!(![403, 429].contains(&status.as_u16()), "{method} {path} {status}");
    }
    server.close().await;
}

#[tokio::test]
async fn a_server_may_let_read_only_tokens_search_nothing() {
    let server = limited(0).await;
    let viewer = server.token("viewer", Scope::Read).await;
    let headers = [("authorization", viewer.as_str()), ("content-type", "application/json")];
    for (method, path) in STORING {
        let answer = server.raw(method, path, &headers, Body::from("{}")).await;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{method} {path}");
    }
    let entries = server.app.audit_log(&AuditFilter::default(), 200).await.expect("the log");
    assert_eq!(entries.len(), STORING.len(), "{entries:?}");
    assert!(entries.iter().all(|entry| entry.outcome == AuditOutcome::Refused));
    let check = server.raw("POST", "/api/v1/fusion/check", &headers, Body::from("{\"query\": \"led\"}"));
    assert_eq!(check.await.status(), 200, "a check stores nothing");
    server.close().await;
}

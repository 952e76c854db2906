//! Lanes and their fusion through the built binary: at the command line, and feeding a task of evidence.

use anyhow::ensure;
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use serde_json::{Value, json};

#[test]
fn a_person_searches_fuses_and_reads() {
    let app = TestApp::new();
    let lane = |query: &str, lane: &str| {
        let run = app.json(&["fuse", "search", query, "--lane", lane, "--corpus", "example", "--json"]);
        run["run_id"].as_str().expect("a run").to_owned()
    };
    let wide = lane("(nap OR napping) AND (memory OR recall)", "wide");
    let semantic = lane("Does a nap help people to remember?", "semantic");
    let named = format!("meaning={semantic}");
    let fused =
        app.json(&["fuse", "blend", &wide, &named, "--weight", "meaning=0.5", "--facet", "A=nap", "--json"]);
    let id = fused["run_id"].as_str().expect("a fusion run");
    assert!(fused["contributions"]["meaning"].as_f64() > Some(0.0), "{fused}");
    let changed = app.json(&["fuse", "mutate", id, "--rrf-k", "10", "--json"]);
    assert_eq!(changed["changed_from"], id);
    let said = app.json(&["fuse", "provenance", id, "--sample", "--json"]);
    assert_eq!(said["parents"][1]["lane"], "meaning");
    // A sample has 20 documents; both lanes together found fewer, which are all proposed.
    assert_eq!(said["sample"].as_array().map(Vec::len), Some(17));
    let peek = app.json(&["fuse", "peek", id, "--limit", "3", "--json"]);
    assert_eq!(peek["snippets"].as_array().map(Vec::len), Some(3));
    let first = peek["snippets"][0]["doc_id"].as_str().expect("a document");
    let shown = app.run(&["fuse", "show", first, "--corpus", "example"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("title:"));
    let judged = app.json(&["fuse", "judge", id, &format!("A={first}"), "--json"]);
    assert_eq!(judged["representatives"][0]["rank"], 1);
    let plain = app.run(&["fuse", "provenance", id]);
    let text = String::from_utf8_lossy(&plain.stdout);
    assert!(text.contains("contributions") && text.contains("judged A"), "{text}");
    assert_eq!(app.json(&["fuse", "runs", "--json"]).as_array().map(Vec::len), Some(4));
    assert_eq!(app.json(&["lanes", "--json"]).as_array().map(Vec::len), Some(6));
    // Runs and judgments persist, so calls that create them are audited; reading is not.
    let audit = app.json(&["audit", "list", "--json"]);
    let noted = audit.as_array().into_iter().flatten().filter_map(|entry| entry["action"].as_str());
    let expected = ["fuse judge", "fuse mutate", "fuse blend", "fuse search", "fuse search"];
    assert_eq!(noted.collect::<Vec<_>>(), expected, "{audit}");
    let refused = app.run(&["fuse", "search", "nap AND (", "--corpus", "example"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("cannot be read at character"));
}

#[tokio::test]
async fn a_fusion_run_feeds_a_task() -> anyhow::Result<()> {
    let app = TestApp::new();
    let mut lyra = StdioClient::start(&app).await?;
    let wide = json!({ "query": "nap AND (memory OR recall)", "corpus": "example" });
    let wide = done(lyra.call("rrf_search_fulltext_raw", wide).await?)?;
    let semantic = json!({ "text": "Does a nap help people to remember?", "corpus": "example", "top_k": 20 });
    let semantic = done(lyra.call("rrf_search_semantic_raw", semantic).await?)?;
    let runs = json!({ "runs": [wide["run_id"], semantic["run_id"]] });
    let fused = done(lyra.call("rrf_blend_frontier", runs).await?)?;

    let claim = "A short daytime nap improves memory in adults.";
    let task =
        done(lyra.call("create_task", json!({ "query": "Do naps help memory?", "claims": [claim] })).await?)?;
    let nowhere = json!({ "task_id": task["task_id"], "queries": ["nap"], "run_id": "fusion-none" });
    ensure!(lyra.call("queue_searches", nowhere).await?["error_code"] == "not_found");
    let queued = json!({ "task_id": task["task_id"], "queries": ["nap memory"], "run_id": fused["run_id"] });
    let queued = done(lyra.call("queue_searches", queued).await?)?;
    let search = queued["search_ids"][0].as_str().unwrap_or_default().to_owned();
    for _ in 0..20 {
        let status = done(lyra.call("get_status", json!({ "task_id": task["task_id"], "wait": 15 })).await?)?;
        if status["status"] == "completed" {
            break;
        }
    }
    let found =
        rows(&mut lyra, &format!("SELECT DISTINCT source FROM serp_items WHERE query_id = '{search}'"))
            .await?;
    ensure!(
        found == json!([{ "source": format!("run:{}", fused["run_id"].as_str().unwrap_or_default()) }]),
        "{found}"
    );
    // The search of the task's own claim asked the corpus, not the run.
    let others = format!("SELECT DISTINCT source FROM serp_items WHERE query_id <> '{search}'");
    ensure!(rows(&mut lyra, &others).await? == json!([{ "source": "corpus:example" }]));
    // One document is one page, whichever way it came.
    let twice = "SELECT title FROM pages GROUP BY title HAVING count(*) > 1";
    ensure!(rows(&mut lyra, twice).await? == json!([]));
    let shares = format!(
        "SELECT round(sum(value), 6) AS share FROM query_fragments, json_each(contributions) WHERE query_id = '{search}' \
         AND score > 0 GROUP BY fragment_id HAVING abs(sum(value) - 1) > 0.000001"
    );
    ensure!(rows(&mut lyra, &shares).await? == json!([]), "contributions add up");
    lyra.close().await
}

#[tokio::test]
async fn sources_of_a_task_are_lanes() -> anyhow::Result<()> {
    let app = TestApp::new();
    let config = app.data_dir().join("rrf.toml");
    std::fs::write(&config, "[research]\nranking_method = \"rrf\"\n")?;
    let config = config.to_string_lossy().into_owned();
    let mut lyra = StdioClient::start_with(&app, &["--config", &config]).await?;
    let task = done(lyra.call("create_task", json!({ "query": "Do naps help memory?" })).await?)?;
    let queued = json!({ "task_id": task["task_id"], "queries": ["nap memory"] });
    done(lyra.call("queue_searches", queued).await?)?;
    for _ in 0..20 {
        let status = done(lyra.call("get_status", json!({ "task_id": task["task_id"], "wait": 15 })).await?)?;
        if status["status"] == "completed" {
            break;
        }
    }
    let lanes = "SELECT DISTINCT key FROM query_fragments, json_each(contributions) ORDER BY key";
    let lanes = rows(&mut lyra, lanes).await?;
    ensure!(
        lanes == json!([{ "key": "corpus:example" }, { "key": "meaning" }, { "key": "text" }]),
        "{lanes}"
    );
    let unordered = "SELECT count(*) AS n FROM query_fragments a JOIN query_fragments b \
        ON a.query_id = b.query_id AND a.rank < b.rank AND a.score < b.score";
    ensure!(rows(&mut lyra, unordered).await? == json!([{ "n": 0 }]));
    lyra.close().await
}

async fn rows(lyra: &mut StdioClient, sql: &str) -> anyhow::Result<Value> {
    Ok(done(lyra.call("query_graph", json!({ "sql": sql })).await?)?["rows"].take())
}

fn done(answer: Value) -> anyhow::Result<Value> {
    ensure!(answer["ok"] == true, "{answer}");
    Ok(answer)
}

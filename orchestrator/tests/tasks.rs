//! What the binary says about tasks that are not finished and claims that a person rejected. It needs no model.

use lyra_domain::TaskConfig;
use lyra_usecases::NewTask;
use lyra_usecases::config::Config;
use std::path::Path;
use std::process::Command;

/// What `lyra` prints: its result, else what it tells.
fn said(data_dir: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_lyra"))
        .args(args)
        .env("LYRA_DATA_DIR", data_dir)
        .env("XDG_CONFIG_HOME", data_dir)
        .env_remove("LYRA_CONFIG")
        .output()
        .expect("lyra runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?}: {err}");
    if out.is_empty() { err.into_owned() } else { out.into_owned() }
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
}

#[tokio::test]
async fn unfinished_work_and_rejected_claims_are_told_apart_from_answers() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let data = folder.path();
    let config = Config { data_dir: Some(data.to_owned()), ..Config::default() };
    let app = lyra::compose::open(config).await.expect("the application opens");
    let config = TaskConfig { sources: vec!["openalex".to_owned()], ..TaskConfig::default() };
    let claims = vec!["Naps harm memory.".to_owned()];
    let new = NewTask { query: "Do naps improve memory?".to_owned(), config, claims, ..NewTask::default() };
    let id = app.create_task(new).await.expect("a task").id;
    let asked = app.question_claim(&id).await.expect("a claim").expect("of the question").claim.id;
    app.close().await;
    let (task, claim) = (id.to_string(), asked.to_string());

    let resume = format!("lyra task resume {task}");
    let shown = said(data, &["task", "show", &task]);
    let words: Vec<&str> = shown.split_whitespace().collect();
    contains(&words.join(" "), &["not finished: 2 of 2 claims are not judged", &resume]);
    let json: serde_json::Value =
        serde_json::from_str(&said(data, &["task", "show", &task, "--json"])).expect("JSON");
    assert_eq!((&json["finished"], &json["not_covered"]["claims_not_judged"]), (&false.into(), &2.into()));
    contains(&json["warnings"][0].to_string(), &["not finished", "2 of 2"]);
    contains(&said(data, &["task", "list"]), &["unfinished", "2 claims, 2 not judged"]);
    contains(&said(data, &["task", "export", &task]), &["the task is not finished"]);
    contains(&said(data, &["task", "export", &task, "--format", "html"]), &["not judged yet: 2 of 2"]);

    let rejected = said(data, &["claim", "reject", &claim, "--reason", "too broad"]);
    contains(&rejected, &[&format!("{claim} is rejected in {task}")]);
    contains(&said(data, &["claim", "show", &claim]), &["rejected: too broad"]);
    let reports =
        [("text", "the claim “Naps"), ("markdown", "The claim “Naps"), ("html", "Reason: too broad")];
    for (format, part) in reports {
        contains(&said(data, &["task", "show", &task, "--format", format]), &[part, "too broad"]);
    }
}

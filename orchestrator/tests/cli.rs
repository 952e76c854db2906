//! Output of the binary that needs no model.

use std::process::{Command, Output};

fn lyra(args: &[&str], data_dir: &std::path::Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lyra"))
        .args(args)
        .env("LYRA_DATA_DIR", data_dir)
        .env("XDG_CONFIG_HOME", data_dir)
        .env_remove("LYRA_CONFIG")
        .output()
        .expect("lyra runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn without_arguments_it_explains_itself_in_ten_lines() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let output = lyra(&[], dir.path());
    assert!(output.status.success());
    assert_eq!(stdout(&output).lines().count(), 10, "{}", stdout(&output));
    assert!(stdout(&output).contains("lyra research"));
    assert!(
        std::fs::read_dir(dir.path()).expect("readable").next().is_none(),
        "it wrote into the data folder"
    );
}

#[track_caller]
fn refused(args: &[&str], expect: &[&str]) {
    let dir = tempfile::tempdir().expect("temporary folder");
    let output = lyra(args, dir.path());
    assert!(!output.status.success(), "{args:?} succeeded");
    assert!(stdout(&output).is_empty(), "{args:?} printed on stdout: {}", stdout(&output));
    for part in expect {
        assert!(stderr(&output).contains(part), "{args:?} does not say `{part}`:\n{}", stderr(&output));
    }
}

#[test]
fn bad_input_is_named_with_what_would_be_right() {
    refused(&["research", "  "], &["`query` is empty", "hint: "]);
    refused(
        &["research", "naps?", "--corpus", "nowhere"],
        &["unknown corpus `nowhere`", "lyra corpus import"],
    );
    refused(&["research", "naps?", "--max-pages", "501"], &["501 pages", "1 to 500"]);
    refused(&["task", "show", "claim_1"], &["task_"]);
    refused(&["task", "show", "task_1"], &["task_1 does not exist"]);
    refused(&["corpus", "show", "nothing"], &["corpus `nothing` does not exist"]);
    refused(&["corpus", "import", "../up", "x.jsonl"], &["is not a valid corpus name"]);
    refused(&["token", "create", "two words"], &["`two words` is not a valid token name", "hint: "]);
    refused(&["token", "create", "a", "--expires", "soon"], &["`soon` is not a time", "30d"]);
    refused(&["token", "revoke", "unknown"], &["`unknown` does not exist"]);
    refused(&["task", "delete", "task_1", "--yes"], &["task_1 does not exist"]);
    refused(&["backup", "verify", "/does/not/exist.tar"], &["exist.tar", "lyra backup create"]);
    refused(&["eval", "/does/not/exist.jsonl"], &["exist.jsonl cannot be read", "lyra eval --help"]);
    refused(&["eval", "../examples/corpus/nap.jsonl"], &["nap.jsonl, line 1: it has no `claim`", "hint: "]);
    refused(&["eval", "../examples/eval/claims.jsonl", "--corpus", "nowhere"], &["`nowhere` does not exist"]);
    refused(&["web", "fetch", "http://169.254.169.254/latest"], &["must not be fetched"]);
    refused(&["web", "fetch", "nonsense"], &["not an absolute http(s) address"]);
    refused(&["--config", "/does/not/exist.toml", "task", "list"], &["exist.toml"]);
}

#[test]
fn a_fresh_data_folder_lists_nothing() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let tasks = lyra(&["task", "list", "--json"], dir.path());
    assert_eq!(stdout(&tasks).trim(), "[]", "{}", stderr(&tasks));
    let corpora = lyra(&["corpus", "list", "--json"], dir.path());
    assert_eq!(stdout(&corpora).trim(), "[]", "{}", stderr(&corpora));
}

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
fn wrong_arguments_and_failures_have_their_own_exit_codes() {
    let dir = tempfile::tempdir().expect("temporary folder");
    for (args, code, said) in [
        (&["research", ""][..], 2, "`query` is empty"),
        (&["research", "naps?", "--max-pages", "501"][..], 2, "501 pages"),
        (&["corpus", "search", "papers", "naps", "-k", "0"][..], 2, "at least 1"),
        (&["view", "query", "v_hub_pages", "--task", "task_1"][..], 1, "task_1 does not exist"),
    ] {
        let output = lyra(args, dir.path());
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{args:?}: {}", stderr(&output));
        assert!(stdout(&output).is_empty(), "{args:?} printed on stdout: {}", stdout(&output));
    }
}

#[test]
fn variables_with_a_wrong_name_or_value_stop_at_once() {
    let dir = tempfile::tempdir().expect("temporary folder");
    for (args, name, value, said) in [
        (&["check", "Naps help."][..], "LYRA_ML_URL", "foo", "`LYRA_ML_URL`: `foo` should be an address"),
        (&["task", "list"][..], "LYRA_DATADIR", "/x", "did you mean LYRA_DATA_DIR?"),
        (&["config", "show"][..], "LYRA_SERVER_PORT", "1", "did you mean LYRA__SERVER__PORT?"),
        (&["doctor"][..], "LYRA__SERVER__PORT", "abc", "correct the variable LYRA__SERVER__PORT"),
        (&["config", "check"][..], "LYRA__ML__PROFILE", "fasst", "`fasst` is not one of"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_lyra"))
            .args(args)
            .env("XDG_CONFIG_HOME", dir.path())
            .env("LYRA_DATA_DIR", dir.path())
            .env_remove("LYRA_CONFIG")
            .env(name, value)
            .output()
            .expect("lyra runs");
        let all = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {all}");
        assert!(all.contains(said), "{args:?}: {all}");
    }
}

/// A signal ends the wait for an ml-server that cannot be reached.
#[cfg(unix)]
#[test]
fn a_wait_for_an_ml_server_is_said_and_can_be_interrupted() {
    use std::io::{BufRead, BufReader, Read};
    let dir = tempfile::tempdir().expect("temporary folder");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let mut lyra = Command::new(env!("CARGO_BIN_EXE_lyra"))
        .args(["check", "Naps help memory.", "--ml-url", &url])
        .env("LYRA_DATA_DIR", dir.path())
        .env("XDG_CONFIG_HOME", dir.path())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("lyra runs");
    let mut said = BufReader::new(lyra.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("cannot reach the ml-server at") {
        line.clear();
        assert!(said.read_line(&mut line).expect("text") > 0, "it ended and did not name the ml-server");
    }
    assert!(line.contains(&url) && line.contains("up to 30 s"), "{line}");
    let killed =
        Command::new("kill").args(["-s", "INT", &lyra.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let begun = std::time::Instant::now();
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("text");
    assert_eq!(lyra.wait().expect("it ends").code(), Some(130), "{rest}");
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}

#[test]
fn a_fresh_data_folder_lists_nothing() {
    let dir = tempfile::tempdir().expect("temporary folder");
    let tasks = lyra(&["task", "list", "--json"], dir.path());
    assert_eq!(stdout(&tasks).trim(), "[]", "{}", stderr(&tasks));
    let corpora = lyra(&["corpus", "list", "--json"], dir.path());
    assert_eq!(stdout(&corpora).trim(), "[]", "{}", stderr(&corpora));
}

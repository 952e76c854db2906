//! Backups, deletion and bad disks, with real processes.

use lyra_tests::mcp_server::HttpServer;
use lyra_tests::{TestApp, binary};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// A task that sends no requests and needs no model.
fn task(query: &str) -> Value {
    json!({ "query": query, "config": { "sources": ["openalex"] } })
}

fn said(output: &std::process::Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn queries(app: &TestApp) -> Vec<String> {
    let tasks = app.json(&["task", "list", "-n", "1000", "--json"]);
    tasks
        .as_array()
        .expect("tasks")
        .iter()
        .filter_map(|task| task["query"].as_str().map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn a_backup_of_a_working_server_is_restored_elsewhere() -> anyhow::Result<()> {
    let (app, other, folder) = (TestApp::new(), TestApp::new(), tempfile::tempdir()?);
    let mut unlimited = app.command(&["serve", "--port", "0"]);
    unlimited.env("LYRA__SERVER__REQUESTS_PER_MINUTE", "0");
    let server = HttpServer::start_command(unlimited).await?;
    let file = folder.path().join("lyra.tar.gz");
    let target = file.to_str().expect("a path");
    let (done, made) = (AtomicBool::new(false), AtomicBool::new(false));
    let writing = async {
        let mut written = 0;
        // No more than one list of tasks shows.
        while !done.load(Ordering::Relaxed) && written < 900 {
            let answer = server.call("create_task", task(&format!("task {written}")), &[]).await?;
            anyhow::ensure!(answer["ok"] == true, "{answer}");
            written += 1;
            made.store(written >= 5, Ordering::Relaxed);
        }
        anyhow::Ok(written)
    };
    let saving = async {
        while !made.load(Ordering::Relaxed) {
            tokio::task::yield_now().await;
        }
        let output = tokio::process::Command::from(app.command(&["backup", "create", target])).output().await;
        done.store(true, Ordering::Relaxed);
        anyhow::Ok(output?)
    };
    let (written, output) = tokio::try_join!(writing, saving)?;
    assert!(output.status.success(), "{}", said(&output));
    let verified = app.run(&["backup", "verify", target]);
    assert!(verified.status.success() && said(&verified).contains("sound:"), "{}", said(&verified));

    let piped = std::fs::File::create(folder.path().join("piped"))?;
    let output = app.command(&["backup", "create", "-"]).stdout(piped).output()?;
    assert!(output.status.success() && said(&output).contains("wrote standard output"), "{}", said(&output));
    let piped = std::fs::File::open(folder.path().join("piped"))?;
    let output = app.command(&["backup", "verify", "-"]).stdin(piped).output()?;
    assert!(output.status.success() && said(&output).contains("sound: standard input"), "{}", said(&output));

    // Not under the feet of a server.
    let refused = app.run(&["backup", "restore", target, "--force"]);
    assert!(!refused.status.success() && said(&refused).contains("stop it first"), "{}", said(&refused));
    assert_eq!(server.request("GET /ready", &[], "").await?.status, 200);

    let restored = other.run(&["backup", "restore", target]);
    assert!(restored.status.success(), "{}", said(&restored));
    // The copy is of one moment: the first tasks up to some of them, and none in between missing.
    let mut kept = queries(&other);
    kept.reverse();
    assert!(kept.len() >= 5 && kept.len() <= written, "{} of {written}", kept.len());
    assert_eq!(kept, (0..kept.len()).map(|n| format!("task {n}")).collect::<Vec<_>>());
    assert_eq!(other.json(&["store", "check", "--json"])["problems"], json!([]));
    server.stop().await?;

    let again = app.run(&["backup", "restore", target]);
    assert!(!again.status.success() && said(&again).contains("--force"), "{}", said(&again));
    assert_eq!(queries(&app).len(), written, "nothing was replaced");
    let forced = app.run(&["backup", "restore", target, "--force"]);
    assert!(forced.status.success() && said(&forced).contains("replaced-"), "{}", said(&forced));
    assert_eq!(queries(&app).len(), kept.len());
    Ok(())
}

#[test]
fn a_task_is_deleted_only_when_it_is_said_twice() {
    let app = TestApp::new();
    let searched = app.json(&["research", "Does a short daytime nap improve memory?", "--json", "--quiet"]);
    let id = searched["task_id"].as_str().expect("an id").to_owned();
    let asked = app.run(&["task", "delete", &id]);
    assert!(!asked.status.success() && said(&asked).contains("add --yes"), "{}", said(&asked));
    assert_eq!(queries(&app).len(), 1);
    let deleted = app.json(&["task", "delete", &id, "--yes", "--json"]);
    for table in ["claims", "edges", "embeddings", "fragments", "jobs", "pages", "queries", "query_fragments"]
    {
        assert!(deleted["rows"][table].as_u64() > Some(0), "{table}: {deleted}");
    }
    let check = app.json(&["store", "check", "--json"]);
    assert_eq!((&check["problems"], &check["leftovers"]), (&json!([]), &json!([])));
    let left = app.json(&["store", "prune", "--dry-run", "--json"]);
    assert_eq!(left["deleted"]["rows"], json!({}));
    let audit = app.json(&["audit", "list", "--task", &id, "--json"]);
    assert_eq!((&audit[0]["action"], &audit[0]["outcome"]), (&json!("task delete"), &json!("ok")), "{audit}");
}

/// `lyra ARGS` with its data on a separate small disk, if this machine allows one.
#[expect(clippy::print_stdout, reason = "says why a test skips")]
fn on_small_disk(app: &TestApp, script: &str) -> Option<Command> {
    let probe = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        println!("skipped: a small disk cannot be made here (unshare -rm mount -t tmpfs)");
        return None;
    }
    let mut command = Command::new("unshare");
    let plain = app.command(&[]);
    let settings = plain.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(settings).env("LYRA", binary("lyra")).args(["-rm", "sh", "-c", script]);
    Some(command)
}

/// Fills the remaining space; removing the file frees it.
fn fill(folder: &Path) -> PathBuf {
    let filler = folder.join("filler");
    let mut file = std::fs::File::create(&filler).expect("a file");
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    filler
}

#[tokio::test]
async fn a_server_outlives_a_full_disk() -> anyhow::Result<()> {
    let app = TestApp::new();
    let script = "mount -t tmpfs -o size=8m tmpfs \"$LYRA_DATA_DIR\" && exec \"$LYRA\" serve --port 0";
    let Some(mut command) = on_small_disk(&app, script) else { return Ok(()) };
    command.env("LYRA__SERVER__REQUESTS_PER_MINUTE", "0");
    let server = HttpServer::start_command(command).await?;
    let inside =
        |path: &Path| PathBuf::from(format!("/proc/{}/root{}", server.pid().unwrap_or(0), path.display()));
    let long = "a long question ".repeat(100);
    let mut made = 0;
    for _ in 0..3 {
        let answer = server.call("create_task", task(&long), &[]).await?;
        assert_eq!(answer["ok"], true, "{answer}");
        made += 1;
    }
    let filler = fill(&inside(app.data_dir()));
    let mut refused = None;
    // Room that the database has already is used up first.
    for _ in 0..2_000 {
        let answer = server.call("create_task", task(&long), &[]).await?;
        if answer["ok"] == false {
            refused = Some(answer);
            break;
        }
        made += 1;
    }
    let refused = refused.expect("a full disk");
    assert!(refused["error"].as_str().is_some_and(|text| text.contains("full")), "{refused}");
    assert!(refused["hint"].as_str().is_some_and(|text| text.contains("free space")), "{refused}");
    let count = json!({ "sql": "SELECT count(*) AS n FROM tasks" });
    assert_eq!(
        server.call("query_graph", count.clone(), &[]).await?["rows"][0]["n"],
        made,
        "nothing is lost"
    );
    assert_eq!(server.request("GET /ready", &[], "").await?.status, 200);

    std::fs::remove_file(filler)?;
    let answer = server.call("create_task", task("and on it goes"), &[]).await?;
    assert_eq!(answer["ok"], true, "{answer}");
    assert_eq!(server.call("query_graph", count, &[]).await?["rows"][0]["n"], made + 1);
    server.stop().await
}

#[test]
fn a_read_only_disk_is_named_and_loses_nothing() {
    let app = TestApp::new();
    let script = "set -e; mount -t tmpfs -o size=32m tmpfs \"$LYRA_DATA_DIR\"
        \"$LYRA\" token create kept
        mount -o remount,ro \"$LYRA_DATA_DIR\"
        if \"$LYRA\" token create lost; then exit 3; fi
        mount -o remount,rw \"$LYRA_DATA_DIR\"
        \"$LYRA\" token list
        \"$LYRA\" store check";
    let Some(mut command) = on_small_disk(&app, script) else { return };
    let output = command.output().expect("it runs");
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("cannot write to") && said.contains("Read-only file system"), "{said}");
    assert!(said.contains("kept") && !said.contains(" lost ") && said.contains("whole: "), "{said}");
}

#[test]
fn every_command_says_that_the_disk_is_full() {
    let app = TestApp::new();
    // Without a free block nothing can be made beside the databases; with a few, a transaction begins and cannot end.
    let script = "mount -t tmpfs -o size=12m tmpfs \"$LYRA_DATA_DIR\" && cd \"$LYRA_DATA_DIR\" || exit 3
        printf '{\"id\":\"1\",\"title\":\"Naps\",\"abstract\":\"Naps help memory.\"}\\n' > a.jsonl
        \"$LYRA\" token create kept > /dev/null || exit 3
        try() { echo \"== $*\"; \"$LYRA\" \"$@\" 2>&1; echo \"-> $?\"; }
        for left in 0 20 60; do
            \"$LYRA\" token create old-$left > /dev/null || exit 3
            dd if=/dev/zero of=filler bs=4k 2> /dev/null
            truncate -s -$((left * 4096)) filler
            try token create more-$left
            try token revoke old-$left
            try research 'Does a nap improve memory?' --quiet
            try check 'Naps improve memory.' --quiet
            try corpus import c a.jsonl --quiet
            try backup create b.tar.gz
            try backup create -
            try task list
            try store check
            try store prune
            try embeddings rebuild
            try doctor
            rm filler
        done
        try token list
        try store check";
    let Some(mut command) = on_small_disk(&app, script) else { return };
    let output = command.output().expect("it runs");
    let said = said(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let mut refused = 0;
    for command in said.split("== ").skip(1) {
        let failed = !command.contains("-> 0");
        let full = ["full", "No space left"].iter().any(|words| command.contains(words));
        assert!(!failed || full, "it does not say why: {command}");
        assert!(!command.contains("the version of Lyra that wrote"), "the wrong remedy: {command}");
        assert!(!command.contains("disk I/O error") && !command.contains("panicked"), "{command}");
        refused += usize::from(failed);
    }
    assert!(refused >= 8, "the disk was not full: {said}");
    let end = said.rsplit("== token list").next().unwrap_or_default();
    assert!(end.contains("kept") && end.contains("whole: "), "{said}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_backup_leaves_nothing_that_the_next_one_does_not_remove() {
    let (app, home) = (TestApp::new(), tempfile::tempdir().expect("a folder"));
    app.json(&["token", "create", "--json", "kept"]);
    let target = |name: &str| home.path().join(name).display().to_string();
    // Enough to be in the middle of it.
    std::fs::create_dir_all(app.data_dir().join("corpora/c/index")).expect("a folder");
    let manifest = r#"{"format":1,"name":"c","embedder":"m","dimension":1,"created":"2026-11-20T00:00:00Z"}"#;
    std::fs::write(app.data_dir().join("corpora/c/corpus.json"), manifest).expect("a file");
    std::fs::write(app.data_dir().join("corpora/c/index/segment"), vec![7; 64 << 20]).expect("a file");
    let left = |folder: &Path| -> Vec<String> {
        let names = std::fs::read_dir(folder).expect("a folder").flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with('.')).collect()
    };
    let mut interrupted = 0;
    for (n, signal) in ["KILL", "TERM", "INT", "KILL", "TERM", "INT"].into_iter().enumerate() {
        let name = target(&format!("{n}.tar.gz"));
        let mut child = app.spawn(&["backup", "create", &name]);
        let begun = std::time::Instant::now();
        while left(home.path()).is_empty() && begun.elapsed().as_secs() < 60 {
            if child.try_wait().expect("its state").is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::thread::sleep(std::time::Duration::from_millis(60 * n as u64));
        // The second one does not wait for anything to end.
        for _ in 0..2 {
            let _ = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        let status = child.wait().expect("its end");
        interrupted += usize::from(!status.success());
    }
    assert!(interrupted > 0, "every backup was done before");
    let whole = app.run(&["backup", "create", &target("whole.tar.gz")]);
    assert!(whole.status.success(), "{}", said(&whole));
    assert_eq!(left(home.path()), Vec::<String>::new());
    assert_eq!(left(app.data_dir()), Vec::<String>::new());
}

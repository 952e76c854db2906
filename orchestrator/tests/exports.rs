//! `lyra corpus export` as a process: files that are whole or absent, pipes, and a full disk.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn lyra(data_dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lyra"));
    command.env("LYRA_DATA_DIR", data_dir).env("XDG_CONFIG_HOME", data_dir).env_remove("LYRA_CONFIG");
    command
}

fn run(data_dir: &Path, args: &[&str]) -> Output {
    lyra(data_dir).args(args).output().expect("lyra runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A data folder with the corpus `c` of `count` documents.
fn corpus(count: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("temporary folder");
    let lines: Vec<String> = (0..count)
        .map(|nth| {
            serde_json::json!({
                "id": format!("{nth:05}"), "title": format!("Naps and memory, study {nth}"),
                "abstract": "Naps improve memory. ".repeat(20), "authors": ["Ann Lee"], "year": 2019,
                "tags": ["naps"], "collections": [if nth == 0 { "Sleep/Naps" } else { "Sleep" }],
            })
            .to_string()
        })
        .collect();
    let file = dir.path().join("in.jsonl");
    std::fs::write(&file, lines.join("\n")).expect("written");
    let path = file.to_str().expect("a path");
    let imported = run(dir.path(), &["corpus", "import", "c", path, "--scopes", "none", "--quiet"]);
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    dir
}

fn files(dir: &Path) -> Vec<String> {
    let names = std::fs::read_dir(dir).expect("readable").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_file_by_its_ending_and_stdout_by_format() {
    let data = corpus(3);
    let out = tempfile::tempdir().expect("temporary folder");
    let path = out.path().join("refs.bib");
    let shown = path.to_str().expect("a path");
    let written = run(data.path(), &["corpus", "export", "c", "-o", shown]);
    assert!(written.status.success() && written.stdout.is_empty(), "{}", text(&written.stderr));
    let bibtex = std::fs::read_to_string(&path).expect("the file");
    assert_eq!(bibtex.matches("@misc{lee2019naps").count(), 3, "{bibtex}");
    let again = run(data.path(), &["corpus", "export", "c", "--format", "bibtex"]);
    assert_eq!(text(&again.stdout), bibtex);
    let narrowed =
        run(data.path(), &["corpus", "export", "c", "--format", "ris", "--collection", "sleep/naps"]);
    assert_eq!(text(&narrowed.stdout).matches("TY  - ").count(), 1);
    let json = run(data.path(), &["corpus", "export", "c", "-o", shown, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(report["documents"], 3);
    assert_eq!(files(out.path()), ["refs.bib"]);
}

#[test]
fn what_cannot_be_exported_is_named() {
    let data = corpus(1);
    let out = tempfile::tempdir().expect("temporary folder");
    let path = |name: &str| out.path().join(name).to_str().expect("a path").to_owned();
    std::fs::write(path("refs.bib"), "before").expect("written");
    for (args, expect) in [
        (vec!["c".to_owned()], "Give --format bibtex, ris, csl or jsonl"),
        (vec!["c".to_owned(), "--format".to_owned(), "word".to_owned()], "`word` is not a format of exports"),
        (vec!["c".to_owned(), "-o".to_owned(), path("absent/a.bib")], "name a file in a folder that exists"),
        (
            vec!["c".to_owned(), "-o".to_owned(), path("refs.bib"), "--tag".to_owned(), "nap".to_owned()],
            "no tag `nap`; the nearest is `naps`",
        ),
        (vec!["d".to_owned(), "-o".to_owned(), path("refs.bib")], "corpus `d`"),
    ] {
        let refused = lyra(data.path()).args(["corpus", "export"]).args(&args).output().expect("lyra runs");
        assert!(!refused.status.success(), "{args:?}");
        assert!(text(&refused.stderr).contains(expect), "{args:?}: {}", text(&refused.stderr));
    }
    assert_eq!(files(out.path()), ["refs.bib"]);
    assert_eq!(std::fs::read_to_string(path("refs.bib")).expect("the file"), "before");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_and_a_closed_pipe_are_errors() {
    let data = corpus(500);
    let full = run(data.path(), &["corpus", "export", "c", "--format", "jsonl", "-o", "/dev/full"]);
    assert!(!full.status.success());
    assert!(
        text(&full.stderr).contains("/dev/full cannot be written: No space left"),
        "{}",
        text(&full.stderr)
    );

    let mut writer = lyra(data.path())
        .args(["corpus", "export", "c", "--format", "jsonl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("lyra runs");
    drop(writer.stdout.take());
    let ended = writer.wait_with_output().expect("it ends");
    assert!(!ended.status.success());
    let said = text(&ended.stderr);
    assert!(said.contains("standard output cannot be written: Broken pipe"), "{said}");
}

//! `lyra eval` through the binary, with the lite models.

use lyra_tests::TestApp;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

fn example() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/eval/claims.jsonl");
    file.to_str().expect("path").to_owned()
}

fn of(share: &Value) -> u64 {
    share["of"].as_u64().expect("number")
}

#[test]
fn the_example_is_measured_whole_and_the_figures_agree_with_the_answers() {
    let app = TestApp::lite();
    let report = app.json(&["eval", &example(), "--json", "--quiet"]);
    let set = &report["sets"][0];
    let figures = &set["figures"];
    assert_eq!((figures["n"].as_u64(), set["is_partial"].as_bool()), (Some(16), Some(false)));
    let answers = set["answers"].as_array().expect("answers");
    assert_eq!(answers.len(), 16);
    let right = answers.iter().filter(|answer| answer["label"] == answer["said"]).count();
    assert_eq!(figures["accuracy"]["count"].as_u64(), Some(right as u64));
    assert_eq!(of(&set["strangers_sided"]), 16);
    assert_eq!(of(&figures["groups"]), 1);
    assert_eq!(figures["majority"]["label"], "REFUTE");
    assert_eq!(figures["rationale"]["sentences"]["counts"]["gold"], 12);
    assert_eq!(figures["kinds"].as_object().expect("kinds").len(), 4);
    assert_eq!(figures["calibration"]["bins"].as_array().expect("bins").len(), 15);
}

#[test]
fn the_table_can_be_limited_and_nothing_is_left_in_the_data_folder() {
    let app = TestApp::new();
    let output = app.run(&["eval", &example(), "--limit", "3"]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for part in ["of 3 claims", "always ", "side taken on another document", "ECE", "seconds per passage"] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
    assert!(String::from_utf8_lossy(&output.stderr).contains("passages"));
    assert!(app.rows("SELECT id FROM tasks").is_empty());
}

#[cfg(unix)]
#[test]
fn interrupted_it_prints_the_figures_of_what_was_done() {
    let app = TestApp::new();
    let lines = fs::read_to_string(example()).expect("example");
    let file = app.data_dir().join("long.jsonl");
    fs::write(&file, lines.repeat(500)).expect("written");
    let mut lyra = app.spawn(&["eval", file.to_str().expect("path"), "--json"]);
    let progress = BufReader::new(lyra.stderr.take().expect("stderr"));
    let mut steps = progress.lines().map_while(Result::ok);
    assert!(steps.any(|line| line.starts_with("judged ")), "no progress was reported");
    let id = lyra.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
    steps.for_each(drop);
    let output = lyra.wait_with_output().expect("output");
    assert_eq!(output.status.code(), Some(130));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let set = &report["sets"][0];
    let n = set["figures"]["n"].as_u64().expect("number");
    assert!(set["is_partial"] == true && n > 0 && n < 8000, "{n} passages");
    assert_eq!(set["answers"].as_array().expect("answers").len() as u64, n);
}

/// Three abstracts and two claims in SciFact's layout.
fn scifact(app: &TestApp) -> PathBuf {
    let folder = app.data_dir().join("set");
    fs::create_dir_all(&folder).expect("folder");
    let documents = [
        json!({"doc_id": 11, "title": "Naps in adults",
            "abstract": ["We tested 40 adults.", "Naps improved recall of word lists in adults."]}),
        json!({"doc_id": 12, "title": "Naps in mice",
            "abstract": ["Mice were kept awake.", "Kept awake, they learned a maze more slowly."]}),
        json!({"doc_id": 13, "title": "Biochar", "abstract": ["Biochar raised maize yields on acid soil."]}),
    ];
    let claims = [
        json!({"id": 1, "claim": "Naps improve recall of word lists in adults.", "cited_doc_ids": [11, 12],
            "evidence": {"11": [{"sentences": [1], "label": "SUPPORT"}]}}),
        json!({"id": 2, "claim": "Biochar lowers maize yields on acid soil.", "cited_doc_ids": [13],
            "evidence": {"13": [{"sentences": [0], "label": "CONTRADICT"}]}}),
    ];
    let write = |name: &str, rows: &[Value]| {
        let lines = rows.iter().map(|row| format!("{row}\n")).collect::<Vec<_>>().concat();
        fs::write(folder.join(name), lines).expect("file");
    };
    write("corpus.jsonl", &documents);
    write("claims_dev.jsonl", &claims);
    // As SciFact's own, whose labels are not public.
    write("claims_test.jsonl", &[json!({"id": 3, "claim": "Naps are short."})]);
    folder
}

#[test]
fn scifact_is_measured_with_the_abstracts_given_and_with_retrieval() {
    let app = TestApp::new();
    let folder = scifact(&app);
    let corpus = folder.join("corpus.jsonl");
    let import = app.run(&["corpus", "import", "mine", corpus.to_str().expect("path"), "--quiet"]);
    assert!(import.status.success(), "{}", String::from_utf8_lossy(&import.stderr));
    let report = app.json(&["eval", folder.to_str().expect("path"), "--corpus", "mine", "--json", "--quiet"]);
    assert_eq!(report["sets"].as_array().expect("sets").len(), 1, "{report}");
    let set = &report["sets"][0];
    assert_eq!(set["figures"]["n"], 3);
    let found = &set["end_to_end"];
    assert_eq!((found["claims"].as_u64(), of(&found["found"])), (Some(2), 2));
    assert_eq!(found["found"]["count"], 2, "a corpus of three abstracts is searched whole: {found}");
    assert_eq!(found["labels"]["counts"]["gold"], 2);
    assert!(app.rows("SELECT id FROM tasks").is_empty(), "the tasks of the measurement are still there");
}

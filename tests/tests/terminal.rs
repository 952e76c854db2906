//! Text from documents must not drive the terminal of the person who reads it.

use lyra_tests::TestApp;
use serde_json::json;

/// Colors, the window's title, clearing the screen, and the order of writing.
const ABSTRACT: &str = "Qzine \u{1b}[31mreduced\u{1b}]0;PWN\u{7} fever in forty adults after two days. \u{1b}[2J\u{9b}31m \
                        Qzine reduced pain \u{202e}too\u{202c} in a second trial.";

/// Control characters for a terminal; line breaks and tabs are ours.
fn driving(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[test]
fn documents_cannot_drive_the_terminal() {
    let app = TestApp::new();
    let file = app.data_dir().join("a.jsonl");
    let document = json!({
        "id": "d\u{1b}[1m", "title": "Qzine \u{1b}[7mand fever", "abstract": ABSTRACT, "venue": "V\u{1b}[1m",
        "authors": ["A\u{1b}[5m, B."], "year": 2020, "url": "https://a.example/\u{1b}[0m",
    });
    std::fs::write(&file, format!("{document}\n")).expect("a file");
    let path = file.display().to_string();
    let shown = |args: &[&str]| {
        let output = app.run(args);
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        let bad = text.chars().find(|c| driving(*c));
        assert_eq!(bad, None, "lyra {args:?} prints it: {text:?}");
        text
    };
    shown(&["corpus", "import", "c", &path]);
    let answer = shown(&["research", "Does qzine reduce fever?", "--corpus", "c"]);
    assert!(answer.contains("Qzine") || answer.contains("qzine"), "{answer}");
    let tasks = app.json(&["task", "list", "--json"]);
    let task = tasks[0]["task_id"].as_str().expect("a task").to_owned();
    for args in [
        &["task", "show", &task][..],
        &["task", "show", &task, "--json"],
        &["task", "list"],
        &["corpus", "search", "c", "qzine fever"],
        &["corpus", "search", "c", "qzine fever", "--json"],
        &["corpus", "show", "c"],
        &["view", "query", "v_evidence_timeline", "--task", &task],
        &["view", "query", "v_claim_evidence_summary", "--task", &task],
        &["check", "Qzine reduces fever.", "--corpus", "c"],
        &["graph", "export", "--task", &task, "--format", "bibtex"],
        &["graph", "export", "--task", &task, "--format", "ris"],
        &["graph", "export", "--task", &task, "--format", "csv"],
        &["audit", "list"],
        &["store", "check"],
    ] {
        shown(args);
    }
}

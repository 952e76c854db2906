//! Research with a stand-in for a language model, through the binary.

use lyra_tests::TestApp;
use lyra_tests::llm::{INJECTION, LlmStandIn, Mood};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};

const QUESTION: &str = "Does a short daytime nap improve memory in adults?";

/// A data folder whose configuration points to the stand-in.
struct Bench {
    app: TestApp,
    config: String,
}

impl Bench {
    fn new(configuration: &str) -> Self {
        let app = TestApp::new();
        let file = app.data_dir().join("llm.toml");
        std::fs::write(&file, configuration).expect("configuration is written");
        Self { config: file.display().to_string(), app }
    }

    fn args<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        [&["--config", &self.config], args].concat()
    }

    fn json(&self, args: &[&str]) -> Value {
        self.app.json(&self.args(args))
    }

    fn rows(&self, task: &Value, sql: &str) -> Value {
        json!(self.app.rows(&sql.replace("TASK", task.as_str().expect("task id"))))
    }
}

/// Claims and numbers, in an order that does not depend on ids.
fn content(report: &Value) -> Value {
    let mut claims = report["claims"].as_array().expect("claims").clone();
    for claim in &mut claims {
        for id in ["claim_id", "task_id", "same_as"] {
            claim.as_object_mut().expect("object").remove(id);
        }
        let evidence = claim["evidence"].as_array_mut().expect("evidence");
        for passage in evidence.iter_mut() {
            passage.as_object_mut().expect("object").remove("edge_id");
        }
        evidence.sort_by_key(ToString::to_string);
    }
    claims.sort_by_key(ToString::to_string);
    json!({"claims": claims, "totals": report["totals"]})
}

fn by_rules() -> Value {
    content(&TestApp::new().json(&["research", QUESTION, "--json"]))
}

#[test]
fn claims_come_from_the_model_over_either_api() {
    let rules = by_rules();
    for provider in ["ollama", "openai"] {
        let server = LlmStandIn::start(Mood::Good).expect("stand-in starts");
        let bench = Bench::new(&server.configuration(provider));
        let doctor = bench.json(&["doctor", "--json"]);
        let llm = doctor.as_array().expect("findings").iter().find(|finding| finding["part"] == "llm");
        assert_eq!(llm.expect("a finding")["health"], "ok", "{doctor}");

        let report = bench.json(&["research", QUESTION, "--json"]);
        assert_ne!(content(&report)["claims"], rules["claims"]);
        let claims = report["claims"].as_array().expect("claims");
        assert!(claims.len() > 3 && !report["claims"].to_string().contains("green cheese"), "{report}");
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains("statements of the language model were left out"), "{warnings}");
        assert!(!warnings.contains("no usable answer"), "{warnings}");
        let asked = bench.rows(
            &report["task_id"],
            "SELECT count(*) AS n, sum(calls) AS calls, sum(failures) AS failures, min(model) AS model FROM \
             llm_questions \
             WHERE task_id = 'TASK' AND answer IS NOT NULL",
        );
        // The doctor added one question.
        let calls = server.asked().len() - 1;
        assert_eq!(
            asked,
            json!([{"n": calls, "calls": calls, "failures": 0, "model": format!("{provider}:small")}])
        );
        let kept = bench.rows(
            &report["task_id"],
            "SELECT DISTINCT extracted_by AS by, extraction_score AS c FROM claims WHERE task_id = 'TASK' AND claim_type <> 'question'",
        );
        assert_eq!(kept, json!([{"by": "language_model", "c": 0.75}]));
    }
}

/// The rules' result, with a warning that says why.
fn falls_back(configuration: &str, rules: &Value, why: &str) {
    let bench = Bench::new(configuration);
    let report = bench.json(&["research", QUESTION, "--json"]);
    assert_eq!(&content(&report), rules);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("rules extracted claims instead") && warnings.contains(why), "{warnings}");
    let doctor = bench.app.run(&bench.args(&["doctor"]));
    assert!(!doctor.status.success() && String::from_utf8_lossy(&doctor.stdout).contains(why), "{doctor:?}");
}

#[test]
fn rules_do_the_work_of_a_model_that_chats_sleeps_or_refuses() {
    let rules = by_rules();
    for (mood, provider, why) in [
        (Mood::Chatty, "openai", "not JSON"),
        (Mood::Slow, "ollama", "no answer within 1 s"),
        (Mood::Refusing(429), "openai", "(429): not today"),
        (Mood::Refusing(401), "ollama", "(401): not today"),
    ] {
        let server = LlmStandIn::start(mood).expect("stand-in starts");
        falls_back(&server.configuration(provider), &rules, why);
    }
    // Nothing listens on the discard port of loopback.
    let down = "[llm]\nprovider = \"ollama\"\nmodel = \"small\"\nbase_url = \"http://127.0.0.1:9\"\n";
    falls_back(down, &rules, "cannot reach http://127.0.0.1:9/api/chat");
}

#[test]
fn a_killed_task_gives_the_same_graph_and_asks_nothing_twice() {
    let server = LlmStandIn::start(Mood::Good).expect("stand-in starts");
    let bench = Bench::new(&server.configuration("ollama"));
    let undisturbed = content(&bench.json(&["research", QUESTION, "--json"]));
    let questions = server.asked().len();
    for (moment, asked_before) in [("ranked", 3), ("judged 1 of", questions)] {
        let server = LlmStandIn::start(Mood::Good).expect("stand-in starts");
        let bench = Bench::new(&server.configuration("ollama"));
        let mut child = bench.app.spawn(&bench.args(&["research", QUESTION]));
        let lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.contains(moment)), "never said `{moment}`");
        while server.asked().len() < asked_before {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.kill().expect("killed");
        child.wait().expect("waited");
        let tasks = bench.json(&["task", "list", "--json"]);
        let resumed =
            bench.json(&["task", "resume", tasks[0]["task_id"].as_str().expect("task id"), "--json"]);
        assert_eq!(content(&resumed), undisturbed, "killed at `{moment}`");
        // Two questions at once may have been under way.
        assert!(server.asked().len() <= questions + 2, "{} of {questions}", server.asked().len());
    }
}

#[test]
fn citations_of_web_pages_are_recorded_and_no_model_reads_what_addresses_it() {
    let server = LlmStandIn::start(Mood::Good).expect("stand-in starts");
    let pages = LlmStandIn::start(Mood::Good).expect("stand-in starts");
    let bench = Bench::new("");
    let engines = bench.app.data_dir().join("engines.yaml");
    std::fs::write(&engines, server.engines(&pages)).expect("engines are written");
    let web = format!(
        "{}\n[sources.web]\nengines_file = \"{}\"\ntrusted_origins = [\"{}\", \"{}\"]\n",
        server.configuration("openai"),
        engines.display(),
        server.address(),
        pages.address()
    );
    std::fs::write(&bench.config, web).expect("configuration is written");
    let report = bench.json(&["research", QUESTION, "--sources", "web", "--json"]);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("addresses the AI"), "{warnings}");
    assert!(!report["claims"].as_array().expect("claims").is_empty(), "{report}");
    let asked = server.asked();
    assert!(asked.iter().any(|body| body.contains("our shop")), "links are asked about");
    assert!(asked.iter().all(|body| !body.contains(INJECTION) && !body.contains("nav.example")));
    let cites = bench.rows(
        &report["task_id"],
        "SELECT target.url, citation_source AS source, citation_context AS context FROM edges JOIN pages AS target \
         ON target.id = target_id WHERE relation = 'cites'",
    );
    let context = "A trial of naps found that a short daytime nap improved memory in adults.";
    assert_eq!(
        cites,
        json!([{"url": "https://doi.org/10.1000/nap", "source": "extraction", "context": context}])
    );
}

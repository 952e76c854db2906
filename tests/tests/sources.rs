//! Research over Semantic Scholar and OpenAlex, through the binary, against their stand-ins.

use lyra_tests::TestApp;
use lyra_tests::replay::Replay;
use serde_json::Value;

struct Bench {
    app: TestApp,
    config: String,
    _replay: Replay,
}

impl Bench {
    fn new() -> Self {
        let (app, replay) = (TestApp::new(), Replay::start().expect("stand-ins start"));
        let file = replay.configure(app.data_dir()).expect("configuration is written");
        Self { config: file.display().to_string(), app, _replay: replay }
    }

    /// The number `n` that a statement over the evidence graph gives.
    fn count(&self, sql: &str) -> i64 {
        self.app.rows(sql)[0]["n"].as_i64().expect("number")
    }

    fn json(&self, args: &[&str]) -> Value {
        self.app.json(&[&["--config", &self.config], args].concat())
    }
}

const QUESTION: &str = "Does a short daytime nap improve memory in adults?";

#[test]
fn both_apis_give_merged_works_citations_and_judgements() {
    let bench = Bench::new();
    let report = bench.json(&["research", QUESTION, "--sources", "s2,openalex", "--json"]);
    let claims = report["claims"].as_array().expect("claims");
    let sum = |count: &str| claims.iter().filter_map(|claim| claim[count].as_u64()).sum::<u64>();
    assert!(sum("supporting_count") > 0 && sum("refuting_count") > 0, "{report}");
    assert!(!report["warnings"].to_string().contains("did not answer"), "{}", report["warnings"]);
    // Both APIs know some of the works; each DOI is one work on one page, with what both say of it.
    let count = |sql| bench.count(sql);
    assert!(count("SELECT count(*) AS n FROM edges WHERE relation = 'cites'") > 0);
    assert!(count("SELECT count(*) AS n FROM works") > 10);
    assert_eq!(
        count("SELECT count(*) - count(DISTINCT doi) AS n FROM works"),
        count("SELECT count(*) - count(DISTINCT work_id) AS n FROM pages"),
    );
    assert_eq!(count("SELECT count(*) - count(DISTINCT doi) AS n FROM works"), 0);
    let both = "SELECT count(*) AS n FROM works WHERE s2_id IS NOT NULL AND openalex_id IS NOT NULL";
    assert!(count(both) > 0);
    let (edges, pages) = (count("SELECT count(*) AS n FROM edges"), count("SELECT count(*) AS n FROM pages"));

    // The same question again finds everything kept and adds nothing.
    let again = bench.json(&["research", QUESTION, "--sources", "s2,openalex", "--json"]);
    assert_eq!(again["totals"]["pages"], report["totals"]["pages"]);
    assert_eq!(count("SELECT count(*) AS n FROM pages"), pages);
    let cites = "SELECT count(*) AS n FROM edges WHERE relation = 'cites'";
    assert!(
        count("SELECT count(*) AS n FROM edges") > edges && count(cites) > 0,
        "claims belong to their task"
    );
}

#[test]
fn pages_of_the_web_and_of_works_without_abstract_join_them() {
    let bench = Bench::new();
    let report = bench.json(&["research", QUESTION, "--sources", "s2,openalex,web", "--json"]);
    assert!(!report["warnings"].to_string().contains("did not answer"), "{}", report["warnings"]);
    let count = |sql| bench.count(sql);
    assert!(count("SELECT count(*) AS n FROM task_pages WHERE reason = 'serp'") > 3);
    let read = "SELECT count(*) AS n FROM pages WHERE fetch_method = 'http' AND work_id IS NOT NULL AND http_status = 200";
    assert_eq!(count(read), 1, "the work without an abstract");
    let judged = "SELECT count(*) AS n FROM edges JOIN fragments ON fragments.id = source_id JOIN pages ON pages.id = page_id
        WHERE relation IN ('supports', 'refutes', 'neutral') AND fetch_method = 'http'";
    assert!(count(judged) > 0);
    let categories =
        "SELECT count(*) AS n FROM pages WHERE domain = 'doi.org' AND domain_category <> 'academic'";
    assert_eq!(count(categories), 0);
    let pages = count("SELECT count(*) AS n FROM pages");
    bench.json(&["research", QUESTION, "--sources", "s2,openalex,web", "--json"]);
    assert_eq!(count("SELECT count(*) AS n FROM pages"), pages, "found again, kept once");
}

#[test]
fn sources_are_listed_tested_and_named() {
    let bench = Bench::new();
    let listed = bench.json(&["sources", "list", "--json"]);
    assert_eq!(listed[0]["name"], "semantic_scholar");
    assert_eq!(listed[1]["key"], false);
    let tests = bench.json(&["sources", "test", "--json"]);
    let answers = tests.as_array().expect("tests").iter().all(|test| test["answers"] == true);
    assert!(answers && tests[0]["milliseconds"].is_number(), "{tests}");

    let refused = bench.app.run(&["research", QUESTION, "--sources", "s2,nowhere"]);
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && words.contains("`nowhere`") && words.contains("openalex"),
        "{words}"
    );
}

#[test]
fn a_source_that_is_down_is_said_and_the_corpus_answers() {
    let app = TestApp::new();
    let file = app.data_dir().join("down.toml");
    // Nobody listens on the discard port of loopback.
    let config = "[sources.openalex]\nbase_url = \"http://127.0.0.1:9\"\nmin_interval_ms = 0\n";
    std::fs::write(&file, config).expect("configuration is written");
    let config = file.display().to_string();
    let report =
        app.json(&["--config", &config, "research", QUESTION, "--sources", "openalex,example", "--json"]);
    assert!(!report["claims"].as_array().expect("claims").is_empty());
    assert!(report["warnings"].to_string().contains("openalex"), "{}", report["warnings"]);
    let tested = app.run(&["--config", &config, "sources", "test", "openalex"]);
    assert!(!tested.status.success());
    assert!(String::from_utf8_lossy(&tested.stdout).contains("cannot be reached"), "{tested:?}");
}

//! Research over Semantic Scholar and OpenAlex, through the binary, against their stand-ins.

use lyra_tests::TestApp;
use lyra_tests::replay::Replay;
use lyra_tests::site::{Page, Site};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Output;

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
    // Both APIs know some of the works; each DOI is one work on one page, with the metadata of both.
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

    // Repeating the question finds everything stored and adds nothing.
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
    let read = "SELECT count(*) AS n FROM pages WHERE fetch_method = 'http' AND work_id IS NOT NULL AND http_status \
        = 200";
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
    // Nothing listens on the discard port of loopback.
    let config = "[sources.openalex]\nbase_url = \"http://127.0.0.1:9\"\nmin_interval_ms = 0\n";
    std::fs::write(&file, config).expect("configuration is written");
    let config = file.display().to_string();
    let report =
        app.json(&["--config", &config, "research", QUESTION, "--sources", "openalex,example", "--json"]);
    assert!(!report["claims"].as_array().expect("claims").is_empty());
    assert!(report["warnings"].to_string().contains("openalex"), "{}", report["warnings"]);
    let tested = app.run(&["--config", &config, "sources", "test", "openalex"]);
    assert!(!tested.status.success());
    assert!(String::from_utf8_lossy(&tested.stdout).contains("is unreachable"), "{tested:?}");
}

/// The address of a server that answers every request with these bytes.
fn answering(answer: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let head = BufReader::new(stream.try_clone().expect("a handle")).lines();
            head.map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

fn http(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}")
}

/// `lyra ARGS` with OpenAlex at this address.
fn with_openalex(app: &TestApp, address: &str, args: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = app.command(args);
    command
        .env("LYRA__SOURCES__OPENALEX__BASE_URL", address)
        .env("LYRA__SOURCES__OPENALEX__MIN_INTERVAL_MS", "0")
        .envs(environment.iter().copied());
    command.output().expect("lyra runs")
}

#[test]
fn a_question_whose_only_source_fails_ends_with_one_line() {
    let json = "Content-Type: application/json\r\n";
    for (answer, why) in [
        (http("500 Internal Server Error", json, "{}"), "500 Internal Server Error"),
        (http("429 Too Many Requests", "Retry-After: 3600\r\n", ""), "cooling down, retry in 3600 s"),
        (http("200 OK", json, "{\"results\": [{\"id\":"), "its JSON cannot be read"),
        (
            http("200 OK", "Content-Type: text/html\r\n", "<h1>Sign in"),
            "`text/html` instead of application/json",
        ),
    ] {
        let address = answering(answer);
        for command in [["research", QUESTION], ["check", "Naps improve memory."]] {
            let app = TestApp::new();
            let args = [&command[..], &["--sources", "openalex", "--quiet"]].concat();
            let ended = with_openalex(&app, &address, &args, &[]);
            let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
            assert_eq!((ended.status.code(), out.as_ref()), (Some(1), ""), "{err}");
            assert!(err.starts_with("error: no source answered: openalex: ") && err.contains(why), "{err}");
            assert_eq!(err.lines().count(), 1, "{err}");
        }
    }
    let app = TestApp::new();
    let address = answering(http("403 Forbidden", json, "{\"message\": \"no key\"}"));
    let args = ["research", QUESTION, "--sources", "openalex", "--quiet", "--json"];
    let ended = with_openalex(&app, &address, &args, &[]);
    let report: Value = serde_json::from_slice(&ended.stdout).expect("an object for programs");
    assert_eq!(ended.status.code(), Some(1));
    assert!(report["warnings"].to_string().contains("403: no key"), "{report}");
}

#[test]
fn sources_are_reached_through_a_proxy() {
    let body = "{\"meta\": {\"count\": 3}, \"results\": []}";
    let proxy = answering(http("200 OK", "Content-Type: application/json\r\n", body));
    let app = TestApp::new();
    let test = |environment: &[(&str, &str)]| -> Value {
        let args = ["sources", "test", "openalex", "--json"];
        let tested = with_openalex(&app, "http://papers.example.org", &args, environment);
        let tests: Value = serde_json::from_slice(&tested.stdout).expect("JSON");
        tests[0].clone()
    };
    for environment in [("HTTP_PROXY", proxy.as_str()), ("LYRA__SOURCES__PROXY", proxy.as_str())] {
        let tested = test(&[environment]);
        assert_eq!((&tested["answers"], &tested["matches"]), (&true.into(), &3.into()), "{tested}");
    }
    let off = test(&[("HTTP_PROXY", &proxy), ("LYRA__SOURCES__PROXY", "off")]);
    assert_eq!(off["answers"], false, "{off}");
    let wrong =
        app.command(&["sources", "list"]).env("LYRA__SOURCES__PROXY", "socks5://127.0.0.1:1").output();
    let words = String::from_utf8_lossy(&wrong.expect("lyra runs").stderr).into_owned();
    assert!(words.contains("sources.proxy") && words.contains("HTTP proxy"), "{words}");
}

/// An article whose sentences answer the question.
fn article(finding: &str) -> Page {
    let methods =
        "Forty healthy adults learned sixty pairs of words, and half of them napped for an hour. ".repeat(5);
    Page::html(format!(
        "<html lang=en><head><title>Naps and memory</title></head><body><article><h1>Naps and memory</h1>\
         <h2>Methods</h2><p>{methods}</p><h2>Results</h2><p>{finding} The difference was still there one week later, \
         and it was as large in older adults as it was in younger ones.</p></article></body></html>"
    ))
}

#[test]
fn an_instance_of_searxng_is_enough_to_search_the_web() {
    const KEY: &str = "hunter2-of-the-proxy";
    let site = Site::start(vec![
        article("A short daytime nap improved memory in adults."),
        article("A short daytime nap did not improve memory in adults."),
        article("A short nap during the day improves the memory of healthy adults."),
    ])
    .expect("a site");
    let hits: Value = (0..3)
        .map(
            |n| json!({"url": site.url(n), "title": "Naps", "content": "About naps.", "engines": ["mojeek"]}),
        )
        .collect();
    let found = json!({"query": QUESTION, "results": hits, "unresponsive_engines": []}).to_string();
    let works = answering(http("200 OK", "Content-Type: application/json\r\n", &found));
    let busy = answering(http("429 Too Many Requests", "Retry-After: 3600\r\n", "slow down"));
    let run = |app: &TestApp, instance: &str, args: &[&str]| {
        let file = app.data_dir().join("site.toml");
        let text = site.configuration(app.data_dir()).expect("configuration is written");
        std::fs::write(&file, text).expect("configuration is written");
        let args = [&["--config", file.to_str().expect("text")], args].concat();
        let mut command = app.command(&args);
        command
            .env("LYRA__SOURCES__WEB__ENGINES", "")
            .env("LYRA__SOURCES__WEB__BROWSER", "off")
            .env("LYRA__SOURCES__WEB__APIS__SEARXNG__BASE_URL", instance)
            .env("LYRA__SOURCES__WEB__APIS__SEARXNG__API_KEY", KEY)
            .env("LYRA__LOG__LEVEL", "debug");
        let ended = command.output().expect("lyra runs");
        let both = [&ended.stdout[..], &ended.stderr[..]].map(String::from_utf8_lossy).concat();
        assert!(!both.contains(KEY), "{both}");
        (String::from_utf8_lossy(&ended.stdout).into_owned(), ended.status.success(), both)
    };
    let read = "SELECT count(*) AS n FROM task_pages JOIN pages ON pages.id = page_id
        WHERE reason = 'serp' AND http_status = 200";
    let pages = |app: &TestApp| app.rows(read)[0]["n"].as_i64().expect("number");

    let app = TestApp::new();
    let research = ["research", QUESTION, "--sources", "web", "--quiet", "--json"];
    let (out, _, both) = run(&app, &works, &research);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{both}"));
    assert!(!report["claims"].as_array().expect("claims").is_empty(), "{report}");
    assert_eq!(pages(&app), 3, "{report}");
    assert!(!report["warnings"].to_string().contains("searxng"), "{report}");

    let (out, answered, both) = run(&app, &works, &["sources", "test", "searxng", "--json"]);
    let tests: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{both}"));
    assert!(answered && tests[0]["matches"] == 3 && tests[0]["kind"] == "web_api", "{tests}");
    let (out, ..) = run(&app, &works, &["sources", "list"]);
    assert!(
        out.contains(&works) && out.contains("not configured (set sources.web.apis.kagi.api_key)"),
        "{out}"
    );
    let (out, ..) = run(&app, &works, &["web", "search", "naps"]);
    assert!(out.starts_with("searxng: 3 results"), "{out}");
    let (out, ..) = run(&app, &works, &["doctor", "--json"]);
    assert!(out.contains("searxng (API); result pages if none answers"), "{out}");
    let (_, refused, both) = run(&app, &works, &["sources", "test", "kagi"]);
    assert!(!refused && both.contains("set sources.web.apis.kagi.api_key"), "{both}");

    // One that asks for a pause is said, and result pages are read instead.
    let app = TestApp::new();
    let (out, _, both) = run(&app, &busy, &research);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{both}"));
    assert_eq!(pages(&app), 3, "{report}");
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("searxng") && warnings.contains("cooling down, retry in 3"), "{warnings}");
}

#[test]
fn the_help_names_every_kind_of_source() {
    let help = TestApp::new().run(&["research", "--help"]);
    let words = String::from_utf8_lossy(&help.stdout).into_owned();
    for source in ["s2", "openalex", "web", "corpora"] {
        assert!(words.contains(source), "{source}: {words}");
    }
}

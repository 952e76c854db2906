//! Engines that require a person, through the binary: what waits, what continues, and what a person's visit adds.

use anyhow::ensure;
use lyra_tests::TestApp;
use lyra_tests::mcp_client::StdioClient;
use lyra_tests::walled::{COOKIE, Walled};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const QUESTION: &str = "Does a short daytime nap improve memory in adults?";

struct Bench {
    app: TestApp,
    config: String,
    walled: Walled,
}

impl Bench {
    fn new(engines: &[&str]) -> Self {
        let (app, walled) = (TestApp::new(), Walled::start().expect("stand-in starts"));
        let configuration = walled.configuration(app.data_dir(), engines).expect("rules are written");
        let file = app.data_dir().join("lyra.toml");
        std::fs::write(&file, configuration).expect("configuration is written");
        Self { config: file.display().to_string(), app, walled }
    }

    fn json(&self, args: &[&str]) -> Value {
        self.app.json(&[&["--config", &self.config], args].concat())
    }

    /// The command's stderr; it must succeed.
    #[track_caller]
    fn told(&self, args: &[&str]) -> String {
        let output = self.app.run(&[&["--config", &self.config], args].concat());
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {words}");
        words
    }

    /// The number `n` that a statement over the evidence graph gives.
    fn count(&self, sql: &str) -> i64 {
        self.app.rows(sql)[0]["n"].as_i64().expect("number")
    }

    /// Pages of the stand-in's site in the evidence graph.
    fn site_pages(&self) -> i64 {
        self.count("SELECT count(*) AS n FROM pages WHERE domain = '127.0.0.1'")
    }
}

#[test]
fn cookies_of_a_person_let_the_waiting_search_add_its_results() {
    let bench = Bench::new(&["walled"]);
    let report = bench.json(&["research", QUESTION, "--sources", "web,example", "--json"]);
    assert!(!report["claims"].as_array().expect("claims").is_empty(), "the corpus answers: {report}");
    let warnings = report["warnings"].to_string();
    assert!(
        warnings.contains("walled: requires human verification (captcha)")
            && warnings.contains("lyra auth list"),
        "{warnings}"
    );
    assert_eq!(bench.site_pages(), 0);

    let items = bench.json(&["auth", "list", "--json"]);
    assert_eq!(items.as_array().map(Vec::len), Some(1), "{items}");
    let item = &items[0];
    assert_eq!((&item["auth_type"], &item["priority"]), (&json!("captcha"), &json!("high")), "{item}");
    assert_eq!((&item["domain"], &item["task_id"]), (&json!("localhost"), &report["task_id"]));
    let (id, task) = (item["queue_id"].as_str().expect("id"), report["task_id"].as_str().expect("task"));

    let file = bench.app.data_dir().join("cookies.txt");
    let cookies = format!(
        "# Netscape HTTP Cookie \
         File\nlocalhost\tFALSE\t/\tFALSE\t0\t{}\t{}\n.elsewhere.example\tTRUE\t/\tFALSE\t0\tother\tx\n",
        COOKIE.0, COOKIE.1
    );
    std::fs::write(&file, cookies).expect("cookies are written");
    let told = bench.told(&["auth", "resolve", id, "--cookies", &file.display().to_string()]);
    assert!(told.contains("1 cookies of localhost kept") && told.contains("lyra task resume"), "{told}");
    assert_eq!(bench.json(&["auth", "list", "--json"]), json!([]));

    let after = bench.json(&["task", "resume", task, "--json"]);
    assert!(after["totals"]["pages"].as_u64() > report["totals"]["pages"].as_u64(), "{after}");
    let http = "SELECT count(*) AS n FROM pages WHERE url LIKE '%/naps' AND fetch_method = 'http'";
    assert_eq!(bench.count(http), 1);
    // Without a browser the JavaScript-rendered page is reported, and everything else continues.
    let browser = "SELECT count(*) AS n FROM pages WHERE url LIKE '%/app' AND fetch_method = 'browser'";
    let warned = after["warnings"].to_string();
    assert!(bench.count(browser) == 1 || warned.contains("no browser available"), "{warned}");
    // The cookie went to its own host and nowhere else.
    for (path, cookies) in bench.walled.seen() {
        assert!(path == "/walled" || cookies.is_empty(), "{path} got {cookies}");
    }
    assert!(bench.walled.seen().iter().any(|(_, cookies)| cookies == &format!("{}={}", COOKIE.0, COOKIE.1)));

    // The next task needs no person.
    let next = bench.json(&["research", "Do naps help older adults?", "--sources", "web", "--json"]);
    assert!(next["totals"]["pages"].as_u64() > Some(0), "{next}");
    bench.told(&["auth", "forget", "localhost"]);
    let again = bench.json(&["research", "Do naps help students?", "--sources", "web", "--json"]);
    // There is only the claim behind the question.
    let types: Vec<&Value> =
        again["claims"].as_array().expect("claims").iter().map(|c| &c["claim_type"]).collect();
    assert_eq!((&again["totals"]["pages"], types), (&json!(0), vec![&json!("question")]), "{again}");
}

#[test]
fn with_a_captcha_on_every_engine_the_task_ends_with_what_the_others_gave() {
    let bench = Bench::new(&["walled", "barred"]);
    let report = bench.json(&["research", QUESTION, "--sources", "web,example", "--json"]);
    assert!(!report["claims"].as_array().expect("claims").is_empty());
    assert!(report["warnings"].to_string().contains("2 engines or pages wait"), "{}", report["warnings"]);
    let task = report["task_id"].as_str().expect("task");
    assert_eq!(bench.count("SELECT count(*) AS n FROM jobs WHERE state = 'awaiting_auth'"), 2);
    assert_eq!(bench.count("SELECT count(*) AS n FROM tasks WHERE status = 'completed'"), 1);
    let told = bench.told(&["auth", "skip", "--task", task]);
    assert!(told.contains("2 skipped"), "{told}");
    assert_eq!(bench.count("SELECT count(*) AS n FROM jobs WHERE state = 'cancelled'"), 2);
    let after = bench.json(&["task", "resume", task, "--json"]);
    assert_eq!(after["totals"], report["totals"]);

    let refused = bench.app.run(&["--config", &bench.config, "auth", "skip", "auth_0"]);
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && words.contains("does not exist"), "{words}");
}

/// A display in memory; stopped when dropped.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    /// `None`, with a message that the test is skipped, without Xvfb.
    #[expect(clippy::print_stdout, reason = "says why a test skips")]
    fn start() -> Option<Self> {
        let started = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut server = started.inspect_err(|error| println!("skipped: Xvfb: {error}")).ok()?;
        let mut number = String::new();
        BufReader::new(server.stdout.take()?).read_line(&mut number).ok()?;
        Some(Self { server, name: format!(":{}", number.trim()) })
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_person_in_a_browser_window_settles_everything_of_the_domain() {
    let bench = Bench::new(&["walled", "barred"]);
    let report = bench.json(&["research", QUESTION, "--sources", "web", "--json"]);
    let items = bench.json(&["auth", "list", "--json"]);
    let id = items[0]["queue_id"].as_str().expect("id");
    let open = |display: Option<&str>| {
        let mut command = bench.app.command(&["--config", &bench.config, "auth", "open", id]);
        command
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(display) = display {
            command.env("DISPLAY", display);
        }
        command.spawn().expect("lyra starts")
    };
    let blind = open(None).wait_with_output().expect("lyra ends");
    let words = String::from_utf8_lossy(&blind.stderr).into_owned();
    assert!(!blind.status.success(), "{words}");
    assert!(words.contains("no display available") || words.contains("no browser available"), "{words}");
    assert!(words.contains("lyra auth resolve ID --cookies FILE"), "{words}");
    if words.contains("no browser available") {
        println!("skipped: {words}");
        return;
    }
    let Some(display) = Display::start() else { return };
    let mut opened = open(Some(&display.name));
    // The page sets its cookie and then asks for this, as one does that has been answered.
    while bench.walled.seen().iter().all(|(path, _)| path != "/visited") {
        assert!(opened.try_wait().expect("a child").is_none(), "lyra ended before the page was seen");
        std::thread::sleep(Duration::from_millis(50));
    }
    opened.stdin.take().expect("stdin").write_all(b"\n").expect("Enter is pressed");
    let done = opened.wait_with_output().expect("lyra ends");
    let words = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && words.contains("1 cookies of localhost kept"), "{words}");
    assert!(words.contains("2 resolved"), "{words}");
    let after = bench.json(&["task", "resume", report["task_id"].as_str().expect("task"), "--json"]);
    assert!(after["totals"]["pages"].as_u64() > Some(0), "{after}");
}

#[tokio::test]
async fn a_server_killed_in_between_loses_nothing() -> anyhow::Result<()> {
    let bench = tokio::task::spawn_blocking(|| Bench::new(&["walled", "barred"])).await?;
    let start = async || StdioClient::start_with(&bench.app, &["--config", &bench.config]).await;
    let mut lyra = start().await?;
    let made = json!({"query": QUESTION, "config": {"sources": ["web"]}});
    let task = lyra.call("create_task", made).await?["task_id"].clone();
    lyra.call("queue_searches", json!({"task_id": task, "queries": ["naps and memory"]})).await?;
    let status = finished(&mut lyra, &task).await?;
    assert_eq!(status["pending_auth_count"], 2, "{status}");
    assert_eq!(status["waiting_for"], json!(["auth"]));
    drop(lyra);

    let mut lyra = start().await?;
    let queue = lyra.call("get_auth_queue", json!({"task_id": task})).await?;
    assert_eq!(
        (&queue["total_count"], &queue["items"][0]["domain"]),
        (&json!(2), &json!("localhost")),
        "{queue}"
    );
    assert_eq!(queue["items"][0]["queue_id"], status["pending_auth"][0]["queue_id"]);
    let groups = lyra.call("get_auth_queue", json!({"group_by": "domain"})).await?;
    assert_eq!(groups["groups"], json!([{"key": "localhost", "count": 2, "high_priority_count": 2}]));
    let wrong = lyra.call("resolve_auth", json!({"target": "item", "action": "complete"})).await?;
    assert_eq!(wrong["error_code"], "invalid_argument", "{wrong}");
    bench.walled.open();
    let item = &queue["items"][0]["queue_id"];
    let one = json!({"target": "item", "queue_id": item, "action": "complete"});
    let resolved = lyra.call("resolve_auth", one.clone()).await?;
    assert_eq!(
        (&resolved["resolved_count"], &resolved["requeued_count"]),
        (&json!(1), &json!(1)),
        "{resolved}"
    );
    // Killed before its search was done, or while it is.
    drop(lyra);

    let mut lyra = start().await?;
    let twice = lyra.call("resolve_auth", one).await?;
    assert!(twice["error"].to_string().contains("already completed"), "{twice}");
    let failed = json!({"target": "domain", "domain": "localhost", "action": "complete", "success": false});
    let left = lyra.call("resolve_auth", failed).await?;
    assert_eq!((&left["resolved_count"], &left["requeued_count"]), (&json!(1), &json!(0)), "{left}");
    let status = finished(&mut lyra, &task).await?;
    assert_eq!(status["pending_auth_count"], 0, "{status}");
    ensure!(status["metrics"]["pages"].as_u64() > Some(0), "the waiting search added nothing: {status}");
    let secrets = lyra.call("query_graph", json!({"sql": "SELECT session FROM auth_queue"})).await?;
    assert_eq!(secrets["error_code"], "sql_refused", "{secrets}");
    Ok(())
}

#[tokio::test]
async fn a_search_may_name_the_engines_that_it_asks() -> anyhow::Result<()> {
    let bench = tokio::task::spawn_blocking(|| Bench::new(&["walled", "barred"])).await?;
    let mut lyra = StdioClient::start_with(&bench.app, &["--config", &bench.config]).await?;
    let made = json!({"query": QUESTION, "config": {"sources": ["web", "example"]}});
    let task = lyra.call("create_task", made).await?["task_id"].clone();
    let ask = |engines: Value| json!({"task_id": task, "queries": ["naps"], "options": {"engines": engines}});
    let unknown = lyra.call("queue_searches", ask(json!(["google"]))).await?;
    assert_eq!(unknown["error_code"], "invalid_argument", "{unknown}");
    assert!(unknown.to_string().contains("`google` is not a web search engine"), "{unknown}");
    assert!(unknown.to_string().contains("the engines are: barred, walled"), "{unknown}");
    lyra.call("queue_searches", ask(json!(["barred"]))).await?;
    finished(&mut lyra, &task).await?;
    let seen = bench.walled.seen();
    assert!(seen.iter().any(|(path, _)| path == "/barred"), "{seen:?}");
    assert!(seen.iter().all(|(path, _)| path != "/walled"), "{seen:?}");
    let sql = "SELECT engines FROM queries WHERE query_text = 'naps'";
    let rows = lyra.call("query_graph", json!({"sql": sql})).await?;
    assert!(rows.to_string().contains("web:barred"), "{rows}");

    let alone = json!({"query": QUESTION, "config": {"sources": ["example"]}});
    let task = lyra.call("create_task", alone).await?["task_id"].clone();
    let queries = json!({"task_id": task, "queries": ["naps"], "options": {"engines": ["walled"]}});
    let refused = lyra.call("queue_searches", queries).await?;
    assert!(refused.to_string().contains("does not search the web"), "{refused}");
    Ok(())
}

/// Waits until nothing of the task is queued or running.
async fn finished(lyra: &mut StdioClient, task: &Value) -> anyhow::Result<Value> {
    loop {
        let status = lyra.call("get_status", json!({"task_id": task, "wait": 20})).await?;
        if status["status"] == "completed" {
            return Ok(status);
        }
        ensure!(status["status"] == "exploring", "{status}");
    }
}

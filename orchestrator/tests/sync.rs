//! Corpora that follow their files, with the real binary: watches, embeddings that come later, and metadata from
//! sources, through kills and interruptions.
#![expect(clippy::unwrap_used, reason = "a test")]
#![cfg(unix)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long anything may take that a test waits for.
const PATIENCE: Duration = Duration::from_mins(2);

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn folder(&self) -> PathBuf {
        let folder = self.0.path().join("papers");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lyra"));
        let data = self.0.path().join("data");
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
            .env("LYRA_DATA_DIR", data)
            .env("XDG_CONFIG_HOME", self.0.path())
            .env("LYRA__ML__PROFILE", "fast");
        command.env_remove("LYRA_ML_URL").env_remove("LYRA_CONFIG");
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Starts `lyra ARGS`, whose lines are collected.
    fn start(&self, args: &[&str]) -> Running {
        let mut child = self.command(args).spawn().unwrap();
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let streams: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for stream in streams {
            let lines = lines.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    lines.lock().unwrap().push(line);
                }
            });
        }
        Running { child, lines }
    }
}

struct Running {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Running {
    /// The first line that holds all of these words, once there is one.
    fn says(&self, words: &[&str]) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let lines = self.lines.lock().unwrap().clone();
            if let Some(line) = lines.iter().find(|line| words.iter().all(|word| line.contains(word))) {
                return line.clone();
            }
            assert!(Instant::now() < until, "nothing says {words:?}: {lines:#?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn signal(mut self, signal: &str) -> std::process::ExitStatus {
        Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn page(title: &str) -> String {
    format!(
        "<!DOCTYPE html><html><head><title>{title}</title><meta name='citation_title' content='{title}'></head>\
         <body><article><h1>{title}</h1><p>Ann Lee and her colleagues asked why that is so, and watched four hundred \
         adults over ten years.</p><h2>Results</h2><p>Researchers do not know yet whether that is due to the heat or \
         to the length of their nights, which are shorter in summer than in winter.</p></article></body></html>"
    )
}

fn write(folder: &Path, name: &str, content: &str) {
    std::fs::write(folder.join(name), content).unwrap();
}

fn lines(count: usize) -> String {
    let line = |n: usize| {
        format!("{{\"id\":\"{n}\",\"title\":\"Trial {n}\",\"abstract\":\"Naps improve memory by {n}.\"}}\n")
    };
    (0..count).map(line).collect()
}

fn watched(home: &Home, more: &[&str]) -> Running {
    let folder = home.folder().display().to_string();
    home.start(
        &[&["corpus", "import", "c", &folder, "--watch", "--embed", "later", "--offline"], more].concat(),
    )
}

#[test]
fn a_watch_follows_a_folder_through_a_kill() {
    let home = Home::new();
    let folder = home.folder();
    write(&folder, "noon.html", &page("Why people in warm countries sleep at noon"));
    write(&folder, "broken.pdf", "%PDF-1.7 and no more");
    let watch = watched(&home, &[]);
    watch.says(&["new", "noon.html", "why-people-in-warm-countries"]);
    watch.says(&["rejected", "broken.pdf", "damaged"]);
    watch.says(&["c: 1 document; 1 added"]);
    // Others use the corpus meanwhile.
    let found = home.json(&["corpus", "search", "c", "warm countries", "--method", "bm25", "--json"]);
    assert_eq!(found.as_array().unwrap().len(), 1);

    // A file that grows is read when it is whole.
    let whole = page("Why people in cold countries drink tea in the morning");
    let mut file = std::fs::File::create(folder.join("tea.html")).unwrap();
    for piece in whole.as_bytes().chunks(whole.len().div_ceil(4)) {
        file.write_all(piece).unwrap();
        file.flush().unwrap();
        std::thread::sleep(Duration::from_millis(400));
    }
    drop(file);
    watch.says(&["new", "tea.html", "why-people-in-cold-countries"]);
    assert!(!watch.lines.lock().unwrap().iter().any(|line| line.contains("changed ")));
    write(&folder, "tea.html", &whole.replace("ten years", "eleven years"));
    watch.says(&["changed", "tea.html"]);

    // Killed while it takes something up; the next watch does the rest.
    write(&folder, "many.jsonl", &lines(3_000));
    watch.signal("-KILL");
    std::fs::remove_file(folder.join("noon.html")).unwrap();
    let watch = watched(&home, &["--prune", "--poll", "1"]);
    watch.says(&["looking at", "every 1 s"]);
    watch.says(&["gone", "noon.html"]);
    watch.says(&["c: 3001 documents"]);
    let shown = home.json(&["corpus", "show", "c", "--json"]);
    assert_eq!((&shown["documents"], &shown["embedded"]), (&json!(3_001), &json!(0)));
    // The folder goes away and comes back: nothing is lost.
    let away = home.0.path().join("away");
    std::fs::rename(&folder, &away).unwrap();
    watch.says(&["error:", "papers"]);
    std::fs::rename(&away, &folder).unwrap();
    write(&folder, "more.html", &page("Why swimmers in the north sea do not feel the cold"));
    watch.says(&["new", "more.html"]);
    watch.says(&["c: 3002 documents"]);
    assert!(watch.signal("-TERM").success());
    let report =
        home.json(&["corpus", "import", "c", &folder.display().to_string(), "--embed", "later", "--json"]);
    assert_eq!(
        (&report["added"], &report["files"]["new"], &report["files"]["unchanged"]),
        (&json!(0), &json!(0), &json!(4))
    );
}

#[test]
fn embeddings_come_later_and_survive_a_kill() {
    let home = Home::new();
    let folder = home.folder();
    write(&folder, "many.jsonl", &lines(1_500));
    let path = folder.display().to_string();
    let imported = home.run(&["corpus", "import", "c", &path, "--embed", "later"]);
    let said = String::from_utf8_lossy(&imported.stdout).into_owned();
    assert!(said.contains("1500 added") && said.contains("1500 documents still to be embedded"), "{said}");
    let search =
        |method: &str| home.run(&["corpus", "search", "c", "naps improve memory", "--method", method]);
    let hybrid = search("hybrid");
    assert!(hybrid.status.success() && !hybrid.stdout.is_empty());
    assert!(String::from_utf8_lossy(&hybrid.stderr).contains("none of its 1500 documents is embedded yet"));
    assert!(!search("dense").status.success());

    let embedding = home.start(&["corpus", "embed"]);
    embedding.says(&["c: embedded 256 of 1500"]);
    embedding.signal("-KILL");
    let listed = String::from_utf8(home.run(&["corpus", "list"]).stdout).unwrap();
    assert!(listed.contains("of 1500 embedded"), "{listed}");
    let before = home.json(&["corpus", "show", "c", "--json"])["embedded"].as_u64().unwrap();
    assert!((256..1_500).contains(&before), "{before}");
    let dense = search("dense");
    assert!(String::from_utf8_lossy(&dense.stderr).contains("documents are embedded so far"), "{dense:?}");

    // A server takes the rest, while another import gets its turn.
    let server = home.start(&["serve", "--port", "0"]);
    server.says(&["MCP at"]);
    write(&folder, "more.html", &page("Why people in warm countries sleep at noon"));
    let report = home.json(&["corpus", "import", "c", &path, "--embed", "later", "--offline", "--json"]);
    assert_eq!(report["added"], 1);
    let until = Instant::now() + PATIENCE;
    while home.json(&["corpus", "show", "c", "--json"])["pending"] != json!([]) {
        assert!(Instant::now() < until, "{}", home.json(&["corpus", "show", "c", "--json"]));
        std::thread::sleep(Duration::from_millis(500));
    }
    let shown = home.json(&["corpus", "show", "c", "--json"]);
    assert_eq!((&shown["documents"], &shown["embedded"]), (&json!(1_501), &json!(1_501)));
    assert!(server.signal("-TERM").success());
    let dense = search("dense");
    assert!(dense.status.success() && !String::from_utf8_lossy(&dense.stderr).contains("note:"), "{dense:?}");
    assert!(String::from_utf8_lossy(&home.run(&["corpus", "embed"]).stdout).contains("no corpus has"));
}

/// A stand-in of `OpenAlex` that knows one work; the requests that it got.
fn openalex() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = requests.clone();
    std::thread::spawn(move || {
        let authors: Vec<Value> =
            ["Ann Lee", "Bo Ek"].map(|name| json!({"author": {"display_name": name}})).into();
        let work = json!({
            "id": "https://openalex.org/W77", "doi": "https://doi.org/10.1000/noon",
            "title": "Why People in Warm Countries Sleep at Noon",
            "display_name": "Why People in Warm Countries Sleep at Noon", "ids": {"openalex": "https://openalex.org/W77"},
            "publication_year": 2019, "publication_date": "2019-02-01", "authorships": authors,
            "primary_location": {"source": {"display_name": "Journal of Naps"}},
            "cited_by_count": 3, "referenced_works_count": 0, "referenced_works": [], "is_retracted": false,
        });
        let body =
            json!({"meta": {"count": 1, "per_page": 5, "next_cursor": null}, "results": [work]}).to_string();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let head = BufReader::new(stream.try_clone().unwrap()).lines();
            let head: Vec<String> = head.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            heard.lock().unwrap().extend(head.into_iter().next());
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (address, requests)
}

#[test]
fn metadata_comes_from_sources_and_says_so() {
    let home = Home::new();
    let folder = home.folder();
    write(&folder, "noon.html", &page("Why people in warm countries sleep at noon"));
    write(&folder, "tea.html", &page("Why people in cold countries drink tea in the morning"));
    let path = folder.display().to_string();
    let (address, requests) = openalex();
    let config = home.0.path().join("sources.toml");
    std::fs::write(
        &config,
        format!(
            "[sources]\ndefault = [\"corpora\", \"openalex\"]\n[sources.openalex]\nbase_url = \"{address}\"\nmin_interval_ms = 0\n\
             [sources.semantic_scholar]\nbase_url = \"http://127.0.0.1:9\"\nmin_interval_ms = 0\n"
        ),
    )
    .unwrap();
    let config = config.display().to_string();
    let import = |more: &[&str]| {
        let all = ["--config", &config, "corpus", "import", "c", &path, "--embed", "later", "--json"];
        home.json(&[&all[..], more].concat())
    };
    let offline = import(&["--offline"]);
    assert_eq!((&offline["added"], &offline["completed"]["by_source"]), (&json!(2), &json!({})));
    assert!(requests.lock().unwrap().is_empty(), "nothing is asked");

    // One source fails, which costs nothing but its own answers: what the other does not know is asked about again.
    let first = import(&["--complete", "s2,openalex"]);
    assert_eq!(first["completed"]["by_source"], json!({"openalex": 1}), "{first}");
    assert_eq!((&first["completed"]["left"], &first["unchanged"]), (&json!(1), &json!(2)));
    assert!(first["completed"]["failed"]["semantic_scholar"].is_string(), "{first}");
    let second = import(&[]);
    assert_eq!(
        (&second["completed"]["unknown"], &second["completed"]["left"]),
        (&json!(1), &json!(0)),
        "{second}"
    );
    let asked = requests.lock().unwrap().len();
    assert_eq!(import(&[])["completed"], json!({"by_source": {}, "unknown": 0, "left": 0, "failed": {}}));
    assert_eq!(requests.lock().unwrap().len(), asked, "asked once");

    let noon = "why-people-in-warm-countries-sleep-at-noon";
    let shown = home.json(&["corpus", "show", "c", noon, "--json"]);
    assert_eq!((&shown["doi"], &shown["year"]), (&json!("10.1000/noon"), &json!(2019)), "{shown}");
    assert_eq!(shown["authors"], json!(["Ann Lee", "Bo Ek"]));
    assert_eq!(shown["title"], "Why people in warm countries sleep at noon", "what the file says stays");
    assert_eq!(shown["completed"][0], json!({"field": "doi", "source": "openalex"}));
    // What was completed stays when the file is read again.
    write(
        &folder,
        "noon.html",
        &page("Why people in warm countries sleep at noon").replace("ten years", "nine years"),
    );
    assert_eq!(import(&[])["updated"], 1);
    assert_eq!(home.json(&["corpus", "show", "c", noon, "--json"])["completed"], shown["completed"]);
    let text = String::from_utf8(home.run(&["corpus", "show", "c", noon]).stdout).unwrap();
    assert!(text.contains("doi (openalex)"), "{text}");
}

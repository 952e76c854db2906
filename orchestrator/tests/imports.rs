//! Imports whose files are read by real worker processes: what they give is what a reader in this process gives,
//! whatever happens to the workers.
#![expect(clippy::unwrap_used, reason = "a test")]

use flate2::Compression;
use flate2::write::GzEncoder;
use lyra_corpus::{ImportOptions, ImportReport, Method};
use lyra_usecases::config::Config;
use lyra_usecases::{App, AppError};
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Held by each test: one of them kills whatever worker it finds.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// An application whose imports are read by this program; in this process without one.
async fn app(folder: &Path, program: Option<&str>) -> App {
    let worker_program = program.map(PathBuf::from);
    lyra::compose::open(Config { data_dir: Some(folder.to_owned()), worker_program, ..Config::default() })
        .await
        .unwrap()
}

const LYRA: &str = env!("CARGO_BIN_EXE_lyra");

async fn import(app: &App, name: &str, files: &[PathBuf]) -> Result<ImportReport, AppError> {
    let options = ImportOptions { scopes: Some(Vec::new()), ..ImportOptions::default() };
    app.import_corpus(name, files, &options, &|_| {}, &CancellationToken::new()).await
}

/// Ids and scores of what some queries find, and how many documents there are.
async fn searched(app: &App, name: &str) -> (u64, Vec<(String, i64)>) {
    let mut found = Vec::new();
    for query in ["naps improve memory", "trial 17", "blood pressure"] {
        let hits = app.search_corpus(name, query, Method::Bm25, 50).await.unwrap().hits;
        found.extend(hits.into_iter().map(|hit| (hit.document.doc_id, (hit.score * 1e4).round() as i64)));
    }
    (app.show_corpus(name).await.unwrap().documents, found)
}

/// Lines of JSON from one number to another, each tenth of them none.
fn lines(from: usize, to: usize) -> String {
    (from..to).fold(String::new(), |mut lines, n| {
        if n % 10 == 9 {
            lines.push_str("{\"id\": oops}\n");
        } else {
            let text = format!(
                "In trial {n} short naps improve memory and lower blood pressure by {} mmHg. ",
                n % 30
            );
            let _ = writeln!(
                lines,
                "{{\"id\":\"{n}\",\"title\":\"Trial {n}\",\"abstract\":\"{}\"}}",
                text.repeat(6)
            );
        }
        lines
    })
}

fn packed(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn written(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// Files of several kinds, one of them in a folder of its own.
fn files(folder: &Path) -> Vec<PathBuf> {
    let inside = folder.join("folder");
    std::fs::create_dir(&inside).unwrap();
    written(&inside, "more.ndjson", lines(400, 500));
    written(&inside, "cover.png", b"\x89PNG\r\n\x1A\n");
    vec![
        written(folder, "a.jsonl", lines(0, 300)),
        written(folder, "b.jsonl.gz", packed(lines(300, 400).as_bytes())),
        written(folder, "c.csv", "id,title,abstract\nx1,Naps,They improve memory.\nx2,\n"),
        inside,
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_read_what_this_process_reads() {
    let _alone = ALONE.lock().await;
    let home = tempfile::tempdir().unwrap();
    let (there, here) =
        (app(&home.path().join("there"), Some(LYRA)).await, app(&home.path().join("here"), None).await);
    let nowhere = app(&home.path().join("nowhere"), Some("/nowhere/lyra")).await;
    let files = files(home.path());
    let report = import(&there, "c", &files).await.unwrap();
    assert_eq!((report.added, report.rejected_count), (451, 52), "{report:?}");
    for app in [&here, &nowhere] {
        assert_eq!(import(app, "c", &files).await.unwrap(), report);
        assert_eq!(searched(app, "c").await, searched(&there, "c").await);
    }
    let again = import(&there, "c", &files).await.unwrap();
    assert_eq!((again.added, again.unchanged), (0, 451));
    // What is refused is refused in the same words.
    for (name, content) in [
        ("a.db", &b"SQLite format 3\0"[..]),
        ("b.zip", b"PK\x03\x04 and no more"),
        ("c.jsonl.gz", &packed(b"{}")[..12]),
    ] {
        let file = [written(home.path(), name, content)];
        let refused = import(&there, "d", &file).await.unwrap_err();
        assert_eq!(refused, import(&here, "d", &file).await.unwrap_err());
        assert!(refused.message.contains(name), "{}", refused.message);
        assert!(!there.data_dir().join("corpora/d").exists());
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_takes_all_memory_ends_its_worker_and_not_this_process() {
    let _alone = ALONE.lock().await;
    let home = tempfile::tempdir().unwrap();
    let app = app(&home.path().join("data"), Some(LYRA)).await;
    // Ten million elements, of which each takes a hundred bytes.
    let bomb = format!("<?xml version=\"1.0\"?>\n<us-patent-grant>{}\n", "<a/>".repeat(10_000_000));
    let bomb = written(home.path(), "bomb.xml.gz", packed(bomb.as_bytes()));
    let good = written(home.path(), "good.jsonl", lines(0, 9));
    let error = import(&app, "c", &[good.clone(), bomb.clone()]).await.unwrap_err();
    assert!(
        error.message.contains("bomb.xml.gz: reading it takes more than 512 MB of memory"),
        "{}",
        error.message
    );
    assert_eq!(workers(), Vec::<u32>::new());
    // What was committed before it is kept; of a new corpus without anything, nothing.
    assert!(!app.data_dir().join("corpora/c").exists());
    assert_eq!(import(&app, "c", std::slice::from_ref(&good)).await.unwrap().added, 9);
    import(&app, "c", &[bomb]).await.unwrap_err();
    assert_eq!(app.show_corpus("c").await.unwrap().documents, 9);
}

/// `LYRA_ATTACK_KILLS=200` kills so many workers.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn workers_killed_at_random_change_nothing() {
    let _alone = ALONE.lock().await;
    let kills: usize = std::env::var("LYRA_ATTACK_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let home = tempfile::tempdir().unwrap();
    let app = Arc::new(app(&home.path().join("data"), Some(LYRA)).await);
    let files = vec![
        written(home.path(), "a.jsonl", lines(0, 6_000)),
        written(home.path(), "b.jsonl.gz", packed(lines(6_000, 9_000).as_bytes())),
    ];
    let undisturbed = import(&app, "undisturbed", &files).await.unwrap();
    let expected = searched(&app, "undisturbed").await;
    let (mut rng, mut killed, mut imports, mut failed) = (fastrand::Rng::with_seed(7), 0, 0, 0);
    while killed < kills {
        imports += 1;
        let name = format!("c{imports}");
        let importing = {
            let (app, name, files) = (app.clone(), name.clone(), files.clone());
            tokio::spawn(async move { import(&app, &name, &files).await })
        };
        // Now and then so fast that one record meets two of them.
        let pause = if imports % 3 == 0 { 10 } else { 150 };
        while !importing.is_finished() {
            tokio::time::sleep(std::time::Duration::from_millis(rng.u64(..pause))).await;
            killed += workers().into_iter().filter(|worker| kill(*worker)).count();
        }
        match importing.await.unwrap() {
            Ok(report) => assert_eq!(report, undisturbed, "after {killed} kills"),
            Err(error) => {
                assert!(error.message.contains("failed inside a parser, twice"), "{}", error.message);
                failed += 1;
                // Repeating it does the rest.
                import(&app, &name, &files).await.unwrap();
            }
        }
        assert_eq!(searched(&app, &name).await, expected, "after {killed} kills");
        app.remove_corpus(&name).await.unwrap();
    }
    println!("{killed} workers killed in {imports} imports, {failed} of which failed and were repeated");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_worker_has_no_file_and_ends_with_its_import() {
    let _alone = ALONE.lock().await;
    // Files inherited from the process that started this test.
    let left_open = open("self");
    let home = tempfile::tempdir().unwrap();
    let app = Arc::new(app(&home.path().join("data"), Some(LYRA)).await);
    let files = vec![written(home.path(), "a.jsonl", lines(0, 20_000))];
    let cancel = CancellationToken::new();
    let importing = {
        let (app, cancel) = (app.clone(), cancel.clone());
        let options = ImportOptions { scopes: Some(Vec::new()), ..ImportOptions::default() };
        tokio::spawn(async move { app.import_corpus("c", &files, &options, &|_| {}, &cancel).await })
    };
    // While it starts, it has its limits in hand.
    let worker = loop {
        let mut seen = Vec::new();
        if let [worker] = workers()[..] {
            seen = open(&worker.to_string());
            seen.retain(|file| !left_open.contains(file));
            let pipes = seen.iter().all(|file| file.to_string_lossy().starts_with("pipe:"));
            if pipes && seen.len() == 3 && status(worker, "NoNewPrivs").is_some_and(|value| value == "1") {
                break worker;
            }
        }
        assert!(!importing.is_finished(), "no worker with three pipes alone was seen: {seen:?}");
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    };
    assert_eq!(std::fs::read(format!("/proc/{worker}/environ")).unwrap(), b"");
    cancel.cancel();
    assert!(importing.await.unwrap().unwrap().cancelled);
    while !workers().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// What the descriptors of a process lead to.
#[cfg(target_os = "linux")]
fn open(pid: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten();
    entries.filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok()).collect()
}

/// A line of a process's status.
#[cfg(target_os = "linux")]
fn status(pid: u32, name: &str) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim_start_matches(':').trim().to_owned())
}

/// Workers for imports that this process started.
#[cfg(target_os = "linux")]
fn workers() -> Vec<u32> {
    let of = |pid: u32| {
        let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let child = status(pid, "PPid")? == std::process::id().to_string();
        (child && arguments.ends_with(b"__worker\0import\0")).then_some(pid)
    };
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| of(entry.ok()?.file_name().to_str()?.parse().ok()?)).collect()
}

#[cfg(target_os = "linux")]
fn kill(pid: u32) -> bool {
    std::process::Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .stderr(std::process::Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

//! The backend on real clusters, which `tests/opensearch/run.sh` starts and names in the environment.

mod agreement;
mod faults;
mod imports;
mod secured;

use crate::support::{Bench, Hashing};
use lyra_corpus::backend::BackendKind;
use lyra_corpus::{Cluster, Corpora, EmbeddedBackend, ImportOptions, ImportReport, OpenSearchConfig, Result};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The versions there are clusters of.
const VERSIONS: [u32; 2] = [2, 3];

/// The addresses of a cluster of a version, or `None` with a printed reason.
fn addresses(version: u32) -> Option<Vec<String>> {
    let name = format!("LYRA_OPENSEARCH_{version}");
    let Ok(urls) = std::env::var(&name) else {
        eprintln!("skipped: {name} names no cluster; tests/opensearch/run.sh starts one");
        return None;
    };
    Some(urls.split_whitespace().map(str::to_owned).collect())
}

/// Settings of a test, with names of indices of its own.
fn config(urls: &[String]) -> OpenSearchConfig {
    let prefix = format!("t{:08x}-", fastrand::u32(..));
    OpenSearchConfig { prefix, timeout: Duration::from_secs(20), ..crate::remote::opensearch::config(urls) }
}

fn bench(config: OpenSearchConfig) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::new(config).unwrap();
    let corpora = Corpora::open(folder.path()).with_batches(64, 256).with_cluster(cluster);
    Bench { folder, corpora }
}

fn backend(bench: &Bench) -> EmbeddedBackend {
    EmbeddedBackend::new(bench.corpora.clone(), Arc::new(Hashing::default()))
}

fn on_cluster() -> ImportOptions {
    ImportOptions { backend: Some(BackendKind::OpenSearch), ..ImportOptions::default() }
}

fn without_vectors() -> ImportOptions {
    ImportOptions { scopes: Some(Vec::new()), ..on_cluster() }
}

async fn import(
    bench: &Bench,
    file: PathBuf,
    options: &ImportOptions,
    model: &Hashing,
) -> Result<ImportReport> {
    let cancel = CancellationToken::new();
    bench.corpora.import_with("c", &[file], options, model, &|_| {}, &cancel).await
}

/// The manifest of the corpus.
fn manifest(bench: &Bench) -> Value {
    let text = std::fs::read(bench.folder.path().join("corpora/c/corpus.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn index(bench: &Bench) -> String {
    manifest(bench)["opensearch"]["index"].as_str().unwrap().to_owned()
}

/// Asks a cluster as its operator does.
async fn operate(url: &str, method: &str, path: &str, body: Option<Value>) -> Value {
    let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
    let mut request = lyra_tls::client().build().unwrap().request(method, format!("{url}/{path}"));
    if let Some(body) = body {
        request = request.json(&body);
    }
    request.send().await.unwrap().json().await.unwrap_or_default()
}

/// A node of the cluster of a version: `kill`, `start`, `stop`, `go`.
fn node(version: u32, action: &str, nth: usize) {
    let script = std::env::var("LYRA_OPENSEARCH_SCRIPT").unwrap();
    let folder = std::env::var(format!("LYRA_OPENSEARCH_{version}_FOLDER")).unwrap();
    let done = std::process::Command::new(script).args([action, &folder, &nth.to_string()]).status().unwrap();
    assert!(done.success(), "{action} {nth}");
}

/// Waits until every shard has its copies.
async fn settled(url: &str, nodes: usize) {
    let path = format!("_cluster/health?wait_for_nodes={nodes}&wait_for_status=green&timeout=5s");
    for _ in 0..24 {
        if operate(url, "GET", &path, None).await["timed_out"] == false {
            return;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    panic!("{}", operate(url, "GET", "_cluster/health", None).await);
}

const WORDS: [&str; 40] = [
    "film", "panel", "solar", "cell", "thin", "glass", "rotor", "turbine", "wind", "sensor", "heat", "sink",
    "light", "diode", "battery", "layer", "metal", "oxide", "coating", "surface", "method", "device",
    "signal", "circuit", "studies", "naps", "memory", "improves", "running", "cooling", "太陽", "電池",
    "薄膜", "基板", "発光", "素子", "装置", "方法", "層", "光",
];

fn sentence(random: &mut fastrand::Rng, words: usize) -> String {
    let mut text = String::new();
    for _ in 0..words {
        // Frequent and rare words, as in any text.
        let nth = (random.f64() * random.f64() * WORDS.len() as f64) as usize;
        let word = WORDS[nth];
        let mark = ["", "", "", "", ", ", "、", "。"][random.usize(..7)];
        let blank = if word.is_ascii() { " " } else { "" };
        text.push_str(blank);
        text.push_str(word);
        text.push_str(if word.is_ascii() && !mark.is_ascii() { "" } else { mark });
        text.push_str(blank);
    }
    text
}

fn pick(random: &mut fastrand::Rng, of: &[&'static str]) -> &'static str {
    of[random.usize(..of.len())]
}

/// Lines of invented patents and papers.
fn invented(count: usize, seed: u64) -> Vec<String> {
    let mut random = fastrand::Rng::with_seed(seed);
    let codes = ["H01L31/04", "H01L31/0445", "H01L33/20", "F03D1/06", "G06F17/30", "Y02E10/50"];
    let line = |nth: usize| {
        let random = &mut random;
        let mut document = json!({
            "id": format!("D{nth:06}"), "title": sentence(random, 5), "abstract": sentence(random, 30),
            "year": 2000 + random.i32(0..20), "tags": [pick(random, &["To Read", "naps", "Solar"])],
            "collections": [pick(random, &["Sleep/Naps", "Sleep", "Energy/Solar"])],
            "notes": [sentence(random, 4)], "authors": ["A. Author"],
        });
        if !nth.is_multiple_of(3) {
            let (length, days) = (random.usize(20..120), random.u32(1..28));
            document["claims"] = json!([sentence(random, 15)]);
            document["description"] = json!(sentence(random, length));
            document["cpc"] = json!([pick(random, &codes), pick(random, &codes)]);
            document["country"] = json!(pick(random, &["US", "JP", "EP"]));
            document["pub_date"] = json!(format!("20{:02}-03-{days:02}", random.u32(0..20)));
            document["applicants"] =
                json!([pick(random, &["Sun Power Corp.", "太陽工業株式会社", "Acme Film Ltd"])]);
        }
        document.to_string()
    };
    (0..count).map(line).collect()
}

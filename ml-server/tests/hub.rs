//! Models from a stand-in for the hub, downloaded by the real program.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "helpers of tests may panic")]

#[path = "hub/standin.rs"]
mod standin;
#[path = "common/tiny.rs"]
mod tiny;
#[path = "hub/weights.rs"]
mod weights;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use lyra_ml_server::model::tokenizer::Truncation;
use lyra_proto::TruncationDirection::Right;
use standin::{COMMIT, Fault, Hub, sha256};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const WEIGHTS: &str = "model.safetensors";

/// A stand-in, an empty cache, and the folder that the repository is a copy of.
struct Bench {
    hub: std::sync::Arc<Hub>,
    folder: PathBuf,
    home: tempfile::TempDir,
    _parent: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// With a change to the files before they are served.
    async fn with(change: impl FnOnce(&mut BTreeMap<String, Vec<u8>>)) -> Self {
        let (parent, folder) = tiny::folder(tiny::FAMILIES[0], false);
        let mut files = standin::read(&folder);
        change(&mut files);
        files.insert("README.md".to_owned(), b"# A model".to_vec());
        files.insert("onnx/model.bin".to_owned(), b"not wanted".to_vec());
        let hub = Hub::start(files).await;
        Self { hub, folder, home: tempfile::tempdir().unwrap(), _parent: parent }
    }

    /// Starts the server until it is ready, or returns the log if it fails.
    async fn start(
        &self,
        model: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Result<Run, String> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_lyra-ml-server"))
            .args(["--port", "0", "--threads", "1", "--embed-model", model])
            .args(arguments)
            .env_clear()
            .envs([("HF_ENDPOINT", self.hub.url.as_str()), ("NO_PROXY", "127.0.0.1"), ("NO_COLOR", "1")])
            .env("HF_HOME", self.home.path())
            .envs(environment.iter().copied())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut log = String::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            log = log + &line + "\n";
            if line.contains("lyra_ml_server: ready") {
                let url = line.split('"').nth(1).unwrap().to_owned();
                // Keep reading: a full pipe would stop the server at its next log line.
                tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                return Ok(Run { _child: child, url, log });
            }
        }
        assert!(!child.wait().await.unwrap().success(), "{log}");
        Err(log)
    }

    /// The log of a start that must fail and contain all of `says`.
    async fn refused(&self, model: &str, arguments: &[&str], says: &[&str]) -> String {
        let log = self.start(model, arguments, &[]).await.map(|run| run.log).unwrap_err();
        assert!(says.iter().all(|text| log.contains(text)), "{says:?} in {log}");
        log
    }

    fn cache(&self) -> PathBuf {
        self.home.path().join("hub/models--tiny--model")
    }

    /// Where a large file's content is in the cache.
    fn blob(&self, name: &str) -> PathBuf {
        self.cache().join("blobs").join(sha256(&self.hub.files[name]))
    }

    /// What the hub was asked for about a large file's content, without the path.
    fn ranges(&self) -> Vec<String> {
        let requests = self.hub.requests();
        requests
            .iter()
            .filter(|request| request.starts_with("/objects/"))
            .map(|request| request.split_once(' ').map_or("", |(_, range)| range).to_owned())
            .collect()
    }
}

struct Run {
    _child: Child,
    url: String,
    log: String,
}

impl Run {
    /// Compares an answer with that of the folder's model.
    async fn answers_like(&self, folder: &Path) {
        let body = serde_json::json!({"inputs": "red stone green", "normalize": false});
        let client = lyra_tls::client().build().unwrap();
        let response = client.post(format!("{}/embed", self.url)).json(&body).send().await;
        let got: Vec<Vec<f32>> = response.unwrap().json().await.unwrap();
        let model = tiny::load(folder).unwrap();
        let input = model.tokenizer.text("red stone green", Truncation::Cut(Right)).unwrap();
        assert!(tiny::difference(&got[0], &model.run(&[&input]).unwrap()[0]) < 1e-5);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fetched_once_then_found_in_the_cache() {
    let bench = Bench::new().await;
    let secret = [("HF_TOKEN", "hf_secret"), ("RUST_LOG", "trace")];
    let run = bench.start("tiny/model", &[], &secret).await.unwrap();
    run.answers_like(&bench.folder).await;
    assert!(!run.log.contains("hf_secret"));
    let requests = bench.hub.requests();
    let wanted = ["config.json", "tokenizer.json", "modules.json", "1_Pooling/config.json", WEIGHTS];
    for name in wanted {
        let path = format!("/tiny/model/resolve/{COMMIT}/{name}");
        assert_eq!(requests.iter().filter(|request| **request == path).count(), 1, "{name}: {requests:?}");
    }
    assert_eq!(requests.iter().filter(|request| request.contains("/resolve/")).count(), wanted.len());
    // The layout of Hugging Face's own tools.
    let weights = bench.cache().join("snapshots").join(COMMIT).join(WEIGHTS);
    assert_eq!(weights.canonicalize().unwrap(), bench.blob(WEIGHTS).canonicalize().unwrap());
    assert_eq!(std::fs::read_to_string(bench.cache().join("refs/main")).unwrap(), COMMIT);
    assert!(bench.cache().join(".no_exist").join(COMMIT).join("tokenizer_config.json").exists());
    drop(run);

    // Where `main` points is asked, a commit is not.
    bench.start("tiny/model", &[], &[]).await.unwrap();
    assert_eq!(bench.hub.requests(), ["/api/models/tiny/model/revision/main"]);
    bench.start(&format!("tiny/model@{COMMIT}"), &[], &[]).await.unwrap();
    bench.start("tiny/model", &["--offline"], &[]).await.unwrap();
    let run = bench.start("tiny/model", &[], &[("HF_HUB_OFFLINE", "1")]).await.unwrap();
    run.answers_like(&bench.folder).await;
    assert!(bench.hub.requests().is_empty());
    let gone = [("HF_ENDPOINT", "http://127.0.0.1:9")];
    let run = bench.start("tiny/model", &[], &gone).await.unwrap();
    assert!(run.log.contains("is unreachable, using the cache"), "{}", run.log);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_download_resumes() {
    let bench = Bench::new().await;
    let size = bench.hub.files[WEIGHTS].len();
    bench.hub.set(Fault::Cut(2));
    let run = bench.start("tiny/model", &[], &[]).await.unwrap();
    run.answers_like(&bench.folder).await;
    let half = size / 2;
    let ranges = [String::new(), format!("bytes={half}-"), format!("bytes={}-", half + (size - half) / 2)];
    assert_eq!(bench.ranges(), ranges);
    assert!(run.log.contains(&format!("broke off at {half} of {size} bytes")), "{}", run.log);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_start_resumes_what_an_earlier_one_left() {
    let check = async |fault, beginning: &dyn Fn(&[u8]) -> Vec<u8>, ranges: &[&str]| {
        let bench = Bench::new().await;
        bench.hub.set(fault);
        let part = bench.blob(WEIGHTS).with_extension("incomplete");
        std::fs::create_dir_all(part.parent().unwrap()).unwrap();
        std::fs::write(&part, beginning(&bench.hub.files[WEIGHTS])).unwrap();
        bench.start("tiny/model", &[], &[]).await.unwrap().answers_like(&bench.folder).await;
        assert_eq!(bench.ranges(), ranges);
        assert!(!part.exists());
    };
    check(Fault::None, &|content| content[..1_000].to_vec(), &["bytes=1000-"]).await;
    check(Fault::None, &<[u8]>::to_vec, &[]).await;
    check(Fault::NoRanges, &|content| content[..1_000].to_vec(), &["bytes=1000-"]).await;
    // Partial files with other content: everything is downloaded again.
    check(Fault::None, &|_| vec![7; 1_000], &["bytes=1000-", ""]).await;
    check(Fault::None, &|content| [content, content].concat(), &[""]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_keeps_breaking_is_given_up() {
    let bench = Bench::new().await;
    bench.hub.set(Fault::Cut(usize::MAX));
    bench
        .refused("tiny/model", &[], &["model.safetensors broke off at", "a new start goes on from there"])
        .await;
    assert!(bench.blob(WEIGHTS).with_extension("incomplete").exists());
    bench.hub.requests();
    bench.hub.set(Fault::None);
    bench.start("tiny/model", &[], &[]).await.unwrap();
    assert!(bench.ranges()[0].starts_with("bytes="));
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_contents_are_refused_and_not_kept() {
    for (fault, says) in [
        (Fault::Spoiled, "model.safetensors does not match what the hub announced: its hash is"),
        (Fault::Short, "model.safetensors broke off at"),
        (Fault::SpoiledText, "config.json does not match what the hub announced: its hash is"),
    ] {
        let bench = Bench::new().await;
        bench.hub.set(fault);
        bench.refused("tiny/model", &[], &[says]).await;
        assert!(!bench.blob(WEIGHTS).exists());
        assert!(!bench.cache().join("snapshots").join(COMMIT).join(WEIGHTS).exists());
        assert_eq!(bench.blob(WEIGHTS).with_extension("incomplete").exists(), fault == Fault::Short);
        let offline = ["not in the cache", "models--tiny--model", "--offline"];
        bench.refused("tiny/model", &["--offline"], &offline).await;
        bench.hub.set(Fault::None);
        bench.start("tiny/model", &[], &[]).await.unwrap().answers_like(&bench.folder).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pinned_revision_is_asked_for() {
    let bench = Bench::new().await;
    for (model, arguments) in [("tiny/model@v1", &[][..]), ("tiny/model", &["--revision", "v1"])] {
        bench.start(model, arguments, &[]).await.unwrap();
        assert_eq!(bench.hub.requests()[0], "/api/models/tiny/model/revision/v1");
    }
    assert_eq!(std::fs::read_to_string(bench.cache().join("refs/v1")).unwrap(), COMMIT);
    bench.refused("tiny/model@v2", &[], &["the repository does not exist, or has no revision v2"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_is_said() {
    let bench = Bench::new().await;
    let offline = ["revision main is not in the cache", "run once without --offline and HF_HUB_OFFLINE"];
    bench.refused("tiny/model", &["--offline"], &offline).await;
    assert!(bench.hub.requests().is_empty());
    bench
        .refused(
            "tiny/none",
            &[],
            &["`tiny/none`", "the repository does not exist or is private", "HF_TOKEN"],
        )
        .await;
    bench.hub.set(Fault::Gated);
    bench.refused("tiny/model", &[], &["gated", "/tiny/model", "HF_TOKEN"]).await;
    bench.start("tiny/model", &[], &[("HF_TOKEN", "hf_secret")]).await.unwrap();
    bench.hub.set(Fault::None);
    std::fs::remove_file(bench.blob(WEIGHTS)).unwrap();
    bench.refused("tiny/model", &["--offline"], &["model.safetensors of commit", "not in the cache"]).await;
    bench.start("tiny/model", &[], &[]).await.unwrap();

    let bench = Bench::with(|files| drop(files.remove(WEIGHTS))).await;
    bench.refused("tiny/model", &[], &["has no model.safetensors", "pytorch_model.bin"]).await;
    let bench = Bench::with(|files| drop(files.insert("config.json".to_owned(), b"{}".to_vec()))).await;
    bench.refused("tiny/model", &[], &["names none", "supported: BertModel"]).await;
    assert!(bench.ranges().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn shards_are_fetched_and_put_together() {
    let bench = Bench::with(|files| {
        let whole = files.remove(WEIGHTS).unwrap();
        files.extend(weights::sharded(&whole));
    })
    .await;
    bench.start("tiny/model", &[], &[]).await.unwrap().answers_like(&bench.folder).await;
    bench.hub.requests();
    bench.start(&format!("tiny/model@{COMMIT}"), &[], &[]).await.unwrap();
    assert!(bench.hub.requests().is_empty());
    let second = weights::shard(1);
    std::fs::remove_file(bench.blob(&second)).unwrap();
    bench.refused("tiny/model", &["--offline"], &[&second, "not in the cache"]).await;
    bench.start("tiny/model", &[], &[]).await.unwrap().answers_like(&bench.folder).await;
    assert_eq!(bench.ranges().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn pickled_weights_do_when_there_are_no_others() {
    let bench = Bench::with(|files| {
        let pickled = weights::pickled(&files[WEIGHTS]);
        files.insert("pytorch_model.bin".to_owned(), pickled);
    })
    .await;
    bench.start("tiny/model", &[], &[]).await.unwrap();
    assert!(!bench.blob("pytorch_model.bin").exists());

    let bench = Bench::with(|files| {
        let whole = files.remove(WEIGHTS).unwrap();
        files.insert("pytorch_model.bin".to_owned(), weights::pickled(&whole));
    })
    .await;
    bench.start("tiny/model", &[], &[]).await.unwrap().answers_like(&bench.folder).await;
    bench.start("tiny/model", &["--offline"], &[]).await.unwrap().answers_like(&bench.folder).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pickled_shards_do_too() {
    let bench = Bench::with(|files| {
        let whole = files.remove(WEIGHTS).unwrap();
        files.extend(weights::pickled_shards(&whole));
    })
    .await;
    bench.start("tiny/model", &[], &[]).await.unwrap().answers_like(&bench.folder).await;
    bench.start("tiny/model", &["--offline"], &[]).await.unwrap().answers_like(&bench.folder).await;
}

#[test]
fn mangled_pickles_never_panic() {
    let (_parent, folder) = tiny::folder(tiny::FAMILIES[0], false);
    let pickled = weights::pickled(&std::fs::read(folder.join(WEIGHTS)).unwrap());
    std::fs::remove_file(folder.join(WEIGHTS)).unwrap();
    let archive = folder.join("pytorch_model.bin");
    std::fs::write(&archive, &pickled).unwrap();
    tiny::load(&folder).unwrap();
    // Bytes all over the pickle, one at a time, and of the archive's own records at its end.
    let end = pickled.windows(4).skip(4).position(|window| window == b"PK\x03\x04").unwrap();
    let places = (0..end).step_by(7).chain((pickled.len() - 200..pickled.len()).step_by(3));
    let mut refused = 0;
    for place in places {
        for value in [0, b'R', 0x85] {
            let mut mangled = pickled.clone();
            mangled[place] = value;
            std::fs::write(&archive, &mangled).unwrap();
            refused += usize::from(tiny::load(&folder).is_err());
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn damaged_pickles_and_indices_are_refused() {
    let check = |name: &str, content: &[u8], says: &str| {
        let (_parent, folder) = tiny::folder(tiny::FAMILIES[0], false);
        std::fs::remove_file(folder.join(WEIGHTS)).unwrap();
        std::fs::write(folder.join(name), content).unwrap();
        let error = tiny::load(&folder).map(drop).unwrap_err();
        assert!(error.contains(name) && error.contains(says), "{error}");
    };
    let (_parent, folder) = tiny::folder(tiny::FAMILIES[0], false);
    let pickled = weights::pickled(&std::fs::read(folder.join(WEIGHTS)).unwrap());
    let pickle = "pytorch_model.bin";
    check(pickle, b"not a zip file", "PyTorch 1.6");
    check(pickle, &pickled[..pickled.len() / 2], "PyTorch 1.6");
    check(pickle, &weights::archive(&[("archive/data.pkl", b"\x80\x02}.".to_vec())]), "has no tensors");
    let index = "model.safetensors.index.json";
    check(index, b"{", "EOF");
    check(index, br#"{"weight_map": {"a": "../model.safetensors"}}"#, "outside the model");
    check(index, br#"{"weight_map": {}}"#, "names no file");
    check("pytorch_model.bin.index.json", br#"{"weight_map": {"a": "/etc/passwd"}}"#, "outside the model");
}

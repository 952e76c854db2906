//! Shared by the cross-process tests: the built `lyra` binary with its own data folder.

pub mod llm;
pub mod mcp_client;
pub mod mcp_server;
pub mod ml_server;
pub mod pdf;
pub mod proxy;
pub mod replay;
mod serving;
pub mod site;
pub mod walled;

use lyra_store::GuardOptions;
use lyra_usecases::config::Config;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;

/// The `lyra` binary with a fresh data folder; both go when it is dropped.
pub struct TestApp {
    data_dir: TempDir,
    profile: &'static str,
}

impl TestApp {
    /// A fresh data folder, with the models of the `fast` profile: most tests do not depend on the judgment of a
    /// passage.
    ///
    /// # Panics
    /// No temporary folder can be created.
    pub fn new() -> Self {
        Self { data_dir: tempfile::tempdir().expect("temporary folder"), profile: "fast" }
    }

    /// The same with the models that people get, of which the verifier reads a few passages a second.
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn lite() -> Self {
        Self { profile: "lite", ..Self::new() }
    }

    /// The data folder.
    pub fn data_dir(&self) -> &Path {
        self.data_dir.path()
    }

    /// `lyra ARGS` on this data folder, not started yet. Nothing of the caller's configuration reaches it.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary("lyra"));
        command
            .args(args)
            .env("LYRA_DATA_DIR", self.data_dir.path())
            .env("XDG_CONFIG_HOME", self.data_dir.path())
            .env("LYRA__ML__PROFILE", self.profile)
            // Clients of the tests call tools of both sets.
            .env("LYRA__SERVER__TOOLSET", "all")
            .env_remove("LYRA_ML_URL")
            .env_remove("LYRA_CONFIG")
            .stdin(Stdio::null());
        command
    }

    /// Runs `lyra ARGS` to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("lyra runs")
    }

    /// Rows that a statement over the evidence graph gives.
    ///
    /// # Panics
    /// When the data folder cannot be opened or the statement is refused.
    pub fn rows(&self, sql: &str) -> Vec<Map<String, Value>> {
        let config = Config { data_dir: Some(self.data_dir().to_owned()), ..Config::default() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
        runtime.block_on(async {
            let app = lyra::compose::open(config).await.expect("application");
            let rows = app.query_graph("test", sql, GuardOptions::default()).await.expect("statement").rows;
            app.close().await;
            rows
        })
    }

    /// Runs `lyra ARGS`, which must succeed, and parses its output as JSON.
    ///
    /// # Panics
    /// When it fails or prints anything else.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "lyra {args:?} failed with {}\n{err}", output.status);
        serde_json::from_str(&out)
            .unwrap_or_else(|error| panic!("lyra {args:?} printed no JSON ({error}):\n{out}"))
    }

    /// Starts `lyra ARGS` with its output piped.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("lyra starts")
    }
}

impl Default for TestApp {
    fn default() -> Self {
        Self::new()
    }
}

/// Lines that a process has logged so far. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// Adds a line.
    pub fn push(&self, line: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    /// All of them.
    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A binary of the workspace, beside the running test. `cargo test --workspace` has built it.
///
/// # Panics
/// When it is not there.
pub fn binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("path of the test");
    let folder = test.ancestors().find(|dir| dir.ends_with("debug") || dir.ends_with("release"));
    let path = folder.expect("target folder").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        path.is_file(),
        "{} is not built; run `cargo test --workspace`, or `cargo build -p {name}` first",
        path.display()
    );
    path
}

/// The shared reference data; `None`, with the reason printed, when it is not there.
#[expect(clippy::print_stdout, reason = "says why a test skips")]
pub fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("LYRA_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: {} is not there (set LYRA_SHARED to the shared folder)", folder.display());
    None
}

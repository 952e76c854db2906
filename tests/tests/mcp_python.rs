//! The `mcp` package from `PyPI` as client, over both transports and both protocol revisions.
//!
//! The package is installed into `target/mcp-python` on first use. Without Python or a registry the tests print a
//! message and pass; `mcp_stdio` tests the same path without either.

use anyhow::{Context, ensure};
use lyra_tests::mcp_server::HttpServer;
use lyra_tests::{TestApp, binary};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

#[tokio::test]
async fn a_whole_task_over_stdio_by_handshake() -> anyhow::Result<()> {
    over_stdio("task", "legacy").await
}

#[tokio::test]
async fn a_whole_task_over_http_by_discovery() -> anyhow::Result<()> {
    over_http("task", "auto").await
}

#[tokio::test]
async fn a_tour_over_stdio_by_discovery() -> anyhow::Result<()> {
    over_stdio("tour", "auto").await
}

#[tokio::test]
async fn a_tour_over_http_by_handshake() -> anyhow::Result<()> {
    over_http("tour", "legacy").await
}

#[tokio::test]
async fn the_seven_steps_over_the_example_corpus() -> anyhow::Result<()> {
    let app = TestApp::new();
    drive_script("fusion.py", vec!["example".into(), binary("lyra").into(), app.data_dir().into()]).await
}

#[tokio::test]
async fn the_seven_steps_over_real_patents() -> anyhow::Result<()> {
    let Some(shared) = lyra_tests::shared() else { return Ok(()) };
    let app = TestApp::new();
    let file = unpacked_patents(&shared, &app)?;
    // The scope that the semantic lane searches; the others would take most of the test's time.
    let imported = app.json(&["corpus", "import", "patents", &file, "--scopes", "wide", "--quiet", "--json"]);
    ensure!(imported["added"] == 300, "{imported}");
    drive_script("fusion.py", vec!["patents".into(), binary("lyra").into(), app.data_dir().into()]).await
}

async fn over_stdio(depth: &str, mode: &str) -> anyhow::Result<()> {
    let app = TestApp::new();
    drive(vec![depth.into(), mode.into(), "stdio".into(), binary("lyra").into(), app.data_dir().into()]).await
}

async fn over_http(depth: &str, mode: &str) -> anyhow::Result<()> {
    let app = TestApp::new();
    let server = HttpServer::start(&app).await?;
    drive(vec![depth.into(), mode.into(), "http".into(), format!("http://{}/mcp", server.address).into()])
        .await?;
    server.stop().await
}

/// The patents of the shared data as a file of JSON lines.
fn unpacked_patents(shared: &Path, app: &TestApp) -> anyhow::Result<String> {
    let packed = std::fs::File::open(shared.join("data/patents/patents.jsonl.gz"))?;
    let path = app.data_dir().join("patents.jsonl");
    std::io::copy(&mut flate2::read::GzDecoder::new(packed), &mut std::fs::File::create(&path)?)?;
    Ok(path.to_string_lossy().into_owned())
}

async fn drive(arguments: Vec<OsString>) -> anyhow::Result<()> {
    drive_script("python_mcp.py", arguments).await
}

/// Runs a client script with these arguments.
#[expect(clippy::print_stdout, reason = "what was skipped and what was found belong in the test's output")]
async fn drive_script(name: &'static str, arguments: Vec<OsString>) -> anyhow::Result<()> {
    let ran = tokio::task::spawn_blocking(move || {
        let python = match python() {
            Ok(python) => python,
            Err(reason) => {
                println!("skipped: {reason:#}");
                return Ok(());
            }
        };
        let script = clients().join(name);
        let output = Command::new(python).arg(script).args(arguments).output()?;
        ensure!(
            output.status.success(),
            "the client failed:\n{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        println!("{}", String::from_utf8_lossy(&output.stdout).trim());
        Ok(())
    });
    ran.await?
}

/// A Python with the packages of `tests/clients/requirements.txt`; an error says why it is missing.
fn python() -> anyhow::Result<PathBuf> {
    let wanted = clients().join("requirements.txt");
    // target/PROFILE/lyra
    let folder = binary("lyra").ancestors().nth(2).context("the binary lies in target/")?.join("mcp-python");
    std::fs::create_dir_all(&folder)?;
    // Tests run at the same time, in processes of their own.
    let lock = std::fs::File::create(folder.join("lock"))?;
    lock.lock()?;
    let python = folder.join("venv/bin/python");
    let installed = folder.join("installed.txt");
    let list = std::fs::read_to_string(&wanted)?;
    if std::fs::read_to_string(&installed).is_ok_and(|old| old == list) && python.is_file() {
        return Ok(python);
    }
    let run = |command: &mut Command, what: &str| -> anyhow::Result<()> {
        let output = command.output().with_context(|| format!("{what} cannot be run"))?;
        ensure!(output.status.success(), "{what} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        Ok(())
    };
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder.join("venv")), "python3 -m venv")?;
    run(
        Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(&wanted),
        "pip install mcp",
    )?;
    std::fs::write(installed, list)?;
    Ok(python)
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}

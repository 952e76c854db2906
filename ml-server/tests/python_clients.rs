//! The `openai` and `huggingface_hub` packages from `PyPI` as clients.
//!
//! The packages are installed into `target/tmp/ml-clients` on first use. Without Python or a registry the test prints a
//! message and passes; `api` tests the same routes without either.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "helpers of tests may panic and print"
)]

mod common;
#[path = "common/tiny.rs"]
mod tiny;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use lyra_ml_server::model::ModelSource;

#[tokio::test(flavor = "multi_thread")]
async fn openai_and_huggingface_hub_agree_with_embed() -> Result<()> {
    let python = match tokio::task::spawn_blocking(python).await? {
        Ok(python) => python,
        Err(reason) => {
            println!("skipped: {reason:#}");
            return Ok(());
        }
    };
    let (_parent, verifier) = tiny::verifier(tiny::VERIFIERS[1]);
    let server = common::lite_server(|config| config.verify = Some(ModelSource::Folder(verifier))).await;
    let url = server.url();
    let script = clients().join("api_clients.py");
    let run = move || Command::new(python).arg(script).arg(url).output();
    let output = tokio::task::spawn_blocking(run).await??;
    server.shutdown().await;
    let [said, complained] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    ensure!(output.status.success(), "the clients failed:\n{said}\n{complained}");
    println!("{}", said.trim());
    Ok(())
}

/// A Python with the packages of `clients/requirements.txt`; an error says why it is missing.
fn python() -> Result<PathBuf> {
    let wanted = clients().join("requirements.txt");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ml-clients");
    std::fs::create_dir_all(&folder)?;
    let python = folder.join("venv/bin/python");
    let installed = folder.join("installed.txt");
    let list = std::fs::read_to_string(&wanted)?;
    if std::fs::read_to_string(&installed).is_ok_and(|old| old == list) && python.is_file() {
        return Ok(python);
    }
    let run = |command: &mut Command, what: &str| -> Result<()> {
        let output = command.output().with_context(|| format!("{what} cannot be run"))?;
        ensure!(output.status.success(), "{what} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        Ok(())
    };
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder.join("venv")), "python3 -m venv")?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(&wanted), "pip install")?;
    std::fs::write(installed, list)?;
    Ok(python)
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

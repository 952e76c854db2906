//! The server as a child process: its address, its memory, its open handles, its end.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How often memory and handles are sampled.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// Longest time for connections to end, and for the process after SIGTERM (its own limit is 30 s).
const PATIENCE: Duration = Duration::from_secs(32);

/// A running server with the lite models. It is killed when this is dropped.
pub(crate) struct Program {
    child: Child,
    pid: u32,
    url: String,
}

/// The server that was built with the same profile as this program.
fn binary() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own.ancestors().nth(2).context("this program lies in target/PROFILE/examples")?;
    let path = folder.join(format!("lyra-ml-server{}", std::env::consts::EXE_SUFFIX));
    ensure!(path.is_file(), "{} is not built; use `cargo make load`", path.display());
    Ok(path)
}

/// The resources of a process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// Resident memory in bytes.
    pub(crate) memory: u64,
    /// Open files and sockets.
    pub(crate) handles: u64,
}

impl Usage {
    /// Read from `/proc`, so on Linux only.
    fn of(pid: u32) -> Result<Self> {
        let proc = PathBuf::from("/proc").join(pid.to_string());
        let status =
            std::fs::read_to_string(proc.join("status")).context("memory is read from /proc, on Linux")?;
        let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"));
        let kib: u64 = kib.context("no VmRSS in /proc")?.trim().parse()?;
        Ok(Self { memory: kib * 1_024, handles: std::fs::read_dir(proc.join("fd"))?.count() as u64 })
    }
}

impl Program {
    /// Starts the server that lies beside this program and waits until it is ready.
    pub(crate) async fn start(threads: Option<usize>) -> Result<Self> {
        let models = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../models");
        let mut command = Command::new(binary()?);
        command
            .args(["--port", "0", "--models-dir"])
            .arg(models)
            .env("RUST_LOG", "info")
            .env("NO_COLOR", "1");
        if let Some(threads) = threads {
            command.args(["--threads", &threads.to_string()]);
        }
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("stderr")?).lines();
        let mut log = String::new();
        while let Some(line) = lines.next_line().await? {
            if line.contains(" ready ") {
                let url = line.split('"').nth(1).context("no address in the log")?.to_owned();
                // Keep reading: a full pipe would stop the server at its next log line.
                tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                let pid = child.id().context("the server has ended")?;
                return Ok(Self { child, pid, url });
            }
            log = log + &line + "\n";
        }
        bail!("the server did not start:\n{log}")
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Its current resources.
    pub(crate) fn usage(&self) -> Result<Usage> {
        Usage::of(self.pid)
    }

    /// What it holds once it has no more than `handles`, or after a while.
    pub(crate) async fn settled(&self, handles: u64) -> Result<Usage> {
        let mut left = PATIENCE;
        while self.usage()?.handles > handles && !left.is_zero() {
            tokio::time::sleep(LOOK_EVERY).await;
            left = left.saturating_sub(LOOK_EVERY);
        }
        self.usage()
    }

    /// Samples it repeatedly.
    pub(crate) fn watch(&self) -> Watch {
        let (pid, stop) = (self.pid, CancellationToken::new());
        let stopped = stop.clone();
        let looks = tokio::spawn(async move {
            let mut looks = Vec::new();
            while stopped.run_until_cancelled(tokio::time::sleep(LOOK_EVERY)).await.is_some() {
                looks.extend(Usage::of(pid));
            }
            looks
        });
        Watch { stop, looks }
    }

    /// Sends SIGTERM and waits for the exit code; none when it had to be killed.
    pub(crate) async fn terminate(&mut self) -> Result<Option<i32>> {
        let killed = Command::new("kill").args(["-s", "TERM", &self.pid.to_string()]).status().await?;
        ensure!(killed.success(), "kill failed");
        match tokio::time::timeout(PATIENCE, self.child.wait()).await {
            Ok(status) => Ok(status?.code()),
            Err(_) => Ok(None),
        }
    }
}

/// Looks in progress.
pub(crate) struct Watch {
    stop: CancellationToken,
    looks: JoinHandle<Vec<Usage>>,
}

impl Watch {
    /// Everything seen.
    pub(crate) async fn stop(self) -> Vec<Usage> {
        self.stop.cancel();
        self.looks.await.unwrap_or_default()
    }
}

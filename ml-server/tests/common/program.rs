//! The built program as a child process.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

/// A test that waits longer for a process hangs.
const PATIENCE: Duration = Duration::from_mins(2);

/// The running program. It is killed when this is dropped.
pub(crate) struct Program {
    /// Where it listens.
    pub(crate) url: String,
    child: Child,
    log: JoinHandle<String>,
}

fn command(arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lyra-ml-server"));
    let port: &[&str] = if arguments.contains(&"--port") { &[] } else { &["--port", "0"] };
    command.args(port).args(arguments).env_clear().env("NO_COLOR", "1").envs(environment.iter().copied());
    command.stderr(Stdio::piped()).kill_on_drop(true);
    command
}

impl Program {
    /// Starts it and waits until it is ready.
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[]).await
    }

    /// The same with variables of the environment.
    pub(crate) async fn start_with(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::until("lyra_ml_server: ready", arguments, environment).await
    }

    /// Starts it and waits until it listens.
    pub(crate) async fn listening(arguments: &[&str]) -> Self {
        Self::until("lyra_ml_server: listening", arguments, &[]).await
    }

    async fn until(wanted: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut child = command(arguments, environment).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut log = String::new();
        let url = loop {
            let line = lines.next_line().await.unwrap().unwrap_or_else(|| panic!("it ended: {log}"));
            log = log + &line + "\n";
            if line.contains(wanted) {
                break line.split('"').nth(1).unwrap().to_owned();
            }
        };
        // Keep reading: a full pipe would stop the program at its next log line.
        let log = tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                log = log + &line + "\n";
            }
            log
        });
        Self { url, child, log }
    }

    /// Exit code and log of a start that must not become a server.
    pub(crate) async fn fail(arguments: &[&str]) -> (Option<i32>, String) {
        let run = command(arguments, &[]).stdout(Stdio::null()).output();
        let output = tokio::time::timeout(PATIENCE, run).await.unwrap().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Most memory that it has used so far, in bytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id().unwrap())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1_024
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
    }

    /// Exit code and log once it has ended.
    pub(crate) async fn end(mut self) -> (Option<i32>, String) {
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap();
        (status.code(), self.log.await.unwrap())
    }

    /// Tells it to end.
    pub(crate) async fn terminate(self) -> (Option<i32>, String) {
        self.signal("TERM");
        self.end().await
    }
}

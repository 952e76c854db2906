//! A running `lyra-ml-server`, with the lite models, that can be killed and started again at its port.

use crate::{Log, binary};
use anyhow::{Context, bail, ensure};
use std::net::{SocketAddr, TcpListener};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// A running `lyra-ml-server`. Ends with the value.
pub struct MlServer {
    child: Child,
    address: SocketAddr,
    /// Lines of its log so far.
    pub log: Log,
}

impl MlServer {
    /// Starts it on any free port and waits for its models.
    ///
    /// # Errors
    /// As [`Self::start_at`].
    pub async fn start() -> anyhow::Result<Self> {
        Self::start_at(free_port()?).await
    }

    /// Starts it at this address and waits for its models.
    ///
    /// # Errors
    /// When it is not ready within a minute.
    pub async fn start_at(address: SocketAddr) -> anyhow::Result<Self> {
        Self::start_with(address, &[]).await
    }

    /// The same, with variables of the environment.
    ///
    /// # Errors
    /// As [`Self::start_at`].
    pub async fn start_with(address: SocketAddr, environment: &[(&str, &str)]) -> anyhow::Result<Self> {
        Self::start_in(address, |mut command| {
            command.envs(environment.iter().copied());
            command
        })
        .await
    }

    /// The same, by the command that `within` makes of the plain one.
    ///
    /// # Errors
    /// As [`Self::start_at`].
    pub async fn start_in(
        address: SocketAddr,
        within: impl FnOnce(std::process::Command) -> std::process::Command,
    ) -> anyhow::Result<Self> {
        let port = address.port().to_string();
        let mut command = std::process::Command::new(binary("lyra-ml-server"));
        command
            .args(["--port", &port, "--threads", "1", "--log-format", "json", "--profile", "fast"])
            .env("RUST_LOG", "debug,hyper=off");
        let mut child = Command::from(within(command))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let log = Log::default();
        let mut lines = BufReader::new(child.stderr.take().context("stderr is piped")?).lines();
        let kept = log.clone();
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                kept.push(line);
            }
        });
        let mut server = Self { child, address, log };
        for _ in 0..600 {
            if get(address, "/ready").await.is_ok_and(|answer| answer.contains(" 200 ")) {
                return Ok(server);
            }
            if let Some(status) = server.child.try_wait()? {
                bail!("lyra-ml-server ended with {status}: {:?}", server.log.lines());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        bail!("lyra-ml-server is not ready: {:?}", server.log.lines())
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The id of its process while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Kills it as `kill -9` does, and waits until it is gone.
    ///
    /// # Errors
    /// When the system refuses.
    pub async fn kill(&mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }
}

/// A port that was free a moment ago.
///
/// # Errors
/// No port is free.
pub fn free_port() -> anyhow::Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// Head and body of the answer to a `GET`.
///
/// # Errors
/// No answer within ten seconds.
pub async fn get(address: SocketAddr, path: &str) -> anyhow::Result<String> {
    let asked = async {
        let mut stream = TcpStream::connect(address).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer = tokio::time::timeout(Duration::from_secs(10), asked).await.context("no answer")??;
    ensure!(!answer.is_empty(), "an empty answer");
    Ok(answer)
}

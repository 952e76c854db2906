//! A running `lyra serve` on a port of its own, and plain HTTP to talk to it.

use crate::{Log, TestApp};
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// A running `lyra serve`. Ends with the value.
pub struct HttpServer {
    child: Child,
    /// `127.0.0.1:PORT`.
    pub address: String,
    /// Lines of its log so far.
    pub log: Log,
}

/// An HTTP answer.
#[derive(Debug)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Header lines, in lower case.
    pub head: String,
    /// Body, chunks joined as they came.
    pub body: String,
}

impl HttpServer {
    /// Starts the server on any free port.
    ///
    /// # Errors
    /// It does not start or does not report its address within a minute.
    pub async fn start(app: &TestApp) -> anyhow::Result<Self> {
        Self::start_with(app, &[], &[]).await
    }

    /// The same, with flags before `serve` and variables of the environment.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_with(
        app: &TestApp,
        flags: &[&str],
        environment: &[(&str, &str)],
    ) -> anyhow::Result<Self> {
        let mut command = app.command(&[flags, &["serve", "--port", "0"]].concat());
        command.envs(environment.iter().copied());
        Self::start_command(command).await
    }

    /// Starts a command that becomes `lyra serve`.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_command(command: std::process::Command) -> anyhow::Result<Self> {
        let mut child =
            Command::from(command).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
        let stderr = child.stderr.take().context("stderr is piped")?;
        let mut lines = BufReader::new(stderr).lines();
        let said = async {
            while let Some(line) = lines.next_line().await? {
                if let Some((_, rest)) = line.split_once("http://") {
                    let address = rest.split('/').next().unwrap_or_default();
                    return Ok(address.to_owned());
                }
            }
            anyhow::bail!("lyra serve ended before it listened")
        };
        let address = tokio::time::timeout(Duration::from_mins(1), said)
            .await
            .context("lyra serve does not listen")??;
        let log = Log::default();
        // Read to its end: a full pipe would block the server.
        let kept = log.clone();
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                kept.push(line);
            }
        });
        Ok(Self { child, address, log })
    }

    /// One JSON-RPC request in the revision that has no sessions; gives its result.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn rpc(&self, headers: &[&str], method: &str, mut params: Value) -> anyhow::Result<Value> {
        let name = params["name"].as_str().map(|name| format!("Mcp-Name: {name}"));
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "lyra-tests", "version": "0" },
            "io.modelcontextprotocol/clientCapabilities": {}
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let named = format!("Mcp-Method: {method}");
        let mut all = vec![
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            "MCP-Protocol-Version: 2026-07-28",
            named.as_str(),
        ];
        all.extend(name.as_deref());
        all.extend(headers);
        let answer = self.request("POST /mcp", &all, &body).await?;
        let found = answer.body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
        let mut found = found.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let message = found.find(|value| value.get("result").is_some());
        Ok(message.with_context(|| format!("no result but {}: {}", answer.status, answer.body))?["result"]
            .take())
    }

    /// One request with these header lines. `Host` is the server's unless given.
    ///
    /// # Errors
    /// When the connection breaks or the answer is not HTTP.
    pub async fn request(&self, line: &str, headers: &[&str], body: &str) -> anyhow::Result<Answer> {
        let mut stream = TcpStream::connect(&self.address).await?;
        let mut text = format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            text.extend(["Host: ", &self.address, "\r\n"]);
        }
        for header in headers {
            text.extend([header, "\r\n"]);
        }
        text += "\r\n";
        stream.write_all(text.as_bytes()).await?;
        // A server that refuses the head may close before it has read the body.
        let _ = stream.write_all(body.as_bytes()).await;
        let mut bytes = Vec::new();
        tokio::time::timeout(Duration::from_mins(1), stream.read_to_end(&mut bytes))
            .await
            .context("no answer")??;
        let answer = String::from_utf8_lossy(&bytes);
        let (head, body) = answer.split_once("\r\n\r\n").context("an HTTP answer")?;
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).context("a status code")?;
        Ok(Answer { status, head: head.to_lowercase(), body: body.to_owned() })
    }

    /// Calls a tool as the revision without sessions has it, with these further header lines; gives its structured content.
    ///
    /// # Errors
    /// When the connection breaks or there is no result in the answer.
    pub async fn call(&self, tool: &str, arguments: Value, headers: &[&str]) -> anyhow::Result<Value> {
        let mut result =
            self.rpc(headers, "tools/call", json!({ "name": tool, "arguments": arguments })).await?;
        Ok(result["structuredContent"].take())
    }

    /// The id of its process while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Kills the server as `kill -9` does, and waits until it is gone.
    ///
    /// # Errors
    /// When the system refuses.
    pub async fn kill(mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Stops the server as an operator would, and checks that it exits.
    ///
    /// # Errors
    /// It does not exit within 20 seconds.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        let pid = self.child.id().context("it still runs")?.to_string();
        let killed = Command::new("kill").args(["-TERM", &pid]).status().await?;
        ensure!(killed.success(), "the signal was not sent");
        tokio::time::timeout(Duration::from_secs(20), self.child.wait())
            .await
            .context("it does not end")??;
        Ok(())
    }
}

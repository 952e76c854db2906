//! A running `lyra serve` on a port of its own, and plain HTTP to talk to it.

use crate::TestApp;
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// A running `lyra serve`. Ends with the value.
pub struct HttpServer {
    child: Child,
    /// `127.0.0.1:PORT`.
    pub address: String,
    log: Arc<Mutex<Vec<String>>>,
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
    /// When it does not start or does not say where it listens within a minute.
    pub async fn start(app: &TestApp) -> anyhow::Result<Self> {
        Self::start_command(app.command(&["serve", "--port", "0"])).await
    }

    /// Starts a command that ends in `lyra serve`.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_command(command: std::process::Command) -> anyhow::Result<Self> {
        let mut child =
            Command::from(command).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
        let stderr = child.stderr.take().context("stderr is piped")?;
        let mut lines = BufReader::new(stderr).lines();
        let log = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&log);
        let said = async {
            while let Some(line) = lines.next_line().await? {
                keep.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
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
        // A full pipe would block the server.
        let keep = Arc::clone(&log);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                keep.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
        Ok(Self { child, address, log })
    }

    /// What the server has said on stderr so far.
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The server's process.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Calls a tool in the revision that has no sessions, and gives its structured content.
    ///
    /// # Errors
    /// An answer that is no result of a tool; the status of a refusal is in the message.
    pub async fn call(&self, headers: &[&str], tool: &str, arguments: Value) -> anyhow::Result<Value> {
        let mut result =
            self.rpc(headers, "tools/call", json!({ "name": tool, "arguments": arguments })).await?;
        Ok(result["structuredContent"].take())
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

    /// Asks the server to end as an operator would, and checks that it does.
    ///
    /// # Errors
    /// When it does not end within 20 seconds.
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

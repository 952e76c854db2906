//! A client of `lyra mcp` that speaks JSON-RPC lines itself.

use crate::TestApp;
use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Longest wait for one answer; loading the models is in it.
const ANSWER_WITHIN: Duration = Duration::from_mins(2);

/// A running `lyra mcp` with an open session. Ends with the value.
pub struct StdioClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    next_id: u64,
    /// Notifications that came while waiting for answers, oldest first.
    pub notifications: Vec<Value>,
    /// The server's description of itself.
    pub server: Value,
}

impl StdioClient {
    /// Starts the server and opens a session of revision 2025-11-25.
    ///
    /// # Errors
    /// The server does not start or violates MCP.
    pub async fn start(app: &TestApp) -> anyhow::Result<Self> {
        Self::start_with(app, &[]).await
    }

    /// The same, with flags before `mcp`.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_with(app: &TestApp, flags: &[&str]) -> anyhow::Result<Self> {
        let mut child = Command::from(app.command(&[flags, &["mcp"]].concat()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().context("stdout is piped")?;
        let lines = BufReader::new(stdout).lines();
        let mut client =
            Self { child, stdin, lines, next_id: 0, notifications: Vec::new(), server: Value::Null };
        client.server = client
            .request(
                "initialize",
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "clientInfo": { "name": "lyra-tests", "version": "0" }
                }),
            )
            .await?;
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
        Ok(client)
    }

    /// Sends a request and gives its result.
    ///
    /// # Errors
    /// An answer with `error`, a line that is not a JSON-RPC message, or none in two minutes.
    pub async fn request(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        let id = self.post(method, params).await?;
        self.answer(id).await
    }

    /// Sends a request without waiting; gives its id.
    ///
    /// # Errors
    /// The server is gone.
    pub async fn post(&mut self, method: &str, params: Value) -> anyhow::Result<u64> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await?;
        Ok(id)
    }

    /// Waits for the answer to a request.
    ///
    /// # Errors
    /// As [`Self::request`].
    pub async fn answer(&mut self, id: u64) -> anyhow::Result<Value> {
        loop {
            let line = tokio::time::timeout(ANSWER_WITHIN, self.lines.next_line())
                .await
                .context("no answer in time")??
                .context("the server closed its stdout")?;
            let mut message: Value = serde_json::from_str(&line)
                .with_context(|| format!("stdout belongs to MCP, but has: {line}"))?;
            ensure!(message["jsonrpc"] == "2.0", "no JSON-RPC message: {line}");
            if message["id"] == id {
                return match message.get("error") {
                    Some(error) => bail!("the server answered {error}"),
                    None => Ok(message["result"].take()),
                };
            }
            ensure!(message.get("id").is_none(), "an answer to nothing: {line}");
            self.notifications.push(message);
        }
    }

    /// Sends one message.
    ///
    /// # Errors
    /// The server is gone.
    pub async fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let stdin = self.stdin.as_mut().context("stdin is open")?;
        stdin.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(stdin.flush().await?)
    }

    /// Calls a tool; gives its structured content after checking that the text says the same.
    ///
    /// # Errors
    /// As [`Self::request`], and when text, structured content and `isError` do not agree.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<Value> {
        let mut result = self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await?;
        let content = result["structuredContent"].take();
        let text = result["content"][0]["text"].as_str().context("a text block")?;
        ensure!(
            serde_json::from_str::<Value>(text)? == content,
            "text and structured content differ: {text}"
        );
        ensure!(text.len() <= 60_000, "{tool} answered {} bytes", text.len());
        ensure!(result["isError"] == json!(content["ok"] == false), "isError and ok disagree: {text}");
        Ok(content)
    }

    /// Sends a signal, such as `STOP`.
    ///
    /// # Errors
    /// The server has ended, or there is no `kill`.
    pub fn signal(&self, name: &str) -> anyhow::Result<()> {
        let pid = self.child.id().context("it runs")?.to_string();
        let sent = std::process::Command::new("kill").args(["-s", name, &pid]).status()?;
        ensure!(sent.success(), "kill -s {name} ended with {sent}");
        Ok(())
    }

    /// Closes stdin and waits for the server to exit.
    ///
    /// # Errors
    /// It does not exit within 20 seconds, or fails.
    pub async fn close(mut self) -> anyhow::Result<()> {
        drop(self.stdin.take());
        let status = tokio::time::timeout(Duration::from_secs(20), self.child.wait())
            .await
            .context("the server does not end when its client leaves")??;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

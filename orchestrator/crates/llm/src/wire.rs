//! One request and its answer: bounded, timed, with errors classified by who can fix them.

use crate::{Error, Result};
use reqwest::header::{DATE, RETRY_AFTER};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// Most bytes of an answer.
const MAX_BODY: usize = 1 << 20;
/// Most characters of an explanation that a server gives.
const MAX_MESSAGE: usize = 300;
/// Most bytes of the model's answer.
const MAX_CONTENT: usize = 64 << 10;

/// Sends a request and reads its JSON, all within `limit`. `secret` is redacted from messages.
pub(crate) async fn send(request: RequestBuilder, limit: Duration, secret: Option<&str>) -> Result<Value> {
    let answer = tokio::time::timeout(limit, exchange(request, secret)).await;
    answer.unwrap_or(Err(Error::Slow { limit }))
}

async fn exchange(request: RequestBuilder, secret: Option<&str>) -> Result<Value> {
    let mut response = request.send().await.map_err(|error| unreachable(&error))?;
    let status = response.status();
    let retry_after = retry_after(&response);
    let body = bounded(&mut response).await?;
    if status.is_success() {
        return serde_json::from_slice(&body)
            .map_err(|error| Error::Malformed { why: format!("the server's answer is not JSON: {error}") });
    }
    let message = match explanation(&body) {
        text if status.is_redirection() => {
            format!("it redirects, and redirects are not followed; correct base_url. {text}")
        }
        text => text,
    };
    let message = shown(&message, secret);
    let status_code = status.as_u16();
    Err(if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
        Error::Busy { status: status_code, message, retry_after }
    } else {
        Error::Refused { status: status_code, message }
    })
}

async fn bounded(response: &mut Response) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&error))? {
        if body.len() + chunk.len() > MAX_BODY {
            return Err(Error::Malformed { why: format!("the server's answer exceeds {MAX_BODY} bytes") });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// `Retry-After`, as seconds or as a date that is read against the answer's own.
fn retry_after(response: &Response) -> Option<Duration> {
    let header = |name| response.headers().get(name)?.to_str().ok();
    let text = header(RETRY_AFTER)?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let now = header(DATE).and_then(|date| httpdate::parse_http_date(date).ok());
    #[expect(
        clippy::disallowed_methods,
        reason = "a server that sends no date is held against the machine's clock"
    )]
    let now = now.unwrap_or_else(SystemTime::now);
    Some(until.duration_since(now).unwrap_or_default())
}

fn unreachable(error: &reqwest::Error) -> Error {
    let url = error.url().map(ToString::to_string).unwrap_or_default();
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    Error::Unreachable { url, why: cause.to_string() }
}

/// The message in an error's body: `{"error": "…"}`, `{"error": {"message": "…"}}`, `{"message": "…"}`, or its text.
fn explanation(body: &[u8]) -> String {
    let said = serde_json::from_slice::<Value>(body).ok().and_then(|body| {
        let error = &body["error"];
        [&error["message"], error, &body["message"], &body["detail"]]
            .into_iter()
            .find_map(|place| place.as_str().map(str::to_owned))
    });
    said.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned())
}

/// Short, on one line, and without the secret.
fn shown(text: &str, secret: Option<&str>) -> String {
    let text = secret.map_or_else(|| text.to_owned(), |secret| text.replace(secret, "…"));
    let line: Vec<&str> = text.split_whitespace().collect();
    let mut line: String = line.join(" ").chars().filter(|c| !c.is_control()).take(MAX_MESSAGE).collect();
    if line.is_empty() {
        line.push_str("no explanation given");
    }
    line
}

/// The JSON object that a model wrote: nothing before it, nothing after it, at most one code fence around it.
pub(crate) fn object(content: &str) -> Result<Value, String> {
    if content.len() > MAX_CONTENT {
        return Err(format!("it is longer than {MAX_CONTENT} bytes"));
    }
    let text = content.trim();
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    match serde_json::from_str(unfenced(text)) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err("it is JSON but not an object".to_owned()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}

fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    inner.map_or(text, |inner| inner.strip_prefix("json").unwrap_or(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_and_nothing_else_is_an_answer() {
        let good = Some(serde_json::json!({"a": 1}));
        for (content, expect) in [
            ("{\"a\": 1}", good.clone()),
            (" \n{\"a\":1}\n", good.clone()),
            ("```json\n{\"a\": 1}\n```", good.clone()),
            ("```\n{\"a\": 1}```", good),
            ("Sure! {\"a\": 1}", None),
            ("{\"a\": 1} I hope this helps.", None),
            ("{\"a\": 1", None),
            ("[1]", None),
            ("null", None),
            ("", None),
            ("``` ```", None),
            ("{'a': 1}", None),
        ] {
            assert_eq!(object(content).ok(), expect, "{content}");
        }
        assert!(object(&format!("{{\"a\": \"{}\"}}", "x".repeat(MAX_CONTENT))).is_err());
        assert!(object(&"[".repeat(10_000)).is_err());
    }

    #[test]
    fn explanations_are_short_and_hold_no_secret() {
        for body in [
            r#"{"error": "wrong key k-1"}"#,
            r#"{"error": {"message": "wrong key k-1", "type": "x"}}"#,
            r#"{"message": "wrong key k-1"}"#,
            "wrong\n key\u{7} k-1",
        ] {
            assert_eq!(shown(&explanation(body.as_bytes()), Some("k-1")), "wrong key …", "{body}");
        }
        assert_eq!(shown("", None), "no explanation given");
        assert_eq!(shown(&"x".repeat(1_000), None).len(), MAX_MESSAGE);
    }
}

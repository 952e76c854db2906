//! Ollama's API: `POST /api/chat`, with the schema of the answer as `format`.

use crate::prompts::Messages;
use crate::{Error, Result};
use serde::Deserialize;
use serde_json::{Value, json};

/// Most tokens of an answer.
const MAX_TOKENS: u32 = 1_024;

/// Path under the base URL.
pub(crate) const PATH: &str = "api/chat";

pub(crate) fn body(model: &str, messages: &Messages, schema: &Value) -> Value {
    json!({
        "model": model,
        "stream": false,
        "format": schema,
        "messages": messages.as_json(),
        "options": {"temperature": 0, "num_predict": MAX_TOKENS},
    })
}

#[derive(Deserialize)]
struct Answer {
    message: Message,
    done: bool,
    done_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}

/// What the model wrote.
pub(crate) fn content(body: Value) -> Result<String> {
    let answer: Answer = serde_json::from_value(body).map_err(|error| Error::Malformed {
        why: format!("this is not a response of Ollama's /api/chat ({error}); is base_url right?"),
    })?;
    if !answer.done || answer.done_reason.as_deref() == Some("length") {
        return Err(Error::Malformed { why: "it is cut off".to_owned() });
    }
    Ok(answer.message.content)
}

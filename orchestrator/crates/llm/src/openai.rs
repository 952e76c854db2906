//! OpenAI's API, which many servers speak: `POST /chat/completions`.

use crate::prompts::Messages;
use crate::{Error, Result};
use lyra_research::ports::Purpose;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Path under the base URL.
pub(crate) const PATH: &str = "chat/completions";

/// Parameters that the server turned out not to support. Servers reject them with a 400 that names the parameter.
#[derive(Debug, Default)]
pub(crate) struct Dialect {
    /// 0: `json_schema`, 1: `json_object`, 2: no `response_format`.
    format: AtomicU8,
    no_temperature: AtomicBool,
}

/// The optional parameters that a request used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Used {
    format: u8,
    temperature: bool,
}

impl Dialect {
    pub(crate) fn now(&self) -> Used {
        let temperature = !self.no_temperature.load(Ordering::Relaxed);
        Used { format: self.format.load(Ordering::Relaxed), temperature }
    }

    /// Drops the parameter that the error names. `false` when the request did not use it.
    pub(crate) fn learn(&self, refusal: &Error, used: Used) -> bool {
        let Error::Refused { status: 400 | 422, message } = refusal else { return false };
        let message = message.to_lowercase();
        let names = |words: &[&str]| words.iter().any(|word| message.contains(word));
        if used.temperature && names(&["temperature"]) {
            self.no_temperature.store(true, Ordering::Relaxed);
        } else if used.format < 2
            && names(&["response_format", "json_schema", "json_object", "structured output"])
        {
            self.format.fetch_max(used.format + 1, Ordering::Relaxed);
        } else {
            return false;
        }
        true
    }
}

pub(crate) fn body(model: &str, messages: &Messages, purpose: Purpose, schema: &Value, used: Used) -> Value {
    let mut body = json!({"model": model, "messages": messages.as_json(), "stream": false});
    match used.format {
        0 => {
            body["response_format"] = json!({
                "type": "json_schema",
                "json_schema": {"name": purpose.as_str(), "strict": true, "schema": schema},
            });
        }
        1 => body["response_format"] = json!({"type": "json_object"}),
        _ => {}
    }
    if used.temperature {
        body["temperature"] = json!(0);
    }
    body
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    refusal: Option<String>,
}

/// What the model wrote.
pub(crate) fn content(body: Value) -> Result<String> {
    let answer: Answer = serde_json::from_value(body).map_err(|error| Error::Malformed {
        why: format!("this is not a response of /chat/completions ({error}); is base_url right?"),
    })?;
    let malformed = |why: &str| Error::Malformed { why: why.to_owned() };
    let choice = answer.choices.into_iter().next().ok_or_else(|| malformed("it has no choices"))?;
    if let Some(why) = choice.message.refusal.filter(|why| !why.is_empty()) {
        return Err(Error::Declined { why: why.chars().filter(|c| !c.is_control()).take(200).collect() });
    }
    match choice.finish_reason.as_deref() {
        Some("length") => Err(malformed("it is cut off")),
        Some("content_filter") => Err(Error::Declined { why: "the server's content filter".to_owned() }),
        _ => choice.message.content.ok_or_else(|| malformed("it has no content")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_refusal_names_is_given_up_one_by_one() {
        let dialect = Dialect::default();
        let refused = |status, message: &str| Error::Refused { status, message: message.to_owned() };
        let learn = |error: Error| dialect.learn(&error, dialect.now());
        assert!(!learn(refused(400, "context too long")));
        assert!(!learn(refused(401, "response_format")));
        assert!(learn(refused(400, "'response_format' of type json_schema is not supported")));
        assert_eq!(dialect.now().format, 1);
        // A concurrent request in the old form adds nothing new.
        assert!(dialect.learn(&refused(422, "json_schema"), Used { format: 0, temperature: true }));
        assert_eq!(dialect.now().format, 1);
        assert!(learn(refused(400, "Unsupported value: 'temperature' does not support 0")));
        assert!(learn(refused(400, "unknown field response_format")));
        assert_eq!(dialect.now(), Used { format: 2, temperature: false });
        assert!(!learn(refused(400, "response_format and temperature")));
    }
}

//! What servers do instead of answering.

use crate::stand_in::{Act, KEY, StandIn, ask};
use lyra_llm::{Client, Error, LlmConfig, Prompts, Provider};
use lyra_research::PortError;
use serde_json::json;
use std::time::Duration;

const GOOD: Act = Act::Writes(r#"{"score": 7}"#);

fn fails(status: u16, body: &str) -> Act {
    Act::Fails(status, Vec::new(), body.to_owned())
}

fn busy(status: u16, retry_after: &str) -> Act {
    Act::Fails(status, vec![("retry-after", retry_after.to_owned())], "slow down".to_owned())
}

async fn check(script: Vec<Act>, calls: u32, expect: Result<(), &str>) {
    for provider in [Provider::Ollama, Provider::OpenAi] {
        let server = StandIn::start(provider, script.clone()).await;
        let reply = server.ask().await;
        assert_eq!(reply.calls, calls, "{:?}", reply.answer);
        assert_eq!(reply.failures, calls - u32::from(expect.is_ok()));
        match (reply.answer, expect) {
            (Ok(_), Ok(())) => {}
            (Err(error), Err(expect)) => {
                let text = format!("{error} {error:?}");
                assert!(text.contains(expect) && !text.contains(KEY), "{text}");
            }
            (answer, _) => panic!("{answer:?}"),
        }
    }
}

#[tokio::test]
async fn a_busy_server_is_asked_once_more_when_it_says_so() {
    check(vec![busy(429, "0"), GOOD], 2, Ok(())).await;
    check(vec![busy(503, "0"), GOOD], 2, Ok(())).await;
    check(vec![busy(429, "0"), busy(429, "0"), GOOD], 2, Err("(429): slow down")).await;
    check(vec![fails(500, "boom"), fails(500, r#"{"error": "boom"}"#), GOOD], 2, Err("(500): boom")).await;
    // An hour, in either form, is not waited for.
    check(vec![busy(429, "3600"), GOOD], 1, Err("(429)")).await;
    check(vec![busy(429, "Fri, 20 Nov 2099 12:00:00 GMT"), GOOD], 1, Err("(429)")).await;
}

#[tokio::test]
async fn what_will_not_change_is_not_asked_again() {
    let wrong_key = format!(r#"{{"error": {{"message": "Incorrect API key provided: {KEY}."}}}}"#);
    check(vec![fails(401, &wrong_key), GOOD], 1, Err("(401): Incorrect API key provided: ….")).await;
    check(
        vec![fails(404, r#"{"error": "model 'small' not found"}"#), GOOD],
        1,
        Err("model 'small' not found"),
    )
    .await;
    check(
        vec![fails(400, r#"{"error": {"message": "context too long"}}"#), GOOD],
        1,
        Err("context too long"),
    )
    .await;
    let elsewhere = Act::Fails(302, vec![("location", "http://127.0.0.1:9/".to_owned())], String::new());
    check(vec![elsewhere, GOOD], 1, Err("redirects")).await;
}

#[tokio::test]
async fn parameters_that_a_server_does_not_take_are_left_out_from_then_on() {
    let no = |what: &str| {
        fails(400, &json!({"error": {"message": format!("{what} is not supported")}}).to_string())
    };
    let script = [no("response_format.json_schema"), no("temperature"), no("response_format"), GOOD, GOOD];
    let server = StandIn::start(Provider::OpenAi, script).await;
    let client = server.client();
    let first = ask(&client).await;
    assert_eq!((first.answer.is_ok(), first.calls, first.failures), (true, 4, 3));
    let second = ask(&client).await;
    assert_eq!((second.answer.is_ok(), second.calls), (true, 1));
    let formats: Vec<_> = server
        .asked()
        .iter()
        .map(|asked| {
            let format = asked.body["response_format"]["type"].as_str().unwrap_or("none").to_owned();
            (format, asked.body.get("temperature").is_some())
        })
        .collect();
    let expect = [
        ("json_schema", true),
        ("json_object", true),
        ("json_object", false),
        ("none", false),
        ("none", false),
    ];
    assert_eq!(formats, expect.map(|(format, temperature)| (format.to_owned(), temperature)));
}

#[tokio::test]
async fn a_slow_server_is_given_up_at_the_limit() {
    let server = StandIn::start(Provider::Ollama, [Act::Sleeps, GOOD]).await;
    let config = LlmConfig { timeout: Duration::from_millis(200), ..server.config() };
    let reply = ask(&Client::new(config, Prompts::open(None).unwrap()).unwrap()).await;
    assert!(
        matches!(&reply.answer, Err(PortError::Unavailable { why, .. }) if why.contains("no answer within")),
        "{reply:?}"
    );
    assert_eq!((reply.calls, reply.failures), (1, 1));
}

#[tokio::test]
async fn nobody_there_is_said_with_the_address() {
    // Nothing listens on the discard port of loopback.
    let server = StandIn::start(Provider::OpenAi, []).await;
    let config = LlmConfig { base_url: Some("http://127.0.0.1:9/v1/".to_owned()), ..server.config() };
    let reply = ask(&Client::new(config, Prompts::open(None).unwrap()).unwrap()).await;
    let error = reply.answer.unwrap_err();
    assert!(
        error.is_transient() && error.to_string().contains("http://127.0.0.1:9/v1/chat/completions"),
        "{error}"
    );
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_named() {
    let server = StandIn::start(Provider::Ollama, []).await;
    let check = |config: LlmConfig, expect: &str| {
        let error = Client::new(config, Prompts::open(None).unwrap()).unwrap_err();
        assert!(matches!(error, Error::Setting { .. }) && error.to_string().contains(expect), "{error}");
    };
    let with = |url: &str| LlmConfig { base_url: Some(url.to_owned()), ..server.config() };
    check(LlmConfig { model: " ".to_owned(), ..server.config() }, "llm.model");
    check(
        with("localhost:11434"),
        "llm.base_url: `localhost:11434` is not an address such as http://127.0.0.1:11434",
    );
    check(with("ftp://example.org"), "is not an address");
    check(with("http://me:secret@example.org"), "llm.api_key");
    assert!(!format!("{:?}", server.client()).contains(KEY));
}

//! What models write: good answers, and every kind of bad one.

use crate::stand_in::{Act, KEY, StandIn, around};
use lyra_llm::Provider;
use serde_json::{Value, json};

const BOTH: [Provider; 2] = [Provider::Ollama, Provider::OpenAi];
const GOOD: &str = r#"{"score": 7}"#;

#[tokio::test]
async fn a_good_answer_takes_one_request() {
    for provider in BOTH {
        let server = StandIn::start(provider, [Act::Writes(GOOD)]).await;
        let reply = server.ask().await;
        assert_eq!((reply.calls, reply.failures), (1, 0));
        assert_eq!(reply.answer, Ok(json!({"score": 7})));

        let [asked] = server.asked().try_into().unwrap();
        assert_eq!(asked.authorization, Some(format!("Bearer {KEY}")));
        let schema = match provider {
            Provider::Ollama => {
                assert_eq!(asked.path, "/base/api/chat");
                assert_eq!(asked.body["options"]["temperature"], 0);
                &asked.body["format"]
            }
            Provider::OpenAi => {
                assert_eq!(asked.path, "/base/chat/completions");
                let format = &asked.body["response_format"];
                assert_eq!(
                    (&format["type"], &format["json_schema"]["strict"]),
                    (&json!("json_schema"), &json!(true))
                );
                &format["json_schema"]["schema"]
            }
        };
        assert_eq!(
            (&schema["required"], &schema["additionalProperties"]),
            (&json!(["score"]), &json!(false))
        );
        assert_eq!((&asked.body["model"], &asked.body["stream"]), (&json!("small"), &json!(false)));
        let words = asked.body["messages"][1]["content"].as_str().unwrap();
        assert!(words.contains("Does a nap improve memory?") && words.contains("Naps and word recall"));
        assert!(!asked.body.to_string().contains(KEY));
    }
}

/// Both APIs return this content twice, and the error explains why it is unusable.
async fn unusable(content: &'static str, why: &str) {
    for provider in BOTH {
        let server =
            StandIn::start(provider, [Act::Writes(content), Act::Writes(content), Act::Writes(GOOD)]).await;
        let reply = server.ask().await;
        let error = reply.answer.unwrap_err().to_string();
        assert!(error.contains(why), "{content}: {error}");
        assert_eq!((reply.calls, reply.failures), (2, 2), "asked once more, and no more often");
    }
}

#[tokio::test]
async fn what_is_not_the_json_asked_for_is_asked_for_once_more() {
    unusable("I would say seven.", "not JSON").await;
    unusable("Sure! Here it is: {\"score\": 7}", "not JSON").await;
    unusable("{\"score\": 7} Let me know if you need more.", "not JSON").await;
    unusable("{\"score\": 7", "not JSON").await;
    unusable("", "empty").await;
    unusable("7", "not an object").await;
    unusable("{\"score\": \"seven\"}", "invalid type").await;
    unusable("{\"score\": 70}", "0 to 10").await;
    unusable("{}", "missing field").await;
    unusable("{\"score\": 7, \"reason\": \"it is good\"}", "unknown field").await;
}

#[tokio::test]
async fn the_second_answer_counts_and_the_model_is_told_what_was_wrong() {
    for provider in BOTH {
        let server = StandIn::start(provider, [Act::Writes("seven"), Act::Writes(GOOD)]).await;
        let reply = server.ask().await;
        assert_eq!((reply.answer.is_ok(), reply.calls, reply.failures), (true, 2, 1));
        let last = &server.asked()[1].body["messages"][1]["content"];
        assert!(last.as_str().unwrap().contains("could not be used: it is not JSON"), "{last}");
    }
}

#[tokio::test]
async fn a_text_without_end_is_no_answer() {
    let long: &'static str =
        Box::leak(format!("{{\"score\": 7, \"x\": \"{}\"}}", "x".repeat(70_000)).into_boxed_str());
    unusable(long, "longer than").await;
    for provider in BOTH {
        let huge = Act::Answers(around(provider, &"x".repeat(2 << 20)));
        let server = StandIn::start(provider, [huge.clone(), huge]).await;
        let error = server.ask().await.answer.unwrap_err().to_string();
        assert!(error.contains("exceeds"), "{error}");
    }
}

async fn answered(provider: Provider, answer: Value, calls: u32, why: &str) {
    let server = StandIn::start(provider, [Act::Answers(answer.clone()), Act::Answers(answer)]).await;
    let reply = server.ask().await;
    let error = reply.answer.unwrap_err().to_string();
    assert!(error.contains(why) && reply.calls == calls, "{error} after {} calls", reply.calls);
}

#[tokio::test]
async fn answers_that_are_cut_off_declined_or_of_another_api() {
    let ollama = |done: bool, reason: &str| json!({"done": done, "done_reason": reason, "message": {"role": "assistant", "content": GOOD}});
    answered(Provider::Ollama, ollama(true, "length"), 2, "cut off").await;
    answered(Provider::Ollama, ollama(false, "stop"), 2, "cut off").await;
    answered(Provider::Ollama, around(Provider::OpenAi, GOOD), 2, "is base_url right?").await;

    let openai =
        |finish: &str, message: Value| json!({"choices": [{"finish_reason": finish, "message": message}]});
    answered(Provider::OpenAi, openai("length", json!({"content": GOOD})), 2, "cut off").await;
    answered(Provider::OpenAi, openai("stop", json!({"content": null})), 2, "no content").await;
    answered(Provider::OpenAi, json!({"choices": []}), 2, "no choices").await;
    answered(Provider::OpenAi, around(Provider::Ollama, GOOD), 2, "is base_url right?").await;
    // A retry would not help here.
    answered(
        Provider::OpenAi,
        openai("stop", json!({"content": null, "refusal": "I cannot."})),
        1,
        "I cannot",
    )
    .await;
    answered(Provider::OpenAi, openai("content_filter", json!({"content": "{}"})), 1, "content filter").await;
}

//! What a language model is asked: the values of each question, the form of its answer, and what is wrong with an answer.

use crate::ports::{Prompt, Purpose, Values};
use lyra_domain::{QuestionId, TaskId};
use lyra_text::claim::MAX_CHARS;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Most characters of a passage or abstract that is sent.
const MAX_TEXT: usize = 6_000;
/// Most characters of a title, a heading, an address, the words of a link.
const MAX_LINE: usize = 500;
/// Most claims in one answer.
const MAX_CLAIMS: usize = 20;

/// A question with an answer of its own type.
pub(crate) trait Question: Send + Sync {
    /// What the JSON is read into; unknown fields are refused.
    type Answer: DeserializeOwned + Send;

    const PURPOSE: Purpose;

    /// What it is about, as it is remembered: a fragment's id, a work's id, an address.
    fn subject(&self) -> String;

    /// The values that its template is filled with: Lyra's or the user's, and those from pages.
    fn values(&self) -> (Values, Values);

    fn schema() -> Value;

    /// What is wrong with an answer of the right form.
    fn wrong(answer: &Self::Answer) -> Option<String>;

    fn prompt(&self) -> Prompt {
        let (given, untrusted) = self.values();
        Prompt { purpose: Self::PURPOSE, given, untrusted, schema: Self::schema() }
    }

    /// The same question of the same task has the same id.
    fn id(&self, task: &TaskId) -> QuestionId {
        let (given, untrusted) = self.values();
        let mut parts = vec![task.as_str(), Self::PURPOSE.as_str()];
        parts.extend(given.iter().chain(&untrusted).map(|(_, value)| value.as_str()));
        QuestionId::derive(&parts)
    }

    /// Reads an answer, or says what is wrong with it.
    fn read(value: &Value) -> Result<Self::Answer, String> {
        let answer = Self::Answer::deserialize(value).map_err(|error| error.to_string())?;
        Self::wrong(&answer).map_or(Ok(answer), Err)
    }
}

/// Checkable statements of a passage.
#[derive(Debug)]
pub(crate) struct ExtractClaims<'a> {
    pub(crate) fragment: &'a str,
    pub(crate) question: &'a str,
    pub(crate) limit: usize,
    pub(crate) title: &'a str,
    pub(crate) heading: &'a str,
    pub(crate) text: &'a str,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claims {
    pub(crate) claims: Vec<StatedClaim>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatedClaim {
    pub(crate) text: String,
    /// How sure the model is that the passage states it, 0 to 1. Never evidence.
    pub(crate) confidence: f64,
}

impl Question for ExtractClaims<'_> {
    type Answer = Claims;

    const PURPOSE: Purpose = Purpose::ExtractClaims;

    fn subject(&self) -> String {
        self.fragment.to_owned()
    }

    fn values(&self) -> (Values, Values) {
        let given = vec![("question", line(self.question)), ("limit", self.limit.to_string())];
        let untrusted =
            vec![("title", line(self.title)), ("heading", line(self.heading)), ("text", clipped(self.text))];
        (given, untrusted)
    }

    fn schema() -> Value {
        object(&json!({
            "claims": {
                "type": "array",
                "items": object(&json!({"text": {"type": "string"}, "confidence": {"type": "number"}})),
            },
        }))
    }

    fn wrong(answer: &Claims) -> Option<String> {
        if answer.claims.len() > MAX_CLAIMS {
            return Some(format!("it has {} claims", answer.claims.len()));
        }
        answer.claims.iter().find_map(|claim| {
            let length = claim.text.trim().chars().count();
            if length == 0 || length > MAX_CHARS {
                return Some(format!("a claim has {length} characters; 1 to {MAX_CHARS} are allowed"));
            }
            (!(0.0..=1.0).contains(&claim.confidence)).then(|| "a confidence is not in 0 to 1".to_owned())
        })
    }
}

/// How useful a work is for a question. Says nothing of what it supports.
#[derive(Debug)]
pub(crate) struct Usefulness<'a> {
    pub(crate) work: &'a str,
    pub(crate) question: &'a str,
    pub(crate) title: &'a str,
    pub(crate) text: &'a str,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Score {
    /// 0 to 10.
    pub(crate) score: f64,
}

impl Question for Usefulness<'_> {
    type Answer = Score;

    const PURPOSE: Purpose = Purpose::Relevance;

    fn subject(&self) -> String {
        self.work.to_owned()
    }

    fn values(&self) -> (Values, Values) {
        let untrusted = vec![("title", line(self.title)), ("text", clipped(self.text))];
        (vec![("question", line(self.question))], untrusted)
    }

    fn schema() -> Value {
        object(&json!({"score": {"type": "number"}}))
    }

    fn wrong(answer: &Score) -> Option<String> {
        (!(0.0..=10.0).contains(&answer.score)).then(|| "the score is not in 0 to 10".to_owned())
    }
}

/// Whether a page cites what it links to.
#[derive(Debug)]
pub(crate) struct IsCitation<'a> {
    pub(crate) title: &'a str,
    pub(crate) sentence: &'a str,
    pub(crate) link: &'a str,
    pub(crate) address: &'a str,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cited {
    pub(crate) cited: YesNo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum YesNo {
    Yes,
    No,
}

impl Question for IsCitation<'_> {
    type Answer = Cited;

    const PURPOSE: Purpose = Purpose::Citation;

    fn subject(&self) -> String {
        line(self.address)
    }

    fn values(&self) -> (Values, Values) {
        let untrusted = vec![
            ("title", line(self.title)),
            ("sentence", line(self.sentence)),
            ("link", line(self.link)),
            ("address", line(self.address)),
        ];
        (Vec::new(), untrusted)
    }

    fn schema() -> Value {
        object(&json!({"cited": {"type": "string", "enum": ["YES", "NO"]}}))
    }

    fn wrong(_: &Cited) -> Option<String> {
        None
    }
}

/// A question of this kind with made-up values: for trying templates and servers.
pub fn sample_prompt(purpose: Purpose) -> Prompt {
    let (question, title) = ("Does a nap improve memory?", "Naps and word recall");
    let text = "Adults who napped for an hour recalled 12% more words than adults who stayed awake.";
    match purpose {
        Purpose::ExtractClaims => {
            ExtractClaims { fragment: "", question, limit: 2, title, heading: "Results", text }.prompt()
        }
        Purpose::Relevance => Usefulness { work: "", question, title, text }.prompt(),
        Purpose::Citation => {
            let sentence = "A trial of 2019 found that naps improve recall.";
            IsCitation { title, sentence, link: "trial of 2019", address: "https://doi.org/10.1000/nap" }
                .prompt()
        }
    }
}

/// Whether this is an answer to a question of this kind.
///
/// # Errors
/// What is wrong with it.
pub fn check_answer(purpose: Purpose, answer: &Value) -> Result<(), String> {
    match purpose {
        Purpose::ExtractClaims => ExtractClaims::read(answer).map(drop),
        Purpose::Relevance => Usefulness::read(answer).map(drop),
        Purpose::Citation => IsCitation::read(answer).map(drop),
    }
}

/// Schema of an object with exactly these fields. Keywords that some servers refuse (lengths, ranges) are left out:
/// answers are checked here anyway.
fn object(properties: &Value) -> Value {
    let names: Vec<&String> = properties.as_object().into_iter().flat_map(serde_json::Map::keys).collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

/// On one line, and not too long.
fn line(text: &str) -> String {
    lyra_text::normalise(text).chars().take(MAX_LINE).collect()
}

fn clipped(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(purpose: Purpose, answer: &Value, expect: bool) {
        let read = check_answer(purpose, answer);
        assert_eq!(read.is_ok(), expect, "{purpose} {answer} {read:?}");
    }

    #[test]
    fn answers_are_read_strictly() {
        use Purpose::{Citation, ExtractClaims, Relevance};
        let claim =
            |text: &str, confidence: Value| json!({"claims": [{"text": text, "confidence": confidence}]});
        check(ExtractClaims, &json!({"claims": []}), true);
        check(ExtractClaims, &claim("Naps help.", json!(0.9)), true);
        check(ExtractClaims, &claim("Naps help.", json!(1)), true);
        check(ExtractClaims, &claim("Naps help.", json!("high")), false);
        check(ExtractClaims, &claim("Naps help.", json!(9)), false);
        check(ExtractClaims, &claim(" ", json!(1)), false);
        check(ExtractClaims, &claim(&"x".repeat(301), json!(1)), false);
        check(ExtractClaims, &json!({"claims": [], "verdict": "true"}), false);
        check(ExtractClaims, &json!({"claims": ["Naps help."]}), false);
        check(ExtractClaims, &json!({}), false);
        check(Relevance, &json!({"score": 7}), true);
        check(Relevance, &json!({"score": 7.5}), true);
        check(Relevance, &json!({"score": 11}), false);
        check(Relevance, &json!({"score": -1}), false);
        check(Relevance, &json!({"score": null}), false);
        check(Relevance, &json!({"score": 7, "supports": true}), false);
        check(Citation, &json!({"cited": "YES"}), true);
        check(Citation, &json!({"cited": "NO"}), true);
        check(Citation, &json!({"cited": "maybe"}), false);
        check(Citation, &json!({"cited": true}), false);
    }

    #[test]
    fn a_question_is_known_by_its_task_and_its_words() {
        let (one, other) = ("task_1".parse().unwrap(), "task_2".parse().unwrap());
        let ask = |title| Usefulness { work: "doi:1", question: "q", title, text: "t" };
        assert_eq!(ask("a").id(&one), ask("a").id(&one));
        assert_ne!(ask("a").id(&one), ask("a").id(&other));
        assert_ne!(ask("a").id(&one), ask("b").id(&one));
    }

    #[test]
    fn long_texts_are_cut() {
        let text = "x".repeat(50_000);
        let prompt = Usefulness { work: "", question: "q", title: &text, text: &text }.prompt();
        let sizes: Vec<usize> = prompt.untrusted.iter().map(|(_, value)| value.len()).collect();
        assert_eq!(sizes, [MAX_LINE, MAX_TEXT]);
    }
}

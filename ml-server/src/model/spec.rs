//! The specification of a model: everything except its weights.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::head::Pooling;
use super::labels::NliLabels;
use super::roberta::PADDING;
use crate::error::Error;

/// Architectures that this build runs, for messages.
pub const SUPPORTED_ARCHITECTURES: &str = "BertModel, RobertaModel, XLMRobertaModel, DebertaV2Model, ModernBertModel, \
     MPNetModel, and ForSequenceClassification of each";

/// A family of models that share tensor names and computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// BERT and MiniLM.
    Bert,
    /// RoBERTa.
    Roberta,
    /// XLM-RoBERTa, multilingual E5, bge-m3.
    XlmRoberta,
    /// DeBERTa-v2 and -v3.
    DebertaV2,
    /// ModernBERT.
    ModernBert,
    /// MPNet.
    Mpnet,
}

impl Architecture {
    const ALL: [Self; 6] =
        [Self::Bert, Self::Roberta, Self::XlmRoberta, Self::DebertaV2, Self::ModernBert, Self::Mpnet];
    /// Those that a verifier may have.
    const VERIFIERS: [Self; 2] = [Self::Bert, Self::Mpnet];

    /// Name as in `model_type` and GGUF's `general.architecture`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bert => "bert",
            Self::Roberta => "roberta",
            Self::XlmRoberta => "xlm-roberta",
            Self::DebertaV2 => "deberta-v2",
            Self::ModernBert => "modernbert",
            Self::Mpnet => "mpnet",
        }
    }

    /// Prefix of its class names in `transformers`.
    const fn class(self) -> &'static str {
        match self {
            Self::Bert => "Bert",
            Self::Roberta => "Roberta",
            Self::XlmRoberta => "XLMRoberta",
            Self::DebertaV2 => "DebertaV2",
            Self::ModernBert => "ModernBert",
            Self::Mpnet => "MPNet",
        }
    }

    /// Longest input in tokens for which `config` has positions, if stated.
    pub fn positions(self, config: &Value) -> Option<usize> {
        let number = |key: &str| config.get(key)?.as_u64().map(|number| number as usize);
        let rows = number("max_position_embeddings")?;
        Some(match self {
            // The rows up to the padding id's are never a token's position.
            Self::Roberta | Self::XlmRoberta => {
                rows.saturating_sub(number("pad_token_id").unwrap_or(PADDING as usize) + 1)
            }
            Self::Mpnet => rows.saturating_sub(PADDING as usize + 1),
            Self::Bert | Self::DebertaV2 | Self::ModernBert => rows,
        })
    }
}

/// The task that a model is trained for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    /// One vector per text.
    Embed(Pooling),
    /// One logit per label; names in the order of the outputs.
    Classify(Vec<String>),
    /// The same for a claim and a passage, and one more logit for each sentence.
    Verify(Vec<String>),
}

impl Task {
    /// The name of this task in messages.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Embed(_) => "an embedder",
            Self::Classify(_) => "a classifier",
            Self::Verify(_) => "a verifier",
        }
    }

    /// Names of the labels; empty for an embedder.
    pub fn labels(&self) -> &[String] {
        match self {
            Self::Embed(_) => &[],
            Self::Classify(labels) | Self::Verify(labels) => labels,
        }
    }
}

/// Description of a model.
#[derive(Debug, Clone)]
pub struct ModelSpec {
    /// Name that answers and `/info` carry.
    pub name: String,
    /// Revision on the hub.
    pub revision: Option<String>,
    /// Family.
    pub architecture: Architecture,
    /// Task.
    pub task: Task,
    /// The original `config.json`.
    pub config: Value,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: usize,
    /// Whether segment ids distinguish the two texts of a pair.
    pub segments: bool,
    /// Languages that the model reads; empty when not stated.
    pub languages: Vec<String>,
    /// License, an SPDX expression.
    pub license: Option<String>,
    /// Origin of the weights.
    pub source: Option<String>,
    /// Texts to prepend to inputs, by name.
    pub prompts: BTreeMap<String, String>,
}

impl ModelSpec {
    /// The configuration as an architecture reads it. `path` is for the message.
    ///
    /// # Errors
    /// When a field is missing or has another type.
    pub fn read_config<T: DeserializeOwned>(&self, path: &Path) -> Result<T, Error> {
        T::deserialize(&self.config).map_err(|e| Error::malformed(path, format!("configuration: {e}")))
    }

    /// Least probability of a side for taking it, in 0..=1, where a verifier states one.
    pub fn threshold(&self) -> Option<f64> {
        self.config.get(THRESHOLD)?.as_f64()
    }

    /// Precision of sides at [`threshold`](Self::threshold), in 0..=1, if a verifier states it.
    pub fn threshold_precision(&self) -> Option<f64> {
        self.config.get(THRESHOLD_PRECISION)?.as_f64()
    }
}

/// Key of a model's task in `config.json`, for architectures that do not imply it.
const TASK: &str = "lyra_task";
/// Its value for a verifier.
const VERIFIER: &str = "verifier";
/// Key of [`ModelSpec::threshold`].
const THRESHOLD: &str = "lyra_threshold";
/// Key of [`ModelSpec::threshold_precision`].
const THRESHOLD_PRECISION: &str = "lyra_threshold_precision";

/// The fields of a `config.json` that select the implementation.
#[derive(Debug, Deserialize)]
struct Kind {
    #[serde(default)]
    model_type: String,
    #[serde(default)]
    architectures: Vec<String>,
    #[serde(default)]
    id2label: BTreeMap<String, String>,
}

/// Architecture and task; `None` for an embedder, whose pooling is not in its configuration.
///
/// `model` names the model in messages, `path` the file that `config` was read from. `embeds` means that other files
/// make it an embedder: many of those still have their original class in the configuration.
///
/// # Errors
/// [`Error::UnsupportedArchitecture`] with the found and the supported architectures; [`Error::Malformed`] for an
/// invalid verifier.
pub fn detect(
    model: &str,
    config: &Value,
    path: &Path,
    embeds: bool,
) -> Result<(Architecture, Option<Task>), Error> {
    let kind: Kind = serde_json::from_value(config.clone())
        .map_err(|e| Error::malformed(path, format!("configuration: {e}")))?;
    let class = kind.architectures.first().map_or("", String::as_str);
    let unsupported = || Error::UnsupportedArchitecture {
        model: model.to_owned(),
        found: match (class, kind.model_type.as_str()) {
            ("", "") => "unknown (its configuration names none)".to_owned(),
            ("", model_type) => model_type.to_owned(),
            (class, _) => class.to_owned(),
        },
    };
    let known = Architecture::ALL.into_iter().find(|known| known.name() == kind.model_type);
    let architecture = known.ok_or_else(unsupported)?;
    let verifies = verifies(config).map_err(|e| Error::malformed(path, e))?;
    match class.strip_prefix(architecture.class()) {
        Some("ForSequenceClassification") => {
            let labels = labels(&kind.id2label).map_err(|e| Error::malformed(path, e))?;
            if !verifies {
                return Ok((architecture, Some(Task::Classify(labels))));
            }
            if !Architecture::VERIFIERS.contains(&architecture) {
                return Err(Error::malformed(
                    path,
                    format!("{class} cannot be a verifier; {VERIFIER_CLASSES} can"),
                ));
            }
            NliLabels::from_names(&labels).map_err(|e| Error::malformed(path, e))?;
            Ok((architecture, Some(Task::Verify(labels))))
        }
        _ if verifies => {
            Err(Error::malformed(path, format!("`{TASK}` is `{VERIFIER}`, which needs {VERIFIER_CLASSES}")))
        }
        Some("Model") => Ok((architecture, None)),
        Some("ForMaskedLM") if embeds => Ok((architecture, None)),
        _ if class.is_empty() => Ok((architecture, None)),
        _ => Err(unsupported()),
    }
}

/// Classes that a verifier may have, for messages.
const VERIFIER_CLASSES: &str = "MPNetForSequenceClassification or BertForSequenceClassification";

/// Whether a configuration is that of a verifier.
fn verifies(config: &Value) -> Result<bool, String> {
    for key in [THRESHOLD, THRESHOLD_PRECISION] {
        match config.get(key) {
            None | Some(Value::Null) => {}
            Some(value) if value.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number)) => {}
            Some(value) => return Err(format!("`{key}` is {value}; it must be a number from 0 to 1")),
        }
    }
    match config.get(TASK) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::String(task)) if task == VERIFIER => Ok(true),
        Some(task) => Err(format!("`{TASK}` is {task}; only \"{VERIFIER}\" is known")),
    }
}

/// Names in the order of the outputs: the keys are numbers written as texts, so "10" must not come before "2".
fn labels(id2label: &BTreeMap<String, String>) -> Result<Vec<String>, String> {
    (0..id2label.len())
        .map(|index| {
            id2label.get(&index.to_string()).cloned().ok_or_else(|| format!("id2label has no entry {index}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(config: &Value) -> Result<(Architecture, Option<Task>), String> {
        detect("m", config, Path::new("config.json"), false).map_err(|error| error.to_string())
    }

    #[test]
    fn architecture_and_labels() {
        let bert = json!({"model_type": "bert", "architectures": ["BertModel"]});
        assert_eq!(check(&bert).unwrap(), (Architecture::Bert, None));
        for architecture in Architecture::ALL {
            assert!(SUPPORTED_ARCHITECTURES.contains(&format!("{}Model", architecture.class())));
        }
        let id2label: BTreeMap<String, String> = (0..11).map(|i| (i.to_string(), format!("l{i}"))).collect();
        let classifier = json!({
            "model_type": "xlm-roberta", "architectures": ["XLMRobertaForSequenceClassification"],
            "id2label": id2label
        });
        let (architecture, labels) = check(&classifier).unwrap();
        let labels = labels.unwrap().labels().to_vec();
        assert_eq!(architecture, Architecture::XlmRoberta);
        assert_eq!((labels[2].as_str(), labels[10].as_str()), ("l2", "l10"));
    }

    #[test]
    fn unsupported_says_what_was_found_and_what_works() {
        let error =
            check(&json!({"model_type": "llama", "architectures": ["LlamaForCausalLM"]})).unwrap_err();
        assert!(error.contains("LlamaForCausalLM") && error.contains("BertModel"), "{error}");
        assert!(check(&json!({})).unwrap_err().contains("names none"));
        let masked = json!({"model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"]});
        assert!(check(&masked).unwrap_err().contains("ModernBertForMaskedLM"));
        assert!(detect("m", &masked, Path::new("config.json"), true).is_ok(), "as in all-mpnet-base-v2");
        let crossed = json!({"model_type": "bert", "architectures": ["RobertaModel"]});
        assert!(check(&crossed).unwrap_err().contains("RobertaModel"));
    }

    #[test]
    fn verifiers_are_told_from_classifiers() {
        let config = |class: &str, model_type: &str, labels: [&str; 3]| {
            json!({
                "architectures": [class], "model_type": model_type, "lyra_task": "verifier", "lyra_threshold": 0.7,
                "id2label": {"0": labels[0], "1": labels[1], "2": labels[2]},
            })
        };
        let labels = ["contradiction", "entailment", "neutral"];
        let verifier = config("MPNetForSequenceClassification", "mpnet", labels);
        let task = check(&verifier).unwrap().1.unwrap();
        assert!(matches!(&task, Task::Verify(names) if names == &labels));
        let changed = |key: &str, value: Value| {
            let mut config = verifier.clone();
            config[key] = value;
            check(&config)
        };
        assert!(matches!(changed("lyra_task", Value::Null).unwrap().1, Some(Task::Classify(_))));
        for (key, value, found) in [
            ("lyra_task", json!("judge"), "judge"),
            ("lyra_threshold", json!(1.5), "1.5"),
            ("lyra_threshold_precision", json!("0.9"), "0.9"),
            ("architectures", json!(["MPNetModel"]), "MPNetForSequenceClassification"),
        ] {
            let error = changed(key, value).unwrap_err();
            assert!(error.contains(found), "{error}");
        }
        let error = check(&config("RobertaForSequenceClassification", "roberta", labels)).unwrap_err();
        assert!(error.contains("cannot be a verifier"), "{error}");
        let error = check(&config("BertForSequenceClassification", "bert", ["a", "b", "c"])).unwrap_err();
        assert!(error.contains("entailment"), "{error}");
    }

    #[test]
    fn rows_up_to_the_padding_id_are_not_positions() {
        let config = json!({"max_position_embeddings": 514, "pad_token_id": 1});
        assert_eq!(Architecture::XlmRoberta.positions(&config), Some(512));
        assert_eq!(Architecture::Roberta.positions(&json!({"max_position_embeddings": 514})), Some(512));
        assert_eq!(
            Architecture::Mpnet.positions(&json!({"max_position_embeddings": 514, "pad_token_id": 0})),
            Some(512)
        );
        assert_eq!(Architecture::Bert.positions(&config), Some(514));
        assert_eq!(Architecture::Bert.positions(&json!({})), None);
    }
}

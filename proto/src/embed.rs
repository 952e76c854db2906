//! `POST /embed`: texts in, one vector per text out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{yes, yes_when_null};

/// Body of `POST /embed`, as TEI defines it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmbedRequest {
    /// One text or a list of texts; token ids are accepted as well.
    pub inputs: EmbedInputs,
    /// Scale every vector to length 1.
    #[serde(default = "yes")]
    pub normalize: bool,
    /// Cut texts that are longer than the model reads; with `false` they are refused (422).
    #[serde(default = "yes", deserialize_with = "yes_when_null")]
    pub truncate: bool,
    /// Which end of a text to truncate; default `right`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation_direction: Option<TruncationDirection>,
    /// Keep only this many leading components (and normalize again); for models trained for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<usize>,
    /// Name of one of the model's prompts, prepended to every text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_name: Option<String>,
}

impl EmbedRequest {
    /// A request for `inputs` with everything else at its default.
    pub fn new(inputs: Vec<String>) -> Self {
        Self {
            inputs: EmbedInputs::Many(inputs.into_iter().map(EmbedInput::Text).collect()),
            normalize: true,
            truncate: true,
            truncation_direction: None,
            dimensions: None,
            prompt_name: None,
        }
    }
}

/// Answer of `POST /embed`: one row per input, in the order of the inputs.
pub type EmbedResponse = Vec<Vec<f32>>;

/// One input or several; one input is answered like a list of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a text, a list of texts, a list of token ids, or a list of such lists"
)]
pub enum EmbedInputs {
    /// `"text"` or `[1, 2, …]`
    One(EmbedInput),
    /// `["text", …]` or `[[1, 2, …], …]`
    Many(Vec<EmbedInput>),
}

/// One input to embed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EmbedInput {
    /// A text.
    Text(String),
    /// The same as token ids of the hosted model (what `/tokenize` answers), with or without its special tokens.
    Ids(Vec<u32>),
}

impl From<EmbedInputs> for Vec<EmbedInput> {
    fn from(inputs: EmbedInputs) -> Self {
        match inputs {
            // An empty list means no inputs, not one input without ids.
            EmbedInputs::One(EmbedInput::Ids(ids)) if ids.is_empty() => Vec::new(),
            EmbedInputs::One(input) => vec![input],
            EmbedInputs::Many(inputs) => inputs,
        }
    }
}

/// One text or several; one text is answered like a list of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "`inputs` must be a text or a list of texts")]
pub enum Inputs {
    /// `"inputs": "text"`
    One(String),
    /// `"inputs": ["text", …]`
    Many(Vec<String>),
}

impl From<Inputs> for Vec<String> {
    fn from(inputs: Inputs) -> Self {
        match inputs {
            Inputs::One(text) => vec![text],
            Inputs::Many(texts) => texts,
        }
    }
}

/// The end of a text at which tokens are dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TruncationDirection {
    /// Keep the end of the text.
    #[serde(alias = "Left")]
    Left,
    /// Keep the beginning of the text.
    #[default]
    #[serde(alias = "Right")]
    Right,
}

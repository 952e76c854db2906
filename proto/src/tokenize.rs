//! `POST /tokenize`: texts in, the tokens that the model reads out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Inputs, yes};

/// Body of `POST /tokenize`, as TEI defines it. Nothing is truncated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TokenizeRequest {
    /// One text, or a list of texts.
    pub inputs: Inputs,
    /// Put the model's special tokens around every text.
    #[serde(default = "yes")]
    pub add_special_tokens: bool,
    /// Name of one of the model's prompts, prepended to every text; offsets then count from its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_name: Option<String>,
}

/// Answer of `POST /tokenize`: the tokens of every input, in order.
pub type TokenizeResponse = Vec<Vec<SimpleToken>>;

/// One token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimpleToken {
    /// Id in the model's vocabulary.
    pub id: u32,
    /// Its part of the text; for a special token its name.
    pub text: String,
    /// Whether the tokenizer added it.
    pub special: bool,
    /// First byte of that part in the text; null for a special token.
    pub start: Option<usize>,
    /// The byte after that part; null for a special token.
    pub stop: Option<usize>,
}

//! `POST /v1/embeddings`: the embeddings API of OpenAI.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EmbedInputs, ErrorBody, ErrorType, Usage};

/// Body of `POST /v1/embeddings`. Vectors always have length 1, and texts beyond the model's limit are truncated at the
/// end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmbeddingsRequest {
    /// One text or a list of texts; token ids are accepted as well, but must come from the hosted model's tokenizer.
    pub input: EmbedInputs,
    /// Any name is accepted and ignored: the server hosts one embedder, and the answer names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Encoding of vectors; default `float`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding_format: Option<EncodingFormat>,
    /// Keep only this many leading components (and normalize again); for models trained for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<usize>,
    /// Accepted and ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// How vectors are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EncodingFormat {
    /// A list of numbers.
    #[default]
    Float,
    /// Little-endian f32, in base64.
    Base64,
}

/// Body of an answer of `POST /v1/embeddings` that is not a success. OpenAI's clients show only this form's message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmbeddingsErrorBody {
    /// The failure.
    pub error: EmbeddingsError,
}

/// An [`ErrorBody`] with OpenAI's field names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmbeddingsError {
    /// What went wrong and what to do about it, for a person.
    pub message: String,
    /// What went wrong, for a program.
    #[serde(rename = "type")]
    pub error_type: ErrorType,
    /// Always null.
    pub param: Option<String>,
    /// Always null.
    pub code: Option<String>,
    /// Identifies this failure in the server's log.
    pub error_id: String,
}

impl From<ErrorBody> for EmbeddingsErrorBody {
    fn from(ErrorBody { error, error_type, error_id }: ErrorBody) -> Self {
        Self { error: EmbeddingsError { message: error, error_type, param: None, code: None, error_id } }
    }
}

/// Answer of `POST /v1/embeddings`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EmbeddingsResponse {
    /// Always `list`.
    pub object: String,
    /// One element per input, in the order of the inputs.
    pub data: Vec<Embedding>,
    /// Name of the hosted embedder.
    pub model: String,
    /// Tokens spent.
    pub usage: Usage,
}

/// The embedding of one input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Embedding {
    /// Always `embedding`.
    pub object: String,
    /// Place of the input in the request, from 0.
    pub index: usize,
    /// The vector.
    pub embedding: EmbeddingVector,
}

/// A vector as numbers or as base64, see [`EncodingFormat`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EmbeddingVector {
    /// `[0.1, …]`
    Float(Vec<f32>),
    /// Little-endian f32, in base64.
    Base64(String),
}

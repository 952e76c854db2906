//! Wire types of the ml-server: requests, answers and error bodies.
//!
//! Both sides of the wire use these types, so a field exists in exactly one place. The bodies of `/embed`, `/predict`,
//! `/similarity` and `/tokenize` are those of Hugging Face's text-embeddings-inference (TEI), those of `/v1/embeddings` are
//! OpenAI's; `/nli`, `/verify` and `/info` are Lyra's own. No I/O happens here.

mod embed;
mod error;
mod info;
mod nli;
mod openai;
mod predict;
mod similarity;
mod tokenize;
mod verify;

pub use embed::{EmbedInput, EmbedInputs, EmbedRequest, EmbedResponse, Inputs, TruncationDirection};
pub use error::{ErrorBody, ErrorType};
pub use info::{
    Backend, EmbedPrompts, InfoResponse, Limits, ModelInfo, ModelKind, PassedOver, PassedOverCause,
    ReadyResponse, ReadyState,
};
pub use nli::{NliLabel, NliPair, NliRequest, NliResponse, NliResult, NliScores};
pub use openai::{
    Embedding, EmbeddingVector, EmbeddingsError, EmbeddingsErrorBody, EmbeddingsRequest, EmbeddingsResponse,
    EncodingFormat,
};
pub use predict::{PredictInputs, PredictRequest, PredictResponse, Prediction};
pub use similarity::{SimilarityInputs, SimilarityParameters, SimilarityRequest, SimilarityResponse};
pub use tokenize::{SimpleToken, TokenizeRequest, TokenizeResponse};
pub use verify::{VerifyItem, VerifyRequest, VerifyResponse, VerifyResult};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Header with the shape of an octet-stream answer of `/embed`: `rows,columns`.
pub const EMBEDDING_SHAPE_HEADER: &str = "x-embedding-shape";

/// Tokens spent on one request, after truncation and with special tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens read from the inputs.
    pub prompt_tokens: usize,
    /// All tokens; equal to `prompt_tokens` because nothing is generated.
    pub total_tokens: usize,
}

impl Usage {
    /// Usage of a request that read `tokens` tokens.
    pub const fn of(tokens: usize) -> Self {
        Self { prompt_tokens: tokens, total_tokens: tokens }
    }
}

pub(crate) const fn yes() -> bool {
    true
}

/// A flag that defaults to on; TEI's clients may send `null` for the default.
pub(crate) fn yes_when_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::deserialize(deserializer).map(|flag| flag.unwrap_or(true))
}

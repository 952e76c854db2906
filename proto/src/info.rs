//! `GET /info` and `GET /ready`: the hosted models and the server's state.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Answer of `GET /info`. Models appear here once they are loaded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InfoResponse {
    /// Version of the server.
    pub version: String,
    /// The hosted models.
    pub models: Vec<ModelInfo>,
    /// Limits for one client.
    pub limits: Limits,
}

impl InfoResponse {
    /// The model of the given kind, if the server hosts one.
    pub fn model(&self, kind: ModelKind) -> Option<&ModelInfo> {
        self.models.iter().find(|model| model.kind == kind)
    }
}

/// One hosted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelInfo {
    /// Name, hub id or file name.
    pub id: String,
    /// Revision on the hub, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The model's task.
    pub kind: ModelKind,
    /// Architecture family, for example `bert`.
    pub architecture: String,
    /// Length of one embedding, or number of labels of a classifier.
    pub dimension: usize,
    /// `mean` or `cls`; absent for a classifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooling: Option<String>,
    /// Labels in the order of the model's outputs; empty for an embedder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Least probability of a side for taking it, in 0..=1, where a verifier states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Precision of sides at that probability, in 0..=1, if a verifier states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold_precision: Option<f64>,
    /// Prompts of an embedder; absent for a classifier, and if it is unknown whether it needs any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<EmbedPrompts>,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: usize,
    /// Type of the stored matrices: `f32`, `f16`, `bf16` or `q8_0`.
    pub dtype: String,
    /// Where it runs, for example `cpu`.
    pub device: String,
    /// The code that computes there.
    #[serde(default)]
    pub backend: Backend,
    /// What was to compute it before that, and why it does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<PassedOver>,
    /// Languages that the model reads, as BCP 47 tags; empty means not stated.
    #[serde(default)]
    pub languages: Vec<String>,
    /// License of the weights as an SPDX expression, where stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
}

/// The code that computes a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// The server's own kernels.
    #[default]
    Native,
    /// Candle.
    Candle,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "native",
            Self::Candle => "candle",
        })
    }
}

/// A backend on a device that does not compute a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PassedOver {
    /// The code.
    pub backend: Backend,
    /// The device, for example `cuda:0`.
    pub device: String,
    /// Kind of the reason.
    pub cause: PassedOverCause,
    /// The reason in words.
    pub reason: String,
}

/// Why a backend does not compute a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PassedOverCause {
    /// The device cannot be opened.
    Unavailable,
    /// The backend does not compute models of this kind.
    Unsupported,
    /// It failed, for example because the device has too little memory.
    Failed,
    /// Its answers differ from those of the CPU.
    Wrong,
}

impl fmt::Display for PassedOverCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unavailable => "unavailable",
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
            Self::Wrong => "wrong",
        })
    }
}

/// The `prompt_name` for each kind of text; kinds without one are embedded without a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmbedPrompts {
    /// For questions and queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// For passages and documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passage: Option<String>,
}

/// A model's task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ModelKind {
    /// Texts to vectors, behind `/embed`.
    Embed,
    /// Premise and hypothesis to a label, behind `/nli`.
    Nli,
    /// Claim and passage to a label and a score for each sentence, behind `/verify`; and behind `/nli` if no NLI model
    /// is hosted.
    Verify,
}

/// Limits for one client; requests beyond them get 413 or 429.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Limits {
    /// Most inputs or pairs in one request.
    pub max_client_batch_size: usize,
    /// Largest request body in bytes.
    pub max_body_bytes: usize,
    /// Requests in progress at the same time; more are refused with 429.
    pub max_concurrent_requests: usize,
    /// Tokens waiting in one model's queue; more are refused with 429.
    pub max_queued_tokens: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_client_batch_size: 1_024,
            max_body_bytes: 8 * 1_024 * 1_024,
            max_concurrent_requests: 512,
            max_queued_tokens: 512 * 1_024,
        }
    }
}

/// Answer of `GET /ready`: 200 with `ready`, else 503.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReadyResponse {
    /// The server's state.
    pub status: ReadyState,
    /// Models that are still loading.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loading: Vec<String>,
    /// Why loading failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The server's lifecycle phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadyState {
    /// Models are loading; retry soon.
    Loading,
    /// Requests are answered.
    Ready,
    /// A model could not be loaded; this will not change.
    Failed,
    /// The server finishes its requests and will exit.
    Draining,
}

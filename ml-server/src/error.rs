//! All errors, in two groups: those that prevent a start, and those of a single request.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::http::StatusCode;
use lyra_proto::ErrorType;

/// A failure to find, read, convert or serve a model. The operator can fix it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The models of a profile are in none of the possible places.
    #[error(
        "cannot find the models of profile `{profile}` ({files}); looked in {looked}; set their folder with \
         --models-dir or \
         LYRA_MODELS_DIR"
    )]
    ModelsNotFound {
        /// The requested profile.
        profile: String,
        /// Files that the profile needs.
        files: String,
        /// Folders tried, in order.
        looked: String,
    },
    /// The model exists but this build does not support its architecture.
    #[error(
        "model `{model}` has architecture `{found}`, which this build cannot run; supported: {}",
        crate::model::SUPPORTED_ARCHITECTURES
    )]
    UnsupportedArchitecture {
        /// Model as named by the operator.
        model: String,
        /// Architecture found in its configuration.
        found: String,
    },
    /// The model has the wrong kind for its option.
    #[error("model `{model}` is {found}, but {wanted} is needed here")]
    WrongTask {
        /// Model as named by the operator.
        model: String,
        /// The model's kind.
        found: &'static str,
        /// The required kind.
        wanted: &'static str,
    },
    /// A file of the model is missing.
    #[error("model `{model}` lacks {file}; {hint}")]
    MissingFile {
        /// Model as named by the operator.
        model: String,
        /// The missing file or metadata key.
        file: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// A file of the model is damaged or inconsistent.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// File that was read.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// File that was accessed.
        path: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// The hub could not deliver the model.
    #[error("cannot get `{repo}` from the hub {endpoint}: {reason}")]
    Hub {
        /// Hub id.
        repo: String,
        /// Hub asked.
        endpoint: String,
        /// Cause and remedy.
        reason: String,
    },
    /// The requested device is unusable.
    #[error("cannot compute on the GPU: {0}")]
    Device(String),
    /// The device does not compute models of this kind.
    #[error("{0}; use another --backend or --device")]
    Unsupported(String),
    /// The requested backend is not in this build.
    #[error("cannot compute with candle: {0}")]
    Backend(String),
    /// The server could not start to listen or to run its threads.
    #[error("cannot start: {0}")]
    Start(String),
}

impl Error {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    #[expect(clippy::needless_pass_by_value, reason = "lets map_err hand over any error without a closure")]
    pub(crate) fn malformed(path: &Path, reason: impl ToString) -> Self {
        Self::Malformed { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// Why a batch was not computed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComputeError {
    /// Less memory is free than is needed.
    #[error("the GPU does not have enough free memory")]
    OutOfMemory,
    /// The device refused this work.
    #[error("the device failed: {0}")]
    Failed(String),
    /// The device no longer works.
    #[error("the GPU is lost: {0}; restart the server")]
    Lost(String),
}

/// The message of a panic.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text =
        panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the code panicked: {}", text.unwrap_or("no message"))
}

/// Why one request was not answered. Each kind has one status code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// 400
    #[error("{0}")]
    Empty(&'static str),
    /// 400
    #[error("{0}")]
    Malformed(String),
    /// 403
    #[error("{header} `{value}` is not allowed; allow more hosts with --allowed-host")]
    Forbidden {
        /// `Host` or `Origin`.
        header: &'static str,
        /// What it says.
        value: String,
    },
    /// 404
    #[error("no such route: {0}")]
    NoRoute(String),
    /// 405
    #[error("method {0} is not allowed here")]
    NoMethod(String),
    /// 408
    #[error("the body did not arrive within {0} s")]
    SlowBody(u64),
    /// 413
    #[error("the body is larger than {0} bytes; send fewer or shorter inputs per request")]
    BodyTooLarge(usize),
    /// 413
    #[error("the batch has {got} inputs, the limit is {limit}; split it")]
    BatchTooLarge {
        /// Inputs sent.
        got: usize,
        /// Inputs allowed.
        limit: usize,
    },
    /// 413
    #[error(
        "the texts have {got} bytes, the limit of /tokenize is {limit}; split them over several requests"
    )]
    TextTooLarge {
        /// Bytes of all texts.
        got: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// 415
    #[error("send the body as application/json, not as {0}")]
    MediaType(String),
    /// 422
    #[error("input {index} has {length} tokens, the limit is {limit}; shorten it or set truncate to true")]
    TooLong {
        /// Position in the batch, from 0.
        index: usize,
        /// Tokens of the input, special tokens included.
        length: usize,
        /// Most tokens that the model reads.
        limit: usize,
    },
    /// 422
    #[error(
        "input {index} has {length} characters, the limit of this model is {limit}; shorten it or set truncate to true"
    )]
    TooManyCharacters {
        /// Position in the batch, from 0.
        index: usize,
        /// Characters of the input.
        length: usize,
        /// Most characters that are read.
        limit: usize,
    },
    /// 422
    #[error(
        "the claim of input {index} has {length} tokens, the limit is {limit}; shorten it or set truncate to true"
    )]
    LongClaim {
        /// Position in the batch, from 0.
        index: usize,
        /// Tokens of the claim.
        length: usize,
        /// The model's limit for it in tokens.
        limit: usize,
    },
    /// 422
    #[error(
        "input {index} has token id {id}, but this model has 0 to {last}; ids of another tokenizer stand for other \
         words here: \
         send the text, or ids from this server's /tokenize"
    )]
    UnknownToken {
        /// Position in the batch, from 0.
        index: usize,
        /// The id.
        id: u32,
        /// The model's highest id.
        last: usize,
    },
    /// 424
    #[error("this server hosts no {0} model; start it with {1}")]
    NotHosted(&'static str, &'static str),
    /// 424
    #[error("inference failed: {0}")]
    Inference(String),
    /// 429
    #[error("overloaded: {reason}; retry in {} s", retry_after.as_secs())]
    Overloaded {
        /// Which limit was reached.
        reason: &'static str,
        /// When capacity should be available again.
        retry_after: Duration,
    },
    /// 503
    #[error("still loading {0}")]
    Loading(String),
    /// 503
    #[error("a model failed to load: {0}")]
    LoadFailed(String),
    /// 503
    #[error("{0}")]
    DeviceLost(String),
    /// 503
    #[error("the server is shutting down")]
    Draining,
    /// 503
    #[error("the model does not answer: {0}")]
    Unhealthy(String),
}

impl RequestError {
    /// Status code and error type of the answer.
    pub fn status(&self) -> (StatusCode, ErrorType) {
        match self {
            Self::Empty(_) => (StatusCode::BAD_REQUEST, ErrorType::Empty),
            Self::Malformed(_) => (StatusCode::BAD_REQUEST, ErrorType::Malformed),
            Self::Forbidden { .. } => (StatusCode::FORBIDDEN, ErrorType::Forbidden),
            Self::NoRoute(_) => (StatusCode::NOT_FOUND, ErrorType::NotFound),
            Self::NoMethod(_) => (StatusCode::METHOD_NOT_ALLOWED, ErrorType::NotFound),
            Self::SlowBody(_) => (StatusCode::REQUEST_TIMEOUT, ErrorType::Malformed),
            Self::BodyTooLarge(_) | Self::BatchTooLarge { .. } | Self::TextTooLarge { .. } => {
                (StatusCode::PAYLOAD_TOO_LARGE, ErrorType::TooLarge)
            }
            Self::MediaType(_) => (StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorType::UnsupportedMediaType),
            Self::TooLong { .. }
            | Self::TooManyCharacters { .. }
            | Self::LongClaim { .. }
            | Self::UnknownToken { .. } => (StatusCode::UNPROCESSABLE_ENTITY, ErrorType::Validation),
            Self::NotHosted(..) | Self::Inference(_) => (StatusCode::FAILED_DEPENDENCY, ErrorType::Backend),
            Self::Overloaded { .. } => (StatusCode::TOO_MANY_REQUESTS, ErrorType::Overloaded),
            Self::Loading(_)
            | Self::LoadFailed(_)
            | Self::DeviceLost(_)
            | Self::Draining
            | Self::Unhealthy(_) => (StatusCode::SERVICE_UNAVAILABLE, ErrorType::Unavailable),
        }
    }

    /// When to retry, if a retry can help.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Overloaded { retry_after, .. } => Some(*retry_after),
            Self::Loading(_) | Self::Draining => Some(Duration::from_secs(1)),
            _ => None,
        }
    }
}

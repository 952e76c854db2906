//! Why a file cannot be read.

/// Result of reading a file.
pub type Result<T, E = ReadError> = std::result::Result<T, E>;

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It has a password or digital rights management.
    #[error("the file is encrypted: save a copy without password or copy protection")]
    Encrypted,
    /// It breaks its format's rules; which, in words.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    /// It passes a limit; which, in words.
    #[error("the file is too large: {0}")]
    TooLarge(String),
    /// It is of another kind than assumed; which one and what would be right, in words.
    #[error("{0}")]
    OtherFormat(String),
    /// It holds no text: only pictures, or nothing.
    #[error("the file has no text")]
    NoText,
}

impl ReadError {
    pub(crate) fn damaged(why: impl Into<String>) -> Self {
        Self::Damaged(why.into())
    }
}

//! What can go wrong behind a port.

/// Result of a port call.
pub type Result<T, E = PortError> = std::result::Result<T, E>;

/// A failed port call; the variant says who can do something about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// The other side is down, slow or busy: trying again later may help.
    #[error("{what} is not available: {why}")]
    Unavailable {
        /// Which service or source.
        what: String,
        /// What was seen.
        why: String,
    },
    /// The request cannot be served as it is: the caller has to change it.
    #[error("{what} refused the request: {why}")]
    Refused {
        /// Which service or source.
        what: String,
        /// What is wrong with the request.
        why: String,
    },
    /// Something that was asked for by id does not exist.
    #[error("{what} does not exist")]
    NotFound {
        /// Kind and id.
        what: String,
    },
    /// A defect or a broken disk: an operator has to look.
    #[error("{what} failed: {why}")]
    Failed {
        /// Which service or source.
        what: String,
        /// What was seen.
        why: String,
    },
}

impl PortError {
    /// Trying the same call again later may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }
}

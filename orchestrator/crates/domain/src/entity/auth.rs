//! A page that requires a person.

use crate::{AuthId, JobId, Priority, TaskId, named_enum};
use serde::{Deserialize, Serialize};

/// A page that requires a person (CAPTCHA, consent, login), and the job that waits for it. The session that the visit
/// creates is a secret and stored elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthItem {
    /// Identifier.
    pub id: AuthId,
    /// Task of the waiting job.
    pub task_id: TaskId,
    /// The job that waits.
    pub job_id: Option<JobId>,
    /// The page that the person must open.
    pub url: String,
    /// The domain whose cookies are used.
    pub domain: String,
    /// `captcha`, `turnstile`, `cloudflare`, `consent`, `login`.
    pub auth_type: String,
    /// How much hangs on it.
    pub priority: Priority,
    /// Its status.
    pub status: AuthStatus,
    /// When it was queued, RFC 3339.
    pub created_at: String,
    /// When it expires, RFC 3339.
    pub expires_at: Option<String>,
}

named_enum! {
    /// Life of an item of the auth queue.
    pub enum AuthStatus {
        /// Not yet resolved.
        Pending = "pending",
        /// A person is at it.
        InProgress = "in_progress",
        /// A person has been there.
        Completed = "completed",
        /// A person left it out.
        Skipped = "skipped",
        /// It was not resolved in time.
        Expired = "expired",
        /// Its task was stopped.
        Cancelled = "cancelled",
    }
}

impl AuthStatus {
    /// Whether a person can still do something about it.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::InProgress)
    }
}

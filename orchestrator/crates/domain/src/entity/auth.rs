//! Something that waits for a person.

use crate::{AuthId, JobId, Priority, TaskId, named_enum};
use serde::{Deserialize, Serialize};

/// A page that wants a person, and the job that waits for it. What the person's visit leaves is a secret and not here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthItem {
    /// Identifier.
    pub id: AuthId,
    /// Task whose job waits.
    pub task_id: TaskId,
    /// The job that waits.
    pub job_id: Option<JobId>,
    /// Where a person has to go.
    pub url: String,
    /// The domain whose cookies count.
    pub domain: String,
    /// `captcha`, `turnstile`, `cloudflare`, `consent`, `login`.
    pub auth_type: String,
    /// How much hangs on it.
    pub priority: Priority,
    /// Where it stands.
    pub status: AuthStatus,
    /// When it was put into the queue, RFC 3339.
    pub created_at: String,
    /// When it will be given up, RFC 3339.
    pub expires_at: Option<String>,
}

named_enum! {
    /// Life of an item of the auth queue.
    pub enum AuthStatus {
        /// Waits for a person.
        Pending = "pending",
        /// A person is at it.
        InProgress = "in_progress",
        /// A person has been there.
        Completed = "completed",
        /// A person left it out.
        Skipped = "skipped",
        /// Nobody came in time.
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

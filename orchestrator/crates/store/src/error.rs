//! Errors of the store, by who can fix them.

use libsqlite3_sys as ffi;
use lyra_domain::AuthStatus;
use lyra_research::PortError;
use std::path::PathBuf;

/// Result of a store call.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A failed store call.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is something else.
    #[error("{} is not a Lyra database: {why}; move it away or choose another data folder", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// The actual state.
        why: String,
    },
    /// The database comes from a later version of the program.
    #[error(
        "{} was written by a newer version of Lyra (schema {found}, this version knows up to {known}); update lyra",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Schema version found.
        found: i64,
        /// Latest schema version known.
        known: i64,
    },
    /// A migration that was applied is not the one in this program.
    #[error("schema {version} of {} differs from the one in this version of Lyra", path.display())]
    Altered {
        /// The file.
        path: PathBuf,
        /// Schema version.
        version: i64,
    },
    /// The folder or the file cannot be written.
    #[error("cannot write to {}: {why}", path.display())]
    NotWritable {
        /// Folder or file.
        path: PathBuf,
        /// The system's error.
        why: String,
    },
    /// Another process writes for longer than the busy timeout.
    #[error("the database is busy: another process is writing")]
    Busy,
    /// No space left.
    #[error("the disk with the database is full")]
    DiskFull,
    /// The disk can no longer be written.
    #[error("the disk with the database is read-only")]
    ReadOnlyDisk,
    /// A process has the database open.
    #[error("{} is in use by {processes} running lyra process{}; stop {} first", folder.display(),
        if *processes == 1 { "" } else { "es" }, if *processes == 1 { "it" } else { "them" })]
    InUse {
        /// The data folder.
        folder: PathBuf,
        /// How many.
        processes: usize,
    },
    /// A task that still works cannot be deleted.
    #[error("{task} still has {jobs} jobs waiting or running; stop it first")]
    TaskActive {
        /// The task.
        task: lyra_domain::TaskId,
        /// Its open jobs.
        jobs: u64,
    },
    /// An active token has that name.
    #[error("a token `{name}` already exists; revoke it first, or choose another name")]
    TokenExists {
        /// The name.
        name: String,
    },
    /// A requested id does not exist.
    #[error("{what} does not exist")]
    NotFound {
        /// Kind and id.
        what: String,
    },
    /// The job is no longer this worker's.
    #[error("the lease of {job} is lost: it was cancelled or taken by another worker")]
    LeaseLost {
        /// The job.
        job: String,
    },
    /// The item of the auth queue is resolved.
    #[error("{item} is already {status}")]
    AuthClosed {
        /// The item.
        item: String,
        /// Its state.
        status: AuthStatus,
    },
    /// A vector search has no data.
    #[error("no {what} has a vector yet; queue a search and wait until it is done")]
    NoVectors {
        /// `claim` or `fragment`, and of which task.
        what: String,
    },
    /// All vectors in scope come from another model.
    #[error(
        "all vectors of {what} come from another model than `{model}` and cannot be compared with it until \
         they are re-embedded"
    )]
    OutdatedVectors {
        /// `claims` or `fragments`, and of which task.
        what: String,
        /// The present model.
        model: String,
    },
    /// A query's vector that does not fit the stored ones.
    #[error(
        "the query's vector has {found} numbers and the stored ones of `{model}` have {stored}: two models have the \
         same \
         id; serve the model that produced the stored vectors"
    )]
    OtherDimension {
        /// The model.
        model: String,
        /// Numbers of the query's vector.
        found: usize,
        /// Numbers of the stored ones.
        stored: usize,
    },
    /// Only judgments can be corrected.
    #[error(
        "{edge} says `{relation}`; only edges that support, refute or are neutral can be corrected, to one of these"
    )]
    NotJudged {
        /// The edge.
        edge: String,
        /// Its relation, or the requested one.
        relation: lyra_domain::Relation,
    },
    /// An edge that no person corrected or reviewed.
    #[error("{edge} was never corrected or reviewed, so there is nothing to undo")]
    NotCorrected {
        /// The edge.
        edge: String,
    },
    /// Another decision about the document came in between.
    #[error("{}", moved(page, current.as_deref()))]
    ScreeningMoved {
        /// The document.
        page: String,
        /// The decision that counts now; `None` if the document is undecided.
        current: Option<Box<crate::ScreeningDecision>>,
    },
    /// An invalid paging cursor.
    #[error("`{0}` is not a cursor of this list; omit it to start from the beginning")]
    BadCursor(String),
    /// No view has that name.
    #[error("unknown view `{name}`{}", nearest.map(|view| format!(", the nearest name is `{view}`")).unwrap_or_default())]
    UnknownView {
        /// The requested name.
        name: String,
        /// The most similar name, if any is similar.
        nearest: Option<&'static str>,
    },
    /// A stored value that this version cannot read.
    #[error("{what} cannot be read: {why}")]
    Corrupt {
        /// Column or row.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// A view's template is broken.
    #[error("a view's template is broken: {0}")]
    Template(#[from] minijinja::Error),
    /// Anything else that SQLite reports.
    #[error("the database failed: {0}")]
    Database(#[source] sqlx::Error),
}

impl StoreError {
    /// `kind id does not exist`.
    pub(crate) fn not_found(kind: &str, id: impl std::fmt::Display) -> Self {
        Self::NotFound { what: format!("{kind} {id}") }
    }

    pub(crate) fn corrupt(what: impl Into<String>, why: impl std::fmt::Display) -> Self {
        Self::Corrupt { what: what.into(), why: why.to_string() }
    }
}

/// Why a decision cannot be stored.
fn moved(page: &str, current: Option<&crate::ScreeningDecision>) -> String {
    match current {
        Some(now) => format!(
            "{page} was decided in between: {} by {} at {} ({})",
            now.verdict, now.decided_by, now.decided_at, now.id
        ),
        None => format!("the decision about {page} was taken back in between"),
    }
}

/// Primary result code of SQLite, if the error comes from SQLite.
pub(crate) fn sqlite_code(error: &sqlx::Error) -> Option<i32> {
    let code = error.as_database_error()?.code()?;
    code.parse::<i32>().ok().map(primary_code)
}

/// The primary code of an extended one.
fn primary_code(code: i32) -> i32 {
    match code {
        // SQLite could not enlarge its shared memory file: the only error that it reports when the disk is completely
        // full.
        ffi::SQLITE_IOERR_SHMSIZE => ffi::SQLITE_FULL,
        // The low byte is the primary code, the rest is the extended code.
        _ => code & 0xff,
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match sqlite_code(&error) {
            Some(ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED) => Self::Busy,
            Some(ffi::SQLITE_FULL) => Self::DiskFull,
            Some(ffi::SQLITE_READONLY) => Self::ReadOnlyDisk,
            _ => match error {
                sqlx::Error::PoolTimedOut => Self::Busy,
                sqlx::Error::ColumnDecode { index, source } => {
                    Self::corrupt(format!("column {index}"), source)
                }
                other => Self::Database(other),
            },
        }
    }
}

impl From<StoreError> for PortError {
    fn from(error: StoreError) -> Self {
        let why = error.to_string();
        let store = || "evidence store".to_owned();
        match error {
            StoreError::NotFound { what } => Self::NotFound { what },
            // All of these are temporary: the other writer finishes, or someone frees space.
            StoreError::Busy | StoreError::DiskFull | StoreError::ReadOnlyDisk => {
                Self::Unavailable { what: store(), why }
            }
            StoreError::LeaseLost { .. } => Self::Cancelled,
            StoreError::NoVectors { .. }
            | StoreError::TaskActive { .. }
            | StoreError::TokenExists { .. }
            | StoreError::InUse { .. }
            | StoreError::OutdatedVectors { .. }
            | StoreError::OtherDimension { .. }
            | StoreError::NotJudged { .. }
            | StoreError::NotCorrected { .. }
            | StoreError::ScreeningMoved { .. }
            | StoreError::BadCursor(_)
            | StoreError::UnknownView { .. } => Self::Refused { what: store(), why },
            _ => Self::Failed { what: store(), why },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_without_a_free_block_is_full() {
        assert_eq!(primary_code(4_874), ffi::SQLITE_FULL);
        assert_eq!(primary_code(ffi::SQLITE_IOERR_READ), ffi::SQLITE_IOERR);
        assert_eq!(primary_code(ffi::SQLITE_BUSY_SNAPSHOT), ffi::SQLITE_BUSY);
    }
}

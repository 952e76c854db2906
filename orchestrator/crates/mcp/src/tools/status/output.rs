//! A task's state as `get_status` and the task resource return it.

use super::Detail;
use crate::reply::{CONTENT_NOTICE, cut_note, fit};
use lyra_domain::TaskStatus;
use lyra_store::TaskProgress;
use lyra_usecases::{idle, shapes};
use lyra_wire::Status;
use schemars::JsonSchema;
use serde::Serialize;

/// Bytes of one result that the searches may take.
const SEARCH_BYTES: usize = 40_000;
/// Bytes of one result that the auth queue may take.
const AUTH_BYTES: usize = 5_000;
/// Bytes of one result that the warnings may take.
const WARNING_BYTES: usize = 10_000;
/// How a person can lift a block.
const RESTORE_VIA: &str = "feedback {action: domain_unblock}, or `lyra domain unblock`";

/// What to call for a task that has no work yet: waiting for it returns at once.
const NOTHING_QUEUED: &str = "nothing is queued, so waiting changes nothing: call queue_searches";

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GetStatusOutput {
    #[serde(flatten)]
    status: Status,
    /// What was omitted and how to get it, and what to call when nothing is queued. Only when there is something.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Fields of this result that may hold text copied from documents or from sources' answers.
    untrusted_fields: Vec<&'static str>,
    /// How to treat those fields.
    content_notice: &'static str,
}

impl GetStatusOutput {
    /// A task's progress as of `now`, cut to what a result can hold.
    pub(crate) fn new(progress: &TaskProgress, detail: Detail, now: jiff::Timestamp) -> Self {
        let mut status = shapes::status(progress, now);
        if detail == Detail::Summary {
            status.searches.iter_mut().for_each(|search| search.found = None);
        }
        for blocked in &mut status.blocked_domains {
            blocked.restore_via = Some(RESTORE_VIA.to_owned());
        }
        let dropped_searches = fit(&mut status.searches, SEARCH_BYTES);
        let dropped_warnings = fit(&mut status.warnings, WARNING_BYTES);
        let dropped_auth = fit(&mut status.pending_auth, AUTH_BYTES);
        let waits_for_searches = idle(progress) && progress.task.status == TaskStatus::Created;
        let notes = [
            waits_for_searches.then(|| NOTHING_QUEUED.to_owned()),
            cut_note("pending_auth", status.pending_auth.len(), dropped_auth, "get_auth_queue lists all"),
            cut_note("searches", status.searches.len(), dropped_searches, "the table `queries` has all"),
            cut_note("warnings", status.warnings.len(), dropped_warnings, "the first are shown"),
        ];
        Self {
            status,
            notes: notes.into_iter().flatten().collect(),
            untrusted_fields: vec![
                "task_error",
                "warnings",
                "searches[].found.source_errors",
                "pending_auth[].url",
                "pending_auth[].domain",
            ],
            content_notice: CONTENT_NOTICE,
        }
    }
}

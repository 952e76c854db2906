//! Which job runs which steps, until it is cancelled.

use crate::context::Context;
use crate::jobs::{Outcome, judge, resume, search};
use crate::{PortError, Result};
use lyra_domain::{Job, JobKind};
use tokio_util::sync::CancellationToken;

/// Runs one job to its end and says what follows. The task has worked for `used_seconds` before.
///
/// # Errors
/// What a port answered, or that the job was cancelled. Everything committed until then stays, and the same job can run
/// again: it may end between any two writes, each of which is one transaction.
pub(crate) async fn run(
    context: &Context,
    job: &Job,
    used_seconds: f64,
    cancel: &CancellationToken,
) -> Result<Outcome> {
    let work = async {
        match &job.kind {
            JobKind::Search { query_id } => search::run(context, job, query_id, used_seconds).await,
            JobKind::Resume { query_id, source, part } => {
                resume::run(context, job, query_id, (source, part), used_seconds).await
            }
            JobKind::Judge => judge::run(context, job, used_seconds).await,
        }
    };
    cancel.run_until_cancelled(work).await.unwrap_or(Err(PortError::Cancelled))
}

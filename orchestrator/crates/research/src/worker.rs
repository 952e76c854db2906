//! Takes jobs from the queue, runs them, keeps their leases, and puts them back when they fail.

use crate::context::Context;
use crate::dispatch;
use crate::jobs::Outcome;
use crate::ports::{Event, JobEnd, JobQueue};
use crate::trace::{self, TraceId};
use crate::{PortError, Result, Stops};
use futures::FutureExt;
use lyra_domain::{Job, TaskId};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::Span;

/// Longest pause before a job is tried again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Longest pause that sources of a background job may ask for; a job whose sources ask for more has failed.
const LONGEST_PROMISE: Duration = Duration::from_mins(1);
/// A job waits at most so many times until its sources may be asked again.
const MOST_PROMISES: u32 = 5;

/// How a worker works.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// Work for this task only.
    pub task: Option<TaskId>,
    /// How long a lease holds without being renewed.
    pub lease: Duration,
    /// How often an idle worker looks for jobs that another process queued.
    pub poll: Duration,
    /// First pause after a passing failure; doubles with every attempt.
    pub retry: Duration,
    /// Whether a person waits at the terminal. A search without any answer has then failed at once, because its sources were
    /// asked several times already, and the command says so in place of the log.
    pub attended: bool,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            task: None,
            lease: Duration::from_mins(1),
            poll: Duration::from_millis(500),
            retry: Duration::from_millis(500),
            attended: false,
        }
    }
}

impl WorkerConfig {
    /// When the job is tried again; `None` when it has failed for good. Sources are never asked before the time they named.
    fn again_after(&self, error: &PortError, attempts: u32) -> Option<Duration> {
        let promised = error.retry_after()?;
        let sources = matches!(error, PortError::Unanswered { .. });
        let waits_enough = promised > LONGEST_PROMISE || (!promised.is_zero() && attempts >= MOST_PROMISES);
        if sources && (self.attended || waits_enough) {
            return None;
        }
        let pause = self.retry * 2_u32.saturating_pow(attempts.saturating_sub(1).min(8));
        Some(pause.min(LONGEST_PAUSE).max(promised))
    }
}

/// One worker; several may share a queue.
#[derive(Clone)]
pub struct Worker {
    /// What it runs.
    pub context: Context,
    /// Where its jobs come from.
    pub queue: Arc<dyn JobQueue>,
    /// Wakes it when a job was queued in this process.
    pub wake: Arc<Notify>,
    /// Stops the jobs of one task.
    pub stops: Stops,
    /// How it works.
    pub config: WorkerConfig,
}

impl Worker {
    /// Works until cancelled. A failure of the queue itself is logged and tried again.
    pub async fn run(&self, cancel: CancellationToken) {
        while !cancel.is_cancelled() {
            match self.step(&cancel).await {
                Ok(true) => {}
                Ok(false) => {
                    tokio::select! {
                        () = self.wake.notified() => {}
                        () = tokio::time::sleep(self.config.poll) => {}
                        () = cancel.cancelled() => {}
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "job queue failed");
                    tokio::time::sleep(self.config.poll).await;
                }
            }
        }
    }

    /// Takes and runs one job. `false` if no job was waiting.
    ///
    /// # Errors
    /// When the queue cannot be read or written; a failing job is not an error here.
    pub async fn step(&self, cancel: &CancellationToken) -> Result<bool> {
        let Some(job) = self.queue.lease(self.config.task.as_ref(), self.config.lease).await? else {
            return Ok(false);
        };
        let used = self.queue.seconds_used(&job.task_id).await?;
        let stop = self.stops.token(&job.task_id, cancel);
        let started = Instant::now();
        let cause = self.queue.cause(&job.id).await?.unwrap_or_default();
        let trace = cause.trace;
        let context = Context { store: self.queue.on_behalf_of(&job), ..self.context.clone() };
        let outcome = {
            let work =
                trace::within(cause, |trace| span(&job, trace), dispatch::run(&context, &job, used, &stop));
            // On the heap: it holds every step of the pipeline.
            let mut work = Box::pin(AssertUnwindSafe(work).catch_unwind().map(flattened));
            loop {
                tokio::select! {
                    outcome = &mut work => break outcome,
                    () = tokio::time::sleep(self.config.lease / 3) => {
                        if !self.queue.renew(&job, self.config.lease).await.unwrap_or(true) {
                            stop.cancel();
                        }
                    }
                }
            }
        };
        let end = match &outcome {
            Ok(_) => JobEnd::Completed,
            Err(_) if cancel.is_cancelled() => JobEnd::GivenBack,
            Err(_) if stop.is_cancelled() => JobEnd::Cancelled,
            Err(_) => JobEnd::Failed,
        };
        let ended = Event::JobEnded { kind: job.kind.name(), end, took: started.elapsed() };
        self.context.events.publish(&ended);
        match outcome {
            Ok(outcome) => settled(&job, self.queue.complete(&job, outcome.output, &outcome.then).await),
            Err(_) if stop.is_cancelled() && !cancel.is_cancelled() => {
                tracing::info!(job_id = %job.id, "job was cancelled or taken by another worker");
                Ok(())
            }
            // The process is shutting down: give the job back unchanged for the next worker.
            Err(_) if cancel.is_cancelled() => {
                settled(&job, self.queue.fail(&job, "the process stopped", Some(Duration::ZERO)).await)
            }
            Err(error) => {
                let retry = self.config.again_after(&error, job.attempts);
                let told = self.config.attended && matches!(error, PortError::Unanswered { .. });
                let loud = !told && (job.attempts == 1 || retry.is_none());
                noted(&job, trace, &error, loud);
                settled(&job, self.queue.fail(&job, &error.to_string(), retry).await)
            }
        }?;
        self.wake.notify_one();
        Ok(true)
    }
}

/// As loud as the loudest line in it, so that no filter takes the ids off a line.
fn span(job: &Job, trace: TraceId) -> Span {
    let consumer = lyra_telemetry::kind("consumer");
    tracing::error_span!(
        "job", job_id = %job.id, task_id = %job.task_id, kind = job.kind.name(), trace_id = %trace, otel.kind = consumer
    )
}

/// Logs a failure: the first and the last of a job loudly, those between quietly.
fn noted(job: &Job, trace: TraceId, error: &PortError, loud: bool) {
    let attempt = job.attempts;
    if loud {
        tracing::warn!(job_id = %job.id, task_id = %job.task_id, trace_id = %trace, %error, attempt, "job failed");
    } else {
        tracing::info!(job_id = %job.id, task_id = %job.task_id, trace_id = %trace, %error, attempt, "job failed");
    }
}

/// A panic is a defect of one job, not the end of the worker.
fn flattened(outcome: std::thread::Result<Result<Outcome>>) -> Result<Outcome> {
    outcome.unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let why = why.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(PortError::Failed { what: "job".to_owned(), why: format!("it panicked: {why}") })
    })
}

/// A job that is no longer ours needs nothing more from us.
fn settled(job: &Job, written: Result<()>) -> Result<()> {
    match written {
        Err(PortError::Cancelled) => {
            tracing::info!(job_id = %job.id, "result of a lost job dropped");
            Ok(())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_asked_again_when_they_said_and_not_for_a_person_who_waits() {
        let unanswered = |seconds: Option<u64>| PortError::Unanswered {
            why: "s2: 429".to_owned(),
            retry_after: seconds.map(Duration::from_secs),
        };
        let alone = WorkerConfig::default();
        let attended = WorkerConfig { attended: true, ..WorkerConfig::default() };
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for (error, attempt, pause) in [
            (unanswered(Some(0)), 2, seconds(1)),
            (unanswered(Some(40)), 1, seconds(40)),
            (unanswered(Some(40)), MOST_PROMISES, None),
            (unanswered(Some(3600)), 1, None),
            (unanswered(None), 1, None),
        ] {
            assert_eq!(alone.again_after(&error, attempt), pause, "{error:?}");
            assert_eq!(attended.again_after(&error, attempt), None, "{error:?}");
        }
        // Other services are waited for in both cases.
        let models = PortError::Unavailable { what: "ml-server".to_owned(), why: "it starts".to_owned() };
        assert_eq!(attended.again_after(&models, 2), seconds(1));
        assert_eq!(alone.again_after(&models, 9), Some(LONGEST_PAUSE));
    }
}

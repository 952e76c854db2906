//! One id from a request to all that it causes: its jobs in whichever process runs them, the requests to the ml-server,
//! and every log line on the way.
//!
//! It is the trace id of W3C Trace Context. The jobs of a request carry it as their `cause_id`, in the form of [`TraceId::cause`];
//! jobs that follow from jobs are led back to it.

use std::fmt;
use std::num::NonZeroU128;
use tracing::{Instrument, Span};
use uuid::Uuid;

/// What marks a trace among causes.
const PREFIX: &str = "trace_";

tokio::task_local! {
    static CURRENT: TraceId;
}

/// 128 bits, shown as 32 hexadecimal digits; never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId(NonZeroU128);

impl TraceId {
    /// A new one; later ones sort later.
    pub fn new() -> Self {
        Self(NonZeroU128::new(Uuid::now_v7().as_u128()).unwrap_or(NonZeroU128::MIN))
    }

    /// The trace that a `traceparent` names. `None` for text that breaks the rules of W3C Trace Context, which say that it is
    /// then ignored, not refused.
    pub fn of_traceparent(text: &str) -> Option<Self> {
        let (head, rest) = text.split_at_checked(55)?;
        let parts: Vec<&str> = head.split('-').collect();
        let [version, trace, parent, flags] = parts.as_slice() else { return None };
        let lengths = [version.len(), trace.len(), parent.len(), flags.len()] == [2, 32, 16, 2];
        let hex = parts.iter().all(|part| part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
        // Later versions may append fields; the first four stay what they are.
        let ends = rest.is_empty() || (*version != "00" && rest.starts_with('-'));
        let parent = u64::from_str_radix(parent, 16).is_ok_and(|parent| parent != 0);
        if !(lengths && hex && ends && parent) || *version == "ff" {
            return None;
        }
        u128::from_str_radix(trace, 16).ok().and_then(NonZeroU128::new).map(Self)
    }

    /// A `traceparent` that says: part of this trace, below a step that nobody else names.
    pub fn traceparent(self) -> String {
        let step = Uuid::new_v4().as_u64_pair().1;
        format!("00-{self}-{:016x}-01", step.max(1))
    }

    /// As it stands in `cause_id`.
    pub fn cause(self) -> String {
        format!("{PREFIX}{self}")
    }

    /// Reads what [`cause`](Self::cause) wrote; `None` for any other cause.
    pub fn of_cause(cause: &str) -> Option<Self> {
        u128::from_str_radix(cause.strip_prefix(PREFIX)?, 16).ok().and_then(NonZeroU128::new).map(Self)
    }

    /// As a number.
    pub fn to_u128(self) -> u128 {
        self.0.get()
    }
}

impl Default for TraceId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The trace that the running task belongs to.
pub fn current() -> Option<TraceId> {
    CURRENT.try_with(|trace| *trace).ok()
}

/// Runs `work` as part of `trace`, within the span that `span` makes of it. Tasks that `work` spawns are no part of it.
pub async fn within<F: Future>(trace: TraceId, span: impl FnOnce(TraceId) -> Span, work: F) -> F::Output {
    CURRENT.scope(trace, async move { work.instrument(span(trace)).await }).await
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

    #[test]
    fn what_is_sent_is_understood() {
        let trace = TraceId::new();
        assert_eq!(TraceId::of_traceparent(&trace.traceparent()), Some(trace));
        assert_eq!(TraceId::of_cause(&trace.cause()), Some(trace));
        assert_eq!(TraceId::of_cause("job_1"), None);
    }

    #[test]
    fn only_valid_parents_are_taken() {
        let taken = |text: &str| TraceId::of_traceparent(text).map(|trace| trace.to_string());
        for text in [
            format!("00-{TRACE}-00f067aa0ba902b7-01"),
            format!("cc-{TRACE}-00f067aa0ba902b7-00"),
            format!("cc-{TRACE}-00f067aa0ba902b7-01-more"),
        ] {
            assert_eq!(taken(&text).as_deref(), Some(TRACE), "{text}");
        }
        for text in [
            String::new(),
            "é".repeat(40),
            format!("ff-{TRACE}-00f067aa0ba902b7-01"),
            format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{}-00f067aa0ba902b7-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-00f067aa0ba902b7-01-more"),
            format!("00-{TRACE}-00f067aa0ba902b7"),
        ] {
            assert_eq!(taken(&text), None, "{text}");
        }
    }

    #[tokio::test]
    async fn a_task_knows_its_trace() {
        let trace = TraceId::new();
        assert_eq!(current(), None);
        assert_eq!(within(trace, |_| Span::none(), async { current() }).await, Some(trace));
        assert_eq!(current(), None);
    }
}

//! One id from a request to all that it causes: its jobs in whichever process runs them, the requests to the ml-server,
//! and every log line on the way.
//!
//! It is the trace id of W3C Trace Context. The jobs of a request carry it as their `cause_id`, in the form of [`Cause`];
//! jobs that follow from jobs are led back to it.

use lyra_telemetry::{Step, TraceParent};
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

    /// As a number.
    pub fn get(self) -> NonZeroU128 {
        self.0
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

/// What some work goes back to: a trace and, where spans are sent to a collector, the step in it.
///
/// Shown as it stands in `cause_id`: `trace_` and the trace id, then `_` and the step, zero when spans are not to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cause {
    /// The trace.
    pub trace: TraceId,
    /// The step, if it is known.
    pub step: Option<Step>,
    /// Whether the trace is sampled: its spans are sent to the collector.
    pub sampled: bool,
}

impl Cause {
    /// Nothing: the beginning of a trace.
    pub fn new() -> Self {
        Self { trace: TraceId::new(), step: None, sampled: true }
    }

    /// What a `traceparent` names.
    pub fn of_traceparent(text: &str) -> Option<Self> {
        let TraceParent { trace, step, sampled } = TraceParent::parse(text)?;
        Some(Self { trace: TraceId(trace), step: Some(step), sampled })
    }

    /// Reads what was shown; `None` for any other cause.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix(PREFIX)?;
        let (trace, step) = text.split_once('_').map_or((text, None), |(trace, step)| (trace, Some(step)));
        let trace = u128::from_str_radix(trace, 16).ok().and_then(NonZeroU128::new).map(TraceId)?;
        let step = step.and_then(|step| u64::from_str_radix(step, 16).ok());
        Some(Self { trace, step: step.and_then(Step::new), sampled: step != Some(0) })
    }
}

impl Default for Cause {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.trace)?;
        match (self.sampled, self.step) {
            (true, None) => Ok(()),
            (true, Some(step)) => write!(f, "_{step:016x}"),
            (false, _) => write!(f, "_{:016x}", 0),
        }
    }
}

/// The trace that the running task belongs to.
pub fn current() -> Option<TraceId> {
    CURRENT.try_with(|trace| *trace).ok()
}

/// The running step of the trace that the running task belongs to.
pub fn cause() -> Option<Cause> {
    let (step, sampled) = lyra_telemetry::step(&Span::current()).unzip();
    current().map(|trace| Cause { trace, step, sampled: sampled.unwrap_or(true) })
}

/// The `traceparent` of requests that the running step sends: this trace, with this step or a random one as the parent.
pub fn traceparent() -> Option<TraceParent> {
    let Cause { trace, step, sampled } = cause()?;
    Some(TraceParent { trace: trace.get(), step: step.unwrap_or_else(drawn), sampled })
}

/// Runs `work` as an effect of `cause`, within the span that `span` creates for its trace. Tasks that `work` spawns are
/// not part of it.
pub async fn within<F: Future>(cause: Cause, span: impl FnOnce(TraceId) -> Span, work: F) -> F::Output {
    let Cause { trace, step, sampled } = cause;
    CURRENT
        .scope(trace, async move {
            let span = span(trace);
            if let Some(step) = step.or_else(|| (!sampled).then(drawn)) {
                lyra_telemetry::adopt(&span, TraceParent { trace: trace.get(), step, sampled });
            }
            work.instrument(span).await
        })
        .await
}

/// A random step.
fn drawn() -> Step {
    Step::new(Uuid::new_v4().as_u64_pair().1).unwrap_or(Step::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const STEP: &str = "00f067aa0ba902b7";

    #[test]
    fn what_is_shown_is_read() {
        let began = Cause::new();
        assert_eq!(Cause::read(&began.to_string()), Some(began));
        let called = Cause::of_traceparent(&format!("00-{TRACE}-{STEP}-01")).expect("valid");
        assert_eq!(called.to_string(), format!("trace_{TRACE}_{STEP}"));
        assert_eq!(Cause::read(&called.to_string()), Some(called));
        let unwanted = Cause::of_traceparent(&format!("00-{TRACE}-{STEP}-00")).expect("valid");
        let read = Cause::read(&unwanted.to_string()).expect("a cause");
        assert_eq!((read.trace, read.step, read.sampled), (unwanted.trace, None, false));
        for other in ["job_1", "trace_", "trace_none", &format!("trace_{}", "0".repeat(32))] {
            assert_eq!(Cause::read(other), None, "{other}");
        }
    }

    #[tokio::test]
    async fn a_task_knows_its_trace_and_says_it() {
        let began = Cause::new();
        assert_eq!((current(), cause(), traceparent()), (None, None, None));
        let seen = within(began, |_| Span::none(), async { (cause(), traceparent()) }).await;
        assert_eq!(seen.0, Some(began));
        assert_eq!(seen.1.map(|parent| parent.trace), Some(began.trace.get()));
        assert_eq!(current(), None);
    }
}

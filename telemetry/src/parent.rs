//! The position of work in a trace, as W3C Trace Context passes it between processes.

use std::fmt;
use std::num::{NonZeroU64, NonZeroU128};
use tracing::Span;

/// Name of a step within a trace; OpenTelemetry's span id.
pub type Step = NonZeroU64;

/// The value of a `traceparent` header: a trace, and the step in it that caused the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace.
    pub trace: NonZeroU128,
    /// The step.
    pub step: Step,
    /// Whether it is sampled, so that its children should be sent as well.
    pub sampled: bool,
}

impl TraceParent {
    /// Parses a header. `None` if it is invalid, in which case W3C Trace Context requires ignoring it.
    pub fn parse(text: &str) -> Option<Self> {
        let (head, rest) = text.split_at_checked(55)?;
        let parts: Vec<&str> = head.split('-').collect();
        let [version, trace, step, flags] = parts.as_slice() else { return None };
        let lengths = [version.len(), trace.len(), step.len(), flags.len()] == [2, 32, 16, 2];
        let hex = parts.iter().all(|part| part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
        // Later versions may append fields; the first four stay the same.
        let ends = rest.is_empty() || (*version != "00" && rest.starts_with('-'));
        if !(lengths && hex && ends) || *version == "ff" {
            return None;
        }
        let trace = u128::from_str_radix(trace, 16).ok().and_then(NonZeroU128::new)?;
        let step = u64::from_str_radix(step, 16).ok().and_then(Step::new)?;
        // The other bits are irrelevant here.
        let sampled = u8::from_str_radix(flags, 16).ok()? & 1 == 1;
        Some(Self { trace, step, sampled })
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.step, u8::from(self.sampled))
    }
}

/// Makes a span that has not started a child of that parent, which may be in another process. No-op without a
/// collector.
pub fn adopt(span: &Span, parent: TraceParent) {
    #[cfg(feature = "otlp")]
    crate::otlp::adopt(span, parent);
    #[cfg(not(feature = "otlp"))]
    let _ = (span, parent);
}

/// The trace context of a span if there is a collector.
pub fn step(span: &Span) -> Option<(Step, bool)> {
    #[cfg(feature = "otlp")]
    return crate::otlp::step(span);
    #[cfg(not(feature = "otlp"))]
    {
        let _ = span;
        None
    }
}

/// Value of a span's field `otel.kind`: `client`, `server`, `consumer`. `None` without a collector, so that log lines
/// do not have it.
pub fn kind(kind: &'static str) -> Option<&'static str> {
    #[cfg(feature = "otlp")]
    return crate::otlp::sends().then_some(kind);
    #[cfg(not(feature = "otlp"))]
    {
        let _ = kind;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const STEP: &str = "00f067aa0ba902b7";

    #[test]
    fn valid_parents_are_taken() {
        for (text, flags) in [
            (format!("00-{TRACE}-{STEP}-01"), "01"),
            (format!("00-{TRACE}-{STEP}-00"), "00"),
            (format!("00-{TRACE}-{STEP}-03"), "01"),
            (format!("cc-{TRACE}-{STEP}-01"), "01"),
            (format!("cc-{TRACE}-{STEP}-01-what-comes-later"), "01"),
        ] {
            let parent = TraceParent::parse(&text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(parent.to_string(), format!("00-{TRACE}-{STEP}-{flags}"), "{text}");
        }
    }

    #[test]
    fn others_are_ignored() {
        let zeros = "0".repeat(32);
        for text in [
            String::new(),
            "é".repeat(40),
            format!("ff-{TRACE}-{STEP}-01"),
            format!("00-{zeros}-{STEP}-01"),
            format!("00-{TRACE}-{}-01", &zeros[..16]),
            format!("00-{}-{STEP}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-{STEP}-01-more"),
            format!("cc-{TRACE}-{STEP}-01more"),
            format!("00-{TRACE}-{STEP}"),
            format!("00-{TRACE}-{STEP}-0g"),
            format!("0-{TRACE}-{STEP}-001"),
        ] {
            assert_eq!(TraceParent::parse(&text), None, "{text}");
        }
    }
}

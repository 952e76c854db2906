//! What ties the log lines of a request together: its own id and the caller's trace.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName};
use tracing::Span;

/// Name of a request, chosen by the caller or by us; echoed.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The span of a request: method, path, request id, and the caller's trace where a valid `traceparent` names one.
pub(super) fn span(request: &Request) -> Span {
    let id = request.headers().get(&REQUEST_ID).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let (method, path) = (request.method(), request.uri().path());
    let (trace_id, parent_id) = traceparent(request.headers()).unzip();
    tracing::info_span!("request", %method, path, id, trace_id, parent_id)
}

/// Trace id and parent id. Nothing when there is no header, several, or one that breaks the rules of W3C Trace Context:
/// those say that it is then ignored, not refused.
fn traceparent(headers: &HeaderMap) -> Option<(&str, &str)> {
    let mut values = headers.get_all("traceparent").iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (head, rest) = value.split_at_checked(55)?;
    let parts: Vec<_> = head.split('-').collect();
    let [version, trace_id, parent_id, flags] = parts.as_slice() else { return None };
    // Later versions may append fields; the first four stay what they are.
    let ends = rest.is_empty() || (*version != "00" && rest.starts_with('-'));
    let lengths = [version.len(), trace_id.len(), parent_id.len(), flags.len()] == [2, 32, 16, 2];
    let hex = parts.iter().all(|part| part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
    let zero = |id: &str| id.bytes().all(|b| b == b'0');
    (ends && lengths && hex && *version != "ff" && !zero(trace_id) && !zero(parent_id))
        .then_some((*trace_id, *parent_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    fn parsed(values: &[String]) -> Option<(String, String)> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("traceparent", value.parse().unwrap());
        }
        traceparent(&headers).map(|(trace, parent)| (trace.to_owned(), parent.to_owned()))
    }

    #[test]
    fn valid_parents_are_taken() {
        for value in [
            format!("00-{TRACE}-{PARENT}-01"),
            format!("00-{TRACE}-{PARENT}-00"),
            format!("cc-{TRACE}-{PARENT}-01"),
            format!("cc-{TRACE}-{PARENT}-01-what-comes-later"),
        ] {
            assert_eq!(parsed(std::slice::from_ref(&value)), Some((TRACE.into(), PARENT.into())), "{value}");
        }
    }

    #[test]
    fn others_are_ignored() {
        let zeros = "0".repeat(32);
        for value in [
            String::new(),
            "é".repeat(40),
            format!("ff-{TRACE}-{PARENT}-01"),
            format!("00-{zeros}-{PARENT}-01"),
            format!("00-{TRACE}-{}-01", &zeros[..16]),
            format!("00-{}-{PARENT}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-{PARENT}-01-more"),
            format!("cc-{TRACE}-{PARENT}-01more"),
            format!("00-{TRACE}-{PARENT}"),
            format!("00-{TRACE}-{PARENT}-0g"),
            format!("0-{TRACE}-{PARENT}-001"),
        ] {
            assert_eq!(parsed(std::slice::from_ref(&value)), None, "{value}");
        }
        let value = format!("00-{TRACE}-{PARENT}-01");
        assert_eq!(parsed(&[value.clone(), value]), None, "two of them");
    }
}

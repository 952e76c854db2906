//! When to retry.

use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use std::time::{Duration, SystemTime};

/// No provider is believed when it names a longer pause.
const LONGEST: Duration = Duration::from_hours(24);

/// Pause before the next attempt (`attempt` counts from 1): full jitter, uniform in [0, base·2^(attempt-1)], at most a
/// minute. `random` is uniform in [0, 1).
pub(super) fn backoff(base: Duration, attempt: u32, random: f64) -> Duration {
    let ceiling = base.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1).min(16)));
    ceiling.min(Duration::from_mins(1)).mul_f64(random.clamp(0.0, 1.0))
}

/// `Retry-After` in both forms (RFC 9110, section 10.2.3): seconds, or a date, which is read against the answer's own
/// `Date` when it has one, so that a wrong clock here does not matter. At most a day.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        let valid = seconds.is_finite() && seconds >= 0.0;
        return valid.then(|| Duration::from_secs_f64(seconds.min(LONGEST.as_secs_f64())));
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let date = headers.get(http::header::DATE).and_then(|date| date.to_str().ok());
    let now = date.and_then(|date| httpdate::parse_http_date(date).ok()).unwrap_or(SystemTime::from(now));
    Some(until.duration_since(now).unwrap_or_default().min(LONGEST))
}

/// Whether another attempt may go better.
pub(super) fn passing(status: StatusCode) -> bool {
    match status.as_u16() {
        408 | 425 | 429 => true,
        501 | 505 => false,
        code => code >= 500,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[track_caller]
    fn check(value: &'static str, date: Option<&'static str>, expect: Option<u64>) {
        let mut headers = HeaderMap::new();
        headers.insert(http::header::RETRY_AFTER, HeaderValue::from_static(value));
        if let Some(date) = date {
            headers.insert(http::header::DATE, HeaderValue::from_static(date));
        }
        let now = "2026-11-20T09:00:00Z".parse().unwrap();
        assert_eq!(retry_after(&headers, now).map(|wait| wait.as_secs()), expect, "{value}");
    }

    #[test]
    fn both_forms_of_retry_after() {
        check("120", None, Some(120));
        check(" 0 ", None, Some(0));
        check("36000", None, Some(36_000));
        check("99999999999", None, Some(86_400));
        check("-5", None, None);
        check("soon", None, None);
        check("Fri, 20 Nov 2026 09:02:00 GMT", None, Some(120));
        check("Fri, 20 Nov 2026 08:00:00 GMT", None, Some(0));
        // This clock is a year behind: the answer's own date counts.
        check("Sat, 20 Nov 2027 09:01:00 GMT", Some("Sat, 20 Nov 2027 09:00:00 GMT"), Some(60));
    }

    #[test]
    fn backoff_grows_and_stays_bounded() {
        let base = Duration::from_millis(500);
        assert_eq!(backoff(base, 1, 1.0), base);
        assert_eq!(backoff(base, 3, 0.5), Duration::from_secs(1));
        assert_eq!(backoff(base, 99, 1.0), Duration::from_mins(1));
        assert_eq!(backoff(base, 5, 0.0), Duration::ZERO);
    }

    #[test]
    fn which_statuses_pass() {
        for (code, expect) in [
            (200, false),
            (403, false),
            (404, false),
            (408, true),
            (429, true),
            (500, true),
            (501, false),
            (503, true),
            (599, true),
        ] {
            assert_eq!(passing(StatusCode::from_u16(code).unwrap()), expect, "{code}");
        }
    }
}

//! How long a response may be reused (RFC 9111, as a private cache).

use super::Cache;
use http::{HeaderMap, HeaderName, StatusCode};
use jiff::Timestamp;
use std::time::Duration;

/// How long this response stays fresh; `None` when it must not be stored.
pub(super) fn lifetime(cache: Cache, status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let default = match cache {
        Cache::Off => return None,
        Cache::Fixed { ttl } => return (status == StatusCode::OK).then_some(ttl),
        Cache::Header { default } => default,
    };
    if !matches!(status, StatusCode::OK | StatusCode::NOT_FOUND | StatusCode::GONE) {
        return None;
    }
    if text(headers, &http::header::VARY).is_some_and(|vary| vary.split(',').any(|name| name.trim() == "*")) {
        return None;
    }
    let control = text(headers, &http::header::CACHE_CONTROL).unwrap_or_default().to_ascii_lowercase();
    let directives: Vec<&str> = control.split(',').map(str::trim).collect();
    if directives.contains(&"no-store") {
        return None;
    }
    if directives.iter().any(|directive| directive.starts_with("no-cache")) {
        return Some(Duration::ZERO);
    }
    let stated = directives
        .iter()
        .find_map(|directive| directive.strip_prefix("max-age="))
        .and_then(|seconds| seconds.trim_matches('"').parse().ok())
        .map(Duration::from_secs)
        .or_else(|| expires(headers));
    let age = text(headers, &http::header::AGE).and_then(|age| age.parse().ok()).map(Duration::from_secs);
    Some(stated.map_or(default, |stated| stated.saturating_sub(age.unwrap_or_default())))
}

/// Whether a response stored at `stored_at` is fresh. A future time means that the clock went back: not fresh.
pub(super) fn is_fresh(stored_at: Timestamp, lifetime: Duration, now: Timestamp) -> bool {
    Duration::try_from(now.duration_since(stored_at)).is_ok_and(|age| age < lifetime)
}

fn expires(headers: &HeaderMap) -> Option<Duration> {
    let date = |name| text(headers, name).and_then(|value| httpdate::parse_http_date(&value).ok());
    let expires = text(headers, &http::header::EXPIRES)?;
    // An invalid date counts as expired.
    let Ok(expires) = httpdate::parse_http_date(&expires) else { return Some(Duration::ZERO) };
    Some(expires.duration_since(date(&http::header::DATE)?).unwrap_or_default())
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let values: Vec<&str> = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
    (!values.is_empty()).then(|| values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, headers: &[(&'static str, &'static str)], expect: Option<u64>) {
        let map = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), http::HeaderValue::from_static(value)));
        let cache = Cache::Header { default: Duration::from_secs(77) };
        let lifetime = lifetime(cache, StatusCode::from_u16(status).unwrap(), &map.collect());
        assert_eq!(lifetime.map(|l| l.as_secs()), expect, "{status} {headers:?}");
    }

    #[test]
    fn what_headers_say() {
        check(200, &[], Some(77));
        check(404, &[], Some(77));
        check(500, &[], None);
        check(302, &[], None);
        check(200, &[("cache-control", "public, max-age=60")], Some(60));
        check(200, &[("cache-control", "max-age=60"), ("age", "50")], Some(10));
        check(200, &[("cache-control", "No-Store")], None);
        check(200, &[("cache-control", "no-cache, max-age=60")], Some(0));
        check(200, &[("vary", "*")], None);
        let date = ("date", "Fri, 20 Nov 2026 09:00:00 GMT");
        check(200, &[date, ("expires", "Fri, 20 Nov 2026 09:00:30 GMT")], Some(30));
        check(200, &[date, ("expires", "0")], Some(0));
    }

    #[test]
    fn a_clock_that_went_back_makes_nothing_fresh() {
        let stored: Timestamp = "2026-11-20T09:00:00Z".parse().unwrap();
        let hour = Duration::from_hours(1);
        assert!(is_fresh(stored, hour, "2026-11-20T09:59:59Z".parse().unwrap()));
        assert!(!is_fresh(stored, hour, "2026-11-20T10:00:00Z".parse().unwrap()));
        assert!(!is_fresh(stored, hour, "2026-11-19T09:00:00Z".parse().unwrap()));
    }
}

//! Sessions of browsers: a cookie that stands for a token, which stays in this process' memory.

use axum::http::{HeaderMap, HeaderValue, header};
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// The cookie of a session.
const COOKIE: &str = "lyra_session";
/// How long a session lasts.
const LASTS: Duration = Duration::from_hours(12);
/// Most sessions at a time; the one that ends first makes room.
const MOST: usize = 1_000;

/// The open sessions.
#[derive(Default)]
pub(crate) struct Sessions {
    /// By the hash of the cookie's value, so that no comparison of it takes a time that tells something.
    open: Mutex<HashMap<[u8; 32], Session>>,
}

struct Session {
    token: SecretString,
    ends: Instant,
}

impl Sessions {
    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a session for a token; the value of its cookie.
    pub(crate) fn open(&self, token: &str, now: Instant) -> String {
        let mut open = self.lock();
        open.retain(|_, session| session.ends > now);
        if open.len() >= MOST {
            let first = open.iter().min_by_key(|(_, session)| session.ends).map(|(key, _)| *key);
            first.and_then(|key| open.remove(&key));
        }
        // 256 bits, of which 244 are random, as in a token.
        let value = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        open.insert(key(&value), Session { token: SecretString::from(token), ends: now + LASTS });
        value
    }

    /// The token behind a cookie.
    pub(crate) fn token(&self, value: &str, now: Instant) -> Option<SecretString> {
        let open = self.lock();
        let session = open.get(&key(value))?;
        (session.ends > now).then(|| session.token.clone())
    }

    /// Ends a session.
    pub(crate) fn end(&self, value: &str) {
        self.lock().remove(&key(value));
    }
}

fn key(value: &str) -> [u8; 32] {
    Sha256::digest(value.as_bytes()).into()
}

/// The value of the session's cookie that a request carries.
pub(crate) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let sent = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        sent.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

/// The header that sets the cookie. Only on loopback may it travel over plain HTTP.
pub(crate) fn set_cookie(value: &str, headers: &HeaderMap) -> Option<HeaderValue> {
    let secure = if on_loopback(headers) { "" } else { "; Secure" };
    let age = LASTS.as_secs();
    let cookie = format!("{COOKIE}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={age}{secure}");
    HeaderValue::from_str(&cookie).ok()
}

/// The header that removes the cookie.
pub(crate) fn clear_cookie() -> HeaderValue {
    HeaderValue::from_static("lyra_session=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0")
}

fn on_loopback(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    };
    name.is_some_and(|name| ["localhost", "127.0.0.1", "::1"].contains(&name))
}

/// Whether a page of this server sent the request: its `Origin` is the host that it is for.
pub(crate) fn from_own_page(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let origin = text(header::ORIGIN)
        .and_then(|origin| origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")));
    origin.is_some() && origin == text(header::HOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn a_session_ends_after_its_time_or_by_request() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let (one, other) = (sessions.open("lyra_a_b", now), sessions.open("lyra_c_d", now));
        assert!(one.len() == 64 && one != other);
        let token = |value: &str, at| sessions.token(value, at).map(|token| token.expose_secret().to_owned());
        assert_eq!(token(&one, now).as_deref(), Some("lyra_a_b"));
        assert_eq!(token(&one, now + LASTS), None);
        assert_eq!(token("", now), None);
        sessions.end(&one);
        assert_eq!(token(&one, now), None);
        assert_eq!(token(&other, now).as_deref(), Some("lyra_c_d"));
    }

    #[test]
    fn the_oldest_session_makes_room() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let first = sessions.open("first", now);
        let second = sessions.open("second", now + Duration::from_secs(1));
        for _ in 0..MOST - 1 {
            sessions.open("more", now + Duration::from_secs(2));
        }
        assert_eq!(sessions.lock().len(), MOST);
        assert!(sessions.token(&first, now).is_none() && sessions.token(&second, now).is_some());
    }

    fn headers(all: &[(header::HeaderName, &'static str)]) -> HeaderMap {
        all.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn the_cookie_is_found_among_others_and_is_secure_off_loopback() {
        let sent = headers(&[(header::COOKIE, "theme=dark; lyra_session=abc; lyra_sessions=x")]);
        assert_eq!(cookie(&sent), Some("abc"));
        assert_eq!(cookie(&headers(&[(header::COOKIE, "xlyra_session=abc")])), None);
        for (host, secure) in [
            ("127.0.0.1:8420", false),
            ("[::1]:8420", false),
            ("localhost", false),
            ("lyra.example", true),
            ("[2001:db8::1]:1", true),
        ] {
            let set = set_cookie("abc", &headers(&[(header::HOST, host)])).expect("a header");
            let set = set.to_str().expect("text");
            assert_eq!(set.ends_with("; Secure"), secure, "{set}");
            assert!(set.contains("HttpOnly; SameSite=Strict; Path=/"), "{set}");
        }
    }

    #[test]
    fn only_pages_of_this_server_are_its_own() {
        let page = |origin| headers(&[(header::HOST, "lyra.example:8420"), (header::ORIGIN, origin)]);
        assert!(from_own_page(&page("https://lyra.example:8420")));
        assert!(from_own_page(&page("http://lyra.example:8420")));
        for origin in ["null", "https://lyra.example", "lyra.example:8420", "https://lyra.example:8420.evil"]
        {
            assert!(!from_own_page(&page(origin)), "{origin}");
        }
        assert!(!from_own_page(&headers(&[(header::HOST, "lyra.example:8420")])));
        assert!(!from_own_page(&HeaderMap::new()));
    }
}

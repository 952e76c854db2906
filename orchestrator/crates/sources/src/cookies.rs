//! The session of a person's visit to a domain: its cookies, and the rules for sending them (RFC 6265).
//!
//! A session belongs to one registrable domain. Its cookies are only sent to hosts of that domain, over TLS if they are
//! `Secure`, and not after expiry. Their values are secrets: nothing here prints them.

use crate::{Error, Result};
use jiff::Timestamp;
use lyra_domain::domains::registrable_domain;
use lyra_research::ports::SessionStore;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;
use url::Url;

/// Cookies of one domain, as a person's visit left them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Registrable domain, or the host if it has none.
    pub domain: String,
    /// The `User-Agent` that received the cookies; some sites tie them to it.
    pub user_agent: Option<String>,
    cookies: Vec<Cookie>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Cookie {
    name: String,
    value: String,
    /// Host, or with `subdomains` the domain above its hosts; without a leading dot.
    domain: String,
    subdomains: bool,
    path: String,
    secure: bool,
    http_only: bool,
    expires: Option<Timestamp>,
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=… of {}{}", self.name, self.domain, self.path)
    }
}

/// The domain of a host's session: its registrable domain, or the host itself if it has none.
pub fn session_domain(host: &str) -> String {
    let host = host.trim_matches(['.', '[', ']']).to_ascii_lowercase();
    registrable_domain(&host).unwrap_or(host)
}

impl Session {
    /// The cookies of this domain among a browser's cookies (`Storage.getCookies`); others are skipped.
    pub fn from_browser(domain: &str, cookies: &Value, user_agent: Option<String>, now: Timestamp) -> Self {
        let field = |cookie: &Value, name: &str| cookie[name].as_str().unwrap_or_default().to_owned();
        let found = cookies.as_array().into_iter().flatten().map(|cookie| {
            let domain = field(cookie, "domain");
            Cookie {
                name: field(cookie, "name"),
                value: field(cookie, "value"),
                subdomains: domain.starts_with('.'),
                domain: domain.trim_start_matches('.').to_ascii_lowercase(),
                path: field(cookie, "path"),
                secure: cookie["secure"].as_bool().unwrap_or(false),
                http_only: cookie["httpOnly"].as_bool().unwrap_or(false),
                // Session cookies have -1.
                expires: cookie["expires"].as_f64().filter(|at| *at >= 0.0).and_then(seconds),
            }
        });
        Self::of(domain, found, user_agent, now)
    }

    /// The cookies of this domain in a file in Netscape format, as browser extensions, curl and others write it:
    /// domain, whether for subdomains, path, whether secure, expiry in seconds since 1970, name and value, separated by
    /// tabs. Those of other domains are skipped.
    ///
    /// # Errors
    /// An invalid line, with its number; no valid cookie for the domain.
    pub fn from_file(domain: &str, text: &str, user_agent: Option<String>, now: Timestamp) -> Result<Self> {
        let setting = |why: String| Error::Setting { setting: "cookie file".to_owned(), why };
        let mut found = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_end_matches('\r');
            let (http_only, line) =
                line.strip_prefix("#HttpOnly_").map_or((false, line), |rest| (true, rest));
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let parts: Vec<&str> = line.split('\t').collect();
            let [host, subdomains, path, secure, expires, name, value] = parts[..] else {
                return Err(setting(format!(
                    "line {} has {} parts separated by tabs instead of 7: domain, subdomains, path, secure, expiry, \
                     name, value",
                    number + 1,
                    parts.len()
                )));
            };
            let expires: f64 = expires.parse().map_err(|_| {
                setting(format!("line {}: the expiry is not a number of seconds", number + 1))
            })?;
            found.push(Cookie {
                name: name.to_owned(),
                value: value.to_owned(),
                domain: host.trim_start_matches('.').to_ascii_lowercase(),
                subdomains: subdomains.eq_ignore_ascii_case("true"),
                path: path.to_owned(),
                secure: secure.eq_ignore_ascii_case("true"),
                http_only,
                expires: (expires > 0.0).then(|| seconds(expires)).flatten(),
            });
        }
        let session = Self::of(domain, found, user_agent, now);
        if session.is_empty() {
            return Err(setting(format!("it has no unexpired cookie for {domain}")));
        }
        Ok(session)
    }

    fn of(
        domain: &str,
        cookies: impl IntoIterator<Item = Cookie>,
        user_agent: Option<String>,
        now: Timestamp,
    ) -> Self {
        let sendable = |text: &str| !text.contains([';', '\r', '\n', '\0']);
        let cookies = cookies
            .into_iter()
            .filter(|cookie| session_domain(&cookie.domain) == domain && cookie.is_good(now))
            // A cookie for a whole public suffix would be sent to every owner.
            .filter(|cookie| !cookie.subdomains || registrable_domain(&cookie.domain).is_some())
            .filter(|cookie| !cookie.name.is_empty() && sendable(&cookie.name) && sendable(&cookie.value))
            .collect();
        Self { domain: domain.to_owned(), user_agent, cookies }
    }

    /// Whether it has no cookies.
    pub fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// The number of its cookies.
    pub fn len(&self) -> usize {
        self.cookies.len()
    }

    /// The value of `Cookie` for this address, the longest paths first; `None` when none applies.
    pub(crate) fn header(&self, url: &Url, now: Timestamp) -> Option<SecretString> {
        let host = url.host_str()?.trim_matches(['[', ']']).to_ascii_lowercase();
        if session_domain(&host) != self.domain {
            return None;
        }
        let mut sent: Vec<&Cookie> =
            self.cookies.iter().filter(|cookie| cookie.is_for(&host, url) && cookie.is_good(now)).collect();
        sent.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let pairs: Vec<String> =
            sent.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        (!pairs.is_empty()).then(|| SecretString::from(pairs.join("; ")))
    }

    /// As `Storage.setCookies` takes them.
    pub(crate) fn for_browser(&self, now: Timestamp) -> Vec<Value> {
        let good = self.cookies.iter().filter(|cookie| cookie.is_good(now));
        good.map(|cookie| {
            let mut sent = json!({
                "name": cookie.name, "value": cookie.value, "path": cookie.path, "secure": cookie.secure,
                "httpOnly": cookie.http_only,
            });
            if cookie.subdomains {
                sent["domain"] = format!(".{}", cookie.domain).into();
            } else {
                // An IP address instead of a domain makes it a host-only cookie.
                let scheme = if cookie.secure { "https" } else { "http" };
                sent["url"] = format!("{scheme}://{}{}", cookie.domain, cookie.path).into();
            }
            if let Some(expires) = cookie.expires {
                sent["expires"] = expires.as_second().into();
            }
            sent
        })
        .collect()
    }
}

impl Cookie {
    fn is_good(&self, now: Timestamp) -> bool {
        self.expires.is_none_or(|expires| expires > now)
    }

    fn is_for(&self, host: &str, url: &Url) -> bool {
        let below = || host.strip_suffix(self.domain.as_str()).is_some_and(|rest| rest.ends_with('.'));
        let domain = host == self.domain || self.subdomains && below();
        let path = url.path().strip_prefix(self.path.as_str());
        let path =
            path.is_some_and(|rest| rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/'));
        domain && path && (!self.secure || url.scheme() == "https")
    }
}

fn seconds(at: f64) -> Option<Timestamp> {
    Timestamp::from_second(at as i64).ok()
}

/// The sessions that people left. Cheap to clone.
#[derive(Clone)]
pub struct Sessions {
    store: Arc<dyn SessionStore>,
}

impl Sessions {
    /// Reads from this store.
    pub fn new(store: Arc<dyn SessionStore>) -> Self {
        Self { store }
    }

    /// The session for this address's domain. An unreadable one is logged and ignored.
    pub(crate) async fn of(&self, url: &Url) -> Option<Session> {
        let domain = session_domain(url.host_str()?);
        let text = match self.store.session(&domain).await {
            Ok(text) => text?,
            Err(error) => {
                tracing::warn!(domain, %error, "a person's session could not be read");
                return None;
            }
        };
        let session: Option<Session> = serde_json::from_str(&text).ok();
        if session.is_none() {
            tracing::warn!(domain, "a person's session is damaged; it counts as absent");
        }
        session.filter(|session| session.domain == domain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    fn now() -> Timestamp {
        "2026-11-20T12:00:00Z".parse().unwrap()
    }

    const FILE: &str = "# Netscape HTTP Cookie File\n\
        .example.co.uk\tTRUE\t/\tFALSE\t0\twide\t1\n\
        www.example.co.uk\tFALSE\t/search\tFALSE\t0\thost\t2\n\
        #HttpOnly_.example.co.uk\tTRUE\t/\tTRUE\t1893456000\tsafe\t3\n\
        .example.co.uk\tTRUE\t/\tFALSE\t1000000000\told\t4\n\
        .co.uk\tTRUE\t/\tFALSE\t0\tsuffix\t5\n\
        .other.co.uk\tTRUE\t/\tFALSE\t0\tforeign\t6\n";

    #[track_caller]
    fn check(url: &str, expect: Option<&str>) {
        let session = Session::from_file("example.co.uk", FILE, None, now()).unwrap();
        let header = session.header(&url.parse().unwrap(), now());
        assert_eq!(header.as_ref().map(ExposeSecret::expose_secret), expect, "{url}");
    }

    #[test]
    fn cookies_go_to_their_domain_path_and_scheme_only() {
        check("http://example.co.uk/", Some("wide=1"));
        check("https://deep.www.example.co.uk/x", Some("wide=1; safe=3"));
        check("https://www.example.co.uk/search?q=a", Some("host=2; wide=1; safe=3"));
        check("http://www.example.co.uk/searching", Some("wide=1"));
        check("http://notexample.co.uk/", None);
        check("http://other.co.uk/", None);
        check("http://co.uk/", None);
        check("http://example.co.uk.evil.example/", None);
    }

    #[test]
    fn what_expired_or_is_foreign_is_not_kept() {
        let session = Session::from_file("example.co.uk", FILE, None, now()).unwrap();
        assert_eq!(session.len(), 3);
        assert!(!format!("{session:?}").contains("=1"), "{session:?}");
        let later = "2031-01-01T00:00:00Z".parse().unwrap();
        let at: Url = "https://example.co.uk/".parse().unwrap();
        assert_eq!(session.header(&at, later).unwrap().expose_secret(), "wide=1");
        let error = Session::from_file("elsewhere.example", FILE, None, now()).unwrap_err().to_string();
        assert!(error.contains("no unexpired cookie for elsewhere.example"), "{error}");
        let error = Session::from_file("a.example", "a=b; c=d", None, now()).unwrap_err().to_string();
        assert!(error.contains("line 1 has 1 parts"), "{error}");
    }

    #[test]
    fn a_browsers_cookies_survive_the_way_there_and_back() {
        let cookies = json!([
            {"name": "a", "value": "1", "domain": ".example.org", "path": "/", "expires": -1, "secure": true, "httpOnly": true},
            {"name": "b", "value": "2", "domain": "www.example.org", "path": "/", "expires": 1_893_456_000.5, "secure": false},
            {"name": "c", "value": "3", "domain": ".tracker.example", "path": "/", "expires": -1, "secure": false},
        ]);
        let session = Session::from_browser("example.org", &cookies, Some("Agent".to_owned()), now());
        let text = serde_json::to_string(&session).unwrap();
        assert_eq!(serde_json::from_str::<Session>(&text).unwrap(), session);
        let back = session.for_browser(now());
        assert_eq!(back.len(), 2);
        assert_eq!((&back[0]["domain"], &back[0]["secure"]), (&json!(".example.org"), &json!(true)));
        assert_eq!(back[1]["url"], "http://www.example.org/");
        assert_eq!(session_domain("127.0.0.1"), "127.0.0.1");
        assert_eq!(session_domain("WWW.Example.org"), "example.org");
    }
}

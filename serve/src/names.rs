//! The host and the origin that a request names.
//!
//! A page in a browser can send requests to this machine, and an attacker's domain name can resolve to it (DNS
//! rebinding). Both are visible in `Host` and `Origin`.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::{HeaderMap, HeaderValue, Uri, header};

/// Names of this machine that no other owner can register.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Stands for every host name among those that an operator allows.
pub const ANY: &str = "*";

/// What requests may be for and from.
#[derive(Debug)]
pub struct Allowed {
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// The header for which a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// `Host` or `Origin`.
    pub header: &'static str,
    /// Its value, shortened for messages.
    pub value: String,
}

impl Allowed {
    /// The names of this machine, the address that is listened on, and the host names and origins that an operator named.
    pub fn new(hosts: &[String], origins: &[String], listening: IpAddr) -> Self {
        let own = LOOPBACK.iter().map(|name| (*name).to_owned());
        let own = own.chain((!listening.is_unspecified()).then(|| listening.to_string()));
        Self {
            hosts: own.chain(hosts.iter().map(|name| plain(name))).collect(),
            origins: origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect(),
        }
    }

    /// An origin that an operator named as a whole.
    pub fn names_origin(&self, origin: &str) -> bool {
        self.origins.contains(&origin.to_ascii_lowercase())
    }

    /// What is wrong with a request's names, if anything: a `Host` that is missing, given twice or not allowed, a target with
    /// another host, an `Origin` that is not allowed. A request without `Origin` does not come from a browser page.
    pub fn refused(&self, uri: &Uri, headers: &HeaderMap) -> Option<Refused> {
        let shown = |header, value: &str| Some(Refused { header, value: value.chars().take(200).collect() });
        let mut sent = headers.get_all(header::HOST).iter();
        let host = sent.next().map(text);
        if let Some(second) = sent.next() {
            return shown("Host", &format!("{}, {}", host.unwrap_or_default(), text(second)));
        }
        // An absolute target, as proxies get it, must have the same host.
        let target = uri.authority().map(|authority| authority.as_str().to_owned());
        if host.is_none() && target.is_none() {
            return shown("Host", "");
        }
        if let Some(bad) = host.iter().chain(&target).find(|host| !self.host(host)) {
            return shown("Host", bad);
        }
        let origins = headers.get_all(header::ORIGIN).iter().map(text);
        let bad = origins.into_iter().find(|origin| !self.origin(origin))?;
        shown("Origin", &bad)
    }

    fn host(&self, authority: &str) -> bool {
        host_of(authority).is_some_and(|host| {
            let host = plain(host);
            self.hosts.iter().any(|allowed| *allowed == host || allowed == ANY)
        })
    }

    /// A page of an allowed host, or of an allowed origin. Allowing any host does not allow any page.
    fn origin(&self, origin: &str) -> bool {
        let named = ["http://", "https://"]
            .iter()
            .filter_map(|scheme| origin.strip_prefix(scheme))
            .filter_map(host_of)
            .any(|host| self.hosts.contains(&plain(host)));
        named || self.names_origin(origin)
    }
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// The host of exactly `HOST` or `HOST:PORT`: no user information, nothing after the bracket of an IPv6 address but a
/// port.
fn host_of(authority: &str) -> Option<&str> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, rest) = rest.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            (address, rest)
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
    let ported = port.is_empty()
        || port.strip_prefix(':').is_some_and(|port| port.is_empty() || port.parse::<u16>().is_ok());
    (!host.is_empty() && host.chars().all(letters) && ported).then_some(host)
}

/// Lower case, without the brackets of an IPv6 address and the dot of an absolute name.
fn plain(host: &str) -> String {
    let host = host.trim();
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(target: &str, headers: &[(&str, &str)]) -> Option<Refused> {
        let allowed = Allowed::new(
            &["lyra.example".to_owned()],
            &["https://app.example:8443".to_owned()],
            IpAddr::from([192, 0, 2, 7]),
        );
        let mut sent = HeaderMap::new();
        for (name, value) in headers {
            let name = axum::http::HeaderName::from_bytes(name.as_bytes()).expect("a name");
            sent.append(name, HeaderValue::from_str(value).expect("a value"));
        }
        allowed.refused(&target.parse().expect("a target"), &sent)
    }

    #[test]
    fn only_known_hosts_pass() {
        for host in [
            "127.0.0.1:8420",
            "localhost",
            "localhost.",
            "LOCALHOST:1",
            "[::1]:8420",
            "[::1]",
            "lyra.example",
            "lyra.example:443",
            "192.0.2.7:8420",
        ] {
            assert_eq!(refused("/mcp", &[("host", host)]), None, "{host}");
        }
        for host in [
            "attacker.example",
            "localhost.attacker.example:8420",
            "127.0.0.1.nip.io",
            "192.168.1.5",
            "a b",
            "",
            "[::1].evil.com",
            "[::1]evil.com",
            "[::1]:80.evil.com",
            "[localhost]",
            "[::1",
            "::1",
            "localhost:80:80",
            "localhost:99999",
            "localhost:x",
            "localhost/evil.com",
            "localhost#@evil.com",
            "localhost@evil.com",
            "evil.com@localhost",
            "localhost,evil.com",
        ] {
            assert!(refused("/mcp", &[("host", host)]).is_some(), "{host}");
        }
        assert!(refused("/mcp", &[]).is_some());
    }

    #[test]
    fn one_host_is_named_once_and_everywhere_the_same() {
        assert!(refused("/mcp", &[("host", "localhost"), ("host", "localhost")]).is_some());
        assert!(refused("/mcp", &[("host", "localhost"), ("host", "evil.com")]).is_some());
        assert!(refused("http://evil.com/mcp", &[("host", "localhost")]).is_some());
        assert_eq!(refused("http://localhost/mcp", &[("host", "localhost")]), None);
    }

    #[test]
    fn only_known_origins_pass() {
        for origin in [
            "http://localhost:3000",
            "https://127.0.0.1",
            "http://[::1]:5173",
            "https://lyra.example",
            "https://app.example:8443",
        ] {
            assert_eq!(refused("/", &[("host", "localhost"), ("origin", origin)]), None, "{origin}");
        }
        for origin in [
            "http://app.example:8443",
            "https://app.example",
            "https://attacker.example",
            "http://localhost.attacker.example",
            "http://[::1].attacker.example",
            "http://localhost@attacker.example",
            "null",
            "file://",
            "",
        ] {
            assert!(refused("/", &[("host", "localhost"), ("origin", origin)]).is_some(), "{origin}");
        }
        // An origin is allowed as a whole, and does not allow its host.
        assert!(refused("/", &[("host", "app.example:8443")]).is_some());
        let twice = [("host", "localhost"), ("origin", "http://localhost"), ("origin", "https://evil.com")];
        assert!(refused("/", &twice).is_some());
    }
}

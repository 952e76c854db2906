//! Outgoing proxies, and their exceptions.
//!
//! A proxy resolves names outside this process. Requests through one are therefore checked beforehand by
//! [`guard::check_proxied`](super::guard): the name must be public, and must not lead inside if it can be resolved
//! here. The proxy itself may have any address, because it is configured.

use crate::{Error, Result};
use base64::Engine;
use std::fmt;
use std::net::IpAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::{Host, Url};

/// Most bytes of a proxy's answer to `CONNECT`.
const ANSWER_BYTES: usize = 16 << 10;

/// The proxies for `http` and `https` addresses, and the hosts that are reached without them. This machine always is.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    http: Option<Url>,
    https: Option<Url>,
    except: Vec<Exception>,
}

impl Proxies {
    /// One proxy for everything except `except`, in the syntax of `NO_PROXY`. `setting` is the name for errors.
    ///
    /// # Errors
    /// An invalid address of an HTTP proxy.
    pub fn one(setting: &str, address: &str, except: &str) -> Result<Self> {
        let proxy = proxy(setting, address)?;
        Ok(Self { http: Some(proxy.clone()), https: Some(proxy), except: exceptions(except) })
    }

    /// The proxies of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or their lower-case forms; `variable` looks them up.
    ///
    /// # Errors
    /// A variable that names no HTTP proxy.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let said = |name: &str| {
            let value = variable(name).or_else(|| variable(&name.to_lowercase()));
            value.filter(|value| !value.trim().is_empty())
        };
        let one = |name: &str| said(name).map(|address| proxy(name, &address)).transpose();
        let except = said("NO_PROXY").map(|list| exceptions(&list)).unwrap_or_default();
        Ok(Self { http: one("HTTP_PROXY")?, https: one("HTTPS_PROXY")?, except })
    }

    /// The proxy that a request to `url` goes through.
    pub(super) fn of(&self, url: &Url) -> Option<&Url> {
        let proxy = if url.scheme() == "https" { &self.https } else { &self.http };
        let here = match url.host()? {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        };
        proxy.as_ref().filter(|_| !here && !self.except.iter().any(|exception| exception.covers(url)))
    }
}

impl fmt::Debug for Proxies {
    /// Without passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |proxy: &Option<Url>| proxy.as_ref().map(named);
        f.debug_struct("Proxies")
            .field("http", &name(&self.http))
            .field("https", &name(&self.https))
            .field("except", &self.except)
            .finish()
    }
}

/// Host and port of a proxy, for messages.
pub(super) fn named(proxy: &Url) -> String {
    let port = proxy.port_or_known_default().unwrap_or_default();
    format!("{}:{port}", proxy.host_str().unwrap_or_default())
}

fn proxy(setting: &str, text: &str) -> Result<Url> {
    let text = text.trim();
    // Many write `proxy.example.org:3128`.
    let parsed = if text.contains("://") { Url::parse(text) } else { Url::parse(&format!("http://{text}")) };
    let proxy = parsed.ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    proxy.ok_or_else(|| Error::Setting {
        setting: setting.to_owned(),
        // The text may hold a password.
        why: "it is not the address of an HTTP proxy, such as http://proxy.example.org:3128; other kinds are not \
            supported"
            .to_owned(),
    })
}

/// An entry of `NO_PROXY`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Exception {
    All,
    /// A name and those below it.
    Name(String, Option<u16>),
    /// Addresses with this prefix.
    Net(IpAddr, u8),
}

/// The entries of a list such as `localhost, .example.org, 10.0.0.0/8, example.com:8080`.
fn exceptions(list: &str) -> Vec<Exception> {
    let entries = list.split([',', ' ']).map(str::trim).filter(|entry| !entry.is_empty());
    entries.map(|entry| Exception::read(&entry.to_lowercase())).collect()
}

impl Exception {
    fn read(entry: &str) -> Self {
        if entry == "*" {
            return Self::All;
        }
        let (address, bits) = entry.split_once('/').map_or((entry, None), |(a, bits)| (a, bits.parse().ok()));
        if let Ok(address) = address.trim_matches(['[', ']']).parse::<IpAddr>() {
            let all = if address.is_ipv4() { 32 } else { 128 };
            return Self::Net(address, bits.unwrap_or(all).min(all));
        }
        let (name, port) = match entry.rsplit_once(':').map(|(name, port)| (name, port.parse())) {
            Some((name, Ok(port))) => (name, Some(port)),
            _ => (entry, None),
        };
        Self::Name(name.trim_start_matches('*').trim_start_matches('.').to_owned(), port)
    }

    fn covers(&self, url: &Url) -> bool {
        match (self, url.host()) {
            (Self::All, _) => true,
            (Self::Name(name, port), Some(Host::Domain(host))) => {
                let below = || host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'));
                (host == name || below()) && port.is_none_or(|port| url.port_or_known_default() == Some(port))
            }
            (Self::Net(net, bits), Some(Host::Ipv4(host))) => within(IpAddr::V4(host), *net, *bits),
            (Self::Net(net, bits), Some(Host::Ipv6(host))) => within(IpAddr::V6(host), *net, *bits),
            _ => false,
        }
    }
}

/// Whether the first `bits` of both are the same.
fn within(address: IpAddr, net: IpAddr, bits: u8) -> bool {
    let wide = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(u32::from(address)) << 96,
        IpAddr::V6(address) => u128::from(address),
    };
    let rest = 128 - u32::from(bits.min(128));
    let first = |address: IpAddr| wide(address).checked_shr(rest).unwrap_or(0);
    address.is_ipv4() == net.is_ipv4() && first(address) == first(net)
}

/// Asks a proxy, over a connection to it, to connect to the host and port of `url`. The connection then leads there.
pub(super) async fn tunnel(mut stream: TcpStream, proxy: &Url, url: &Url) -> std::io::Result<TcpStream> {
    let other = |why: &str| std::io::Error::other(why.to_owned());
    if proxy.scheme() != "http" {
        return Err(other("a browser needs a proxy with http://"));
    }
    let host = url.host_str().unwrap_or_default();
    let place = format!("{host}:{}", url.port_or_known_default().unwrap_or_default());
    let who = authorization(proxy).map_or_else(String::new, |who| format!("Proxy-Authorization: {who}\r\n"));
    stream.write_all(format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{who}\r\n").as_bytes()).await?;
    let mut answer = Vec::new();
    // Byte by byte at the end: anything after the head belongs to the tunnel.
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() == ANSWER_BYTES {
            return Err(other("its answer to CONNECT has no end"));
        }
        answer.push(stream.read_u8().await?);
    }
    let line = String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned();
    let status = line.split(' ').nth(1).unwrap_or_default();
    if status.len() == 3 && status.starts_with('2') {
        Ok(stream)
    } else {
        Err(other(&format!("it said {line}")))
    }
}

/// `Basic …` of the user and password in a proxy's address.
fn authorization(proxy: &Url) -> Option<String> {
    let plain = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let user = plain(proxy.username());
    let password = proxy.password().map(plain);
    if user.is_empty() && password.is_none() {
        return None;
    }
    let both = format!("{user}:{}", password.unwrap_or_default());
    Some(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(both)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(proxies: &Proxies, url: &str) -> Option<String> {
        proxies.of(&url.parse().unwrap()).map(named)
    }

    #[test]
    fn the_environment_names_a_proxy_for_each_scheme_and_exceptions() {
        let variables = [
            ("HTTPS_PROXY", "http://u:hidden@secure.example:3128"),
            ("http_proxy", "plain.example"),
            ("NO_PROXY", "corp.example, .sub.example,10.0.0.0/8 2001:db8::/32,port.example:8080,192.0.2.7"),
        ];
        let variable = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        let proxies = Proxies::of_environment(variable).unwrap();
        for (url, proxy) in [
            ("https://a.example/", Some("secure.example:3128")),
            ("http://a.example/", Some("plain.example:80")),
            ("https://corp.example/", None),
            ("https://www.corp.example/", None),
            ("https://notcorp.example/", Some("secure.example:3128")),
            ("https://x.sub.example/", None),
            ("https://10.9.8.7/", None),
            ("https://11.9.8.7/", Some("secure.example:3128")),
            ("https://192.0.2.7/", None),
            ("https://192.0.2.8/", Some("secure.example:3128")),
            ("https://[2001:db8::1]/", None),
            ("http://port.example:8080/", None),
            ("http://port.example/", Some("plain.example:80")),
            ("https://localhost/", None),
            ("http://127.0.0.1:9/", None),
            ("http://[::1]/", None),
        ] {
            assert_eq!(through(&proxies, url).as_deref(), proxy, "{url}");
        }
        let shown = format!("{proxies:?}");
        assert!(shown.contains("secure.example:3128") && !shown.contains("hidden"), "{shown}");
        assert_eq!(Proxies::of_environment(|_| None).unwrap(), Proxies::default());
        assert_eq!(Proxies::of_environment(|_| Some(" ".to_owned())).unwrap(), Proxies::default());
    }

    async fn tunnelled(answer: &'static str) -> (std::io::Result<String>, String) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address: Url = format!("http://user:word@{}", listener.local_addr().unwrap()).parse().unwrap();
        let proxy = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            stream.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8(head).unwrap()
        });
        let stream = TcpStream::connect(named(&address)).await.unwrap();
        let read = async {
            let mut stream = tunnel(stream, &address, &"https://a.example/".parse().unwrap()).await?;
            let mut rest = String::new();
            stream.read_to_string(&mut rest).await?;
            Ok(rest)
        };
        (read.await, proxy.await.unwrap())
    }

    #[tokio::test]
    async fn a_tunnel_begins_behind_the_answer_to_connect() {
        let (rest, asked) = tunnelled("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\nbytes").await;
        assert_eq!(rest.unwrap(), "bytes");
        assert!(asked.starts_with("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n"), "{asked}");
        assert!(asked.contains("Proxy-Authorization: Basic dXNlcjp3b3Jk\r\n"), "{asked}");
        let (refused, _) = tunnelled("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").await;
        assert!(refused.unwrap_err().to_string().contains("407"));
        assert!(tunnelled("HTTP/1.1 200").await.0.is_err());
    }

    #[test]
    fn what_is_no_http_proxy_is_refused_without_its_password() {
        for text in ["socks5://u:hidden@p.example:1080", "http://", "ftp://hidden.example"] {
            let error = Proxies::one("sources.proxy", text, "").unwrap_err().to_string();
            assert!(error.starts_with("sources.proxy: ") && !error.contains("hidden"), "{error}");
        }
        let proxies = Proxies::one("sources.proxy", "http://a%40b:p%3Aw@p.example:8080/", "*").unwrap();
        assert_eq!(through(&proxies, "https://a.example/"), None);
        assert_eq!(authorization(proxies.https.as_ref().unwrap()).as_deref(), Some("Basic YUBiOnA6dw=="));
    }
}

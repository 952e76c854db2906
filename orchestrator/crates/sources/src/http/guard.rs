//! What must never be fetched: checked on every address, every redirect, and every resolved name.
//!
//! Names are checked in the resolver that the connection itself uses, and the connection goes to the checked addresses:
//! DNS rebinding does not help an attacker.

use super::{Origin, Policy};
use crate::{Error, Result};
use futures::FutureExt;
use futures::future::BoxFuture;
use lyra_domain::domains::is_public_name;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use url::{Host, Url};

/// Longest time for resolving a name that a proxy will resolve again.
const LOOKUP: Duration = Duration::from_secs(2);

/// Turns names into addresses.
pub trait Resolver: Send + Sync {
    /// Every address of a host name.
    fn resolve(&self, host: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, host: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        let host = host.to_owned();
        async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        }
        .boxed()
    }
}

/// Whom an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// An origin that configuration names.
    Configured,
    /// Anyone.
    Public,
}

/// Checks scheme, port and a literal address.
pub(crate) fn check(policy: &Policy, url: &Url) -> Result<Trust> {
    let forbidden = |why: String| Error::Forbidden { url: shown(url), why };
    let Some(origin) = Origin::of(url) else {
        return Err(forbidden(format!("the scheme is `{}`, only http and https are fetched", url.scheme())));
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(forbidden("it contains a user name or password".to_owned()));
    }
    if policy.trusted.contains(&origin) {
        return Ok(Trust::Configured);
    }
    let port = url.port_or_known_default().unwrap_or_default();
    if !matches!(port, 80 | 443) && !policy.ports.contains(&port) {
        return Err(forbidden(format!("port {port} is not among the allowed ones (80, 443)")));
    }
    let literal = match url.host() {
        Some(Host::Ipv4(address)) => Some(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => Some(IpAddr::V6(address)),
        Some(Host::Domain(_)) | None => None,
    };
    match literal.and_then(|address| Some((address, reserved(address)?))) {
        Some((address, kind)) => Err(forbidden(format!("{address} is {kind}"))),
        None => Ok(Trust::Public),
    }
}

/// The address for messages: without query, fragment and user part.
pub(crate) fn shown(url: &Url) -> String {
    match url.host_str() {
        Some(host) => {
            let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
            format!("{}://{host}{port}{}", url.scheme(), url.path())
        }
        None => format!("{}:…", url.scheme()),
    }
}

/// The kind of reserved address; `None` for a globally reachable one (IANA special-purpose address registries, and the
/// metadata services of cloud providers).
pub fn reserved(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => reserved_v4(address),
        IpAddr::V6(address) => reserved_v6(address),
    }
}

fn reserved_v4(address: Ipv4Addr) -> Option<&'static str> {
    match address.octets() {
        [0, ..] => Some("an address of this host"),
        [127, ..] => Some("a loopback address"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some("a private address"),
        [100, 64..=127, ..] => Some("a shared address of a provider"),
        // Link-local includes the metadata service of most clouds; the other one is Azure's.
        [169, 254, ..] => Some("a link-local address"),
        [168, 63, 129, 16] => Some("a metadata service"),
        [224..=239, ..] => Some("a multicast address"),
        [192, 0, 0 | 2, _]
        | [192, 88, 99, _]
        | [198, 51, 100, _]
        | [203, 0, 113, _]
        | [198, 18..=19, ..]
        | [240..=255, ..] => Some("a reserved address"),
        _ => None,
    }
}

fn reserved_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(inner) = address.to_ipv4_mapped() {
        return reserved_v4(inner);
    }
    let segments = address.segments();
    let embedded = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match segments {
        [0, 0, 0, 0, 0, 0, 0, 1] => Some("a loopback address"),
        // NAT64: maps to the IPv4 address in its last 32 bits.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => reserved_v4(embedded(high, low)),
        // 6to4 carries an IPv4 address, Teredo hides one; neither is in use any more.
        [0x2002, ..] => Some("a 6to4 address"),
        [0x2001, 0, ..] => Some("a Teredo address"),
        [0x2001, 0..=0x01ff | 0xdb8, ..] | [0x3fff, 0..=0x0fff, ..] => Some("a reserved address"),
        [0xfe80..=0xfebf, ..] => Some("a link-local address"),
        [0xfc00..=0xfdff, ..] => Some("a private address"),
        [0xff00..=0xffff, ..] => Some("a multicast address"),
        // Only 2000::/3 is allocated as global unicast.
        [0x2000..=0x3fff, ..] => None,
        _ => Some("a reserved address"),
    }
}

/// The addresses of a host that [`check`] has let through, checked like those that the client's own connections use.
pub(super) async fn addresses_of(
    resolver: &dyn Resolver,
    trust: Trust,
    url: &Url,
) -> Result<Vec<SocketAddr>, Box<dyn std::error::Error + Send + Sync>> {
    let port = url.port_or_known_default().unwrap_or_default();
    let found = match url.host() {
        Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
        Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
        Some(Host::Domain(host)) => {
            let found = resolver.resolve(host).await?;
            if trust == Trust::Public { none_reserved(host, found)? } else { found }
        }
        None => Vec::new(),
    };
    Ok(found.into_iter().map(|address| SocketAddr::new(address, port)).collect())
}

/// Checks the target of a request that a proxy resolves: its name must be public, and if it can be resolved here as
/// well, it must not lead inside. Networks behind a proxy often cannot resolve outside names; then the proxy decides.
pub(super) async fn check_proxied(resolver: &dyn Resolver, url: &Url) -> Result<()> {
    let forbidden = |why: String| Error::Forbidden { url: shown(url), why };
    let Some(Host::Domain(host)) = url.host() else { return Ok(()) };
    if !is_public_name(host) {
        return Err(forbidden(format!("{host} is not a public name, and a proxy would resolve it")));
    }
    let found = tokio::time::timeout(LOOKUP, resolver.resolve(host)).await;
    match found.map(|found| found.map(|found| none_reserved(host, found))) {
        Ok(Ok(Err(inside))) => Err(forbidden(inside.to_string())),
        _ => Ok(()),
    }
}

/// One bad address among good ones is as suspicious as only bad ones.
fn none_reserved(host: &str, found: Vec<IpAddr>) -> Result<Vec<IpAddr>, LeadsInside> {
    match found.iter().find_map(|address| Some((*address, reserved(*address)?))) {
        Some((address, kind)) => Err(LeadsInside { host: host.to_owned(), address, kind }),
        None => Ok(found),
    }
}

/// Resolves for connections to anyone; refuses names that lead to a reserved address.
pub(super) struct Guarded(pub(super) Arc<dyn Resolver>);

impl reqwest::dns::Resolve for Guarded {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let host = name.as_str().to_owned();
        let lookup = self.0.resolve(&host);
        async move { Ok(addresses(none_reserved(&host, lookup.await?)?)) }.boxed()
    }
}

/// Resolves for origins that configuration names.
pub(super) struct Unguarded(pub(super) Arc<dyn Resolver>);

impl reqwest::dns::Resolve for Unguarded {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let lookup = self.0.resolve(name.as_str());
        async move { Ok(addresses(lookup.await?)) }.boxed()
    }
}

fn addresses(found: Vec<IpAddr>) -> reqwest::dns::Addrs {
    Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)))
}

/// A name that leads to a reserved address.
#[derive(Debug)]
pub(super) struct LeadsInside {
    host: String,
    address: IpAddr,
    kind: &'static str,
}

impl fmt::Display for LeadsInside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} leads to {}, {}", self.host, self.address, self.kind)
    }
}

impl std::error::Error for LeadsInside {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_addresses_in_every_disguise() {
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.100.100.200",
            "127.0.0.1",
            "127.8.8.8",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.9",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "ff02::1",
        ] {
            assert!(reserved(address.parse().unwrap()).is_some(), "{address}");
        }
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "93.184.216.34",
            "172.15.0.1",
            "172.32.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
        ] {
            assert_eq!(reserved(address.parse().unwrap()), None, "{address}");
        }
    }

    #[track_caller]
    fn refused(url: &str, why: &str) {
        let error = check(&Policy::new("web"), &url.parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }

    #[test]
    fn schemes_ports_and_literals() {
        refused("ftp://example.org/", "only http and https");
        refused("file:///etc/passwd", "only http and https");
        refused("http://example.org:8080/", "port 8080");
        refused("http://user:secret@example.org/", "user name");
        refused("http://127.0.0.1/", "loopback");
        // Other ways to write 127.0.0.1 and 169.254.169.254.
        for disguise in ["2130706433", "0x7f.1", "0177.0.0.1", "127.1"] {
            refused(&format!("http://{disguise}/"), "loopback");
        }
        refused("http://0xa9fea9fe/latest/meta-data", "link-local");
        refused("http://[::ffff:169.254.169.254]/", "link-local");
        refused("http://[::1]/", "loopback");
        assert_eq!(
            check(&Policy::new("web"), &"https://example.org/".parse().unwrap()).unwrap(),
            Trust::Public
        );
    }

    #[test]
    fn trust_is_for_one_origin_only() {
        let stand_in: Url = "http://127.0.0.1:9000/api".parse().unwrap();
        let policy = Policy { trusted: Origin::of(&stand_in).into_iter().collect(), ..Policy::new("web") };
        assert_eq!(check(&policy, &stand_in).unwrap(), Trust::Configured);
        for other in ["http://127.0.0.1:9001/", "https://127.0.0.1:9000/", "http://localhost:9000/"] {
            assert!(check(&policy, &other.parse().unwrap()).is_err(), "{other}");
        }
    }

    #[test]
    fn messages_hold_no_query() {
        let url = "https://u:p@example.org:444/a?api_key=secret#f".parse().unwrap();
        assert_eq!(shown(&url), "https://example.org:444/a");
    }
}

//! Requests through a proxy: which are sent to it, and which are not.

use crate::support::{MemoryRates, Names, Now, StandIn, config, reply};
use futures::FutureExt;
use futures::future::BoxFuture;
use lyra_sources::Error;
use lyra_sources::http::{HttpClient, HttpConfig, Policy, Proxies, Request, Resolver};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A network that knows no outside names.
struct Unknown;

impl Resolver for Unknown {
    fn resolve(&self, _: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        async { Err(std::io::Error::other("no such name")) }.boxed()
    }
}

fn client(proxy: &str, resolver: impl Resolver + 'static) -> HttpClient {
    let proxies = Proxies::one("sources.proxy", proxy, "direct.example.org").unwrap();
    let config = HttpConfig { proxies, ..config(None) };
    HttpClient::with_resolver(config, Arc::new(MemoryRates::default()), Arc::new(Now), Arc::new(resolver))
        .unwrap()
}

fn policy() -> Policy {
    Policy { max_attempts: 1, min_interval: Duration::ZERO, breaker_after: 100, ..Policy::new("proxied") }
}

async fn get(client: &HttpClient, url: &str) -> lyra_sources::Result<lyra_sources::http::Response> {
    client.send(&policy(), Request::get(url.parse().unwrap())).await
}

/// A proxy that answers every request itself.
async fn proxy() -> (StandIn, String) {
    let proxy = StandIn::start(|seen, _| match seen.path.as_str() {
        "/inside" => reply(302, &[("location", "http://metadata.google.internal/computeMetadata/v1/")], ""),
        "/address" => reply(302, &[("location", "http://169.254.169.254/latest/")], ""),
        _ => reply(200, &[], "by the proxy"),
    })
    .await;
    let address = proxy.url.as_str().replace("http://", "http://user:p%40ss@");
    (proxy, address)
}

#[tokio::test]
async fn a_public_name_is_asked_of_the_proxy() {
    let (proxy, address) = proxy().await;
    let known = client(&address, Names::of(&["93.184.216.34"]));
    // Networks behind a proxy often know no outside names.
    for client in [known, client(&address, Unknown)] {
        let answer = get(&client, "http://papers.example.org/a?b=c").await.unwrap();
        assert_eq!(answer.body, "by the proxy");
        let seen = proxy.seen().pop().unwrap();
        assert_eq!((seen.path.as_str(), seen.query.as_str()), ("/a", "b=c"));
        assert_eq!(seen.headers["host"], "papers.example.org");
        assert_eq!(seen.headers["proxy-authorization"], "Basic dXNlcjpwQHNz");
    }
}

#[tokio::test]
async fn what_leads_inside_is_kept_from_the_proxy() {
    let (proxy, address) = proxy().await;
    let outside = || client(&address, Names::of(&["93.184.216.34"]));
    for (client, url, why) in [
        (client(&address, Names::of(&["10.0.0.1"])), "http://papers.example.org/", "a private address"),
        (outside(), "http://intranet/", "not a public name"),
        (outside(), "http://wiki.corp/", "not a public name"),
        (outside(), "http://metadata.google.internal/", "not a public name"),
        (outside(), "http://169.254.169.254/latest/", "link-local"),
        (outside(), "http://papers.example.org:8080/", "port 8080"),
    ] {
        let error = get(&client, url).await.unwrap_err();
        assert!(
            matches!(error, Error::Forbidden { .. }) && error.to_string().contains(why),
            "{url}: {error}"
        );
    }
    assert!(proxy.seen().is_empty());
    // Nor by a redirect.
    for (url, why) in [("inside", "not a public name"), ("address", "link-local")] {
        let error = get(&outside(), &format!("http://papers.example.org/{url}")).await.unwrap_err();
        assert!(
            matches!(error, Error::Forbidden { .. }) && error.to_string().contains(why),
            "{url}: {error}"
        );
    }
    assert_eq!(proxy.seen().len(), 2);
}

#[tokio::test]
async fn this_machine_and_exceptions_are_reached_without_the_proxy() {
    let (proxy, address) = proxy().await;
    let server = StandIn::start(|_, _| reply(200, &[], "direct")).await;
    let client = client(&address, Names::of(&["127.0.0.1"]));
    let answer = client.send(&server.policy(), Request::get(server.at("/"))).await.unwrap();
    assert_eq!(answer.body, "direct");
    // Exceptions are connected to directly, where the guard checks every address.
    let error = get(&client, "http://direct.example.org/").await.unwrap_err();
    assert!(matches!(error, Error::Forbidden { .. }) && error.to_string().contains("loopback"), "{error}");
    assert!(proxy.seen().is_empty());
}

#[tokio::test]
async fn https_goes_through_a_tunnel_and_a_refusal_names_the_proxy() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        String::from_utf8(head).unwrap()
    });
    let client = client(&format!("http://{address}"), Unknown);
    let error = get(&client, "https://papers.example.org/").await.unwrap_err();
    let named = format!("(through the proxy {address})");
    assert!(matches!(error, Error::Unreachable { .. }) && error.to_string().contains(&named), "{error}");
    let asked = asked.await.unwrap();
    assert!(asked.starts_with("CONNECT papers.example.org:443 HTTP/1.1\r\n"), "{asked}");
}

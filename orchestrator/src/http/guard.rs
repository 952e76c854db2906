//! Who a request says it is for and from.
//!
//! A page in a browser can send requests to this machine, and a name that its owner points here passes for a local one
//! (DNS rebinding). Both give themselves away in `Host` and `Origin`.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

/// Names of this machine that no one else can own.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// Stands for every host name in `server.allowed_hosts`.
pub(crate) const ANY: &str = "*";

/// What requests may be for and from.
#[derive(Debug)]
pub(super) struct Allowed {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl Allowed {
    /// The names of this machine, the address that is listened on, and what an operator named.
    pub(super) fn new(hosts: &[String], origins: &[String], listening: IpAddr) -> Self {
        let own = LOOPBACK.iter().map(|name| (*name).to_owned());
        let own = own.chain((!listening.is_unspecified()).then(|| listening.to_string()));
        Self {
            hosts: own.chain(hosts.iter().map(|name| plain(name))).collect(),
            origins: origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect(),
        }
    }

    fn host(&self, authority: &str) -> bool {
        // User information would let `localhost@attacker` pass somewhere behind us.
        !authority.contains('@')
            && authority.parse::<Authority>().is_ok_and(|authority| {
                let host = plain(authority.host());
                self.hosts.iter().any(|allowed| *allowed == host || allowed == ANY)
            })
    }

    /// A page of an allowed host, or of an origin that is named as a whole. That any host may be asked allows no page.
    fn origin(&self, origin: &str) -> bool {
        let named = ["http://", "https://"]
            .iter()
            .filter_map(|scheme| origin.strip_prefix(scheme))
            .filter_map(|rest| rest.parse::<Authority>().ok().filter(|_| !rest.contains('@')))
            .any(|authority| self.hosts.contains(&plain(authority.host())));
        named || self.named(origin)
    }

    /// An origin that an operator named as a whole.
    fn named(&self, origin: &str) -> bool {
        self.origins.contains(&origin.to_ascii_lowercase())
    }
}

/// Refuses a request whose `Host` or `Origin` is not allowed. A request without `Origin` comes from no browser page.
pub(super) async fn check(State(allowed): State<Arc<Allowed>>, request: Request, next: Next) -> Response {
    match fault(&allowed, request.uri(), request.headers()) {
        None => next.run(request).await,
        Some((header, value)) => {
            tracing::warn!(header, value, "request refused");
            let error = format!(
                "{header} `{value}` is not allowed; an operator can add it to server.allowed_{}s",
                header.to_ascii_lowercase()
            );
            (StatusCode::FORBIDDEN, Json(json!({ "error_code": "forbidden", "error": error })))
                .into_response()
        }
    }
}

/// Lets pages of the origins that an operator named read the answers, and answers what their browsers ask beforehand (CORS). Pages of
/// this machine's own names get no such leave: any program here could serve one.
pub(super) fn cors(allowed: &Arc<Allowed>) -> CorsLayer {
    let allowed = Arc::clone(allowed);
    let named =
        move |origin: &HeaderValue, _: &Parts| origin.to_str().is_ok_and(|origin| allowed.named(origin));
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(named))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        // MCP's own headers depend on the tool that is called.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([
            HeaderName::from_static("mcp-session-id"),
            header::WWW_AUTHENTICATE,
            header::RETRY_AFTER,
        ])
        .max_age(Duration::from_hours(1))
}

/// The header that is at fault, with its value.
fn fault(allowed: &Allowed, uri: &Uri, headers: &HeaderMap) -> Option<(&'static str, String)> {
    // HTTP/2 has the host in the address.
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
    let host =
        host.or_else(|| uri.authority().map(|authority| authority.as_str().as_bytes())).unwrap_or_default();
    let host = String::from_utf8_lossy(host);
    if !allowed.host(&host) {
        return Some(("Host", host.into_owned()));
    }
    headers
        .get_all(header::ORIGIN)
        .iter()
        .map(|origin| String::from_utf8_lossy(origin.as_bytes()).into_owned())
        .find(|origin| !allowed.origin(origin))
        .map(|origin| ("Origin", origin))
}

/// Lower case, without the brackets of an IPv6 address and the dot of an absolute name.
fn plain(host: &str) -> String {
    host.trim().trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase()
}

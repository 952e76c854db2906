//! The workbench: a page where people ask, see why, and correct.
//!
//! Every page is whole HTML from the server, readable without JavaScript; modules of `assets/` add behavior, write
//! through the JSON API, and then load the page again to replace its live parts. So everything is rendered once, here.
//! Text of documents is text, never markup: `maud` escapes it.

mod assets;
mod failure;
mod pages;
mod parts;
pub mod pictures;
pub mod report;
mod shell;
#[cfg(test)]
mod tests;
mod visit;
mod words;

use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware;
use axum::response::Response;
use lyra_usecases::App;
use std::sync::Arc;

/// What a page may load and do: nothing from elsewhere, no inline script or style, no text made into markup.
const CONTENT_SECURITY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The routes of all pages and assets. Access is checked by the layers around them, which put a
/// [`Caller`](lyra_usecases::Caller) into the extensions of each request.
pub fn router(app: App) -> Router {
    let framed: Arc<str> = framing(&app.config().server.frame_ancestors).into();
    let secured = move |response: Response| {
        let framed = Arc::clone(&framed);
        async move { secured(response, &framed) }
    };
    let pages = pages::router().with_state(app).layer(middleware::map_response(secured));
    pages.merge(assets::router())
}

/// Which sites may show pages in a frame: those that the configuration names, which has checked them.
fn framing(ancestors: &[String]) -> String {
    let named: Vec<&str> = ancestors.iter().map(|origin| origin.trim_end_matches('/')).collect();
    if named.is_empty() {
        "frame-ancestors 'none'".to_owned()
    } else {
        format!("frame-ancestors {}", named.join(" "))
    }
}

fn secured(mut response: Response, framing: &str) -> Response {
    let headers = response.headers_mut();
    // A report has a stricter policy of its own. No other directive says anything about framing.
    let own = headers.get(header::CONTENT_SECURITY_POLICY).and_then(|policy| policy.to_str().ok());
    let policy = format!("{}; {framing}", own.unwrap_or(CONTENT_SECURITY));
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in [
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (header::CACHE_CONTROL, "private, no-cache"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

//! Stylesheet and modules: embedded, compressed once, and at addresses that change with their content.

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use lyra_serve::gzip::{self, Level};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::sync::LazyLock;

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal: $kind:expr,)*) => {
        [$(($name, $kind, include_bytes!(concat!("../assets/", $name)).as_slice())),*]
    };
}

/// Name, type, and content.
const FILES: &[(&str, &str, &[u8])] = &files! {
    "workbench.css": STYLE,
    "workbench.js": SCRIPT,
    "actions.js": SCRIPT,
    "api.js": SCRIPT,
    "app.js": SCRIPT,
    "ask-sources.js": SCRIPT,
    "choices.js": SCRIPT,
    "csv.js": SCRIPT,
    "explore.js": SCRIPT,
    "folders.js": SCRIPT,
    "fusion.js": SCRIPT,
    "graph.js": SCRIPT,
    "graph-moves.js": SCRIPT,
    "graph-paint.js": SCRIPT,
    "graph-panel.js": SCRIPT,
    "graph-scene.js": SCRIPT,
    "graph-view.js": SCRIPT,
    "import.js": SCRIPT,
    "keys.js": SCRIPT,
    "live.js": SCRIPT,
    "matrix.js": SCRIPT,
    "notice.js": SCRIPT,
    "say.js": SCRIPT,
    "operations.js": SCRIPT,
    "plot.js": SCRIPT,
    "rows.js": SCRIPT,
    "screening.js": SCRIPT,
    "selection.js": SCRIPT,
    "series.js": SCRIPT,
    "icon.svg": PICTURE,
};

/// The folder of all assets. Modules name each other relatively, so one change moves all of them.
static FOLDER: LazyLock<String> = LazyLock::new(|| {
    let mut hash = Sha256::new();
    for (name, _, bytes) in FILES {
        hash.update(name.as_bytes());
        hash.update(bytes);
    }
    hash.finalize().iter().take(8).fold("/assets/".to_owned(), |mut path, byte| {
        let _ = write!(path, "{byte:02x}");
        path
    })
});

/// The files of [`FILES`], compressed.
static COMPRESSED: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| FILES.iter().map(|(.., bytes)| gzip::compressed(bytes, Level::best())).collect());

/// The address of an asset.
pub(crate) fn address(name: &str) -> String {
    format!("{}/{name}", *FOLDER)
}

pub(crate) fn router() -> Router {
    Router::new().route("/assets/{version}/{name}", get(asset))
}

/// An asset; of another version only, so that a page of an older server still finds its files, without being kept.
async fn asset(Path((version, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let Some(at) = FILES.iter().position(|(known, ..)| *known == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let (_, kind, bytes) = FILES[at];
    let current = FOLDER.ends_with(&format!("/{version}"));
    let kept = if current { "public, max-age=31536000, immutable" } else { "no-store" };
    let mut response = if gzip::accepted(&headers) {
        ([(header::CONTENT_ENCODING, "gzip")], COMPRESSED[at].as_slice()).into_response()
    } else {
        bytes.into_response()
    };
    let set = response.headers_mut();
    set.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    set.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
    set.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::Request;
    use tower::ServiceExt;

    #[tokio::test]
    async fn assets_are_kept_for_as_long_as_they_are_current() {
        let get = async |path: &str, coding: &str| {
            let request =
                Request::get(path).header("accept-encoding", coding).body(Body::empty()).expect("a request");
            router().oneshot(request).await.expect("an answer")
        };
        let current = get(&address("workbench.css"), "br, gzip").await;
        assert_eq!(current.status(), StatusCode::OK);
        assert_eq!(current.headers()["content-encoding"], "gzip");
        assert!(current.headers()["cache-control"].to_str().expect("text").contains("immutable"));
        let old = get("/assets/0000/workbench.js", "gzip;q=0").await;
        assert!(!old.headers().contains_key("content-encoding"));
        assert_eq!(old.headers()["cache-control"], "no-store");
        assert_eq!(get("/assets/0000/nothing.js", "").await.status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn every_module_is_served() {
        for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/assets")).expect("the folder") {
            let name = entry.expect("an entry").file_name().into_string().expect("a name");
            assert!(FILES.iter().any(|(known, ..)| *known == name), "{name} is not in FILES");
        }
    }
}

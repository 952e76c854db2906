//! Reading what a request says: its query, and its JSON body.

use crate::problem::Failure;
use axum::body::Body;
use axum::extract::Query;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use lyra_serve::body::{self, Fault};
use lyra_usecases::ErrorCode;
use serde::de::DeserializeOwned;

/// Most bytes of a JSON body.
const MAX_BYTES: usize = 1024 * 1024;

/// The query of an address. Unknown parameters are refused with those that there are.
pub(super) fn query<Q: DeserializeOwned>(uri: &Uri) -> Result<Q, Failure> {
    let refused = |error: axum::extract::rejection::QueryRejection| {
        let said = error.body_text();
        let why = said.strip_prefix("Failed to deserialize query string: ").unwrap_or(&said).to_owned();
        Failure::invalid(format!("query: {}", spoken(&why, "parameter")))
    };
    Query::try_from_uri(uri).map(|Query(query)| query).map_err(refused)
}

/// All bytes of a JSON body.
pub(super) async fn bytes(headers: &HeaderMap, mut sent: Body) -> Result<Vec<u8>, Failure> {
    match body::read(headers, &mut sent, MAX_BYTES).await {
        Ok(bytes) => Ok(bytes),
        Err(fault) => {
            body::discard(headers, &mut sent).await;
            Err(unread(&fault))
        }
    }
}

/// Why a body was not read.
pub(super) fn unread(fault: &Fault) -> Failure {
    let status = match fault {
        Fault::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
        Fault::Slow(_) => StatusCode::REQUEST_TIMEOUT,
        Fault::Broken(_) => StatusCode::BAD_REQUEST,
    };
    Failure::new(status, ErrorCode::InvalidArgument, fault.to_string())
}

/// A JSON body; an empty one is an object without fields.
pub(super) fn json<B: DeserializeOwned>(headers: &HeaderMap, bytes: &[u8]) -> Result<B, Failure> {
    let bytes = if bytes.is_empty() { b"{}" } else { typed(headers, bytes)? };
    if let Err(error) = serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
        return Err(Failure::invalid(format!("the body is not JSON: {error}")));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let place = match error.path().to_string() {
            whole if whole == "." => "body".to_owned(),
            path => format!("body.{path}"),
        };
        let said = error.inner().to_string();
        // The place in the text does not help, because a program wrote it.
        let why = said.rsplit_once(" at line ").map_or(said.as_str(), |(why, _)| why);
        Failure::unprocessable(format!("{place}: {}", spoken(why, "field")))
    })
}

/// The body, if it says that it is JSON.
fn typed<'a>(headers: &HeaderMap, bytes: &'a [u8]) -> Result<&'a [u8], Failure> {
    let sent = headers.get(header::CONTENT_TYPE).and_then(|sent| sent.to_str().ok()).unwrap_or_default();
    let media = sent.split(';').next().unwrap_or_default().trim();
    if media.eq_ignore_ascii_case("application/json") {
        return Ok(bytes);
    }
    let shown = if media.is_empty() { "missing".to_owned() } else { format!("`{media}`") };
    let message = format!("the Content-Type is {shown}; it must be `application/json`");
    let failure = Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, ErrorCode::InvalidArgument, message);
    Err(failure.header(header::ACCEPT, HeaderValue::from_static("application/json")))
}

/// What serde says, with its word for a name replaced.
fn spoken(why: &str, word: &str) -> String {
    let why = why.replace("unknown field", &format!("unknown {word}"));
    why.replace("missing field", &format!("missing {word}"))
        .replace("there are no fields", &format!("there are no {word}s"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Asked {
        limit: Option<u32>,
        #[serde(default)]
        queries: Vec<String>,
    }

    fn asked(text: &str) -> Result<Asked, Failure> {
        let headers = HeaderMap::from_iter([(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json; charset=utf-8"),
        )]);
        json(&headers, text.as_bytes())
    }

    #[test]
    fn an_error_names_the_place_and_the_names_that_exist() {
        for (text, status, part) in [
            ("{\"queries\": [1]}", 422, "body.queries[0]: invalid type: integer `1`, expected a string"),
            ("{\"limit\": -1}", 422, "body.limit: "),
            ("{\"page\": 1}", 422, "body.page: unknown parameter"),
            ("[]", 422, "body: "),
            ("{", 400, "the body is not JSON"),
            ("{} {}", 400, "the body is not JSON"),
            ("nonsense", 400, "the body is not JSON"),
        ] {
            let failure = asked(text).expect_err(text);
            assert_eq!(failure.status.as_u16(), status, "{text}");
            let part =
                part.replace("unknown parameter", "unknown field `page`, expected `limit` or `queries`");
            assert!(failure.message.starts_with(&part), "{}", failure.message);
        }
        let Asked { limit, queries } = asked("{\"limit\": 3, \"queries\": [\"a\"]}").expect("valid");
        assert_eq!((limit, queries), (Some(3), vec!["a".to_owned()]));
        assert!(asked("").expect("an empty body").limit.is_none());
    }

    #[test]
    fn only_json_is_taken() {
        let failure = json::<Asked>(&HeaderMap::new(), b"{}").expect_err("no type");
        assert_eq!(failure.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
        let form = HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"))]);
        let failure = json::<Asked>(&form, b"{}").expect_err("another type");
        assert!(failure.message.contains("`text/plain`"), "{}", failure.message);
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Page {
        limit: Option<u32>,
    }

    #[test]
    fn unknown_parameters_are_refused_with_those_that_exist() {
        let page = |query: &str| query_of(query);
        assert_eq!(page("/x?limit=5").expect("valid").limit, Some(5));
        assert_eq!(page("/x").expect("valid").limit, None);
        for (query, part) in [
            ("/x?size=5", "unknown parameter `size`, expected `limit`"),
            ("/x?limit=many", "limit: "),
            ("/x?limit=1&limit=2", "duplicate field `limit`"),
        ] {
            let failure = page(query).expect_err(query);
            assert!(
                failure.status == StatusCode::BAD_REQUEST && failure.message.contains(part),
                "{}",
                failure.message
            );
        }
    }

    fn query_of(text: &str) -> Result<Page, Failure> {
        query(&text.parse().expect("an address"))
    }

    proptest! {
        #[test]
        fn no_body_is_a_server_error(text in any::<Vec<u8>>()) {
            let headers =
                HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
            if let Err(failure) = json::<Asked>(&headers, &text) {
                prop_assert!(failure.status.is_client_error());
            }
        }
    }
}

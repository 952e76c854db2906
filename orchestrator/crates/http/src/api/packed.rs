//! Answers compressed, for clients that accept that.

use axum::http::{HeaderMap, HeaderValue, header};
use lyra_serve::gzip::{self, Level};

/// Smaller answers are sent as they are.
const LEAST_BYTES: usize = 4 * 1024;

/// The bytes as they are sent, with the headers that say how.
pub(super) fn packed(asked: &HeaderMap, bytes: Vec<u8>, headers: &mut HeaderMap) -> Vec<u8> {
    if bytes.len() < LEAST_BYTES {
        return bytes;
    }
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !gzip::accepted(asked) {
        return bytes;
    }
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    gzip::compressed(&bytes, Level::fast())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(coding: &'static str, bytes: &[u8]) -> (Vec<u8>, HeaderMap) {
        let asked = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(coding))]);
        let mut headers = HeaderMap::new();
        (packed(&asked, bytes.to_vec(), &mut headers), headers)
    }

    #[test]
    fn large_answers_are_compressed_for_clients_that_accept_that() {
        let large = b"[1, 2, 3]".repeat(1_000);
        let (bytes, headers) = sent("br, gzip", &large);
        assert_eq!(
            (&headers[header::CONTENT_ENCODING], &headers[header::VARY]),
            (&HeaderValue::from_static("gzip"), &HeaderValue::from_static("accept-encoding"))
        );
        assert!(bytes.starts_with(&[0x1f, 0x8b]) && bytes.len() < large.len() / 10);
        for (coding, bytes) in [("gzip;q=0", &large[..]), ("br", &large[..]), ("gzip", &large[..100])] {
            let (same, headers) = sent(coding, bytes);
            assert!(same == bytes && !headers.contains_key(header::CONTENT_ENCODING), "{coding}");
        }
    }
}

//! Answers compressed, for clients that take that.

use axum::http::{HeaderMap, HeaderValue, header};
use flate2::{Compression, write::GzEncoder};
use std::io::Write;

/// Smaller answers are sent as they are.
const LEAST_BYTES: usize = 4 * 1024;

/// The bytes as they are sent, with the headers that say how.
pub(super) fn packed(asked: &HeaderMap, bytes: Vec<u8>, headers: &mut HeaderMap) -> Vec<u8> {
    if bytes.len() < LEAST_BYTES {
        return bytes;
    }
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if !takes_gzip(asked) {
        return bytes;
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    match encoder.write_all(&bytes).and_then(|()| encoder.finish()) {
        Ok(packed) => {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            packed
        }
        Err(_) => bytes,
    }
}

fn takes_gzip(asked: &HeaderMap) -> bool {
    let named = asked.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    named.split(',').any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim().eq_ignore_ascii_case("gzip")
            && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    fn sent(coding: &'static str, bytes: &[u8]) -> (Vec<u8>, HeaderMap) {
        let asked = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(coding))]);
        let mut headers = HeaderMap::new();
        (packed(&asked, bytes.to_vec(), &mut headers), headers)
    }

    #[test]
    fn large_answers_are_packed_for_who_takes_it() {
        let large = b"[1, 2, 3]".repeat(1_000);
        let (bytes, headers) = sent("br, gzip", &large);
        assert_eq!(
            (&headers[header::CONTENT_ENCODING], &headers[header::VARY]),
            (&HeaderValue::from_static("gzip"), &HeaderValue::from_static("accept-encoding"),)
        );
        let mut read = Vec::new();
        GzDecoder::new(bytes.as_slice()).read_to_end(&mut read).unwrap();
        assert!(read == large && bytes.len() < large.len() / 10);
        for (coding, bytes) in [("gzip;q=0", &large[..]), ("br", &large[..]), ("gzip", &large[..100])] {
            let (same, headers) = sent(coding, bytes);
            assert!(same == bytes && !headers.contains_key(header::CONTENT_ENCODING), "{coding}");
        }
    }
}

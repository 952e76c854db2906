//! Compressed answers, for clients that accept them.

use axum::http::{HeaderMap, header};
use flate2::write::GzEncoder;
use std::io::Write;

pub use flate2::Compression as Level;

/// Whether the client accepts gzip, by `Accept-Encoding` (RFC 9110, section 12.5.3).
pub fn accepted(asked: &HeaderMap) -> bool {
    let named = asked.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    named.split(',').any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim().eq_ignore_ascii_case("gzip")
            && !matches!(weight.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

/// The bytes compressed, as fast as possible for what is made for one answer, or as small as possible for what is kept.
pub fn compressed(bytes: &[u8], level: Level) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    // Writing to memory does not fail.
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use flate2::read::GzDecoder;
    use std::io::Read;

    #[test]
    fn gzip_is_used_where_it_is_accepted() {
        for (coding, expected) in [
            ("br, gzip", true),
            ("GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("gzip; q=0.000", false),
            ("br", false),
        ] {
            let asked = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(coding))]);
            assert_eq!(accepted(&asked), expected, "{coding}");
        }
        assert!(!accepted(&HeaderMap::new()));
    }

    #[test]
    fn what_was_compressed_is_read_back() {
        let large = b"[1, 2, 3]".repeat(1_000);
        let sent = compressed(&large, Level::fast());
        let mut read = Vec::new();
        GzDecoder::new(sent.as_slice()).read_to_end(&mut read).unwrap();
        assert!(read == large && sent.len() < large.len() / 10);
    }
}

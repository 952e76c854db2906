//! Reading a body with a limit on its bytes, packed and unpacked.

use crate::{Error, Result};
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use std::io::Read;

/// What [`unpack`] understands.
pub(super) const ACCEPT_ENCODING: &str = "gzip, br, zstd";

/// Most layers of compression around one body.
const MAX_LAYERS: usize = 2;
/// Largest zstd window, as RFC 9659 allows.
const ZSTD_WINDOW: u64 = 8 << 20;
/// Bodies up to this size are decompressed in place; larger ones on a blocking thread.
const SMALL: usize = 16 << 10;

/// Reads the whole body, still encoded.
pub(super) async fn read(mut response: reqwest::Response, provider: &str, limit: usize) -> Result<Bytes> {
    let too_large = || Error::TooLarge { provider: provider.to_owned(), limit };
    if response.content_length().is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    let mut body = BytesMut::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > limit => return Err(too_large()),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body.freeze()),
            Err(error) => {
                let why = format!("its answer was cut short: {}", super::client::root_cause(&error));
                return Err(Error::Unreachable { provider: provider.to_owned(), why });
            }
        }
    }
}

/// Undoes `Content-Encoding`, refusing more than `limit` bytes at every layer.
pub(super) async fn unpack(body: Bytes, headers: &HeaderMap, provider: &str, limit: usize) -> Result<Bytes> {
    let layers: Vec<String> = headers
        .get_all(http::header::CONTENT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|coding| coding.trim().to_ascii_lowercase())
        .filter(|coding| !coding.is_empty() && coding != "identity")
        .collect();
    if layers.is_empty() || body.is_empty() {
        return Ok(body);
    }
    let provider = provider.to_owned();
    if layers.len() > MAX_LAYERS {
        let why = format!("its answer is compressed {} times", layers.len());
        return Err(Error::Unexpected { provider, why });
    }
    let small = body.len() <= SMALL;
    let work = move || {
        // The last coding named was applied last.
        layers.iter().rev().try_fold(body, |packed, coding| unpack_one(&packed, coding, &provider, limit))
    };
    if small {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(unpacked) => unpacked,
        Err(panic) => Err(Error::Unexpected { provider: "unpacking".to_owned(), why: panic.to_string() }),
    }
}

fn unpack_one(packed: &[u8], coding: &str, provider: &str, limit: usize) -> Result<Bytes> {
    let unexpected = |why: String| Error::Unexpected { provider: provider.to_owned(), why };
    let broken = |error: std::io::Error| unexpected(format!("its {coding} answer is broken: {error}"));
    // One byte more than allowed shows that it is too large.
    let budget = limit as u64 + 1;
    let mut unpacked = Vec::new();
    match coding {
        "gzip" | "x-gzip" => {
            flate2::read::MultiGzDecoder::new(packed)
                .take(budget)
                .read_to_end(&mut unpacked)
                .map_err(broken)?;
        }
        "deflate" => {
            flate2::read::ZlibDecoder::new(packed).take(budget).read_to_end(&mut unpacked).map_err(broken)?;
        }
        "br" => {
            let decoder = brotli_decompressor::Decompressor::new(packed, SMALL);
            decoder.take(budget).read_to_end(&mut unpacked).map_err(broken)?;
        }
        "zstd" => {
            let mut rest = packed;
            while !rest.is_empty() && unpacked.len() <= limit {
                let decoder =
                    ruzstd::decoding::StreamingDecoder::new_with_max_window_size(&mut rest, ZSTD_WINDOW)
                        .map_err(|error| broken(std::io::Error::other(error)))?;
                let left = budget - unpacked.len() as u64;
                decoder.take(left).read_to_end(&mut unpacked).map_err(broken)?;
            }
        }
        _ => return Err(unexpected("its answer is compressed in a way that was not requested".to_owned())),
    }
    if unpacked.len() > limit {
        return Err(Error::TooLarge { provider: provider.to_owned(), limit });
    }
    Ok(unpacked.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use std::io::Write;

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(data: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest)
    }

    async fn unpacked(body: Vec<u8>, coding: &'static str, limit: usize) -> Result<Bytes> {
        let mut headers = HeaderMap::new();
        headers.insert(http::header::CONTENT_ENCODING, HeaderValue::from_static(coding));
        unpack(body.into(), &headers, "stand-in", limit).await
    }

    #[tokio::test]
    async fn packed_bodies_come_out_whole() {
        let text = "a fact about naps. ".repeat(4_000).into_bytes();
        assert_eq!(unpacked(gzip(&text), "gzip", text.len()).await.unwrap(), text);
        assert_eq!(unpacked(gzip(&gzip(&text)), "gzip, x-gzip", text.len()).await.unwrap(), text);
        assert_eq!(unpacked(zstd(&text), "zstd", text.len()).await.unwrap(), text);
        assert_eq!(
            unpacked([zstd(&text), zstd(b"!")].concat(), "zstd", 1 << 20).await.unwrap().len(),
            text.len() + 1
        );
        // "fact" as one stored brotli block.
        let brotli = vec![0x8b, 0x01, 0x80, b'f', b'a', b'c', b't', 0x03];
        assert_eq!(unpacked(brotli, "br", 100).await.unwrap(), "fact");
    }

    #[tokio::test]
    async fn bombs_and_junk_are_refused() {
        let bomb = vec![0_u8; 10 << 20];
        for (body, coding) in
            [(gzip(&bomb), "gzip"), (zstd(&bomb), "zstd"), (gzip(&gzip(&bomb)), "gzip, gzip")]
        {
            let error = unpacked(body, coding, 1 << 20).await.unwrap_err();
            assert!(matches!(error, Error::TooLarge { limit: 0x10_0000, .. }), "{coding}: {error}");
        }
        for (body, coding) in [
            (b"no gzip".to_vec(), "gzip"),
            (gzip(b"cut off")[..12].to_vec(), "gzip"),
            (b"junk".to_vec(), "br"),
            (b"junk".to_vec(), "zstd"),
            (b"x".to_vec(), "compress"),
            (gzip(b"x"), "gzip, gzip, gzip"),
        ] {
            let error = unpacked(body, coding, 100).await.unwrap_err();
            assert!(matches!(error, Error::Unexpected { .. }), "{coding}: {error}");
        }
    }
}

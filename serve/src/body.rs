//! Bodies of requests: within a limit of bytes and of time.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use http_body_util::BodyExt;

/// Longest time that a body may take to arrive. Otherwise a client could hold memory indefinitely by sending slowly.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Most bytes of a refused body that are read, and the longest time.
const DISCARD: usize = 16 * 1_024 * 1_024;
const DISCARD_PATIENCE: Duration = Duration::from_secs(2);
/// Bytes that are reserved for a body because its head announces them.
const RESERVED: usize = 64 * 1_024;

/// Why a body was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// 413
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    /// 408
    #[error("the body did not arrive within {0} s")]
    Slow(u64),
    /// 400
    #[error("the body could not be read: {0}")]
    Broken(String),
}

/// All bytes of a body, however it is framed.
///
/// # Errors
/// More than `limit` bytes, announced or sent; slower than [`PATIENCE`]; a connection that breaks.
pub async fn read(headers: &HeaderMap, body: &mut Body, limit: usize) -> Result<Vec<u8>, Fault> {
    announced_within(headers, limit)?;
    let all = async {
        let mut bytes = Vec::with_capacity(announced(headers).unwrap_or(0).min(RESERVED));
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|error| Fault::Broken(error.to_string()))?.into_data() else {
                continue;
            };
            if bytes.len() + data.len() > limit {
                return Err(Fault::TooLarge(limit));
            }
            bytes.extend_from_slice(&data);
        }
        Ok(bytes)
    };
    tokio::time::timeout(PATIENCE, all).await.map_err(|_| Fault::Slow(PATIENCE.as_secs()))?
}

/// Refuses a body with a declared size above `limit` bytes, before reading any of it.
///
/// # Errors
/// [`Fault::TooLarge`].
pub fn announced_within(headers: &HeaderMap, limit: usize) -> Result<(), Fault> {
    if announced(headers).is_some_and(|length| length > limit) { Err(Fault::TooLarge(limit)) } else { Ok(()) }
}

fn announced(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Reads and discards the rest of a refused body, within limits. Closing a connection with unread bytes resets it, and
/// the client may see that instead of the answer. For a client that waits for `100 Continue`, nothing is read.
pub async fn discard(headers: &HeaderMap, body: &mut Body) {
    if headers.contains_key(EXPECT) {
        return;
    }
    let mut left = DISCARD;
    let rest = async {
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
            if left == 0 {
                break;
            }
        }
    };
    // Slower clients are not waited for.
    let _ = tokio::time::timeout(DISCARD_PATIENCE, rest).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused_announced_or_not() {
        let bare = HeaderMap::new();
        assert_eq!(read(&bare, &mut Body::from("12345678"), 8).await, Ok(b"12345678".to_vec()));
        assert_eq!(read(&bare, &mut Body::from("123456789"), 8).await, Err(Fault::TooLarge(8)));
        let announced = HeaderMap::from_iter([(CONTENT_LENGTH, HeaderValue::from_static("9"))]);
        assert_eq!(read(&announced, &mut Body::from("1"), 8).await, Err(Fault::TooLarge(8)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_come_is_not_waited_for() {
        let silent = futures::stream::pending::<Result<Bytes, std::io::Error>>();
        let read = read(&HeaderMap::new(), &mut Body::from_stream(silent), 8).await;
        assert_eq!(read, Err(Fault::Slow(PATIENCE.as_secs())));
    }
}

//! Answers that a client may ask for again: the same `Idempotency-Key` gets the same answer, and nothing is done twice.

use crate::problem::Failure;
use axum::http::{HeaderMap, StatusCode};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// The header with the key.
const HEADER: &str = "idempotency-key";
/// Longest key, in characters.
const MAX_KEY: usize = 255;
/// Most answers that are kept, and for how long.
const MOST: usize = 1_000;
const KEPT: Duration = Duration::from_hours(24);

/// The answers that are kept.
#[derive(Default)]
pub(super) struct Once {
    answers: Mutex<HashMap<[u8; 32], Kept>>,
}

struct Kept {
    since: Instant,
    slot: Arc<Turn<Slot>>,
}

/// What is known of one key: the body that it came with, and the answer when there is one.
#[derive(Default)]
struct Slot {
    body: Option<[u8; 32]>,
    answer: Option<Stored>,
}

/// An answer as it was given.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

/// What to do about a request.
pub(super) enum Turned {
    /// It has no key.
    Unkeyed,
    /// It is the first with its key. Others with the same key wait until this is dropped.
    First(First),
    /// It was answered before.
    Again(Stored),
}

/// The right to answer.
pub(super) struct First(OwnedMutexGuard<Slot>);

impl First {
    /// Keeps the answer for later requests. Without, the next one is answered in its own right.
    pub(super) fn keep(mut self, answer: Stored) {
        self.0.answer = Some(answer);
    }
}

impl Once {
    /// Waits for its turn among requests of the same caller, target, and key.
    ///
    /// # Errors
    /// An invalid key, or one that came with another body before.
    pub(super) async fn turn(
        &self,
        headers: &HeaderMap,
        asked: &[&str],
        body: &[u8],
        now: Instant,
    ) -> Result<Turned, Failure> {
        let mut keys = headers.get_all(HEADER).iter();
        let Some(key) = keys.next() else { return Ok(Turned::Unkeyed) };
        let key = key.to_str().ok().filter(|key| (1..=MAX_KEY).contains(&key.len()) && keys.next().is_none());
        let Some(key) = key else {
            return Err(Failure::invalid(format!(
                "Idempotency-Key must be one text of 1 to {MAX_KEY} ASCII characters"
            )));
        };
        let mut name = Sha256::new();
        for part in asked.iter().chain([&key]) {
            name.update(part.len().to_le_bytes());
            name.update(part);
        }
        let mut slot = self.slot(name.finalize().into(), now).lock_owned().await;
        let body: [u8; 32] = Sha256::digest(body).into();
        match (&slot.answer, slot.body) {
            (Some(_), Some(before)) if before != body => {
                Err(Failure::unprocessable("this Idempotency-Key came with another body before")
                    .hint("use a new key for a new request"))
            }
            (Some(answer), _) => Ok(Turned::Again(answer.clone())),
            (None, _) => {
                slot.body = Some(body);
                Ok(Turned::First(First(slot)))
            }
        }
    }

    fn slot(&self, name: [u8; 32], now: Instant) -> Arc<Turn<Slot>> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|_, kept| now.duration_since(kept.since) < KEPT);
        if answers.len() >= MOST && !answers.contains_key(&name) {
            let oldest = answers.iter().min_by_key(|(_, kept)| kept.since).map(|(name, _)| *name);
            oldest.and_then(|name| answers.remove(&name));
        }
        let kept = answers.entry(name).or_insert_with(|| Kept { since: now, slot: Arc::default() });
        Arc::clone(&kept.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn keyed(key: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(HEADER.parse().expect("a name"), HeaderValue::from_static(key))])
    }

    fn answer(text: &str) -> Stored {
        Stored { status: StatusCode::CREATED, headers: HeaderMap::new(), body: text.as_bytes().to_vec() }
    }

    /// The text of the stored answer, or `None` when the request is the first.
    async fn sent(once: &Once, key: &'static str, actor: &str, body: &str, now: Instant) -> Option<String> {
        match once.turn(&keyed(key), &[actor, "POST", "/tasks"], body.as_bytes(), now).await {
            Ok(Turned::First(first)) => {
                first.keep(answer(body));
                None
            }
            Ok(Turned::Again(stored)) => Some(String::from_utf8(stored.body).expect("text")),
            Ok(Turned::Unkeyed) => panic!("a key was sent"),
            Err(failure) => Some(failure.message),
        }
    }

    #[tokio::test]
    async fn the_same_request_gets_the_same_answer_for_a_day() {
        let (once, now) = (Once::default(), Instant::now());
        assert_eq!(sent(&once, "k", "a", "{1}", now).await, None);
        assert_eq!(sent(&once, "k", "a", "{1}", now).await.as_deref(), Some("{1}"));
        let other = sent(&once, "k", "a", "{2}", now).await.expect("a refusal");
        assert!(other.contains("another body"), "{other}");
        assert_eq!(sent(&once, "k", "b", "{2}", now).await, None, "another caller");
        assert_eq!(sent(&once, "l", "a", "{2}", now).await, None, "another key");
        assert_eq!(sent(&once, "k", "a", "{2}", now + KEPT).await, None, "the next day");
    }

    #[tokio::test]
    async fn an_answer_that_was_not_kept_is_not_repeated() {
        let (once, now) = (Once::default(), Instant::now());
        for _ in 0..2 {
            let turn = once.turn(&keyed("k"), &["a"], b"{}", now).await.expect("a turn");
            assert!(matches!(turn, Turned::First(_)));
        }
        assert!(matches!(once.turn(&HeaderMap::new(), &["a"], b"{}", now).await, Ok(Turned::Unkeyed)));
        assert!(once.turn(&keyed(""), &["a"], b"{}", now).await.is_err());
    }

    #[tokio::test]
    async fn only_so_many_answers_are_kept() {
        let (once, now) = (Once::default(), Instant::now());
        for place in 0..=MOST {
            let later = now + Duration::from_millis(place as u64);
            let turn = once.turn(&keyed("k"), &[&place.to_string()], b"{}", later).await.expect("a turn");
            if let Turned::First(first) = turn {
                first.keep(answer("done"));
            }
        }
        assert_eq!(once.answers.lock().expect("unpoisoned").len(), MOST);
        let first = once.turn(&keyed("k"), &["0"], b"{}", now).await.expect("a turn");
        assert!(matches!(first, Turned::First(_)), "the oldest made room");
    }
}

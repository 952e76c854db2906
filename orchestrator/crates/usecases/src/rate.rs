//! Rate limiting per client: the generic cell rate algorithm, with one timestamp per client.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Number of clients from which on those without pending time are forgotten.
const REMEMBERED: usize = 10_000;

/// Counts requests by client.
#[derive(Debug)]
pub struct Limiter {
    /// Time that one request takes up; `None` without a limit.
    interval: Option<Duration>,
    /// Burst size: a sixth of the requests of the period, and at least ten.
    burst: u32,
    /// Until when each client's requests so far take up time.
    busy_until: Mutex<HashMap<String, Instant>>,
}

impl Limiter {
    /// So many requests in each period from each client; 0 sets no limit.
    pub fn new(requests: u32, period: Duration) -> Self {
        let interval = (requests > 0).then(|| period / requests);
        Self { interval, burst: (requests / 6).max(10), busy_until: Mutex::default() }
    }

    /// Whether this client may send a request now.
    ///
    /// # Errors
    /// How long it must wait.
    pub fn admit(&self, client: &str, now: Instant) -> Result<(), Duration> {
        let Some(interval) = self.interval else { return Ok(()) };
        let mut clients = self.busy_until.lock().unwrap_or_else(PoisonError::into_inner);
        if clients.len() >= REMEMBERED {
            clients.retain(|_, until| *until > now);
        }
        let until = clients.get(client).copied().unwrap_or(now).max(now) + interval;
        let wait = until.duration_since(now).saturating_sub(interval * self.burst);
        if wait > Duration::ZERO {
            return Err(wait);
        }
        clients.insert(client.to_owned(), until);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn bursts_pass_and_the_rest_waits_its_time() {
        let limiter = Limiter::new(60, MINUTE);
        let start = Instant::now();
        for _ in 0..10 {
            assert_eq!(limiter.admit("a", start), Ok(()));
        }
        let wait = limiter.admit("a", start).expect_err("one too many");
        assert!(wait <= Duration::from_secs(1), "{wait:?}");
        assert_eq!(limiter.admit("b", start), Ok(()), "another client");
        assert!(limiter.admit("a", start + wait / 2).is_err());
        assert_eq!(limiter.admit("a", start + wait), Ok(()), "it said how long");
    }

    #[test]
    fn over_any_minute_no_more_than_the_limit_and_the_burst_pass() {
        for per_minute in [1, 7, 600, 60_000] {
            let (limiter, start) = (Limiter::new(per_minute, MINUTE), Instant::now());
            let steps = 3 * per_minute.max(100);
            let passed = (0..steps)
                .filter(|n| limiter.admit("a", start + Duration::from_mins(1) * *n / steps).is_ok())
                .count() as u32;
            let burst = (per_minute / 6).max(10);
            assert!(passed <= per_minute + burst + 1, "{per_minute}: {passed}");
            assert!(passed >= per_minute.min(steps) - 1, "{per_minute}: {passed}");
        }
        let none = Limiter::new(0, MINUTE);
        assert!((0..100_000).all(|_| none.admit("a", Instant::now()).is_ok()));
    }

    #[test]
    fn clients_that_are_gone_are_forgotten() {
        let (limiter, start) = (Limiter::new(600, MINUTE), Instant::now());
        for n in 0..REMEMBERED {
            assert_eq!(limiter.admit(&n.to_string(), start), Ok(()));
        }
        assert_eq!(limiter.admit("later", start + Duration::from_mins(1)), Ok(()));
        assert_eq!(limiter.busy_until.lock().expect("not poisoned").len(), 1);
    }
}

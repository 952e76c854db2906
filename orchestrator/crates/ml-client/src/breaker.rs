//! A circuit breaker: after a run of failures, calls fail at once for a while instead of each waiting for its own timeout.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Closed, open until a moment, or letting one call through to see.
#[derive(Debug)]
pub(crate) struct Breaker {
    failures_to_open: u32,
    open_for: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
}

impl Breaker {
    /// Opens for `open_for` after `failures_to_open` failures in a row.
    pub(crate) fn new(failures_to_open: u32, open_for: Duration) -> Self {
        Self { failures_to_open, open_for, state: Mutex::default() }
    }

    /// Whether a call may go through at `now`; otherwise, how long until one may.
    ///
    /// After the pause one call passes; others wait for another pause unless that one succeeds.
    pub(crate) fn check(&self, now: Instant) -> Result<(), Duration> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.open_until {
            Some(until) if now < until => Err(until - now),
            Some(_) => {
                state.open_until = Some(now + self.open_for);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Notes that a call came back well.
    pub(crate) fn succeeded(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State::default();
    }

    /// Notes that a call failed at `now`.
    pub(crate) fn failed(&self, now: Instant) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures += 1;
        if state.failures >= self.failures_to_open {
            state.open_until = Some(now + self.open_for);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_probes_and_closes() {
        let pause = Duration::from_secs(10);
        let breaker = Breaker::new(2, pause);
        let start = Instant::now();
        breaker.failed(start);
        assert_eq!(breaker.check(start), Ok(()));
        breaker.succeeded();
        breaker.failed(start);
        assert_eq!(breaker.check(start), Ok(()), "a success in between starts the count again");
        breaker.failed(start);
        assert_eq!(breaker.check(start), Err(pause));

        let later = start + pause;
        assert_eq!(breaker.check(later), Ok(()), "one call probes");
        assert_eq!(breaker.check(later), Err(pause), "the others wait for it");
        breaker.succeeded();
        assert_eq!(breaker.check(later), Ok(()));
    }
}

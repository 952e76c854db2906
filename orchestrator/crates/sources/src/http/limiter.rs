//! Turns, cool-downs and the circuit breaker of one provider.
//!
//! Waits inside this process are measured by the monotonic clock. The wall clock only carries a pause or the time of
//! the last request over to another process, and every wait read from it is bounded by the length it was given, so
//! that a clock that jumps can neither freeze a provider nor set it free for long.

use super::Policy;
use crate::{Error, Result};
use jiff::Timestamp;
use lyra_research::ports::{Clock, RateState, RateStore};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// Seconds of a day.
const DAY: i64 = 86_400;
/// Providers remembered in memory; hosts of fetched pages are many.
const MAX_GATES: usize = 4_096;

/// The gates of every provider.
pub(super) struct Limiter {
    store: Arc<dyn RateStore>,
    clock: Arc<dyn Clock>,
    gates: Mutex<HashMap<String, Arc<Gate>>>,
}

/// One provider's gate.
pub(super) struct Gate {
    provider: String,
    slots: Semaphore,
    state: tokio::sync::Mutex<State>,
}

#[derive(Default)]
struct State {
    loaded: bool,
    rate: RateState,
    next_turn: Option<Instant>,
    held_until: Option<Instant>,
    paused_until: Option<Instant>,
}

impl State {
    /// No turn before then.
    fn hold(&mut self, until: Instant) {
        self.held_until = self.held_until.max(Some(until));
        self.next_turn = self.next_turn.max(Some(until));
    }
}

/// What became of a request, for its provider's health.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It answered.
    Answered,
    /// It said 429.
    Refused { retry_after: Option<Duration>, why: String },
    /// It answered 5xx, too late, or not at all.
    Failed { retry_after: Option<Duration>, why: String },
}

impl Limiter {
    pub(super) fn new(store: Arc<dyn RateStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, gates: Mutex::default() }
    }

    /// The gate of the policy's provider.
    pub(super) fn gate(&self, policy: &Policy) -> Arc<Gate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        if gates.len() >= MAX_GATES && !gates.contains_key(&policy.provider) {
            gates.retain(|_, gate| Arc::strong_count(gate) > 1);
        }
        let new = || {
            Arc::new(Gate {
                provider: policy.provider.clone(),
                slots: Semaphore::new(policy.max_concurrent.max(1)),
                state: tokio::sync::Mutex::default(),
            })
        };
        gates.entry(policy.provider.clone()).or_insert_with(new).clone()
    }

    /// Waits for a turn. Held until the returned permit is dropped.
    pub(super) async fn enter<'a>(&self, gate: &'a Gate, policy: &Policy) -> Result<SemaphorePermit<'a>> {
        let give_up = Instant::now() + policy.max_wait;
        let crowded = |wait: Duration| Error::CoolingDown {
            provider: gate.provider.clone(),
            retry_after: wait,
            why: "too many requests to it are already waiting".to_owned(),
        };
        let Ok(Ok(permit)) = tokio::time::timeout_at(give_up, gate.slots.acquire()).await else {
            return Err(crowded(policy.min_interval));
        };
        let mut turn = None;
        loop {
            let wait = {
                let mut state = gate.state.lock().await;
                self.refresh(gate, &mut state, policy).await;
                let now = Instant::now();
                if let Some(left) = state.paused_until.map(|until| until.saturating_duration_since(now))
                    && !left.is_zero()
                {
                    let why = state.rate.pause_reason.clone().unwrap_or_default();
                    return Err(Error::CoolingDown {
                        provider: gate.provider.clone(),
                        retry_after: left,
                        why,
                    });
                }
                // It named a time since this turn was given: the turn is another one then.
                turn = turn.filter(|at| state.held_until.is_none_or(|until| until <= *at));
                let at = turn.unwrap_or_else(|| state.next_turn.unwrap_or(now).max(now));
                if turn.is_none() {
                    if at > give_up {
                        return Err(match state.held_until.filter(|until| *until > give_up) {
                            Some(until) => Error::CoolingDown {
                                provider: gate.provider.clone(),
                                retry_after: until - now,
                                why: "it asked for this pause".to_owned(),
                            },
                            None => crowded(at - now),
                        });
                    }
                    state.next_turn = Some(at + policy.min_interval);
                    turn = Some(at);
                }
                if at <= now {
                    state.rate.last_request = Some(self.clock.now());
                    self.spend(gate, &mut state, policy).await?;
                    return Ok(permit);
                }
                at - now
            };
            // Checks again afterward: a pause may have begun meanwhile.
            tokio::time::sleep(wait).await;
        }
    }

    /// Counts a request against the daily budget, and persists it at once, so that restarts and other processes see it.
    async fn spend(&self, gate: &Gate, state: &mut State, policy: &Policy) -> Result<()> {
        let Some(budget) = policy.daily_budget else { return Ok(()) };
        let seconds = self.clock.now().as_second();
        let today = seconds.div_euclid(DAY);
        if state.rate.day < today {
            state.rate.spent = 0;
        }
        // A future day means that the clock went back: its requests count for today.
        let moved = std::mem::replace(&mut state.rate.day, today) != today;
        if state.rate.spent >= budget {
            if moved {
                self.save(gate, state).await;
            }
            return Err(Error::CoolingDown {
                provider: gate.provider.clone(),
                retry_after: Duration::from_secs((DAY - seconds.rem_euclid(DAY)).unsigned_abs()),
                why: format!("its budget of {budget} requests a day is used up"),
            });
        }
        state.rate.spent += 1;
        self.save(gate, state).await;
        Ok(())
    }

    async fn save(&self, gate: &Gate, state: &State) {
        if let Err(error) = self.store.save(&gate.provider, &state.rate).await {
            tracing::warn!(provider = gate.provider, %error, "rate limits could not be saved and will be lost on \
                restart");
        }
    }

    /// Writes down how a request went. Answers with the pause that begins now, if one does.
    pub(super) async fn leave(&self, gate: &Gate, policy: &Policy, outcome: Outcome) -> Option<Duration> {
        let mut state = gate.state.lock().await;
        let now = Instant::now();
        let pause = match outcome {
            Outcome::Answered => {
                state.rate.refusals = 0;
                state.rate.failures = 0;
                state.paused_until = None;
                state.rate.paused_at = None;
                state.rate.pause_seconds = 0;
                state.rate.pause_reason = None;
                None
            }
            Outcome::Refused { retry_after, why } => {
                state.rate.refusals = state.rate.refusals.saturating_add(1);
                if state.rate.refusals >= policy.cool_down_after.max(1) {
                    let why = format!(
                        "it said \"too many requests\" {} times in a row: {why}",
                        state.rate.refusals
                    );
                    Some((retry_after.unwrap_or_default().max(policy.cool_down), why))
                } else {
                    self.hold_back(&mut state, now, retry_after, policy, why)
                }
            }
            Outcome::Failed { retry_after, why } => {
                state.rate.failures = state.rate.failures.saturating_add(1);
                if state.rate.failures >= policy.breaker_after.max(1) {
                    let why = format!("it failed {} times in a row, last: {why}", state.rate.failures);
                    Some((retry_after.unwrap_or_default().max(policy.breaker_pause), why))
                } else {
                    self.hold_back(&mut state, now, retry_after, policy, why)
                }
            }
        };
        if let Some((length, why)) = &pause {
            tracing::info!(
                provider = gate.provider,
                seconds = length.as_secs(),
                why,
                "provider is cooling down"
            );
            state.paused_until = Some(now + *length);
            state.rate.paused_at = Some(self.clock.now());
            state.rate.pause_seconds = whole_seconds(*length);
            state.rate.pause_reason = Some(why.clone());
        }
        self.save(gate, &state).await;
        pause.map(|(length, _)| length)
    }

    /// How long the provider is cooling down yet, and why.
    pub(super) async fn pause(&self, provider: &str) -> Option<(Duration, String)> {
        let known = self.gates.lock().unwrap_or_else(PoisonError::into_inner).get(provider).cloned();
        if let Some(gate) = known {
            let state = gate.state.lock().await;
            let left = state.paused_until?.saturating_duration_since(Instant::now());
            return (!left.is_zero()).then(|| (left, state.rate.pause_reason.clone().unwrap_or_default()));
        }
        let saved = self.store.load(provider).await.ok().flatten()?;
        let left = remaining(saved.paused_at, saved.pause_seconds, self.clock.now());
        (!left.is_zero()).then(|| (left, saved.pause_reason.unwrap_or_default()))
    }

    /// A provider's `Retry-After` is respected; a long one is a pause, a short one a later turn.
    fn hold_back(
        &self,
        state: &mut State,
        now: Instant,
        retry_after: Option<Duration>,
        policy: &Policy,
        why: String,
    ) -> Option<(Duration, String)> {
        let wait = retry_after?;
        if wait > policy.max_wait {
            return Some((wait, why));
        }
        state.hold(now + wait);
        (state.rate.held_at, state.rate.held_seconds) = (Some(self.clock.now()), whole_seconds(wait));
        None
    }

    /// Loads saved state: at first everything, later the pauses of other processes.
    async fn refresh(&self, gate: &Gate, state: &mut State, policy: &Policy) {
        let saved = match self.store.load(&gate.provider).await {
            Ok(saved) => saved.unwrap_or_default(),
            Err(error) => {
                tracing::warn!(provider = gate.provider, %error, "saved rate limits could not be read");
                return;
            }
        };
        let (now, wall) = (Instant::now(), self.clock.now());
        let paused_at = saved.paused_at;
        if paused_at.is_some() && paused_at != state.rate.paused_at {
            state.paused_until = Some(now + remaining(paused_at, saved.pause_seconds, wall));
            state.rate.paused_at = paused_at;
            state.rate.pause_seconds = saved.pause_seconds;
            state.rate.pause_reason.clone_from(&saved.pause_reason);
        }
        if saved.held_at.is_some() && saved.held_at != state.rate.held_at {
            state.hold(now + remaining(saved.held_at, saved.held_seconds, wall));
            (state.rate.held_at, state.rate.held_seconds) = (saved.held_at, saved.held_seconds);
        }
        // Another process spends from the same budget.
        if saved.day == state.rate.day {
            state.rate.spent = state.rate.spent.max(saved.spent);
        } else if saved.day > state.rate.day {
            (state.rate.day, state.rate.spent) = (saved.day, saved.spent);
        }
        if !state.loaded {
            state.loaded = true;
            let since = saved.last_request.map(|at| elapsed(at, wall));
            // A time to come is the mark of a clock that went back: then wait the whole interval.
            let saved_turn = since.map(|since| match since {
                Some(since) => now + policy.min_interval.saturating_sub(since),
                None => now + policy.min_interval,
            });
            state.next_turn = state.next_turn.max(saved_turn);
            state.rate.refusals = saved.refusals;
            state.rate.failures = saved.failures;
            state.rate.last_request = saved.last_request;
        }
    }
}

/// Rounded up: a restart must not end a pause early.
fn whole_seconds(length: Duration) -> u64 {
    length.as_secs() + u64::from(length.subsec_nanos() > 0)
}

/// The rest of a pause, at most its whole length.
fn remaining(paused_at: Option<Timestamp>, seconds: u64, now: Timestamp) -> Duration {
    let length = Duration::from_secs(seconds);
    match paused_at.map(|at| elapsed(at, now)) {
        Some(Some(passed)) => length.saturating_sub(passed),
        Some(None) => length,
        None => Duration::ZERO,
    }
}

/// `None` when `then` is still to come.
fn elapsed(then: Timestamp, now: Timestamp) -> Option<Duration> {
    Duration::try_from(now.duration_since(then)).ok()
}

#[cfg(test)]
mod tests;

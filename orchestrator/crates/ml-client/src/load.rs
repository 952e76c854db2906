//! What a server has to do, and how long it takes: which of several servers answers a request soonest.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What a request asks for. A server's speed is measured for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Vectors of texts.
    Embed,
    /// Judgments of pairs.
    Nli,
    /// Verdicts about passages.
    Verify,
    /// Which models are hosted.
    Info,
}

/// A request: what it asks for, and how many bytes of text it sends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) bytes: usize,
}

/// Share of the latest request in a server's measured speed.
const LATEST: f64 = 0.3;
/// Bytes that every request counts besides its text: the time that even an empty one takes.
const OVERHEAD: f64 = 500.0;
/// A measurement older than this says nothing about a server that was not asked since.
const FRESH: Duration = Duration::from_mins(1);
/// Seconds per byte before anything is known: an embedder on a CPU, and a judge that takes ten times as long.
const GUESSES: [f64; 4] = [2e-5, 2e-4, 2e-4, 1e-6];

/// Requests in progress and measured speed of one server.
#[derive(Debug, Default)]
pub(crate) struct Load(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Seconds that the requests in progress are expected to take, one after the other.
    waiting: f64,
    /// Seconds per byte, per kind of work, and when that was measured last.
    pace: [Option<(f64, Instant)>; 4],
    /// Until when it asked not to be asked.
    paused_until: Option<Instant>,
}

impl Load {
    /// Seconds until the server would have answered a further request. `fastest` is the pace of the fastest server, and
    /// stands in for a pace that is not known: each server gets a chance to show its own.
    pub(crate) fn expected(&self, job: Job, fastest: Option<f64>) -> f64 {
        let state = self.state();
        let pace = state.fresh(job).or(fastest).unwrap_or_else(|| state.pace(job));
        state.waiting + pace * weight(job)
    }

    /// Seconds per byte, if measured lately for this kind of work.
    pub(crate) fn pace(&self, job: Job) -> Option<f64> {
        self.state().fresh(job)
    }

    /// Leaves the server to what it has to do for this long, if another one is there.
    pub(crate) fn pause(&self, pause: Duration) {
        self.state().paused_until = Instant::now().checked_add(pause);
    }

    /// Whether it asked not to be asked now.
    pub(crate) fn is_paused(&self) -> bool {
        self.state().paused_until.is_some_and(|until| Instant::now() < until)
    }

    /// Counts a request until what this returns is dropped.
    pub(crate) fn start(&self, job: Job) -> Started<'_> {
        let mut state = self.state();
        let expected = state.pace(job) * weight(job);
        state.waiting += expected;
        Started { load: self, job, expected, since: Instant::now(), answered: false }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Seconds per byte: measured, or guessed.
    fn pace(&self, job: Job) -> f64 {
        let at = job.work as usize;
        self.pace[at].map_or(GUESSES[at], |(pace, _)| pace)
    }

    fn fresh(&self, job: Job) -> Option<f64> {
        self.pace[job.work as usize].filter(|(_, at)| at.elapsed() < FRESH).map(|(pace, _)| pace)
    }

    fn learn(&mut self, job: Job, took: Duration) {
        let pace = took.as_secs_f64() / weight(job);
        let pace = self.fresh(job).map_or(pace, |known| known + LATEST * (pace - known));
        self.pace[job.work as usize] = Some((pace, Instant::now()));
    }
}

/// Bytes that a request counts.
fn weight(job: Job) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a request has far fewer than 2^52 bytes")]
    let bytes = job.bytes as f64;
    bytes + OVERHEAD
}

/// A request in progress.
#[derive(Debug)]
pub(crate) struct Started<'a> {
    load: &'a Load,
    job: Job,
    expected: f64,
    since: Instant,
    answered: bool,
}

impl Started<'_> {
    /// Notes that the answer came.
    pub(crate) fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        let took = self.since.elapsed();
        let mut state = self.load.state();
        state.waiting = (state.waiting - self.expected).max(0.0);
        // A request that was given up took at least this long; one that failed at once says nothing about speed.
        if self.answered || took.as_secs_f64() > state.pace(self.job) * weight(self.job) {
            state.learn(self.job, took);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Job = Job { work: Work::Embed, bytes: 1_500 };

    #[test]
    fn requests_in_progress_add_up() {
        let load = Load::default();
        let alone = load.expected(JOB, None);
        let first = load.start(JOB);
        assert!((load.expected(JOB, None) - 2.0 * alone).abs() < 1e-12);
        let second = load.start(JOB);
        assert!((load.expected(JOB, None) - 3.0 * alone).abs() < 1e-12);
        drop((first, second));
        assert!((load.expected(JOB, None) - alone).abs() < 1e-12);
    }

    #[test]
    fn speed_is_learned_from_answers_for_each_kind_of_work() {
        let load = Load::default();
        assert!(load.pace(JOB).is_none());
        let started = load.start(JOB);
        std::thread::sleep(Duration::from_millis(60));
        started.answered();
        assert!(load.pace(JOB).is_some() && load.expected(JOB, None) >= 0.06);
        let other = Job { work: Work::Verify, ..JOB };
        assert!(load.pace(other).is_none());
        let known = load.expected(JOB, None);
        // Failing at once makes no server fast.
        drop(load.start(JOB));
        assert!((load.expected(JOB, None) - known).abs() < 1e-12);
    }

    #[test]
    fn a_server_without_a_measurement_counts_as_the_fastest() {
        let load = Load::default();
        assert!(load.expected(JOB, Some(1e-9)) < load.expected(JOB, None));
    }

    #[test]
    fn a_request_that_is_given_up_makes_a_server_slow() {
        let load = Load::default();
        let guess = load.expected(JOB, None);
        let started = load.start(JOB);
        std::thread::sleep(Duration::from_millis(80));
        drop(started);
        assert!(load.expected(JOB, None) > guess);
    }
}

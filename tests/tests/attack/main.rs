//! Generated attacks on real processes. In all cases no planted secret is in an answer, memory stays below its limit,
//! answers come in time, and the server is healthy afterward.
//!
//! Each generator runs for a few seconds. `LYRA_ATTACK_SECONDS=N` makes it run for N, and sends what is quoted at its full size; `LYRA_ATTACK_SEED=S` makes other attacks.
//! Statements of agents have a generator of their own, `orchestrator/tests/attack.rs`.

mod archives;
mod bombs;
mod group;
mod http;
mod imports;
mod pages;
mod planted;
mod requests;
mod together;
mod watch;

use fastrand::Rng;
use std::time::{Duration, Instant};

/// How long an answer may take: far more than any limit, for a busy machine and a build without optimization.
const IN_TIME: Duration = Duration::from_mins(2);
/// Default run time of a generator.
const SECONDS: u64 = 4;

/// Whether there is more time than a run of all tests has: then everything is sent at its full size.
fn at_length() -> bool {
    std::env::var_os("LYRA_ATTACK_SECONDS").is_some()
}

/// One run of a generator.
struct Run {
    what: &'static str,
    rng: Rng,
    seed: u64,
    until: Instant,
    sent: u64,
}

impl Run {
    fn new(what: &'static str) -> Self {
        let number = |name: &str| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
        let (seconds, seed) =
            (number("LYRA_ATTACK_SECONDS").unwrap_or(SECONDS), number("LYRA_ATTACK_SEED").unwrap_or(11));
        let until = Instant::now() + Duration::from_secs(seconds);
        Self { what, rng: Rng::with_seed(seed), seed, until, sent: 0 }
    }

    /// Counts one more attack, as long as there is time.
    fn next(&mut self) -> bool {
        // Never none, however slow the machine.
        let more = self.sent == 0 || Instant::now() < self.until;
        self.sent += u64::from(more);
        more
    }
}

impl Drop for Run {
    #[expect(clippy::print_stdout, reason = "how much was tried is worth knowing")]
    fn drop(&mut self) {
        println!("{}: {} attacks from seed {}", self.what, self.sent, self.seed);
    }
}

/// One of them.
fn pick<'a, T>(rng: &mut Rng, from: &'a [T]) -> &'a T {
    &from[rng.usize(..from.len())]
}

//! Time here is tokio's paused clock: sleeps pass at once and are exact.

use super::*;
use crate::http::testing::{MemoryRates, SetClock};

const INTERVAL: Duration = Duration::from_secs(3);

fn policy() -> Policy {
    Policy { min_interval: INTERVAL, cool_down: Duration::from_mins(1), ..Policy::new("api") }
}

fn refused() -> Outcome {
    Outcome::Refused { retry_after: None, why: "slow down".to_owned() }
}

async fn turn(limiter: &Limiter, policy: &Policy) -> Result<Duration> {
    let before = Instant::now();
    let gate = limiter.gate(policy);
    limiter.enter(&gate, policy).await.map(|_| before.elapsed())
}

async fn left_alone_for(limiter: &Limiter, policy: &Policy) -> Duration {
    match turn(limiter, policy).await {
        Err(Error::CoolingDown { retry_after, .. }) => retry_after,
        Err(other) => panic!("{other}"),
        Ok(_) => Duration::ZERO,
    }
}

#[tokio::test(start_paused = true)]
async fn turns_keep_their_distance() {
    let limiter = Limiter::new(Arc::new(MemoryRates::default()), SetClock::new());
    assert_eq!(turn(&limiter, &policy()).await.unwrap(), Duration::ZERO);
    assert_eq!(turn(&limiter, &policy()).await.unwrap(), INTERVAL);
    assert_eq!(turn(&limiter, &policy()).await.unwrap(), INTERVAL);
    // Another provider does not wait.
    assert_eq!(
        turn(&limiter, &Policy { provider: "other".to_owned(), ..policy() }).await.unwrap(),
        Duration::ZERO
    );
}

#[tokio::test(start_paused = true)]
async fn refusals_in_a_row_start_a_cool_down_that_a_restart_remembers() {
    let (rates, clock) = (Arc::new(MemoryRates::default()), SetClock::new());
    let limiter = Limiter::new(rates.clone(), clock.clone());
    let gate = limiter.gate(&policy());
    assert_eq!(limiter.leave(&gate, &policy(), refused()).await, None);
    // An answer in between resets the count.
    limiter.leave(&gate, &policy(), Outcome::Answered).await;
    assert_eq!(limiter.leave(&gate, &policy(), refused()).await, None);
    assert_eq!(limiter.leave(&gate, &policy(), refused()).await, Some(Duration::from_mins(1)));
    assert_eq!(left_alone_for(&limiter, &policy()).await, Duration::from_mins(1));

    clock.jump(20);
    let restarted = Limiter::new(rates, clock);
    assert_eq!(left_alone_for(&restarted, &policy()).await, Duration::from_secs(40));
    tokio::time::sleep(Duration::from_secs(41)).await;
    assert_eq!(left_alone_for(&restarted, &policy()).await, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_neither_freezes_nor_frees() {
    let (rates, clock) = (Arc::new(MemoryRates::default()), SetClock::new());
    let limiter = Limiter::new(rates.clone(), clock.clone());
    let gate = limiter.gate(&policy());
    limiter.leave(&gate, &policy(), refused()).await;
    limiter.leave(&gate, &policy(), refused()).await;
    // In this process the wall clock does not count at all.
    clock.jump(100_000);
    assert_eq!(left_alone_for(&limiter, &policy()).await, Duration::from_mins(1));
    clock.jump(-500_000);
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(left_alone_for(&limiter, &policy()).await, Duration::ZERO);
    // A new process cannot know; it waits once more, but not for days.
    let restarted = Limiter::new(rates, clock);
    assert_eq!(left_alone_for(&restarted, &policy()).await, Duration::from_mins(1));
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(left_alone_for(&restarted, &policy()).await, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn retry_after_delays_everyone_and_a_long_one_is_a_pause() {
    let limiter = Limiter::new(Arc::new(MemoryRates::default()), SetClock::new());
    let gate = limiter.gate(&policy());
    let short = Outcome::Refused { retry_after: Some(Duration::from_secs(10)), why: String::new() };
    assert_eq!(limiter.leave(&gate, &policy(), short).await, None);
    assert_eq!(turn(&limiter, &policy()).await.unwrap(), Duration::from_secs(10));
    limiter.leave(&gate, &policy(), Outcome::Answered).await;
    let long = Outcome::Refused { retry_after: Some(Duration::from_hours(10)), why: "midnight".to_owned() };
    assert_eq!(limiter.leave(&gate, &policy(), long).await, Some(Duration::from_hours(10)));
    assert_eq!(left_alone_for(&limiter, &policy()).await, Duration::from_hours(10));
}

#[tokio::test(start_paused = true)]
async fn a_time_that_was_named_holds_for_those_who_wait_and_for_other_processes() {
    let (rates, clock) = (Arc::new(MemoryRates::default()), SetClock::new());
    let limiter = Limiter::new(rates.clone(), clock.clone());
    let policy = policy();
    let gate = limiter.gate(&policy);
    let named =
        |seconds| Outcome::Failed { retry_after: Some(Duration::from_secs(seconds)), why: String::new() };
    assert_eq!(turn(&limiter, &policy).await.unwrap(), Duration::ZERO);
    // One waits for its turn in three seconds when the provider asks for twenty.
    let begun = Instant::now();
    let (waited, ()) = tokio::join!(turn(&limiter, &policy), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(limiter.leave(&gate, &policy, named(20)).await, None);
    });
    assert_eq!((waited.unwrap(), begun.elapsed()), (Duration::from_secs(21), Duration::from_secs(21)));

    assert_eq!(limiter.leave(&gate, &policy, named(25)).await, None);
    clock.jump(5);
    let other = Limiter::new(rates.clone(), clock.clone());
    let hasty = Policy { max_wait: Duration::from_secs(4), ..policy.clone() };
    let error = turn(&other, &hasty).await.unwrap_err();
    assert_eq!(error.retry_after_seconds(), Some(20), "{error}");
    assert_eq!(turn(&other, &policy).await.unwrap(), Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn the_breaker_opens_after_failures_and_a_trial_decides() {
    let policy = Policy { breaker_after: 3, breaker_pause: Duration::from_secs(30), ..policy() };
    let limiter = Limiter::new(Arc::new(MemoryRates::default()), SetClock::new());
    let gate = limiter.gate(&policy);
    let failed = || Outcome::Failed { retry_after: None, why: "500".to_owned() };
    assert_eq!(limiter.leave(&gate, &policy, failed()).await, None);
    assert_eq!(limiter.leave(&gate, &policy, failed()).await, None);
    assert_eq!(limiter.leave(&gate, &policy, failed()).await, Some(Duration::from_secs(30)));
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert!(turn(&limiter, &policy).await.is_ok());
    assert_eq!(limiter.leave(&gate, &policy, failed()).await, Some(Duration::from_secs(30)));
    tokio::time::sleep(Duration::from_secs(31)).await;
    limiter.leave(&gate, &policy, Outcome::Answered).await;
    assert_eq!(limiter.leave(&gate, &policy, failed()).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_is_told_to_come_back() {
    let policy = Policy { max_wait: Duration::from_secs(4), max_concurrent: 8, ..policy() };
    let limiter = Limiter::new(Arc::new(MemoryRates::default()), SetClock::new());
    let gate = limiter.gate(&policy);
    let turns = futures::future::join_all((0..4).map(|_| limiter.enter(&gate, &policy))).await;
    let told: Vec<bool> = turns.iter().map(Result::is_ok).collect();
    assert_eq!(told, [true, true, false, false]);
}

#[tokio::test(start_paused = true)]
async fn a_daily_budget_outlives_the_process_and_jumps_of_the_clock() {
    let (rates, clock) = (Arc::new(MemoryRates::default()), SetClock::new());
    let scarce = Policy { daily_budget: Some(2), min_interval: Duration::ZERO, ..policy() };
    let start = || Limiter::new(rates.clone(), clock.clone());
    let limiter = start();
    assert!(turn(&limiter, &scarce).await.is_ok());
    let restarted = start();
    assert!(turn(&restarted, &scarce).await.is_ok());
    // The first process sees the second one's requests.
    for limiter in [&limiter, &restarted, &start()] {
        let error = turn(limiter, &scarce).await.unwrap_err();
        assert!(error.to_string().contains("budget of 2 requests a day"), "{error}");
        assert!(error.retry_after_seconds().is_some_and(|left| left <= 86_400));
    }
    // Back by days: nothing is gained, and nothing is lost for longer than a day.
    clock.jump(-5 * 86_400);
    assert!(turn(&limiter, &scarce).await.is_err());
    assert!(turn(&start(), &scarce).await.is_err());
    clock.jump(86_400);
    assert!(turn(&start(), &scarce).await.is_ok());
    // Years ahead and back again.
    clock.jump(9_000 * 86_400);
    assert!(turn(&start(), &scarce).await.is_ok());
    clock.jump(-9_000 * 86_400);
    assert!(turn(&start(), &scarce).await.is_ok());
    assert!(turn(&start(), &scarce).await.is_err());
    clock.jump(86_400);
    assert!(turn(&start(), &scarce).await.is_ok());
}

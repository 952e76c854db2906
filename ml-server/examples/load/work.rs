//! Requests of mixed sizes, sent by clients that wait for their answers or do not.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, StatusCode};
use serde_json::json;
use tokio::task::JoinSet;

/// Different requests; clients go through them from different places.
const REQUESTS: usize = 256;

/// The requests to the server.
pub(crate) struct Workload {
    url: String,
    client: Client,
    requests: Arc<Vec<(&'static str, String)>>,
}

/// What came back of one phase's requests that ended after its warm-up.
#[derive(Default)]
pub(crate) struct Tally {
    /// Time to the end of each answer, by status.
    pub(crate) latencies: BTreeMap<u16, Vec<Duration>>,
    /// Refusals with `Retry-After`.
    pub(crate) with_retry_after: usize,
    /// Requests without an answer.
    pub(crate) failed: usize,
    /// The last reason for that.
    pub(crate) failure: String,
    tokens: u64,
    seconds: f64,
}

/// One request's end.
struct Outcome {
    ended: Instant,
    took: Duration,
    answer: Result<(StatusCode, bool, u64), String>,
}

impl Workload {
    /// Two thirds of the texts have about 20 tokens, the others about 200; a request has 1 to 16 of them; every fifth asks
    /// the classifier.
    pub(crate) fn new(url: &str) -> Self {
        let mut state = 1u32;
        let mut next = move |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        let requests = (0..REQUESTS).map(|number| {
            let mut text = || {
                let words = if next(3) < 2 { 10 + next(20) } else { 150 + next(100) };
                let words: Vec<_> = (0..words).map(|_| WORDS[next(WORDS.len() as u32) as usize]).collect();
                words.join(" ")
            };
            let count = 1 + (number * 7) % 16;
            if number % 5 == 0 {
                let pairs: Vec<_> = (0..count)
                    .map(|_| json!({"premise": text(), "hypothesis": WORDS[number % WORDS.len()]}))
                    .collect();
                ("nli", json!({ "pairs": pairs }).to_string())
            } else {
                let inputs: Vec<_> = (0..count).map(|_| text()).collect();
                ("embed", json!({ "inputs": inputs }).to_string())
            }
        });
        let client = lyra_tls::client().build().expect("a client without settings");
        Self { url: url.to_owned(), client, requests: Arc::new(requests.collect()) }
    }

    /// Every client sends its next request when it has the answer to the last one.
    pub(crate) async fn closed_loop(
        &self,
        clients: usize,
        warm_up: Duration,
        duration: Duration,
    ) -> Result<Tally> {
        let (start, mut running) = (Instant::now() + warm_up, JoinSet::new());
        for client in 0..clients {
            let work = self.share();
            running.spawn(async move {
                let (mut outcomes, mut number) = (Vec::new(), client * REQUESTS / clients);
                while Instant::now() < start + duration {
                    outcomes.push(work.send(number).await);
                    number += 1;
                }
                outcomes
            });
        }
        let outcomes = running.join_all().await.into_iter().flatten();
        Ok(Tally::of(outcomes, start, duration))
    }

    /// Every client sends on its schedule, whatever has become of its earlier requests.
    pub(crate) async fn open_loop(
        &self,
        clients: usize,
        rate: f64,
        warm_up: Duration,
        duration: Duration,
    ) -> Result<Tally> {
        let begin = Instant::now();
        let (start, mut running) = (begin + warm_up, JoinSet::new());
        let interval = Duration::from_secs_f64(clients as f64 / rate);
        for client in 0..clients {
            let work = self.share();
            running.spawn(async move {
                let (mut sent, mut number) = (JoinSet::new(), client * REQUESTS / clients);
                let mut due = begin + interval.mul_f64(client as f64 / clients as f64);
                while due < start + duration {
                    tokio::time::sleep_until(due.into()).await;
                    let work = work.share();
                    sent.spawn(async move { work.send(number).await });
                    number += 1;
                    due += interval;
                }
                sent.join_all().await
            });
        }
        let outcomes = running.join_all().await.into_iter().flatten();
        Ok(Tally::of(outcomes, start, duration))
    }

    /// The server says that it is well, and it is.
    pub(crate) async fn healthy(&self) -> Result<()> {
        let health = self.client.get(format!("{}/health", self.url)).send().await?;
        ensure!(health.status() == StatusCode::OK, "/health answers {}", health.status());
        let answer = self.send(1).await.answer;
        ensure!(matches!(answer, Ok((StatusCode::OK, ..))), "the server is empty but answers {answer:?}");
        Ok(())
    }

    fn share(&self) -> Self {
        Self { url: self.url.clone(), client: self.client.clone(), requests: Arc::clone(&self.requests) }
    }

    async fn send(&self, number: usize) -> Outcome {
        let (route, body) = &self.requests[number % REQUESTS];
        let started = Instant::now();
        let answer = async {
            let request =
                self.client.post(format!("{}/{route}", self.url)).header(CONTENT_TYPE, "application/json");
            let response = request.body(body.clone()).send().await?;
            let headers = response.headers();
            let tokens =
                headers.get("x-compute-tokens").and_then(|tokens| tokens.to_str().ok()?.parse().ok());
            let facts = (response.status(), headers.contains_key("retry-after"), tokens.unwrap_or(0));
            response.bytes().await?;
            Ok::<_, reqwest::Error>(facts)
        };
        let answer = answer.await.map_err(|error| format!("{error:?}"));
        Outcome { ended: Instant::now(), took: started.elapsed(), answer }
    }
}

impl Tally {
    /// Throughput counts what ended inside the measured time; latencies and statuses count all after the warm-up.
    fn of(outcomes: impl Iterator<Item = Outcome>, start: Instant, duration: Duration) -> Self {
        let mut tally = Self { seconds: duration.as_secs_f64(), ..Self::default() };
        for outcome in outcomes.filter(|outcome| outcome.ended >= start) {
            match outcome.answer {
                Ok((status, retry_after, tokens)) => {
                    tally.latencies.entry(status.as_u16()).or_default().push(outcome.took);
                    tally.with_retry_after += usize::from(retry_after);
                    if outcome.ended < start + duration {
                        tally.tokens += tokens;
                    }
                }
                Err(failure) => {
                    tally.failed += 1;
                    tally.failure = failure;
                }
            }
        }
        tally
    }

    /// Tokens of the answered requests.
    pub(crate) fn tokens_per_second(&self) -> f64 {
        self.tokens as f64 / self.seconds
    }

    /// Answered requests.
    pub(crate) fn answered_per_second(&self) -> f64 {
        self.count(200) as f64 / self.seconds
    }

    /// Requests that ended with this status.
    pub(crate) fn count(&self, status: u16) -> usize {
        self.latencies.get(&status).map_or(0, Vec::len)
    }
}

const WORDS: [&str; 24] = [
    "sleep",
    "memory",
    "children",
    "trial",
    "effect",
    "blood",
    "pressure",
    "exercise",
    "group",
    "dose",
    "weeks",
    "study",
    "found",
    "reduced",
    "increased",
    "no",
    "difference",
    "placebo",
    "adults",
    "risk",
    "after",
    "between",
    "the",
    "of",
];

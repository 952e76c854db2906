//! The engine under models that fail, clients that leave, and queues that are long.

#![allow(clippy::unwrap_used, clippy::allow_attributes, reason = "helpers of tests may panic")]

#[path = "common/tiny.rs"]
mod tiny;

use std::sync::Arc;
use std::time::Duration;

use lyra_ml_server::engine::Engine;
use lyra_ml_server::engine::metrics::Metrics;
use lyra_ml_server::error::RequestError;
use lyra_ml_server::model::tokenizer::Tokens;
use lyra_proto::{Limits, ModelKind};

/// An engine of tiny models and its metrics.
struct Bench {
    engine: Arc<Engine>,
    metrics: Arc<Metrics>,
}

const RED: [u32; 3] = [2, 4, 3];
const STONE: [u32; 3] = [2, 7, 3];
/// Has an id beyond the word table, which the routes never let through: the model code panics.
const BROKEN: [u32; 3] = [2, 9_999, 3];

impl Bench {
    /// An embedder that cannot digest the poison, and a classifier.
    fn new(poison: &[&str], limits: &Limits, max_batch_tokens: usize) -> Self {
        let load = |classifier| {
            let (_parent, path) = tiny::folder(tiny::FAMILIES[0], classifier);
            if !classifier {
                tiny::poison(&path, poison);
            }
            Arc::new(tiny::load(&path).unwrap())
        };
        let models = vec![(ModelKind::Embed, load(false)), (ModelKind::Nli, load(true))];
        let metrics = Arc::new(Metrics::default());
        let engine = Engine::start(models, 1, limits, max_batch_tokens, Arc::clone(&metrics)).unwrap();
        Self { engine: Arc::new(engine), metrics }
    }

    async fn run(&self, kind: ModelKind, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, RequestError> {
        let tokens =
            |ids: &&[u32]| Tokens { ids: ids.to_vec(), type_ids: vec![0; ids.len()], marks: Vec::new() };
        let tokens: Vec<_> = inputs.iter().map(tokens).collect();
        Ok(self.engine.infer(kind, move |_| Ok(tokens)).await?.rows)
    }

    async fn embed(&self, inputs: &[&[u32]]) -> Result<Vec<Vec<f32>>, RequestError> {
        self.run(ModelKind::Embed, inputs).await
    }

    /// The value of a series, 0 when it is not there.
    fn value(&self, series: &str) -> f64 {
        let metrics = self.metrics.render();
        let line = metrics.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        line.map_or(0.0, |value| value.parse().unwrap())
    }

    /// Waits until this many inputs are in the embedder's queue.
    async fn until_queued(&self, inputs: f64) {
        while self.value("te_embed_count") < inputs {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Waits until the queues hold something, or nothing.
    async fn until(&self, done: impl Fn(f64) -> bool) {
        while !done(self.value("te_queue_size")) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// A request of many inputs, to keep the runner busy.
fn many(count: usize) -> Vec<&'static [u32]> {
    vec![&[2, 4, 5, 6, 4, 5, 6, 4, 5, 6, 4, 5, 6, 4, 5, 3]; count]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_fails_fails_alone() {
    let bench = Bench::new(&["stone"], &Limits::default(), 4_096);
    let want = bench.embed(&[&RED]).await.unwrap();
    for (bad, says) in [(STONE, "not finite"), (BROKEN, "panicked")] {
        // While the first request runs, the others gather in the queue and then run together.
        let (busy, bad) = (many(2_000), [&RED[..], &bad, &RED]);
        let (busy, first, bad, last) = tokio::join!(
            bench.embed(&busy),
            bench.embed(&[&RED]),
            bench.embed(&bad),
            bench.embed(&[&RED, &RED]),
        );
        assert_eq!(busy.unwrap().len(), 2_000);
        assert_eq!(first.unwrap(), want);
        assert_eq!(last.unwrap(), [want[0].clone(), want[0].clone()]);
        let RequestError::Inference(error) = bad.unwrap_err() else { panic!("another error") };
        assert!(error.starts_with("input 1: ") && error.contains(says), "{error}");
    }
    assert_eq!(bench.embed(&[&RED]).await.unwrap(), want);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_went_away_is_not_computed() {
    let bench = Bench::new(&[], &Limits::default(), 512);
    let busy = many(20_000);
    let busy = bench.embed(&busy);
    let leaver = async {
        bench.until(|waiting| waiting > 0.0).await;
        let inputs = many(100);
        tokio::select! {
            _ = bench.embed(&inputs) => panic!("20,000 come first"),
            () = bench.until_queued(20_100.0) => {}
        }
    };
    let (busy, ()) = tokio::join!(busy, leaver);
    busy.unwrap();
    bench.embed(&[&RED]).await.unwrap();
    assert_eq!(bench.value("lyra_ml_dropped_total"), 100.0);
    assert_eq!(bench.value("te_embed_success"), 20_001.0);
    assert_eq!(bench.value("te_batch_next_size_sum"), 20_001.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn models_take_turns() {
    let bench = Bench::new(&[], &Limits::default(), 512);
    let busy = many(20_000);
    let classify = async {
        bench.until(|waiting| waiting > 0.0).await;
        bench.run(ModelKind::Nli, &[&RED[..]; 40]).await.unwrap();
        bench.value("te_queue_size")
    };
    let (busy, left) = tokio::join!(bench.embed(&busy), classify);
    busy.unwrap();
    assert!(left > 0.0, "the classifier's request was answered although the embedder had more to do");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_refuses_before_tokenising() {
    let limits = Limits { max_queued_tokens: 64, ..Limits::default() };
    let bench = Bench::new(&[], &limits, 16);
    let busy = many(20_000);
    let late = async {
        bench.until(|waiting| waiting > 0.0).await;
        let refused =
            bench.engine.infer(ModelKind::Embed, |_| panic!("nothing is tokenized")).await.unwrap_err();
        assert!(matches!(refused, RequestError::Overloaded { .. }), "{refused}");
        assert!(refused.retry_after().unwrap() >= Duration::from_secs(1));
        // The other model's queue has room.
        bench.run(ModelKind::Nli, &[&RED]).await.unwrap();
    };
    let (busy, ()) = tokio::join!(bench.embed(&busy), late);
    busy.unwrap();
    assert_eq!(bench.value(r#"lyra_ml_rejected_total{limit="too many tokens queued"}"#), 1.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_abandoned_is_told_so() {
    let bench = Bench::new(&[], &Limits::default(), 512);
    let busy = many(20_000);
    let stop = async {
        bench.until(|waiting| waiting > 0.0).await;
        bench.engine.abandon();
    };
    let (busy, ()) = tokio::join!(bench.embed(&busy), stop);
    assert_eq!(busy.unwrap_err(), RequestError::Draining);
    assert_eq!(bench.embed(&[&RED]).await.unwrap_err(), RequestError::Draining);
    assert!(bench.value("lyra_ml_dropped_total") > 0.0);
    bench.engine.close();
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_waits_for_requests_in_work() {
    let bench = Bench::new(&[], &Limits::default(), 512);
    let busy = many(2_000);
    let engine = Arc::clone(&bench.engine);
    let (busy, answered) = tokio::join!(bench.embed(&busy), async {
        bench.until(|waiting| waiting > 0.0).await;
        engine.idle().await;
        bench.value("te_embed_success")
    });
    busy.unwrap();
    assert_eq!(answered, 2_000.0);
    assert!(
        matches!(bench.embed(&[&RED]).await, Err(RequestError::Overloaded { .. })),
        "no more requests are admitted"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn health_is_a_real_inference() {
    let (long, none) = (Duration::from_mins(1), Duration::ZERO);
    let sick = Bench::new(&["[CLS]"], &Limits::default(), 512);
    for stale in [long, none] {
        let error = sick.engine.probe(stale, long).await.unwrap_err();
        assert!(
            matches!(&error, RequestError::Unhealthy(reason) if reason.contains("not finite")),
            "{error}"
        );
    }
    let limits = Limits { max_concurrent_requests: 0, ..Limits::default() };
    let well = Bench::new(&[], &limits, 512);
    // The first one runs, the second finds a recent success, the third does not trust it.
    for (stale, batches) in [(long, 1.0), (long, 1.0), (none, 2.0)] {
        well.engine.probe(stale, long).await.unwrap();
        assert_eq!(well.value("te_batch_next_size_count"), batches);
    }
}

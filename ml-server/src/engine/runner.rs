//! The thread that owns the device: takes a batch, runs it, answers.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use lyra_proto::ModelKind;
use tracing::Span;

use super::batch::Taken;
use super::queue::{Item, Reply};
use super::{Shared, batch};
use crate::error::{ComputeError, panic_message};
use crate::model::Model;
use crate::model::tokenizer::Tokens;

/// Runs batches until the engine is closed and its queues are empty.
pub(super) fn run(shared: &Shared, pool: &rayon::ThreadPool) {
    let number = Cell::new(0);
    let serve = || {
        while let Some((kind, model, items)) = next_batch(shared) {
            number.set(number.get() + 1);
            run_batch(shared, pool, number.get(), (kind, &model), items);
        }
    };
    // The model's panics are caught at the call. If anything else panics, its batch is lost, but not the server.
    while let Err(panic) = catch_unwind(AssertUnwindSafe(serve)) {
        tracing::error!(error = panic_message(panic.as_ref()), "the runner failed, its batch is lost");
    }
}

fn run_batch(
    shared: &Shared,
    pool: &rayon::ThreadPool,
    number: u64,
    (kind, model): (ModelKind, &Model),
    items: Vec<Item>,
) {
    let taken = Instant::now();
    let parts = parts(number, &items);
    let tokens: usize = items.iter().map(|item| item.tokens.len()).sum();
    let rows = rows(shared, model, &items, pool);
    let ran = taken.elapsed();
    shared.note_rate(tokens, ran);
    shared.metrics.batch(kind, items.len(), tokens, shared.max_batch_tokens, ran);
    tracing::debug!(
        model = model.spec.name,
        batch = number,
        inputs = items.len(),
        tokens,
        ?ran,
        "batch done"
    );
    for part in &parts {
        // Entered, because JSON lines name the spans around a line only then.
        part.in_scope(|| tracing::debug!(?ran, "ran in batch"));
    }
    drop(parts);
    for (item, row) in items.into_iter().zip(rows) {
        if row.is_ok() {
            shared.last_success.store(shared.now(), Ordering::Relaxed);
        }
        let waited = taken.duration_since(item.queued);
        // The client may have disconnected; then there is nothing to send to.
        let _ = item.reply.send(Reply { index: item.index, row, waited, batch: number, ran });
    }
}

/// A span inside each request that has a part in the batch, which so has its request and trace id. They last while it runs.
fn parts(batch: u64, items: &[Item]) -> Vec<Span> {
    let mut requests: Vec<_> = items.iter().map(|item| &item.span).collect();
    requests.sort_by_key(|span| span.id().map(|id| id.into_u64()));
    let part = |request: &[&Span]| tracing::info_span!(parent: request[0], "batch", batch, inputs = request.len(), of = items.len());
    requests.chunk_by(|a, b| a.id() == b.id()).map(part).collect()
}

/// Waits for work. Models with work take turns, a batch each, so that a long queue of one cannot hold up the other.
fn next_batch(shared: &Shared) -> Option<(ModelKind, Arc<Model>, Vec<Item>)> {
    let mut state = shared.lock();
    loop {
        let count = state.queues.len();
        let turns = (0..count).map(|turn| (state.last + 1 + turn) % count);
        match turns.into_iter().find(|&place| !state.queues[place].is_empty()) {
            Some(place) => {
                let Taken { batch, dropped } = batch::take(&mut state.queues[place], shared.max_batch_tokens);
                shared.note_waiting(&state);
                shared.metrics.dropped(dropped);
                if !batch.is_empty() {
                    state.last = place;
                    let (kind, model) = &shared.models[place];
                    return Some((*kind, Arc::clone(model), batch));
                }
            }
            None if state.closed => return None,
            None => state = shared.wait(state),
        }
    }
}

/// One result per item. When the batch fails as a whole, every item is tried alone, so that only the one at fault fails.
fn rows(
    shared: &Shared,
    model: &Model,
    items: &[Item],
    pool: &rayon::ThreadPool,
) -> Vec<Result<Vec<f32>, String>> {
    let inputs: Vec<&Tokens> = items.iter().map(|item| &item.tokens).collect();
    match attempt(model, &inputs, pool) {
        Ok(rows) => rows.into_iter().map(finite).collect(),
        Err(Failure::Lost(reason)) => {
            shared.note_lost(&reason);
            vec![Err(reason); items.len()]
        }
        Err(Failure::Batch(error)) if items.len() > 1 => {
            tracing::warn!(
                model = model.spec.name,
                inputs = items.len(),
                error,
                "the batch failed, retrying its inputs one by one"
            );
            let alone = |input| match attempt(model, &[input], pool) {
                Ok(mut rows) => rows.pop().ok_or_else(no_row),
                Err(Failure::Lost(reason)) => {
                    shared.note_lost(&reason);
                    Err(reason)
                }
                Err(Failure::Batch(error)) => Err(error),
            };
            inputs.into_iter().map(|input| alone(input).and_then(finite)).collect()
        }
        Err(Failure::Batch(error)) => vec![Err(error)],
    }
}

/// Why a batch has no rows.
enum Failure {
    /// Something about these inputs; others may fare better.
    Batch(String),
    /// The device is gone, so everything else will fail as well.
    Lost(String),
}

fn attempt(model: &Model, inputs: &[&Tokens], pool: &rayon::ThreadPool) -> Result<Vec<Vec<f32>>, Failure> {
    match catch_unwind(AssertUnwindSafe(|| pool.install(|| model.run(inputs)))) {
        Ok(Ok(rows)) => Ok(rows),
        Ok(Err(error @ ComputeError::Lost(_))) => Err(Failure::Lost(error.to_string())),
        Ok(Err(error)) => Err(Failure::Batch(error.to_string())),
        Err(panic) => Err(Failure::Batch(panic_message(panic.as_ref()))),
    }
}

fn finite(row: Vec<f32>) -> Result<Vec<f32>, String> {
    if row.iter().all(|value| value.is_finite()) {
        Ok(row)
    } else {
        Err("the model returned numbers that are not finite".to_owned())
    }
}

fn no_row() -> String {
    "the model returned no answer".to_owned()
}

impl Shared {
    /// Records why nothing will run any more; the first reason is the relevant one.
    fn note_lost(&self, reason: &str) {
        if self.lost.set(reason.to_owned()).is_ok() {
            tracing::error!("{reason}");
        }
    }

    /// Keeps a moving average of tokens per second, for `Retry-After`.
    fn note_rate(&self, tokens: usize, ran: Duration) {
        let rate = tokens as f64 / ran.as_secs_f64().max(1e-6);
        let old = f64::from_bits(self.rate.load(Ordering::Relaxed));
        let new = if old > 0.0 { 0.8 * old + 0.2 * rate } else { rate };
        self.rate.store(new.to_bits(), Ordering::Relaxed);
    }
}

//! How fast a model runs on a device, without HTTP and without tokenizing: `lyra-ml-server bench`.

use std::time::{Duration, Instant};

use lyra_proto::Backend;
use serde::Serialize;

use crate::error::Error;
use crate::model::device::Candidates;
use crate::model::tokenizer::Tokens;
use crate::model::{Model, ModelSource};

/// Runs of each length that are timed; the median counts.
const RUNS: usize = 15;
/// Longest time spent on one length, after its first run.
const PATIENCE: Duration = Duration::from_secs(20);

/// Throughput with inputs of one length.
#[derive(Debug, Clone, Serialize)]
pub struct Rate {
    /// Tokens of each input.
    pub length: usize,
    /// Inputs that ran together.
    pub inputs: usize,
    /// Median time of such a batch, in milliseconds.
    pub batch_ms: f64,
    /// Tokens by that time.
    pub tokens_per_second: f64,
    /// Time of a single input, in milliseconds.
    pub alone_ms: f64,
}

/// What [`rates`] found.
#[derive(Debug, Clone, Serialize)]
pub struct Measured {
    /// Name of the model.
    pub model: String,
    /// Device that ran it.
    pub device: String,
    /// What computed there.
    pub backend: Backend,
    /// Type of the weights there.
    pub dtype: String,
    /// From opening the model's files to the first answer, in seconds, including kernel compilation.
    pub start_seconds: f64,
    /// One for each length.
    pub rates: Vec<Rate>,
}

/// Loads a model and times batches of about `batch_tokens` tokens, of inputs of each of `lengths`. The tokens are different
/// ordinary ones. Runs on the rayon pool it is called in.
///
/// # Errors
/// As for [`Model::load_best`]; [`Error::Device`] when a batch fails; [`Error::Start`] for a length that the model does not read.
pub fn rates(
    candidates: &Candidates,
    source: &ModelSource,
    lengths: &[usize],
    batch_tokens: usize,
) -> Result<Measured, Error> {
    let started = Instant::now();
    let model = Model::load_best(candidates, source, None, |_| batch_tokens)?;
    run(&model, &[made_up(&model, 2, 0)])?;
    let start_seconds = started.elapsed().as_secs_f64();
    let rate = |&length: &usize| {
        if !(1..=model.spec.max_tokens).contains(&length) {
            let limit = model.spec.max_tokens;
            return Err(Error::Start(format!("inputs have 1 to {limit} tokens here, not {length}")));
        }
        let inputs: Vec<Tokens> =
            (0..(batch_tokens / length).max(1)).map(|index| made_up(&model, length, index)).collect();
        let batch = median(&model, &inputs)?;
        let alone = median(&model, &inputs[..1])?;
        Ok(Rate {
            length,
            inputs: inputs.len(),
            batch_ms: batch.as_secs_f64() * 1e3,
            tokens_per_second: (inputs.len() * length) as f64 / batch.as_secs_f64(),
            alone_ms: alone.as_secs_f64() * 1e3,
        })
    };
    let rates = lengths.iter().map(rate).collect::<Result<_, Error>>()?;
    let Model { spec, device, backend, dtype, .. } = model;
    Ok(Measured { model: spec.name, device, backend, dtype, start_seconds, rates })
}

/// Spread over the vocabulary, and different for every input.
fn made_up(model: &Model, length: usize, index: usize) -> Tokens {
    let ordinary = model.tokenizer.vocabulary().saturating_sub(10).max(1);
    // The first ids are special tokens, including padding.
    let first = model.tokenizer.vocabulary() - ordinary;
    let ids = (0..length).map(|at| (first + (at * 7_919 + index * 104_729) % ordinary) as u32).collect();
    Tokens { ids, type_ids: vec![0; length], marks: Vec::new() }
}

fn median(model: &Model, inputs: &[Tokens]) -> Result<Duration, Error> {
    run(model, inputs)?;
    let begun = Instant::now();
    let mut times = Vec::with_capacity(RUNS);
    while times.is_empty() || (times.len() < RUNS && begun.elapsed() < PATIENCE) {
        let started = Instant::now();
        run(model, inputs)?;
        times.push(started.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

fn run(model: &Model, inputs: &[Tokens]) -> Result<(), Error> {
    let rows =
        model.run(&inputs.iter().collect::<Vec<_>>()).map_err(|error| Error::Device(error.to_string()))?;
    if rows.iter().flatten().all(|value| value.is_finite()) {
        Ok(())
    } else {
        Err(Error::Device("the answers are not finite numbers".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn batches_are_as_large_as_asked() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/lite-embed.gguf");
        let source = ModelSource::Gguf(file);
        let measured = rates(&Candidates::CPU, &source, &[4, 16], 32).unwrap();
        let shapes: Vec<_> = measured.rates.iter().map(|rate| (rate.length, rate.inputs)).collect();
        assert_eq!(shapes, [(4, 8), (16, 2)]);
        assert!(measured.rates.iter().all(|rate| rate.tokens_per_second > 0.0));
        let error = rates(&Candidates::CPU, &source, &[100_000], 32).unwrap_err();
        assert!(error.to_string().contains("100000"), "{error}");
    }
}

//! The proof that what computes a model does so correctly: a fixed batch against the answers of the CPU in f32.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lyra_proto::PassedOverCause as Cause;

use super::device::Precision;
use super::spec::{ModelSpec, Task};
use super::tokenizer::{TextTokenizer, Tokens};
use crate::error::{ComputeError, Error, panic_message};

/// Tokens of the inputs: around the sizes of tiles and windows, and beyond what half precision can count to.
const LENGTHS: [usize; 8] = [2, 17, 65, 9, 130, 40, 320, 33];
/// Batches that run at the same time.
const CONCURRENT: usize = 3;
/// Tokens from one mark of a verifier to the next.
const MARK_STEP: usize = 12;

/// Rows of answers, as [`Model::run`](super::Model::run) gives them.
type Rows = Vec<Vec<f32>>;

/// The fixed batch of one model.
pub(super) struct Proof {
    inputs: Vec<Tokens>,
    want: Rows,
    embeds: bool,
}

impl Proof {
    /// Makes the batch, and answers it with `exact`.
    ///
    /// # Errors
    /// If `exact` fails.
    pub(super) fn new(
        spec: &ModelSpec,
        tokenizer: &TextTokenizer,
        exact: impl Fn(&[&Tokens]) -> Result<Rows, ComputeError>,
    ) -> Result<Self, Error> {
        let embeds = matches!(spec.task, Task::Embed(_));
        let verifies = matches!(spec.task, Task::Verify(_));
        let vocabulary = tokenizer.vocabulary();
        let inputs: Vec<Tokens> = (0..)
            .zip(LENGTHS)
            .map(|(index, length)| {
                input(index, length.min(spec.max_tokens), vocabulary, spec.segments, verifies)
            })
            .collect();
        let want = exact(&inputs.iter().collect::<Vec<_>>());
        let want =
            want.map_err(|error| Error::Start(format!("the proof of model `{}`: {error}", spec.name)))?;
        Ok(Self { inputs, want, embeds })
    }

    /// Runs the batch as a whole, one by one, and several times at once.
    ///
    /// # Errors
    /// What differs, or what failed.
    pub(super) fn check(
        &self,
        run: impl Fn(&[&Tokens]) -> Result<Rows, ComputeError> + Sync,
        precision: Precision,
    ) -> Result<(), (Cause, String)> {
        let run = |batch: &[&Tokens]| match catch_unwind(AssertUnwindSafe(|| run(batch))) {
            Ok(Ok(rows)) => Ok(rows),
            Ok(Err(error)) => Err((Cause::Failed, error.to_string())),
            Err(panic) => Err((Cause::Failed, panic_message(panic.as_ref()))),
        };
        let all: Vec<usize> = (0..self.inputs.len()).collect();
        let check = |order: &[usize], how: &str| {
            let batch: Vec<&Tokens> = order.iter().map(|&index| &self.inputs[index]).collect();
            let rows = run(&batch)?;
            self.compare(order, &rows, precision)
                .map_err(|reason| (Cause::Wrong, format!("{reason} ({how})")))
        };
        check(&all, "in one batch")?;
        for index in &all {
            check(std::slice::from_ref(index), "alone")?;
        }
        let turned = |by: usize| [&all[by..], &all[..by]].concat();
        let orders: Vec<Vec<usize>> = (0..CONCURRENT).map(|thread| turned(thread % all.len())).collect();
        let check = &check;
        std::thread::scope(|scope| {
            let threads: Vec<_> = orders
                .iter()
                .map(|order| scope.spawn(move || check(order, "with other batches at the same time")))
                .collect();
            threads.into_iter().try_for_each(|thread| {
                thread.join().unwrap_or_else(|panic| Err((Cause::Failed, panic_message(panic.as_ref()))))
            })
        })
    }

    fn compare(&self, order: &[usize], rows: &[Vec<f32>], precision: Precision) -> Result<(), String> {
        if rows.len() != order.len() {
            return Err(format!("{} answers to {} inputs", rows.len(), order.len()));
        }
        for (&index, row) in order.iter().zip(rows) {
            let (want, tokens) = (&self.want[index], self.inputs[index].len());
            let input = format!("input {index} of the fixed batch, {tokens} tokens");
            if row.len() != want.len() {
                return Err(format!("{input}: {} values where the CPU has {}", row.len(), want.len()));
            }
            if self.embeds {
                let (cosine, least) = (cosine(row, want), least_cosine(precision));
                if cosine.is_nan() || cosine < least {
                    return Err(format!(
                        "{input}: cosine {cosine:.6} to the CPU's vector, at least {least} is required in {precision}"
                    ));
                }
                continue;
            }
            let most = most_difference(want, precision);
            for (place, (got, want)) in row.iter().zip(want).enumerate() {
                let within = (got - want).abs() <= most;
                if !within {
                    return Err(format!(
                        "{input}: logit {place} is {got}, the CPU's is {want}; they may differ by {most} in {precision}"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Different ordinary tokens for every input.
fn input(index: usize, length: usize, vocabulary: usize, segments: bool, verifies: bool) -> Tokens {
    let ordinary = vocabulary.saturating_sub(10).max(1);
    // The first ids are special tokens, including padding.
    let first = vocabulary - ordinary;
    let ids = (0..length).map(|at| (first + (at * 7_919 + index * 104_729) % ordinary) as u32).collect();
    let type_ids = (0..length).map(|at| u32::from(segments && at * 3 > length)).collect();
    let marks = if verifies { (0..length).skip(1).step_by(MARK_STEP).collect() } else { Vec::new() };
    Tokens { ids, type_ids, marks }
}

/// Of an embedding to the CPU's.
const fn least_cosine(precision: Precision) -> f64 {
    match precision {
        Precision::F32 => 0.999_99,
        Precision::F16 | Precision::Bf16 => 0.999,
    }
}

/// Between logits and the CPU's, `want`. In half precision, errors grow with the logits.
fn most_difference(want: &[f32], precision: Precision) -> f32 {
    let largest = want.iter().fold(0f32, |largest, logit| largest.max(logit.abs()));
    match precision {
        Precision::F32 => 1e-3,
        Precision::F16 | Precision::Bf16 => 0.05 + 0.02 * largest,
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    /// Answers that depend on all of an input.
    fn right(batch: &[&Tokens]) -> Rows {
        let row = |tokens: &&Tokens| {
            let sum = |step: usize| tokens.ids.iter().step_by(step).sum::<u32>() as f32;
            vec![sum(1) / 1e3, sum(2) / -1e3, tokens.len() as f32]
        };
        batch.iter().map(row).collect()
    }

    fn proof(embeds: bool) -> Proof {
        let inputs: Vec<_> =
            (0..).zip(LENGTHS).map(|(index, length)| input(index, length, 500, true, false)).collect();
        let want = right(&inputs.iter().collect::<Vec<_>>());
        Proof { inputs, want, embeds }
    }

    fn changed(batch: &[&Tokens], change: impl Fn(&mut Vec<f32>)) -> Rows {
        let mut rows = right(batch);
        rows.iter_mut().for_each(change);
        rows
    }

    #[test]
    fn what_is_right_within_the_contract_passes() {
        for precision in [Precision::F32, Precision::F16, Precision::Bf16] {
            proof(true).check(|batch| Ok(changed(batch, |row| row[0] *= 1.0001)), precision).unwrap();
            proof(false).check(|batch| Ok(changed(batch, |row| row[0] += 5e-4)), precision).unwrap();
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |embeds, change: fn(&mut Vec<f32>), precision| {
            let (cause, reason) =
                proof(embeds).check(|batch| Ok(changed(batch, change)), precision).unwrap_err();
            assert_eq!(cause, Cause::Wrong);
            reason
        };
        let reason = wrong(true, |row| row.swap(0, 1), Precision::Bf16);
        assert!(
            reason.contains("cosine") && reason.contains("0.999") && reason.contains("2 tokens"),
            "{reason}"
        );
        let reason = wrong(true, |row| row[1] = f32::NAN, Precision::F32);
        assert!(reason.contains("cosine NaN"), "{reason}");
        let reason = wrong(false, |row| row[2] += 2e-3, Precision::F32);
        assert!(reason.contains("logit 2 is 2.002") && reason.contains("differ by 0.001"), "{reason}");
        let reason = wrong(false, |row| row[2] = f32::NAN, Precision::F16);
        assert!(reason.contains("logit 2 is NaN"), "{reason}");
        let reason = wrong(false, |row| row.truncate(1), Precision::F32);
        assert!(reason.contains("1 values"), "{reason}");
        let (_, reason) = proof(true).check(|_| Ok(Vec::new()), Precision::F32).unwrap_err();
        assert!(reason.contains("0 answers"), "{reason}");
    }

    #[test]
    fn long_inputs_alone_can_be_wrong() {
        let counts_in_half = |batch: &[&Tokens]| {
            let mut rows = right(batch);
            for (row, tokens) in rows.iter_mut().zip(batch) {
                row[0] += if tokens.len() > 256 { 9.0 } else { 0.0 };
            }
            Ok(rows)
        };
        let (_, reason) = proof(false).check(counts_in_half, Precision::F32).unwrap_err();
        assert!(reason.contains("320 tokens"), "{reason}");
    }

    #[test]
    fn concurrent_load_is_part_of_it() {
        let running = AtomicUsize::new(0);
        let shares_a_buffer = |batch: &[&Tokens]| {
            let others = running.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(20));
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(changed(batch, |row| row[0] += others as f32))
        };
        let (cause, reason) = proof(false).check(shares_a_buffer, Precision::F32).unwrap_err();
        assert_eq!(cause, Cause::Wrong);
        assert!(reason.contains("at the same time"), "{reason}");
    }

    #[test]
    fn failures_and_panics_are_not_wrong_answers() {
        let failing = |_: &[&Tokens]| Err(ComputeError::OutOfMemory);
        let (cause, reason) = proof(true).check(failing, Precision::F32).unwrap_err();
        assert_eq!((cause, reason), (Cause::Failed, ComputeError::OutOfMemory.to_string()));
        let (cause, reason) = proof(true).check(|_| panic!("no such kernel"), Precision::F32).unwrap_err();
        assert!(cause == Cause::Failed && reason.contains("no such kernel"), "{reason}");
    }
}

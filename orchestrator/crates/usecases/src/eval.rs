//! Labeled files measured on the models that are configured.

mod end_to_end;
mod judged;
mod set;

pub use end_to_end::EndToEnd;
pub use set::{LabelledItem, LabelledPassage, LabelledSet};

use super::{App, AppError, ErrorCode, Remedy};
use judged::{Judged, judged};
use lyra_domain::figures::{Figures, Label, LabeledAnswer, Share, wilson};
use lyra_research::ports::Inference;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Seed of the resamples, so that the same answers have the same intervals.
pub const SEED: u64 = 2020;

/// The results of a set.
#[derive(Debug)]
pub struct Measured {
    /// The models that judged, as they name themselves.
    pub classifier: String,
    /// Figures, the right passage given.
    pub figures: Figures,
    /// The judgment of each passage, in the order of the set.
    pub answers: Vec<LabeledAnswer>,
    /// The same claims with a passage of another document: how often a side is taken anyway. Empty if the set has no
    /// other document.
    pub strangers: Share,
    /// Time per passage, the right one given.
    pub seconds: Seconds,
    /// Claims searched in a corpus.
    pub end_to_end: Option<EndToEnd>,
    /// Whether it was stopped early; the figures cover the finished part.
    pub is_partial: bool,
}

/// Time per claim, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Seconds {
    /// Mean.
    pub mean: f64,
    /// Half take no longer.
    pub median: f64,
    /// The longest.
    pub max: f64,
}

/// How far a measurement has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The models are loaded.
    Models,
    /// Judged and total passages.
    Judged(usize, usize),
    /// Searched and total claims.
    Searched(usize, usize),
}

impl App {
    /// Measures a set: judges every passage, and another document's passage for the same claim. With a corpus, the
    /// claims of a set in SciFact's layout are searched in it as well. When stopped, it measures the finished part.
    ///
    /// # Errors
    /// Models that cannot be reached, no such corpus, a corpus for a set without documents, stopped before anything was judged.
    pub async fn measure(
        &self,
        set: LabelledSet,
        corpus: Option<&str>,
        progress: &(dyn Fn(Stage) + Send + Sync),
        cancel: &CancellationToken,
    ) -> Result<Measured, AppError> {
        if let Some(corpus) = corpus {
            self.show_corpus(corpus).await?;
            if set.abstracts.is_none() {
                return Err(AppError::invalid(
                    format!("{} names no documents to search in `{corpus}`", set.path.display()),
                    Remedy::GiveScifactClaims,
                ));
            }
        }
        progress(Stage::Models);
        let inference = self.calibrated();
        let config = &self.config().research;
        let models = cancel.run_until_cancelled(inference.models()).await.ok_or_else(stopped)??;
        let (mut answers, mut took) = (Vec::new(), Vec::new());
        let (mut sides, mut strange) = (0, 0);
        let strangers = set.strangers();
        for (item, stranger) in set.items.iter().zip(&strangers) {
            let start = Instant::now();
            let one = async {
                let said = judged(&*inference, &models, config, &item.claim, &item.passage).await?;
                let seconds = start.elapsed();
                let other = match stranger {
                    Some(passage) => Some(judged(&*inference, &models, config, &item.claim, passage).await?),
                    None => None,
                };
                Ok::<_, AppError>((said, seconds, other))
            };
            let Some(done) = cancel.run_until_cancelled(one).await else { break };
            let (said, seconds, other) = done?;
            if let Some(other) = other {
                strange += 1;
                sides += usize::from(other.is_some_and(|said| said.label.is_side()));
            }
            answers.push(answer(item, said));
            took.push(seconds);
            progress(Stage::Judged(answers.len(), set.items.len()));
        }
        if answers.is_empty() {
            return Err(stopped());
        }
        let end_to_end = match (corpus, &set.abstracts) {
            (Some(corpus), Some(abstracts)) if !cancel.is_cancelled() => {
                Some(end_to_end::search(self, corpus, abstracts, progress, cancel).await?)
            }
            _ => None,
        };
        // A thousand resamples of a large set take seconds.
        let (answers, figures) = tokio::task::spawn_blocking(move || {
            let figures = Figures::of(&answers, SEED);
            (answers, figures)
        })
        .await
        .map_err(|error| AppError::new(ErrorCode::Internal, error.to_string()))?;
        let is_partial = cancel.is_cancelled();
        let strangers = wilson(sides, strange);
        let seconds = Seconds::of(took);
        let classifier = models.classifier;
        Ok(Measured { classifier, figures, answers, strangers, seconds, end_to_end, is_partial })
    }
}

impl Seconds {
    fn of(mut took: Vec<Duration>) -> Self {
        took.sort();
        let Some(max) = took.last() else { return Self::default() };
        let mean = took.iter().sum::<Duration>().as_secs_f64() / took.len() as f64;
        Self { mean, median: took[took.len() / 2].as_secs_f64(), max: max.as_secs_f64() }
    }
}

fn answer(item: &LabelledItem, said: Option<Judged>) -> LabeledAnswer {
    let (label, scores, confidence, chosen) = match said {
        Some(said) => (said.label, Some(said.scores), said.confidence, said.rationale),
        None => (Label::Neutral, None, 0.0, Vec::new()),
    };
    LabeledAnswer {
        gold: item.label,
        said: label,
        scores,
        confidence,
        claim: item.group,
        kind: item.kind.clone(),
        // A neutral label has no sentences.
        chosen: if label.is_side() { chosen } else { Vec::new() },
        rationales: item.rationales.clone(),
    }
}

fn stopped() -> AppError {
    AppError::new(ErrorCode::Unavailable, "stopped before the first passage was judged")
}

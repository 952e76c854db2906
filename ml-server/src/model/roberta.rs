//! RoBERTa (<https://arxiv.org/abs/1907.11692>) and XLM-RoBERTa (<https://arxiv.org/abs/1911.02116>): BERT with
//! positions counted from the padding id, and its own head.

use super::bert::{self, BertConfig};
use super::encoder::{Encoder, PositionCount};
use super::head::{Classifier, Head, Pooling};
use super::ops::Activation;
use super::spec::{ModelSpec, Task};
use super::weights::{LinearWeights, WeightSource, Weights};
use crate::error::Error;

/// Default id of the padding token.
pub const PADDING: u32 = 1;

/// Reads a RoBERTa or XLM-RoBERTa; the two differ in their tokenizers only.
///
/// # Errors
/// As for [`bert::build`].
pub fn build(
    spec: &ModelSpec,
    source: &mut dyn WeightSource,
) -> Result<(Encoder<LinearWeights>, Head<LinearWeights>), Error> {
    let config: BertConfig = spec.read_config(&source.path())?;
    let count = PositionCount::AfterPadding(config.pad_token_id.unwrap_or(PADDING));
    let encoder = bert::encoder(&config, "roberta.", count, source)?;
    Ok((encoder, head(&spec.task, config.hidden_size, source)?))
}

/// Reads the head of a RoBERTa encoder with vectors of width `hidden`.
///
/// # Errors
/// When a tensor is missing or has another shape.
pub fn head(task: &Task, hidden: usize, source: &mut dyn WeightSource) -> Result<Head<LinearWeights>, Error> {
    let labels = match task {
        Task::Embed(pooling) => return Ok(Head::Pool(*pooling)),
        Task::Classify(labels) | Task::Verify(labels) => labels,
    };
    let mut weights = Weights::head(source);
    Ok(Head::Classify(Box::new(Classifier {
        pooling: Pooling::Cls,
        dense: weights.linear("classifier.dense", hidden, hidden, true)?,
        activation: Activation::Tanh,
        norm: None,
        output: weights.linear("classifier.out_proj", hidden, labels.len(), true)?,
    })))
}

//! BERT (<https://arxiv.org/abs/1810.04805>): names of its tensors, its configuration, and its classification head.

use std::path::Path;

use serde::Deserialize;

use super::attention::Attention;
use super::encoder::{Embeddings, Encoder, Layer, Table};
use super::head::Classifier;
use super::ops::{Activation, LayerNorm, Linear};
use super::weights::{WeightSource, Weights};
use crate::error::Error;

/// The fields of a BERT `config.json` that change the computation.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct BertConfig {
    /// Rows of the word table.
    pub vocab_size: usize,
    /// Width of a token's vector.
    pub hidden_size: usize,
    /// Number of layers.
    pub num_hidden_layers: usize,
    /// Heads per layer; divides `hidden_size`.
    pub num_attention_heads: usize,
    /// Width of the feed-forward block.
    pub intermediate_size: usize,
    /// Name of the activation.
    pub hidden_act: String,
    /// Longest sequence in tokens.
    pub max_position_embeddings: usize,
    /// Number of segments.
    pub type_vocab_size: usize,
    /// Added to variances.
    pub layer_norm_eps: f32,
    /// Only `absolute` is known.
    #[serde(default = "absolute")]
    pub position_embedding_type: String,
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl BertConfig {
    /// Reads and checks a configuration.
    ///
    /// # Errors
    /// When a field is missing, or has a value that this code would compute wrongly.
    pub fn parse(config: &serde_json::Value, path: &Path) -> Result<Self, Error> {
        let config: Self = serde_json::from_value(config.clone())
            .map_err(|e| Error::malformed(path, format!("configuration: {e}")))?;
        let problem = if config.position_embedding_type != "absolute" {
            Some(format!(
                "position embeddings `{}`; only absolute ones are supported",
                config.position_embedding_type
            ))
        } else if config.num_attention_heads == 0
            || !config.hidden_size.is_multiple_of(config.num_attention_heads)
        {
            Some(format!("{} heads do not divide {}", config.num_attention_heads, config.hidden_size))
        } else if Activation::from_name(&config.hidden_act).is_none() {
            Some(format!("activation `{}`; gelu, gelu_new and relu are supported", config.hidden_act))
        } else {
            None
        };
        problem.map_or(Ok(config), |problem| Err(Error::malformed(path, problem)))
    }
}

/// Reads the encoder of a BERT model.
///
/// # Errors
/// When a tensor is missing or has a shape that the configuration does not predict.
pub fn encoder(config: &BertConfig, source: &mut dyn WeightSource) -> Result<Encoder, Error> {
    let hidden = config.hidden_size;
    let path = source.path();
    let activation = Activation::from_name(&config.hidden_act).ok_or_else(|| {
        Error::malformed(&path, format!("activation `{}` is not supported", config.hidden_act))
    })?;
    let mut weights = Weights::new(source, "bert.", "embeddings.word_embeddings.weight");
    let embeddings = Embeddings {
        words: Table::new(weights.get("embeddings.word_embeddings.weight", &[config.vocab_size, hidden])?),
        positions: Table::new(
            weights
                .get("embeddings.position_embeddings.weight", &[config.max_position_embeddings, hidden])?,
        ),
        segments: Table::new(
            weights.get("embeddings.token_type_embeddings.weight", &[config.type_vocab_size, hidden])?,
        ),
        norm: norm(&mut weights, "embeddings.LayerNorm", config)?,
    };
    let attention =
        Attention { heads: config.num_attention_heads, head_dim: hidden / config.num_attention_heads };
    let layers = (0..config.num_hidden_layers).map(|index| {
        let at = |part: &str| format!("encoder.layer.{index}.{part}");
        Ok(Layer {
            qkv: qkv(&mut weights, &at("attention.self"), hidden)?,
            attention,
            attention_out: linear(&mut weights, &at("attention.output.dense"), hidden, hidden)?,
            attention_norm: norm(&mut weights, &at("attention.output.LayerNorm"), config)?,
            up: linear(&mut weights, &at("intermediate.dense"), hidden, config.intermediate_size)?,
            activation,
            down: linear(&mut weights, &at("output.dense"), config.intermediate_size, hidden)?,
            norm: norm(&mut weights, &at("output.LayerNorm"), config)?,
        })
    });
    let layers = layers.collect::<Result<_, Error>>()?;
    Ok(Encoder { embeddings, layers, hidden })
}

/// Reads the head of a `BertForSequenceClassification`: pooler, tanh, classifier.
///
/// # Errors
/// As for [`encoder`].
pub fn classifier(
    config: &BertConfig,
    labels: usize,
    source: &mut dyn WeightSource,
) -> Result<Classifier, Error> {
    let hidden = config.hidden_size;
    let mut weights = Weights::new(source, "bert.", "pooler.dense.weight");
    let pooler = linear(&mut weights, "pooler.dense", hidden, hidden)?;
    let weight = weights.get_unprefixed("classifier.weight", &[labels, hidden])?.into_f32();
    let bias = weights.get_unprefixed("classifier.bias", &[labels])?.into_f32();
    Ok(Classifier { pooler, output: Linear::new(&weight, bias) })
}

fn linear(weights: &mut Weights, name: &str, inputs: usize, outputs: usize) -> Result<Linear, Error> {
    let weight = weights.get(&format!("{name}.weight"), &[outputs, inputs])?.into_f32();
    Ok(Linear::new(&weight, weights.vector(&format!("{name}.bias"), outputs)?))
}

fn qkv(weights: &mut Weights, name: &str, hidden: usize) -> Result<Linear, Error> {
    let mut weight = Vec::with_capacity(3 * hidden * hidden);
    let mut bias = Vec::with_capacity(3 * hidden);
    for part in ["query", "key", "value"] {
        weight.extend(weights.get(&format!("{name}.{part}.weight"), &[hidden, hidden])?.into_f32());
        bias.extend(weights.vector(&format!("{name}.{part}.bias"), hidden)?);
    }
    Ok(Linear::new(&weight, bias))
}

fn norm(weights: &mut Weights, name: &str, config: &BertConfig) -> Result<LayerNorm, Error> {
    Ok(LayerNorm {
        weight: weights.vector(&format!("{name}.weight"), config.hidden_size)?,
        bias: weights.vector(&format!("{name}.bias"), config.hidden_size)?,
        epsilon: config.layer_norm_eps,
    })
}

//! BERT (<https://arxiv.org/abs/1810.04805>): names of its tensors, its configuration, and its classification head. The
//! architectures that followed it vary these.

use std::path::Path;

use serde::Deserialize;

use super::attention::Attention;
use super::encoder::{Embeddings, Encoder, Layer, Order, PositionCount, Positions, Table};
use super::head::{Classifier, Head, Pooling};
use super::ops::Activation;
use super::spec::{ModelSpec, Task};
use super::weights::{LinearWeights, WeightSource, Weights};
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
    /// Rows of the position table.
    pub max_position_embeddings: usize,
    /// Number of segments; 0 if the architecture has none.
    #[serde(default)]
    pub type_vocab_size: usize,
    /// Added to variances.
    pub layer_norm_eps: f32,
    /// Only `absolute` is known.
    #[serde(default = "absolute")]
    pub position_embedding_type: String,
    /// Id of the padding token, from which RoBERTa counts positions.
    pub pad_token_id: Option<u32>,
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl BertConfig {
    /// Refuses values that this code would compute wrongly. `path` is for the message.
    ///
    /// # Errors
    /// Says which value it is.
    pub fn check(&self, path: &Path) -> Result<(), Error> {
        if self.position_embedding_type != "absolute" {
            let reason = format!(
                "position embeddings `{}`; only absolute ones are supported",
                self.position_embedding_type
            );
            return Err(Error::malformed(path, reason));
        }
        check_heads(self.hidden_size, self.num_attention_heads, path)
    }

    /// Width of one head.
    pub fn head_dim(&self) -> usize {
        self.hidden_size / self.num_attention_heads
    }
}

/// Refuses a number of `heads` that does not divide the `hidden` width.
///
/// # Errors
/// Says both.
pub fn check_heads(hidden: usize, heads: usize, path: &Path) -> Result<(), Error> {
    if heads > 0 && hidden.is_multiple_of(heads) {
        Ok(())
    } else {
        Err(Error::malformed(path, format!("{heads} heads do not divide {hidden}")))
    }
}

/// The activation that a configuration names.
///
/// # Errors
/// When it is not known.
pub fn activation(name: &str, path: &Path) -> Result<Activation, Error> {
    Activation::from_name(name).ok_or_else(|| {
        Error::malformed(path, format!("activation `{name}`; {} are supported", Activation::KNOWN))
    })
}

/// Reads a BERT.
///
/// # Errors
/// A missing tensor, a shape that does not match the configuration, or an unsupported configuration.
pub fn build(
    spec: &ModelSpec,
    source: &mut dyn WeightSource,
) -> Result<(Encoder<LinearWeights>, Head<LinearWeights>), Error> {
    let config: BertConfig = spec.read_config(&source.path())?;
    let encoder = encoder(&config, "bert.", PositionCount::FromZero, source)?;
    let head = match &spec.task {
        Task::Embed(pooling) => Head::Pool(*pooling),
        Task::Classify(labels) | Task::Verify(labels) => {
            let hidden = config.hidden_size;
            let dense = Weights::encoder(source, "bert.", "pooler.dense.weight").linear(
                "pooler.dense",
                hidden,
                hidden,
                true,
            )?;
            let output = Weights::head(source).linear("classifier", hidden, labels.len(), true)?;
            let (pooling, activation) = (Pooling::Cls, Activation::Tanh);
            Head::Classify(Box::new(Classifier { pooling, dense, activation, norm: None, output }))
        }
    };
    Ok((encoder, head))
}

/// Reads an encoder with BERT's tensor names, with or without `prefix`.
///
/// # Errors
/// As for [`build`].
pub fn encoder(
    config: &BertConfig,
    prefix: &'static str,
    count: PositionCount,
    source: &mut dyn WeightSource,
) -> Result<Encoder<LinearWeights>, Error> {
    config.check(&source.path())?;
    let (hidden, epsilon) = (config.hidden_size, config.layer_norm_eps);
    let mut weights = Weights::encoder(source, prefix, "embeddings.word_embeddings.weight");
    let mut table = |name: &str, rows: usize| -> Result<Table, Error> {
        Ok(Table::new(weights.get(&format!("embeddings.{name}_embeddings.weight"), &[rows, hidden])?))
    };
    let words = table("word", config.vocab_size)?;
    let positions = Positions { table: table("position", config.max_position_embeddings)?, count };
    let segments = table("token_type", config.type_vocab_size)?;
    let norm = weights.norm("embeddings.LayerNorm", hidden, epsilon, true)?;
    let embeddings = Embeddings { words, positions: Some(positions), segments: Some(segments), norm };
    let layers = layers(config, LayerNames::BERT, &mut weights, |_, _| {
        Ok(Attention::plain(config.num_attention_heads, config.head_dim()))
    })?;
    Ok(Encoder { embeddings, layers, convolution: None, norm: None, hidden })
}

/// Names of the tensors of a layer's attention block, below `encoder.layer.N`.
#[derive(Debug, Clone, Copy)]
pub struct LayerNames {
    /// Queries, keys and values.
    pub projections: [&'static str; 3],
    /// The layer after attention.
    pub output: &'static str,
    /// The normalization of the block.
    pub norm: &'static str,
}

impl LayerNames {
    /// BERT's own.
    pub const BERT: Self = Self {
        projections: ["attention.self.query", "attention.self.key", "attention.self.value"],
        output: "attention.output.dense",
        norm: "attention.output.LayerNorm",
    };
}

/// Reads the layers. `attention` creates a layer's attention from the weights and the layer's name.
///
/// # Errors
/// As for [`build`].
pub fn layers(
    config: &BertConfig,
    names: LayerNames,
    weights: &mut Weights,
    attention: impl Fn(&mut Weights, &str) -> Result<Attention, Error>,
) -> Result<Vec<Layer<LinearWeights>>, Error> {
    let (hidden, wide, epsilon) = (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
    let activation = activation(&config.hidden_act, &weights.path())?;
    let layer = |index: usize| {
        let name = format!("encoder.layer.{index}");
        let at = |part: &str| format!("{name}.{part}");
        Ok(Layer {
            order: Order::After,
            qkv: weights.side_by_side(&names.projections.map(at), hidden)?,
            attention: attention(weights, &name)?,
            attention_out: weights.linear(&at(names.output), hidden, hidden, true)?,
            attention_norm: Some(weights.norm(&at(names.norm), hidden, epsilon, true)?),
            up: weights.linear(&at("intermediate.dense"), hidden, wide, true)?,
            activation,
            gated: false,
            down: weights.linear(&at("output.dense"), wide, hidden, true)?,
            norm: weights.norm(&at("output.LayerNorm"), hidden, epsilon, true)?,
        })
    };
    (0..config.num_hidden_layers).map(layer).collect()
}

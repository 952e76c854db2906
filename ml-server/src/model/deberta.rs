//! DeBERTa-v2 and -v3 (<https://arxiv.org/abs/2006.03654>, <https://arxiv.org/abs/2111.09543>): BERT's layers with
//! disentangled attention. Published v2 models have a convolution beside the first layer, v3 models do not.

use std::path::Path;

use serde::Deserialize;

use super::attention::Attention;
use super::bert::{self, BertConfig, LayerNames};
use super::convolution::Convolution;
use super::encoder::{Embeddings, Encoder, PositionCount, Positions, Table};
use super::head::{Classifier, Head, Pooling};
use super::ops::Linear;
use super::relative::{Buckets, Relative};
use super::spec::{ModelSpec, Task};
use super::weights::{HostTensor, LinearWeights, TensorData, WeightSource, Weights};
use crate::error::Error;

const LAYER: LayerNames = LayerNames {
    projections: ["attention.self.query_proj", "attention.self.key_proj", "attention.self.value_proj"],
    ..LayerNames::BERT
};

/// The fields of a DeBERTa `config.json` that change the computation.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct DebertaConfig {
    /// The part shared with BERT.
    #[serde(flatten)]
    pub base: BertConfig,
    /// Whether scores depend on distances.
    #[serde(default)]
    pub relative_attention: bool,
    /// Which terms: `c2p`, `p2c`.
    #[serde(default)]
    pub pos_att_type: Terms,
    /// Buckets for one direction; distances are not bucketed when less than 1.
    #[serde(default = "unset")]
    pub position_buckets: i64,
    /// Longest distance; as many as positions when less than 1.
    #[serde(default = "unset")]
    pub max_relative_positions: i64,
    /// Whether distances go through the projections of the content.
    #[serde(default)]
    pub share_att_key: bool,
    /// `layer_norm` where the table of distances is normalized.
    #[serde(default)]
    pub norm_rel_ebd: String,
    /// Whether absolute positions are added to the words.
    #[serde(default = "yes")]
    pub position_biased_input: bool,
    /// Activation of the classifier.
    #[serde(default = "gelu")]
    pub pooler_hidden_act: String,
    /// Width of the word table, if it differs from that of the layers.
    pub embedding_size: Option<usize>,
    /// Width of a head, where the heads do not just share the layer's.
    pub attention_head_size: Option<usize>,
    /// Kernel size, in tokens, of the convolution beside the first layer; 0 means no convolution, as in v3.
    #[serde(default)]
    pub conv_kernel_size: usize,
    /// Groups of the convolution; only 1 is known.
    #[serde(default = "one")]
    pub conv_groups: usize,
    /// Activation of the convolution.
    #[serde(default = "tanh")]
    pub conv_act: String,
}

/// `["c2p", "p2c"]` or `"c2p|p2c"`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Terms {
    /// One by one.
    List(Vec<String>),
    /// Separated by bars.
    Text(String),
    /// `null`.
    #[default]
    None,
}

impl Terms {
    fn contain(&self, term: &str) -> bool {
        match self {
            Self::List(terms) => terms.iter().any(|other| other.trim().eq_ignore_ascii_case(term)),
            Self::Text(text) => text.split('|').any(|other| other.trim().eq_ignore_ascii_case(term)),
            Self::None => false,
        }
    }
}

const fn unset() -> i64 {
    -1
}

const fn yes() -> bool {
    true
}

const fn one() -> usize {
    1
}

fn tanh() -> String {
    "tanh".to_owned()
}

fn gelu() -> String {
    "gelu".to_owned()
}

impl DebertaConfig {
    fn check(&self, path: &Path) -> Result<(), Error> {
        self.base.check(path)?;
        let hidden = self.base.hidden_size;
        let (size, groups) = (self.conv_kernel_size, self.conv_groups);
        let Buckets { span, longest } = self.buckets();
        let problem = if size > 0 && (size.is_multiple_of(2) || groups != 1) {
            "a convolution of even `conv_kernel_size` or more than one of `conv_groups` is not supported"
        } else if self.embedding_size.is_some_and(|size| size != hidden) {
            "an `embedding_size` other than `hidden_size` is not supported"
        } else if self.attention_head_size.is_some_and(|size| size != self.base.head_dim()) {
            "an `attention_head_size` other than `hidden_size` by the number of heads is not supported"
        } else if !self.relative_attention && self.pos_att_type != Terms::None {
            "`pos_att_type` without `relative_attention` is not supported"
        } else if span < 4 || longest.is_some_and(|longest| longest <= span / 2 + 1) {
            "fewer than 4 relative positions, or half as many as `position_buckets`, are not supported"
        } else {
            return Ok(());
        };
        Err(Error::malformed(path, problem))
    }

    /// How distances become rows of the relative table.
    fn buckets(&self) -> Buckets {
        let positions = usize::try_from(self.max_relative_positions).unwrap_or(0);
        let longest = if positions == 0 { self.base.max_position_embeddings } else { positions };
        match usize::try_from(self.position_buckets) {
            Ok(span @ 1..) => Buckets { span, longest: Some(longest) },
            _ => Buckets { span: longest, longest: None },
        }
    }
}

/// Reads a DeBERTa-v2 or -v3.
///
/// # Errors
/// As for [`bert::build`].
pub fn build(
    spec: &ModelSpec,
    source: &mut dyn WeightSource,
) -> Result<(Encoder<LinearWeights>, Head<LinearWeights>), Error> {
    let path = source.path();
    let config: DebertaConfig = spec.read_config(&path)?;
    config.check(&path)?;
    let encoder = encoder(&config, source)?;
    let head = match &spec.task {
        Task::Embed(pooling) => Head::Pool(*pooling),
        Task::Classify(labels) | Task::Verify(labels) => {
            let hidden = config.base.hidden_size;
            let mut weights = Weights::head(source);
            Head::Classify(Box::new(Classifier {
                pooling: Pooling::Cls,
                dense: weights.linear("pooler.dense", hidden, hidden, true)?,
                activation: bert::activation(&config.pooler_hidden_act, &path)?,
                norm: None,
                output: weights.linear("classifier", hidden, labels.len(), true)?,
            }))
        }
    };
    Ok((encoder, head))
}

fn encoder(config: &DebertaConfig, source: &mut dyn WeightSource) -> Result<Encoder<LinearWeights>, Error> {
    let base = &config.base;
    let (hidden, epsilon) = (base.hidden_size, base.layer_norm_eps);
    let mut weights = Weights::encoder(source, "deberta.", "embeddings.word_embeddings.weight");
    let mut table = |name: &str, rows: usize, exists: bool| -> Result<Option<Table>, Error> {
        let name = format!("embeddings.{name}_embeddings.weight");
        exists.then(|| Ok(Table::new(weights.get(&name, &[rows, hidden])?))).transpose()
    };
    let positions = table("position", base.max_position_embeddings, config.position_biased_input)?;
    let segments = table("token_type", base.type_vocab_size, base.type_vocab_size > 0)?;
    let embeddings = Embeddings {
        words: Table::new(weights.get("embeddings.word_embeddings.weight", &[base.vocab_size, hidden])?),
        positions: positions.map(|table| Positions { table, count: PositionCount::FromZero }),
        segments,
        norm: weights.norm("embeddings.LayerNorm", hidden, epsilon, true)?,
    };
    let distances = if config.relative_attention { Some(distances(config, &mut weights)?) } else { None };
    let layers = bert::layers(base, LAYER, &mut weights, |weights, layer| {
        let relative = distances.as_deref().map(|distances| relative(config, distances, weights, layer));
        let plain = Attention::plain(base.num_attention_heads, base.head_dim());
        Ok(Attention { relative: relative.transpose()?, ..plain })
    })?;
    let convolution =
        if config.conv_kernel_size > 0 { Some(convolution(config, &mut weights)?) } else { None };
    Ok(Encoder { embeddings, layers, convolution, norm: None, hidden })
}

fn convolution(config: &DebertaConfig, weights: &mut Weights) -> Result<Convolution<LinearWeights>, Error> {
    let (hidden, size) = (config.base.hidden_size, config.conv_kernel_size);
    let weight = weights.get("encoder.conv.conv.weight", &[hidden, hidden, size])?.into_f32();
    let bias = weights.vector("encoder.conv.conv.bias", hidden)?;
    Ok(Convolution {
        kernel: Convolution::kernel(&weight, bias, size),
        activation: bert::activation(&config.conv_act, &weights.path())?,
        norm: weights.norm("encoder.conv.LayerNorm", hidden, config.base.layer_norm_eps, true)?,
        size,
    })
}

/// The table of distances that all layers share, `[2 · span, hidden]`.
fn distances(config: &DebertaConfig, weights: &mut Weights) -> Result<Vec<f32>, Error> {
    let hidden = config.base.hidden_size;
    let shape = [2 * config.buckets().span, hidden];
    let mut table = weights.get("encoder.rel_embeddings.weight", &shape)?.into_f32();
    if config.norm_rel_ebd.to_lowercase().split('|').any(|part| part.trim() == "layer_norm") {
        weights.norm("encoder.LayerNorm", hidden, config.base.layer_norm_eps, true)?.apply(&mut table);
    }
    Ok(table)
}

/// One layer's projections of the distances, computed here once instead of in every pass.
fn relative(
    config: &DebertaConfig,
    distances: &[f32],
    weights: &mut Weights,
    layer: &str,
) -> Result<Relative, Error> {
    let mut project = |term: &str, shared: &str, own: &str| {
        if !config.pos_att_type.contain(term) {
            return Ok(None);
        }
        let name = format!("{layer}.attention.self.{}", if config.share_att_key { shared } else { own });
        let hidden = config.base.hidden_size;
        let mut out = vec![0.0; distances.len()];
        let LinearWeights { weight, bias } = weights.linear(&name, hidden, hidden, true)?;
        // Once per model: exactly, even where the layers round.
        let weight = HostTensor { shape: weight.shape.clone(), data: TensorData::F32(weight.into_f32()) };
        Linear::pack(LinearWeights { weight, bias }).apply(distances, &mut out);
        Ok(Some(out))
    };
    Ok(Relative {
        keys: project("c2p", "key_proj", "pos_key_proj")?,
        queries: project("p2c", "query_proj", "pos_query_proj")?,
        buckets: config.buckets(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn config(changes: &Value) -> DebertaConfig {
        let mut config = json!({
            "vocab_size": 8, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4,
            "intermediate_size": 64, "hidden_act": "gelu", "max_position_embeddings": 512, "type_vocab_size": 0,
            "layer_norm_eps": 1e-7,
        });
        for (key, value) in changes.as_object().unwrap() {
            config[key] = value.clone();
        }
        serde_json::from_value(config).unwrap()
    }

    #[test]
    fn buckets_and_terms_are_read_in_every_spelling() {
        let published = config(&json!({
            "pos_att_type": "p2c|c2p", "position_buckets": 256, "max_relative_positions": -1
        }));
        assert_eq!(published.buckets(), Buckets { span: 256, longest: Some(512) });
        assert!(published.pos_att_type.contain("c2p") && published.pos_att_type.contain("p2c"));
        let list = config(&json!({"pos_att_type": ["c2p"], "max_relative_positions": 24}));
        assert_eq!(list.buckets(), Buckets { span: 24, longest: None });
        assert!(list.pos_att_type.contain("c2p") && !list.pos_att_type.contain("p2c"));
        assert!(!config(&json!({"pos_att_type": null})).pos_att_type.contain("c2p"));
    }

    #[test]
    fn what_would_be_computed_wrongly_is_refused() {
        let check = |changes: Value| config(&changes).check(Path::new("m")).unwrap_err().to_string();
        assert!(check(json!({"conv_kernel_size": 2})).contains("conv_kernel_size"));
        assert!(check(json!({"conv_kernel_size": 3, "conv_groups": 2})).contains("conv_groups"));
        assert!(check(json!({"embedding_size": 16})).contains("embedding_size"));
        assert!(check(json!({"attention_head_size": 16})).contains("attention_head_size"));
        assert!(check(json!({"num_attention_heads": 5})).contains("5 heads"));
        assert!(check(json!({"pos_att_type": "c2p"})).contains("relative_attention"));
        let few = json!({"position_buckets": 256, "max_relative_positions": 100});
        assert!(check(few).contains("position_buckets"));
        let published = json!({"relative_attention": true, "pos_att_type": "c2p", "position_buckets": 256});
        assert!(config(&published).check(Path::new("m")).is_ok());
    }
}

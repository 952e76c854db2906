//! ModernBERT (<https://arxiv.org/abs/2412.13663>): rotary positions, layers that see all tokens between layers that see a
//! window, gated feed-forward blocks, and normalization before each block.

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::attention::Attention;
use super::bert;
use super::encoder::{Embeddings, Encoder, Layer, Order, Table};
use super::head::{Classifier, Head, Pooling};
use super::rotary::Rotary;
use super::spec::{ModelSpec, Task};
use super::weights::{LinearWeights, WeightSource, Weights};
use crate::error::Error;

/// The fields of a ModernBERT `config.json` that change the computation.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ModernBertConfig {
    /// Rows of the word table.
    pub vocab_size: usize,
    /// Width of a token's vector.
    pub hidden_size: usize,
    /// Number of layers.
    pub num_hidden_layers: usize,
    /// Heads per layer; divides `hidden_size`.
    pub num_attention_heads: usize,
    /// Width of the feed-forward block behind its gate.
    pub intermediate_size: usize,
    /// Name of the activation.
    pub hidden_activation: String,
    /// Longest sequence in tokens.
    pub max_position_embeddings: usize,
    /// Added to variances.
    pub norm_eps: f32,
    /// Whether normalizations have an offset.
    #[serde(default)]
    pub norm_bias: bool,
    /// Whether attention has biases.
    #[serde(default)]
    pub attention_bias: bool,
    /// Whether feed-forward blocks have biases.
    #[serde(default)]
    pub mlp_bias: bool,
    /// Width of the window, to both sides together.
    pub local_attention: usize,
    /// The attention type of each layer; absent in older files, which have a period instead.
    pub layer_types: Option<Vec<Sight>>,
    /// Every which layer sees all tokens, from the first on.
    #[serde(default = "three")]
    pub global_attn_every_n_layers: usize,
    /// Angles by kind of layer; older files have a number for each instead.
    #[serde(default)]
    pub rope_parameters: RopeParameters,
    /// Base of the angles where a layer sees all tokens.
    pub global_rope_theta: Option<f32>,
    /// Base of the angles of layers with a window.
    pub local_rope_theta: Option<f32>,
    /// Stretching of the angles, which is not supported.
    #[serde(default)]
    pub rope_scaling: Value,
    /// `cls` or `mean`, before the classifier.
    #[serde(default = "cls")]
    pub classifier_pooling: String,
    /// Whether the classifier's first product has a bias.
    #[serde(default)]
    pub classifier_bias: bool,
    /// Activation of the classifier.
    #[serde(default = "gelu")]
    pub classifier_activation: String,
}

/// How far a layer sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Sight {
    /// All tokens.
    #[serde(rename = "full_attention")]
    Full,
    /// A window.
    #[serde(rename = "sliding_attention")]
    Sliding,
}

/// Angles of both kinds of layers.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
pub struct RopeParameters {
    /// Where a layer sees all tokens.
    pub full_attention: Option<Rope>,
    /// Where it sees a window.
    pub sliding_attention: Option<Rope>,
}

/// Angles of one kind of layers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Rope {
    /// Only `default` is known.
    pub rope_type: Option<String>,
    /// Base.
    pub rope_theta: Option<f32>,
}

const fn three() -> usize {
    3
}

fn cls() -> String {
    "cls".to_owned()
}

fn gelu() -> String {
    "gelu".to_owned()
}

impl ModernBertConfig {
    fn check(&self, path: &Path) -> Result<(), Error> {
        bert::check_heads(self.hidden_size, self.num_attention_heads, path)?;
        let ropes = [&self.rope_parameters.full_attention, &self.rope_parameters.sliding_attention];
        let kinds = ropes.into_iter().flatten().filter_map(|rope| rope.rope_type.as_deref());
        let problem = if !self.rope_scaling.is_null() || kinds.into_iter().any(|kind| kind != "default") {
            "stretched rotary positions (`rope_scaling`, `rope_type`) are not supported"
        } else if !self.head_dim().is_multiple_of(2) {
            "rotary positions need heads of an even width"
        } else if self.layer_types.as_ref().is_some_and(|types| types.len() != self.num_hidden_layers) {
            "`layer_types` does not name every layer once"
        } else {
            return Ok(());
        };
        Err(Error::malformed(path, problem))
    }

    fn head_dim(&self) -> usize {
        self.hidden_size / self.num_attention_heads
    }

    fn sight(&self, layer: usize) -> Sight {
        match &self.layer_types {
            Some(types) => types[layer],
            None if layer.is_multiple_of(self.global_attn_every_n_layers) => Sight::Full,
            None => Sight::Sliding,
        }
    }

    /// Angles for layers of one kind.
    fn rotary(&self, sight: Sight) -> Rotary {
        let (rope, older, default) = match sight {
            Sight::Full => (&self.rope_parameters.full_attention, self.global_rope_theta, 160_000.0),
            Sight::Sliding => (&self.rope_parameters.sliding_attention, self.local_rope_theta, 10_000.0),
        };
        let theta = rope.as_ref().and_then(|rope| rope.rope_theta).or(older).unwrap_or(default);
        Rotary::new(theta, self.head_dim(), self.max_position_embeddings)
    }
}

/// Reads a ModernBERT.
///
/// # Errors
/// As for [`bert::build`].
pub fn build(
    spec: &ModelSpec,
    source: &mut dyn WeightSource,
) -> Result<(Encoder<LinearWeights>, Head<LinearWeights>), Error> {
    let path = source.path();
    let config: ModernBertConfig = spec.read_config(&path)?;
    config.check(&path)?;
    let (hidden, epsilon) = (config.hidden_size, config.norm_eps);
    let encoder = encoder(&config, source)?;
    let head = match &spec.task {
        Task::Embed(pooling) => Head::Pool(*pooling),
        Task::Classify(labels) | Task::Verify(labels) => {
            let name = &config.classifier_pooling;
            let pooling = Pooling::from_name(name).ok_or_else(|| {
                Error::malformed(&path, format!("classifier pooling `{name}` is neither mean nor cls"))
            })?;
            let mut weights = Weights::head(source);
            Head::Classify(Box::new(Classifier {
                pooling,
                dense: weights.linear("head.dense", hidden, hidden, config.classifier_bias)?,
                activation: bert::activation(&config.classifier_activation, &path)?,
                norm: Some(weights.norm("head.norm", hidden, epsilon, config.norm_bias)?),
                output: weights.linear("classifier", hidden, labels.len(), true)?,
            }))
        }
    };
    Ok((encoder, head))
}

fn encoder(
    config: &ModernBertConfig,
    source: &mut dyn WeightSource,
) -> Result<Encoder<LinearWeights>, Error> {
    let (hidden, wide, epsilon) = (config.hidden_size, config.intermediate_size, config.norm_eps);
    let activation = bert::activation(&config.hidden_activation, &source.path())?;
    let mut weights = Weights::encoder(source, "model.", "embeddings.tok_embeddings.weight");
    let words = weights.get("embeddings.tok_embeddings.weight", &[config.vocab_size, hidden])?;
    let embeddings = Embeddings {
        words: Table::new(words),
        positions: None,
        segments: None,
        norm: weights.norm("embeddings.norm", hidden, epsilon, config.norm_bias)?,
    };
    let [full, sliding] = [Sight::Full, Sight::Sliding].map(|sight| Arc::new(config.rotary(sight)));
    let layer = |index: usize| {
        let at = |part: &str| format!("layers.{index}.{part}");
        let (rotary, window) = match config.sight(index) {
            Sight::Full => (&full, None),
            Sight::Sliding => (&sliding, Some(config.local_attention / 2)),
        };
        let plain = Attention::plain(config.num_attention_heads, config.head_dim());
        // The embeddings' normalization does for the first layer.
        let attention_norm = (index > 0)
            .then(|| weights.norm(&at("attn_norm"), hidden, epsilon, config.norm_bias))
            .transpose()?;
        Ok(Layer {
            order: Order::Before,
            qkv: weights.linear(&at("attn.Wqkv"), hidden, 3 * hidden, config.attention_bias)?,
            attention: Attention { rotary: Some(rotary.clone()), window, ..plain },
            attention_out: weights.linear(&at("attn.Wo"), hidden, hidden, config.attention_bias)?,
            attention_norm,
            up: weights.linear(&at("mlp.Wi"), hidden, 2 * wide, config.mlp_bias)?,
            activation,
            gated: true,
            down: weights.linear(&at("mlp.Wo"), wide, hidden, config.mlp_bias)?,
            norm: weights.norm(&at("mlp_norm"), hidden, epsilon, config.norm_bias)?,
        })
    };
    let layers = (0..config.num_hidden_layers).map(layer).collect::<Result<_, Error>>()?;
    let norm = Some(weights.norm("final_norm", hidden, epsilon, config.norm_bias)?);
    Ok(Encoder { embeddings, layers, convolution: None, norm, hidden })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config(changes: &Value) -> ModernBertConfig {
        let mut config = json!({
            "vocab_size": 8, "hidden_size": 32, "num_hidden_layers": 7, "num_attention_heads": 4,
            "intermediate_size": 64, "hidden_activation": "gelu", "max_position_embeddings": 16, "norm_eps": 1e-5,
            "local_attention": 8,
        });
        for (key, value) in changes.as_object().unwrap() {
            config[key] = value.clone();
        }
        serde_json::from_value(config).unwrap()
    }

    #[test]
    fn layers_alternate_as_either_spelling_says() {
        let sights = |config: &ModernBertConfig| (0..7).map(|layer| config.sight(layer)).collect::<Vec<_>>();
        let (full, sliding) = (Sight::Full, Sight::Sliding);
        let older = config(&json!({"global_attn_every_n_layers": 3}));
        assert_eq!(sights(&older), [full, sliding, sliding, full, sliding, sliding, full]);
        let mut types = vec!["sliding_attention"; 7];
        types[6] = "full_attention";
        let newer = config(&json!({"layer_types": types}));
        assert_eq!(sights(&newer), [sliding, sliding, sliding, sliding, sliding, sliding, full]);
    }

    #[test]
    fn what_would_be_computed_wrongly_is_refused() {
        let check = |changes: Value| config(&changes).check(Path::new("m")).unwrap_err().to_string();
        assert!(check(json!({"rope_scaling": {"type": "linear", "factor": 2.0}})).contains("rope_scaling"));
        let yarn = json!({"rope_parameters": {"full_attention": {"rope_type": "yarn", "rope_theta": 1e4}}});
        assert!(check(yarn).contains("rope_type"));
        assert!(check(json!({"layer_types": ["full_attention"]})).contains("layer_types"));
        assert!(check(json!({"num_attention_heads": 32})).contains("even width"));
    }
}

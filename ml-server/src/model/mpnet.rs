//! MPNet (<https://arxiv.org/abs/2004.09297>): BERT without segments, with positions and head like RoBERTa's, and scores by
//! distance that all layers share.

use std::sync::Arc;

use serde::Deserialize;

use super::attention::Attention;
use super::bert::{self, BertConfig, LayerNames};
use super::bias::{BUCKETS, DistanceBias};
use super::encoder::{Embeddings, Encoder, PositionCount, Positions, Table};
use super::head::Head;
use super::roberta::{self, PADDING};
use super::spec::ModelSpec;
use super::weights::{LinearWeights, WeightSource, Weights};
use crate::error::Error;

const LAYER: LayerNames = LayerNames {
    projections: ["attention.attn.q", "attention.attn.k", "attention.attn.v"],
    output: "attention.attn.o",
    norm: "attention.LayerNorm",
};

/// The fields of an MPNet `config.json` that change the computation.
#[derive(Debug, Deserialize)]
struct MpnetConfig {
    /// The part shared with BERT. It counts positions from [`PADDING`] regardless of `pad_token_id`.
    #[serde(flatten)]
    base: BertConfig,
    #[serde(default = "buckets")]
    relative_attention_num_buckets: usize,
}

const fn buckets() -> usize {
    BUCKETS
}

/// Reads an MPNet.
///
/// # Errors
/// As for [`bert::build`].
pub fn build(
    spec: &ModelSpec,
    source: &mut dyn WeightSource,
) -> Result<(Encoder<LinearWeights>, Head<LinearWeights>), Error> {
    let path = source.path();
    let config: MpnetConfig = spec.read_config(&path)?;
    config.base.check(&path)?;
    if config.relative_attention_num_buckets != BUCKETS {
        let found = config.relative_attention_num_buckets;
        let reason = format!("`relative_attention_num_buckets` is {found}; only {BUCKETS} are supported");
        return Err(Error::malformed(&path, reason));
    }
    Ok((encoder(&config.base, source)?, roberta::head(&spec.task, config.base.hidden_size, source)?))
}

fn encoder(config: &BertConfig, source: &mut dyn WeightSource) -> Result<Encoder<LinearWeights>, Error> {
    let (hidden, heads) = (config.hidden_size, config.num_attention_heads);
    let mut weights = Weights::encoder(source, "mpnet.", "embeddings.word_embeddings.weight");
    let mut table = |name: &str, rows: usize| -> Result<Table, Error> {
        Ok(Table::new(weights.get(&format!("embeddings.{name}_embeddings.weight"), &[rows, hidden])?))
    };
    let words = table("word", config.vocab_size)?;
    let count = PositionCount::AfterPadding(PADDING);
    let positions = Positions { table: table("position", config.max_position_embeddings)?, count };
    let norm = weights.norm("embeddings.LayerNorm", hidden, config.layer_norm_eps, true)?;
    let embeddings = Embeddings { words, positions: Some(positions), segments: None, norm };
    let bias = weights.get("encoder.relative_attention_bias.weight", &[BUCKETS, heads])?.into_f32();
    let bias = Arc::new(DistanceBias::new(&bias, heads, config.max_position_embeddings.max(1)));
    let layers = bert::layers(config, LAYER, &mut weights, |_, _| {
        let plain = Attention::plain(heads, config.head_dim());
        Ok(Attention { bias: Some(Arc::clone(&bias)), ..plain })
    })?;
    Ok(Encoder { embeddings, layers, convolution: None, norm: None, hidden })
}

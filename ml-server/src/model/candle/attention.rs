//! Multi-head self-attention, all heads of a group of sequences at a time.

use candle_core::{DType, Result, Tensor};
use candle_nn::ops::softmax_last_dim;

use super::device::Device;
use super::layout::{Block, Group, Sight};
use crate::model::attention::Attention as Plain;
use crate::model::relative::Relative;

/// The heads of a layer, with their tables on the device.
pub(super) struct Attention {
    pub(super) sight: Sight,
    pub(super) heads: usize,
    head_dim: usize,
    scale: f64,
    dtype: DType,
    /// Cosines and sines, `[positions, head_dim / 2]`.
    rotary: Option<[Tensor; 2]>,
    /// Keys of distances, `[heads, rows, head_dim]`.
    distant_keys: Option<Tensor>,
    /// Queries of distances, of the same shape.
    distant_queries: Option<Tensor>,
    /// `[heads, distances]`
    bias: Option<Tensor>,
}

impl Attention {
    pub(super) fn upload(device: &Device, plain: &Plain) -> Result<Self> {
        let (heads, head_dim) = (plain.heads, plain.head_dim);
        let rotary = plain.rotary.as_ref().map(|rotary| {
            let (cos, sin) = rotary.tables();
            let half = head_dim / 2;
            let table = |values: &[f32]| device.floats(values.to_vec(), &[values.len() / half, half]);
            Ok::<_, candle_core::Error>([table(cos)?, table(sin)?])
        });
        let distances = |values: Option<&Vec<f32>>| {
            let table = |values: &Vec<f32>| {
                let rows = values.len() / (heads * head_dim);
                device.weights(values.clone(), &[rows, heads, head_dim])?.transpose(0, 1)?.contiguous()
            };
            values.map(table).transpose()
        };
        let relative = plain.relative.as_ref();
        let terms = 1 + relative.map_or(0, Relative::terms);
        let bias = plain.bias.as_ref().map(|bias| {
            let values = bias.by_distance();
            device.floats(values.to_vec(), &[heads, values.len() / heads])
        });
        Ok(Self {
            sight: Sight::of(plain),
            heads,
            head_dim,
            scale: 1.0 / ((head_dim * terms) as f64).sqrt(),
            dtype: device.dtype(),
            rotary: rotary.transpose()?,
            distant_keys: distances(relative.and_then(|relative| relative.keys.as_ref()))?,
            distant_queries: distances(relative.and_then(|relative| relative.queries.as_ref()))?,
            bias: bias.transpose()?,
        })
    }

    /// The context of every token, `[tokens, width]`. `qkv` is `[tokens, 3 · width]` with queries, keys and values side by
    /// side; there are `blocks` for each of `groups`; `places` says where a token is among their rows.
    pub(super) fn apply(
        &self,
        qkv: &Tensor,
        groups: &[Group],
        blocks: &[Vec<Block>],
        places: &Tensor,
    ) -> Result<Tensor> {
        let contexts = groups.iter().zip(blocks).map(|(group, blocks)| self.group(qkv, group, blocks));
        let contexts: Vec<Tensor> = contexts.collect::<Result<_>>()?;
        Tensor::cat(&contexts, 0)?.index_select(places, 0)
    }

    /// `[count · longest, width]`
    fn group(&self, qkv: &Tensor, group: &Group, blocks: &[Block]) -> Result<Tensor> {
        let Group { count, longest, .. } = *group;
        let (heads, size) = (self.heads, self.head_dim);
        // Heads first: tables of distances are one for each head.
        let parts = qkv
            .index_select(&group.rows, 0)?
            .reshape((count, longest, 3, heads, size))?
            .permute((2, 3, 0, 1, 4))?
            .contiguous()?;
        let part = |index: usize| parts.get(index)?.reshape((heads * count, longest, size));
        let (queries, keys, values) = (self.turn(part(0)?)?, self.turn(part(1)?)?, part(2)?);
        let [queries, keys, values] = [queries, keys, values].map(|part| part.to_dtype(self.dtype));
        let (queries, keys, values) = (queries?, keys?, values?);
        let contexts = blocks.iter().map(|block| {
            let some = |part: &Tensor, range: &std::ops::Range<usize>| {
                part.narrow(1, range.start, range.len())?.contiguous()
            };
            let queries = some(&queries, &block.queries)?;
            let (keys, values) = (some(&keys, &block.keys)?, some(&values, &block.keys)?);
            let scores = self.scores(&queries, &keys, group, block)?;
            softmax_last_dim(&scores)?.to_dtype(self.dtype)?.matmul(&values)?.to_dtype(DType::F32)
        });
        let contexts: Vec<Tensor> = contexts.collect::<Result<_>>()?;
        Tensor::cat(&contexts, 1)?
            .reshape((heads, count, longest, size))?
            .permute((1, 2, 0, 3))?
            .reshape((count * longest, heads * size))
    }

    /// Turns queries or keys, `[heads · count, longest, head_dim]`, by their positions.
    fn turn(&self, part: Tensor) -> Result<Tensor> {
        let Some([cos, sin]) = &self.rotary else { return Ok(part) };
        let (_, longest, size) = part.dims3()?;
        let (cos, sin) = (cos.narrow(0, 0, longest)?, sin.narrow(0, 0, longest)?);
        let first = part.narrow(2, 0, size / 2)?;
        let second = part.narrow(2, size / 2, size / 2)?;
        let times = |part: &Tensor, by: &Tensor| part.broadcast_mul(by);
        let turned = [
            (times(&first, &cos)? - times(&second, &sin)?)?,
            (times(&second, &cos)? + times(&first, &sin)?)?,
        ];
        Tensor::cat(&turned, 2)
    }

    /// `[heads · count, queries, keys]`
    fn scores(&self, queries: &Tensor, keys: &Tensor, group: &Group, block: &Block) -> Result<Tensor> {
        let (both, asking, _) = queries.dims3()?;
        let seen = block.keys.len();
        let mut scores = queries.matmul(&keys.transpose(1, 2)?)?.to_dtype(DType::F32)?;
        if let Some(distances) = &block.relative {
            for (content, table, at) in [
                (queries, &self.distant_keys, &distances.of_queries),
                (keys, &self.distant_queries, &distances.of_keys),
            ] {
                let Some(table) = table else { continue };
                let table = table.narrow(1, distances.rows.start, distances.rows.len())?.contiguous()?;
                let rows = content.reshape((self.heads, (), self.head_dim))?;
                let against = rows.matmul(&table.transpose(1, 2)?)?.reshape((both, ()))?;
                scores = (scores
                    + against.index_select(at, 1)?.reshape((both, asking, seen))?.to_dtype(DType::F32)?)?;
            }
        }
        scores = (scores * self.scale)?.reshape((self.heads, group.count, asking, seen))?;
        if let (Some(bias), Some(at)) = (&self.bias, &block.bias) {
            scores =
                scores.broadcast_add(&bias.index_select(at, 1)?.reshape((self.heads, 1, asking, seen))?)?;
        }
        if let Some(padding) = &group.padding {
            scores = scores.broadcast_add(&padding.narrow(3, block.keys.start, seen)?)?;
        }
        if let Some(unseen) = &block.unseen {
            scores = scores.broadcast_add(unseen)?;
        }
        scores.reshape((both, asking, seen))
    }
}

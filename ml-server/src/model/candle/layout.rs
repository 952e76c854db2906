//! How the sequences of a batch lie, end to end and in groups for attention.

use std::ops::Range;

use candle_core::{Result, Tensor};

use super::device::Device;
use crate::model::attention::Attention;
use crate::model::encoder::PositionCount;
use crate::model::relative::Buckets;
use crate::model::tokenizer::Tokens;

/// Most scores that exist at the same time, in one group.
const MOST_SCORES: usize = 1 << 24;
/// Added to the scores of tokens that are not seen: their share is 0 in f32.
pub(super) const UNSEEN: f32 = -1e30;

/// A batch on the device.
pub(super) struct Layout {
    /// `[tokens]`
    pub(super) ids: Tensor,
    /// `[tokens]`
    pub(super) positions: Tensor,
    /// `[tokens]`
    pub(super) segments: Tensor,
    /// `[tokens]`: the sequence of each.
    pub(super) sequences: Tensor,
    /// `[sequences]`: the row of the first token of each.
    pub(super) firsts: Tensor,
    /// `[sequences, 1]`: tokens of each, as floats.
    pub(super) counts: Tensor,
    /// Rows of the marks of all sequences, if there are any.
    pub(super) marks: Option<Tensor>,
    /// Sequences that attend together.
    pub(super) groups: Vec<Group>,
    /// `[tokens]`: where each row is among the padded rows of all groups.
    pub(super) places: Tensor,
    lengths: Vec<usize>,
}

/// Sequences of similar length, padded to the longest.
pub(super) struct Group {
    /// Number of sequences.
    pub(super) count: usize,
    /// Tokens of the longest.
    pub(super) longest: usize,
    /// `[count · longest]`: rows of the batch; padding is any row of the same sequence.
    pub(super) rows: Tensor,
    /// `[1, count, 1, longest]`: [`UNSEEN`] at padding, else 0; absent without padding.
    pub(super) padding: Option<Tensor>,
}

/// Which tokens a layer's queries see, and where their scores by distance are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sight {
    window: Option<usize>,
    buckets: Option<Buckets>,
    reach: Option<usize>,
}

/// Some queries of a group with the keys that they see.
pub(super) struct Block {
    pub(super) queries: Range<usize>,
    pub(super) keys: Range<usize>,
    /// `[queries, keys]`: [`UNSEEN`] beyond a query's window, else 0; absent where all is seen.
    pub(super) unseen: Option<Tensor>,
    /// Rows of the tables of distances, and where a pair's scores are against them.
    pub(super) relative: Option<Distances>,
    /// `[queries · keys]`: columns of a distance bias.
    pub(super) bias: Option<Tensor>,
}

/// Rows of distance tables that a block needs.
pub(super) struct Distances {
    pub(super) rows: Range<usize>,
    /// `[queries · keys]`, into `[queries, rows]`
    pub(super) of_queries: Tensor,
    /// `[queries · keys]`, into `[keys, rows]`
    pub(super) of_keys: Tensor,
}

impl Layout {
    pub(super) fn new(device: &Device, batch: &[&Tokens], count: PositionCount) -> Result<Self> {
        let lengths: Vec<usize> = batch.iter().map(|tokens| tokens.len()).collect();
        let starts = lengths.iter().scan(0, |next, length| {
            let start = *next;
            *next += length;
            Some(start)
        });
        let starts: Vec<usize> = starts.collect();
        let all = |of: &dyn Fn(&Tokens) -> Vec<u32>| batch.iter().flat_map(|tokens| of(tokens)).collect();
        let sequences =
            (0u32..).zip(&lengths).flat_map(|(sequence, &length)| (0..length).map(move |_| sequence));
        let marks: Vec<u32> = batch
            .iter()
            .zip(&starts)
            .flat_map(|(tokens, start)| tokens.marks.iter().map(move |mark| (start + mark) as u32))
            .collect();
        let (groups, places) = groups(device, &lengths, &starts)?;
        Ok(Self {
            ids: device.indices(all(&|tokens| tokens.ids.clone()))?,
            positions: device
                .indices(all(&|tokens| count.of(&tokens.ids).map(|position| position as u32).collect()))?,
            segments: device.indices(all(&|tokens| tokens.type_ids.clone()))?,
            sequences: device.indices(sequences.collect())?,
            firsts: device.indices(starts.iter().map(|&start| start as u32).collect())?,
            counts: device
                .floats(lengths.iter().map(|&length| length as f32).collect(), &[lengths.len(), 1])?,
            marks: (!marks.is_empty()).then(|| device.indices(marks)).transpose()?,
            groups,
            places: device.indices(places)?,
            lengths,
        })
    }

    /// `[tokens · size]`: for each token the rows of its neighborhood, and the row after the last one for what is beyond
    /// its sequence.
    pub(super) fn neighborhoods(&self, device: &Device, size: usize) -> Result<Tensor> {
        let beyond: usize = self.lengths.iter().sum();
        let reach = size / 2;
        let mut rows = Vec::with_capacity(beyond * size);
        let mut start = 0;
        for &length in &self.lengths {
            for at in (0..length).flat_map(|token| token..token + size) {
                let inside = (reach..length + reach).contains(&at);
                rows.push(if inside { start + at - reach } else { beyond } as u32);
            }
            start += length;
        }
        device.indices(rows)
    }
}

/// Groups, and the place of each token among their padded rows. A group has at most a quarter more rows than tokens.
fn groups(device: &Device, lengths: &[usize], starts: &[usize]) -> Result<(Vec<Group>, Vec<u32>)> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&sequence| std::cmp::Reverse(lengths[sequence]));
    let mut places = vec![0; lengths.iter().sum()];
    let mut groups = Vec::new();
    let mut padded = 0;
    let mut rest = order.as_slice();
    while let Some(&first) = rest.first() {
        let longest = lengths[first];
        let mut tokens = 0;
        let similar = |&(index, sequence): &(usize, &usize)| {
            tokens += lengths[*sequence];
            (index + 1) * longest * 4 <= tokens * 5
        };
        let count = rest.iter().enumerate().take_while(similar).count();
        let (members, others) = rest.split_at(count);
        rest = others;
        let mut rows = Vec::with_capacity(count * longest);
        let mut padding = Vec::with_capacity(count * longest);
        for &sequence in members {
            let (start, length) = (starts[sequence], lengths[sequence]);
            for at in 0..longest {
                rows.push((start + at.min(length - 1)) as u32);
                padding.push(if at < length { 0.0 } else { UNSEEN });
                if at < length {
                    places[start + at] = (padded + at) as u32;
                }
            }
            padded += longest;
        }
        let even = members.iter().all(|&sequence| lengths[sequence] == longest);
        let padding = (!even).then(|| device.floats(padding, &[1, count, 1, longest])).transpose()?;
        groups.push(Group { count, longest, rows: device.indices(rows)?, padding });
    }
    Ok((groups, places))
}

impl Sight {
    pub(super) fn of(attention: &Attention) -> Self {
        Self {
            window: attention.window,
            buckets: attention.relative.as_ref().map(|relative| relative.buckets),
            reach: attention.bias.as_ref().map(|bias| bias.reach()),
        }
    }

    /// Cuts the queries of a group so that the scores of `heads` heads stay within [`MOST_SCORES`].
    pub(super) fn blocks(self, device: &Device, group: &Group, heads: usize) -> Result<Vec<Block>> {
        let Group { count, longest, .. } = *group;
        let seen = self.window.map_or(longest, |window| longest.min(2 * window + 1));
        let step = (MOST_SCORES / (heads * count * seen)).clamp(1, longest);
        (0..longest)
            .step_by(step)
            .map(|first| self.block(device, first..longest.min(first + step), longest))
            .collect()
    }

    fn block(self, device: &Device, queries: Range<usize>, longest: usize) -> Result<Block> {
        let keys = self.window.map_or(0..longest, |window| {
            queries.start.saturating_sub(window)..longest.min(queries.end + window)
        });
        let pairs = || queries.clone().flat_map(|query| keys.clone().map(move |key| (query, key)));
        let hidden = |window: usize| {
            pairs().map(|(query, key)| if query.abs_diff(key) > window { UNSEEN } else { 0.0 }).collect()
        };
        let unseen = self.window.filter(|&window| longest > window + 1);
        let unseen =
            unseen.map(|window| device.floats(hidden(window), &[queries.len(), keys.len()])).transpose()?;
        let relative = self.buckets.map(|buckets| {
            // Buckets grow with the distance.
            let of = |query: usize, key: usize| buckets.row(query.cast_signed() - key.cast_signed());
            let first = of(queries.start, keys.end - 1);
            let rows = first..of(queries.end - 1, keys.start) + 1;
            let at =
                |row: usize, (query, key): (usize, usize)| (row * rows.len() + of(query, key) - first) as u32;
            let of_queries = pairs().map(|pair| at(pair.0 - queries.start, pair)).collect();
            let of_keys = pairs().map(|pair| at(pair.1 - keys.start, pair)).collect();
            Ok::<_, candle_core::Error>(Distances {
                of_queries: device.indices(of_queries)?,
                of_keys: device.indices(of_keys)?,
                rows,
            })
        });
        let bias = self.reach.map(|reach| {
            device.indices(pairs().map(|(query, key)| (key + reach - 1 - query) as u32).collect())
        });
        Ok(Block { unseen, relative: relative.transpose()?, bias: bias.transpose()?, queries, keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_has_a_place() {
        let lengths = [3, 40, 1, 38, 3, 100];
        let starts = [0, 3, 43, 44, 82, 85];
        let (groups, places) = groups(&Device::cpu(), &lengths, &starts).unwrap();
        let shapes: Vec<_> = groups.iter().map(|group| (group.count, group.longest)).collect();
        assert_eq!(shapes, [(1, 100), (2, 40), (2, 3), (1, 1)]);
        let rows: Vec<u32> = groups.iter().flat_map(|group| group.rows.to_vec1::<u32>().unwrap()).collect();
        for (row, place) in places.iter().enumerate() {
            assert_eq!(rows[*place as usize] as usize, row);
        }
        assert!(groups[0].padding.is_none());
        let padding = groups[1].padding.as_ref().unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap();
        assert_eq!(padding.iter().filter(|&&value| value == UNSEEN).count(), 2);
    }

    #[test]
    fn neighborhoods_end_with_their_sequence() {
        let tokens =
            |length: usize| Tokens { ids: vec![0; length], type_ids: vec![0; length], marks: Vec::new() };
        let batch = [tokens(2), tokens(1)];
        let batch: Vec<_> = batch.iter().collect();
        let layout = Layout::new(&Device::cpu(), &batch, PositionCount::FromZero).unwrap();
        let rows = layout.neighborhoods(&Device::cpu(), 3).unwrap().to_vec1::<u32>().unwrap();
        assert_eq!(rows, [3, 0, 1, 0, 1, 3, 3, 2, 3]);
    }
}

//! Scores by distance that are the same for all texts (<https://arxiv.org/abs/1910.10683> section 2.1).

/// Rows of the table that models learn: half for each direction.
pub const BUCKETS: usize = 32;
/// Distance from which on all are in the last bucket.
const FARTHEST: f32 = 128.0;

/// The bias that each head adds to the score of a query and a key by their distance. All layers share it.
pub struct DistanceBias {
    /// `[heads, 2 · reach − 1]`: from the farthest key before the query to the farthest after it.
    by_distance: Vec<f32>,
    reach: usize,
}

impl DistanceBias {
    /// Lays out a `table` of shape `[BUCKETS, heads]` for texts of up to `reach` tokens, at least 1.
    pub fn new(table: &[f32], heads: usize, reach: usize) -> Self {
        let most = reach.cast_signed() - 1;
        let of = |head: usize| (-most..=most).map(move |distance| table[bucket(distance) * heads + head]);
        Self { by_distance: (0..heads).flat_map(of).collect(), reach }
    }

    /// Longest text in tokens.
    #[cfg(any(feature = "cuda", feature = "candle"))]
    pub(super) fn reach(&self) -> usize {
        self.reach
    }

    /// `[heads, 2 · reach − 1]`: from the farthest key before the query to the farthest after it.
    #[cfg(any(feature = "cuda", feature = "candle"))]
    pub(super) fn by_distance(&self) -> &[f32] {
        &self.by_distance
    }

    /// Adds the scores of `query` against the keys from `first_key` on to `row`. All of them are below the reach.
    pub fn add_to(&self, head: usize, query: usize, first_key: usize, row: &mut [f32]) {
        let span = 2 * self.reach - 1;
        let first = first_key + self.reach - 1 - query;
        let bias = &self.by_distance[head * span..][first..first + row.len()];
        row.iter_mut().zip(bias).for_each(|(score, bias)| *score += bias);
    }
}

/// Bucket of the distance from a query to a key, positive when the key comes later.
///
/// With m the half of a direction's buckets, distances below m count one by one, and d beyond that is in
/// m + ⌊ln(d / m) / ln(128 / m) · m⌋, computed in f32 as when the models were trained.
fn bucket(distance: isize) -> usize {
    const ONE_WAY: usize = BUCKETS / 2;
    const EXACT: usize = ONE_WAY / 2;
    let later = if distance > 0 { ONE_WAY } else { 0 };
    let size = distance.unsigned_abs();
    if size < EXACT {
        return later + size;
    }
    let exact = EXACT as f32;
    let steps = (size as f32 / exact).ln() / (FARTHEST / exact).ln() * exact;
    later + (EXACT + steps as usize).min(ONE_WAY - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_transformers() {
        // The first distance of each bucket, as `MPNetEncoder.relative_position_bucket` has them.
        let first = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91, 700];
        for (bucket_number, range) in first.windows(2).enumerate() {
            for distance in range[0]..range[1] {
                assert_eq!(bucket(-distance), bucket_number, "{distance} back");
                assert_eq!(
                    bucket(distance),
                    if distance == 0 { 0 } else { 16 + bucket_number },
                    "{distance}"
                );
            }
        }
    }

    #[test]
    fn every_query_meets_its_own_distances() {
        let (heads, reach) = (3, 40);
        let table: Vec<f32> = (0..BUCKETS * heads).map(|at| at as f32).collect();
        let bias = DistanceBias::new(&table, heads, reach);
        for (head, query, first_key, keys) in [(0, 0, 0, 40), (2, 39, 0, 40), (1, 20, 17, 9), (1, 0, 39, 1)] {
            let mut row = vec![0.5; keys];
            bias.add_to(head, query, first_key, &mut row);
            for (key, got) in (first_key..).zip(row) {
                let at = bucket(key.cast_signed() - query.cast_signed()) * heads + head;
                assert!((got - 0.5 - table[at]).abs() < 1e-6, "{query}, {key}: {got}");
            }
        }
    }
}

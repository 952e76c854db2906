//! Disentangled attention: scores from the distance between tokens, next to those from their content.

use super::ops::{Strided, product};

/// Distances to rows of the relative tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buckets {
    /// Rows per direction: the tables have twice as many.
    pub span: usize,
    /// One more than the distance in the last bucket; `None` where distances are not bucketed but only cut off.
    pub longest: Option<usize>,
}

impl Buckets {
    /// Row for the distance from key to query.
    ///
    /// Up to half the span, m, distances count one by one. Beyond that d is in
    /// ⌈ln(d / m) / ln((longest − 1) / m) · (m − 1)⌉ + m, computed in f32 as when the models were trained.
    pub fn row(self, distance: isize) -> usize {
        let span = self.span.cast_signed();
        let middle = span / 2;
        let bucket = match self.longest {
            Some(longest) if distance.abs() > middle => {
                let farthest = (longest - 1) as f32 / middle as f32;
                let steps = (distance.abs() as f32 / middle as f32).ln() / farthest.ln();
                ((steps * (middle - 1) as f32).ceil() as isize + middle) * distance.signum()
            }
            _ => distance,
        };
        (bucket + span).clamp(0, 2 * span - 1) as usize
    }
}

/// The relative part of one attention layer (<https://arxiv.org/abs/2006.03654> eq. 4). Its tables are projected when the
/// model is loaded; either is absent where the model was trained without that term.
pub struct Relative {
    /// Distances to rows.
    pub buckets: Buckets,
    /// Keys of distances, `[2 · span, width]`, for content to position.
    pub keys: Option<Vec<f32>>,
    /// Queries of distances, `[2 · span, width]`, for position to content.
    pub queries: Option<Vec<f32>>,
}

/// Scores of one head against distances, for one sequence.
#[derive(Default)]
pub struct RelativeScores {
    /// Rows of the tables, by distance + length − 1, less the first row.
    rows: Vec<usize>,
    /// Number of rows that this length reaches.
    reach: usize,
    /// `[length, reach]`, of queries; empty without the term.
    content: Vec<f32>,
    /// `[length, reach]`, of keys; empty without the term.
    position: Vec<f32>,
}

impl Relative {
    /// Number of terms besides content-to-content, for scaling the scores.
    pub fn terms(&self) -> usize {
        usize::from(self.keys.is_some()) + usize::from(self.queries.is_some())
    }

    /// Fills `scores` for the head whose `queries` and `keys` (`[length, head_dim]`) start at `column` of the layer's
    /// `width`. Everything is multiplied by `scale`.
    pub fn score(
        &self,
        [queries, keys]: [Strided; 2],
        column: usize,
        width: usize,
        scale: f32,
        scores: &mut RelativeScores,
    ) {
        let length = queries.shape[0];
        let most = length.cast_signed() - 1;
        // Buckets grow with the distance, so a short sequence needs only the middle of the tables.
        let first = self.buckets.row(-most);
        scores.rows.clear();
        scores.rows.extend((-most..=most).map(|distance| self.buckets.row(distance) - first));
        scores.reach = self.buckets.row(most) - first + 1;
        let against = |content: Strided, table: Option<&Vec<f32>>, out: &mut Vec<f32>| {
            let Some(table) = table else { return };
            out.resize(length * scores.reach, 0.0);
            let table = Strided {
                data: &table[first * width + column..],
                shape: [content.shape[1], scores.reach],
                strides: [1, width],
            };
            product(content, table, scale, out);
        };
        against(queries, self.keys.as_ref(), &mut scores.content);
        against(keys, self.queries.as_ref(), &mut scores.position);
    }
}

impl RelativeScores {
    /// Adds the scores of `query` against the keys from `first_key` on to `row`.
    pub fn add_to(&self, query: usize, first_key: usize, row: &mut [f32]) {
        // The distance query − key is at query − key + length − 1, and there are 2 · length − 1 distances.
        let end = query + self.rows.len().div_ceil(2) - first_key;
        let rows = self.rows[end - row.len()..end].iter().rev();
        if !self.content.is_empty() {
            let content = &self.content[query * self.reach..(query + 1) * self.reach];
            row.iter_mut().zip(rows.clone()).for_each(|(score, &at)| *score += content[at]);
        }
        let keys = self.position.chunks_exact(self.reach).skip(first_key);
        for ((score, &at), position) in row.iter_mut().zip(rows).zip(keys) {
            *score += position[at];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_distances_count_and_far_ones_are_logarithmic() {
        let check = |span, longest, distance, row| {
            let buckets = Buckets { span, longest };
            assert_eq!(buckets.row(distance), row, "{distance} of {buckets:?}");
        };
        // ⌈ln(d / 16) / ln(511 / 16) · 15⌉ + 16, and 32 is the row of distance 0.
        for (distance, row) in [
            (0, 32),
            (1, 33),
            (-1, 31),
            (16, 48),
            (-16, 16),
            // ln(17 / 16) / 3.4638 · 15 = 0.26
            (17, 49),
            (-17, 15),
            // ln(100 / 16) / 3.4638 · 15 = 7.94
            (100, 56),
            (-100, 8),
            (511, 63),
            (-511, 1),
            (5_000, 63),
            (-5_000, 0),
        ] {
            check(32, Some(512), distance, row);
        }
        // The published models: ⌈ln(200 / 128) / ln(511 / 128) · 127⌉ + 128 = 169
        check(256, Some(512), 200, 425);
        check(256, Some(512), -511, 1);
        check(8, None, 7, 15);
        check(8, None, 20, 15);
        check(8, None, -20, 0);
    }

    #[test]
    fn scores_follow_the_formula() {
        let (width, head, column, length, scale) = (6, 3, 3, 20, 0.5);
        let values = |count: usize, step: usize| -> Vec<f32> {
            (0..count).map(|i| (i * step % 23) as f32 / 10.0 - 1.1).collect()
        };
        let relative = Relative {
            buckets: Buckets { span: 4, longest: Some(16) },
            keys: Some(values(8 * width, 7)),
            queries: Some(values(8 * width, 5)),
        };
        assert_eq!(relative.terms(), 2);
        let content = [values(length * width, 3), values(length * width, 11)];
        let view = |data| Strided { data, shape: [length, head], strides: [width, 1] };
        let views = [view(&content[0][column..]), view(&content[1][column..])];
        let mut scores = RelativeScores::default();
        relative.score(views, column, width, scale, &mut scores);
        let dot = |a: &[f32], at: usize, b: &[f32], row: usize| -> f32 {
            (column..column + head).map(|c| a[at * width + c] * b[row * width + c]).sum()
        };
        for query in 0..length {
            let mut row = vec![1.0; length];
            scores.add_to(query, 0, &mut row);
            for (key, got) in row.into_iter().enumerate() {
                let at = relative.buckets.row(query.cast_signed() - key.cast_signed());
                let content_to_position = dot(&content[0], query, relative.keys.as_ref().unwrap(), at);
                let position_to_content = dot(&content[1], key, relative.queries.as_ref().unwrap(), at);
                let want = 1.0 + scale * (content_to_position + position_to_content);
                assert!((got - want).abs() < 1e-4, "{query}, {key}: {got} vs {want}");
            }
        }
    }
}

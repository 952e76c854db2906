//! What the GPU needs to know about a batch: integers, computed here and sent in one copy.

use super::memory::Address;
use crate::model::encoder::PositionCount;
use crate::model::tokenizer::Tokens;

/// Products run over a multiple of this many rows: fewer different shapes, for which cuBLASLt chooses once. What lies in the
/// rows behind the last token is never read by anything else.
pub(super) const ROW_STEP: usize = 64;

/// Most integers per token: its id, its place, its segment, the tokens before and after it; at worst one sequence (2) and one
/// tile (3). Marks are on tokens after a sequence's first, which have neither.
pub(super) const NUMBERS_PER_TOKEN: usize = 10;

/// Concatenated sequences.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// All of the arrays below, one after the other.
    pub(super) numbers: Vec<i32>,
    /// Tokens of all sequences.
    pub(super) rows: usize,
    /// The same, rounded up to a multiple of [`ROW_STEP`].
    pub(super) padded_rows: usize,
    /// Number of sequences.
    pub(super) sequences: usize,
    /// Tiles of queries.
    pub(super) tiles: usize,
    /// Marks of all sequences.
    pub(super) marks: usize,
    /// Tokens of the longest sequence.
    pub(super) longest: usize,
}

/// Where the arrays of a [`Layout`] are on the GPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrays {
    /// Row of the word table, for each token.
    pub(super) ids: Address,
    /// Row of the position table.
    pub(super) places: Address,
    /// Row of the segment table.
    pub(super) types: Address,
    /// Tokens of the same sequence before it.
    pub(super) before: Address,
    /// Tokens of the same sequence after it.
    pub(super) after: Address,
    /// First token and number of tokens of each sequence.
    pub(super) spans: Address,
    /// First token of the sequence, its number of tokens, and the first query, for each tile of queries.
    pub(super) tiles: Address,
    /// Row of each mark.
    pub(super) marks: Address,
}

impl Layout {
    /// Lays out `batch`, with tiles of `tile` queries.
    pub(super) fn of(batch: &[&Tokens], count: PositionCount, tile: usize) -> Self {
        let rows: usize = batch.iter().map(|tokens| tokens.len()).sum();
        let mut numbers = Vec::with_capacity(rows * 5 + batch.len() * 5);
        numbers.extend(batch.iter().flat_map(|tokens| &tokens.ids).map(|&id| id.cast_signed()));
        numbers.extend(batch.iter().flat_map(|tokens| count.of(&tokens.ids)).map(|place| place as i32));
        numbers.extend(batch.iter().flat_map(|tokens| &tokens.type_ids).map(|&id| id.cast_signed()));
        numbers.extend(batch.iter().flat_map(|tokens| 0..tokens.len() as i32));
        numbers.extend(batch.iter().flat_map(|tokens| (0..tokens.len() as i32).rev()));
        let starts = batch.iter().scan(0, |next, tokens| {
            let start = *next;
            *next += tokens.len();
            Some((start, tokens.len()))
        });
        let spans: Vec<(usize, usize)> = starts.collect();
        numbers.extend(spans.iter().flat_map(|&(start, length)| [start as i32, length as i32]));
        let before = numbers.len();
        for &(start, length) in &spans {
            for query in (0..length).step_by(tile) {
                numbers.extend([start as i32, length as i32, query as i32]);
            }
        }
        let tiles = (numbers.len() - before) / 3;
        let before = numbers.len();
        for (tokens, (start, _)) in batch.iter().zip(&spans) {
            numbers.extend(tokens.marks.iter().map(|mark| (start + mark) as i32));
        }
        Self {
            rows,
            padded_rows: rows.next_multiple_of(ROW_STEP),
            sequences: batch.len(),
            tiles,
            marks: numbers.len() - before,
            longest: batch.iter().map(|tokens| tokens.len()).max().unwrap_or_default(),
            numbers,
        }
    }

    /// Vectors that heads read: one per sequence and mark.
    pub(super) fn results(&self) -> usize {
        self.sequences + self.marks
    }

    /// The arrays, with the numbers at `base`.
    pub(super) fn arrays(&self, base: Address) -> Arrays {
        let at = |numbers: usize| base + (numbers * size_of::<i32>()) as Address;
        let tiles = 5 * self.rows + 2 * self.sequences;
        Arrays {
            ids: at(0),
            places: at(self.rows),
            types: at(2 * self.rows),
            before: at(3 * self.rows),
            after: at(4 * self.rows),
            spans: at(5 * self.rows),
            tiles: at(tiles),
            marks: at(tiles + 3 * self.tiles),
        }
    }
}

/// Cuts a batch into passes of at most `tokens` tokens and `sequences` sequences. A longer sequence is a pass of its own.
pub(super) fn passes<'a, 'b>(
    mut batch: &'b [&'a Tokens],
    tokens: usize,
    sequences: usize,
) -> Vec<&'b [&'a Tokens]> {
    let mut passes = Vec::new();
    while !batch.is_empty() {
        let mut sum = 0;
        let fitting = batch.iter().take(sequences).take_while(|input| {
            sum += input.len();
            sum <= tokens
        });
        let (pass, rest) = batch.split_at(fitting.count().max(1));
        passes.push(pass);
        batch = rest;
    }
    passes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(ids: &[u32]) -> Tokens {
        Tokens { ids: ids.to_vec(), type_ids: ids.iter().map(|id| id % 2).collect(), marks: Vec::new() }
    }

    #[test]
    fn numbers_lie_as_the_arrays_say() {
        let mut batch = [tokens(&[7, 1, 8]), tokens(&[9]), tokens(&[4, 5, 6, 4, 5])];
        (batch[0].marks, batch[2].marks) = (vec![2], vec![1, 4]);
        let layout = Layout::of(&batch.iter().collect::<Vec<_>>(), PositionCount::AfterPadding(1), 2);
        assert_eq!((layout.rows, layout.padded_rows, layout.sequences, layout.tiles), (9, 64, 3, 6));
        assert_eq!((layout.longest, layout.marks, layout.results()), (5, 3, 6));
        let arrays = layout.arrays(1_000);
        let array = |at: Address, length: usize| {
            let first = (at - 1_000) as usize / 4;
            &layout.numbers[first..first + length]
        };
        assert_eq!(array(arrays.ids, 9), [7, 1, 8, 9, 4, 5, 6, 4, 5]);
        assert_eq!(array(arrays.places, 9), [2, 1, 3, 2, 2, 3, 4, 5, 6]);
        assert_eq!(array(arrays.types, 9), [1, 1, 0, 1, 0, 1, 0, 0, 1]);
        assert_eq!(array(arrays.before, 9), [0, 1, 2, 0, 0, 1, 2, 3, 4]);
        assert_eq!(array(arrays.after, 9), [2, 1, 0, 0, 4, 3, 2, 1, 0]);
        assert_eq!(array(arrays.spans, 6), [0, 3, 3, 1, 4, 5]);
        let tiles = [[0, 3, 0], [0, 3, 2], [3, 1, 0], [4, 5, 0], [4, 5, 2], [4, 5, 4]];
        assert_eq!(array(arrays.tiles, 18), tiles.concat());
        assert_eq!(array(arrays.marks, 3), [2, 5, 8]);
        assert_eq!(layout.numbers.len(), 5 * 9 + 6 + 18 + 3);
    }

    proptest! {
        #[test]
        fn any_batch_fits_into_the_staging_buffer(lengths in prop::collection::vec(1usize..300, 1..20), tile in 16usize..200) {
            let marked = |&length: &usize| Tokens { marks: (1..length).collect(), ..tokens(&vec![3; length]) };
            let inputs: Vec<Tokens> = lengths.iter().map(marked).collect();
            let layout = Layout::of(&inputs.iter().collect::<Vec<_>>(), PositionCount::FromZero, tile);
            prop_assert!(layout.numbers.len() <= NUMBERS_PER_TOKEN * layout.rows);
            prop_assert_eq!(layout.rows, lengths.iter().sum::<usize>());
            let queries: usize = lengths.iter().map(|length| length.div_ceil(tile)).sum();
            prop_assert_eq!(layout.tiles, queries);
            prop_assert_eq!(layout.results(), layout.rows);
        }

        #[test]
        fn passes_keep_order_and_limits(lengths in prop::collection::vec(1usize..50, 0..40), limit in 1usize..80) {
            let inputs: Vec<Tokens> = lengths.iter().map(|&length| tokens(&vec![3; length])).collect();
            let batch: Vec<&Tokens> = inputs.iter().collect();
            let passes = passes(&batch, limit, 7);
            let order: Vec<usize> = passes.iter().flat_map(|pass| pass.iter().map(|input| input.len())).collect();
            prop_assert_eq!(order, lengths);
            for pass in passes {
                let sum: usize = pass.iter().map(|input| input.len()).sum();
                prop_assert!(pass.len() == 1 || (sum <= limit && pass.len() <= 7));
            }
        }
    }
}

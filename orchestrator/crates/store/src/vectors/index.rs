//! Vectors in memory, and the scan over them. Pure.
//!
//! Rows are stored in shared blocks: a search holds a snapshot while others append. Up to a number of rows, blocks hold
//! the vectors themselves and the scan is exact. Beyond, they hold one byte per number (scalar quantization with a
//! scale per row), and the scan finds candidates for an exact comparison.

use lyra_domain::vector::{ByteQuery, dot, to_bytes};
use rayon::prelude::*;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Rows of a block.
const BLOCK: usize = 4_096;

/// The external id of a row: the `seq` of the claim or fragment.
pub(super) type Seq = i64;

/// A row that was found: how close it is, and which it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NearRow {
    pub(super) similarity: f32,
    pub(super) seq: Seq,
}

impl Eq for NearRow {}

impl Ord for NearRow {
    /// The better row is the lesser one, so that the top of a heap is the worst: closer, then stored earlier.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.similarity.total_cmp(&self.similarity).then(self.seq.cmp(&other.seq))
    }
}

impl PartialOrd for NearRow {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The rows in scope of a search.
#[derive(Debug, Clone, Default)]
pub(super) struct Scope {
    only: Option<Bits>,
    without: Bits,
}

impl Scope {
    /// Only these rows.
    pub(super) fn only(rows: &[Seq]) -> Self {
        Self { only: Some(Bits::of(rows)), without: Bits::default() }
    }

    /// Every row but these.
    pub(super) fn without(rows: &[Seq]) -> Self {
        Self { only: None, without: Bits::of(rows) }
    }

    fn admits(&self, seq: Seq) -> bool {
        self.only.as_ref().is_none_or(|only| only.has(seq)) && !self.without.has(seq)
    }
}

/// A set of row numbers, one bit each: they are dense.
#[derive(Debug, Clone, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn of(rows: &[Seq]) -> Self {
        let largest = rows.iter().copied().max().unwrap_or(-1);
        let mut words = vec![0_u64; usize::try_from(largest + 1).unwrap_or(0).div_ceil(64)];
        for seq in rows.iter().filter_map(|seq| usize::try_from(*seq).ok()) {
            words[seq / 64] |= 1 << (seq % 64);
        }
        Self(words)
    }

    fn has(&self, seq: Seq) -> bool {
        usize::try_from(seq)
            .is_ok_and(|seq| self.0.get(seq / 64).is_some_and(|word| word & (1 << (seq % 64)) != 0))
    }
}

/// The result of a scan.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scanned {
    /// The best rows, best first.
    pub(super) best: Vec<NearRow>,
    /// Rows compared.
    pub(super) searched: usize,
}

impl Scanned {
    pub(super) const EMPTY: Self = Self { best: Vec::new(), searched: 0 };

    /// Both together, still the best `limit`.
    pub(super) fn merge(mut self, other: Self, limit: usize) -> Self {
        self.best.extend(other.best);
        self.best.sort_unstable();
        self.best.truncate(limit);
        Self { best: self.best, searched: self.searched + other.searched }
    }
}

/// Vectors of one model, all of one dimension.
#[derive(Debug, Clone)]
pub(super) struct Index {
    dimension: usize,
    rows: usize,
    blocks: Vec<Arc<Block>>,
    quantised: bool,
}

#[derive(Debug, Clone)]
struct Block {
    seqs: Vec<Seq>,
    vectors: Vectors,
}

#[derive(Debug, Clone)]
enum Vectors {
    /// One after another.
    Exact(Vec<f32>),
    /// The same as bytes, and per row the value of one step.
    Bytes { codes: Vec<u8>, steps: Vec<f32> },
}

impl Index {
    /// Of vectors with this many numbers, at least one.
    pub(super) fn new(dimension: usize, quantised: bool) -> Self {
        Self { dimension: dimension.max(1), rows: 0, blocks: Vec::new(), quantised }
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether a scan finds candidates only.
    pub(super) fn is_quantised(&self) -> bool {
        self.quantised
    }

    /// Bytes that its rows take.
    pub(super) fn bytes(&self) -> usize {
        self.rows * row_bytes(self.dimension, self.quantised)
    }

    /// Adds a row; `vector` has [`Self::dimension`] numbers.
    pub(super) fn push(&mut self, seq: Seq, vector: &[f32]) {
        if self.rows.is_multiple_of(BLOCK) {
            self.blocks.push(Arc::new(Block::empty(self.quantised)));
        }
        if let Some(block) = self.blocks.last_mut() {
            Arc::make_mut(block).push(seq, vector);
            self.rows += 1;
        }
    }

    /// The same rows with one byte per number.
    pub(super) fn quantise(&self) -> Self {
        let blocks = self.blocks.par_iter().map(|block| Arc::new(block.quantise(self.dimension))).collect();
        Self { blocks, quantised: true, ..*self }
    }

    /// The `limit` best rows in scope whose similarity is at least `least`, over every core. Takes milliseconds: not for
    /// an async thread.
    pub(super) fn scan(&self, query: &[f32], scope: &Scope, limit: usize, least: f32) -> Scanned {
        let coarse = ByteQuery::of(query);
        self.blocks
            .par_iter()
            .map(|block| block.scan(query, &coarse, scope, limit, least))
            .reduce(|| Scanned::EMPTY, |a, b| a.merge(b, limit))
    }
}

/// Bytes of one row.
pub(super) fn row_bytes(dimension: usize, quantised: bool) -> usize {
    let numbers = if quantised { dimension + size_of::<f32>() } else { dimension * size_of::<f32>() };
    size_of::<Seq>() + numbers
}

impl Block {
    fn empty(quantised: bool) -> Self {
        let vectors = if quantised {
            Vectors::Bytes { codes: Vec::new(), steps: Vec::new() }
        } else {
            Vectors::Exact(Vec::new())
        };
        Self { seqs: Vec::new(), vectors }
    }

    fn push(&mut self, seq: Seq, vector: &[f32]) {
        if self.seqs.is_empty() {
            // One allocation per block, of the size that it will have.
            self.seqs.reserve_exact(BLOCK);
            match &mut self.vectors {
                Vectors::Exact(numbers) => numbers.reserve_exact(BLOCK * vector.len()),
                Vectors::Bytes { codes, steps } => {
                    codes.reserve_exact(BLOCK * vector.len());
                    steps.reserve_exact(BLOCK);
                }
            }
        }
        self.seqs.push(seq);
        match &mut self.vectors {
            Vectors::Exact(numbers) => numbers.extend_from_slice(vector),
            Vectors::Bytes { codes, steps } => {
                steps.push(to_bytes(vector, codes));
            }
        }
    }

    fn quantise(&self, dimension: usize) -> Self {
        let Vectors::Exact(numbers) = &self.vectors else { return self.clone() };
        let mut block = Self::empty(true);
        for (seq, vector) in self.seqs.iter().zip(numbers.chunks_exact(dimension)) {
            block.push(*seq, vector);
        }
        block
    }

    fn scan(&self, query: &[f32], coarse: &ByteQuery, scope: &Scope, limit: usize, least: f32) -> Scanned {
        match &self.vectors {
            Vectors::Exact(numbers) => {
                let rows = numbers.chunks_exact(query.len());
                best(self.seqs.iter().copied().zip(rows), scope, limit, least, |row| dot(query, row))
            }
            Vectors::Bytes { codes, steps } => {
                let rows = codes.chunks_exact(query.len()).zip(steps);
                best(self.seqs.iter().copied().zip(rows), scope, limit, least, |(row, step)| {
                    coarse.dot(row, *step)
                })
            }
        }
    }
}

/// The best of these rows by `similarity`.
fn best<T>(
    rows: impl Iterator<Item = (Seq, T)>,
    scope: &Scope,
    limit: usize,
    least: f32,
    similarity: impl Fn(T) -> f32,
) -> Scanned {
    let mut heap: BinaryHeap<NearRow> = BinaryHeap::with_capacity(limit + 1);
    let mut searched = 0;
    for (seq, row) in rows.filter(|(seq, _)| scope.admits(*seq)) {
        searched += 1;
        let found = NearRow { similarity: similarity(row), seq };
        if found.similarity >= least
            && (heap.len() < limit || heap.peek().is_some_and(|worst| found < *worst))
        {
            heap.push(found);
            if heap.len() > limit {
                heap.pop();
            }
        }
    }
    Scanned { best: heap.into_sorted_vec(), searched }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DIMENSION: usize = 24;

    fn unit(numbers: &[f32]) -> Vec<f32> {
        let length = dot(numbers, numbers).sqrt().max(1e-6);
        numbers.iter().map(|number| number / length).collect()
    }

    fn vectors(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<f32>>> {
        let vector = prop::collection::vec(-1.0_f32..1.0, DIMENSION).prop_map(|numbers| unit(&numbers));
        prop::collection::vec(vector, count)
    }

    fn index(vectors: &[Vec<f32>], quantised: bool) -> Index {
        let mut index = Index::new(DIMENSION, quantised);
        vectors.iter().enumerate().for_each(|(i, vector)| index.push(i.cast_signed() as Seq * 3, vector));
        index
    }

    proptest! {
        #[test]
        fn an_exact_scan_is_a_sort(rows in vectors(1..60), limit in 1_usize..20, least in -1.0_f32..0.5) {
            let (query, rows) = rows.split_first().unwrap();
            let rejected: Vec<Seq> = (0..rows.len().cast_signed() as Seq).step_by(4).map(|i| i * 3).collect();
            let mut plain: Vec<NearRow> = rows
                .iter()
                .enumerate()
                .filter(|(i, _)| i % 4 != 0)
                .map(|(i, row)| NearRow { similarity: dot(query, row), seq: i.cast_signed() as Seq * 3 })
                .filter(|found| found.similarity >= least)
                .collect();
            plain.sort();
            plain.truncate(limit);
            let scanned = index(rows, false).scan(query, &Scope::without(&rejected), limit, least);
            prop_assert_eq!(&scanned.best, &plain);
            prop_assert_eq!(scanned.searched, rows.len() - rejected.len());
            let kept: Vec<Seq> = (0..rows.len().cast_signed() as Seq).filter(|i| i % 4 != 0).map(|i| i * 3).collect();
            prop_assert_eq!(index(rows, false).scan(query, &Scope::only(&kept), limit, least), scanned);
        }

        #[test]
        fn bytes_are_close_to_the_numbers(rows in vectors(2..40)) {
            let (query, rows) = rows.split_first().unwrap();
            let exact = index(rows, false);
            let coarse = index(rows, true).scan(query, &Scope::default(), rows.len(), -2.0);
            for found in &coarse.best {
                let row = &rows[(found.seq / 3) as usize];
                // Half a step per number, times the query's numbers: far above what rounding adds up to.
                prop_assert!((found.similarity - dot(query, row)).abs() < 0.02);
            }
            // Rows converted to bytes later equal rows added as bytes.
            let later = exact.quantise();
            prop_assert!(later.bytes() < exact.bytes() && later.is_quantised());
            prop_assert_eq!(later.scan(query, &Scope::default(), rows.len(), -2.0), coarse);
        }
    }

    #[test]
    fn blocks_are_shared_and_all_scanned() {
        let vector = |i: usize| {
            let angle = i as f32 / 10_000.0;
            let mut numbers = vec![0.0; DIMENSION];
            (numbers[0], numbers[1]) = (angle.cos(), angle.sin());
            numbers
        };
        let mut grown = Index::new(DIMENSION, false);
        (0..BLOCK * 2 + 5).for_each(|i| grown.push(i.cast_signed() as Seq, &vector(i)));
        let before = grown.clone();
        (BLOCK * 2 + 5..=BLOCK * 3).for_each(|i| grown.push(i.cast_signed() as Seq, &vector(i)));
        let last = |index: &Index| index.scan(&vector(20_000), &Scope::default(), 2, 0.0);
        assert_eq!(
            last(&before).searched,
            BLOCK * 2 + 5,
            "what is searched does not change under the search"
        );
        assert_eq!(last(&before).best[0].seq, (BLOCK * 2 + 4).cast_signed() as Seq);
        assert_eq!(last(&grown).best[0].seq, (BLOCK * 3).cast_signed() as Seq);
        assert_eq!(last(&grown).searched, grown.rows());
        assert_eq!(grown.blocks.len(), 4);
        assert!(Arc::ptr_eq(&grown.blocks[0], &before.blocks[0]));
    }

    #[test]
    fn extremes_do_not_overflow() {
        let mut index = Index::new(4_000, true);
        index.push(1, &[1.0; 4_000]);
        index.push(2, &[-1.0; 4_000]);
        index.push(3, &[0.0; 4_000]);
        let scanned = index.scan(&[1.0; 4_000], &Scope::default(), 3, -1e9);
        let rounded: Vec<f32> = scanned.best.iter().map(|found| found.similarity.round()).collect();
        assert_eq!(rounded, [4000.0, 0.0, -4000.0]);
        assert_eq!(Index::new(4, false).scan(&[0.0; 4], &Scope::only(&[]), 3, 0.0), Scanned::EMPTY);
    }
}

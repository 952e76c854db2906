//! Dense search: one product per document, exact; in large corpora over bytes first, and exact among the candidates.

use crate::backend::FeatureScope;
use crate::corpora::{Embeddings, Opened};
use crate::{CorpusError, Result};
use lyra_domain::vector::{ByteQuery, dot};
use rayon::prelude::*;
use tantivy::DocAddress;

/// Candidates that a scan over bytes passes on to the exact comparison, at least, and per document that is wanted.
const LEAST_CANDIDATES: usize = 200;
const CANDIDATES_PER_RESULT: usize = 4;

/// The best documents among those that `accept` lets through, more than `k` when several tie for the last place.
pub(super) fn top(
    corpus: &Opened,
    scope: FeatureScope,
    vector: &[f32],
    k: usize,
    accept: impl Fn(DocAddress) -> bool + Sync,
) -> Result<Vec<(DocAddress, f64)>> {
    let embeddings = sound(corpus)?;
    if k == 0 {
        return Ok(Vec::new());
    }
    let scores = if let Some(bytes) = &embeddings.bytes {
        let query = ByteQuery::of(vector);
        let pool = LEAST_CANDIDATES.max(k.saturating_mul(CANDIDATES_PER_RESULT));
        let coarse = scan(embeddings, scope, pool, accept, |row| {
            bytes.row(row).map(|(codes, step)| query.dot(codes, step))
        });
        compared(corpus, scope, vector, coarse)?
    } else {
        scan(embeddings, scope, k, accept, |row| embeddings.numbers(row).map(|row| dot(row, vector)))
    };
    Ok(best(scores, k).into_iter().map(|(address, score)| (address, f64::from(score))).collect())
}

/// How many documents that `accept` lets through have an embedding of a scope.
pub(super) fn count(
    corpus: &Opened,
    scope: FeatureScope,
    accept: impl Fn(DocAddress) -> bool,
) -> Result<u64> {
    let parts = sound(corpus)?.parts(scope);
    let documents = parts.iter().flat_map(crate::corpora::Part::documents).filter(|(at, _)| accept(*at));
    Ok(documents.count() as u64)
}

/// The cosine of one document.
pub(super) fn cosine(corpus: &Opened, address: DocAddress, vector: &[f32]) -> Result<f64> {
    sound(corpus)?;
    let row = corpus.embedding(FeatureScope::Wide, address)?;
    Ok(row.map_or(0.0, |row| f64::from(dot(row, vector))))
}

type Scores = Vec<(DocAddress, f32)>;

/// The best `k` by what is said of their rows, and those that tie with the last; over every core.
fn scan(
    embeddings: &Embeddings,
    scope: FeatureScope,
    k: usize,
    accept: impl Fn(DocAddress) -> bool + Sync,
    score: impl Fn(u64) -> Option<f32> + Sync,
) -> Scores {
    let scored: Vec<Scores> = embeddings
        .parts(scope)
        .into_par_iter()
        .map(|part| {
            let accepted = part.documents().filter(|(address, _)| accept(*address));
            best(accepted.filter_map(|(address, row)| Some((address, score(row)?))).collect(), k)
        })
        .collect();
    best(scored.concat(), k)
}

/// Candidates with their true scores.
fn compared(corpus: &Opened, scope: FeatureScope, vector: &[f32], mut found: Scores) -> Result<Scores> {
    let embeddings = corpus.embeddings()?;
    let checksums = corpus.snapshot.checksums(scope)?;
    let mut damaged = 0;
    // In the order in which they stand in the file.
    found.sort_unstable_by_key(|(address, _)| *address);
    for (address, score) in &mut found {
        match embeddings.get(scope, *address).filter(|row| checksums.match_row(*address, row)) {
            Some(row) => *score = dot(row, vector),
            None => damaged += 1,
        }
    }
    if damaged == 0 { Ok(found) } else { Err(broken(corpus, damaged)) }
}

/// The `k` highest, and those that tie with the last.
pub(super) fn best<S: Copy + Into<f64>>(mut scores: Vec<(DocAddress, S)>, k: usize) -> Vec<(DocAddress, S)> {
    if scores.len() > k {
        let of = |(_, score): &(DocAddress, S)| -> f64 { (*score).into() };
        let (.., last, _) = scores.select_nth_unstable_by(k - 1, |a, b| of(b).total_cmp(&of(a)));
        let last = of(last);
        scores.retain(|found| of(found) >= last);
    }
    scores
}

fn sound(corpus: &Opened) -> Result<&Embeddings> {
    let embeddings = corpus.embeddings()?;
    if embeddings.damaged == 0 { Ok(embeddings) } else { Err(broken(corpus, embeddings.damaged)) }
}

fn broken(corpus: &Opened, rows: usize) -> CorpusError {
    CorpusError::Damaged { name: corpus.manifest.name.clone(), rows }
}

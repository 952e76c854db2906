//! Exact dense search: one dot product per document.

use crate::backend::FeatureScope;
use crate::corpora::{Embeddings, Opened};
use crate::{CorpusError, Result};
use lyra_domain::vector::dot;
use tantivy::DocAddress;

/// The best documents among those that `accept` lets through, more than `k` when several tie for the last place.
pub(super) fn top(
    corpus: &Opened,
    scope: FeatureScope,
    vector: &[f32],
    k: usize,
    accept: impl Fn(DocAddress) -> bool,
) -> Result<Vec<(DocAddress, f64)>> {
    let embeddings = sound(corpus)?;
    if k == 0 {
        return Ok(Vec::new());
    }
    let mut scores: Vec<(DocAddress, f32)> = embeddings
        .of_scope(scope)
        .filter(|(address, _)| accept(*address))
        .map(|(address, row)| (address, dot(row, vector)))
        .collect();
    if scores.len() > k {
        let (.., (_, last), _) = scores.select_nth_unstable_by(k - 1, |a, b| b.1.total_cmp(&a.1));
        let last = *last;
        scores.retain(|(_, score)| *score >= last);
    }
    Ok(scores.into_iter().map(|(address, score)| (address, f64::from(score))).collect())
}

/// The cosine of one document.
pub(super) fn cosine(corpus: &Opened, address: DocAddress, vector: &[f32]) -> Result<f64> {
    let row = sound(corpus)?.get(FeatureScope::Wide, address);
    Ok(row.map_or(0.0, |row| f64::from(dot(row, vector))))
}

fn sound(corpus: &Opened) -> Result<&Embeddings> {
    let embeddings = corpus.embeddings()?;
    if embeddings.damaged == 0 {
        return Ok(embeddings);
    }
    Err(CorpusError::Damaged { name: corpus.manifest.name.clone(), rows: embeddings.damaged })
}

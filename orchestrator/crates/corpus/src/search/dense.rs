//! Exact dense search: one dot product per document.

use crate::corpora::Opened;
use crate::{CorpusError, Result};
use lyra_domain::vector::dot;
use tantivy::DocAddress;

/// The best documents, more than `k` when several tie for the last place.
pub(super) fn top(corpus: &Opened, vector: &[f32], k: usize) -> Result<Vec<(DocAddress, f64)>> {
    sound(corpus)?;
    if k == 0 {
        return Ok(Vec::new());
    }
    let mut scores: Vec<(DocAddress, f32)> = corpus
        .entries()
        .filter_map(|(address, row)| Some((address, dot(corpus.vectors.row(row)?, vector))))
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
    sound(corpus)?;
    Ok(corpus.embedding(address).map_or(0.0, |row| f64::from(dot(row, vector))))
}

fn sound(corpus: &Opened) -> Result<()> {
    if corpus.damaged == 0 {
        return Ok(());
    }
    Err(CorpusError::Damaged { name: corpus.manifest.name.clone(), rows: corpus.damaged })
}

//! BM25 over a small set of candidates (Robertson and Zaragoza 2009, Lucene's idf).

use std::collections::HashMap;

/// Term frequency saturation.
pub const K1: f64 = 1.2;
/// Length normalization.
pub const B: f64 = 0.75;

/// Score of each document for the query, ≥ 0, in the order of `docs`.
///
/// `idf = ln(1 + (N − df + 0.5)/(df + 0.5))`; a query token counts once per occurrence.
pub fn scores<D: AsRef<[T]>, T: AsRef<str>>(docs: &[D], query: &[T], k1: f64, b: f64) -> Vec<f64> {
    let total: usize = docs.iter().map(|doc| doc.as_ref().len()).sum();
    let mean_length = (total as f64 / docs.len().max(1) as f64).max(f64::MIN_POSITIVE);
    let mut query_terms: Vec<(&str, f64)> = Vec::new();
    for token in query {
        match query_terms.iter_mut().find(|(term, _)| *term == token.as_ref()) {
            Some((_, count)) => *count += 1.0,
            None => query_terms.push((token.as_ref(), 1.0)),
        }
    }
    let wanted: HashMap<&str, usize> =
        query_terms.iter().enumerate().map(|(i, (term, _))| (*term, i)).collect();

    let frequencies: Vec<Vec<f64>> = docs
        .iter()
        .map(|doc| {
            let mut counts = vec![0.0; query_terms.len()];
            for token in doc.as_ref() {
                if let Some(&i) = wanted.get(token.as_ref()) {
                    counts[i] += 1.0;
                }
            }
            counts
        })
        .collect();

    let mut scores = vec![0.0; docs.len()];
    for (i, (_, query_count)) in query_terms.iter().enumerate() {
        let df = frequencies.iter().filter(|counts| counts[i] > 0.0).count() as f64;
        let idf = (1.0 + (docs.len() as f64 - df + 0.5) / (df + 0.5)).ln();
        for ((score, counts), doc) in scores.iter_mut().zip(&frequencies).zip(docs) {
            let tf = counts[i];
            let length = doc.as_ref().len() as f64 / mean_length;
            *score += query_count * idf * tf * (k1 + 1.0) / (tf + k1 * (1.0 - b + b * length));
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_weigh_more_and_absent_terms_nothing() {
        let docs = [vec!["nap", "memory"], vec!["nap", "mood"], vec!["school", "mood"]];
        let scores = scores(&docs, &["memory", "nap", "absent"], K1, B);
        assert!(scores[0] > scores[1] && scores[1] > scores[2]);
        assert_eq!(scores[2], 0.0);
    }

    #[test]
    fn nothing_scores_nothing() {
        assert!(scores::<Vec<&str>, &str>(&[], &["a"], K1, B).is_empty());
        assert_eq!(scores(&[Vec::<&str>::new()], &["a"], K1, B), [0.0]);
    }
}

//! Documents as weighted terms.

use crate::{MOST_DOCUMENTS, MOST_TERMS, MOST_TERMS_OF_DOCUMENT};
use std::collections::HashMap;

/// The terms of documents, weighted by TF-IDF with the logarithm of the frequency, each document of length 1.
#[derive(Debug, Clone, Default)]
pub struct Features {
    rows: Vec<Vec<(u32, f32)>>,
    terms: usize,
}

impl Features {
    /// Describes documents by their terms. A term that only one document has says nothing about another.
    pub fn new<T: AsRef<str>>(documents: &[Vec<T>]) -> Self {
        let documents = &documents[..documents.len().min(MOST_DOCUMENTS)];
        let counted: Vec<HashMap<&str, u32>> = documents.iter().map(|terms| counts(terms)).collect();
        let mut frequency: HashMap<&str, u32> = HashMap::new();
        for term in counted.iter().flat_map(HashMap::keys) {
            *frequency.entry(term).or_default() += 1;
        }
        let mut kept: Vec<(&str, u32)> = frequency.into_iter().filter(|(_, count)| *count > 1).collect();
        kept.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        kept.truncate(MOST_TERMS);
        let all = documents.len() as f64;
        let known: HashMap<&str, (u32, f64)> = kept
            .iter()
            .enumerate()
            .map(|(at, (term, count))| {
                let inverse = ((1.0 + all) / (1.0 + f64::from(*count))).ln() + 1.0;
                (*term, (at as u32, inverse))
            })
            .collect();
        let rows = counted.iter().map(|counts| row(counts, &known)).collect();
        Self { rows, terms: known.len() }
    }

    /// Documents that are described.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no document is described.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Distinct terms.
    pub(crate) fn terms(&self) -> usize {
        self.terms
    }

    /// The weighted terms of a document, by term.
    pub(crate) fn row(&self, document: usize) -> &[(u32, f32)] {
        self.rows.get(document).map_or(&[], Vec::as_slice)
    }
}

fn counts<T: AsRef<str>>(terms: &[T]) -> HashMap<&str, u32> {
    let mut counts = HashMap::new();
    for term in terms.iter().take(MOST_TERMS_OF_DOCUMENT) {
        *counts.entry(term.as_ref()).or_default() += 1;
    }
    counts
}

fn row(counts: &HashMap<&str, u32>, known: &HashMap<&str, (u32, f64)>) -> Vec<(u32, f32)> {
    let weighted = counts.iter().filter_map(|(term, count)| {
        let (at, inverse) = known.get(term)?;
        Some((*at, (1.0 + f64::from(*count).ln()) * inverse))
    });
    let mut weighted: Vec<(u32, f64)> = weighted.collect();
    weighted.sort_unstable_by_key(|(at, _)| *at);
    let length =
        weighted.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    weighted.into_iter().map(|(at, weight)| (at, (weight / length) as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_weigh_more_and_single_ones_nothing() {
        let documents = ["nap sleep", "nap nap memory", "sleep nap", "memory sleep", "once nap"];
        let documents: Vec<Vec<&str>> = documents.iter().map(|text| text.split(' ').collect()).collect();
        let features = Features::new(&documents);
        assert_eq!((features.len(), features.terms()), (5, 3));
        // "nap" is in four documents, "memory" in two: terms are numbered by how many have them.
        let [(nap, often), (memory, rare)] = features.row(1) else { panic!("{features:?}") };
        assert_eq!((*nap, *memory), (0, 2));
        assert!(often * often + rare * rare > 0.999_999);
        assert_eq!(features.row(4), [(0, 1.0)]);
        assert!(features.row(9).is_empty());
    }
}

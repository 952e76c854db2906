//! Facets of an invention (A core, B qualifying, C use case) and how far a document's text covers them.

use crate::error::{FusionError, Result};
use crate::term::{Analysed, Term};
use serde::{Deserialize, Serialize};

/// Shares of claim, abstract and description in a facet's coverage.
const FIELD_SHARES: [f64; 3] = [0.5, 0.3, 0.2];
/// Largest distance in tokens at which two facets occur together.
const TOGETHER: usize = 30;

/// A facet as given: its name begins with its label (`A`, `B2`), its terms are synonyms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FacetTerms {
    /// Name.
    pub facet: String,
    /// Any of these counts.
    pub terms: Vec<String>,
}

/// The weight of each label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FacetWeights {
    /// Core facets.
    #[serde(rename = "A")]
    pub a: f64,
    /// Qualifying facets.
    #[serde(rename = "B")]
    pub b: f64,
    /// Facets of use cases.
    #[serde(rename = "C")]
    pub c: f64,
}

impl Default for FacetWeights {
    fn default() -> Self {
        Self { a: 0.5, b: 0.3, c: 0.2 }
    }
}

/// The texts of a document in which facets are searched.
#[derive(Debug, Clone, Copy, Default)]
pub struct DocText<'a> {
    /// Claims.
    pub claim: &'a str,
    /// Abstract.
    pub abst: &'a str,
    /// Description.
    pub desc: &'a str,
}

/// The facet signals of a document, each in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FacetSignals {
    /// f: coverage.
    pub coverage: f64,
    /// s: share of the pairs of A and B facets that occur together in claims or description.
    pub structure: f64,
}

/// Facets, prepared for searching.
#[derive(Debug, Clone)]
pub struct Facets {
    facets: Vec<Facet>,
}

#[derive(Debug, Clone)]
struct Facet {
    weight: f64,
    paired: bool,
    terms: Vec<Term>,
}

impl Facets {
    /// Reads facets.
    ///
    /// # Errors
    /// A name that begins with no label, a facet without terms.
    pub fn new(facets: &[FacetTerms], weights: &FacetWeights) -> Result<Self> {
        let read = |FacetTerms { facet, terms }: &FacetTerms| {
            let weight = match facet.trim().chars().next() {
                Some('A' | 'a') => weights.a,
                Some('B' | 'b') => weights.b,
                Some('C' | 'c') => weights.c,
                _ => return Err(FusionError::Facet(facet.clone())),
            };
            let terms: Vec<Term> = terms.iter().filter_map(|term| Term::new(term)).collect();
            if terms.is_empty() {
                return Err(FusionError::EmptyFacet(facet.clone()));
            }
            Ok(Facet { weight, paired: !facet.trim().starts_with(['C', 'c']), terms })
        };
        Ok(Self { facets: facets.iter().map(read).collect::<Result<_>>()? })
    }

    /// Whether there are no facets.
    pub fn is_empty(&self) -> bool {
        self.facets.is_empty()
    }

    /// Whether two facets can occur together at all.
    pub fn has_pairs(&self) -> bool {
        self.facets.iter().filter(|facet| facet.paired).count() > 1
    }

    /// Reads one document.
    pub fn signals(&self, text: &DocText<'_>) -> FacetSignals {
        let fields = [text.claim, text.abst, text.desc].map(Analysed::new);
        // Where each facet's terms begin, in each field.
        let places: Vec<[Vec<usize>; 3]> = self
            .facets
            .iter()
            .map(|facet| {
                [0, 1, 2].map(|field| {
                    let mut places: Vec<usize> =
                        facet.terms.iter().flat_map(|term| term.places(&fields[field])).collect();
                    places.sort_unstable();
                    places
                })
            })
            .collect();
        let covered = self.facets.iter().zip(&places).map(|(facet, places)| {
            let share: f64 =
                FIELD_SHARES.iter().zip(places).filter(|(_, p)| !p.is_empty()).map(|(share, _)| share).sum();
            facet.weight * share
        });
        let coverage = covered.sum::<f64>().clamp(0.0, 1.0);
        let paired: Vec<&[Vec<usize>; 3]> =
            self.facets.iter().zip(&places).filter(|(facet, _)| facet.paired).map(|(_, p)| p).collect();
        let (mut pairs, mut together) = (0, 0);
        for (i, a) in paired.iter().enumerate() {
            for b in &paired[i + 1..] {
                pairs += 1;
                together += usize::from(near(&a[0], &b[0]) || near(&a[2], &b[2]));
            }
        }
        let structure = if pairs > 0 { f64::from(together as u32) / f64::from(pairs) } else { 0.0 };
        FacetSignals { coverage, structure }
    }
}

/// Whether two sorted lists contain positions at most [`TOGETHER`] apart.
fn near(a: &[usize], b: &[usize]) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
        if x.abs_diff(y) <= TOGETHER {
            return true;
        }
        if x < y { i += 1 } else { j += 1 }
    }
    false
}

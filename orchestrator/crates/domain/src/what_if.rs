//! What the numbers of a claim would be without some of its passages.

use crate::{BetaConfidence, ClaimId, ClaimReport, EdgeId, Evidence, Relation};
use std::collections::HashSet;

/// The numbers of a claim with and without some of its passages. Computed, never stored.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// The claim.
    pub claim: ClaimId,
    /// The judgments that were left out, each once, in the order they were named.
    pub left_out: Vec<EdgeId>,
    /// The numbers with all passages.
    pub before: ClaimNumbers,
    /// The numbers without those passages.
    pub after: ClaimNumbers,
}

/// A posterior, and the passages that it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClaimNumbers {
    /// The posterior; several passages of one work count once.
    pub posterior: BetaConfidence,
    /// Passages that support the claim.
    pub supporting_count: usize,
    /// Passages that refute it.
    pub refuting_count: usize,
}

impl ClaimNumbers {
    fn of<'a>(evidence: impl Iterator<Item = &'a Evidence> + Clone) -> Self {
        let count = |relation| evidence.clone().filter(|passage| passage.relation == relation).count();
        Self {
            supporting_count: count(Relation::Supports),
            refuting_count: count(Relation::Refutes),
            posterior: BetaConfidence::of_works(
                evidence.map(|passage| (passage.work_key(), passage.relation, passage.nli_confidence)),
            ),
        }
    }
}

impl ClaimReport {
    /// The numbers of the claim without these judgments.
    ///
    /// # Errors
    /// The first edge that is no judgment of this claim.
    pub fn without(&self, edges: &[EdgeId]) -> Result<WhatIf, EdgeId> {
        let known: HashSet<&EdgeId> = self.evidence.iter().map(|passage| &passage.edge_id).collect();
        if let Some(unknown) = edges.iter().find(|edge| !known.contains(edge)) {
            return Err(unknown.clone());
        }
        let mut named = HashSet::new();
        let left_out = edges.iter().filter(|edge| named.insert(*edge)).cloned().collect();
        Ok(WhatIf {
            claim: self.claim.id.clone(),
            left_out,
            before: ClaimNumbers::of(self.evidence.iter()),
            after: ClaimNumbers::of(self.evidence.iter().filter(|passage| !named.contains(&passage.edge_id))),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Claim, Discrepancies, Probability, TaskId};

    pub(crate) fn passage(n: usize, work: &str, relation: Relation, weight: f64) -> Evidence {
        Evidence {
            relation,
            nli_confidence: Probability::clamped(weight),
            discrepancies: Discrepancies::default(),
            text: String::new(),
            title: String::new(),
            year: None,
            venue: None,
            doi: None,
            url: None,
            doc_id: None,
            section: None,
            page_id: "page_1".parse().unwrap(),
            fragment_id: format!("frag_{n}").parse().unwrap(),
            edge_id: format!("edge_{n}").parse().unwrap(),
            source_domain_category: "unverified".to_owned(),
            source_key: work.to_owned(),
            work_id: Some(work.to_owned()),
            is_retracted: None,
            human_corrected: false,
            correction_reason: None,
        }
    }

    #[test]
    fn passages_are_left_out_and_the_next_surest_of_their_work_counts() {
        let task: TaskId = "task_1".parse().unwrap();
        let evidence = vec![
            passage(1, "a", Relation::Supports, 0.9),
            passage(2, "a", Relation::Supports, 0.6),
            passage(3, "b", Relation::Refutes, 0.8),
            passage(4, "c", Relation::Neutral, 0.7),
        ];
        let report = ClaimReport::new(Claim::new(&task, "Naps help.", None, None), evidence, None);
        let edge = |n: usize| format!("edge_{n}").parse::<EdgeId>().unwrap();
        let check = |edges: &[usize], [alpha, beta]: [f64; 2], counts: (usize, usize)| {
            let edges: Vec<EdgeId> = edges.iter().map(|n| edge(*n)).collect();
            let what_if = report.without(&edges).unwrap();
            assert_eq!(what_if.before.posterior, report.posterior);
            assert_eq!(what_if.after.posterior, BetaConfidence { alpha, beta });
            assert_eq!((what_if.after.supporting_count, what_if.after.refuting_count), counts);
        };
        check(&[], [1.9, 1.8], (2, 1));
        check(&[1], [1.6, 1.8], (1, 1));
        check(&[1, 2, 1], [1.0, 1.8], (0, 1));
        check(&[3], [1.9, 1.0], (2, 0));
        check(&[4], [1.9, 1.8], (2, 1));
        assert_eq!(report.without(&[edge(1), edge(1)]).unwrap().left_out, [edge(1)]);
        assert_eq!(report.without(&[edge(1), edge(9)]), Err(edge(9)));
    }
}

//! What rules find between a claim and a passage, and the side that they take away.

use super::{Passage, Verdict, neutral};
use lyra_domain::Relation;
use lyra_text::guard;

/// Notes where claim and passage differ, and takes the side away that a rule does not allow. Never gives one.
pub(super) fn guard(verdict: &mut Verdict, claim: &str, passage: &Passage) {
    let side = match verdict.judgement.relation {
        Relation::Supports => Some(guard::Side::Supports),
        Relation::Refutes => Some(guard::Side::Refutes),
        _ => None,
    };
    let found = guard::check(claim, &passage.words, &verdict.premise);
    verdict.discrepancies.missing.extend(found.missing.iter().cloned());
    let Some(side) = side else { return };
    if !found.allows(side) {
        verdict.judgement = neutral(verdict.judgement);
    }
    verdict.discrepancies.differs.extend(found.differs);
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_domain::{Discrepancies, NliScores};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_side_stays_or_goes_and_never_comes(
            claim in "(Statins|Mice|The drug) (reduces?|increases?|did not change) (mortality|weight|TNF)( by 12%|)\\.",
            text in "(Statins|Mice|The drug) (lowered|raised|may change) (deaths|weight|IL-6)( by 30%|)\\.",
            supports in 0.0..=0.5_f64,
            refutes in 0.0..=0.5_f64,
        ) {
            let judgement = NliScores { supports, refutes, neutral: 1.0 - supports - refutes }.judgement();
            let passage = Passage {
                title: String::new(),
                sentences: lyra_text::sentences(&text, Some("en")),
                words: lyra_text::guard::Passage::of("", &text),
                windows: super::super::Windows::default(),
            };
            let (premise, discrepancies) = (text.clone(), Discrepancies::default());
            let mut verdict = Verdict { premise, judgement, discrepancies, asked: Vec::new() };
            guard(&mut verdict, &claim, &passage);
            let now = verdict.judgement;
            prop_assert!(now.relation == judgement.relation || now.relation == Relation::Neutral);
            prop_assert_eq!(now.scores, judgement.scores);
            prop_assert!(now.relation != Relation::Neutral || (now.confidence.get() - now.scores.neutral).abs() < 1e-12);
        }
    }
}

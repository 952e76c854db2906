//! What rules find between a claim and a passage, and the side that they take away.

use super::{Passage, Verdict, neutral};
use lyra_domain::Relation;
use lyra_text::guard;

/// The note on a side that nothing but aims or methods decided.
const TELLS_NOTHING: &str = "evidence: what decided states an aim or a method";

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
    let tells = tells(&verdict.premise, passage);
    if !tells || !found.allows(side) {
        verdict.judgement = neutral(verdict.judgement);
    }
    verdict.discrepancies.differs.extend(found.differs);
    if !tells {
        verdict.discrepancies.differs.push(TELLS_NOTHING.to_owned());
    }
}

/// Whether some sentence of what decided can be evidence.
fn tells(premise: &str, passage: &Passage) -> bool {
    let sentences = passage.sentences.iter().zip(&passage.tells);
    let mut deciding = sentences.filter(|(sentence, _)| premise.contains(&sentence.text)).peekable();
    deciding.peek().is_none() || deciding.any(|(_, tells)| *tells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::verdict::Against;
    use lyra_domain::{Discrepancies, NliJudgement, NliScores};
    use proptest::prelude::*;

    #[test]
    fn neither_an_aim_nor_a_method_takes_a_side() {
        let text = "OBJECTIVE To test whether risedronate prevents fractures. Fractures are painful. RESULTS Risedronate \
            prevented fractures.";
        let passage = Passage::of(Against::from((text, Some("en"))));
        let judgement = NliScores { supports: 0.8, refutes: 0.1, neutral: 0.1 }.judgement();
        let guarded = |sentence: usize| -> (NliJudgement, Vec<String>) {
            let premise = passage.sentences[sentence].text.clone();
            let mut verdict =
                Verdict { premise, judgement, discrepancies: Discrepancies::default(), asked: Vec::new() };
            guard(&mut verdict, "Risedronate prevents fractures.", &passage);
            (verdict.judgement, verdict.discrepancies.differs)
        };
        assert_eq!(guarded(2), (judgement, Vec::new()));
        let (judgement, differs) = guarded(0);
        assert_eq!((judgement.relation, differs), (Relation::Neutral, vec![TELLS_NOTHING.to_owned()]));
    }

    proptest! {
        #[test]
        fn a_side_stays_or_goes_and_never_comes(
            claim in "(Statins|Mice|The drug) (reduces?|increases?|did not change) (mortality|weight|TNF)( by 12%|)\\.",
            text in "(Statins|Mice|The drug) (lowered|raised|may change) (deaths|weight|IL-6)( by 30%|)\\.",
            supports in 0.0..=0.5_f64,
            refutes in 0.0..=0.5_f64,
        ) {
            let judgement = NliScores { supports, refutes, neutral: 1.0 - supports - refutes }.judgement();
            let passage = Passage::of(Against::from((text.as_str(), Some("en"))));
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

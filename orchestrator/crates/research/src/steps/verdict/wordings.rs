//! A claim that a user gives is judged in a second wording as well, where rules make one: a side counts when both say it.

use super::{Claimed, Judge, Passage, Verdict, mean, neutral, takes_side, verifier};
use crate::Result;
use lyra_domain::{NliJudgement, Relation};

/// Takes sides away that passages do not take on the claim in other words. Only these passages are read again.
pub(super) async fn confirm(
    judge: &Judge<'_>,
    claim: &Claimed<'_>,
    passages: &[&Passage],
    said: &mut [Option<Verdict>],
) -> Result<()> {
    if !(judge.config.two_wordings && claim.origin.is_given()) {
        return Ok(());
    }
    let Some(reworded) = lyra_text::reworded(claim.text, claim.language) else { return Ok(()) };
    let sided: Vec<usize> = (0..said.len()).filter(|&i| said[i].as_ref().is_some_and(takes_side)).collect();
    let asked: Vec<&Passage> = sided.iter().map(|&i| passages[i]).collect();
    let others = verifier::verdicts(judge, &Claimed { text: &reworded, ..*claim }, &asked).await?;
    for (i, other) in sided.into_iter().zip(others) {
        said[i] = said[i].take().map(|one| agreed(one, other.map(|found| found.verdict), &reworded));
    }
    Ok(())
}

/// A side taken on a claim with the verdict on the same claim in other words.
fn agreed(mut verdict: Verdict, other: Option<Verdict>, reworded: &str) -> Verdict {
    let Some(other) = other else { return verdict };
    let said = verdict.judgement.relation;
    let both = mean(&[verdict.judgement, other.judgement]);
    verdict.judgement = if said == other.judgement.relation {
        let confidence = if said == Relation::Supports { both.scores.supports } else { both.scores.refutes };
        NliJudgement { relation: said, confidence: confidence.into(), ..both }
    } else {
        let found = format!("wording: \u{201c}{reworded}\u{201d} is judged {}", other.judgement.relation);
        verdict.discrepancies.differs.push(found);
        neutral(both)
    };
    verdict
}

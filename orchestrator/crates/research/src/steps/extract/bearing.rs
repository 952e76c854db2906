//! Whether a sentence bears on the question: to a verifier, it supports or refutes the claim behind the question when it is read under
//! the title of its work, and also when it is read alone. Closeness alone lets much through that is on the topic and answers
//! nothing (`docs/quality.md`).

use super::Candidate;
use crate::Result;
use crate::context::Context;
use crate::ports::{JudgeKind, Models, TaskFragment, Verified, Verify};
use lyra_domain::{Claim, FragmentId};
use std::collections::HashMap;

/// Least probability of support or refutation without the title, which may answer the question where the sentence does not.
const ALONE: f64 = 0.5;

/// A candidate with its place among all.
type Placed = (usize, Candidate);

/// The candidates that bear on the claim behind the question, in their order. All of them where no verifier reads that claim or the
/// candidate's language.
pub(super) async fn on(
    context: &Context,
    models: &Models,
    asked: &Claim,
    candidates: Vec<Candidate>,
    fragments: &HashMap<&FragmentId, &TaskFragment>,
) -> Result<Vec<Candidate>> {
    if models.judge != JudgeKind::Verifier || !models.read(asked.language.as_deref()) {
        return Ok(candidates);
    }
    let (read, mut kept): (Vec<Placed>, Vec<Placed>) = candidates
        .into_iter()
        .enumerate()
        .partition(|(_, candidate)| models.read(candidate.claim.language.as_deref()));
    let titled = |candidate: &Candidate| {
        let fragment = candidate.claim.source_fragment_id.as_ref().and_then(|id| fragments.get(id));
        item(asked, candidate, fragment.map_or("", |fragment| fragment.title.as_str()))
    };
    let read = deciding(context, read, titled, context.config.question_bearing).await?;
    kept.extend(deciding(context, read, |candidate| item(asked, candidate, ""), ALONE).await?);
    kept.sort_by_key(|(place, _)| *place);
    Ok(kept.into_iter().map(|(_, candidate)| candidate).collect())
}

/// The candidates whose items support or refute their claim with this probability at least.
async fn deciding(
    context: &Context,
    candidates: Vec<Placed>,
    item: impl Fn(&Candidate) -> Verify,
    least: f64,
) -> Result<Vec<Placed>> {
    let items: Vec<Verify> = candidates.iter().map(|(_, candidate)| item(candidate)).collect();
    let verified = context.inference.verify_all(&items).await?;
    let decides = |verified: &Verified| 1.0 - verified.judgement.scores.neutral >= least;
    let kept = candidates.into_iter().zip(verified).filter(|(_, verified)| decides(verified));
    Ok(kept.map(|(candidate, _)| candidate).collect())
}

fn item(asked: &Claim, candidate: &Candidate, title: &str) -> Verify {
    Verify::new(&asked.claim_text, &lyra_text::normalise(title), [candidate.claim.claim_text.clone()])
}

//! Whether a sentence bears on the question: a verifier takes a side on the claim behind the question when it reads the sentence
//! under the title of its work, and also when it reads it alone. Closeness alone lets much through that is on the topic and answers
//! nothing (`docs/quality.md`).

use super::Candidate;
use crate::Result;
use crate::context::Context;
use crate::ports::{JudgeKind, Models, TaskFragment, Verify};
use lyra_domain::{Claim, FragmentId};
use std::collections::HashMap;

/// Sentences of one request.
const BATCH: usize = 16;
/// Least probability of a side without the title, which may answer the question where the sentence does not.
const ALONE: f64 = 0.5;

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
    let (read, mut kept): (Vec<(usize, Candidate)>, Vec<(usize, Candidate)>) = candidates
        .into_iter()
        .enumerate()
        .partition(|(_, candidate)| models.read(candidate.claim.language.as_deref()));
    let titled = read.iter().map(|(_, candidate)| {
        let fragment = candidate.claim.source_fragment_id.as_ref().and_then(|id| fragments.get(id));
        item(asked, candidate, fragment.map_or("", |fragment| fragment.title.as_str()))
    });
    let alone = read.iter().map(|(_, candidate)| item(asked, candidate, ""));
    let items: Vec<Verify> = titled.chain(alone).collect();
    let mut sided: Vec<f64> = Vec::with_capacity(items.len());
    for batch in items.chunks(BATCH) {
        let verified = context.inference.verify(batch).await?;
        sided.extend(verified.iter().map(|verified| 1.0 - verified.judgement.scores.neutral));
    }
    let (titled, alone) = sided.split_at(read.len());
    let bears = |i: usize| titled[i] >= context.config.question_bearing && alone[i] >= ALONE;
    kept.extend(read.into_iter().enumerate().filter(|(i, _)| bears(*i)).map(|(_, found)| found));
    kept.sort_by_key(|(place, _)| *place);
    Ok(kept.into_iter().map(|(_, candidate)| candidate).collect())
}

fn item(asked: &Claim, candidate: &Candidate, title: &str) -> Verify {
    let title = lyra_text::normalise(title);
    Verify {
        claim: asked.claim_text.clone(),
        title: (!title.is_empty()).then_some(title),
        sentences: vec![candidate.claim.claim_text.clone()],
    }
}

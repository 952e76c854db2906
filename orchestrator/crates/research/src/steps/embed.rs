//! Vectors of fragments and claims: from the store when they are there, else from the model, then kept.

use crate::Result;
use crate::context::Context;
use crate::ports::{EmbeddingTarget, Models, TaskFragment, TextRole};
use lyra_domain::Claim;

/// Vectors of these fragments, in order.
pub(crate) async fn fragments(
    context: &Context,
    models: &Models,
    fragments: &[&TaskFragment],
) -> Result<Vec<Vec<f32>>> {
    let wanted = fragments
        .iter()
        .map(|f| {
            let text = lyra_text::passage(&f.title, &f.fragment.text_content);
            (EmbeddingTarget::Fragment(f.fragment.id.clone()), text)
        })
        .collect();
    stored_or_embedded(context, models, TextRole::Passage, wanted).await
}

/// Vectors of these claims, in order.
pub(crate) async fn claims(context: &Context, models: &Models, claims: &[Claim]) -> Result<Vec<Vec<f32>>> {
    let wanted =
        claims.iter().map(|c| (EmbeddingTarget::Claim(c.id.clone()), c.claim_text.clone())).collect();
    stored_or_embedded(context, models, TextRole::Query, wanted).await
}

async fn stored_or_embedded(
    context: &Context,
    models: &Models,
    role: TextRole,
    wanted: Vec<(EmbeddingTarget, String)>,
) -> Result<Vec<Vec<f32>>> {
    let targets: Vec<EmbeddingTarget> = wanted.iter().map(|(target, _)| target.clone()).collect();
    let mut known = context.store.embeddings(&models.embedder, &targets).await?;
    let missing: Vec<&(EmbeddingTarget, String)> =
        wanted.iter().filter(|(target, _)| !known.contains_key(target)).collect();
    if !missing.is_empty() {
        let texts: Vec<String> = missing.iter().map(|(_, text)| text.clone()).collect();
        let vectors = context.inference.embed(role, &texts).await?;
        let made: Vec<(EmbeddingTarget, Vec<f32>)> =
            missing.iter().map(|(target, _)| target.clone()).zip(vectors).collect();
        context.store.put_embeddings(&models.embedder, &made).await?;
        known.extend(made);
    }
    Ok(targets.iter().map(|target| known.get(target).cloned().unwrap_or_default()).collect())
}

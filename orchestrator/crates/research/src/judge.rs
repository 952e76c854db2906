//! Claims against passages of other pages (evidence design, section 2, steps 9 and 10).

use crate::ask::Asker;
use crate::pipeline::{Outcome, Pipeline, Step};
use crate::ports::{Models, TaskFragment};
use crate::register::usable;
use crate::search::{cancelled, unless_cancelled, unread_language};
use crate::verdict::{Passage, verdicts};
use crate::{Result, embed, extract};
use lyra_domain::{Claim, Edge, FragmentId, Job, ranking, vector};
use std::collections::HashMap;
use tokio_util::sync::CancellationToken;

pub(crate) async fn run(pipeline: &Pipeline, job: &Job, cancel: &CancellationToken) -> Result<Outcome> {
    let store = &pipeline.store;
    let task = store.task(&job.task_id).await?;
    let models = pipeline.inference.models().await?;
    let fragments: Vec<TaskFragment> =
        usable(pipeline, &task.id).await?.into_iter().map(|usable| usable.fragment).collect();
    let by_id: HashMap<&FragmentId, &TaskFragment> = fragments.iter().map(|f| (&f.fragment.id, f)).collect();

    let asker = Asker::new(pipeline, job, &task).await?;
    let extracting = extract::run(pipeline, job, &task, &models, &by_id, asker.as_ref());
    let ungrounded = unless_cancelled(cancel, extracting).await?;
    let claims = store.task_claims(&task.id).await?;
    pipeline.report(&task.id, Step::Extracted { claims: claims.len() });

    let readable: Vec<&TaskFragment> =
        fragments.iter().filter(|f| models.read(f.language.as_deref())).collect();
    warn_of_unread(pipeline, job, &models, &fragments, &claims).await?;
    let vectors = embed::fragments(pipeline, &models, &readable).await?;
    let claim_vectors = embed::claims(pipeline, &models, &claims).await?;
    let chosen = chosen_for_users(pipeline, job).await?;

    let mut passages: HashMap<&FragmentId, Passage> = HashMap::new();
    let mut edges = 0;
    for (done, (claim, claim_vector)) in claims.iter().zip(&claim_vectors).enumerate() {
        if cancel.is_cancelled() {
            return Err(cancelled());
        }
        if models.read(claim.language.as_deref()) {
            let origin =
                claim.source_fragment_id.as_ref().and_then(|id| by_id.get(id)).map(|f| &f.source_key);
            let others: Vec<usize> =
                (0..readable.len()).filter(|&i| Some(&readable[i].source_key) != origin).collect();
            let candidates = candidates(pipeline, claim, claim_vector, &others, &readable, &vectors, &chosen);
            edges +=
                judge_claim(pipeline, job, &models, claim, claim_vector, &candidates, &mut passages).await?;
        }
        pipeline.report(&task.id, Step::Judged { done: done + 1, of: claims.len() });
    }
    store.verify_claims(&task.id, &job.id).await?;
    let mut output = serde_json::json!({"claims": claims.len(), "edges": edges});
    if let Some(asker) = asker {
        output["llm"] = serde_json::json!(asker.used());
        output["llm"]["ungrounded"] = ungrounded.into();
    }
    Ok(Outcome { output, then: Vec::new() })
}

/// Best-ranked fragments of the queries that gather evidence for a claim given by the user.
async fn chosen_for_users(
    pipeline: &Pipeline,
    job: &Job,
) -> Result<HashMap<lyra_domain::ClaimId, Vec<FragmentId>>> {
    let mut chosen = HashMap::new();
    for (query, ranking) in pipeline.store.rankings(&job.task_id).await? {
        if let Some(claim) = query.claim_id {
            let best = ranking.into_iter().take(pipeline.config.candidates_per_user_claim);
            chosen.insert(claim, best.map(|rank| rank.fragment).collect());
        }
    }
    Ok(chosen)
}

/// Fragments to hold against a claim: what was gathered for it, and the closest of the other pages.
fn candidates<'f>(
    pipeline: &Pipeline,
    claim: &Claim,
    claim_vector: &[f32],
    others: &[usize],
    fragments: &[&'f TaskFragment],
    vectors: &[Vec<f32>],
    chosen: &HashMap<lyra_domain::ClaimId, Vec<FragmentId>>,
) -> Vec<&'f TaskFragment> {
    let gathered = chosen.get(&claim.id).map(Vec::as_slice).unwrap_or_default();
    let mut picked: Vec<&TaskFragment> =
        others.iter().map(|&i| fragments[i]).filter(|f| gathered.contains(&f.fragment.id)).collect();
    let cosine: Vec<f64> =
        others.iter().map(|&i| f64::from(vector::dot(claim_vector, &vectors[i]))).collect();
    for place in ranking::top_by(&cosine, pipeline.config.candidates_per_claim) {
        let fragment = fragments[others[place]];
        let close = cosine[place] >= f64::from(pipeline.config.candidate_similarity);
        if close && !gathered.contains(&fragment.fragment.id) {
            picked.push(fragment);
        }
    }
    picked
}

/// Judges a claim against the candidates it has not met yet and stores the edges at once. Returns how many.
async fn judge_claim<'f>(
    pipeline: &Pipeline,
    job: &Job,
    models: &Models,
    claim: &Claim,
    claim_vector: &[f32],
    candidates: &[&'f TaskFragment],
    passages: &mut HashMap<&'f FragmentId, Passage>,
) -> Result<usize> {
    let judged = pipeline.store.judged(&claim.id).await?;
    let candidates: Vec<&&TaskFragment> =
        candidates.iter().filter(|f| !judged.contains(&f.fragment.id)).collect();
    let fresh: Vec<&TaskFragment> =
        candidates.iter().map(|f| **f).filter(|f| !passages.contains_key(&f.fragment.id)).collect();
    let texts: Vec<_> =
        fresh.iter().map(|f| (f.fragment.text_content.as_str(), f.language.as_deref())).collect();
    for (fragment, passage) in fresh.iter().zip(Passage::cut(pipeline.inference.as_ref(), &texts).await?) {
        passages.insert(&fragment.fragment.id, passage);
    }
    let (candidates, cut): (Vec<&TaskFragment>, Vec<&Passage>) =
        candidates.iter().filter_map(|f| Some((**f, passages.get(&f.fragment.id)?))).unzip();
    let claimed = (claim.claim_text.as_str(), claim_vector);
    let verdicts = verdicts(pipeline.inference.as_ref(), &pipeline.config, claimed, &cut).await?;
    if !verdicts.is_empty() && verdicts.iter().all(Option::is_none) {
        let warning =
            format!("a claim was not judged, because it is longer than the NLI model reads: {}", claim.id);
        pipeline.store.add_warning(&job.task_id, &warning).await?;
    }

    let edges: Vec<Edge> = candidates
        .into_iter()
        .zip(verdicts)
        .filter_map(|(fragment, verdict)| {
            let verdict = verdict?;
            Some(Edge::Nli {
                fragment: fragment.fragment.id.clone(),
                claim: claim.id.clone(),
                judgement: verdict.judgement,
                premise: verdict.premise,
                model: models.classifier.clone(),
                source_domain_category: fragment.domain_category.clone(),
                target_domain_category: None,
            })
        })
        .collect();
    pipeline.store.add_edges(&job.task_id, &edges, &job.id).await?;
    Ok(edges.len())
}

/// Says once per language that passages or claims were left unjudged.
async fn warn_of_unread(
    pipeline: &Pipeline,
    job: &Job,
    models: &Models,
    fragments: &[TaskFragment],
    claims: &[Claim],
) -> Result<()> {
    let languages = fragments.iter().map(|f| &f.language).chain(claims.iter().map(|c| &c.language));
    let unread: std::collections::BTreeSet<&str> =
        languages.filter_map(|l| l.as_deref()).filter(|l| !models.read(Some(l))).collect();
    for language in unread {
        pipeline.store.add_warning(&job.task_id, &unread_language(language, models)).await?;
    }
    Ok(())
}

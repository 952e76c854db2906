//! Claims against passages of other pages (evidence design, section 2, steps 9 and 10).

use crate::ask::Asker;
use crate::pipeline::{Outcome, Pipeline, Step};
use crate::ports::{Models, TaskFragment};
use crate::register::usable;
use crate::search::{cancelled, unless_cancelled, unread_language};
use crate::verdict::{Passage, verdicts};
use crate::{ResearchConfig, Result, embed, extract};
use lyra_domain::{Claim, ClaimId, Edge, FragmentId, Job, ranking, vector};
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
    let counter_vectors = counter_vectors(pipeline, &models, &claims).await?;
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
            let gathered = chosen.get(&claim.id).map(Vec::as_slice).unwrap_or_default();
            let close = Close {
                claim: claim_vector,
                counter: counter_vectors.get(&claim.id).map(Vec::as_slice),
                vectors: &vectors,
                others: &others,
            };
            let candidates = candidates(&pipeline.config, gathered, &close, &readable);
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
async fn chosen_for_users(pipeline: &Pipeline, job: &Job) -> Result<HashMap<ClaimId, Vec<FragmentId>>> {
    let mut chosen = HashMap::new();
    for (query, ranking) in pipeline.store.rankings(&job.task_id).await? {
        if let Some(claim) = query.claim_id {
            let best = ranking.into_iter().take(pipeline.config.candidates_per_user_claim);
            chosen.insert(claim, best.map(|rank| rank.fragment).collect());
        }
    }
    Ok(chosen)
}

/// Vectors of the counter-claims, where rules make one and places are kept for what is close to it.
async fn counter_vectors(
    pipeline: &Pipeline,
    models: &Models,
    claims: &[Claim],
) -> Result<HashMap<ClaimId, Vec<f32>>> {
    if pipeline.config.counter_candidates == 0 {
        return Ok(HashMap::new());
    }
    let (ids, texts): (Vec<ClaimId>, Vec<String>) = claims
        .iter()
        .filter(|claim| models.read(claim.language.as_deref()))
        .filter_map(|claim| {
            let counter = lyra_text::claim::counter_claim(&claim.claim_text, claim.language.as_deref())?;
            Some((claim.id.clone(), counter))
        })
        .unzip();
    let vectors = if texts.is_empty() { Vec::new() } else { pipeline.inference.embed(&texts).await? };
    Ok(ids.into_iter().zip(vectors).collect())
}

/// What says which fragments are close to a claim.
struct Close<'v> {
    claim: &'v [f32],
    counter: Option<&'v [f32]>,
    /// Of all fragments.
    vectors: &'v [Vec<f32>],
    /// The fragments of other sources.
    others: &'v [usize],
}

impl Close<'_> {
    /// The closest of the other fragments, at most `candidates_per_claim`: most by the claim, the last
    /// `counter_candidates` places by the counter-claim. Places that one of them leaves free go to the other.
    fn fragments(&self, config: &ResearchConfig) -> Vec<usize> {
        let by = |vector: &[f32]| -> Vec<usize> {
            let cosine: Vec<f64> =
                self.others.iter().map(|&i| f64::from(vector::dot(vector, &self.vectors[i]))).collect();
            let close = |place: &usize| cosine[*place] >= f64::from(config.candidate_similarity);
            let closest = ranking::top_by(&cosine, config.candidates_per_claim).into_iter();
            closest.filter(close).map(|place| self.others[place]).collect()
        };
        let places = config.candidates_per_claim;
        let by_claim = by(self.claim);
        let by_counter = self.counter.map(by).unwrap_or_default();
        let kept = if self.counter.is_some() { config.counter_candidates.min(places) } else { 0 };
        let mut picked: Vec<usize> = by_claim.iter().copied().take(places - kept).collect();
        for fragment in by_counter.into_iter().chain(by_claim) {
            if picked.len() < places && !picked.contains(&fragment) {
                picked.push(fragment);
            }
        }
        picked
    }
}

/// Fragments to hold against a claim: what was gathered for it, and the closest of the other pages.
fn candidates<'f>(
    config: &ResearchConfig,
    gathered: &[FragmentId],
    close: &Close<'_>,
    fragments: &[&'f TaskFragment],
) -> Vec<&'f TaskFragment> {
    let others = close.others.iter().map(|&i| fragments[i]);
    let mut picked: Vec<&TaskFragment> = others.filter(|f| gathered.contains(&f.fragment.id)).collect();
    let closest = close.fragments(config).into_iter().map(|i| fragments[i]);
    picked.extend(closest.filter(|f| !gathered.contains(&f.fragment.id)));
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Unit vectors by their angle in degrees.
    fn at(angle: f32) -> Vec<f32> {
        let angle = angle.to_radians();
        vec![angle.cos(), angle.sin()]
    }

    #[track_caller]
    fn check(counter_candidates: usize, counter: Option<f32>, angles: &[f32], expect: &[usize]) {
        let config =
            ResearchConfig { candidates_per_claim: 3, counter_candidates, ..ResearchConfig::default() };
        let vectors: Vec<Vec<f32>> = angles.iter().map(|angle| at(*angle)).collect();
        let others: Vec<usize> = (0..vectors.len()).collect();
        let (claim, counter) = (at(0.0), counter.map(at));
        let close = Close { claim: &claim, counter: counter.as_deref(), vectors: &vectors, others: &others };
        assert_eq!(close.fragments(&config), expect);
    }

    #[test]
    fn places_for_what_contradicts() {
        check(0, Some(50.0), &[1.0, 2.0, 3.0, 4.0, 50.0], &[0, 1, 2]);
        check(1, Some(50.0), &[1.0, 2.0, 3.0, 4.0, 50.0], &[0, 1, 4]);
        check(3, Some(50.0), &[1.0, 2.0, 3.0, 40.0, 50.0], &[4, 3, 2]);
        // Without a counter-claim, and when what is close to it is there already, nothing is lost.
        check(1, None, &[1.0, 2.0, 3.0, 4.0], &[0, 1, 2]);
        check(1, Some(0.5), &[1.0, 2.0, 3.0], &[0, 1, 2]);
        // What is far from both has no place.
        check(1, Some(170.0), &[1.0, 90.0, 100.0], &[0]);
    }
}

//! Claims against passages of other pages (evidence design, section 2, steps 9 and 10).

use crate::context::{Context, Step};
use crate::jobs::{Outcome, time_left};
use crate::ports::{FragmentRank, Models, TaskFragment, TextRole};
use crate::steps::ask::Asker;
use crate::steps::rank::unread_language;
use crate::steps::register::usable;
use crate::steps::verdict::{Against, Claimed, Judge, Origin, Passage};
use crate::steps::{embed, extract};
use crate::{ResearchConfig, Result};
use lyra_domain::{Claim, ClaimId, Edge, FragmentId, Job, NotJudged, Task, ranking, vector};
use std::collections::{HashMap, HashSet};
use tokio::time::Instant;

/// Judges the task's claims, one after the other, while the task has time left.
pub(crate) async fn run(context: &Context, job: &Job, used_seconds: f64) -> Result<Outcome> {
    let store = &context.store;
    let task = store.task(&job.task_id).await?;
    let until = Instant::now() + time_left(&task, used_seconds).unwrap_or_default();
    let models = context.inference.models().await?;
    let fragments: Vec<TaskFragment> =
        usable(context, &task.id).await?.into_iter().map(|usable| usable.fragment).collect();
    let by_id: HashMap<&FragmentId, &TaskFragment> = fragments.iter().map(|f| (&f.fragment.id, f)).collect();

    let asker = Asker::new(context, job, &task).await?;
    let ungrounded = extract::run(context, job, &task, &models, &by_id, asker.as_ref()).await?;
    let mut claims = store.task_claims(&task.id).await?;
    for claim in &mut claims {
        claim.language = claim.language.take().or_else(|| language_by_script(&claim.claim_text));
    }
    context.report(&task.id, Step::Extracted { claims: claims.len() });

    let readable: Vec<&TaskFragment> =
        fragments.iter().filter(|f| models.read(f.language.as_deref())).collect();
    warn_of_unread(context, job, &models, &fragments, &claims).await?;
    let vectors = embed::fragments(context, &models, &readable).await?;
    let claim_vectors = embed::claims(context, &models, &claims).await?;
    let counter_vectors = counter_vectors(context, &models, &claims).await?;
    let chosen = Chosen::of(context, job, &claims).await?;
    // The claim of the question meets all that is close to it.
    let places = context.config.candidates_per_question;
    let for_question = ResearchConfig { candidates_per_claim: places, ..context.config.clone() };

    let mut passages: HashMap<&FragmentId, Passage> = HashMap::new();
    let (mut edges, mut left) = (0, 0);
    for (done, (claim, claim_vector)) in claims.iter().zip(&claim_vectors).enumerate() {
        if Instant::now() >= until {
            left = claims.len() - done;
            warn_of_time(context, &task, left, claims.len()).await?;
            break;
        }
        if models.read(claim.language.as_deref()) {
            let origin =
                claim.source_fragment_id.as_ref().and_then(|id| by_id.get(id)).map(|f| &f.source_key);
            let others: Vec<usize> =
                (0..readable.len()).filter(|&i| Some(&readable[i].source_key) != origin).collect();
            let gathered = chosen.gathered(claim);
            let close = Close {
                claim: claim_vector,
                counter: counter_vectors.get(&claim.id).map(Vec::as_slice),
                vectors: &vectors,
                others: &others,
            };
            let config = if claim.is_of_question() { &for_question } else { &context.config };
            let candidates = candidates(config, gathered, &close, &readable);
            edges +=
                judge_claim(context, job, &models, claim, claim_vector, &candidates, &mut passages).await?;
        }
        note_unread(context, job, &models, claim, &by_id, &chosen).await?;
        context.report(&task.id, Step::Judged { done: done + 1, of: claims.len() });
    }
    store.verify_claims(&task.id, &job.id).await?;
    let mut output = serde_json::json!({"claims": claims.len(), "edges": edges});
    if left > 0 {
        output["claims_left"] = left.into();
    }
    if let Some(asker) = asker {
        output["llm"] = serde_json::json!(asker.used());
        output["llm"]["ungrounded"] = ungrounded.into();
    }
    Ok(Outcome { output, then: Vec::new() })
}

/// The language of a claim that a user gave without saying which, where its script tells; short texts in Latin letters are
/// too easily mistaken.
fn language_by_script(claim: &str) -> Option<String> {
    if claim.chars().any(lyra_text::is_cjk) { lyra_text::language(claim).map(str::to_owned) } else { None }
}

/// The best-ranked fragments, by what they were searched for.
struct Chosen {
    /// Of the queries that gather evidence for a claim given by the user, and of all queries for the claim behind the
    /// question.
    for_users: HashMap<ClaimId, Vec<FragmentId>>,
    /// Relevant ones of the other queries, best first.
    relevant: Vec<FragmentId>,
}

impl Chosen {
    async fn of(context: &Context, job: &Job, claims: &[Claim]) -> Result<Self> {
        let mut chosen = Self { for_users: HashMap::new(), relevant: Vec::new() };
        let mut found: Vec<FragmentRank> = Vec::new();
        for (query, ranking) in context.store.rankings(&job.task_id).await? {
            found.extend(ranking.iter().filter(|rank| rank.relevant).cloned());
            if let Some(claim) = query.claim_id {
                let best = ranking.into_iter().take(context.config.candidates_per_user_claim);
                chosen.for_users.insert(claim, best.map(|rank| rank.fragment).collect());
            } else {
                chosen
                    .relevant
                    .extend(ranking.into_iter().filter(|rank| rank.relevant).map(|rank| rank.fragment));
            }
        }
        if let Some(asked) = claims.iter().find(|claim| claim.is_of_question()) {
            let best = best_of(found, context.config.candidates_per_question);
            chosen.for_users.insert(asked.id.clone(), best);
        }
        Ok(chosen)
    }

    /// What was gathered for a claim given by the user; nothing for any other.
    fn gathered(&self, claim: &Claim) -> &[FragmentId] {
        self.for_users.get(&claim.id).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Notes candidates whose language, or that of the claim, no model reads: what was gathered for a claim given by the user;
/// for an extracted claim that is not read, the best-ranked passages of other sources. Which unread passages are close to an
/// extracted claim is not known, so that none of them is a candidate.
async fn note_unread(
    context: &Context,
    job: &Job,
    models: &Models,
    claim: &Claim,
    by_id: &HashMap<&FragmentId, &TaskFragment>,
    chosen: &Chosen,
) -> Result<()> {
    let reads_claim = models.read(claim.language.as_deref());
    let origin = claim.source_fragment_id.as_ref().and_then(|id| by_id.get(id)).map(|f| &f.source_key);
    let (candidates, places) = match (origin, reads_claim) {
        (None, _) => (chosen.gathered(claim), usize::MAX),
        (Some(_), false) => (chosen.relevant.as_slice(), context.config.candidates_per_claim),
        (Some(_), true) => return Ok(()),
    };
    let mut unread: Vec<(FragmentId, NotJudged)> = Vec::new();
    for fragment in candidates.iter().filter_map(|id| by_id.get(id)) {
        let counts = Some(&fragment.source_key) != origin
            && !(reads_claim && models.read(fragment.language.as_deref()))
            && unread.iter().all(|(id, _)| *id != fragment.fragment.id);
        if counts && unread.len() < places {
            unread.push((fragment.fragment.id.clone(), NotJudged::Language));
        }
    }
    if !unread.is_empty() {
        context.store.add_not_judged(&claim.id, &unread, &job.id).await?;
    }
    Ok(())
}

/// The fragments that rank best in any of several rankings, each once.
fn best_of(mut found: Vec<FragmentRank>, limit: usize) -> Vec<FragmentId> {
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.fragment.cmp(&b.fragment)));
    let mut seen = HashSet::new();
    let distinct = found.into_iter().map(|rank| rank.fragment).filter(|id| seen.insert(id.clone()));
    distinct.take(limit).collect()
}

/// Vectors of the counter-claims, where rules make one and places are kept for what is close to it.
async fn counter_vectors(
    context: &Context,
    models: &Models,
    claims: &[Claim],
) -> Result<HashMap<ClaimId, Vec<f32>>> {
    if context.config.counter_candidates == 0 {
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
    let vectors =
        if texts.is_empty() { Vec::new() } else { context.inference.embed(TextRole::Query, &texts).await? };
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
    context: &Context,
    job: &Job,
    models: &Models,
    claim: &Claim,
    claim_vector: &[f32],
    candidates: &[&'f TaskFragment],
    passages: &mut HashMap<&'f FragmentId, Passage>,
) -> Result<usize> {
    let judged = context.store.load_judged_fragments(&claim.id).await?;
    let candidates: Vec<&&TaskFragment> =
        candidates.iter().filter(|f| !judged.contains(&f.fragment.id)).collect();
    let judge = Judge { inference: context.inference.as_ref(), config: &context.config, models };
    let fresh: Vec<&TaskFragment> =
        candidates.iter().map(|f| **f).filter(|f| !passages.contains_key(&f.fragment.id)).collect();
    let against: Vec<Against<'_>> = fresh
        .iter()
        .map(|f| Against { text: &f.fragment.text_content, language: f.language.as_deref(), title: &f.title })
        .collect();
    for (fragment, passage) in fresh.iter().zip(judge.read(&against).await?) {
        passages.insert(&fragment.fragment.id, passage);
    }
    let (candidates, read): (Vec<&TaskFragment>, Vec<&Passage>) =
        candidates.iter().filter_map(|f| Some((**f, passages.get(&f.fragment.id)?))).unzip();
    let claimed = Claimed {
        text: &claim.claim_text,
        language: claim.language.as_deref(),
        vector: claim_vector,
        origin: match &claim.source_fragment_id {
            Some(_) => Origin::Passage,
            None if claim.is_of_question() => Origin::Question,
            None => Origin::User,
        },
    };
    let verdicts = judge.verdicts(&claimed, &read).await?;
    if !verdicts.is_empty() && verdicts.iter().all(Option::is_none) {
        let warning =
            format!("a claim was not judged, because it is longer than the NLI model reads: {}", claim.id);
        context.store.add_warning(&job.task_id, &warning).await?;
    }

    let mut edges: Vec<Edge> = Vec::new();
    let mut not_judged: Vec<(FragmentId, NotJudged)> = Vec::new();
    for ((fragment, passage), verdict) in candidates.into_iter().zip(read).zip(verdicts) {
        let Some(verdict) = verdict else {
            let why = if passage.is_empty() { NotJudged::NoText } else { NotJudged::TooLong };
            not_judged.push((fragment.fragment.id.clone(), why));
            continue;
        };
        edges.push(Edge::Nli {
            fragment: fragment.fragment.id.clone(),
            claim: claim.id.clone(),
            judgement: verdict.judgement,
            premise: verdict.premise,
            discrepancies: verdict.discrepancies,
            model: models.classifier.clone(),
            source_domain_category: fragment.domain_category.clone(),
            target_domain_category: None,
        });
    }
    if !not_judged.is_empty() {
        context.store.add_not_judged(&claim.id, &not_judged, &job.id).await?;
    }
    context.store.add_edges(&job.task_id, &edges, &job.id).await?;
    Ok(edges.len())
}

/// Says that the time limit left claims unjudged.
async fn warn_of_time(context: &Context, task: &Task, left: usize, of: usize) -> Result<()> {
    let seconds = task.config.budget.max_seconds;
    let warning = format!(
        "the time limit of {seconds} s is used up: {left} of {of} claims were not judged against what was found; \
         raise the limit and resume the task to judge them"
    );
    context.store.add_warning(&task.id, &warning).await
}

/// Says once per language that passages or claims were left unjudged.
async fn warn_of_unread(
    context: &Context,
    job: &Job,
    models: &Models,
    fragments: &[TaskFragment],
    claims: &[Claim],
) -> Result<()> {
    let languages = fragments.iter().map(|f| &f.language).chain(claims.iter().map(|c| &c.language));
    let unread: std::collections::BTreeSet<&str> =
        languages.filter_map(|l| l.as_deref()).filter(|l| !models.read(Some(l))).collect();
    for language in unread {
        context.store.add_warning(&job.task_id, &unread_language(language, models)).await?;
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

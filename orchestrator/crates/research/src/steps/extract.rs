//! Claims from what the searches found (evidence design, section 2, step 9): sentences by rules, or the statements of a
//! language model where there is one and its statements are those of the passage.

mod bearing;
mod stated;

use crate::Result;
use crate::context::Context;
use crate::ports::{EmbeddingTarget, FragmentRank, Models, TaskFragment, TextRole};
use crate::steps::ask::Asker;
use crate::steps::embed;
use lyra_domain::{Claim, Extraction, Extractor, FragmentId, Job, Probability, Query, Task, vector};
use lyra_text::{Assertion, guard};
use stated::Stated;
use std::collections::{HashMap, HashSet};

/// What one number in a statement takes from its score.
const NUMBER_PENALTY: f64 = 0.04;
/// Numbers beyond this take nothing more.
const MAX_PENALISED_NUMBERS: usize = 4;

/// A sentence that may become a claim.
struct Candidate {
    claim: Claim,
    /// See [`score`]. Closeness is the sentence's cosine with the task's question, or the rank of its fragment when the
    /// models do not read the query.
    score: f64,
}

/// Extracts claims from the relevant fragments of the task's queries and stores them. Which sentences are chosen
/// depends on the rankings and on remembered answers alone, so that doing it again after a crash chooses the same.
/// Returns how many statements of a language model were left out because their passage does not say them.
pub(crate) async fn run(
    context: &Context,
    job: &Job,
    task: &Task,
    models: &Models,
    fragments: &HashMap<&FragmentId, &TaskFragment>,
    asker: Option<&Asker<'_>>,
) -> Result<usize> {
    let limit = task.config.max_claims.unwrap_or(context.config.max_claims);
    let mut chosen: Vec<Candidate> = Vec::new();
    let mut seen = HashSet::new();
    let rankings = context.store.rankings(&task.id).await?;
    let stated = match asker {
        Some(asker) => Stated::ask(context, asker, task, &rankings, fragments).await?,
        None => Stated::default(),
    };
    for (query, ranking) in rankings {
        if query.claim_id.is_none() {
            let found = candidates(context, task, models, (&query, &ranking), fragments, &stated).await?;
            for candidate in found {
                if seen.insert(candidate.claim.id.clone()) {
                    chosen.push(candidate);
                }
            }
        }
    }
    let known = context.store.task_claims(&task.id).await?;
    let asked = known.iter().find(|claim| claim.is_of_question());
    if let Some(asked) = asked {
        chosen.retain(|candidate| names_the_same(asked, &candidate.claim, fragments));
    }
    chosen.sort_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| a.claim.claim_text.cmp(&b.claim.claim_text))
    });
    chosen.truncate(limit.saturating_mul(4));
    if let Some(asked) = asked {
        let close = chosen.len();
        chosen = bearing::on(context, models, asked, chosen, fragments).await?;
        if chosen.is_empty() && close > 0 {
            let warning = format!(
                "no claim was extracted: none of the statements close to the question ({close}) supports or refutes the claim \
                 behind it"
            );
            context.store.add_warning(&task.id, &warning).await?;
        }
    }

    // What answers the question in its own words is a finding nonetheless.
    let stored: Vec<Claim> = known.into_iter().filter(|claim| !claim.is_of_question()).collect();
    let ids: HashSet<_> = stored.iter().map(|claim| &claim.id).collect();
    let claims = chosen.into_iter().map(|candidate| candidate.claim);
    let claims: Vec<Claim> = claims.filter(|claim| !ids.contains(&claim.id)).collect();
    let mut distinct = without_duplicates(context, models, &stored, &claims).await?;
    let extracted = stored.iter().filter(|claim| claim.source_fragment_id.is_some()).count();
    distinct.truncate(limit.saturating_sub(extracted));
    context.store.add_claims(&distinct, &job.id).await?;
    Ok(stated.ungrounded)
}

/// Whether a claim, with the title of its work, names what the claim behind the question names. One that does not may be close to the
/// question and is on something else.
fn names_the_same(asked: &Claim, claim: &Claim, fragments: &HashMap<&FragmentId, &TaskFragment>) -> bool {
    let fragment = claim.source_fragment_id.as_ref().and_then(|id| fragments.get(id));
    let title = fragment.map_or("", |fragment| fragment.title.as_str());
    guard::missing(&asked.claim_text, &guard::Passage::of(title, &claim.claim_text)).is_empty()
}

/// Check-worthy atomic claims of the query's relevant fragments, or what a language model stated of them, the best few of each
/// fragment.
async fn candidates(
    context: &Context,
    task: &Task,
    models: &Models,
    (query, ranking): (&Query, &[FragmentRank]),
    fragments: &HashMap<&FragmentId, &TaskFragment>,
    stated: &Stated,
) -> Result<Vec<Candidate>> {
    let mut found: Vec<(&FragmentId, Candidate)> = Vec::new();
    for rank in ranking.iter().filter(|rank| rank.relevant) {
        let Some(fragment) = fragments.get(&rank.fragment) else { continue };
        let language = fragment.language.as_deref();
        if let Some(claims) = stated.of(&rank.fragment) {
            for (text, confidence) in claims {
                let mut claim =
                    Claim::new(&task.id, text, Some(rank.fragment.clone()), language.map(str::to_owned));
                claim.extraction =
                    Some(Extraction { extracted_by: Extractor::LanguageModel, score: *confidence });
                let score = score(confidence.get(), rank.score, text);
                found.push((&rank.fragment, Candidate { claim, score }));
            }
            continue;
        }
        let atoms = lyra_text::claim::atoms(&fragment.fragment.text_content, language);
        for atom in atoms.into_iter().filter(|atom| atom.worth >= context.config.min_check_worthiness) {
            let mut claim =
                Claim::new(&task.id, &atom.text, Some(rank.fragment.clone()), language.map(str::to_owned));
            claim.extraction =
                Some(Extraction { extracted_by: Extractor::Rules, score: Probability::clamped(atom.worth) });
            let score = score(atom.worth, rank.score, &claim.claim_text);
            found.push((&rank.fragment, Candidate { claim, score }));
        }
    }
    if models.read(query.language.as_deref()) && !found.is_empty() {
        let mut texts = vec![task.query.clone()];
        texts.extend(found.iter().map(|(_, candidate)| candidate.claim.claim_text.clone()));
        let vectors = context.inference.embed(TextRole::Query, &texts).await?;
        if let Some((question, sentences)) = vectors.split_first() {
            let closeness: Vec<f32> =
                sentences.iter().map(|sentence| vector::dot(question, sentence)).collect();
            for ((_, candidate), closeness) in found.iter_mut().zip(&closeness) {
                let worth = candidate.claim.extraction.map_or(0.0, |extraction| extraction.score.get());
                candidate.score = score(worth, f64::from(*closeness), &candidate.claim.claim_text);
            }
            let mut closeness = closeness.into_iter();
            found.retain(|_| closeness.next().is_some_and(|c| c >= context.config.question_similarity));
        }
    }
    found.sort_by(|(_, a), (_, b)| {
        b.score.total_cmp(&a.score).then_with(|| a.claim.claim_text.cmp(&b.claim.claim_text))
    });
    let mut taken: HashMap<&FragmentId, usize> = HashMap::new();
    Ok(found
        .into_iter()
        .filter_map(|(fragment, candidate)| {
            let taken = taken.entry(fragment).or_default();
            *taken += 1;
            (*taken <= context.config.claims_per_fragment).then_some(candidate)
        })
        .collect())
}

/// A quarter check-worthiness, the rest closeness to the question, less for every number: the more figures a statement has,
/// the fewer other sources can speak to it.
fn score(worth: f64, closeness: f64, text: &str) -> f64 {
    let numbers = text.split_whitespace().filter(|word| word.contains(|c: char| c.is_ascii_digit())).count();
    0.25 * worth + 0.75 * closeness - NUMBER_PENALTY * numbers.min(MAX_PENALISED_NUMBERS) as f64
}

/// Drops claims that say the same as an earlier one: cosine at or above the limit, and the same polarity, numbers, hedges and
/// beings.
async fn without_duplicates(
    context: &Context,
    models: &Models,
    earlier: &[Claim],
    claims: &[Claim],
) -> Result<Vec<Claim>> {
    let mut vectors = embed::claims(context, models, earlier).await?;
    let texts: Vec<String> = claims.iter().map(|claim| claim.claim_text.clone()).collect();
    vectors.extend(context.inference.embed(TextRole::Query, &texts).await?);
    let all: Vec<&Claim> = earlier.iter().chain(claims).collect();
    let asserted: Vec<Assertion> = all.iter().map(|claim| Assertion::of(&claim.claim_text)).collect();
    let mut kept: Vec<usize> = (0..earlier.len()).collect();
    for new in earlier.len()..all.len() {
        let readable = models.read(all[new].language.as_deref());
        let duplicate = kept.iter().any(|&old| {
            let same = vector::dot(&vectors[old], &vectors[new]) >= context.config.duplicate_similarity;
            readable && same && asserted[old].agrees(&asserted[new])
        });
        if !duplicate {
            kept.push(new);
        }
    }
    let new = kept.split_off(earlier.len());
    let distinct: Vec<Claim> = new.iter().map(|&i| all[i].clone()).collect();
    let targets = distinct.iter().map(|claim| EmbeddingTarget::Claim(claim.id.clone()));
    let made: Vec<_> = targets.zip(new.into_iter().map(|i| std::mem::take(&mut vectors[i]))).collect();
    context.store.put_embeddings(&models.embedder, &made).await?;
    Ok(distinct)
}

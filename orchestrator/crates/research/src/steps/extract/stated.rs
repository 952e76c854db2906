//! What a language model states of the relevant fragments, as far as they say it themselves.

use crate::Result;
use crate::context::Context;
use crate::ports::{FragmentRank, TaskFragment};
use crate::steps::ask::{Asker, ExtractClaims};
use lyra_domain::{FragmentId, Probability, Query, Task};
use lyra_text::claim::{MAX_CHARS, MIN_CHARS};
use std::collections::HashMap;

/// Statements by fragment; a fragment that is not in it is left to the rules.
#[derive(Debug, Default)]
pub(super) struct Stated {
    by_fragment: HashMap<FragmentId, Vec<(String, Probability)>>,
    /// Statements left out because the fragment does not say them.
    pub(super) ungrounded: usize,
}

impl Stated {
    /// Asks about every relevant fragment of the task's queries once, the best ranked first: the time for it may end.
    pub(super) async fn ask(
        context: &Context,
        asker: &Asker<'_>,
        task: &Task,
        rankings: &[(Query, Vec<FragmentRank>)],
        fragments: &HashMap<&FragmentId, &TaskFragment>,
    ) -> Result<Self> {
        let mut places: HashMap<&FragmentId, usize> = HashMap::new();
        for (_, ranking) in rankings.iter().filter(|(query, _)| query.claim_id.is_none()) {
            for (place, rank) in ranking.iter().enumerate().filter(|(_, rank)| rank.relevant) {
                let best = places.entry(&rank.fragment).or_insert(place);
                *best = place.min(*best);
            }
        }
        let mut asked: Vec<(usize, &TaskFragment)> =
            places.iter().filter_map(|(id, place)| Some((*place, *fragments.get(id)?))).collect();
        asked.sort_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| a.1.fragment.id.as_str().cmp(b.1.fragment.id.as_str()))
        });
        let questions: Vec<ExtractClaims<'_>> = asked
            .iter()
            .map(|(_, fragment)| ExtractClaims {
                fragment: fragment.fragment.id.as_str(),
                question: &task.query,
                limit: context.config.claims_per_fragment,
                title: &fragment.title,
                heading: fragment.fragment.heading_context.as_deref().unwrap_or_default(),
                text: &fragment.fragment.text_content,
            })
            .collect();
        let answers = asker.ask_all(&questions).await?.answers;

        let mut stated = Self::default();
        for ((_, fragment), answer) in asked.into_iter().zip(answers) {
            let Some(answer) = answer else { continue };
            let all = answer.claims.len();
            let kept: Vec<(String, Probability)> = answer
                .claims
                .into_iter()
                .map(|claim| (lyra_text::normalise(&claim.text), Probability::clamped(claim.confidence)))
                .filter(|(text, _)| is_statement_of(text, fragment))
                .collect();
            stated.ungrounded += all - kept.len();
            stated.by_fragment.insert(fragment.fragment.id.clone(), kept);
        }
        if stated.ungrounded > 0 {
            let warning = format!(
                "{} statements of the language model were left out: their words, numbers or negations are not those of \
                 their passage",
                stated.ungrounded
            );
            context.store.add_warning(&task.id, &warning).await?;
        }
        Ok(stated)
    }

    /// What was stated of a fragment, which may be nothing; `None` when rules have to do.
    pub(super) fn of(&self, fragment: &FragmentId) -> Option<&[(String, Probability)]> {
        self.by_fragment.get(fragment).map(Vec::as_slice)
    }
}

/// A statement of the right length that the fragment makes, and no question.
fn is_statement_of(text: &str, fragment: &TaskFragment) -> bool {
    let language = fragment.language.as_deref();
    let least = if language == Some("ja") { MIN_CHARS / 2 } else { MIN_CHARS };
    let heading = fragment.fragment.heading_context.as_deref().unwrap_or_default();
    let context = format!("{}\n{heading}", fragment.title);
    (least..=MAX_CHARS).contains(&text.chars().count())
        && !text.ends_with(['?', '？'])
        && lyra_text::is_grounded(text, &fragment.fragment.text_content, &context, language)
}

//! One labeled passage judged as the pipeline judges it, in the terms of a labeled file.

use super::LabelledPassage;
use lyra_domain::NliScores;
use lyra_domain::figures::Label;
use lyra_domain::quote::GAP;
use lyra_research::ports::{Inference, Models};
use lyra_research::{Against, ResearchConfig, Result, hold_against};
use lyra_text::normalise;
use std::collections::BTreeSet;

/// The judgment of a passage.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    pub(super) label: Label,
    pub(super) scores: NliScores,
    /// Probability of the label.
    pub(super) confidence: f64,
    /// Numbers of the sentences that decided.
    pub(super) rationale: Vec<usize>,
}

/// The judgment of a passage for a claim; `None` when it was not judged, because it or the claim is in an unsupported
/// language, or because the claim is too long for the models.
pub(super) async fn judged(
    inference: &dyn Inference,
    models: &Models,
    config: &ResearchConfig,
    claim: &str,
    passage: &LabelledPassage,
) -> Result<Option<Judged>> {
    let text = passage.sentences.iter().map(|sentence| sentence.trim()).collect::<Vec<_>>().join(" ");
    let language = lyra_text::language(&text);
    if !models.read(language) || !models.read(lyra_text::language(claim)) {
        return Ok(None);
    }
    let title = passage.title.as_deref().unwrap_or_default();
    let against = Against { text: &text, language, title };
    let verdict = hold_against(inference, config, claim, &[against]).await?.pop().flatten();
    Ok(verdict.map(|verdict| Judged {
        label: verdict.judgement.relation.into(),
        scores: verdict.judgement.scores,
        confidence: verdict.judgement.confidence.get(),
        rationale: sentences_of(&verdict.premise, &passage.sentences),
    }))
}

/// Which sentences of a passage a quotation covers: those of which it has at least half, and those that contain at
/// least half of it. Parts of a quotation with a gap between them are matched one by one.
pub(super) fn sentences_of(quotation: &str, sentences: &[String]) -> Vec<usize> {
    let (mut all, mut owner) = (Vec::new(), Vec::new());
    for (i, sentence) in sentences.iter().enumerate() {
        let sentence = squeezed(sentence);
        owner.extend(std::iter::repeat_n(i, sentence.len()));
        all.extend(sentence);
    }
    let found: BTreeSet<usize> = quotation.split(GAP).flat_map(|part| owners(part, &all, &owner)).collect();
    found.into_iter().collect()
}

fn owners(part: &str, all: &[char], owner: &[usize]) -> BTreeSet<usize> {
    let part = squeezed(part);
    if part.is_empty() {
        return BTreeSet::new();
    }
    let Some(at) = all.windows(part.len()).position(|window| window == part) else { return BTreeSet::new() };
    let covered = &owner[at..at + part.len()];
    let held = |i: usize| covered.iter().filter(|&&owner| owner == i).count();
    let whole = |i: usize| owner.iter().filter(|&&owner| owner == i).count();
    covered.iter().copied().filter(|&i| 2 * held(i) >= whole(i) || 2 * held(i) >= part.len()).collect()
}

fn squeezed(text: &str) -> Vec<char> {
    normalise(text).chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_found_in_their_passage() {
        let sentences =
            ["One is  here.", "Two is here.", "Three is long and has many words."].map(str::to_owned);
        let check = |quotation: &str, expect: &[usize]| {
            assert_eq!(sentences_of(quotation, &sentences), expect, "{quotation}");
        };
        check("Two is here.", &[1]);
        check("One is here. Two is here.", &[0, 1]);
        check("has many words.", &[2]);
        check("One is here. … Three is long and has many words.", &[0, 2]);
        check("Four is here.", &[]);
        check("", &[]);
    }
}

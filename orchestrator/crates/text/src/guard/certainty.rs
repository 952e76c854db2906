//! Certainty: a claim that says "causes" or "proves" of what the passage calls an association or a possibility.
//!
//! On training claims with their rationales (`tests/guards.rs`) 25 of 29 stand beside a refutation: it rules support out, for
//! an association does not entail a cause.

use super::Side;
use super::term::{Words, lower, split};
use crate::polarity::polarity;

/// How much surer the claim is than the sentences that decided.
pub(super) fn difference(claim: &str, deciding: &str) -> Option<(String, Option<Side>)> {
    // What is not even associated is no cause.
    if names_cause(deciding) || (polarity(claim).negated && polarity(deciding).negated) {
        return None;
    }
    let is_causal = names_cause(claim);
    let (claim, deciding) = (Words::of(claim), Words::of(deciding));
    let hedged = |words: &Words| words.matches(HEDGED);
    if hedged(&claim) || deciding.matches(CERTAIN) {
        return None;
    }
    let said = if is_causal && deciding.matches(ASSOCIATED) && !claim.matches(ASSOCIATED) {
        "certainty: a cause in the claim, an association in the passage"
    } else if claim.matches(CERTAIN) && hedged(&deciding) {
        "certainty: certain in the claim, possible in the passage"
    } else {
        return None;
    };
    Some((said.to_owned(), Some(Side::Supports)))
}

/// Whether a text speaks of a cause, and not of deaths by their causes ("all-cause mortality", "the cause of death").
fn names_cause(text: &str) -> bool {
    let words: Vec<String> = split(text).iter().flat_map(|word| word.split(['-', '/'])).map(lower).collect();
    let at = |i: usize| words.get(i).map_or("", String::as_str);
    words.iter().enumerate().filter(|(_, word)| CAUSAL.contains(&word.as_str())).any(|(i, _)| {
        let of_any = i.checked_sub(1).is_some_and(|before| EVERY.contains(&at(before)));
        let of_death = at(i + 1) == "of" && DEATHS.contains(&at(i + 2));
        !(of_any || of_death || at(i + 1) == "specific")
    })
}

const CAUSAL: &[&str] = &["cause", "causes", "caused", "causing", "causal", "causally"];
/// Words before a "cause" that people die of.
const EVERY: &[&str] = &["all", "any", "every", "natural", "other"];
/// What follows such a cause and an "of".
const DEATHS: &[&str] = &["death", "deaths", "mortality"];
const CERTAIN: &str =
    "proves prove proven proved definitively conclusively certainly undoubtedly guarantees settled";
const ASSOCIATED: &str =
    "associated association associations correlat* linked link related relationship predict*";
const HEDGED: &str = "may might could possibly perhaps probably potentially suggest* likely appear appears appeared seem \
    seems seemed hypothesi* speculat* putative";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(claim: &str, passage: &str, expect: bool) {
        assert_eq!(difference(claim, passage).is_some(), expect, "{claim} | {passage}");
    }

    #[test]
    fn surer_than_the_passage() {
        check("Naps cause weight gain.", "Naps were associated with weight gain.", true);
        check("It is proven that naps help.", "Naps may help.", true);
        check("Naps may cause weight gain.", "Naps were associated with weight gain.", false);
        check("Naps help.", "Naps may help.", false);
        check("Naps cause weight gain.", "Naps caused weight gain.", false);
    }

    #[test]
    fn a_denied_cause_and_a_denied_association_agree() {
        check("Vaccines do not cause autism.", "MMR vaccination was not associated with autism.", false);
        check("Vaccines do not cause autism.", "MMR vaccination was associated with autism.", true);
        check("Vaccines cause autism.", "MMR vaccination was not associated with autism.", true);
    }

    #[test]
    fn deaths_by_their_causes() {
        let lower = "Such a diet was associated with lower mortality from every disease.";
        check("Vegetarians have lower all-cause mortality.", lower, false);
        check("Vegetarians die less often of any cause.", lower, false);
        check("Cancer is a rarer cause of death in vegetarians.", lower, false);
        check("Meat causes cancer deaths.", "Meat was associated with all-cause mortality.", true);
        check("Meat is a cause of cancer.", "Meat was associated with cancer.", true);
    }
}

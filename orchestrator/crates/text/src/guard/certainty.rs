//! Certainty: a claim that says "causes" or "proves" of what the passage calls an association or a possibility.
//!
//! On training claims with their rationales (`tests/guards.rs`) 27 of 34 stand beside a refutation: it rules support out, for
//! an association does not entail a cause.

use super::Side;
use super::term::Words;

/// How much surer the claim is than the sentences that decided.
pub(super) fn difference(claim: &str, deciding: &str) -> Option<(String, Option<Side>)> {
    let (claim, deciding) = (Words::of(claim), Words::of(deciding));
    let hedged = |words: &Words| words.matches(HEDGED);
    if hedged(&claim) || deciding.matches(CAUSAL) || deciding.matches(CERTAIN) {
        return None;
    }
    let said = if claim.matches(CAUSAL) && deciding.matches(ASSOCIATED) && !claim.matches(ASSOCIATED) {
        "certainty: a cause in the claim, an association in the passage"
    } else if claim.matches(CERTAIN) && hedged(&deciding) {
        "certainty: certain in the claim, possible in the passage"
    } else {
        return None;
    };
    Some((said.to_owned(), Some(Side::Supports)))
}

const CAUSAL: &str = "cause causes caused causing causal causally";
const CERTAIN: &str =
    "proves prove proven proved definitively conclusively certainly undoubtedly guarantees settled beyond";
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
}

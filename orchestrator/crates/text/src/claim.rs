//! Which sentences are worth checking, without a language model (evidence design, section 2, step 9).
//!
//! A claim states something about the world that other sources can support or contradict. Rules over small word
//! lists: a finite verb, a subject that stands on its own, no question, no boilerplate; findings raise the score,
//! methods and aims lower it.

mod atom;
mod counter;
mod english;
mod japanese;

pub use atom::{Atom, atoms};
pub use counter::counter_claim;
pub(crate) use english::verbs::{Form, formed};

use crate::language;

/// Lowest score that is worth checking.
pub const WORTHY: f64 = 0.5;
/// Fewest characters of a claim; half as many in Japanese, where a word takes two.
pub const MIN_CHARS: usize = 20;
/// Most characters of a claim.
pub const MAX_CHARS: usize = 300;

/// How much a sentence is worth checking, in [0, 1]; 0 when it cannot be a claim at all.
///
/// `code` is the sentence's ISO 639-1 code, detected when `None`. Languages without rules get a score only by length
/// and punctuation, at most [`WORTHY`].
pub fn check_worthiness(sentence: &str, code: Option<&str>) -> f64 {
    let code = code.or_else(|| language(sentence));
    let stated = statement(sentence, code);
    let min = if code == Some("ja") { MIN_CHARS / 2 } else { MIN_CHARS };
    if !(min..=MAX_CHARS).contains(&stated.chars().count()) || stated.trim_end().ends_with(['?', '？']) {
        return 0.0;
    }
    let score = match code {
        Some("en") | None => english::score(sentence, stated),
        Some("ja") => japanese::score(stated),
        Some(_) => WORTHY,
    };
    score.clamp(0.0, 1.0)
}

/// The statement of a sentence, without its introduction: "RESULTS In contrast, we found that naps help." → "naps
/// help."
///
/// A part of `sentence`, never empty unless that is. Section labels, connectives and "we found that" go;
/// "suggest that" stays, because it is a hedge.
pub fn statement<'a>(sentence: &'a str, code: Option<&str>) -> &'a str {
    let trimmed = sentence.trim();
    match code {
        Some("ja") => japanese::statement(trimmed),
        Some("en") | None => english::statement(trimmed),
        Some(_) => trimmed,
    }
}

/// The text with a capital first, unless its first word is a name with capitals or digits of its own ("mTOR").
pub(crate) fn capitalised(text: &str) -> String {
    let word = text.split_whitespace().next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if !word.chars().any(|c| c.is_uppercase() || c.is_numeric()) => {
            first.to_uppercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

/// Whether the text holds one of the phrases; English phrases carry their own spaces where a word must end.
fn has_phrase(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn worthy(sentence: &str) {
        let score = check_worthiness(sentence, None);
        assert!(score >= WORTHY, "{score:.2} {sentence}");
    }

    #[track_caller]
    fn unworthy(sentence: &str) {
        let score = check_worthiness(sentence, None);
        assert!(score < WORTHY, "{score:.2} {sentence}");
    }

    #[test]
    fn findings_are_worth_checking() {
        worthy("A short daytime nap improved word recall in healthy adults.");
        worthy("Biochar did not change maize yield on fertile soils.");
        worthy("CONCLUSIONS Aspirin is associated with a lower risk of colorectal cancer.");
        worthy("We found that telework reduces the output of call centre agents by 8%.");
        worthy("Mice lacking the gene were significantly heavier than controls.");
        worthy("昼寝は成人の単語記憶を改善した。");
        worthy("在宅勤務の日は出社の日に比べて処理件数が8%少なかった。");
    }

    #[test]
    fn the_rest_is_not() {
        unworthy("Does a short nap improve memory in adults?");
        unworthy("This suggests that they may be useful.");
        unworthy("We examined the effect of naps on memory in 38 volunteers.");
        unworthy("The aim of this study was to determine whether naps improve memory.");
        unworthy("Further research is needed to confirm these results in other countries.");
        unworthy("© 2014 The Authors. Published by Elsevier, all rights reserved.");
        unworthy("This work was funded by the National Science Foundation.");
        unworthy("Effects of biochar on crop yield in acid soils");
        unworthy("Naps help.");
        unworthy(
            "In this work, we purchased the resulting compounds and evaluated them on a series of interfaces.",
        );
        unworthy("Western blots were employed to detect the increased expression of the receptor.");
        unworthy("The study population consisted of 161 patients with a lower risk of stroke.");
        unworthy("Understanding the pathways that lead to obesity is of paramount medical importance.");
        unworthy("The mechanisms that increase the risk remain largely unknown.");
        unworthy("You know that naps improve memory in adults.");
        unworthy("本研究の目的は昼寝の効果を検討することである。");
        unworthy("成人六十名を昼寝群と対照群に無作為に割り付けた。");
        unworthy("短い昼寝は記憶を改善するのだろうか。");
        unworthy("これはさらなる検討を要する。");
    }

    #[test]
    fn statements() {
        let check = |sentence, code, expect| assert_eq!(statement(sentence, Some(code)), expect);
        check("RESULTS In contrast, we found that naps help.", "en", "naps help.");
        check("CONCLUSION: These results show that naps help.", "en", "naps help.");
        check("CONCLUSION: These results suggest that naps help.", "en", "results suggest that naps help.");
        check("However, naps help.", "en", "naps help.");
        check("Most significantly, naps help.", "en", "naps help.");
        check("In this genome-wide investigation, naps help.", "en", "naps help.");
        check("Using a novel assay, we report here that naps help.", "en", "naps help.");
        check("From these results we conclude that naps help.", "en", "naps help.");
        check("It has been shown that naps help.", "en", "naps help.");
        check("This finding suggests that naps may help.", "en", "naps may help.");
        check("Using mice, we show that naps help.", "en", "Using mice, we show that naps help.");
        check("In this region, naps help.", "en", "In this region, naps help.");
        check("Naps help.", "en", "Naps help.");
        check("しかし、昼寝は役立つ。", "ja", "昼寝は役立つ。");
        check("However, ", "en", "However,");
    }

    proptest! {
        #[test]
        fn scores_of_anything_are_shares(text in any::<String>(), code in "en|ja|de") {
            for code in [Some(code.as_str()), None] {
                prop_assert!((0.0..=1.0).contains(&check_worthiness(&text, code)));
                prop_assert!(text.contains(statement(&text, code)));
                prop_assert_eq!(statement(&text, code).is_empty(), text.trim().is_empty());
            }
        }

        #[test]
        fn scores_of_english_words_are_shares(text in "((RESULTS|We|found|that|However,|Naps|is|not|\\.|:|—) ?){0,30}") {
            prop_assert!((0.0..=1.0).contains(&check_worthiness(&text, Some("en"))));
            prop_assert_eq!(statement(&text, Some("en")).is_empty(), text.trim().is_empty());
        }
    }
}

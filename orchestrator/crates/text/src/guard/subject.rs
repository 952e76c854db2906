//! Subject and outcome: what the claim names has to occur in the passage or its title.
//!
//! Synonyms are many, and a rule that blocks true evidence is worse than none. So three things are asked for: symbols, names
//! and technical words ([`super::term`]), things with a closed set of words ([`super::concepts`]), and a tenth of the
//! claim's content words at all.

use super::concepts::CONCEPTS;
use super::term::{Words, lower, split, terms};

/// Least share of a claim's content words that a passage on the same subject holds.
const SHARED: f64 = 0.1;
/// Fewest content words of which a share says something.
const MIN_WORDS: usize = 4;
/// Most that is named as missing.
const MAX_MISSING: usize = 5;

/// What a claim names and the passage does not, as the claim writes it.
pub(super) fn missing(claim: &str, passage: &Words) -> Vec<String> {
    let words = split(claim);
    let mut missing: Vec<String> = Vec::new();
    for term in terms(&words).iter().filter(|term| !passage.have(term)) {
        if !missing.iter().any(|found| found == term.text) {
            missing.push(term.text.to_owned());
        }
    }
    let claimed = Words::of(claim);
    for (name, said, also) in CONCEPTS {
        if claimed.matches(said) && !passage.matches(said) && !passage.matches(also) {
            missing.push((*name).to_owned());
        }
    }
    if missing.is_empty() {
        missing = strange(&words, &claimed, passage);
    }
    missing.truncate(MAX_MISSING);
    missing
}

/// The longest content words of a claim with which the passage has next to nothing in common; nothing of any other claim.
fn strange(words: &[String], claimed: &Words, passage: &Words) -> Vec<String> {
    let mut content: Vec<String> = words
        .iter()
        .flat_map(|word| word.split(['-', '/']))
        .map(lower)
        .filter(|word| {
            word.chars().count() >= 3 && !crate::is_stop_word(word) && !word.starts_with(char::is_numeric)
        })
        .collect();
    let found = content.iter().filter(|word| passage.has_stem(word)).count();
    let named = CONCEPTS
        .iter()
        .any(|(_, said, also)| claimed.matches(said) && (passage.matches(said) || passage.matches(also)));
    if named || content.len() < MIN_WORDS || found as f64 >= SHARED * content.len() as f64 {
        return Vec::new();
    }
    content.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    content.dedup();
    content.truncate(3);
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(claim: &str, passage: &str, expect: &[&str]) {
        assert_eq!(missing(claim, &Words::of(passage)), expect, "{claim} | {passage}");
    }

    #[test]
    fn another_subject_or_outcome() {
        check(
            "Vitamin D deficiency is associated with multiple sclerosis.",
            "Vitamin D deficiency, defined as less than 20 ng/mL, was associated with total mortality.",
            &["sclerosis"],
        );
        check(
            "Statins reduce all-cause mortality.",
            "Statins lowered C-reactive protein in men.",
            &["survival"],
        );
        check(
            "Penguins keep warm by huddling together in winter.",
            "Loans to companies became cheaper after the reform.",
            &["penguins", "huddling", "together"],
        );
    }

    #[test]
    fn the_same_in_other_words() {
        check(
            "Heart attacks are rarer in men on aspirin.",
            "Acetylsalicylic acid prevented infarction in men.",
            &[],
        );
        check("Lung tumours grew in smokers.", "Pulmonary carcinoma in people who used tobacco.", &[]);
        check("The treatment prolonged life.", "Overall survival was longer with the treatment.", &[]);
        check("Statins reduce all-cause mortality.", "Statins lowered the number of deaths.", &[]);
    }
}

//! Subject and outcome: what the claim names has to occur in the passage or its title.
//!
//! Synonyms are many, and a rule that blocks true evidence is worse than none. So four things are asked for: symbols, names
//! and technical words ([`super::term`]), things with a closed set of words ([`super::concepts`]), those of a kind with letters
//! or numbers ([`super::designation`]), and a tenth of the claim's content words at all.

use super::concepts::named;
use super::designation;
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
    missing.extend(designation::missing(&words, passage));
    let concepts = named(claim, passage);
    missing.extend(concepts.iter().filter(|(_, there)| !there).map(|(name, _)| (*name).to_owned()));
    if missing.is_empty() && concepts.is_empty() {
        missing = strange(&words, passage);
    }
    missing.truncate(MAX_MISSING);
    missing
}

/// The longest content words of a claim with which the passage has next to nothing in common; nothing of any other claim.
fn strange(words: &[String], passage: &Words) -> Vec<String> {
    let mut content: Vec<String> = words
        .iter()
        .flat_map(|word| word.split(['-', '/']))
        .map(lower)
        .filter(|word| {
            word.chars().count() >= 3 && !crate::is_stop_word(word) && !word.starts_with(char::is_numeric)
        })
        .collect();
    let found = content.iter().filter(|word| passage.has_stem(word)).count();
    if content.len() < MIN_WORDS || found as f64 >= SHARED * content.len() as f64 {
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

    #[test]
    fn everyday_words_are_no_medical_concepts() {
        for (claim, passage) in [
            ("Hearing aids reduce the risk of dementia.", "Hearing aid use was linked to less dementia."),
            ("Ginger aids digestion.", "Ginger helps digestion."),
            ("Hives of bees die in winter.", "Many bees died in winter."),
            ("Lead paint harms children.", "Lead in old houses harms children."),
            ("Painting calms students.", "Art classes calmed students."),
            ("Neural networks predict the weather.", "Deep learning predicts the weather."),
            ("Wildfire smoke harms children.", "Smog of wildfires harms children."),
            ("Radiation from phones is harmless.", "Phones emit harmless waves."),
            ("Snow depresses the price of wood.", "After snow wood costs less."),
            ("Memory foam improves sleep.", "New mattresses improve sleep."),
            ("Breaststroke is a slow style.", "Of all styles of swimming it is the slowest."),
            ("Ant colonies move in spring.", "Ants move in spring."),
            ("Colonial rule slowed trade.", "Empires slowed trade."),
            ("Vaccinium berries ripen in June.", "Bilberries ripen in June."),
            ("Aspiring teachers earn little.", "Those who will teach earn little."),
            ("People stating their age get more replies.", "Profiles with an age got more replies."),
            ("Surgical masks slow the spread of germs.", "Face masks slow the spread of germs."),
        ] {
            check(claim, passage, &[]);
        }
    }

    #[test]
    fn medical_concepts_are_still_missed() {
        for (claim, concept) in [
            ("Poverty spreads AIDS.", "HIV"),
            ("HIV spreads in towns.", "HIV"),
            ("Yoga relieves chronic pain.", "pain"),
            ("Yoga spares neurons.", "neuron"),
            ("Smoking is rarer in towns.", "smoking"),
            ("Cigarettes are cheap in towns.", "smoking"),
            ("Yoga relieves depression.", "depression"),
            ("Yoga helps memory.", "memory"),
            ("Yoga spares the breast.", "breast"),
            ("Yoga spares the colon.", "colorectal"),
            ("Vaccines are cheap in towns.", "vaccine"),
        ] {
            check(claim, "Yoga is popular in towns.", &[concept]);
        }
        check("AIDS is rarer in towns.", "Fewer people in towns were seropositive.", &[]);
        check("Smokers sleep less.", "People who smoke sleep less.", &[]);
        check("Radiotherapy helps.", "Radiation therapy helps.", &[]);
    }
}

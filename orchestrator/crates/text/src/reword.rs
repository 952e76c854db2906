//! A claim in other words, by rules: equivalent claims must be judged equally.

use crate::language;

/// A claim with its effect word replaced by a synonym in the same form ("lowers" for "reduces"), if one is safe, else
/// `None`.
///
/// `code` is the claim's ISO 639-1 code, detected when `None`; there are rules for English.
pub fn reworded(claim: &str, code: Option<&str>) -> Option<String> {
    if !matches!(code.or_else(|| language(claim)), None | Some("en")) {
        return None;
    }
    let at = |start: usize| -> Option<(usize, &str)> {
        let rest = &claim[start..];
        SYNONYMS.iter().find_map(|(word, other)| {
            let after = rest.strip_prefix(word)?;
            let whole = after.is_empty() || after.starts_with([' ', ',', '.', ';', ')']);
            (whole && fits(word, &claim[..start], after)).then_some((word.len(), *other))
        })
    };
    let starts = claim.match_indices(' ').map(|(space, _)| space + 1);
    let (start, (length, other)) = starts.into_iter().find_map(|start| Some((start, at(start)?)))?;
    Some(format!("{}{other}{}", &claim[..start], &claim[start + length..]))
}

/// Whether what stands in the place of a word or phrase means the same there, in a grammatical sentence.
fn fits(word: &str, before: &str, after: &str) -> bool {
    let before: Vec<String> = before.split_whitespace().rev().map(str::to_lowercase).collect();
    let last = before.first().map_or("", String::as_str);
    let head = before.iter().find(|word| !is_adverb(word)).map_or("", String::as_str);
    let clause = after.split([',', ';', '.', ')']).next().unwrap_or_default().to_lowercase();
    let after: Vec<&str> = clause.split_whitespace().collect();
    // What the verb is about, up to the next preposition; none is left behind a verb that stands alone.
    let object: Vec<&str> = after.iter().copied().take_while(|word| continues(word)).collect();
    let (has_object, is_passive) = (!object.is_empty(), BE.contains(&head));
    let near = |word: &str| after.iter().take(8).any(|found| *found == word);
    let is_good = !object.iter().any(|word| is_harm(word));
    let means_the_same = match word {
        "improves" | "improved" | "improve" | "enhances" | "enhanced" | "enhance" | "worsens" => is_good,
        "raises" | "raised" => !object.iter().any(|word| BROUGHT_UP.contains(word)),
        // "Causes patients to sleep", "prevents cells from dividing".
        "causes" | "caused" => !near("to"),
        "prevents" | "prevented" => !near("from"),
        _ => true,
    };
    let is_grammatical = match word {
        "leads to" | "led to" | "protected against" if is_passive => false,
        "protected against" => is_past(head, &after),
        _ if word.contains(' ') => true,
        // "The increases in pressure", "common causes include", "a wage increase causes".
        "increases" | "decreases" | "increase" | "decrease" | "causes" => {
            let is_noun = DETERMINERS.contains(&last) || after.first().is_some_and(|next| is_finite(next));
            has_object && !is_noun
        }
        "increasing" | "reducing" | "lowering" => {
            let is_gerund = GERUNDS_FOLLOW.contains(&head) || head == "in" && word != "increasing";
            has_object && is_gerund
        }
        // Of people and of things that are known by these words, they say something else.
        "caused" | "prevented" if !is_passive => {
            has_object && (HAVE.contains(&head) || is_past(head, &after))
        }
        "raised" | "impaired" if !is_passive => has_object && is_past(head, &after),
        "caused" | "prevented" | "raised" | "impaired" => false,
        // An amount may be an adjective as well: "lowered risk".
        "reduced" | "lowered" | "decreased" | "increased" => has_object != is_passive,
        _ if word.ends_with("ed") => {
            if is_passive {
                !has_object
            } else {
                has_object && is_past(head, &after)
            }
        }
        _ => has_object,
    };
    means_the_same && is_grammatical
}

/// Whether a form in "-ed" is the verb of its clause, as far as the word before it shows ("the drug improved sleep"), and
/// not an adjective ("visually impaired children"): a subject stands before it, and no other verb follows.
fn is_past(head: &str, after: &[&str]) -> bool {
    let is_subject = !(head.is_empty() || head.ends_with([',', ':', ';', ')']) || head.ends_with("ed"));
    let listed =
        [DETERMINERS, GERUNDS_FOLLOW, HAVE, BEFORE_ADJECTIVES].iter().any(|list| list.contains(&head));
    let own = after.iter().take_while(|word| !matches!(**word, "that" | "which" | "who" | "when" | "and"));
    is_subject && !listed && !own.into_iter().any(|word| is_finite(word))
}

/// Whether an object goes on with this word.
fn continues(word: &str) -> bool {
    !(BREAKS.contains(&word) || is_adverb(word) || is_finite(word))
}

fn is_adverb(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ly") && word != "family"
        || matches!(word, "also" | "not" | "never" | "often")
}

/// An auxiliary, or a third person of the table.
fn is_finite(word: &str) -> bool {
    let is_listed = || SYNONYMS.iter().any(|(known, _)| *known == word && known.ends_with('s'));
    BE.contains(&word) || HAVE.contains(&word) || FINITE.contains(&word) || is_listed()
}

/// Whether a lower-case word names something bad: to improve it is not to enhance it.
fn is_harm(word: &str) -> bool {
    HARMS.iter().any(|stem| word.starts_with(stem))
        || ["itis", "osis", "pathy", "emia", "algia"].iter().any(|ending| word.ends_with(ending))
}

const BE: &[&str] = &["is", "are", "was", "were", "be", "been", "being", "get", "gets", "got"];

const HAVE: &[&str] = &["has", "have", "had", "having"];

/// Other verbs that are finite wherever they stand.
const FINITE: &[&str] = &[
    "do", "does", "did", "can", "could", "may", "might", "will", "would", "must", "include", "remain", "vary",
];

/// Between these and a verb stands a noun.
const DETERMINERS: &[&str] = &[
    "the", "a", "an", "these", "those", "this", "with", "of", "and", "or", "no", "such", "common", "main",
    "any", "some", "many", "most", "all", "its", "their", "between",
];

/// After these a form in "-ing" has an object of its own.
const GERUNDS_FOLLOW: &[&str] = &["by", "through", "via", "for", "at", "without", "from"];

/// After these a form in "-ed" is an adjective, besides the determiners.
const BEFORE_ADJECTIVES: &[&str] = &[
    "in", "on", "to", "as", "than", "among", "during", "after", "before", "into", "against", "show", "shows",
    "use", "uses", "using", "take", "taking", "more", "less", "very", "but", "if", "when",
];

/// With these no object begins, and one ends.
const BREAKS: &[&str] = &[
    "in", "on", "by", "for", "with", "from", "to", "at", "as", "and", "or", "but", "than", "that", "which",
    "who", "when", "while", "if", "because", "after", "during", "before", "over", "under", "among",
    "between", "within", "without", "through", "across", "against", "compared", "of", "not",
];

/// What is raised by bringing it up.
const BROUGHT_UP: &[&str] = &[
    "child",
    "children",
    "kids",
    "boys",
    "girls",
    "family",
    "families",
    "cattle",
    "livestock",
    "animals",
    "chickens",
    "pigs",
    "poultry",
    "sheep",
    "question",
    "questions",
    "issue",
    "issues",
    "concern",
    "concerns",
    "doubts",
    "funds",
    "money",
    "capital",
];

/// Beginnings of words for what is bad.
const HARMS: &[&str] = &[
    "pain",
    "symptom",
    "depress",
    "anxi",
    "stress",
    "disease",
    "disorder",
    "syndrome",
    "risk",
    "mortality",
    "death",
    "toxic",
    "inflammation",
    "fatigue",
    "asthma",
    "insomnia",
    "eczema",
    "acne",
    "infection",
    "injur",
    "damage",
    "headache",
    "migraine",
    "obesity",
    "diabetes",
    "cancer",
    "tumor",
    "hypertension",
    "nausea",
    "loss",
    "decline",
    "deficit",
    "impairment",
    "dysfunction",
    "violence",
    "crime",
    "poverty",
    "inequality",
    "pollution",
    "error",
    "burden",
    "severity",
    "suicide",
    "addiction",
    "dementia",
    "apnea",
];

/// A word or phrase, and what can stand in its place.
const SYNONYMS: &[(&str, &str)] = &[
    ("reduces", "lowers"),
    ("reduced", "lowered"),
    ("reduce", "lower"),
    ("reducing", "lowering"),
    ("lowers", "reduces"),
    ("lowered", "reduced"),
    ("lowering", "reducing"),
    ("decreases", "reduces"),
    ("decreased", "reduced"),
    ("decrease", "reduce"),
    ("increases", "raises"),
    ("increased", "raised"),
    ("increase", "raise"),
    ("increasing", "raising"),
    ("raises", "increases"),
    ("raised", "increased"),
    ("improves", "enhances"),
    ("improved", "enhanced"),
    ("improve", "enhance"),
    ("enhances", "improves"),
    ("enhanced", "improved"),
    ("enhance", "improve"),
    ("inhibits", "suppresses"),
    ("inhibited", "suppressed"),
    ("inhibit", "suppress"),
    ("suppresses", "inhibits"),
    ("suppressed", "inhibited"),
    ("suppress", "inhibit"),
    ("activates", "stimulates"),
    ("activated", "stimulated"),
    ("stimulates", "activates"),
    ("stimulated", "activated"),
    ("prevents", "protects against"),
    ("prevented", "protected against"),
    ("protects against", "prevents"),
    ("protected against", "prevented"),
    ("impairs", "worsens"),
    ("impaired", "worsened"),
    ("worsens", "impairs"),
    ("causes", "leads to"),
    ("caused", "led to"),
    ("leads to", "causes"),
    ("led to", "caused"),
    ("is associated with", "is linked to"),
    ("are associated with", "are linked to"),
    ("was associated with", "was linked to"),
    ("were associated with", "were linked to"),
    ("is linked to", "is associated with"),
    ("are linked to", "are associated with"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{numbers, polarity, populations};
    use proptest::prelude::*;

    #[track_caller]
    fn check(claim: &str, expect: Option<&str>) {
        assert_eq!(reworded(claim, Some("en")).as_deref(), expect, "{claim}");
    }

    #[test]
    fn in_other_words() {
        check("Aspirin reduces the risk of stroke.", Some("Aspirin lowers the risk of stroke."));
        check("Metformin activates AMPK.", Some("Metformin stimulates AMPK."));
        check("Vitamin D is associated with sclerosis.", Some("Vitamin D is linked to sclerosis."));
        check("Smoking does not increase the risk.", Some("Smoking does not raise the risk."));
        check("The increases in pressure were small.", None);
        check("The tax raised prices.", Some("The tax increased prices."));
        check("Alcohol impaired memory.", Some("Alcohol worsened memory."));
        check("The drug caused nausea.", Some("The drug led to nausea."));
        check("Statins have reduced mortality.", Some("Statins have lowered mortality."));
        check("AMPK was activated by exercise.", Some("AMPK was stimulated by exercise."));
        check("Naps help by reducing errors.", Some("Naps help by lowering errors."));
        check("Obesity leads to diabetes.", Some("Obesity causes diabetes."));
        check("The vaccine protected against flu.", Some("The vaccine prevented flu."));
        check("Paris is in France.", None);
        check("昼寝は記憶を改善する。", None);
    }

    #[test]
    fn adjectives_stay() {
        check("Visually impaired children read faster with large print.", None);
        check("People who are visually impaired sleep badly.", None);
        check("Patients with impaired memory sleep badly.", None);
        check("Oral activated charcoal is effective.", None);
        check("Treatment with activated charcoal is safe.", None);
        check("Plants grow faster in raised beds.", None);
        check("Trials show improved survival.", None);
        check("Strong reducing agents are toxic.", None);
        check("Dementia is common with increasing age.", None);
    }

    #[test]
    fn passives_stay_where_the_other_word_has_none() {
        check("Children raised by grandparents have higher weights.", None);
        check("They were raised by grandparents.", None);
        check("Scurvy is caused by a lack of vitamin C.", None);
        check("Deaths caused by smoking are rare.", None);
        check("Measles is prevented by vaccination.", None);
        check("Mice were protected against infection.", None);
        check("Patients were led to believe it.", None);
        check("The disease was impaired by nothing.", None);
    }

    #[test]
    fn other_meanings_stay() {
        check("Yoga improves back pain.", None);
        check("Yoga improves depression in adults.", None);
        check(
            "Yoga improves memory in adults with depression.",
            Some("Yoga enhances memory in adults with depression."),
        );
        check("Caffeine worsens anxiety.", None);
        check("The farm raises cattle.", None);
        check("Stress causes people to sleep less.", None);
        check("The drug prevents cells from dividing.", None);
        check("Yields increased by 12%.", None);
        check("Pain decreases over time.", None);
        check("The common causes include smoking.", None);
    }

    proptest! {
        #[test]
        fn any_claim_will_do(claim in any::<String>()) {
            let other = reworded(&claim, Some("en"));
            prop_assert!(other.is_none_or(|other| other != claim));
        }

        #[test]
        fn the_meaning_stays(claim in "(Naps|The drug) (does not |may |did not |)(improve|reduce|increase|inhibits|lowers) (recall|the speed) (by 12%|in mice|)") {
            let other = reworded(&claim, Some("en")).expect("these have a synonym");
            prop_assert_eq!(polarity(&other), polarity(&claim));
            prop_assert_eq!(numbers(&other), numbers(&claim));
            prop_assert_eq!(populations(&other), populations(&claim));
        }
    }
}

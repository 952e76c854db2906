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
            (whole && is_verb(word, &claim[..start], after)).then_some((word.len(), *other))
        })
    };
    let starts = claim.match_indices(' ').map(|(space, _)| space + 1);
    let (start, (length, other)) = starts.into_iter().find_map(|start| Some((start, at(start)?)))?;
    Some(format!("{}{other}{}", &claim[..start], &claim[start + length..]))
}

/// Words that are nouns as well ("the increases in pressure") are replaced only where they cannot be.
fn is_verb(word: &str, before: &str, after: &str) -> bool {
    let next = after.split_whitespace().next().unwrap_or_default();
    let last = before.split_whitespace().next_back().unwrap_or_default();
    let noun_too = matches!(word, "increases" | "decreases" | "increase" | "decrease" | "causes" | "cause");
    let like_a_noun = matches!(next, "" | "in" | "of" | "and" | "or" | "are" | "is" | "were" | "was")
        || matches!(last, "the" | "a" | "an" | "these" | "those" | "with" | "of" | "and" | "no" | "such");
    // "reduced activity", "increased risk": the rewording would be an adjective too, which is as good.
    !(noun_too && like_a_noun)
}

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
        check("Paris is in France.", None);
        check("昼寝は記憶を改善する。", None);
    }

    proptest! {
        #[test]
        fn any_claim_will_do(claim in any::<String>()) {
            let other = reworded(&claim, Some("en"));
            prop_assert!(other.is_none_or(|other| other != claim));
        }

        #[test]
        fn the_meaning_stays(claim in "(Naps|The drug) (does not |may |did not |)(improve|reduce|increase|inhibits|lowers) (recall|the risk) (by 12%|in mice|)") {
            let other = reworded(&claim, Some("en")).expect("these have a synonym");
            prop_assert_eq!(polarity(&other), polarity(&claim));
            prop_assert_eq!(numbers(&other), numbers(&claim));
            prop_assert_eq!(populations(&other), populations(&claim));
        }
    }
}

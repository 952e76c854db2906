//! The counter-claim: the statement of someone who found the opposite. It is for searching, and not a stored statement.

use super::{english, japanese};
use crate::language;

/// Inverts a claim: removes a negation, else replaces a verb or comparison by its opposite, else inserts a negation.
/// `None` when no rule applies.
///
/// `code` is the claim's ISO 639-1 code, detected when `None`; there are rules for English and Japanese. What comes out is
/// for searching: embeddings and full text forgive grammar. It never becomes a claim and is never judged.
pub fn counter_claim(claim: &str, code: Option<&str>) -> Option<String> {
    match code.or_else(|| language(claim)) {
        Some("ja") => japanese::counter(claim),
        Some("en") | None => english::counter(claim),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{numbers, polarity, populations};
    use proptest::prelude::*;

    #[track_caller]
    fn check(claim: &str, expect: Option<&str>) {
        assert_eq!(counter_claim(claim, None).as_deref(), expect, "{claim}");
    }

    #[test]
    fn english_claims() {
        check("Napping improves memory in adults.", Some("Napping impairs memory in adults."));
        check("Napping does not improve memory.", Some("Napping does improve memory."));
        check("Biochar had no effect on yields.", Some("Biochar had an effect on yields."));
        check("Statins cannot prevent stroke.", Some("Statins can prevent stroke."));
        check(
            "Aspirin is associated with a lower risk of stroke.",
            Some("Aspirin is associated with a higher risk of stroke."),
        );
        check("Yields rose by 12%.", Some("Yields fell by 12%."));
        check("Activation of the gene reduces growth.", Some("Activation of the gene enhances growth."));
        check("Mutants lack the enzyme.", Some("Mutants have the enzyme."));
        check("The enzyme has a long half-life.", Some("The enzyme does not have a long half-life."));
        check("The gene is required for survival.", Some("The gene is not required for survival."));
        check(
            "Deficiency of vitamin D may cause fractures.",
            Some("Deficiency of vitamin D may prevent fractures."),
        );
        check("Coffee drinkers live in cities.", None);
        check("", None);
    }

    #[test]
    fn japanese_claims() {
        check("昼寝は記憶を改善する。", Some("昼寝は記憶を悪化する。"));
        check("昼寝は記憶を改善しなかった。", Some("昼寝は記憶を改善した。"));
        check("処理件数が8%減少した。", Some("処理件数が8%増加した。"));
        check("両群に差は認められなかった。", Some("両群に差は認められた。"));
        check("東京は日本の首都である。", None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn any_claim_will_do(claim in any::<String>(), code in "en|ja|de") {
            let counter = counter_claim(&claim, Some(&code));
            prop_assert!(counter.is_none_or(|counter| counter != claim));
        }

        #[test]
        fn only_the_way_it_goes_is_turned(claim in "(Naps|The drug) (does not |may |did not |)(improve|reduce|increase|raise) (recall|the risk) (by 12%|in mice|)") {
            let counter = counter_claim(&claim, Some("en")).expect("these can be turned");
            prop_assert_ne!(polarity(&counter), polarity(&claim));
            prop_assert_eq!(numbers(&counter), numbers(&claim));
            prop_assert_eq!(populations(&counter), populations(&claim));
        }
    }
}

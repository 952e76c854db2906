//! The counter-claim: the statement of someone who found the opposite. It is for searching, and not a stored statement.

use super::{english, japanese};
use crate::language;

/// Inverts a claim: removes the negation of what it says, else replaces a verb or comparison by its opposite, else inserts
/// a negation, else replaces a noun by its opposite. `None` when no rule applies.
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
    fn only_what_a_claim_says_is_inverted() {
        check(
            "Statins reduce mortality in people without heart disease.",
            Some("Statins enhance mortality in people without heart disease."),
        );
        check(
            "Aspirin is effective in adults with no history of stroke.",
            Some("Aspirin is not effective in adults with no history of stroke."),
        );
        check(
            "Intermittent fasting is effective for weight loss.",
            Some("Intermittent fasting is not effective for weight loss."),
        );
        check(
            "Hearing loss is a risk factor for dementia.",
            Some("Hearing loss is not a risk factor for dementia."),
        );
        check("Lack of sleep is linked to obesity.", Some("Lack of sleep is not linked to obesity."));
        check("Weight gain is linked to stress.", Some("Weight gain is not linked to stress."));
        check("Early antibiotics help children.", Some("Early antibiotics do not help children."));
        check("Higher doses are effective.", Some("Higher doses are not effective."));
        check(
            "Yoga is safe for adults with higher blood pressure.",
            Some("Yoga is not safe for adults with higher blood pressure."),
        );
        check("People who do not smoke are healthy.", Some("People who do not smoke are not healthy."));
        check("Drugs that reduce pain improve sleep.", Some("Drugs that reduce pain impair sleep."));
        check("A wage increase causes inflation.", Some("A wage increase prevents inflation."));
        check("The elderly benefit from naps.", Some("The elderly do not benefit from naps."));
        check("The benefit exceeds harm.", Some("The benefit does not exceed harm."));
        check("Naps improve and consolidate memory.", Some("Naps do not improve and consolidate memory."));
        check("Treated mice had lower weights.", Some("Treated mice had higher weights."));
        check("No drug prevents dementia.", Some("A drug prevents dementia."));
        check("In adults, no drug is effective.", Some("In adults, a drug is effective."));
        check("Aspirin gives patients no benefit.", Some("Aspirin gives patients a benefit."));
        check("Coffee is not without risk.", Some("Coffee is without risk."));
        check("The patients were without pain.", Some("The patients were with pain."));
        check("The drug was largely ineffective.", Some("The drug was largely effective."));
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

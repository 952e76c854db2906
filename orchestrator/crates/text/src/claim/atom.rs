//! Standalone claims of a passage, by rules: coordinated sentences are split, pronouns at the head are resolved in the
//! passage, or the claim is dropped.

use super::{MAX_CHARS, MIN_CHARS, WORTHY, capitalised, english, japanese};
use crate::{language, sentences};
use std::ops::Range;

/// One self-contained claim, assembled from pieces of its passage.
#[derive(Debug, Clone, PartialEq)]
pub struct Atom {
    /// The claim: its pieces with single spaces between them (none in Japanese), a capital first, the end mark of its
    /// sentence last. Nothing else is added.
    pub text: String,
    /// The positions of the pieces in the passage, in characters, in the order of the claim. A shared subject is a
    /// piece of both claims.
    pub pieces: Vec<Range<usize>>,
    /// How much it is worth checking, in [0, 1], as [`super::check_worthiness`] says; a section label counts for every
    /// claim of its sentence.
    pub worth: f64,
}

/// A claim before it has a score.
pub(super) struct Part {
    pub(super) text: String,
    pub(super) pieces: Vec<Range<usize>>,
}

/// The claims of a passage, in its order, worth checking or not; questions and texts that are too short or too long are
/// skipped.
///
/// A sentence is split where each part has, or may take over, a subject and a finite verb. Numbers, negations and hedges
/// stay with their part; what limits all parts ("in mice, …", "results suggest that …", "may") goes to each. Where that is
/// in doubt the sentence stays whole. A claim whose head is a pronoun or "this effect" gets what the clause before it
/// has as its subject, when only that can be meant; otherwise it is left out.
///
/// `code` is the passage's ISO 639-1 code, detected when `None`. Languages without rules get their sentences as they are.
pub fn atoms(passage: &str, code: Option<&str>) -> Vec<Atom> {
    let code = code.or_else(|| language(passage));
    let cut = sentences(passage, code);
    let (parts, min) = match code {
        Some("en") | None => (english::atoms(&cut), MIN_CHARS),
        Some("ja") => (japanese::atoms(&cut), MIN_CHARS / 2),
        Some(_) => {
            let whole = cut.iter().map(|s| {
                let pieces = std::iter::once(s.start..s.end).collect();
                (Part { text: s.text.clone(), pieces }, WORTHY)
            });
            (whole.collect(), MIN_CHARS)
        }
    };
    let fits = |text: &str| {
        (min..=MAX_CHARS).contains(&text.chars().count()) && !text.trim_end().ends_with(['?', '？'])
    };
    parts
        .into_iter()
        .map(|(part, worth)| Atom {
            text: capitalised(&part.text),
            pieces: part.pieces,
            worth: worth.clamp(0.0, 1.0),
        })
        .filter(|atom| fits(&atom.text))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{hedges, numbers, polarity};
    use proptest::prelude::*;

    #[track_caller]
    fn check(passage: &str, expect: &[&str]) {
        let found: Vec<String> = atoms(passage, None).into_iter().map(|atom| atom.text).collect();
        assert_eq!(found, expect, "{passage}");
    }

    #[test]
    fn clauses_with_their_own_subjects() {
        check(
            "Biochar increased maize yield on acid soils, but wood ash did not change it.",
            &["Biochar increased maize yield on acid soils.", "Wood ash did not change it."],
        );
        check(
            "Memory improved by 12% in the nap group, whereas reaction time was unchanged.",
            &["Memory improved by 12% in the nap group.", "Reaction time was unchanged."],
        );
        check(
            "Soil pH rose by 0.6 units and exchangeable aluminium fell by half.",
            &["Soil pH rose by 0.6 units.", "Exchangeable aluminium fell by half."],
        );
        check(
            "Aspirin lowered the risk of stroke (HR 0.8; 95% CI 0.7, 0.9); however, bleeding was more common.",
            &["Aspirin lowered the risk of stroke (HR 0.8; 95% CI 0.7, 0.9).", "Bleeding was more common."],
        );
        check(
            "Manure char increased the yield by 17 percent, straw char had no effect, and pine char decreased the yield.",
            &[
                "Manure char increased the yield by 17 percent.",
                "Straw char had no effect.",
                "Pine char decreased the yield.",
            ],
        );
        check(
            "Even so, the ban did not raise exam scores; the estimated jump was -0.01 standard deviations.",
            &["The ban did not raise exam scores.", "The estimated jump was -0.01 standard deviations."],
        );
        check(
            "We found that telework raised output, and that it was not followed by more errors.",
            &["Telework raised output."],
        );
    }

    #[test]
    fn a_shared_subject_goes_to_both() {
        check(
            "A short nap improved word recall and reduced reaction time.",
            &["A short nap improved word recall.", "A short nap reduced reaction time."],
        );
        check(
            "Sleep may improve memory and reduce stress in adults.",
            &["Sleep may improve memory in adults.", "Sleep may reduce stress in adults."],
        );
        check(
            "The vaccine did not prevent infection but reduced severe illness by 80%.",
            &["The vaccine did not prevent infection.", "The vaccine reduced severe illness by 80%."],
        );
        check(
            "The gene is expressed in neurons and is required for their survival.",
            &["The gene is expressed in neurons.", "The gene is required for their survival."],
        );
        check(
            "Biochar has increased the yield and reduced the cost of fertiliser.",
            &["Biochar has increased the yield.", "Biochar has reduced the cost of fertiliser."],
        );
    }

    #[test]
    fn manner_stays_with_its_verb() {
        check(
            "The drug completely suppressed the tumour and increased survival by a year.",
            &["The drug completely suppressed the tumour.", "The drug increased survival by a year."],
        );
        check(
            "The disease usually does not impair the heart but is associated with sudden death.",
            &[
                "The disease usually does not impair the heart.",
                "The disease usually is associated with sudden death.",
            ],
        );
    }

    #[test]
    fn what_limits_all_parts_stays_with_each() {
        check(
            "In mice, the drug improved survival, and the placebo did not affect it.",
            &["In mice, the drug improved survival.", "In mice, the placebo did not affect it."],
        );
        check(
            "These results suggest that naps improve memory and reduce stress.",
            &["Results suggest that naps improve memory.", "Results suggest that naps reduce stress."],
        );
    }

    #[test]
    fn what_may_not_be_split_stays_whole() {
        for whole in [
            "Aspirin was associated with lower mortality and reduced survival of platelets.",
            "The drug prevented weight loss and reduced appetite in rats.",
            "Mice showed weight loss and reduced appetite.",
            "Groups A and B scored 12 and 15 points, respectively, and differed from controls.",
            "If soils are acid, yields rise, and costs fall.",
            "Patients who received the drug improved their gait and reduced their medication.",
            "Treatment increased and withdrawal decreased the expression of the gene.",
            "Yields rose, and costs fell in mice.",
            "The study included adults, adolescents, and children with asthma.",
            "Naps improve memory not only in adults but also in children.",
            "The vaccine did not reduce transmission and increase immunity.",
            "The marker correlated with, and was a predictor of, survival in patients.",
            "Producers were developed by engineering the complex and highly regulated network of enzymes.",
            "Rats lost weight through fasting combined with decreased intake and increased activity.",
            "We show in mice that naps improve memory.",
        ] {
            check(whole, &[whole]);
        }
    }

    #[test]
    fn heads_are_resolved_or_left_out() {
        check(
            "A short nap improved word recall in healthy adults. It did not improve reaction time.",
            &[
                "A short nap improved word recall in healthy adults.",
                "A short nap did not improve reaction time.",
            ],
        );
        check(
            "Mice lacking the gene gained less weight. These mice were also more active than controls.",
            &[
                "Mice lacking the gene gained less weight.",
                "Mice lacking the gene were also more active than controls.",
            ],
        );
        check(
            "Statins lower cholesterol. They also reduce the risk of stroke.",
            &["Statins lower cholesterol.", "Statins also reduce the risk of stroke."],
        );
        check(
            "The drug reduced the tumour. It was no longer visible after a week.",
            &["The drug reduced the tumour."],
        );
        check("This effect persisted for three weeks after training.", &[]);
        check("They were more active than the controls.", &[]);
        check("One of these drugs improved the survival of patients.", &[]);
        check("It is likely that naps improve memory.", &["It is likely that naps improve memory."]);
        check(
            "There was no difference in recall between the groups.",
            &["There was no difference in recall between the groups."],
        );
    }

    #[test]
    fn labels_and_reports_go_and_hedges_stay() {
        check(
            "CONCLUSIONS: In contrast, we found that naps help healthy adults.",
            &["Naps help healthy adults."],
        );
        check(
            "Our data suggest that naps help healthy adults.",
            &["Data suggest that naps help healthy adults."],
        );
        check("Do naps help healthy adults, and does memory improve?", &[]);
    }

    #[test]
    fn japanese() {
        check(
            "昼寝は単語の記憶を改善したが、反応時間は改善しなかった。",
            &["昼寝は単語の記憶を改善した。", "昼寝は反応時間は改善しなかった。"],
        );
        check(
            "処理件数は8%減少したが、品質は変わらなかった。",
            &["処理件数は8%減少した。", "品質は変わらなかった。"],
        );
        check("在宅勤務の日は処理件数が少なかった。", &["在宅勤務の日は処理件数が少なかった。"]);
        check("これは長くは続かなかった。", &[]);
    }

    #[test]
    fn other_languages_stay_as_they_are() {
        let text = "Ein kurzer Mittagsschlaf verbessert das Gedächtnis, und er verkürzt die Reaktionszeit.";
        let found = atoms(text, Some("de"));
        assert_eq!((found[0].text.as_str(), found[0].worth), (text, WORTHY));
    }

    /// The claim consists only of its pieces, which are in the passage.
    fn grounded(passage: &str, atom: &Atom) -> Result<(), TestCaseError> {
        let chars: Vec<char> = passage.chars().collect();
        let mut pieces = String::new();
        for piece in &atom.pieces {
            prop_assert!(piece.start < piece.end && piece.end <= chars.len());
            pieces.extend(&chars[piece.clone()]);
        }
        let bare = |text: &str| -> String {
            let kept = text.to_uppercase().to_lowercase();
            kept.chars().filter(|c| c.is_alphanumeric()).collect()
        };
        prop_assert_eq!(bare(&atom.text), bare(&pieces));
        Ok(())
    }

    fn again(atom: &Atom, code: Option<&str>) -> Result<(), TestCaseError> {
        let second: Vec<String> = atoms(&atom.text, code).into_iter().map(|atom| atom.text).collect();
        prop_assert_eq!(second, std::slice::from_ref(&atom.text));
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn any_text_will_do(text in any::<String>(), code in "en|ja|de") {
            for atom in atoms(&text, Some(&code)) {
                prop_assert!((0.0..=1.0).contains(&atom.worth));
                grounded(&text, &atom)?;
            }
        }

        #[test]
        fn claims_of_english_words_are_atomic(text in "((Naps|Mice|The drug|in adults|It|They|This|These mice|improved|improves|reduce|may|did not|was|were|and|but|whereas|, and|, but|;|that|which|to|by 12%|recall|the risk|also|In mice,|Results suggest that|However,|rose|fell|likely|who|\\.) ){1,24}\\.") {
            for atom in atoms(&text, Some("en")) {
                grounded(&text, &atom)?;
                again(&atom, Some("en"))?;
            }
        }

        #[test]
        fn numbers_negations_and_hedges_of_a_sentence_are_in_its_claims(
            a in "(Naps|The drug|Short naps in adults) (may |did not |)(improve|reduce|increase) (recall|the risk) (by 12%|in 30 adults|)",
            conjunction in ", and|, but|;| and| but|, whereas",
            b in "(sleep|the placebo|blood pressure|) ?(may |did not |could |)(lower|raise|fall|improve) (levels of stress hormones)( by 7%|)",
        ) {
            let text = format!("{a}{conjunction} {b}.");
            let found = atoms(&text, Some("en"));
            let joined = found.iter().map(|atom| atom.text.as_str()).collect::<Vec<_>>().join(" ");
            prop_assume!(!found.is_empty());
            prop_assert_eq!(numbers(&text), numbers(&joined));
            prop_assert_eq!(hedges(&text), hedges(&joined));
            prop_assert_eq!(polarity(&text).negated, found.iter().any(|atom| polarity(&atom.text).negated));
        }

        #[test]
        fn japanese_claims_are_atomic(text in "((昼寝|記憶|反応時間|処理件数)(は|が|を|では)(改善した|減少した|変わらなかった|8%増えた)?(が、|。|一方、)){1,8}") {
            for atom in atoms(&text, Some("ja")) {
                grounded(&text, &atom)?;
                again(&atom, Some("ja"))?;
            }
        }
    }
}

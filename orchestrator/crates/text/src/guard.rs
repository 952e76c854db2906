//! Rules that compare a claim with the passage that was judged: what the claim names and the passage does not, and what both
//! state differently.
//!
//! They look at words, not at meaning, so that each is only believed as far as it was measured. A rule can forbid a side; none
//! can give one. `tests/guards.rs` prints how often each is right on labeled claims. English only: of texts in another
//! language nothing is said.

mod certainty;
mod concepts;
mod designation;
mod direction;
mod figures;
mod population;
mod subject;
mod term;

use crate::language;
use term::Words;

/// A side that a passage can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The passage entails the claim.
    Supports,
    /// The passage contradicts it.
    Refutes,
}

/// A passage with its title, ready to be compared with any number of claims.
#[derive(Debug, Clone)]
pub struct Passage {
    /// None of a text that is not in English.
    words: Option<Words>,
}

impl Passage {
    /// Reads a passage with the title of its work, empty when unknown.
    pub fn of(title: &str, text: &str) -> Self {
        let whole = format!("{title}. {text}");
        Self { words: is_english(&whole).then(|| Words::of(&whole)) }
    }
}

/// What the rules found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findings {
    /// What the claim names and neither the passage nor its title does, as the claim writes it. While anything is missing,
    /// no side can be taken.
    pub missing: Vec<String>,
    /// What both state differently, each as "number: …", "direction: …" and the like.
    pub differs: Vec<String>,
    forbidden: Vec<Side>,
}

impl Findings {
    /// Whether the passage may take this side.
    pub fn allows(&self, side: Side) -> bool {
        self.missing.is_empty() && !self.forbidden.contains(&side)
    }

    /// Adds a difference, and the side that it forbids.
    fn add(&mut self, difference: Option<(String, Option<Side>)>) {
        if let Some((difference, forbidden)) = difference {
            self.differs.push(difference);
            self.forbidden.extend(forbidden);
        }
    }
}

/// What the claim names and neither the passage nor its title does, as [`Findings::missing`] has it: enough to know before a passage
/// is judged that it can take no side.
pub fn missing(claim: &str, passage: &Passage) -> Vec<String> {
    let words = passage.words.as_ref().filter(|_| is_english(claim));
    words.map_or_else(Vec::new, |words| subject::missing(claim, words))
}

/// Compares a claim with a passage and with the sentences of it that decided.
pub fn check(claim: &str, passage: &Passage, deciding: &str) -> Findings {
    let mut findings = Findings { missing: missing(claim, passage), ..Findings::default() };
    let Some(words) = passage.words.as_ref().filter(|_| is_english(claim)) else { return findings };
    findings.add(direction::difference(claim, deciding));
    if direction::agree(claim, deciding) {
        findings.forbidden.push(Side::Refutes);
    }
    findings.add(figures::difference(claim, deciding));
    findings.add(population::difference(claim, words));
    findings.add(certainty::difference(claim, deciding));
    findings
}

/// Of short texts the language is often not known.
fn is_english(text: &str) -> bool {
    !text.chars().any(crate::is_cjk) && matches!(language(text), None | Some("en"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_missing_forbids_both_sides() {
        let passage =
            Passage::of("Vitamin D and bone", "Vitamin D deficiency was associated with total mortality.");
        let found = check("Vitamin D deficiency is associated with multiple sclerosis.", &passage, "");
        assert_eq!(found.missing, ["sclerosis"]);
        assert!(!found.allows(Side::Supports) && !found.allows(Side::Refutes));
    }

    #[test]
    fn a_synonym_is_no_refutation_and_an_opposite_no_support() {
        let sentence = "Daily use of aspirin reduced the incidence of colorectal adenomas.";
        let passage = Passage::of("Aspirin and adenomas", sentence);
        let allowed = |claim: &str| {
            let found = check(claim, &passage, sentence);
            (found.allows(Side::Supports), found.allows(Side::Refutes))
        };
        assert_eq!(allowed("Aspirin lowers the risk of colorectal adenomas."), (true, false));
        assert_eq!(allowed("Aspirin increases the risk of colorectal adenomas."), (false, true));
        assert_eq!(allowed("Aspirin is a drug against colorectal adenomas."), (true, true));
    }

    #[test]
    fn of_other_languages_nothing_is_said() {
        let japanese = Passage::of("緑茶", "緑茶は学生の注意力を改善した。");
        assert_eq!(
            check("Green tea improves the attention of students.", &japanese, ""),
            Findings::default()
        );
        let english = Passage::of("Tea", "Green tea improves attention.");
        assert_eq!(check("緑茶は注意力を改善する。", &english, ""), Findings::default());
    }

    /// Words that the rules look at, in any order.
    const WORDS: &str = "((TNF-α|IL-6|statins?|mortality|in mice|patients|not|no|reduces?|increased|higher|than|12%|RR 0\\.71|95% CI|\
        may|causes|was associated with|the risk of|stroke|\\.|,|Britain|p53) ?){0,16}";

    proptest! {
        #[test]
        fn any_texts_can_be_compared(claim in any::<String>(), passage in any::<String>(), near in WORDS) {
            for (claim, passage) in [(&claim, &passage), (&near, &passage), (&claim, &near)] {
                let _ = check(claim, &Passage::of(passage, passage), passage);
            }
        }

        #[test]
        fn a_passage_supports_itself(text in any::<String>(), near in WORDS) {
            for text in [text, near] {
                let found = check(&text, &Passage::of("", &text), &text);
                prop_assert!(found.allows(Side::Supports), "{text:?}: {found:?}");
            }
        }
    }
}

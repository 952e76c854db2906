//! Whether a statement is grounded in a passage: a test of words, not of meaning.
//!
//! It cannot tell who did what to whom ("A causes B" has the words of "B causes A"), and it refuses some true paraphrases.
//! It is for statements that should keep the passage's words.

use crate::number::{is_number, plain};
use crate::{Polarity, Sentence, content_words, polarity, sentences};
use std::collections::HashSet;

/// Least share of a claim's content words in the passage or its context.
const WORDS_IN_ALL: f64 = 0.8;
/// Least share of them in the sentence itself.
const WORDS_IN_SENTENCE: f64 = 0.5;
/// Where a sentence is cut into clauses, which may go different ways ("A rose but B did not").
const CLAUSE_MARKS: &[&str] = &[
    ", ",
    "; ",
    ": ",
    " but ",
    " while ",
    " whereas ",
    " although ",
    " though ",
    " and ",
    " yet ",
    "、",
    "；",
    "だが",
    "一方",
];

/// Whether a claim is grounded in a passage: there is one sentence of it, two consecutive ones, or a clause, that holds
///
/// - half of the claim's content words (stems without stop words), and with `context` (title and headings, for what the
///   passage only refers to) four fifths;
/// - every number of the claim, which no context can supply;
/// - a negation exactly when the claim has one;
/// - the direction of change that the claim has, if it has one.
///
/// Of two sentences, the one with more of the claim's words decides about negation and direction.
///
/// A claim without content words is not grounded. `language` is an ISO 639-1 code, English rules when unknown.
pub fn is_grounded(claim: &str, passage: &str, context: &str, language: Option<&str>) -> bool {
    let claimed = Said::of(claim);
    if claimed.words.is_empty() {
        return false;
    }
    let context: HashSet<String> = content_words(context).into_iter().collect();
    let sentences = sentences(passage, language);
    let said: Vec<Said> = sentences.iter().map(|sentence| Said::of(&sentence.text)).collect();
    let clauses = sentences.iter().flat_map(clauses).map(Said::of);
    said.iter().any(|one| claimed.is_within(one, &context))
        || said.windows(2).any(|pair| claimed.is_within(&pair[0].with(&pair[1], &claimed), &context))
        || clauses.into_iter().any(|clause| claimed.is_within(&clause, &context))
}

/// The parts of a text that are compared.
struct Said {
    words: HashSet<String>,
    numbers: HashSet<String>,
    polarity: Polarity,
}

impl Said {
    fn of(text: &str) -> Self {
        let (numbers, words): (Vec<String>, Vec<String>) =
            content_words(text).into_iter().partition(|word| is_number(word));
        Self {
            words: words.into_iter().collect(),
            numbers: numbers.iter().map(|number| plain(number)).collect(),
            polarity: polarity(text),
        }
    }

    /// Two sentences as one; that with more of the claim's words gives its polarity, the second one on a draw.
    fn with(&self, next: &Self, claimed: &Self) -> Self {
        let shared = |of: &Self| claimed.words.intersection(&of.words).count();
        Self {
            words: self.words.union(&next.words).cloned().collect(),
            numbers: self.numbers.union(&next.numbers).cloned().collect(),
            polarity: if shared(self) > shared(next) { self.polarity } else { next.polarity },
        }
    }

    fn is_within(&self, source: &Self, context: &HashSet<String>) -> bool {
        let all = self.words.len() as f64;
        let here = self.words.intersection(&source.words).count() as f64;
        let anywhere =
            self.words.iter().filter(|word| source.words.contains(*word) || context.contains(*word)).count()
                as f64;
        let direction = self.polarity.direction;
        here >= WORDS_IN_SENTENCE * all
            && anywhere >= WORDS_IN_ALL * all
            && self.numbers.is_subset(&source.numbers)
            && self.polarity.negated == source.polarity.negated
            && (direction.is_none() || direction == source.polarity.direction)
    }
}

fn clauses(sentence: &Sentence) -> Vec<&str> {
    let mut clauses = vec![sentence.text.as_str()];
    for mark in CLAUSE_MARKS {
        clauses = clauses.into_iter().flat_map(|clause| clause.split(mark)).collect();
    }
    if clauses.len() == 1 {
        clauses.clear();
    }
    clauses
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PASSAGE: &str = "We tested 1,200 adults in 2019. A short nap improved word recall by 12% in healthy adults. It did not \
        improve reaction time. Biochar raised the pH of the soil and lowered the yield, while controls were unchanged.";

    #[track_caller]
    fn check(claim: &str, expect: bool) {
        assert_eq!(is_grounded(claim, PASSAGE, "Napping and memory", Some("en")), expect, "{claim}");
    }

    #[test]
    fn what_the_passage_says() {
        check("A short nap improved word recall by 12% in healthy adults.", true);
        check("Short naps improve the recall of words in healthy adults.", true);
        check("Napping did not improve reaction time.", true);
        check("1200 adults were tested in 2019.", true);
        check("Biochar raised the pH of the soil.", true);
    }

    #[test]
    fn what_it_does_not_say() {
        check("A short nap improved word recall by 21% in healthy adults.", false);
        check("A short nap did not improve word recall in healthy adults.", false);
        check("A short nap impaired word recall in healthy adults.", false);
        check("Napping improved reaction time.", false);
        check("Biochar raised the yield.", false);
        check("A short nap prevents dementia in healthy adults.", false);
        check("Coffee keeps adults awake at night.", false);
        check("It is.", false);
        check("", false);
    }

    #[test]
    fn japanese() {
        let passage = "短い昼寝は成人の単語記憶を改善した。反応時間は改善しなかった。";
        let check =
            |claim, expect| assert_eq!(is_grounded(claim, passage, "", Some("ja")), expect, "{claim}");
        check("短い昼寝は成人の単語記憶を改善した。", true);
        check("昼寝は反応時間を改善した。", false);
        check("短い昼寝は成人の単語記憶を改善しなかった。", false);
        check("コーヒーは睡眠を妨げる。", false);
    }

    proptest! {
        #[test]
        fn any_two_texts_can_be_held_against_each_other(claim in any::<String>(), passage in any::<String>()) {
            let _ = is_grounded(&claim, &passage, &passage, None);
        }

        #[test]
        fn every_sentence_is_grounded_in_its_text(text in "((The|nap|did|not|improve|recall|by|12%|and|yield|rose|fell)[ ,]?){4,20}\\. [A-Z][a-z]{3,8} naps help\\.") {
            for sentence in sentences(&text, Some("en")) {
                let has_words = content_words(&sentence.text).iter().any(|word| !word.contains(|c: char| c.is_numeric()));
                prop_assert!(!has_words || is_grounded(&sentence.text, &text, "", Some("en")), "{}", sentence.text);
            }
        }
    }
}

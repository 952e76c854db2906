//! Direction: effect verbs and comparisons as "up" and "down".
//!
//! "Lowers" is no refutation of "reduced", and "raises" no confirmation. Only said where claim and sentence have one such word
//! each, speak of the same thing before and after it, and nothing else can turn the meaning round.
//!
//! On training claims with their rationales (`tests/guards.rs`): of 39 opposite directions 37 stand beside a refutation, and
//! all of 10 changed negations, so that both rule support out.

use super::Side;
use super::term::{lower, split};
use crate::polarity::{Direction, way};
use crate::word::{is_stop_word, stem};

/// Words after the effect word that say what changes.
const REACH: usize = 6;
/// Words before the effect word in which a "not" belongs to it.
const NEGATION_REACH: usize = 3;

/// How claim and sentences go different ways, or the same way in other words, and the side that it rules out.
pub(super) fn difference(claim: &str, deciding: &str) -> Option<(String, Option<Side>)> {
    let claimed = Effect::of_claim(claim)?;
    let mut found: Option<Effect> = None;
    for sentence in crate::sentences(deciding, Some("en")) {
        let Some(effect) = Effect::of(&sentence.text).filter(|effect| effect.is_of(&claimed)) else {
            continue;
        };
        if found.as_ref().is_some_and(|before| (before.up, before.negated) != (effect.up, effect.negated)) {
            return None;
        }
        found = Some(effect);
    }
    let found = found?;
    let both = format!(
        "\u{201c}{}\u{201d} in the claim, \u{201c}{}\u{201d} in the passage",
        claimed.said(),
        found.said()
    );
    match (claimed.negated == found.negated, claimed.up == found.up) {
        (true, false) if !claimed.negated => Some((format!("direction: {both}"), Some(Side::Supports))),
        (false, true) => Some((format!("negation: {both}"), Some(Side::Supports))),
        _ => None,
    }
}

/// Whether claim and sentences state the same change in the same direction, so that the one is no refutation of the other.
pub(super) fn agree(claim: &str, deciding: &str) -> bool {
    let Some(claimed) = Effect::of_claim(claim) else { return false };
    let mut found = crate::sentences(deciding, Some("en"))
        .into_iter()
        .filter_map(|sentence| Effect::of(&sentence.text))
        .filter(|effect| effect.is_of(&claimed))
        .peekable();
    let plain = !claim.chars().any(char::is_numeric);
    plain
        && found.peek().is_some()
        && found.all(|effect| (effect.up, effect.negated) == (claimed.up, claimed.negated))
}

/// The one change that a sentence speaks of.
struct Effect {
    word: String,
    up: bool,
    negated: bool,
    /// Beginnings of the content words before and after the word.
    before: Vec<String>,
    after: Vec<String>,
}

impl Effect {
    /// None of a claim of several sentences.
    fn of_claim(claim: &str) -> Option<Self> {
        Self::of(claim).filter(|_| crate::sentences(claim, Some("en")).len() == 1)
    }

    /// None of a sentence with no change, with several, or with a word that may turn it round.
    fn of(sentence: &str) -> Option<Self> {
        let words: Vec<String> =
            split(sentence).iter().flat_map(|word| word.split(['-', '/'])).map(lower).collect();
        let mut effects = words.iter().enumerate().filter_map(|(i, word)| Some((i, direction(word)?)));
        let (place, up) = effects.next()?;
        if effects.next().is_some() {
            return None;
        }
        let mut negated = false;
        for (i, word) in words.iter().enumerate() {
            if NOT.contains(&word.as_str()) {
                if negated || i > place || place - i > NEGATION_REACH {
                    return None;
                }
                negated = true;
            } else if TURNING.contains(&word.as_str()) {
                return None;
            }
        }
        let (before, after) = (&words[..place], &words[place + 1..]);
        Some(Self {
            word: words[place].clone(),
            up,
            negated,
            before: beginnings(before),
            after: beginnings(&after[..after.len().min(REACH)]),
        })
    }

    /// Whether both speak of the same thing, before the word and after it.
    fn is_of(&self, other: &Self) -> bool {
        let share = |a: &[String], b: &[String]| a.iter().any(|word| b.contains(word));
        share(&self.before, &other.before) && share(&self.after, &other.after)
    }

    fn said(&self) -> String {
        format!("{}{}", if self.negated { "not " } else { "" }, self.word)
    }
}

/// Whether a lower-case word says that something goes up; none of a word that says neither, or may say something else.
fn direction(word: &str) -> Option<bool> {
    let stem = stem(word);
    if AMBIGUOUS.contains(&stem.as_str()) {
        return None;
    }
    match way(&stem)? {
        Direction::Up => Some(true),
        Direction::Down => Some(false),
        Direction::UpDown | Direction::DownUp => None,
    }
}

fn beginnings(words: &[String]) -> Vec<String> {
    let content = words.iter().filter(|word| word.chars().count() >= 4 && !is_stop_word(word));
    content.map(|word| word.chars().take(6).collect()).collect()
}

/// Stems with a direction that are as often something else ("active", "slow waves", "positive").
const AMBIGUOUS: &[&str] = &[
    "activ", "posit", "potenti", "induc", "more", "exceed", "benefit", "benefici", "growth", "gain", "limit",
    "cut", "slow", "negat", "loss", "lost", "lose", "less", "harm", "delay",
];

/// Plain negations.
const NOT: &[&str] = &["not", "no", "never", "cannot"];

/// Words that may turn round what a sentence says, or compare it with something else.
const TURNING: &[&str] = &[
    "neither",
    "nor",
    "without",
    "rather",
    "instead",
    "unlike",
    "unaffected",
    "unchanged",
    "independent",
    "despite",
    "regardless",
    "fails",
    "failed",
    "fail",
    "lack",
    "lacks",
    "lacking",
    "absence",
    "absent",
    "deficient",
    "deficiency",
    "knockout",
    "knockdown",
    "depletion",
    "depleted",
    "blocking",
    "blockade",
    "removing",
    "removal",
    "silencing",
    "antagonist",
    "antagonists",
    "inhibitor",
    "inhibitors",
    "inhibition",
    "deletion",
    "deleting",
    "if",
    "only",
    "little",
    "few",
    "hardly",
    "than",
    "ineffective",
    "disrupting",
    "disruption",
    "null",
    "mutant",
    "mutants",
    "protect",
    "reverse",
    "reversed",
    "reverses",
    "abolish",
    "abolished",
    "abolishes",
    "counteract",
    "restore",
    "restored",
    "restores",
    "rescued",
    "whereas",
    "while",
    "but",
    "although",
    "though",
    "however",
    "contrast",
    "stop",
    "stops",
    "unable",
    "downregulation",
    "ablation",
    "withdrawal",
    "exception",
    // What is stopped, withheld or scarce: "smoking cessation", "low-salt", "sleep deprivation".
    "cessation",
    "quit",
    "quitting",
    "stopped",
    "stopping",
    "discontinued",
    "discontinuing",
    "discontinuation",
    "abstain",
    "abstaining",
    "abstainers",
    "abstinence",
    "avoid",
    "avoided",
    "avoiding",
    "avoidance",
    "restrict",
    "restricted",
    "restricting",
    "restriction",
    "restrictions",
    "limiting",
    "ban",
    "bans",
    "banning",
    "breaking",
    "interrupting",
    "replacing",
    "eliminating",
    "elimination",
    "deprived",
    "deprivation",
    "insufficient",
    "insufficiency",
    "inadequate",
    "low",
    "free",
    "anti",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(claim: &str, passage: &str, expect: Option<&str>) {
        let found = difference(claim, passage);
        assert_eq!(found.as_ref().map(|(text, _)| text.as_str()), expect, "{claim} | {passage}");
        assert!(found.is_none_or(|(_, side)| side == Some(Side::Supports)));
    }

    #[test]
    fn opposite_ways() {
        let adenomas = "Daily use of aspirin reduced the incidence of colorectal adenomas.";
        check(
            "Aspirin increases the risk of colorectal adenomas.",
            adenomas,
            Some("direction: “increases” in the claim, “reduced” in the passage"),
        );
        check("Aspirin lowers the risk of colorectal adenomas.", adenomas, None);
        check(
            "Aspirin lowers the risk of colorectal adenomas.",
            "Daily aspirin did not lower the incidence of colorectal adenomas.",
            Some("negation: “lowers” in the claim, “not lower” in the passage"),
        );
    }

    #[test]
    fn one_way_in_other_words_is_no_refutation() {
        let adenomas = "Daily use of aspirin reduced the incidence of colorectal adenomas.";
        assert!(agree("Aspirin lowers the risk of colorectal adenomas.", adenomas));
        assert!(!agree("Aspirin increases the risk of colorectal adenomas.", adenomas));
        assert!(!agree("Aspirin lowers the risk of colorectal adenomas by 90%.", adenomas));
        assert!(!agree("Aspirin lowers blood pressure.", adenomas));
    }

    #[test]
    fn what_may_mean_either_says_nothing() {
        check("Aspirin increases bleeding.", "Warfarin lowers the pressure.", None);
        check("Aspirin increases bleeding.", "Withdrawal of aspirin reduced bleeding.", None);
        check("Aspirin increases bleeding.", "Aspirin reduced pain and increased bleeding.", None);
        check("Cats are larger.", "Dogs are smaller than cats.", None);
    }

    #[test]
    fn less_of_a_thing_does_the_opposite_of_it() {
        for sentence in [
            "Smoking cessation reduced the risk of stroke.",
            "Quitting smoking reduced the risk of stroke.",
            "Smoking bans reduced the risk of stroke.",
            "Abstinence from smoking reduced the risk of stroke.",
            "Avoiding smoking reduced the risk of stroke.",
            "Anti-smoking campaigns reduced the risk of stroke.",
        ] {
            check("Smoking increases the risk of stroke.", sentence, None);
        }
        for sentence in [
            "Restriction of dietary salt reduced blood pressure.",
            "Limiting dietary salt reduced blood pressure.",
            "A diet low in salt reduced blood pressure.",
        ] {
            check("Dietary salt increases blood pressure.", sentence, None);
        }
        check(
            "Dietary salt increases blood pressure.",
            "Dietary salt reduced blood pressure.",
            Some("direction: “increases” in the claim, “reduced” in the passage"),
        );
    }
}

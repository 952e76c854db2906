//! The negation and the direction of change of a sentence.
//!
//! Embeddings of "X increases Y" and "X does not increase Y" are close. Merged duplicates must also agree here.

mod tables;

use crate::word::{Analysis, tokens};
use crate::{language, normalise};

/// The way a change goes, in the order in which the words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// More, higher, better.
    Up,
    /// Less, lower, worse.
    Down,
    /// First up, then down ("raises A and lowers B").
    UpDown,
    /// First down, then up.
    DownUp,
}

/// What decides whether two sentences that are about the same can be one claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Polarity {
    /// Whether it negates.
    pub negated: bool,
    /// Direction of the change it speaks of, if it does.
    pub direction: Option<Direction>,
}

impl Polarity {
    /// Both have the same direction. Equality: when one names a direction and the other does not, they may differ.
    pub fn agrees(self, other: Self) -> bool {
        self == other
    }
}

/// Polarity of a sentence, by word lists in English and Japanese; neutral in other languages.
///
/// "Not reduced" is a negated `Down`, never `Up`: what is not reduced need not have grown.
pub fn polarity(text: &str) -> Polarity {
    if language(text) == Some("ja") { japanese(&normalise(text)) } else { english(text) }
}

/// The direction that an English stem names.
pub(crate) fn way(stem: &str) -> Option<Direction> {
    if tables::UP.contains(&stem) {
        Some(Direction::Up)
    } else if tables::DOWN.contains(&stem) {
        Some(Direction::Down)
    } else {
        None
    }
}

fn english(text: &str) -> Polarity {
    let words: Vec<String> =
        tokens(text, Analysis { stem: true, stop: false }).into_iter().map(|t| t.text).collect();
    let mut polarity = Polarity::default();
    for (i, word) in words.iter().enumerate() {
        let before = |back: usize| i.checked_sub(back).and_then(|i| words.get(i)).map_or("", String::as_str);
        let after = words.get(i + 1).map_or("", String::as_str);
        let word = word.as_str();
        if word == "not" && after == "onli" {
            continue;
        }
        if tables::NEGATIONS.contains(&word) || tables::NEGATION_PAIRS.contains(&(word, after)) {
            polarity.negated = true;
        } else if tables::UP.contains(&word) {
            // "More or less" pairs and "more than 30 patients" count people rather than compare.
            if !(word == "more" && after == "than" && before(1) != "is") {
                polarity.direction = Some(then(polarity.direction, Direction::Up));
            }
        } else if tables::DOWN.contains(&word) && !(word == "less" && after == "than") {
            polarity.direction = Some(then(polarity.direction, Direction::Down));
        }
    }
    polarity
}

fn japanese(text: &str) -> Polarity {
    let mut rest = text.to_owned();
    for phrase in tables::NOT_NEGATIONS_JA {
        rest = rest.replace(phrase, "、");
    }
    let negated = tables::NEGATIONS_JA.iter().any(|word| rest.contains(word));
    let mut marks: Vec<(usize, Direction)> = Vec::new();
    for (table, direction) in [(tables::UP_JA, Direction::Up), (tables::DOWN_JA, Direction::Down)] {
        for word in table {
            marks.extend(rest.match_indices(word).map(|(at, _)| (at, direction)));
        }
    }
    marks.sort_by_key(|(at, _)| *at);
    let direction = marks.into_iter().fold(None, |so_far, (_, next)| Some(then(so_far, next)));
    Polarity { negated, direction }
}

fn then(so_far: Option<Direction>, next: Direction) -> Direction {
    match (so_far, next) {
        (None, next) => next,
        (Some(Direction::Up), Direction::Down) => Direction::UpDown,
        (Some(Direction::Down), Direction::Up) => Direction::DownUp,
        (Some(so_far), _) => so_far,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, negated: bool, direction: Option<Direction>) {
        assert_eq!(polarity(text), Polarity { negated, direction }, "{text}");
    }

    #[test]
    fn english_sentences() {
        check("Napping improves memory in adults.", false, Some(Direction::Up));
        check("Napping impairs memory in adults.", false, Some(Direction::Down));
        check("Napping did not improve memory.", true, Some(Direction::Up));
        check("Napping had no effect on memory.", true, None);
        check("Biochar failed to increase the yield.", true, Some(Direction::Up));
        check("Biochar lowered the yield and raised the cost.", false, Some(Direction::DownUp));
        check("Biochar doesn't change the yield.", true, None);
        check("Naps help not only children.", false, None);
        check("Aspirin is associated with a lower risk of stroke.", false, Some(Direction::Down));
        check("Productivity is unchanged when people work from home.", true, None);
        check("The capital of France is Paris.", false, None);
    }

    #[test]
    fn japanese_sentences() {
        check("昼寝は記憶を改善する。", false, Some(Direction::Up));
        check("昼寝は記憶を改善しなかった。", true, Some(Direction::Up));
        check("在宅勤務は生産性を低下させる。", false, Some(Direction::Down));
        check("両群に有意な差は認められなかった。", true, None);
        check("昼寝は記憶を改善するかもしれない。", false, Some(Direction::Up));
        check("効果は収量だけでなく土壌にも及んだ。", false, None);
        check("収量は少ない。", false, Some(Direction::Down));
    }

    proptest! {
        #[test]
        fn any_text_has_a_polarity(text in any::<String>()) {
            let polarity = polarity(&text);
            prop_assert!(polarity.agrees(polarity));
        }
    }
}

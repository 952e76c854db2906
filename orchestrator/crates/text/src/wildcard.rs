//! Truncated words: `*` stands for any characters of a word, or for none, and `?` for exactly one.

use crate::fulltext::Part;
use crate::normalise::{is_cjk, nfkc};
use std::fmt;

/// Letters and digits that a truncated word has to show: fewer would be met by most words of a language.
const LEAST_SHOWN: usize = 2;
/// Most characters and signs, as many as a word can have; one more bit is the state behind the last.
const MOST_STEPS: usize = 63;

/// Stand for `?` and `*` while a text is cut into words. They are letters to the segmenter, and of a script (Linear A)
/// that no document is written in.
const ONE: char = '\u{10600}';
const ANY: char = '\u{10601}';

/// A word with signs for characters that are left open.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wildcard {
    steps: Vec<Step>,
    /// The places of `*`, as bits.
    any: u64,
    /// Capitals count.
    exact: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    Char(char),
    One,
    Any,
}

/// How far a word has been read: the places in the wildcard where it may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Progress(u64);

impl Wildcard {
    /// Whether a text has a sign that could leave something open.
    pub fn is_in(text: &str) -> bool {
        text.contains(['*', '?'])
    }

    /// A text with its signs as letters, where they belong to a word that shows enough; elsewhere they are punctuation.
    pub(crate) fn marked(text: &str) -> String {
        let chars: Vec<char> = text.chars().collect();
        let is_sign = |c: char| matches!(c, '*' | '?');
        let is_shown = |c: char| c.is_alphanumeric() && !is_cjk(c);
        let mut marked = String::with_capacity(text.len() + 8);
        let mut at = 0;
        while at < chars.len() {
            let length = chars[at..].iter().take_while(|c| is_shown(**c) || is_sign(**c)).count();
            let word = &chars[at..at + length];
            let open = word.iter().filter(|c| is_shown(**c)).count() >= LEAST_SHOWN;
            for (nth, c) in word.iter().enumerate() {
                // Between digits the sign multiplies.
                let digit =
                    |nth: Option<usize>| nth.and_then(|nth| word.get(nth)).is_some_and(char::is_ascii_digit);
                let times = *c == '*' && digit(nth.checked_sub(1)) && digit(nth.checked_add(1));
                marked.push(match c {
                    '*' if open && !times => ANY,
                    '?' if open => ONE,
                    '*' | '?' => ' ',
                    other => *other,
                });
            }
            if length == 0 {
                marked.push(chars[at]);
            }
            at += length.max(1);
        }
        marked
    }

    /// Signs of a text that leave nothing open, because the word around them shows too little.
    pub fn idle(text: &str) -> bool {
        let marked = Self::marked(text);
        let times = text.chars().filter(|c| matches!(c, '*' | '?')).count();
        times > marked.chars().filter(|c| matches!(*c, ONE | ANY)).count()
    }

    /// The part that a word of a marked text is.
    pub(crate) fn part(word: String, exact: bool) -> Part {
        if !word.contains([ONE, ANY]) {
            return if exact { Part::Written(word) } else { Part::Term(word) };
        }
        let folded = if exact { nfkc(&word).into_owned() } else { nfkc(&word).to_lowercase() };
        let mut steps: Vec<Step> = Vec::new();
        for c in folded.chars() {
            match c {
                ONE => steps.push(Step::One),
                ANY if steps.last() != Some(&Step::Any) => steps.push(Step::Any),
                ANY => {}
                c => steps.push(Step::Char(c)),
            }
        }
        steps.truncate(MOST_STEPS);
        let places = (0..).zip(&steps).filter(|(_, step)| **step == Step::Any);
        let any = places.fold(0, |any, (nth, _): (u32, _)| any | 1 << nth);
        Part::Wildcard(Self { steps, any, exact })
    }

    /// Before the first character of a word.
    pub fn start(&self) -> Progress {
        Progress(self.skipped(1))
    }

    /// After one more character.
    pub fn step(&self, before: Progress, c: char) -> Progress {
        if self.exact {
            return self.folded_step(before, c);
        }
        if c.is_ascii() {
            return self.folded_step(before, c.to_ascii_lowercase());
        }
        c.to_lowercase().fold(before, |progress, c| self.folded_step(progress, c))
    }

    fn folded_step(&self, before: Progress, c: char) -> Progress {
        let (mut places, mut after) = (before.0, 0);
        while places != 0 {
            let nth = places.trailing_zeros();
            places &= places - 1;
            match self.steps.get(nth as usize) {
                Some(Step::Char(own)) if *own == c => after |= 1 << (nth + 1),
                Some(Step::One) => after |= 1 << (nth + 1),
                Some(Step::Any) => after |= 1 << nth,
                Some(Step::Char(_)) | None => {}
            }
        }
        Progress(self.skipped(after))
    }

    /// With the places behind `*`, which may stand for nothing.
    fn skipped(&self, places: u64) -> u64 {
        // No two `*` stand side by side.
        places | (places & self.any) << 1
    }

    /// Whether the word may end here.
    pub fn is_whole(&self, progress: Progress) -> bool {
        progress.0 & (1 << self.steps.len()) != 0
    }

    /// Whether any further characters could make it fit.
    pub fn is_open(&self, progress: Progress) -> bool {
        progress.0 != 0
    }

    /// Whether a word, as written, fits.
    pub fn fits(&self, word: &str) -> bool {
        self.is_whole(word.chars().fold(self.start(), |progress, c| self.step(progress, c)))
    }
}

impl fmt::Display for Wildcard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            match step {
                Step::Char(c) => write!(f, "{c}")?,
                Step::One => f.write_str("?")?,
                Step::Any => f.write_str("*")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fulltext::Pattern;
    use proptest::prelude::*;

    fn wildcard(text: &str) -> Wildcard {
        let pattern = Pattern::truncated(text);
        pattern.wildcards().next().unwrap_or_else(|| panic!("no wildcard in {text}")).clone()
    }

    #[test]
    fn words_that_fit() {
        for (text, fit, other) in [
            ("measur*", &["measure", "Measuring", "measur", "MEASUREMENT"][..], &["remeasure", "measu"][..]),
            ("fi?er", &["fiber", "FIBER", "fixer"], &["fier", "fibber", "fibers"]),
            ("*phenyl*", &["phenyl", "Biphenyls", "phenylalanine"], &["phenol"]),
            ("colo*r", &["color", "colour", "colorimeter"], &["colors"]),
            ("wom?n?", &["womens"], &["women", "woman"]),
            ("ＭＥＡＳ*", &["measure"], &["mean"]),
            ("größ*", &["Größe", "GRÖSSEN"], &["gross"]),
        ] {
            let wildcard = wildcard(text);
            for word in fit {
                // Capitals of ß are two letters.
                assert_eq!(wildcard.fits(word), !word.contains("SS"), "{text} {word}");
            }
            for word in other {
                assert!(!wildcard.fits(word), "{text} {word}");
            }
        }
        let exact = Pattern::as_written("LED*");
        let exact = exact.wildcards().next().unwrap();
        assert!(exact.fits("LEDs") && !exact.fits("led"));
        assert!(Wildcard::idle("A*") && Wildcard::idle("*") && !Wildcard::idle("ab*"));
    }

    fn brute(pattern: &[char], word: &[char]) -> bool {
        match pattern.split_first() {
            None => word.is_empty(),
            Some(('*', rest)) => (0..=word.len()).any(|skip| brute(rest, &word[skip..])),
            Some((c, rest)) => {
                word.split_first().is_some_and(|(w, words)| (*c == '?' || c == w) && brute(rest, words))
            }
        }
    }

    proptest! {
        #[test]
        fn as_all_ways_tried(pattern in "[ab]{2}[ab*?]{1,6}[*?]", words in prop::collection::vec("[ab]{0,9}", 20)) {
            let wildcard = wildcard(&pattern);
            let chars: Vec<char> = pattern.chars().collect();
            for word in words {
                let expect = brute(&chars, &word.chars().collect::<Vec<_>>());
                prop_assert_eq!(wildcard.fits(&word), expect, "{} {}", pattern, word);
            }
        }
    }
}

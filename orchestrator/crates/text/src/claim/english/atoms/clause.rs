//! Analysis of a run of words: its finite verb, and the qualifiers at its beginning and end.

use super::super::super::atom::Part;
use super::super::verbs::{Form, Verb, is_noun_too, stands_alone, verb};
use super::super::{openings, tables};
use crate::hedge::is_population;
use crate::word::stem;
use std::ops::Range;

/// A word of a sentence, without white space, and where it stands in the passage.
#[derive(Debug, Clone)]
pub(super) struct Word<'a> {
    pub(super) raw: &'a str,
    /// Characters.
    at: Range<usize>,
    /// Lower case without punctuation around it.
    pub(super) key: String,
    /// It begins inside round or square brackets, or opens some.
    pub(super) in_brackets: bool,
    /// Brackets are open after it.
    open_after: bool,
}

impl<'a> Word<'a> {
    /// The words of a text that begins at character `start` of its passage.
    pub(super) fn all(text: &'a str, start: usize) -> Vec<Self> {
        let mut words = Vec::new();
        let (mut at, mut depth) = (start, 0_usize);
        for piece in text.split_inclusive(char::is_whitespace) {
            let raw = piece.trim_end();
            let chars = raw.chars().count();
            if chars > 0 {
                let before = depth;
                let count = |marks: [char; 2]| raw.matches(marks).count();
                depth = (depth + count(['(', '['])).saturating_sub(count([')', ']']));
                let key = raw.trim_matches(|c: char| !(c.is_alphanumeric() || c == '%')).to_lowercase();
                let in_brackets = before > 0 || raw.starts_with(['(', '[']);
                words.push(Self { raw, at: at..at + chars, key, in_brackets, open_after: depth > 0 });
            }
            at += piece.chars().count();
        }
        words
    }

    pub(super) fn is_any(&self, keys: &[&str]) -> bool {
        keys.contains(&self.key.as_str())
    }

    /// The mark stands after it, outside brackets.
    pub(super) fn ends_with(&self, mark: char) -> bool {
        !self.open_after && self.raw.ends_with(mark)
    }

    /// Takes the comma or semicolon away.
    pub(super) fn end_clause(&mut self) {
        let kept = self.raw.trim_end_matches([',', ';']);
        if !kept.is_empty() {
            self.at.end -= self.raw.chars().count() - kept.chars().count();
            self.raw = kept;
        }
    }

    pub(super) fn is_auxiliary(&self) -> bool {
        self.is_any(tables::AUXILIARIES)
    }

    pub(super) fn is_preposition(&self) -> bool {
        is_preposition(&self.key)
    }

    pub(super) fn is_relative(&self) -> bool {
        relative(self)
    }

    /// "However," and its like.
    pub(super) fn is_connective(&self) -> bool {
        self.ends_with(',') && self.is_any(openings::CONNECTIVES)
    }

    /// A word or mark with which parts depend on each other in ways that these rules do not see.
    pub(super) fn forbids_cuts(&self) -> bool {
        self.is_any(&["respectively", "either", "neither", "nor", "both", "whether"])
            || self.raw.contains(['"', '“', '”', '?'])
    }

    /// It looks like a plural.
    pub(super) fn is_plural(&self) -> bool {
        let ending =
            self.key.ends_with('s') && !["ss", "us", "is", "'s"].iter().any(|end| self.key.ends_with(end));
        ending || self.is_any(IRREGULAR_PLURALS)
    }

    pub(super) fn verb(&self) -> Option<Verb> {
        verb(&self.key).filter(|_| !self.in_brackets)
    }
}

/// The words as a text.
pub(super) fn text(words: &[Word]) -> String {
    words.iter().map(|word| word.raw).collect::<Vec<_>>().join(" ")
}

/// A claim of these words; `stated` is the statement that they are part of, whose end mark it gets.
pub(super) fn part(words: &[Word], stated: &str) -> Part {
    let mut text = text(words);
    let mark = stated.trim_end().chars().last().filter(|mark| matches!(mark, '.' | '!' | '。'));
    if let Some(mark) = mark.filter(|_| !text.ends_with(['.', '!', '?', '。'])) {
        text.push(mark);
    }
    let mut pieces: Vec<Range<usize>> = Vec::new();
    for word in words {
        match pieces.last_mut() {
            Some(piece) if piece.end + 1 == word.at.start => piece.end = word.at.end,
            _ => pieces.push(word.at.clone()),
        }
    }
    Part { text, pieces }
}

/// Index of the finite verb, if a listed word is one for sure; never the first word.
pub(super) fn finite(words: &[Word]) -> Option<usize> {
    (1..words.len()).find(|&i| {
        let (word, before) = (&words[i], &words[i - 1]);
        if word.in_brackets || before.key == "to" {
            return false;
        }
        if word.is_auxiliary() {
            return true;
        }
        let modified = if is_adverb(&before.key) && i > 1 { &words[i - 2] } else { before };
        let Some(verb) = word.verb().filter(|_| !modified.is_any(tables::NOUN_COMES_NEXT)) else {
            return false;
        };
        let next = words.get(i + 1);
        let by = next.is_some_and(|next| next.key == "by");
        let amount = words
            .get(i + 2)
            .is_some_and(|word| word.key.contains(|c: char| c.is_ascii_digit()) || word.key == "half");
        let prepositional = next.is_some_and(Word::is_preposition);
        match verb.form {
            // "Word recall": a noun, unless several things do it.
            Form::Base if is_noun_too(verb) && !modified.is_plural() => false,
            Form::Third
                if is_noun_too(verb) && (before.is_any(QUANTIFIERS) || !next.is_some_and(may_be_object)) =>
            {
                false
            }
            // "and increases in B": a noun.
            Form::Third | Form::Base => {
                !prepositional || stands_alone(verb) && !before.is_any(&["and", "or"])
            }
            Form::Past => !prepositional || stands_alone(verb) && (!by || amount || !verb.regular),
        }
    })
}

/// A word that can begin an object.
fn may_be_object(word: &Word) -> bool {
    !word.is_preposition() && !word.is_any(&["not", "and", "or", "but", "which", "that", "who"])
}

/// Index of the main verb behind an auxiliary, or of that itself.
pub(super) fn main_verb(words: &[Word], finite: usize) -> usize {
    if !words.get(finite).is_some_and(Word::is_auxiliary) {
        return finite;
    }
    let passed = |word: &&Word| word.is_any(&["not", "be", "been", "also", "only"]) || is_adverb(&word.key);
    let skipped = words[finite + 1..].iter().take_while(passed).count();
    let at = finite + 1 + skipped;
    if words.get(at).is_some_and(|word| word.verb().is_some()) { at } else { finite }
}

/// Words at the beginning that limit all that follows: "in mice," and "results suggest that".
pub(super) fn prefix(words: &[Word]) -> usize {
    let place = place(words);
    place + report(&words[place..])
}

/// Words at the beginning that name a place or time, with the comma after them.
pub(super) fn place(words: &[Word]) -> usize {
    if !words.first().is_some_and(Word::is_preposition) {
        return 0;
    }
    let comma = words.iter().take(8).position(|word| word.ends_with(','));
    comma.filter(|at| finite(&words[..=*at]).is_none()).map_or(0, |at| at + 1)
}

fn report(words: &[Word]) -> usize {
    let that = words.iter().take(9).position(|word| word.key == "that").filter(|at| *at > 0);
    let Some(that) = that else { return 0 };
    let before = &words[that - 1];
    let reports = openings::REPORT_STEMS.contains(&stem(&before.key).as_str())
        || before.verb().is_some()
        || before
            .is_any(&["likely", "unlikely", "possible", "probable", "known", "clear", "evident", "believed"]);
    if reports && !words[..that].iter().any(|word| word.ends_with(';') || word.is_any(super::CONJUNCTIONS)) {
        that + 1
    } else {
        0
    }
}

/// Where a limit at the end begins: "in mice", "among adults over 60", "if …", "compared with …".
pub(super) fn tail(words: &[Word]) -> Option<usize> {
    let conditional = words.iter().position(|word| word.is_any(LIMITING) && !word.in_brackets);
    let place = (1..words.len()).rev().take(7).find(|&i| {
        let population = words[i + 1..].iter().take(4).any(|word| is_population(&word.key));
        words[i].is_any(&["in", "among", "within"]) && population
    });
    match (conditional.filter(|&i| i > 0), place) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Relative pronouns and conjunctions that begin a clause inside another.
pub(super) fn relative(word: &Word) -> bool {
    word.is_any(&[
        "who", "which", "that", "whose", "whom", "where", "when", "whether", "how", "why", "if", "because",
        "although", "while", "since", "unless",
    ])
}

pub(super) fn is_adverb(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ly") || matches!(word, "also" | "then" | "even" | "still" | "only")
}

pub(super) fn is_preposition(word: &str) -> bool {
    PREPOSITIONS.contains(&word)
}

/// Before these a word that looks like a verb is a plural.
const QUANTIFIERS: &[&str] = &[
    "many",
    "few",
    "several",
    "such",
    "all",
    "some",
    "other",
    "more",
    "most",
    "various",
    "different",
    "two",
    "three",
    "relative",
    "significant",
    "further",
];

const PREPOSITIONS: &[&str] = &[
    "in",
    "on",
    "at",
    "by",
    "for",
    "with",
    "without",
    "from",
    "of",
    "to",
    "among",
    "amongst",
    "during",
    "after",
    "before",
    "within",
    "across",
    "between",
    "under",
    "over",
    "against",
    "through",
    "throughout",
    "via",
    "despite",
    "unlike",
    "into",
    "upon",
    "per",
    "toward",
    "towards",
    "following",
    "compared",
    "than",
    "as",
];

/// Words that begin a condition or a comparison, which may be meant for all of a sentence.
const LIMITING: &[&str] = &[
    "if", "when", "unless", "provided", "only", "compared", "relative", "versus", "vs", "except", "until",
    "whenever",
];

const IRREGULAR_PLURALS: &[&str] = &[
    "mice",
    "men",
    "women",
    "children",
    "people",
    "data",
    "bacteria",
    "criteria",
    "feet",
    "teeth",
    "phenomena",
    "media",
    "larvae",
    "nuclei",
    "mitochondria",
    "stimuli",
    "fungi",
];

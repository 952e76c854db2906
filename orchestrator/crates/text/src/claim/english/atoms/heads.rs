//! Heads of claims that point back: replaced by what they can only mean, or the claim is left out.

use super::clause::{Word, finite, is_adverb, main_verb, prefix};
use crate::word::stem;

/// The clause with its head replaced by the subject of the clause before it; `None` when that is not safe.
pub(super) fn resolve<'a>(words: Vec<Word<'a>>, before: Option<&[Word<'a>]>) -> Option<Vec<Word<'a>>> {
    let mut at = prefix(&words);
    // "Combined, they …"
    if words.get(at).is_some_and(|first| first.ends_with(',')) {
        at += 1;
    }
    let head = words.get(at)?;
    let next = words.get(at + 1);
    let verb_next =
        next.is_some_and(|next| next.is_auxiliary() || next.verb().is_some() || is_adverb(&next.key));
    let (subject, until) = match head.key.as_str() {
        "it" if is_expletive(&words[at..]) => return Some(words),
        "it" | "they" | "he" | "she" => {
            let subject = antecedent(before?, head.key == "they", &words[at..])?;
            (subject, at + 1)
        }
        "this" | "these" | "those" | "that" | "such" => {
            let noun = next.filter(|next| !verb_next && !next.is_preposition())?;
            (named(before?, &noun.key)?, at + 2)
        }
        "both" if !verb_next && coordinated(&words[at..]) => return Some(words),
        "its" | "their" | "his" | "her" | "both" | "which" | "who" | "whom" | "whose" | "where" => {
            return None;
        }
        "the" if next.is_some_and(|next| next.is_any(&["former", "latter"])) => return None,
        _ if of_these(&words[at..]) => return None,
        _ => return Some(words),
    };
    let mut resolved = words[..at].to_vec();
    resolved.extend(subject);
    resolved.extend_from_slice(&words[until..]);
    Some(resolved)
}

/// "It is likely that …", "It was shown to …": nothing is meant.
fn is_expletive(words: &[Word]) -> bool {
    let opens =
        words.get(1).is_some_and(|word| word.is_any(&["is", "was", "has", "may", "seems", "appears"]));
    opens && words.iter().skip(2).take(4).any(|word| word.is_any(&["that", "to", "whether"]))
}

/// "One of these …", "none of them …".
fn of_these(words: &[Word]) -> bool {
    let pointing = ["these", "those", "them", "this", "which", "whom"];
    words
        .iter()
        .skip(1)
        .take(2)
        .zip(words.iter().skip(2))
        .any(|(of, next)| of.key == "of" && next.is_any(&pointing))
}

/// "Both A and B …".
fn coordinated(words: &[Word]) -> bool {
    let subject = finite(words).map_or(words, |verb| &words[..verb]);
    subject.iter().any(|word| word.key == "and")
}

/// The subject of a clause, when it stands on its own.
fn subject<'w, 'a>(clause: &'w [Word<'a>]) -> Option<(&'w [Word<'a>], &'w [Word<'a>])> {
    let body = &clause[prefix(clause)..];
    let (mut subject, predicate) = body.split_at(finite(body)?);
    while let [rest @ .., last] = subject
        && is_adverb(&last.key)
    {
        subject = rest;
    }
    let first = subject.first()?;
    let marks = subject.iter().any(|word| word.raw.ends_with([',', ';', ':']));
    let whole = subject.len() <= 10 && !marks && !first.is_any(NO_ANTECEDENT) && !first.is_preposition();
    whole.then_some((subject, predicate))
}

/// What "it" or "they" stands for: the subject of the clause before, when its number fits, and when either nothing else in
/// that clause has this number or both clauses run in parallel (the same verb, or "also").
fn antecedent<'a>(before: &[Word<'a>], plural: bool, clause: &[Word<'a>]) -> Option<Vec<Word<'a>>> {
    let (subject, predicate) = subject(before)?;
    if is_plural(subject) != plural {
        return None;
    }
    let verb_of = |words: &[Word]| {
        let verb = words.get(main_verb(words, finite(words)?))?.verb()?;
        Some(verb.base)
    };
    let now = verb_of(clause);
    let main = predicate.get(main_verb(predicate, 0)).and_then(Word::verb).map(|verb| verb.base);
    let parallel = clause.iter().take(4).any(|word| word.key == "also") || now.is_some() && now == main;
    let rival = predicate.iter().skip(1).any(|word| {
        let noun = word.key.chars().all(char::is_alphabetic) && word.key.len() > 2 && !is_adverb(&word.key);
        noun && !word.is_preposition()
            && !word.is_any(&["not", "been", "the"])
            && is_plural(std::slice::from_ref(word)) == plural
    });
    (parallel || !rival).then(|| ended(subject))
}

/// What "these mice" stands for: the subject before, when it is about mice and nothing else there is.
fn named<'a>(before: &[Word<'a>], noun: &str) -> Option<Vec<Word<'a>>> {
    let (subject, predicate) = subject(before)?;
    let noun = stem(noun);
    let count = |words: &[Word]| words.iter().filter(|word| stem(&word.key) == noun).count();
    (count(subject) == 1 && count(predicate) == 0 && subject.len() > 1).then(|| ended(subject))
}

fn ended<'a>(subject: &[Word<'a>]) -> Vec<Word<'a>> {
    let mut subject = subject.to_vec();
    if let Some(last) = subject.last_mut() {
        last.end_clause();
    }
    subject
}

/// By the noun before the first preposition, or "and".
fn is_plural(words: &[Word]) -> bool {
    let end = words
        .iter()
        .position(|word| word.is_preposition() || word.is_relative() || word.key.ends_with("ing"));
    let head = &words[..end.filter(|end| *end > 0).unwrap_or(words.len())];
    head.last().is_some_and(Word::is_plural) || head.iter().any(|word| word.key == "and")
}

/// First words of subjects that mean nothing outside their sentence, or that refer to no one.
const NO_ANTECEDENT: &[&str] = &[
    "it", "they", "he", "she", "this", "these", "those", "that", "such", "its", "their", "his", "her",
    "there", "we", "our", "i", "both", "neither", "one", "some", "others", "which", "who", "what", "here",
    "if", "when", "although", "because", "since", "while", "as", "no", "none",
];

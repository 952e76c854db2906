//! English sentences into standalone claims: where they are cut, and what each part takes along.

mod clause;
mod heads;

use super::super::atom::Part;
use super::{Lead, after_opening, score_of, statement};
use crate::Sentence;
use crate::claim::english::verbs::{Form, Verb, is_noun_too, undoes, verb};
use clause::{Word, finite, is_adverb, prefix, relative, tail};

/// Claims of a text's sentences, in order, with their scores.
pub(in crate::claim) fn atoms(sentences: &[Sentence]) -> Vec<(Part, f64)> {
    let mut found = Vec::new();
    let mut before: Option<Vec<Word>> = None;
    for sentence in sentences {
        let stated = statement(&sentence.text);
        let lead = Lead::of(&sentence.text, stated);
        let skipped = sentence.text[..sentence.text.len() - stated.len()].chars().count();
        for clause in split(Word::all(stated, sentence.start + skipped)) {
            before = heads::resolve(tidy(clause), before.as_deref());
            if let Some(words) = &before {
                let part = clause::part(words, stated);
                let score = score_of(&lead, &part.text);
                found.push((part, score));
            }
        }
    }
    found
}

/// Without what introduces a statement.
fn tidy(mut words: Vec<Word>) -> Vec<Word> {
    loop {
        let text = clause::text(&words);
        let kept = text.len() - after_opening(&text);
        let mut gone = 0;
        let drop = words
            .iter()
            .take_while(|word| {
                gone += word.raw.len() + 1;
                gone <= kept
            })
            .count();
        if drop == 0 || drop >= words.len() {
            return words;
        }
        words.drain(..drop);
    }
}

/// Cuts at the first place where that is safe, again and again. Every cut takes a conjunction or semicolon away, so that
/// this ends.
fn split(words: Vec<Word>) -> Vec<Vec<Word>> {
    for at in 1..words.len() {
        if let Some((left, right)) = cut(&words, at) {
            let mut parts = split(left);
            parts.extend(split(right));
            return parts;
        }
    }
    vec![words]
}

/// Both sides of a cut before word `at`, if there may be one.
fn cut<'a>(words: &[Word<'a>], at: usize) -> Option<(Vec<Word<'a>>, Vec<Word<'a>>)> {
    let semicolon = words[at - 1].ends_with(';');
    let comma = words[at - 1].ends_with(',');
    let conjunction = words[at].is_any(CONJUNCTIONS);
    if words[at].in_brackets || !(semicolon || conjunction) || words.iter().any(Word::forbids_cuts) {
        return None;
    }
    let not_only = words.windows(2).any(|two| two[0].key == "not" && two[1].key == "only");
    // "Three stages: first …; then …": the parts of a list.
    let listed = semicolon && words[..at].iter().any(|word| word.ends_with(':'));
    if not_only || listed {
        return None;
    }
    let limits = prefix(words);
    let (left, mut right) = (words.get(limits..at)?, words.get(at + usize::from(conjunction)..)?);
    while right.len() > 1 && (right[0].key == "that" || right[0].is_connective()) {
        right = &right[1..];
    }
    if left.first()?.is_any(SUBORDINATING) && !semicolon || left.last()?.is_preposition() {
        return None;
    }
    let joint = Joint { comma, semicolon, word: &words[at].key };
    let (left, right) = if own_subjects(left, right, &joint) {
        // "In mice …, and in rats …": each has its own. What is reported ends with a semicolon.
        let place = clause::place(words);
        let from = if right[0].is_preposition() { place } else { 0 };
        let shared = from..if semicolon { place } else { limits };
        (left.to_vec(), [&words[shared], right].concat())
    } else {
        let (left, right) = shared_subject(left, right, &joint)?;
        (left, [&words[..limits], &right].concat())
    };
    let mut left = [&words[..limits], &left].concat();
    left.last_mut()?.end_clause();
    Some((left, right))
}

/// What stands between two clauses.
struct Joint<'k> {
    comma: bool,
    semicolon: bool,
    /// The first word after it, a conjunction unless there is a semicolon.
    word: &'k str,
}

/// Whether both sides are clauses with a subject and a finite verb of their own.
fn own_subjects(left: &[Word], right: &[Word], joint: &Joint) -> bool {
    let (Some(left_verb), Some(right_verb)) = (finite(left), finite(right)) else { return false };
    let clear = joint.semicolon
        || joint.comma && (joint.word != "and" || !ends_in_list(&left[left_verb..]))
        || matches!(joint.word, "but" | "whereas")
        || joint.word == "and" && unmarked(&left[left_verb..], &right[right_verb..]);
    let object = |words: &[Word], verb: usize| {
        words.get(verb + 1).is_some_and(|next| !next.is_preposition() && !is_adverb(&next.key))
    };
    // "A increased and B decreased the yield": the object belongs to both.
    let borrowed = left_verb + 1 == left.len() && object(right, right_verb);
    let reported = left[left_verb..].iter().any(|word| word.is_any(COMPLEMENTS));
    // What limits the last part only may be meant for all.
    let unclear = tail(right).is_some() && tail(left).is_none();
    let afloat = left[0].is_preposition() && !joint.semicolon;
    clear
        && !(borrowed || reported || unclear || afloat)
        && is_subject(&left[..left_verb])
        && is_subject(&right[..right_verb])
}

/// Whether "and" without a comma joins two clauses: both verbs are beyond doubt, and no list or inner clause is open.
fn unmarked(left: &[Word], right: &[Word]) -> bool {
    let strong = |words: &[Word]| {
        let sure = |verb: Verb| verb.change && (verb.form == Form::Past || !is_noun_too(verb));
        words[0].is_auxiliary() || words[0].verb().is_some_and(sure)
    };
    strong(left)
        && strong(right)
        && !ends_in_list(left)
        && !left.iter().any(|word| word.is_relative() || word.is_any(SUBORDINATING))
}

/// "…, A, B" before "and C".
fn ends_in_list(words: &[Word]) -> bool {
    let before_last = words.len().saturating_sub(1);
    words[before_last.saturating_sub(4)..before_last].iter().any(|word| word.ends_with(','))
}

/// Words that can be the subject of a clause.
fn is_subject(words: &[Word]) -> bool {
    let [first, .., last] = words else {
        return words.first().is_some_and(|only| {
            only.verb().is_none() && can_begin(only) && !is_adverb(&only.key) && !only.ends_with(',')
        });
    };
    let inner = |word: &Word| word.is_any(SUBORDINATING) || word.is_any(COMPLEMENTS) || word.is_relative();
    let breaks =
        |word: &Word| word.is_any(CONJUNCTIONS) && word.key != "and" || word.ends_with(';') || inner(word);
    words.len() <= 12
        && can_begin(first)
        && first
            .verb()
            .is_none_or(|verb| verb.form == Form::Past && !words.iter().any(|word| word.key == "and"))
        && !words.iter().any(breaks)
        && !last.ends_with(',')
        && last.key != "and"
}

fn can_begin(word: &Word) -> bool {
    !word.is_any(NO_SUBJECT) && !word.is_auxiliary() && !word.is_any(CONJUNCTIONS)
}

/// Both sides of "X improved A and reduced B", the right one with the subject (and "may", "has") of the left.
fn shared_subject<'a>(
    left: &[Word<'a>],
    right: &[Word<'a>],
    joint: &Joint,
) -> Option<(Vec<Word<'a>>, Vec<Word<'a>>)> {
    if !matches!(joint.word, "and" | "but") || left.iter().any(|word| relative(word) || word.key == "to") {
        return None;
    }
    let verb_at = finite(left)?;
    let main_at = clause::main_verb(left, verb_at);
    let right_at = right.iter().take(3).position(|word| !is_adverb(&word.key))?;
    let first = &right[right_at];
    if !is_subject(&left[..verb_at])
        || finite(&left[main_at..]).is_some()
        || right_at > 0 && verb(&first.key).is_none()
    {
        return None;
    }
    let later = &right[right_at..];
    let end =
        later.iter().position(|word| word.is_any(CONJUNCTIONS) || relative(word)).unwrap_or(later.len());
    if finite(&later[..end]).is_some_and(|at| at > clause::main_verb(later, 0)) {
        return None;
    }
    let carried = carried(left, verb_at, main_at, later, joint)?;
    let mut left = left.to_vec();
    if tail(&left).is_none()
        && let Some(at) = tail(right)
        && !right[..at].iter().any(|word| word.is_any(CONJUNCTIONS))
    {
        left.last_mut()?.end_clause();
        left.extend_from_slice(&right[at..]);
    }
    // "Completely blocked A and reduced B": how the first was done. "Usually" may be meant for both.
    let manner = left[..carried]
        .iter()
        .rev()
        .take_while(|word| word.key.ends_with("ly") && !word.is_any(FREQUENCY))
        .count();
    let carried = if carried == verb_at { carried - manner } else { carried };
    Some((left.clone(), [&left[..carried], right].concat()))
}

/// How many words of the left side the right one takes, when its first word is a verb for sure.
fn carried(left: &[Word], verb_at: usize, main_at: usize, right: &[Word], joint: &Joint) -> Option<usize> {
    let first = right.first()?;
    if first.is_auxiliary() {
        return Some(verb_at);
    }
    let (next, main) = (first.verb()?, left[main_at].verb());
    let after = |words: &[Word], at: usize| words.get(at + 1).is_some_and(Word::is_preposition);
    let alike = |main: Verb| {
        // "Increased A through decreased B and reduced C": C may be decreased with B.
        let participle = left[main_at + 1..].iter().any(|word| word.key.ends_with("ed"));
        let objects = after(left, main_at) == after(right, 0) && main_at + 1 < left.len();
        main.change && !undoes(main) && objects && !(participle && next.form == Form::Past)
    };
    if !next.change || right.len() < 2 {
        return None;
    }
    let auxiliary = &left[verb_at];
    if main_at == verb_at {
        let main = main.filter(|main| main.form == next.form)?;
        // "and increases in B" is a noun.
        let noun = next.form != Form::Past && after(right, 0);
        return (alike(main) && !noun).then_some(verb_at);
    }
    let negated = left[verb_at..main_at].iter().any(|word| word.key == "not") || auxiliary.key == "cannot";
    match next.form {
        Form::Base if !negated && auxiliary.is_any(MODALS) && main?.form == Form::Base => Some(main_at),
        Form::Past if !negated && auxiliary.is_any(PERFECT) && main.is_some_and(alike) => Some(main_at),
        Form::Past | Form::Third if negated && joint.word == "but" && auxiliary.is_any(DO) => Some(verb_at),
        _ => None,
    }
}

const CONJUNCTIONS: &[&str] = &["and", "but", "whereas", "while", "yet", "although", "though"];

const SUBORDINATING: &[&str] = &[
    "if", "when", "although", "though", "because", "since", "while", "whereas", "as", "before", "unless",
    "once", "until", "given", "whether", "provided", "than", "so",
];

/// Words that open a clause inside a clause.
const COMPLEMENTS: &[&str] = &["that", "whether", "how", "why", "what", "where", "when", "if", "because"];

const NO_SUBJECT: &[&str] =
    &["to", "not", "or", "nor", "than", "that", "also", "then", "thus", "therefore", "hence"];

const FREQUENCY: &[&str] = &[
    "usually",
    "generally",
    "typically",
    "commonly",
    "frequently",
    "rarely",
    "probably",
    "possibly",
    "likely",
    "potentially",
    "partially",
    "only",
    "apparently",
    "presumably",
];

const MODALS: &[&str] = &["may", "might", "can", "could", "will", "would", "should", "must"];
const PERFECT: &[&str] = &["has", "have", "had"];
const DO: &[&str] = &["did", "does", "do"];

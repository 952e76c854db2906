//! English counter-claims, word by word.

use super::tables;
use super::verbs::{Form, is_noun_too, opposite, verb};
use crate::claim::capitalised;

/// See [`crate::claim::counter_claim`].
pub(in crate::claim) fn counter(claim: &str) -> Option<String> {
    let words: Vec<&str> = claim.split_whitespace().collect();
    let keys: Vec<String> = words.iter().map(|word| parts(word).1.to_lowercase()).collect();
    let at =
        (1..keys.len()).find(|&i| is_auxiliary(&keys[i]) && !is_of_relative(&keys, i) || is_finite(&keys, i));
    let text = affirmed(&words, &keys, at)
        .or_else(|| turned(&words, &keys, at))
        .or_else(|| denied(&words, &keys, at?))
        .or_else(|| exchanged(&words, &keys))?
        .join(" ");
    Some(if claim.starts_with(char::is_uppercase) { capitalised(&text) } else { text })
}

fn is_auxiliary(key: &str) -> bool {
    tables::AUXILIARIES.contains(&key)
}

/// Whether a word is a listed verb of the claim itself, and no noun or infinitive.
fn is_finite(keys: &[String], i: usize) -> bool {
    let Some(verb) = verb(&keys[i]).filter(|_| i > 0) else { return false };
    let before = keys[i - 1].as_str();
    if tables::NOUN_COMES_NEXT.contains(&before) || is_of_relative(keys, i) {
        return false;
    }
    match verb.form {
        // "A wage increase": a noun, unless several things do it.
        Form::Base if is_noun_too(verb) => is_plural(before) || MODALS.contains(&before),
        // "Wage increases reduce poverty".
        Form::Third if is_noun_too(verb) => !keys.get(i + 1).is_some_and(|next| is_predicate(next)),
        _ => true,
    }
}

/// An auxiliary, or the base form of a verb that is no noun.
fn is_predicate(key: &str) -> bool {
    is_auxiliary(key) || verb(key).is_some_and(|verb| verb.form == Form::Base && !is_noun_too(verb))
}

fn is_plural(key: &str) -> bool {
    let ends = key.ends_with('s') && !["ss", "us", "is"].iter().any(|end| key.ends_with(end));
    let is_verb = verb(key).is_some_and(|verb| verb.form == Form::Third && !is_noun_too(verb));
    let listed = ["mice", "men", "women", "children", "people", "elderly", "bacteria"];
    !is_auxiliary(key) && !is_verb && (ends || listed.contains(&key))
}

/// Without its negation. `at`: where its finite verb stands.
fn affirmed(words: &[&str], keys: &[String], at: Option<usize>) -> Option<Vec<String>> {
    let mut out = Vec::with_capacity(words.len());
    let mut changed = false;
    for (i, word) in words.iter().enumerate() {
        let (open, _, close) = parts(word);
        let next = keys.get(i + 1).map_or("", String::as_str);
        let positive = match keys[i].as_str() {
            _ if is_of_relative(keys, i) => None,
            "not" if next == "only" => None,
            "not" | "never" => Some(""),
            "no" if !is_said_no(words, keys, i, at) => None,
            "no" if next.starts_with(['a', 'e', 'i', 'o', 'u']) => Some("an"),
            "no" if matches!(next, "longer" | "more" | "less" | "better" | "worse") => Some(""),
            "no" => Some("a"),
            "without" if is_said_without(keys, i, at) => Some("with"),
            "lack" if is_finite(keys, i) => Some("have"),
            "lacks" => Some("has"),
            "lacked" => Some("had"),
            "cannot" | "can't" => Some("can"),
            "isn't" => Some("is"),
            "aren't" => Some("are"),
            "wasn't" => Some("was"),
            "weren't" => Some("were"),
            "doesn't" => Some("does"),
            "don't" => Some("do"),
            "didn't" => Some("did"),
            key => {
                DENYING.iter().find(|(denying, _)| *denying == key && is_said(keys, i)).map(|(_, said)| *said)
            }
        };
        changed |= positive.is_some();
        match positive {
            Some("") if open.is_empty() && close.is_empty() => {}
            Some(positive) => out.push(format!("{open}{positive}{close}")),
            None => out.push((*word).to_owned()),
        }
    }
    changed.then_some(out)
}

/// "Who do not …", "that have no …": it says which ones are meant.
fn is_of_relative(keys: &[String], i: usize) -> bool {
    let before = keys[..i].iter().rev().find(|key| !is_auxiliary(key) && !key.ends_with("ly"));
    before.is_some_and(|key| matches!(key.as_str(), "who" | "which" | "that"))
}

/// Whether "no" denies the claim: with its subject ("no drug …") or behind its verb ("had no effect"), but not in "adults
/// with no history of stroke".
fn is_said_no(words: &[&str], keys: &[String], i: usize, at: Option<usize>) -> bool {
    let opens_noun = |key: &String| tables::NOUN_COMES_NEXT.contains(&key.as_str()) && key != "to";
    match at {
        _ if i == 0 || words[i - 1].ends_with(',') => true,
        Some(at) => at < i && !keys[at + 1..i].iter().any(opens_noun),
        None => !opens_noun(&keys[i - 1]),
    }
}

/// Whether "without" stands directly behind the verb, or opens a claim whose verb is not known.
fn is_said_without(keys: &[String], i: usize, at: Option<usize>) -> bool {
    let of_verb = |key: &String| {
        is_auxiliary(key) || key.ends_with("ly") || verb(key).is_some_and(|verb| verb.form == Form::Past)
    };
    at.map_or(i == 0, |at| at < i && keys[at + 1..i].iter().all(of_verb))
}

/// Whether a word is what the claim says of its subject: directly behind a verb.
fn is_said(keys: &[String], i: usize) -> bool {
    let before = keys[..i].iter().rev().find(|key| !key.ends_with("ly") && *key != "a" && *key != "an");
    before.is_some_and(|key| is_auxiliary(key) || verb(key).is_some())
}

/// With its verb of change, or else the first comparison behind its verb, replaced by the opposite: one of them, since two
/// turns say the same again.
fn turned(words: &[&str], keys: &[String], at: Option<usize>) -> Option<Vec<String>> {
    let changes =
        (1..keys.len()).filter(|&i| is_finite(keys, i)).find_map(|i| Some((i, opposite(&keys[i])?)));
    // "Improve and consolidate": one turn would leave the other half.
    let is_joined = |i: usize| keys.get(i + 1).is_some_and(|word| word == "and" || word == "or");
    if changes.as_ref().is_some_and(|(i, _)| is_joined(*i)) {
        return None;
    }
    // What is compared before the verb says which ones are meant: "higher doses are effective".
    let from = at.map_or(0, |at| at + 1);
    let compares = || {
        let mut said = (from..keys.len()).filter(|&i| !is_qualifier(keys, i));
        said.find_map(|i| Some((i, paired(COMPARISONS, &keys[i])?.to_owned())))
    };
    let (i, turned) = changes.or_else(compares)?;
    Some(replaced(words, i, &turned))
}

/// Whether a comparison only says which ones are meant ("in adults with a higher weight"), or what for.
fn is_qualifier(keys: &[String], i: usize) -> bool {
    let before = keys[..i].iter().rposition(|key| !matches!(key.as_str(), "a" | "an" | "the"));
    before.is_some_and(|before| {
        let related = before > 0 && RELATING.contains(&keys[before - 1].as_str());
        matches!(keys[before].as_str(), "for" | "of" | "in" | "with") && !related
    })
}

/// With the first noun or adjective of a pair replaced by the other, where no verb is known.
fn exchanged(words: &[&str], keys: &[String]) -> Option<Vec<String>> {
    let is_verb = |i: usize| keys.get(i + 1).is_some_and(|next| next == "from");
    let mut nouns = (0..keys.len()).filter(|&i| !is_verb(i));
    let (i, other) = nouns.find_map(|i| Some((i, paired(NOUNS, &keys[i])?)))?;
    Some(replaced(words, i, other))
}

/// The other word of a pair.
fn paired<'p>(pairs: &[(&'p str, &'p str)], word: &str) -> Option<&'p str> {
    pairs.iter().find_map(|&(a, b)| match word {
        word if word == a => Some(b),
        word if word == b => Some(a),
        _ => None,
    })
}

/// With "not" behind its auxiliary, or "does not" before its verb, which stands at `at`.
fn denied(words: &[&str], keys: &[String], at: usize) -> Option<Vec<String>> {
    let mut out = owned(words);
    let (open, _, close) = parts(words[at]);
    let participle = keys.get(at + 1).is_some_and(|next| next.ends_with("ed") || next == "been");
    let possessed = match keys[at].as_str() {
        "has" if !participle => Some("does not have"),
        "have" if !participle => Some("do not have"),
        "had" if !participle => Some("did not have"),
        _ => None,
    };
    if let Some(possessed) = possessed {
        out[at] = format!("{open}{possessed}{close}");
    } else if is_auxiliary(&keys[at]) {
        out.insert(at + 1, "not".to_owned());
    } else {
        let verb = verb(&keys[at])?;
        let auxiliary = match verb.form {
            Form::Base => "do not",
            Form::Third => "does not",
            Form::Past => "did not",
        };
        out[at] = format!("{open}{auxiliary} {}{close}", verb.base);
    }
    Some(out)
}

/// With another word in the place of one, between its marks.
fn replaced(words: &[&str], i: usize, other: &str) -> Vec<String> {
    let mut out = owned(words);
    let (open, _, close) = parts(words[i]);
    out[i] = format!("{open}{other}{close}");
    out
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A word's marks before it, itself, and the marks after it.
fn parts(word: &str) -> (&str, &str, &str) {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric());
    let Some(start) = word.find(core).filter(|_| !core.is_empty()) else { return ("", word, "") };
    (&word[..start], core, &word[start + core.len()..])
}

/// Before these a base form is a verb.
const MODALS: &[&str] =
    &["do", "does", "did", "can", "could", "may", "might", "will", "would", "should", "must", "not"];

/// What denies in one word, and what it denies.
const DENYING: &[(&str, &str)] = &[
    ("unaffected", "affected"),
    ("unchanged", "changed"),
    ("unrelated", "related"),
    ("ineffective", "effective"),
    ("insignificant", "significant"),
    ("nonsignificant", "significant"),
];

/// Between these and a preposition what follows is what the claim says.
const RELATING: &[&str] =
    &["associated", "correlated", "correlates", "correlate", "linked", "results", "resulted", "result"];

/// Comparisons and results that turn a statement round.
const COMPARISONS: &[(&str, &str)] = &[
    ("higher", "lower"),
    ("greater", "smaller"),
    ("more", "less"),
    ("better", "worse"),
    ("longer", "shorter"),
    ("faster", "slower"),
    ("stronger", "weaker"),
    ("increased", "decreased"),
    ("elevated", "reduced"),
    ("positive", "negative"),
    ("positively", "negatively"),
    ("beneficial", "harmful"),
    ("protective", "harmful"),
    ("sufficient", "insufficient"),
    ("increase", "decrease"),
    ("improvement", "deterioration"),
    ("reduction", "increase"),
    ("resistant", "sensitive"),
];

/// Nouns and adjectives that rarely carry what a claim says: "weight loss" is often its subject, or what a treatment is
/// for.
const NOUNS: &[(&str, &str)] = &[
    ("upregulation", "downregulation"),
    ("activation", "inhibition"),
    ("presence", "absence"),
    ("gain", "loss"),
    ("early", "late"),
    ("benefit", "harm"),
];

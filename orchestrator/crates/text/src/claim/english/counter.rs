//! English counter-claims, word by word.

use super::tables;
use super::verbs::{Form, opposite, verb};

/// See [`crate::claim::counter_claim`].
pub(in crate::claim) fn counter(claim: &str) -> Option<String> {
    let words: Vec<&str> = claim.split_whitespace().collect();
    affirmed(&words).or_else(|| turned(&words)).or_else(|| denied(&words)).map(|words| words.join(" "))
}

/// Without its negation.
fn affirmed(words: &[&str]) -> Option<Vec<String>> {
    let mut out = Vec::with_capacity(words.len());
    let mut changed = false;
    for (i, word) in words.iter().enumerate() {
        let (open, core, close) = parts(word);
        let lower = core.to_lowercase();
        let next = words.get(i + 1).map_or(String::new(), |next| parts(next).1.to_lowercase());
        let positive = match lower.as_str() {
            "not" if next == "only" => None,
            "not" | "never" => Some(""),
            "no" if next.starts_with(['a', 'e', 'i', 'o', 'u']) => Some("an"),
            "no" if matches!(next.as_str(), "longer" | "more" | "less") => Some(""),
            "no" => Some("a"),
            "without" => Some("with"),
            "lack" | "absence" if next == "of" => Some("presence"),
            "lack" => Some("have"),
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
            "unaffected" => Some("affected"),
            "unchanged" => Some("changed"),
            "unrelated" => Some("related"),
            "ineffective" => Some("effective"),
            "insignificant" | "nonsignificant" => Some("significant"),
            _ => None,
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

/// With its verb of change, or else its first comparison, replaced by the opposite: one of them, since two turns say the same
/// again.
fn turned(words: &[&str]) -> Option<Vec<String>> {
    let key = |i: usize| parts(words[i]).1.to_lowercase();
    let after_noun = |i: usize| i > 0 && !tables::NOUN_COMES_NEXT.contains(&key(i - 1).as_str());
    let compared = |word: &str| {
        COMPARISONS.iter().find_map(|&(a, b)| match word {
            word if word == a => Some(b.to_owned()),
            word if word == b => Some(a.to_owned()),
            _ => None,
        })
    };
    let verb = (0..words.len()).filter(|&i| after_noun(i)).find_map(|i| Some((i, opposite(&key(i))?)));
    let (at, turned) = verb.or_else(|| (0..words.len()).find_map(|i| Some((i, compared(&key(i))?))))?;
    let mut out = owned(words);
    let (open, _, close) = parts(words[at]);
    out[at] = format!("{open}{turned}{close}");
    Some(out)
}

/// With "not" behind its auxiliary, or "does not" before its verb.
fn denied(words: &[&str]) -> Option<Vec<String>> {
    let key = |word: &&str| parts(word).1.to_lowercase();
    let at = (1..words.len()).find(|&i| {
        let (word, before) = (key(&words[i]), key(&words[i - 1]));
        tables::AUXILIARIES.contains(&word.as_str())
            || verb(&word).is_some_and(|verb| verb.form != Form::Base)
                && !tables::NOUN_COMES_NEXT.contains(&before.as_str())
    })?;
    let mut out = owned(words);
    let (word, (open, _, close)) = (key(&words[at]), parts(words[at]));
    let participle = words.get(at + 1).map(key).is_some_and(|next| next.ends_with("ed") || next == "been");
    let possessed = match word.as_str() {
        "has" if !participle => Some("does not have"),
        "have" if !participle => Some("do not have"),
        "had" if !participle => Some("did not have"),
        _ => None,
    };
    if let Some(possessed) = possessed {
        out[at] = format!("{open}{possessed}{close}");
    } else if tables::AUXILIARIES.contains(&word.as_str()) {
        out.insert(at + 1, "not".to_owned());
    } else {
        let verb = verb(&word)?;
        let auxiliary = if verb.form == Form::Third { "does not" } else { "did not" };
        out[at] = format!("{open}{auxiliary} {}{close}", verb.base);
    }
    Some(out)
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
    ("upregulation", "downregulation"),
    ("activation", "inhibition"),
    ("presence", "absence"),
    ("gain", "loss"),
    ("resistant", "sensitive"),
    ("early", "late"),
    ("benefit", "harm"),
];

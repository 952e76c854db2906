//! What is a statement already, and its own claim.

use super::predicate::is_manner;
use super::{Word, finished, tables};

/// The text as a sentence, when its verb shows. `ended`: a period says that it is one, or "that" before it.
pub(super) fn stated(words: &[Word], ended: bool) -> Option<String> {
    let first = words.first()?;
    let asks = first.is_any(tables::ASKING) || tables::positive(&first.key).is_some();
    if words.len() < 3 || asks || first.is_any(tables::NO_SUBJECT) || first.is_any(tables::POINTING) {
        return None;
    }
    if words.iter().any(|word| word.is_any(&["vs", "versus"]) || word.raw.ends_with(':')) {
        return None;
    }
    let verb = (1..words.len()).find(|&i| is_finite(words, i, ended))?;
    // "Statins cause": nothing is said of what.
    let said = words.len() > verb + 1 || !tables::AUXILIARIES.contains(&words[verb].key.as_str());
    let raw: Vec<String> = words.iter().map(|word| word.raw.clone()).collect();
    said.then(|| finished(&[], &raw))
}

/// Whether word `i` can only, or here most likely, be a finite verb.
fn is_finite(words: &[Word], i: usize, ended: bool) -> bool {
    let (word, before) = (&words[i], &words[i - 1]);
    if before.is_any(tables::BEFORE_NOUNS) && !before.is_any(&["that", "which", "who"]) {
        return false;
    }
    if tables::AUXILIARIES.contains(&word.key.as_str()) {
        return i + 1 < words.len();
    }
    let of = |list: &[&str]| {
        list.iter().any(|base| tables::forms(base).iter().flatten().any(|form| *form == word.key))
    };
    let third = word.key.ends_with('s') && !word.key.ends_with("ss");
    let base = tables::SURE.contains(&word.key.as_str());
    // "Bans raise": the noun before a base form is plural.
    let plural = before.key.ends_with('s') && !before.ends();
    if of(tables::SURE) {
        return third || ended && (base && plural || !base && i + 1 < words.len());
    }
    // "Wage increases", "drug tests": nouns, unless a sentence is sure.
    let manner = words.get(i + 1).is_some_and(|next| next.is_any(tables::COMPARATIVES) || is_manner(next));
    (ended || manner) && (third || plural) && (of(tables::LIKELY) || of(tables::RARE)) && i + 1 < words.len()
}

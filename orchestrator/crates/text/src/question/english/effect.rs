//! Questions for an effect: the direction is open, the topic is X and Y.

use super::{Statement, Word, finished, tables};

/// "What is the effect of X on Y", "How does X affect Y", "effect of X on Y": "X affects Y."
pub(super) fn asked(words: &[Word]) -> Option<Statement> {
    let text = of_noun(words).or_else(|| how(words)).or_else(|| what_effect(words))?;
    Some(Statement { text, open: true })
}

/// "[What is] the effect of X on Y".
fn of_noun(words: &[Word]) -> Option<String> {
    let at = words.iter().take(8).position(|word| word.is_any(EFFECTS))?;
    let (head, rest) = (&words[..at], words.get(at + 1..)?);
    let asks = head.first().is_none_or(|word| word.is_any(&["what", "what's", "whats", "the", "effect"]));
    let plain = head
        .iter()
        .all(|word| word.is_any(&["what", "what's", "whats", "is", "are", "was", "were", "the", "a", "any"]));
    if !asks || !plain || rest.first()?.key != "of" {
        return None;
    }
    let on = rest.iter().position(|word| word.is_any(&["on", "upon"])).filter(|at| *at > 1)?;
    joined(&rest[1..on], &rest[on + 1..])
}

/// "How does X affect Y".
fn how(words: &[Word]) -> Option<String> {
    let [how, auxiliary, rest @ ..] = words else { return None };
    if how.key != "how" || !auxiliary.is_any(&["does", "do", "did", "can", "could", "will", "would"]) {
        return None;
    }
    let verb =
        rest.iter().position(|word| word.is_any(&["affect", "influence", "impact"])).filter(|at| *at > 0)?;
    let (subject, object) = (&rest[..verb], &rest[verb + 1..]);
    let form = match auxiliary.key.as_str() {
        "does" => tables::third(&rest[verb].key)?,
        "did" => tables::past(&rest[verb].key)?,
        "do" => rest[verb].key.clone(),
        modal => format!("{modal} {}", rest[verb].key),
    };
    stated(subject, &form, object)
}

/// "What effect does X have on Y".
fn what_effect(words: &[Word]) -> Option<String> {
    let [what, rest @ ..] = words else { return None };
    let noun = rest.iter().take(4).position(|word| word.is_any(EFFECTS))?;
    let auxiliary = rest.get(noun + 1)?;
    let rest = rest.get(noun + 2..)?;
    let have = rest.iter().position(|word| word.key == "have").filter(|at| *at > 0)?;
    if what.key != "what" || rest.get(have + 1)?.key != "on" {
        return None;
    }
    let form = match auxiliary.key.as_str() {
        "does" => "affects",
        "do" => "affect",
        "did" => "affected",
        _ => return None,
    };
    stated(&rest[..have], form, rest.get(have + 2..)?)
}

/// "X affects Y", with the number of X.
fn joined(subject: &[Word], object: &[Word]) -> Option<String> {
    let form = if is_plural(subject) { "affect" } else { "affects" };
    stated(subject, form, object)
}

fn stated(subject: &[Word], form: &str, object: &[Word]) -> Option<String> {
    // "…, more of them in spring": what is asked besides.
    let end = object.iter().position(|word| word.raw.ends_with(',')).map_or(object.len(), |comma| comma + 1);
    let (first, object) = (subject.first()?, &object[..end]);
    let points = |words: &[Word]| words.first().is_some_and(|word| word.is_any(tables::POINTING));
    let odd = |word: &Word| {
        word.is_any(&["vs", "versus", "or", "what", "which", "how", "who"]) || word.raw.ends_with([':', '-'])
    };
    let asks = first.is_any(tables::NO_SUBJECT) || points(subject) || points(object);
    if asks || object.is_empty() || subject.iter().chain(object).any(odd) {
        return None;
    }
    let raw = |words: &[Word]| words.iter().map(|word| word.raw.clone()).collect::<Vec<_>>();
    let words = [raw(subject), vec![form.to_owned()], raw(object)].concat();
    Some(finished(&[], &words))
}

/// By "and", or by the ending of the noun before the first preposition.
fn is_plural(subject: &[Word]) -> bool {
    let end = subject
        .iter()
        .position(|word| word.is_any(tables::FOLLOWERS) && word.key != "and")
        .unwrap_or(subject.len());
    let head = &subject[..end.max(1)];
    let gerund = subject[0].key.ends_with("ing");
    let ends_plural = head.last().is_some_and(|last| {
        let key = last.key.as_str();
        let s = key.ends_with('s') && !["ss", "us", "is", "ics"].iter().any(|end| key.ends_with(end));
        s && !matches!(key, "diabetes" | "rabies" | "measles" | "herpes" | "news" | "aids" | "sars")
            || matches!(
                key,
                "people"
                    | "children"
                    | "men"
                    | "women"
                    | "mice"
                    | "bacteria"
                    | "data"
                    | "media"
                    | "phenomena"
            )
    });
    !gerund && (ends_plural || subject.iter().any(|word| word.key == "and"))
}

const EFFECTS: &[&str] = &["effect", "effects", "impact", "impacts", "influence"];

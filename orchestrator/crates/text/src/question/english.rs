//! English questions. The auxiliary stands before the subject; it is put behind it, or its ending on the verb.

mod effect;
mod predicate;
mod statement;
mod tables;

use super::Statement;
use predicate::{Predicate, after_be, after_do, after_have};

/// The statement behind the first sentence of a text that has one.
pub(super) fn statement(text: &str) -> Option<Statement> {
    let text = text.replace(['’', '‘'], "'");
    let asked: Vec<&str> = text.split_inclusive('?').filter(|part| part.trim_end().ends_with('?')).collect();
    if asked.is_empty() {
        return sentence(&text);
    }
    asked.iter().find_map(|part| {
        let last = last_sentence(part);
        // What stands before the question is context, to which "it" points.
        let complete = last.len() == part.len()
            || !last
                .split_whitespace()
                .any(|word| Word::of(word).is_any(&["it", "them", "this", "these", "those"]));
        complete.then(|| sentence(last)).flatten()
    })
}

/// What follows the last full stop or colon-free break before a question.
fn last_sentence(part: &str) -> &str {
    part.rmatch_indices(". ").next().map_or(part, |(at, mark)| {
        let before = part[..at].rsplit(' ').next().unwrap_or_default();
        let shortened = before.chars().count() <= 2 || before.contains('.') || before == "vs";
        if shortened { part } else { &part[at + mark.len()..] }
    })
}

fn sentence(text: &str) -> Option<Statement> {
    let asks = text.trim_end().ends_with('?');
    let bare = text.trim().trim_end_matches(['?', '.', '!', ' ']).trim_end_matches([',', ';', ':']);
    let bare = without_lead(bare);
    if bare.is_empty() || bare.contains(['?', '\n', '!', ';', '…']) || bare.contains("...") {
        return None;
    }
    let words: Vec<Word> = bare
        .split_whitespace()
        .map(Word::of)
        .filter(|word| !word.is_any(tables::STRESS) || word.ends())
        .collect();
    if personal(&words) {
        return None;
    }
    let asks_first = words.first().is_some_and(|word| tables::positive(&word.key).is_some());
    let words = first_clause(&words, asks || asks_first);
    effect::asked(words)
        .or_else(|| closed(words).map(|text| Statement { text, open: false }))
        .or_else(|| topical(words).map(|text| Statement { text, open: false }))
        .or_else(|| {
            let ended = text.trim_end().ends_with('.');
            (!asks)
                .then(|| statement::stated(words, ended))
                .flatten()
                .map(|text| Statement { text, open: false })
        })
}

/// A word as it was written, and in lower case without the marks around it.
#[derive(Debug, Clone)]
struct Word {
    raw: String,
    key: String,
}

impl Word {
    fn of(raw: &str) -> Self {
        let key =
            raw.trim_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '%' | '+' | '#'))).to_lowercase();
        Self { raw: raw.to_owned(), key }
    }

    fn is_any(&self, keys: &[&str]) -> bool {
        keys.contains(&self.key.as_str())
    }

    /// A comma or another mark closes what stands before.
    fn ends(&self) -> bool {
        self.raw.ends_with([',', ';', ':', ')'])
    }
}

/// "So, …", "I wonder whether …".
fn without_lead(text: &str) -> &str {
    let mut rest = text;
    loop {
        let lower = rest.to_lowercase();
        let Some(lead) = tables::LEADS.iter().find(|lead| lower.starts_with(*lead)) else { return rest };
        // Lower case may have another length; then there is nothing to take off safely.
        match rest.get(lead.len()..) {
            Some(shorter) if lower.len() == rest.len() => rest = shorter.trim_start_matches([',', ' ']),
            _ => return rest,
        }
    }
}

/// It speaks of the asker, and cannot be judged.
fn personal(words: &[Word]) -> bool {
    words.iter().any(|word| {
        word.is_any(&["i", "me", "my", "i'm", "i'd", "i've", "our", "us", "mine"]) && word.raw != "US"
    })
}

/// Up to where a second question begins: "…, and is it safe", "and does tea lower it", " or not", ", yes or no". `asks`:
/// the first is a question.
fn first_clause(words: &[Word], asks: bool) -> &[Word] {
    let is_told = !asks || reported(words).is_some();
    // "And are obese" may belong to "people who smoke", and "and do not smoke" to any subject; "does" and a noun do not.
    let again = |i: usize, next: &str, after: &Word| {
        let related = words[..i].iter().skip(1).any(|word| word.is_any(&["who", "which", "that"]));
        !is_told && tables::AGAIN.contains(&next) && after.key != "not" && (next == "does" || !related)
    };
    let begins = |i: usize| {
        let join = words[i].is_any(&["and", "or", "but"]);
        let next = words.get(i + 1).map(|word| word.key.as_str()).unwrap_or_default();
        let after = words.get(i + 2);
        join && (words[i].key == "or" && words[i - 1].raw.ends_with(',')
            || next == "not" && i + 2 == words.len()
            || tables::ASKING.contains(&next)
            || (next == "by" || tables::LIMITS.contains(&next))
                && after.is_some_and(|word| word.is_any(tables::ASKING))
            || tables::FIRST.contains(&next) && after.is_some_and(|word| word.is_any(tables::POINTING))
            || after.is_some_and(|after| again(i, next, after)))
    };
    let dash = |i: usize| matches!(words[i].raw.as_str(), "-" | "–" | "—" | "->");
    let yes_or_no = |i: usize| words[i..].iter().map(|word| word.key.as_str()).eq(["yes", "or", "no"]);
    let end = (2..words.len()).find(|&i| begins(i) || dash(i) || yes_or_no(i));
    &words[..end.unwrap_or(words.len())]
}

/// A yes/no question as a statement.
fn closed(words: &[Word]) -> Option<String> {
    if let Some(said) = reported(words) {
        return statement::stated(said, true);
    }
    let (limit, rest) = words.split_at(opens_with_limit(words).unwrap_or(0));
    let (first, rest) = rest.split_first()?;
    let auxiliary = tables::positive(&first.key)?;
    if auxiliary == "should" || first.ends() {
        return None;
    }
    let stated = inverted(auxiliary, rest)?;
    Some(finished(limit, &stated))
}

/// "Is it true that …", "Is there evidence that …": what is said there.
fn reported(words: &[Word]) -> Option<&[Word]> {
    let that = words
        .iter()
        .take(8)
        .position(|word| word.key == "that")
        .or_else(|| words.iter().take(8).position(|word| word.is_any(&["myth", "true"])))?;
    let head: Vec<&str> =
        words[..=that].iter().map(|word| tables::positive(&word.key).unwrap_or(&word.key)).collect();
    let begins = |form: &[&str]| head.starts_with(form);
    let truth = head.iter().any(|word| {
        matches!(*word, "true" | "myth" | "fact" | "case" | "likely" | "correct" | "evidence" | "proof")
    });
    let opens = begins(&["is", "it"]) || begins(&["is", "there"]);
    let studies = matches!(head.first(), Some(&("do" | "does")))
        && head.iter().any(|word| tables::STUDIES.contains(word))
        && head.iter().any(|word| tables::SHOWING.contains(word))
        && words[that].key == "that";
    let rest = &words[that + 1..];
    let rest = match rest {
        [first, said @ ..] if first.key == "that" => said,
        all => all,
    };
    (opens && truth || studies).then_some(rest)
}

/// "For spelling, is …": how many words stand before the auxiliary.
fn opens_with_limit(words: &[Word]) -> Option<usize> {
    let first = words.first()?;
    let comma = words.iter().take(7).position(|word| word.raw.ends_with(','))?;
    let next = words.get(comma + 1)?;
    (first.is_any(tables::LIMITS) && tables::positive(&next.key).is_some()).then_some(comma + 1)
}

/// "Tutoring in small groups: does it raise grades" – the noun stands for the pronoun.
fn topical(words: &[Word]) -> Option<String> {
    let colon = words.iter().position(|word| word.raw.ends_with(':'))?;
    let (topic, rest) = words.split_at(colon + 1);
    let [auxiliary, pronoun, rest @ ..] = rest else { return None };
    let plain = !topic.iter().any(|word| word.is_any(&["effect", "effects", "vs", "or", "and", "impact"]));
    if !(plain && pronoun.is_any(&["it", "they"]) && topic.len() <= 10) {
        return None;
    }
    let mut topic = topic.to_vec();
    if let Some(last) = topic.last_mut() {
        last.raw.pop();
    }
    if rest.iter().any(|word| word.is_any(tables::POINTING)) {
        return None;
    }
    let auxiliary = tables::positive(&auxiliary.key)?;
    let stated = with_subject(auxiliary, &topic, rest)?;
    Some(finished(&[], &stated))
}

/// A question whose subject is known already.
fn with_subject(auxiliary: &str, subject: &[Word], rest: &[Word]) -> Option<Vec<String>> {
    inverted(auxiliary, &[subject, rest].concat())
}

/// The words behind an auxiliary as a statement.
fn inverted(auxiliary: &str, rest: &[Word]) -> Option<Vec<String>> {
    let first = rest.first()?;
    if rest.len() < 2 || first.is_any(tables::NO_SUBJECT) || tables::positive(&first.key).is_some() {
        return None;
    }
    if first.key == "there" {
        return existing(auxiliary, &rest[1..]);
    }
    // "It is safe to …" stands alone; any other "it" points elsewhere.
    if first.key == "it" {
        let complete = rest.iter().skip(2).any(|word| word.is_any(&["to", "that"]));
        let told = matches!(auxiliary, "is" | "was")
            && complete
            && rest.get(1).is_some_and(|word| word.is_any(tables::ADJECTIVES));
        return told.then(|| sequence(&rest[..1], &[auxiliary], &rest[1..]));
    }
    if first.is_any(tables::POINTING) {
        return None;
    }
    let Predicate { at, verb } = match auxiliary {
        "is" | "are" | "was" | "were" => after_be(rest)?,
        "has" | "have" | "had" => after_have(rest)?,
        _ => after_do(rest, auxiliary)?,
    };
    let subject = &rest[..at];
    // "Does A or B …" asks for one of the two.
    if subject.iter().any(|word| word.is_any(&["or", "vs", "versus"])) {
        return None;
    }
    let predicate = &rest[at..];
    if predicate.iter().take(3).any(|word| word.key == "or") {
        return None;
    }
    let negated = predicate[..verb].iter().any(|word| word.key == "not");
    Some(match auxiliary {
        "do" | "does" | "did" if negated => sequence(subject, &[auxiliary], predicate),
        "do" => sequence(subject, &[], predicate),
        "does" | "did" => {
            let formed = if auxiliary == "does" { tables::third } else { tables::past };
            let mut words = sequence(subject, &[], predicate);
            let begin = words.len() - predicate.len();
            for spot in std::iter::once(verb).chain(joined(predicate, verb)) {
                let form = formed(&predicate[spot].key)?;
                let marks = predicate[spot].raw.trim_start_matches(char::is_alphanumeric);
                words[begin + spot] = format!("{form}{marks}");
            }
            words
        }
        _ => sequence(subject, &[auxiliary], predicate),
    })
}

/// The verbs that "and" joins to the one of the predicate: "improve mood and reduce stress", not "help people eat and sleep".
fn joined(predicate: &[Word], verb: usize) -> impl Iterator<Item = usize> {
    let of_another = ["to", "who", "which", "that", "if", "when", "while", "because"];
    let end = predicate.iter().position(|word| word.is_any(&of_another)).unwrap_or(predicate.len());
    let end = if predicate[verb].is_any(&["help", "make", "let", "cause", "have"]) { 0 } else { end };
    // "Improve and maintain": nothing but a verb stands there.
    let is_verb = move |i: usize| {
        predicate[i].is_any(tables::SURE) || i == verb + 2 && predicate[i].is_any(tables::LIKELY)
    };
    (verb + 2..end).filter(move |&i| predicate[i - 1].is_any(&["and", "but"]) && is_verb(i))
}

/// "Is there a link between A and B" → "There is a link between A and B".
fn existing(auxiliary: &str, rest: &[Word]) -> Option<Vec<String>> {
    if !matches!(auxiliary, "is" | "are" | "was" | "were") || rest.len() < 2 {
        return None;
    }
    let plural = matches!(auxiliary, "are" | "were");
    let (first, rest) = rest.split_first()?;
    let mut words = vec!["There".to_owned(), auxiliary.to_owned()];
    match first.key.as_str() {
        "any" if plural => {}
        "any" => {
            let vowel = rest.first()?.key.starts_with(['a', 'e', 'i', 'o', 'u']);
            let mass =
                rest.first()?.is_any(&["evidence", "benefit", "harm", "proof", "truth", "point", "support"]);
            if !mass {
                words.push(if vowel { "an" } else { "a" }.to_owned());
            }
        }
        "a" | "an" | "no" | "evidence" | "such" | "enough" => words.push(first.raw.clone()),
        _ if plural => words.push(first.raw.clone()),
        _ => return None,
    }
    words.extend(rest.iter().map(|word| word.raw.clone()));
    Some(words)
}

/// Subject, auxiliary and predicate without words that only stress the question.
fn sequence(subject: &[Word], auxiliary: &[&str], predicate: &[Word]) -> Vec<String> {
    let raw = |word: &Word| word.raw.clone();
    let mut words: Vec<String> = subject.iter().map(raw).collect();
    words.extend(auxiliary.iter().map(|word| (*word).to_owned()));
    words.extend(predicate.iter().map(raw));
    words
}

/// The sentence: a capital first, single spaces, a period last.
fn finished(limit: &[Word], words: &[String]) -> String {
    let mut all: Vec<&str> = limit.iter().map(|word| word.raw.as_str()).collect();
    all.extend(words.iter().map(String::as_str));
    let text = all.join(" ");
    let text = text.trim_end_matches([',', ';', ':', '.', ' ', '-', '–']);
    format!("{}.", crate::claim::capitalised(text))
}

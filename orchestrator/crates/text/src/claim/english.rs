//! English rules. A sentence is read as its lower-case words; a part-of-speech tagger is not worth its size here.

mod atoms;
mod counter;
mod openings;
mod tables;
pub(crate) mod verbs;

pub(super) use atoms::atoms;
pub(super) use counter::counter;

use super::has_phrase;
use crate::hedge::is_population;
use crate::word::stem;

/// Score of a sentence whose statement is `text`, not yet clamped.
pub(super) fn score(sentence: &str, text: &str) -> f64 {
    score_of(&Lead::of(sentence, text), text)
}

/// What stands before a statement in its sentence, as far as it says something about it.
struct Lead {
    /// Score of the section label.
    label: f64,
    /// "We found that": what follows is a clause, with a finite verb even where no list knows it.
    reported: bool,
}

impl Lead {
    fn of(sentence: &str, text: &str) -> Self {
        let reported = sentence.trim_end_matches(text).trim_end().ends_with(" that");
        Self { label: label(sentence), reported }
    }
}

/// Score of a statement behind this lead, not yet clamped.
fn score_of(lead: &Lead, text: &str) -> f64 {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '\'' | '%')))
        .filter(|w| !w.is_empty())
        .collect();
    if words.len() < 4 || has_phrase(&lower, tables::BOILERPLATE) {
        return 0.0;
    }
    let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
    let reported = lead.reported || reports_with_doubt(text);
    let verb = finite_verb(&words, &stems);
    if verb.is_none() && !reported {
        return 0.1;
    }
    if words.iter().any(|word| tables::PERSONS.contains(word) && !(*word == "us" && text.contains("US"))) {
        return 0.1;
    }
    let mut score = 0.4 + lead.label + if reported { 0.25 } else { subject(&words, &stems) };
    if stems.iter().any(|stem| tables::FINDING_STEMS.contains(&stem.as_str())) {
        score += 0.2;
    }
    if has_phrase(&lower, tables::RESULT_CUES) || words.iter().any(|word| word.ends_with('%')) {
        score += 0.15;
    }
    if has_phrase(&lower, tables::AIMS) {
        score -= 0.7;
    }
    if verb.is_some_and(|verb| is_method(&words, &stems, verb)) {
        score -= 0.5;
    }
    if has_phrase(&lower, tables::NARRATION) {
        score -= 0.5;
    }
    if has_phrase(&lower, tables::OPINION) || text.trim_end().ends_with('!') {
        score -= 0.4;
    }
    // "In this work, we built …": what the authors did, wherever they stand.
    let authors = words.iter().position(|word| *word == "we").filter(|at| *at > 0);
    if authors.is_some_and(|at| {
        !stems.iter().skip(at).take(4).any(|s| openings::REPORT_STEMS.contains(&s.as_str()))
    }) {
        score -= 0.3;
    }
    score
}

/// What the section that a label opens says about the sentence.
fn label(sentence: &str) -> f64 {
    let head = sentence.trim_start();
    if after_label(head).len() == head.len() {
        return 0.0;
    }
    let starts = |labels: &[&str]| {
        labels.iter().any(|label| head.get(..label.len()).is_some_and(|h| h.eq_ignore_ascii_case(label)))
    };
    if starts(openings::FINDING_LABELS) {
        0.1
    } else if starts(openings::OTHER_LABELS) {
        -0.3
    } else if starts(openings::KNOWN_LABELS) {
        -0.05
    } else {
        0.0
    }
}

/// The sentence reports a method: "we recruited", "was measured".
fn is_method(words: &[&str], stems: &[String], verb: usize) -> bool {
    let method = |stem: &String| tables::METHOD_STEMS.contains(&stem.as_str());
    if matches!(words.first(), Some(&("we" | "i"))) && stems.iter().skip(verb).take(3).any(method) {
        return true;
    }
    // The first auxiliary that is not inside a relative clause.
    let passive = |i: &usize| {
        matches!(words[*i], "was" | "were" | "is" | "are" | "been")
            && !matches!(words.get(i.wrapping_sub(1)), Some(&("who" | "which" | "that" | "whom")))
    };
    let Some(at) = (1..words.len()).find(passive) else { return false };
    let adverbs = words[at + 1..].iter().take_while(|word| word.ends_with("ly") || **word == "then").count();
    let (Some(word), Some(stem)) = (words.get(at + 1 + adverbs), stems.get(at + 1 + adverbs)) else {
        return false;
    };
    let participle =
        word.ends_with("ed") || tables::IRREGULAR_METHODS.contains(word) || matches!(*word, "given" | "made");
    let done = method(stem) || tables::METHOD_PASSIVES.contains(&stem.as_str());
    // "Was used to demonstrate that …" tells what was found; "was observed by staining" tells how.
    let told = words[at..]
        .windows(2)
        .any(|two| two[1] == "that" && openings::REPORT_STEMS.contains(&crate::word::stem(two[0]).as_str()));
    let how = stem == "observ" && matches!(words.get(at + 2 + adverbs), Some(&("by" | "using")));
    participle && (done && !told || how)
}

/// Bytes that are left of a text without what introduces its statement.
fn after_opening(text: &str) -> usize {
    statement(text).len()
}

/// Label, connectives and "we found that" taken from the front, again and again. A report that doubts stays.
pub(super) fn statement(sentence: &str) -> &str {
    let mut rest = sentence;
    loop {
        let opened = after_study(after_connective(after_label(rest)));
        let shorter = without_article(after_finding(after_authors(after_impersonal(opened))));
        if shorter.is_empty() || shorter.len() == rest.len() {
            return rest;
        }
        rest = shorter;
    }
}

/// "RESULTS: …", "MAIN OUTCOME MEASURES …", "Conclusions: …"; labels in capitals need no mark.
fn after_label(text: &str) -> &str {
    for label in openings::LABELS {
        let Some(head) = text.get(..label.len()) else { continue };
        let Some(rest) = text.get(label.len()..).filter(|_| head.eq_ignore_ascii_case(label)) else {
            continue;
        };
        let capitals = head.chars().all(|c| !c.is_lowercase());
        let bare = rest.trim_start_matches([':', '.', '-', '—', '–', ' ']);
        let marked =
            rest.starts_with([':', '.', '-', '—', '–']) || rest.starts_with(" -") || rest.starts_with(" —");
        if !bare.is_empty() && (marked || capitals && rest.starts_with(' ')) {
            return bare;
        }
    }
    text
}

fn after_connective(text: &str) -> &str {
    openings::CONNECTIVES
        .iter()
        .find_map(|connective| {
            let head = text.get(..connective.len())?;
            let rest = text.get(connective.len()..)?.strip_prefix(',')?.trim_start();
            (head.eq_ignore_ascii_case(connective) && !rest.is_empty()).then_some(rest)
        })
        .unwrap_or(text)
}

/// "In this genome-wide investigation, …"; "here …" before anything but the authors.
fn after_study(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix("Here ")
        && !rest.starts_with(|c: char| c.is_lowercase())
    {
        return rest;
    }
    let Some((opening, rest)) = text.split_once(", ") else { return text };
    let words: Vec<String> = opening.split_whitespace().map(str::to_lowercase).collect();
    let [preposition, determiner, .., noun] = words.as_slice() else { return text };
    let names = matches!(preposition.as_str(), "in" | "for" | "from")
        && matches!(determiner.as_str(), "this" | "our" | "the" | "these")
        && words.len() <= 7
        && openings::WORKS.contains(&noun.as_str())
        && (determiner != "the" || words.iter().any(|word| word == "present" || word == "current"));
    if names && !rest.is_empty() { rest } else { text }
}

/// "It is shown that …", "it has been found that …".
fn after_impersonal(text: &str) -> &str {
    let words: Vec<&str> = text.split_whitespace().take(6).collect();
    let [first, rest @ ..] = words.as_slice() else { return text };
    let Some(that) = rest.iter().position(|word| *word == "that") else { return text };
    let frame = first.eq_ignore_ascii_case("it")
        && rest[..that]
            .iter()
            .any(|word| openings::REPORT_STEMS.contains(&stem(&word.to_lowercase()).as_str()))
        && rest[..that].iter().all(|word| !doubts(word) && !matches!(*word, "not" | "may" | "might"))
        && matches!(rest[0], "is" | "was" | "has" | "can");
    if frame { text.split_once(" that ").map_or(text, |(_, said)| said.trim_start()) } else { text }
}

/// "Using X, we report here that …", "From these results we conclude that …": what limits the finding stays.
fn after_authors(text: &str) -> &str {
    let head: String = text.chars().take(220).collect();
    let Some(we) = head.find(" we ") else { return text };
    let Some(that) = head[we..].find(" that ").map(|at| we + at) else { return text };
    let (lead, report) = (&head[..we], &head[we..that]);
    let opens = lead.split_whitespace().next().unwrap_or_default().to_lowercase();
    let means =
        matches!(opens.as_str(), "using" | "from" | "by" | "with" | "based" | "here" | "thus" | "therefore");
    let limits = |word: &str| is_population(&word.trim_end_matches([',', ';']).to_lowercase());
    let reported = report.split_whitespace().count() <= 5
        && report
            .split_whitespace()
            .any(|word| openings::REPORT_STEMS.contains(&stem(&word.to_lowercase()).as_str()))
        && !report.split_whitespace().any(|word| doubts(word) || word == "not");
    let rest = text.get(that + " that ".len()..).unwrap_or(text).trim_start();
    if means && reported && !lead.split_whitespace().any(limits) && !rest.is_empty() { rest } else { text }
}

/// "We/our results … show(s/ed) … that": the subject must be the authors or their work, the verb near it.
fn after_finding(text: &str) -> &str {
    let mut words = text.split_whitespace();
    let opens = words.next().is_some_and(|w| openings::AUTHORS.contains(&w.to_lowercase().as_str()));
    if !opens {
        return text;
    }
    let head: String = text.chars().take(90).collect();
    let Some(that) = head.find(" that ") else { return text };
    let before = &head[..that];
    let rest = text.get(that + " that ".len()..).unwrap_or(text).trim_start();
    // "We suggest that", "we show in mice that": what limits the statement stays, unless it says itself that it is not sure.
    let hedged =
        || ["may", "might", "could"].iter().any(|hedge| rest.split_whitespace().any(|word| word == *hedge));
    let limits = |word: &str| doubts(word) && !hedged() || is_population(&word.to_lowercase());
    if before.split_whitespace().any(limits) {
        return text;
    }
    let reported = before
        .split_whitespace()
        .any(|word| openings::REPORT_STEMS.contains(&stem(&word.to_lowercase()).as_str()));
    if reported && before.split_whitespace().count() <= 9 && !rest.is_empty() { rest } else { text }
}

/// "These results suggest that …" without "these": results can suggest on their own.
fn without_article(text: &str) -> &str {
    let Some((first, rest)) = text.split_once(' ') else { return text };
    let article = matches!(first.to_lowercase().as_str(), "these" | "our" | "the" | "those");
    if article && reports_with_doubt(rest) { rest } else { text }
}

/// "Results suggest that …".
fn reports_with_doubt(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let subject = words.next().unwrap_or_default().to_lowercase();
    let mut words =
        words.skip_while(|word| matches!(*word, "may" | "strongly" | "also" | "therefore" | "thus"));
    openings::FINDING_NOUNS.contains(&subject.as_str())
        && words.next().is_some_and(doubts)
        && words.next() == Some("that")
}

fn doubts(word: &str) -> bool {
    openings::DOUBT_STEMS.contains(&stem(&word.to_lowercase()).as_str())
}

/// Index of the first word that can only, or here most likely, be a finite verb.
fn finite_verb(words: &[&str], stems: &[String]) -> Option<usize> {
    (1..words.len()).find(|&i| {
        let (word, before) = (words[i], words[i - 1]);
        if tables::AUXILIARIES.contains(&word) {
            return true;
        }
        let known = tables::VERB_STEMS.contains(&stems[i].as_str()) && !word.ends_with("ing");
        let third_person = tables::THIRD_PERSON.iter().any(|ending| word.ends_with(ending));
        let past = word.len() > 4 && word.ends_with("ed") && !before.ends_with("ly");
        (known || third_person || past) && !tables::NOUN_COMES_NEXT.contains(&before)
    })
}

/// What the beginning says about the subject: less for what points outside the sentence or at the authors.
fn subject(words: &[&str], stems: &[String]) -> f64 {
    let first = words.first().copied().unwrap_or_default();
    let second = words.get(1).copied().unwrap_or_default();
    let second_stem = stems.get(1).map_or("", String::as_str);
    if tables::PRONOUNS.contains(&first) {
        return -0.35;
    }
    if tables::DEMONSTRATIVES.contains(&first) {
        // "This suggests": nothing to stand on. "These mice": a subject, though not a full one.
        let bare = tables::AUXILIARIES.contains(&second) || tables::VERB_STEMS.contains(&second_stem);
        return if bare { -0.35 } else { -0.15 };
    }
    if matches!(first, "we" | "our" | "i") {
        let reports = stems.iter().take(5).any(|stem| openings::REPORT_STEMS.contains(&stem.as_str()));
        return if reports { -0.05 } else { -0.3 };
    }
    0.1
}

//! Instructions that are written in another way: in base64 or Morse, escaped, reversed. Each is decoded and shown to the rules.

mod bytes;
mod escapes;
mod letters;

use super::{Finding, Kind, Place, Severity, excerpt};

/// Characters of one candidate that are decoded.
const MAX_CHARS: usize = 20_000;
/// Candidates of each kind in one text that are decoded.
const MAX_CANDIDATES: usize = 500;
/// Levels of nested decoding.
const MAX_DEPTH: u8 = 3;

/// A part of a text that may be encoded.
pub(super) struct Candidate {
    /// Its first character.
    start: usize,
    /// One past its last.
    end: usize,
    /// Its possible texts.
    texts: Vec<String>,
}

/// Encoded parts whose text a rule matches; `worst` answers the most severe rule for a decoded text.
pub(super) fn payloads(chars: &[char], worst: impl Fn(&str) -> Option<(String, Severity)>) -> Vec<Finding> {
    let found = candidates(chars).into_iter().filter_map(|candidate| {
        let hit = candidate.texts.iter().find_map(|text| hit(text, MAX_DEPTH, &worst));
        let (rule, severity, text) = hit?;
        Some(Finding {
            rule: format!("encoded:{rule}"),
            kind: Kind::EncodedPayload,
            severity: severity.max(Severity::Medium),
            place: Place::Text { start: candidate.start as u32, end: candidate.end as u32 },
            excerpt: excerpt(&text.chars().collect::<Vec<_>>()),
        })
    });
    found.collect()
}

fn candidates(chars: &[char]) -> Vec<Candidate> {
    let words = words(chars);
    let mut all = bytes::candidates(chars, &words);
    all.extend(escapes::candidates(chars, &words));
    all.extend(letters::candidates(chars, &words));
    all
}

/// The rule that a decoded text matches, or an encoded part of it.
fn hit(
    text: &str,
    depth: u8,
    worst: &impl Fn(&str) -> Option<(String, Severity)>,
) -> Option<(String, Severity, String)> {
    if let Some((rule, severity)) = worst(text) {
        return Some((rule, severity, text.to_owned()));
    }
    if depth <= 1 {
        return None;
    }
    let chars: Vec<char> = text.chars().collect();
    let inner = candidates(&chars).into_iter().flat_map(|candidate| candidate.texts);
    inner.take(MAX_CANDIDATES).find_map(|text| hit(&text, depth - 1, worst))
}

/// First character of every word, and one past its last.
fn words(chars: &[char]) -> Vec<(usize, usize)> {
    let mut words = Vec::new();
    let mut start = None;
    for (i, c) in chars.iter().enumerate() {
        match (c.is_whitespace(), start) {
            (false, None) => start = Some(i),
            (true, Some(from)) => {
                words.push((from, i));
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|from| (from, chars.len())));
    words
}

/// The longest runs of words of one kind, at least `least` of them.
fn runs(
    words: &[(usize, usize)],
    least: usize,
    is: impl Fn(&(usize, usize)) -> bool,
) -> impl Iterator<Item = &[(usize, usize)]> {
    let split = words.split(move |word| !is(word));
    split.filter(move |run| run.len() >= least).take(MAX_CANDIDATES)
}

/// Whether bytes are a text that people could read.
fn is_readable(text: &str) -> bool {
    let (mut all, mut odd) = (0_usize, 0_usize);
    for c in text.chars() {
        all += 1;
        odd += usize::from(!(c.is_alphanumeric() || c.is_ascii_punctuation() || c.is_whitespace()));
    }
    all >= 8 && odd * 10 <= all
}

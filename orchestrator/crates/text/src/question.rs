//! The statement behind a question: its claim, and the opposite.
//!
//! Rules over word order and small word lists. A question that they do not read for sure stays a topic: no claim is better
//! than an ungrammatical one.

mod english;
mod japanese;

use crate::claim::{MAX_CHARS, counter_claim};
use crate::language;

/// Fewest characters of a claim; half as many in Japanese.
const MIN_CHARS: usize = 10;

/// The statement that a question asks about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposition {
    /// The claim: one sentence that ends with a period and can be judged on its own.
    pub claim: String,
    /// The statement of someone who found the opposite. For searching and display, not for judging.
    pub opposite: Option<String>,
    /// The question asks for an effect without saying which way it goes ("How does X affect Y?").
    pub open: bool,
}

/// The claim behind a question; `None` when it is a topic ("Which …", "Why …", keywords) or its form is not recognized.
///
/// A yes/no question is put in the order of a statement; a question for an effect becomes "X affects Y."; a statement is
/// its own claim. `code` is the question's ISO 639-1 code, detected when `None`; there are rules for English and Japanese.
pub fn proposition(question: &str, code: Option<&str>) -> Option<Proposition> {
    let question = crate::normalise(question);
    let code = code.or_else(|| language(&question));
    let (found, min) = match code {
        Some("ja") => (japanese::statement(&question), MIN_CHARS / 2),
        Some("en") | None => (english::statement(&question), MIN_CHARS),
        Some(_) => return None,
    };
    let Statement { text: claim, open } = found?;
    let length = claim.chars().count();
    if !(min..=MAX_CHARS).contains(&length)
        || claim.contains(['?', '？'])
        || !claim.ends_with(['.', '。'])
        || claim.chars().any(char::is_control)
        || claim.matches(['(', '[']).count() != claim.matches([')', ']']).count()
    {
        return None;
    }
    let opposite = counter_claim(&claim, code).filter(|opposite| *opposite != claim);
    Some(Proposition { claim, opposite, open })
}

/// A question in the order of a statement.
struct Statement {
    text: String,
    open: bool,
}

#[cfg(test)]
mod tests;

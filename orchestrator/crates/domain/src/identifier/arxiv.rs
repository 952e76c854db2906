//! arXiv identifiers, old and new.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An arXiv identifier without version: `2101.00001`, or `hep-th/9901001` from before April 2007.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArxivId(String);

impl ArxivId {
    /// Reads both schemes, with or without `arXiv:` and version
    /// (<https://info.arxiv.org/help/arxiv_identifier.html>).
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let bare = if text.get(..6).is_some_and(|p| p.eq_ignore_ascii_case("arxiv:")) {
            text[6..].trim_start()
        } else {
            text
        };
        let (id, rest) = Self::at_start(bare)?;
        rest.is_empty().then_some(id)
    }

    /// The identifier at the start of the text, with its version, and the rest.
    pub(super) fn at_start(text: &str) -> Option<(Self, &str)> {
        let (id, rest) = new_scheme(text).or_else(|| old_scheme(text))?;
        let rest = without_version(rest);
        let ends = rest.chars().next().is_none_or(|next| !next.is_ascii_alphanumeric());
        ends.then_some((Self(id), rest))
    }

    /// The normal form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ArxivId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `YYMM.number`: four digits until December 2014, five since.
fn new_scheme(text: &str) -> Option<(String, &str)> {
    let (month, rest) = digits(text, 4)?;
    let rest = rest.strip_prefix('.')?;
    let long = month >= "1501";
    let (serial, rest) = digits(rest, if long { 5 } else { 4 })?;
    let valid =
        month >= "0704" && valid_month(&month[2..]) && !rest.starts_with(|c: char| c.is_ascii_digit());
    valid.then(|| (format!("{month}.{serial}"), rest))
}

/// `archive/YYMMnumber`, the archive with or without its subject class, which is dropped.
fn old_scheme(text: &str) -> Option<(String, &str)> {
    let (name, rest) = text.split_once('/')?;
    let archive = name.split('.').next()?.to_ascii_lowercase();
    let known = [
        "acc-phys", "adap-org", "alg-geom", "ao-sci", "astro-ph", "atom-ph", "bayes-an", "chao-dyn",
        "chem-ph", "cmp-lg", "comp-gas", "cond-mat", "cs", "dg-ga", "funct-an", "gr-qc", "hep-ex", "hep-lat",
        "hep-ph", "hep-th", "math", "math-ph", "mtrl-th", "nlin", "nucl-ex", "nucl-th", "patt-sol",
        "physics", "plasm-ph", "q-alg", "q-bio", "quant-ph", "solv-int", "supr-con",
    ];
    let (number, rest) = digits(rest, 7)?;
    let valid = known.contains(&archive.as_str())
        && valid_month(&number[2..4])
        && !rest.starts_with(|c: char| c.is_ascii_digit());
    valid.then(|| (format!("{archive}/{number}"), rest))
}

fn valid_month(month: &str) -> bool {
    ("01"..="12").contains(&month)
}

fn digits(text: &str, count: usize) -> Option<(&str, &str)> {
    let head = text.get(..count)?;
    head.bytes().all(|byte| byte.is_ascii_digit()).then(|| (head, &text[count..]))
}

fn without_version(text: &str) -> &str {
    let Some(version) = text.strip_prefix(['v', 'V']) else { return text };
    let rest = version.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == version.len() { text } else { rest }
}

//! Digital object identifiers.

use crate::ArxivId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A DOI in its normal form: lower case, `10.` first, no resolver in front.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Doi(String);

impl Doi {
    /// Reads `10.1000/x`, `doi:10.1000/x` and resolver URLs, also escaped, with a query, or with the period of the
    /// surrounding sentence. `None` when it is not a DOI (DOI handbook, section 2.2).
    pub fn parse(text: &str) -> Option<Self> {
        let text = tidy(text).trim().to_lowercase();
        let bare = ["https://", "http://"].iter().find_map(|scheme| text.strip_prefix(scheme));
        let address = bare.is_some();
        let mut bare = bare.unwrap_or(&text);
        for front in ["www.doi.org/", "dx.doi.org/", "doi.org/", "urn:doi:", "info:doi/", "doi:", "doi "] {
            if let Some(rest) = bare.strip_prefix(front) {
                let resolver = front.ends_with(".org/");
                bare = rest.trim_start();
                if address || resolver {
                    bare = bare.split(['?', '#']).next().unwrap_or_default();
                }
                // `doi:https://doi.org/10…` and the like are read once more.
                return Self::parse_bare(bare)
                    .or_else(|| (bare.len() < text.len()).then(|| Self::parse(bare))?);
            }
        }
        if address { None } else { Self::parse_bare(bare) }
    }

    fn parse_bare(text: &str) -> Option<Self> {
        let text = trim_end_marks(text.trim());
        let length = at_start(text)?;
        (length == text.len()).then(|| Self(text.to_lowercase()))
    }

    /// Every DOI in a text, with its byte offset.
    pub(crate) fn all_in(text: &str) -> Vec<(usize, Self)> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = text[from..].find("10.").map(|at| from + at) {
            from = at + 3;
            let apart = text[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '.');
            if let Some(length) = at_start(&text[at..]).filter(|_| apart) {
                let doi = trim_end_marks(&text[at..at + length]);
                if at_start(doi) == Some(doi.len()) {
                    found.push((at, Self(doi.to_lowercase())));
                }
                from = at + length;
            }
        }
        found
    }

    /// The DOI in the address of a page: as a path, after a resolver, or as a parameter; without suffixes of publishers
    /// (`/full`, `.pdf`).
    pub(crate) fn in_address(address: &str) -> Option<Self> {
        let at = address.match_indices("10.").map(|(at, _)| at).find(|at| {
            address[..*at].ends_with(['/', '=', ':', ',']) && at_start(&address[*at..]).is_some()
        })?;
        let text = address[at..].split(['?', '#', '&']).next()?;
        let mut doi = trim_end_marks(text).to_lowercase();
        loop {
            let ends = [
                "/full",
                "/abstract",
                "/pdf",
                "/epdf",
                "/pdfdirect",
                "/meta",
                "/html",
                "/summary",
                "/references",
                "/fulltext",
                ".pdf",
                ".html",
                ".full",
                ".abstract",
                ".full-text",
                "/",
            ];
            let Some(shorter) = ends.iter().find_map(|end| doi.strip_suffix(end)).map(str::to_owned) else {
                break;
            };
            if at_start(&shorter) != Some(shorter.len()) {
                break;
            }
            doi = shorter;
        }
        // bioRxiv and medRxiv append the version of the preprint to its DOI.
        if let Some((work, version)) = doi.clone().rsplit_once('v').filter(|_| doi.starts_with("10.1101/"))
            && !version.is_empty()
            && version.bytes().all(|byte| byte.is_ascii_digit())
        {
            doi.truncate(work.len());
        }
        (at_start(&doi) == Some(doi.len())).then_some(Self(doi))
    }

    /// The arXiv identifier, when this is the DOI of a preprint there.
    pub fn arxiv(&self) -> Option<ArxivId> {
        self.0.strip_prefix("10.48550/arxiv.").and_then(ArxivId::parse)
    }

    /// The normal form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Doi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Length in bytes of the DOI that the text begins with: `10.`, a registrant of four to nine digits (with parts after
/// dots), a slash, and a suffix up to the next blank.
fn at_start(text: &str) -> Option<usize> {
    let (prefix, suffix) = text.split_once('/')?;
    let mut parts = prefix.strip_prefix("10.")?.split('.');
    let numeric = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let registrant = parts.next().filter(|part| numeric(part) && (4..=9).contains(&part.len()));
    if registrant.is_none() || !parts.all(numeric) {
        return None;
    }
    let stop = |c: char| c.is_whitespace() || c.is_control() || "\"“”„«»|\\^`{}".contains(c);
    // East Asian text runs on without blanks.
    let stop =
        |c: char| stop(c) || ('\u{3000}'..='\u{9fff}').contains(&c) || ('\u{ff00}'..='\u{ff65}').contains(&c);
    let mut end = suffix.find(stop).unwrap_or(suffix.len());
    // Angle brackets belong to old DOIs in pairs (`<1::AID-X>`); a single one closes a tag or a link.
    let (mut open, mut last) = (0_usize, end);
    for (at, c) in suffix[..end].char_indices() {
        match c {
            '<' if !suffix[at..end].contains('>') || suffix[at + 1..].starts_with('/') => {
                last = at;
                break;
            }
            '<' => open += 1,
            '>' if open == 0 => {
                last = at;
                break;
            }
            '>' => open -= 1,
            _ => {}
        }
    }
    end = end.min(last);
    (end > 0).then(|| prefix.len() + 1 + end)
}

/// Without the punctuation of the sentence around it; a closing bracket stays when its opening one is inside.
fn trim_end_marks(text: &str) -> &str {
    let mut text = text;
    loop {
        let Some(last) = text.chars().next_back() else { return text };
        let count = |c: char| text.chars().filter(|other| *other == c).count();
        let loose = match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '"' | '’' | '”' | '*' | '…' => true,
            ')' => count(')') > count('('),
            ']' => count(']') > count('['),
            '>' => count('>') > count('<'),
            _ => false,
        };
        if !loose {
            return text;
        }
        text = &text[..text.len() - last.len_utf8()];
    }
}

/// Cleans up copied text: decodes percent and HTML escapes, drops invisible characters, and normalizes hyphens.
pub(crate) fn tidy(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = |at: usize| after.get(at).and_then(|b| char::from(*b).to_digit(16));
        let escaped = hex(0).zip(hex(1)).filter(|_| byte == b'%');
        bytes.push(escaped.map_or(byte, |(high, low)| (high * 16 + low) as u8));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    // Escapes that do not decode to UTF-8 leave the original.
    let text = String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned());
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace("&#x2F;", "/");
    text.chars()
        .filter(|c| !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\u{202a}'..='\u{202e}'))
        .map(|c| match c {
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' => '-',
            // Full-width forms of Japanese input.
            '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(Doi::parse(text).as_ref().map(Doi::as_str), expect, "{text}");
    }

    #[test]
    fn written_forms() {
        check("10.1038/NATURE12373", Some("10.1038/nature12373"));
        check(" doi: 10.1000/182 ", Some("10.1000/182"));
        check("DOI 10.1000/182", Some("10.1000/182"));
        check("https://doi.org/10.1000/182", Some("10.1000/182"));
        check("HTTPS://DOI.ORG/10.1000/182?nosfx=y#a", Some("10.1000/182"));
        check("doi:https://doi.org/10.1000/182", Some("10.1000/182"));
        check("https://doi.org/doi:10.1000/182", Some("10.1000/182"));
        check("doi.org/10.1000/182.", Some("10.1000/182"));
        check("info:doi/10.1000/182", Some("10.1000/182"));
        check("https://doi.org/10.1000%2F182", Some("10.1000/182"));
        check("http://dx.doi.org/10.1002/(SICI)1097-0258", Some("10.1002/(sici)1097-0258"));
        check(
            "10.1002/(SICI)1096-8644(199601)99:1&lt;1::AID-AJPA1&gt;3.0.CO;2-1",
            Some("10.1002/(sici)1096-8644(199601)99:1<1::aid-ajpa1>3.0.co;2-1"),
        );
        check("10.1016/j.cell.2011.02.013,", Some("10.1016/j.cell.2011.02.013"));
        check("10.1016/S0140\u{2010}6736(20)30183\u{2013}5", Some("10.1016/s0140-6736(20)30183-5"));
        check("10.1000/a\u{200b}b", Some("10.1000/ab"));
        check("１０.１０００／１８２", Some("10.1000/182"));
        check("10.1000.10/123456", Some("10.1000.10/123456"));
        check("10.1/x", None);
        check("10.1000/", None);
        check("10.1000/a b", None);
        check("11.1000/a", None);
        check("https://example.com/10.1000/182", None);
    }

    proptest! {
        #[test]
        fn reading_never_fails_and_what_is_read_reads_the_same(text in "(10\\.[0-9]{4}/)?\\PC{0,30}") {
            if let Some(doi) = Doi::parse(&text) {
                prop_assert_eq!(Doi::parse(doi.as_str()), Some(doi.clone()));
                let resolver = format!("https://doi.org/{doi}");
                if !doi.as_str().contains(['?', '#', '%']) {
                    prop_assert_eq!(Doi::parse(&resolver), Some(doi));
                }
            }
        }
    }
}

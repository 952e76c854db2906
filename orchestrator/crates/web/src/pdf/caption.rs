//! Captions of figures and tables, recognized by their first words: `Figure 2: Sleep by age`, `TABLE II`, `図1 睡眠`.

/// What captions are of, in lower case, and how a section is called that holds one.
const KINDS: [(&str, &str); 14] = [
    ("figure", "Figure"),
    ("fig.", "Figure"),
    ("fig", "Figure"),
    ("table", "Table"),
    ("tab.", "Table"),
    ("scheme", "Scheme"),
    ("algorithm", "Algorithm"),
    ("listing", "Listing"),
    ("chart", "Chart"),
    ("box", "Box"),
    ("plate", "Plate"),
    ("video", "Video"),
    ("図", "図"),
    ("表", "表"),
];
/// Words before them.
const BEFORE: [(&str, &str); 3] = [
    ("supplementary ", "Supplementary "),
    ("supplemental ", "Supplementary "),
    ("extended data ", "Extended Data "),
];
/// Between the number and the words.
const MARKS: [char; 9] = ['.', ':', '|', '—', '–', '-', '：', '．', '　'];

/// What a caption begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start<'a> {
    /// `Figure 2`.
    label: String,
    /// What follows the number and its mark.
    pub(super) words: &'a str,
}

/// The name of what a caption is of, `Figure 2`; `None` if the text begins as a sentence does.
pub fn label(text: &str) -> Option<String> {
    start(text).map(|start| start.label)
}

/// How a caption begins.
pub(super) fn start(text: &str) -> Option<Start<'_>> {
    let text = text.trim();
    let (before, rest) = named(text, &BEFORE).unwrap_or(("", text));
    let (kind, rest) = named(rest, &KINDS)?;
    let is_wide = kind.chars().any(|c| c > '\u{3000}');
    let number = rest.trim_start();
    if !is_wide && number.len() == rest.len() && !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let rest = number;
    let end = rest
        .char_indices()
        .find(|(_, c)| !(c.is_ascii_alphanumeric() || *c == '.' || *c == '-'))
        .map_or(rest.len(), |(at, _)| at);
    let number = rest[..end].trim_end_matches(['.', '-']);
    if !is_number(number) {
        return None;
    }
    let after = &rest[number.len()..];
    let words = after.trim_start_matches(|c: char| c.is_whitespace() || MARKS.contains(&c));
    let gap = &after[..after.len() - words.len()];
    let is_marked = gap.contains(MARKS);
    let first = words.chars().next();
    // `Figure 2 shows`, `Figure 2, which`, `図1に`.
    let is_title = first.is_none_or(|c| c.is_uppercase() || (c > '\u{3000}' && !gap.is_empty()));
    let is_sentence = !gap.contains(char::is_whitespace) && !words.is_empty() && !is_wide;
    ((is_marked && !is_sentence) || is_title && (words.is_empty() || !gap.is_empty()))
        .then(|| Start { label: format!("{before}{kind} {number}"), words })
}

/// The word that a text begins with, in its usual form, and what follows it.
fn named<'t>(text: &'t str, names: &[(&str, &'static str)]) -> Option<(&'static str, &'t str)> {
    names.iter().find_map(|(name, usual)| {
        let rest = text.get(name.len()..)?;
        text[..name.len()].eq_ignore_ascii_case(name).then_some((*usual, rest))
    })
}

/// `2`, `2a`, `S1`, `A.1`, `3-4`, `IV`.
fn is_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let roman = digits == 0 && text.bytes().all(|byte| matches!(byte, b'I' | b'V' | b'X'));
    (1..=8).contains(&text.len()) && (roman || (digits > 0 && letters <= 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captions_and_sentences() {
        for (text, expected) in [
            ("Figure 2: Sleep by age", "Figure 2"),
            ("Fig. 3. (color online) sleep by age", "Figure 3"),
            ("Fig. 1 Sleep by age", "Figure 1"),
            ("TABLE II", "Table II"),
            ("Table S1. Adults", "Table S1"),
            ("Extended Data Fig. 4 | Naps", "Extended Data Figure 4"),
            ("Algorithm 1 Sleep", "Algorithm 1"),
            ("図1 睡眠の長さ", "図 1"),
            ("表 2：被験者", "表 2"),
        ] {
            assert_eq!(label(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "Figure 2 shows that adults slept.",
            "Figure 2, which we drew",
            "Figure 2(a) and the others",
            "Table 1 and Table 2 list adults.",
            "Figures 2 and 3: adults",
            "Figurative 2: language",
            "Table of contents",
            "Box plots: see below",
            "図1に示す",
            "Fig.",
            "",
        ] {
            assert_eq!(label(text), None, "{text}");
        }
    }
}

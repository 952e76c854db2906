//! Words for matching: segmented, normalized, stemmed.

mod tables;

use crate::normalise::{is_cjk, nfkc};
use frostem::{Algorithm, Stemmer};
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed, options::WordBreakInvariantOptions};
use std::ops::Range;
use std::sync::LazyLock;

/// Words of Japanese, Chinese, Thai and others come from a dictionary or a model inside the binary.
static SEGMENTER: LazyLock<WordSegmenterBorrowed<'static>> =
    LazyLock::new(|| WordSegmenter::new_auto(WordBreakInvariantOptions::default()));

static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::new(Algorithm::English));

/// Longest token, in characters: anything longer is pasted data, not a word.
const MAX_TOKEN: usize = 64;

/// Which steps after segmentation and folding a token goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Analysis {
    /// English stems (Snowball "english", Porter 2) of words in ASCII letters.
    pub stem: bool,
    /// Leave out English stop words and Japanese particles.
    pub stop: bool,
}

impl Default for Analysis {
    /// The index terms: stems, with stop words.
    fn default() -> Self {
        Self { stem: true, stop: false }
    }
}

/// A token and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The form that is matched.
    pub text: String,
    /// First byte in the text given, on a character boundary.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Tokens of a text in its order: NFKC, lower case, accents kept, ICU word boundaries.
///
/// Offsets are bytes of `text` as given (snippets mark them). Of a word split by NFKC into several, all have its place.
pub fn tokens(text: &str, analysis: Analysis) -> Vec<Token> {
    cut(text, Case::Folded, analysis)
}

/// The same tokens with their capitals and endings as written, without a possessive `'s`.
pub(crate) fn tokens_as_written(text: &str) -> Vec<Token> {
    cut(text, Case::Kept, Analysis { stem: false, stop: false })
}

/// What becomes of capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Folded,
    Kept,
}

fn cut(text: &str, case: Case, analysis: Analysis) -> Vec<Token> {
    let mut found = Vec::with_capacity(text.len() / 6);
    if text.is_ascii() {
        ascii_tokens(text, case, analysis, &mut found);
    } else {
        segmented_tokens(text, case, analysis, &mut found);
    }
    found
}

/// The same for text in ASCII, without the segmenter and the normalizer: ICU's rules for it are short, and most text
/// that is indexed is in it.
fn ascii_tokens(text: &str, case: Case, analysis: Analysis, found: &mut Vec<Token>) {
    let bytes = text.as_bytes();
    let at = |i: usize| bytes.get(i).copied().unwrap_or(b' ');
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut start = 0;
    while start < bytes.len() {
        if !is_word(at(start)) {
            start += 1;
            continue;
        }
        // One segment: word characters, and marks that join two letters or two digits.
        let mut end = start + 1;
        loop {
            let (before, mark, after) = (at(end - 1), at(end), at(end + 1));
            let joins = match mark {
                b'\'' | b'.' => {
                    (before.is_ascii_alphabetic() && after.is_ascii_alphabetic())
                        || (before.is_ascii_digit() && after.is_ascii_digit())
                }
                b':' => before.is_ascii_alphabetic() && after.is_ascii_alphabetic(),
                b',' | b';' => before.is_ascii_digit() && after.is_ascii_digit(),
                _ => false,
            };
            if is_word(mark) {
                end += 1;
            } else if joins {
                end += 2;
            } else {
                break;
            }
        }
        let piece = &text[start..end];
        if piece.bytes().any(|b| b.is_ascii_alphanumeric()) {
            let place = start..end;
            match case {
                Case::Folded => add_parts(&piece.to_ascii_lowercase(), place, analysis, found),
                // Capitals of ASCII change nothing about where a word ends.
                Case::Kept => add_written(piece, None, place, found),
            }
        }
        start = end;
    }
}

/// The words in a segment. NFKC can bring in white space or marks ("㏂" is "a.m."): what is left of them is one each.
fn parts(segment: &str) -> impl Iterator<Item = &str> {
    let parts = segment.split(|c: char| !(c.is_alphanumeric() || is_joiner(c)));
    parts.map(|part| part.trim_matches(is_joiner)).filter(|part| !part.is_empty())
}

/// Adds the tokens of a segment's folded form.
fn add_parts(folded: &str, place: Range<usize>, analysis: Analysis, found: &mut Vec<Token>) {
    for part in parts(folded) {
        if part.chars().count() > MAX_TOKEN || (analysis.stop && is_stop_word(part)) {
            continue;
        }
        let text = if analysis.stem { stem(part) } else { part.to_owned() };
        found.push(Token { text, start: place.start, end: place.end });
    }
}

/// Adds the tokens of a segment as written: one for each that its folded form has, when that is another text.
fn add_written(written: &str, folded: Option<&str>, place: Range<usize>, found: &mut Vec<Token>) {
    // Lower case can have more words than the capitals: a dot over "İ" is a mark of its own there.
    let alike = folded.is_none_or(|folded| parts(folded).count() == parts(written).count());
    let shown = if alike { written } else { folded.unwrap_or(written) };
    for (part, counted) in parts(shown).zip(parts(folded.unwrap_or(shown))) {
        if counted.chars().count() <= MAX_TOKEN {
            let bare = part.strip_suffix("'s").or_else(|| part.strip_suffix("’s")).unwrap_or(part);
            found.push(Token { text: bare.to_owned(), start: place.start, end: place.end });
        }
    }
}

fn segmented_tokens(text: &str, case: Case, analysis: Analysis, found: &mut Vec<Token>) {
    let mut start = 0;
    for (end, kind) in SEGMENTER.segment_str(text).iter_with_word_type() {
        let piece = &text[start..end];
        if kind.is_word_like() || piece.chars().any(char::is_alphanumeric) {
            let composed = nfkc(piece);
            let folded = composed.to_lowercase();
            match case {
                Case::Folded => add_parts(&folded, start..end, analysis, found),
                Case::Kept => add_written(&composed, Some(&folded), start..end, found),
            }
        }
        start = end;
    }
}

/// Tokens of a text for matching: folded and stemmed, stop words included.
pub fn words(text: &str) -> Vec<String> {
    tokens(text, Analysis::default()).into_iter().map(|token| token.text).collect()
}

/// [`words`] without stop words; all words when nothing else is left.
pub fn content_words(text: &str) -> Vec<String> {
    let content: Vec<String> =
        tokens(text, Analysis { stem: true, stop: true }).into_iter().map(|token| token.text).collect();
    if content.is_empty() { words(text) } else { content }
}

/// Overlapping pairs of Han, kana and Hangul characters, which find what word segmentation cut differently in a
/// query and in a document. A single character between others stands alone. Latin text has none.
pub fn bigrams(text: &str) -> Vec<Token> {
    let folded: Vec<(char, usize, usize)> = text
        .char_indices()
        .flat_map(|(at, c)| {
            let end = at + c.len_utf8();
            nfkc(c.encode_utf8(&mut [0; 4])).chars().map(move |c| (c, at, end)).collect::<Vec<_>>()
        })
        .collect();
    let mut found = Vec::new();
    for run in folded.split(|(c, ..)| !is_cjk(*c)) {
        if let [(c, start, end)] = run {
            found.push(Token { text: c.to_string(), start: *start, end: *end });
        }
        for pair in run.windows(2) {
            if let [(a, start, _), (b, _, end)] = pair {
                found.push(Token { text: format!("{a}{b}"), start: *start, end: *end });
            }
        }
    }
    found
}

/// Whether a lower-case word says nothing on its own: an English stop word, a Japanese particle or auxiliary.
pub fn is_stop_word(word: &str) -> bool {
    tables::ENGLISH.binary_search(&word).is_ok() || tables::JAPANESE.contains(&word)
}

/// The stem of a lower-case word in ASCII letters; any other word as it is.
pub(crate) fn stem(word: &str) -> String {
    if word.bytes().all(|b| b.is_ascii_alphabetic() || b == b'\'') {
        ENGLISH.stem(word).trim_matches('\'').to_owned()
    } else if let Some(bare) = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")) {
        bare.to_owned()
    } else {
        word.to_owned()
    }
}

/// Characters that hold one word together: ICU keeps "don't" and "0.05" whole.
fn is_joiner(c: char) -> bool {
    matches!(c, '\'' | '’' | '.' | ',' | '_' | '·')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(words(text), expect, "{text}");
    }

    #[test]
    fn english() {
        check("Napping improves memories", &["nap", "improv", "memori"]);
        check("Crohn's disease (P < 0.05)", &["crohn", "diseas", "p", "0.05"]);
        check("IL-6, TNF-α and p53", &["il", "6", "tnf", "α", "and", "p53"]);
        check("ＮＦ－κＢ", &["nf", "κb"]);
    }

    #[test]
    fn japanese() {
        check("昼寝は記憶を改善する。", &["昼寝", "は", "記憶", "を", "改善", "する"]);
        assert_eq!(content_words("昼寝は記憶を改善する。"), ["昼寝", "記憶", "改善"]);
        let pairs: Vec<String> = bigrams("昼寝と ABC 脳").into_iter().map(|t| t.text).collect();
        assert_eq!(pairs, ["昼寝", "寝と", "脳"]);
    }

    #[test]
    fn as_written() {
        let written = |text: &str| tokens_as_written(text).into_iter().map(|t| t.text).collect::<Vec<_>>();
        assert_eq!(
            written("Napping LEDs, Crohn's IL-6 ＬＥＤ"),
            ["Napping", "LEDs", "Crohn", "IL", "6", "LED"]
        );
        assert_eq!(written("İstanbul").len(), words("İstanbul").len());
    }

    #[test]
    fn stop_words() {
        assert_eq!(content_words("The effect of naps on memory"), ["effect", "nap", "memori"]);
        assert_eq!(content_words("not to be"), ["not"]);
        assert_eq!(content_words("to be, or to be").len(), 5);
        assert!(tables::ENGLISH.is_sorted(), "searched by halves");
    }

    proptest! {
        #[test]
        fn tokens_of_anything(text in any::<String>()) {
            for token in tokens(&text, Analysis::default()).into_iter().chain(bigrams(&text)) {
                prop_assert!(!token.text.is_empty());
                prop_assert!(text.get(token.start..token.end).is_some_and(|slice| !slice.is_empty()));
            }
        }

        #[test]
        fn ascii_is_cut_as_the_segmenter_cuts_it(any in "[ -~\t\n\r]{0,60}", near in "[aB1_'.,:; \"-]{0,24}") {
            for text in [any, near] {
                for analysis in [Analysis::default(), Analysis { stem: false, stop: true }] {
                    for case in [Case::Folded, Case::Kept] {
                        let (mut quick, mut whole) = (Vec::new(), Vec::new());
                        ascii_tokens(&text, case, analysis, &mut quick);
                        segmented_tokens(&text, case, analysis, &mut whole);
                        prop_assert_eq!(quick, whole, "{:?}", text);
                    }
                }
            }
        }

        #[test]
        fn words_as_written_have_the_places_of_folded_ones(any in any::<String>(), near in "[aBİßΣ’'s.5㏂ -]{0,24}") {
            for text in [any, near] {
                let places = |tokens: Vec<Token>| tokens.into_iter().map(|t| (t.start, t.end)).collect::<Vec<_>>();
                prop_assert_eq!(places(tokens_as_written(&text)), places(tokens(&text, Analysis::default())), "{:?}", text);
            }
        }

        #[test]
        fn a_word_matches_itself_in_any_case(word in "[a-z]{1,12}") {
            prop_assert_eq!(words(&word.to_uppercase()), words(&word));
        }
    }
}

//! Windows of one and of two consecutive sentences: the units for judging a long fragment.

use crate::Sentence;

/// A run of one or two sentences, or a piece of a sentence that is too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The sentences, with one space between them where the text has any.
    pub text: String,
    /// First character, in the text that the sentences were cut from.
    pub start: usize,
    /// One past the last character.
    pub end: usize,
    /// Index of the first sentence.
    pub sentence: usize,
    /// Sentences in the window: 1 or 2.
    pub sentences: usize,
}

/// Windows in the order of the text; those of one sentence before those of two that start at the same place.
///
/// No window is longer than `max_len` characters (at least 1): a pair that would be is left out, a sentence that is
/// is cut at white space where there is some. Every character of every sentence other than white space at a cut is in
/// a window.
pub fn windows(sentences: &[Sentence], max_len: usize) -> Vec<Window> {
    let max_len = max_len.max(1);
    let mut windows = Vec::with_capacity(sentences.len() * 2);
    for (i, sentence) in sentences.iter().enumerate() {
        windows.extend(pieces(sentence, i, max_len));
        let Some(next) = sentences.get(i + 1) else { continue };
        let gap = if next.start > sentence.end { " " } else { "" };
        let text = format!("{}{gap}{}", sentence.text, next.text);
        if text.chars().count() <= max_len {
            windows.push(Window { text, start: sentence.start, end: next.end, sentence: i, sentences: 2 });
        }
    }
    windows
}

fn pieces(sentence: &Sentence, index: usize, max_len: usize) -> Vec<Window> {
    let chars: Vec<char> = sentence.text.chars().collect();
    let mut pieces = Vec::new();
    let mut from = 0;
    while from < chars.len() {
        let limit = (from + max_len).min(chars.len());
        let to = if limit == chars.len() {
            limit
        } else {
            (from + 1..=limit).rev().find(|&i| chars[i].is_whitespace()).unwrap_or(limit)
        };
        pieces.push(Window {
            text: chars[from..to].iter().collect(),
            start: sentence.start + from,
            end: sentence.start + to,
            sentence: index,
            sentences: 1,
        });
        from = to + chars[to..].iter().take_while(|c| c.is_whitespace()).count();
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentences;
    use proptest::prelude::*;

    #[test]
    fn one_and_two() {
        let cut = sentences("One is here. Two is here. Three is here.", Some("en"));
        let texts: Vec<String> = windows(&cut, 100).into_iter().map(|w| w.text).collect();
        assert_eq!(
            texts,
            [
                "One is here.",
                "One is here. Two is here.",
                "Two is here.",
                "Two is here. Three is here.",
                "Three is here."
            ]
        );
        assert_eq!(windows(&cut, 15).len(), 3);
    }

    #[test]
    fn a_long_sentence_is_cut_at_spaces() {
        let cut = sentences("aaaa bbbb cccc", None);
        let found: Vec<_> = windows(&cut, 9).into_iter().map(|w| (w.text, w.start, w.end)).collect();
        assert_eq!(found, [("aaaa bbbb".to_owned(), 0, 9), ("cccc".to_owned(), 10, 14)]);
    }

    proptest! {
        #[test]
        fn windows_cover_and_fit(text in "[a-zA-Z .。、あ漢0-9\n]{0,200}", max_len in 0_usize..80) {
            let cut = sentences(&text, None);
            let found = windows(&cut, max_len);
            let chars: Vec<char> = text.chars().collect();
            prop_assert!(found.iter().all(|w| w.text.chars().count() <= max_len.max(1)));
            prop_assert!(found.iter().all(|w| w.start < w.end && w.end <= chars.len()));
            for (i, c) in chars.iter().enumerate() {
                let in_sentence = cut.iter().any(|s| s.start <= i && i < s.end);
                let in_window = found.iter().any(|w| w.start <= i && i < w.end);
                prop_assert!(c.is_whitespace() || in_sentence == in_window);
            }
        }
    }
}

//! The terms of full-text fields: Japanese, Chinese, Korean and Western text side by side.
//!
//! A CJK character takes one position and is there alone and as a pair with its neighbor; a word of another script
//! takes one position in folded, stemmed form. A CJK punctuation mark takes a position and holds nothing, other marks
//! and blanks take none. So distances count characters in CJK text and words elsewhere, and any string of CJK
//! characters can be found exactly, wherever a dictionary would cut it.
//!
//! Beside these terms stand the words as written, at the same positions: for words with their capitals and for
//! truncated ones, which stems do not show.

use crate::Wildcard;
use crate::normalise::{is_cjk, nfkc};
use crate::word::{Analysis, Token, tokens, tokens_as_written};
use std::ops::Range;

/// A term at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The form that is matched.
    pub text: String,
    /// Position, from 0; a pair stands at its first character's.
    pub position: u32,
    /// First byte in the text given, on a character boundary.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// All terms of a text with positions, as an index stores them.
pub fn terms(text: &str) -> Vec<Term> {
    let mut found = Vec::with_capacity(text.len() / 5);
    walk(text, stems, |piece| match piece {
        Piece::Word { text, position, start, end } => found.push(Term { text, position, start, end }),
        Piece::Run { chars, position } => {
            for (offset, (c, start, end)) in (0_u32..).zip(chars) {
                let position = position + offset;
                found.push(Term { text: c.to_string(), position, start: *start, end: *end });
                if let Some((next, _, end)) = chars.get(offset as usize + 1) {
                    found.push(Term { text: format!("{c}{next}"), position, start: *start, end: *end });
                }
            }
        }
    });
    found
}

/// The words of a text as written, each at the position that its stem has in [`terms`]; CJK characters have none.
pub fn words_as_written(text: &str) -> Vec<Term> {
    let mut found = Vec::with_capacity(text.len() / 6);
    walk(text, tokens_as_written, |piece| {
        if let Piece::Word { text, position, start, end } = piece {
            found.push(Term { text, position, start, end });
        }
    });
    found
}

/// One place of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// One of [`terms`].
    Term(String),
    /// One of [`words_as_written`].
    Written(String),
    /// Any of [`words_as_written`] that fits.
    Wildcard(Wildcard),
}

/// The pattern of a word or phrase of a query: parts at fixed distances.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pattern {
    /// Parts with their offset from the start, ascending.
    pub parts: Vec<(u32, Part)>,
    /// Positions from the first to behind the last.
    pub width: u32,
}

impl Pattern {
    /// The pattern of a text; without parts when it has nothing to search for.
    pub fn of(text: &str) -> Self {
        Self::by(text, stems, Part::Term)
    }

    /// The pattern of a text whose words are matched as written, with their capitals and endings.
    pub fn as_written(text: &str) -> Self {
        if Wildcard::is_in(text) {
            Self::by(&Wildcard::marked(text), tokens_as_written, |word| Wildcard::part(word, true))
        } else {
            Self::by(text, tokens_as_written, Part::Written)
        }
    }

    /// The pattern of a text in which `*` stands for any characters of a word, and `?` for one.
    pub fn truncated(text: &str) -> Self {
        if Wildcard::is_in(text) {
            Self::by(&Wildcard::marked(text), stems, |word| Wildcard::part(word, false))
        } else {
            Self::of(text)
        }
    }

    /// Pairs of CJK characters that the others already cover are left out: the fewer terms, the faster.
    fn by(text: &str, cut: fn(&str) -> Vec<Token>, part: impl Fn(String) -> Part) -> Self {
        let mut parts: Vec<(u32, Part)> = Vec::new();
        let mut last = 0;
        walk(text, cut, |piece| match piece {
            Piece::Word { text, position, .. } => {
                parts.push((position, part(text)));
                last = position + 1;
            }
            Piece::Run { chars, position } => {
                last = position + chars.len() as u32;
                if let [(c, ..)] = chars {
                    parts.push((position, Part::Term(c.to_string())));
                }
                let pairs = chars.len().saturating_sub(1);
                for (nth, pair) in chars.windows(2).enumerate() {
                    if let [(a, ..), (b, ..)] = pair
                        && (nth % 2 == 0 || nth + 1 == pairs)
                    {
                        parts.push((position + nth as u32, Part::Term(format!("{a}{b}"))));
                    }
                }
            }
        });
        let first = parts.first().map_or(0, |(offset, _)| *offset);
        for (offset, _) in &mut parts {
            *offset -= first;
        }
        Self { width: last.saturating_sub(first), parts }
    }

    /// Whether there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The truncated words in it.
    pub fn wildcards(&self) -> impl Iterator<Item = &Wildcard> {
        self.parts.iter().filter_map(|(_, part)| match part {
            Part::Wildcard(wildcard) => Some(wildcard),
            Part::Term(_) | Part::Written(_) => None,
        })
    }
}

fn stems(text: &str) -> Vec<Token> {
    tokens(text, Analysis::default())
}

enum Piece<'a> {
    Word {
        text: String,
        position: u32,
        start: usize,
        end: usize,
    },
    /// CJK characters without a gap, each with its bytes.
    Run {
        chars: &'a [(char, usize, usize)],
        position: u32,
    },
}

/// Goes through a text, and hands over words and runs with their positions.
fn walk(text: &str, cut: fn(&str) -> Vec<Token>, mut found: impl FnMut(Piece<'_>)) {
    let mut position = 0_u32;
    let mut run: Vec<(char, usize, usize)> = Vec::new();
    let mut rest = text.char_indices().peekable();
    let mut plain = 0;
    while let Some((start, c)) = rest.next() {
        // ASCII by far most often: it is neither CJK nor of width.
        let wide = !c.is_ascii() && (is_cjk(c) || is_wide_mark(c));
        if !wide {
            end_run(&mut run, &mut position, &mut found);
            continue;
        }
        words(text, plain..start, cut, &mut position, &mut found);
        let mut end = start + c.len_utf8();
        while let Some((at, mark)) = rest.peek().copied().filter(|(_, next)| is_voicing(*next)) {
            end = at + mark.len_utf8();
            rest.next();
        }
        plain = end;
        for folded in nfkc(&text[start..end]).chars() {
            if is_cjk(folded) {
                run.push((folded, start, end));
            } else {
                end_run(&mut run, &mut position, &mut found);
                position += 1;
            }
        }
    }
    end_run(&mut run, &mut position, &mut found);
    words(text, plain..text.len(), cut, &mut position, &mut found);
}

fn end_run(run: &mut Vec<(char, usize, usize)>, position: &mut u32, found: &mut impl FnMut(Piece<'_>)) {
    if !run.is_empty() {
        found(Piece::Run { chars: run, position: *position });
        *position += run.len() as u32;
        run.clear();
    }
}

/// Words of a stretch without CJK.
fn words(
    text: &str,
    range: Range<usize>,
    cut: fn(&str) -> Vec<Token>,
    position: &mut u32,
    found: &mut impl FnMut(Piece<'_>),
) {
    let (from, stretch) = (range.start, &text[range]);
    if stretch.trim().is_empty() {
        return;
    }
    for token in cut(stretch) {
        found(Piece::Word {
            text: token.text,
            position: *position,
            start: from + token.start,
            end: from + token.end,
        });
        *position += 1;
    }
}

/// Punctuation and symbols of CJK text.
fn is_wide_mark(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{3020}' | '\u{3030}' | '\u{303B}'..='\u{303F}' | '\u{30FB}' | '\u{FE30}'..='\u{FE4F}'
        | '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}' | '\u{FF3B}'..='\u{FF40}' | '\u{FF5B}'..='\u{FF65}')
        && c != '々'
}

/// Marks that belong to the kana before them.
fn is_voicing(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309A}' | '\u{FF9E}' | '\u{FF9F}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn placed(text: &str) -> Vec<(u32, String)> {
        terms(text).into_iter().map(|term| (term.position, term.text)).collect()
    }

    #[track_caller]
    fn check(text: &str, expect: &[(u32, &str)]) {
        let expect: Vec<(u32, String)> = expect.iter().map(|(at, text)| (*at, (*text).to_owned())).collect();
        assert_eq!(placed(text), expect, "{text}");
    }

    #[test]
    fn scripts_side_by_side() {
        check("Solar panels, cheap", &[(0, "solar"), (1, "panel"), (2, "cheap")]);
        check(
            "太陽電池",
            &[(0, "太"), (0, "太陽"), (1, "陽"), (1, "陽電"), (2, "電"), (2, "電池"), (3, "池")],
        );
        check("LED素子", &[(0, "led"), (1, "素"), (1, "素子"), (2, "子")]);
        check("光、熱", &[(0, "光"), (2, "熱")]);
        check("光 熱", &[(0, "光"), (1, "熱")]);
        check("ﾃﾞｰﾀ", &[(0, "デ"), (0, "デー"), (1, "ー"), (1, "ータ"), (2, "タ")]);
        check("", &[]);
    }

    #[test]
    fn patterns_are_short() {
        let parts = |text: &str| {
            let shown = |(at, part): (u32, Part)| match part {
                Part::Term(text) | Part::Written(text) => format!("{at}{text}"),
                Part::Wildcard(wildcard) => format!("{at}{wildcard}"),
            };
            Pattern::truncated(text).parts.into_iter().map(shown).collect::<Vec<_>>()
        };
        assert_eq!(parts("太陽電池"), ["0太陽", "2電池"]);
        assert_eq!(parts("太陽光"), ["0太陽", "1陽光"]);
        assert_eq!(parts("光"), ["0光"]);
        assert_eq!(parts("in-plane"), ["0in", "1plane"]);
        assert_eq!(parts("LED素子"), ["0led", "1素子"]);
        assert_eq!(
            (Pattern::of("、太陽、電池。").width, parts("太陽、電池").as_slice()),
            (5, ["0太陽".to_owned(), "3電池".to_owned()].as_slice())
        );
        assert!(Pattern::of("— ?").is_empty());
        assert_eq!(parts("in-Plan* fi?er optics"), ["0in", "1plan*", "2fi?er", "3optic"]);
        assert_eq!(parts("2*3 A* ? *"), ["02", "13", "2a"]);
    }

    #[test]
    fn words_stand_where_their_stems_do() {
        let written = |text: &str| {
            words_as_written(text).into_iter().map(|term| (term.position, term.text)).collect::<Vec<_>>()
        };
        assert_eq!(written("LED素子、Panels"), [(0, "LED".to_owned()), (4, "Panels".to_owned())]);
        let exact = Pattern::as_written("LEDs素子");
        assert_eq!(exact.parts, [(0, Part::Written("LEDs".to_owned())), (1, Part::Term("素子".to_owned()))]);
    }

    proptest! {
        #[test]
        fn a_text_holds_its_own_pattern(text in any::<String>(), mixed in "[a-c 太陽光、ﾊﾟ-]{0,12}") {
            for text in [text, mixed] {
                let whole = terms(&text);
                for term in &whole {
                    prop_assert!(text.get(term.start..term.end).is_some_and(|slice| !slice.is_empty()));
                }
                prop_assert!(whole.is_sorted_by_key(|term| term.position));
                let pattern = Pattern::of(&text);
                let Some(first) = whole.first().map(|term| term.position) else {
                    prop_assert!(pattern.is_empty());
                    continue;
                };
                for (offset, part) in &pattern.parts {
                    let stands = |term: &Term| term.position == first + offset && Part::Term(term.text.clone()) == *part;
                    prop_assert!(whole.iter().any(stands));
                }
                for written in words_as_written(&text) {
                    let place = (written.position, written.start, written.end);
                    prop_assert!(whole.iter().any(|term| (term.position, term.start, term.end) == place));
                }
            }
        }
    }
}

//! Passages of a text around the terms of a query.

use std::collections::BTreeMap;
use std::ops::Range;

/// The text around a matched term.
const MARK: &str = "**";

/// A piece of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Whether it is a term of the query.
    pub is_term: bool,
}

/// At most `most` passages of about `chars` characters each around `found`, the byte ranges of a query's terms,
/// ascending and without overlap. A shorter text is one passage; others begin and end between words. The passages with the most different terms are chosen; they are returned in text
/// order, with `**` around each term.
pub fn passages(text: &str, found: &[Range<usize>], chars: usize, most: usize) -> Vec<String> {
    let marked =
        |piece: Piece| if piece.is_term { format!("{MARK}{}{MARK}", piece.text) } else { piece.text };
    let passages = pieces(text, found, chars, most);
    passages.into_iter().map(|pieces| pieces.into_iter().map(marked).collect()).collect()
}

/// The same passages in pieces, so that no mark can be confused with the text.
pub fn pieces(text: &str, found: &[Range<usize>], chars: usize, most: usize) -> Vec<Vec<Piece>> {
    let mut terms: BTreeMap<String, usize> = BTreeMap::new();
    let spans: Vec<(usize, usize, usize)> = found
        .iter()
        .filter_map(|place| {
            let next = terms.len();
            let term = *terms.entry(text.get(place.clone())?.to_lowercase()).or_insert(next);
            Some((place.start, place.end, term))
        })
        .collect();
    // Windows that begin at a term; of overlapping ones the one with more different terms stays.
    let mut windows: Vec<(usize, usize, usize)> = Vec::new();
    for (i, &(start, past, _)) in spans.iter().enumerate() {
        let is_short = text.chars().nth(chars).is_none();
        let begin = if is_short { 0 } else { word_begin(text, back(text, start, chars / 4), start) };
        let end = word_end(text, forth(text, begin, chars), past);
        let mut held: Vec<usize> =
            spans[i..].iter().take_while(|span| span.1 <= end).map(|span| span.2).collect();
        held.sort_unstable();
        held.dedup();
        windows.push((begin, end.max(spans[i].1), held.len()));
    }
    let mut by_terms: Vec<usize> = (0..windows.len()).collect();
    by_terms.sort_by_key(|&window| (std::cmp::Reverse(windows[window].2), window));
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    for window in by_terms {
        let (begin, end, _) = windows[window];
        if chosen.len() == most {
            break;
        }
        if chosen.iter().all(|&(from, to)| end <= from || begin >= to) {
            chosen.push((begin, end));
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|(begin, end)| cut_out(text, begin, end, &spans)).collect()
}

fn cut_out(text: &str, begin: usize, end: usize, spans: &[(usize, usize, usize)]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut plain = String::from(if begin > 0 { "…" } else { "" });
    let mut at = begin;
    for &(from, to, _) in spans.iter().filter(|span| span.0 >= begin && span.1 <= end) {
        if from >= at {
            plain.push_str(&text[at..from]);
            if !plain.is_empty() {
                pieces.push(Piece { text: std::mem::take(&mut plain), is_term: false });
            }
            pieces.push(Piece { text: text[from..to].to_owned(), is_term: true });
            at = to;
        }
    }
    plain.push_str(&text[at..end]);
    if end < text.len() {
        plain.push('…');
    }
    if !plain.is_empty() {
        pieces.push(Piece { text: plain, is_term: false });
    }
    pieces
}

/// The character boundary `chars` characters before `at`, or the start.
fn back(text: &str, at: usize, chars: usize) -> usize {
    text[..at].char_indices().rev().nth(chars.saturating_sub(1)).map_or(0, |(byte, _)| byte)
}

/// The character boundary `chars` characters after `at`, or the end.
fn forth(text: &str, at: usize, chars: usize) -> usize {
    text[at..].char_indices().nth(chars).map_or(text.len(), |(byte, _)| at + byte)
}

/// Whether a word goes on at this place. CJK text may be cut anywhere.
fn is_in_word(text: &str, at: usize) -> bool {
    let of_word = |c: char| c.is_alphanumeric() && c < '\u{2E80}';
    text[..at].chars().next_back().is_some_and(of_word) && text[at..].chars().next().is_some_and(of_word)
}

/// The first place from `at` on that is not in a word, at most `limit`.
fn word_begin(text: &str, at: usize, limit: usize) -> usize {
    let places = text[at..limit].char_indices().map(|(byte, _)| at + byte);
    places.chain([limit]).find(|place| !is_in_word(text, *place)).unwrap_or(limit)
}

/// The last place up to `at` that is not in a word, at least `limit`.
fn word_end(text: &str, at: usize, limit: usize) -> usize {
    let Some(cut) = text.get(limit..at) else { return at };
    let places = cut.char_indices().rev().map(|(byte, _)| limit + byte);
    std::iter::once(at).chain(places).find(|place| !is_in_word(text, *place)).unwrap_or(limit)
}

/// The first `chars` characters of a text, and how many more it has.
pub fn cut(text: &str, chars: usize) -> (&str, usize) {
    match text.char_indices().nth(chars) {
        Some((byte, _)) => (&text[..byte], text[byte..].chars().count()),
        None => (text, 0),
    }
}

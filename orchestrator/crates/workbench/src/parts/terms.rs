//! The words of a query, marked where they stand in a text.

use lyra_text::{Analysis, tokens};
use maud::{Markup, html};
use std::collections::{BTreeMap, HashSet};

/// How words of queries and texts are compared.
pub(crate) const ANALYSIS: Analysis = Analysis { stem: true, stop: true };

/// The words of a query, as they are compared.
pub(crate) fn of_query(query: &str) -> HashSet<String> {
    tokens(query, ANALYSIS).into_iter().map(|token| token.text).collect()
}

/// The text with these words marked.
pub(crate) fn marked(text: &str, asked: &HashSet<String>) -> Markup {
    html! {
        @for (piece, is_marked) in pieces(text, asked) { @if is_marked { mark { (piece) } } @else { (piece) } }
    }
}

/// The pieces of a text in order, and whether each is one of these words.
pub(crate) fn pieces(text: &str, asked: &HashSet<String>) -> Vec<(String, bool)> {
    // Two tokens can be in one place: a word that is written as one character.
    let places: BTreeMap<usize, usize> = tokens(text, ANALYSIS)
        .into_iter()
        .filter(|token| asked.contains(&token.text))
        .map(|token| (token.start, token.end))
        .collect();
    let mut pieces = Vec::new();
    let mut at = 0;
    for (start, end) in places {
        if start < at {
            continue;
        }
        pieces.push((text[at..start].to_owned(), false));
        pieces.push((text[start..end].to_owned(), true));
        at = end;
    }
    pieces.push((text[at..].to_owned(), false));
    pieces.retain(|(piece, _)| !piece.is_empty());
    pieces
}

//! The part of a document that a query is about, with its words marked.

use crate::parts::terms::{ANALYSIS, of_query, pieces};
use crate::words::Words;
use lyra_corpus::{Document, Passage};
use lyra_text::{sentences, tokens, windows};
use maud::{Markup, html};
use std::collections::HashSet;

/// Most bytes of a full text in which a passage is looked for.
const LOOKED_AT: usize = 40_000;
/// Most characters of a snippet.
const LONGEST: usize = 360;

/// Some sentences of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Snippet {
    heading: Option<String>,
    page: Option<u32>,
    /// Pieces in order, and whether each is a word of the query.
    pieces: Vec<(String, bool)>,
}

impl Snippet {
    /// Section and page, when the text has them.
    pub(super) fn place(&self, words: Words) -> Option<String> {
        let page = self.page.map(|page| words.with("corpora.page", &[("n", &page.to_string())]));
        let parts: Vec<String> = self.heading.clone().into_iter().chain(page).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    pub(super) fn marked(&self) -> Markup {
        html! { @for (piece, is_marked) in &self.pieces { @if *is_marked { mark { (piece) } } @else { (piece) } } }
    }
}

/// The sentences with most words of the query: of the abstract, else of the full text, else the first ones. Within
/// notes, of notes and marks.
pub(super) fn of(document: &Document, query: &str, in_notes: bool) -> Option<Snippet> {
    let asked = of_query(query);
    let marks = || document.annotations.iter().flat_map(|mark| [mark.text.as_str(), mark.comment.as_str()]);
    let plain = |text| Passage { heading: None, page: None, text };
    let units: Vec<Passage<'_>> = if in_notes {
        document.notes.iter().map(String::as_str).chain(marks()).map(plain).collect()
    } else {
        let lines = document
            .passages()
            .into_iter()
            .flat_map(|passage| passage.text.lines().map(move |text| Passage { text, ..passage }));
        let mut left = LOOKED_AT;
        let near = lines.take_while(|line| {
            let fits = left > 0;
            left = left.saturating_sub(line.text.len());
            fits
        });
        [plain(&document.text), plain(&document.claim)].into_iter().chain(near).collect()
    };
    let mut best: Option<(usize, Passage<'_>)> = None;
    for unit in units.into_iter().filter(|unit| !unit.text.trim().is_empty()) {
        let unit = Passage { text: front(unit.text), ..unit };
        let count = matching(unit.text, &asked);
        if best.is_none_or(|(most, _)| count > most) {
            best = Some((count, unit));
        }
    }
    let (_, unit) = best?;
    let text = densest(unit.text, document.language.as_deref(), &asked);
    Some(Snippet { heading: unit.heading.map(str::to_owned), page: unit.page, pieces: pieces(&text, &asked) })
}

fn front(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOOKED_AT)]
}

/// How many different words of the query are in the text.
fn matching(text: &str, asked: &HashSet<String>) -> usize {
    let found: HashSet<String> = tokens(text, ANALYSIS).into_iter().map(|token| token.text).collect();
    asked.intersection(&found).count()
}

/// One or two consecutive sentences with most words of the query; of those, the longest run that comes first.
fn densest(text: &str, language: Option<&str>, asked: &HashSet<String>) -> String {
    let sentences = sentences(text, language);
    let mut best: Option<((usize, usize), String)> = None;
    for window in windows(&sentences, LONGEST) {
        let rank = (matching(&window.text, asked), window.sentences);
        if best.as_ref().is_none_or(|(most, _)| rank > *most) {
            best = Some((rank, window.text));
        }
    }
    best.map(|(_, text)| text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_corpus::{Document, Section};

    fn marked(document: &Document, query: &str) -> String {
        of(document, query, false).expect("a snippet").marked().into_string()
    }

    #[test]
    fn the_sentences_that_a_query_is_about() {
        let text = "Sleep is long. Adults took a nap. Their memory of words improved after napping. No one was paid.";
        let document = Document { text: text.to_owned(), ..Document::default() };
        assert_eq!(
            marked(&document, "does napping improve memory"),
            "Adults took a <mark>nap</mark>. Their <mark>memory</mark> of words <mark>improved</mark> after <mark>napping</mark>."
        );
        assert_eq!(marked(&document, "volcano"), "Sleep is long. Adults took a nap.");
    }

    #[test]
    fn a_passage_of_the_full_text_says_where_it_is() {
        let document = Document {
            text: "An abstract.".to_owned(),
            desc: "Before.\nThe volcano <b>erupted</b>.".to_owned(),
            sections: vec![Section { line: 1, heading: Some("Results".to_owned()), page: Some(7) }],
            ..Document::default()
        };
        let snippet = of(&document, "volcanoes", false).expect("a snippet");
        assert_eq!((snippet.heading.as_deref(), snippet.page), (Some("Results"), Some(7)));
        assert_eq!(snippet.marked().into_string(), "The <mark>volcano</mark> &lt;b&gt;erupted&lt;/b&gt;.");
    }

    #[test]
    fn notes_are_apart() {
        let document = Document {
            text: "A nap.".to_owned(),
            notes: vec!["Ask Paavo.".to_owned()],
            ..Document::default()
        };
        assert_eq!(
            of(&document, "paavo", true).expect("a snippet").marked().into_string(),
            "Ask <mark>Paavo</mark>."
        );
        assert_eq!(of(&Document::default(), "nap", false), None);
    }

    #[test]
    fn words_of_japanese_are_marked() {
        let document = Document {
            text: "昼寝は記憶を高める。天気は良い。".to_owned(),
            language: Some("ja".to_owned()),
            ..Document::default()
        };
        assert!(marked(&document, "記憶").contains("<mark>記憶</mark>"));
    }
}

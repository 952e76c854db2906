//! Where in a full text a query's words stand.

use crate::Document;
use lyra_text::{bigrams, content_words, sentences};
use serde::Serialize;
use std::collections::HashSet;

/// Characters of a passage that are shown.
const SHOWN: usize = 300;

/// The passage of a document that says most about a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Heading above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// Page that it is on, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Its sentence with most of the query's words, at most 300 characters.
    pub text: String,
}

/// The words of a query, and its pairs of CJK characters.
struct Wanted(HashSet<String>);

impl Wanted {
    fn of(query: &str) -> Self {
        Self(pieces(query).collect())
    }

    /// How many of them a text has.
    fn in_text(&self, text: &str) -> usize {
        let found: HashSet<String> = pieces(text).filter(|piece| self.0.contains(piece)).collect();
        found.len()
    }

    /// The text that has the most, the first of equals, and how many it has.
    fn most<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Option<(usize, &'t str)> {
        let mut best: Option<(usize, &str)> = None;
        for text in texts {
            let count = self.in_text(text);
            if count > best.map_or(0, |(most, _)| most) {
                best = Some((count, text));
            }
        }
        best
    }

    fn sentence(&self, paragraph: &str, language: Option<&str>) -> String {
        let sentences = sentences(paragraph, language);
        let texts = sentences.iter().map(|sentence| sentence.text.as_str());
        let (_, text) = self.most(texts).unwrap_or((0, paragraph));
        let text = text.trim();
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        }
    }
}

fn pieces(text: &str) -> impl Iterator<Item = String> {
    content_words(text).into_iter().chain(bigrams(text).into_iter().map(|token| token.text))
}

impl Document {
    /// The paragraph of the full text that has most of a query's words, the first of equals. `None` without a full text,
    /// and where none has two of them, or the only one.
    pub fn place_of(&self, query: &str) -> Option<Place> {
        let wanted = Wanted::of(query);
        let mut best: Option<(usize, Place)> = None;
        for passage in self.passages() {
            let Some((count, paragraph)) = wanted.most(passage.text.lines()) else { continue };
            if count > best.as_ref().map_or(0, |(most, _)| *most) {
                let section = passage.heading.map(str::to_owned);
                best = Some((
                    count,
                    Place {
                        section,
                        page: passage.page,
                        text: wanted.sentence(paragraph, self.language.as_deref()),
                    },
                ));
            }
        }
        best.filter(|(count, _)| *count >= wanted.0.len().min(2)).map(|(_, place)| place)
    }

    /// The person's notes, what they marked, and what they wrote about it: none of it is a passage of the paper.
    pub(crate) fn own_words(&self) -> impl Iterator<Item = &str> {
        let marked = self.annotations.iter().flat_map(|marked| [&marked.text, &marked.comment]);
        self.notes.iter().chain(marked).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// The sentence of the person's notes and marks that has most of a query's words.
    pub fn note_on(&self, query: &str) -> Option<String> {
        let wanted = Wanted::of(query);
        let (_, note) = wanted.most(self.own_words().flat_map(str::lines))?;
        Some(wanted.sentence(note, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Annotation, Section};

    #[test]
    fn the_paragraph_with_most_of_the_words() {
        let section =
            |line, heading: &str, page| Section { line, heading: Some(heading.to_owned()), page: Some(page) };
        let document = Document {
            desc: "Naps are short.\nWe asked forty adults. Naps improved their memory of words. They left.\n昼寝は記憶を改善した。"
                .to_owned(),
            sections: vec![section(0, "Introduction", 1), section(1, "Results", 4), section(2, "付録", 9)],
            notes: vec!["Check the control group.\nNaps again?".to_owned()],
            annotations: vec![Annotation {
                text: "Forty adults".to_owned(),
                comment: "Only students?".to_owned(),
                ..Annotation::default()
            }],
            ..Document::default()
        };
        let place = document.place_of("Do naps improve memory?").unwrap();
        assert_eq!((place.section.as_deref(), place.page), (Some("Results"), Some(4)));
        assert_eq!(place.text, "Naps improved their memory of words.");
        assert_eq!(document.place_of("昼寝の記憶への効果").unwrap().page, Some(9));
        assert_eq!(document.place_of("naps").unwrap().page, Some(1));
        assert_eq!(document.place_of("naps and biochar of crops"), None);
        assert_eq!(document.place_of(""), None);
        assert_eq!(document.note_on("control groups").as_deref(), Some("Check the control group."));
        assert_eq!(document.note_on("adults").as_deref(), Some("Forty adults"));
        assert_eq!(document.note_on("students").as_deref(), Some("Only students?"));
        assert_eq!(document.note_on("biochar"), None);
    }

    #[test]
    fn the_persons_own_words_are_no_passage_of_the_paper() {
        let document = Document {
            desc: "Naps are short.".to_owned(),
            notes: vec!["Naps improve memory.".to_owned()],
            annotations: vec![Annotation {
                comment: "They improve memory.".to_owned(),
                ..Annotation::default()
            }],
            ..Document::default()
        };
        let passages: Vec<&str> = document.passages().iter().map(|passage| passage.text).collect();
        assert_eq!(passages, ["Naps are short."]);
        assert_eq!(document.place_of("improve memory"), None);
    }
}

//! A document that a search found, and where in it.

use lyra_corpus::{CorpusHit, Place};
use serde_json::{Value, json};
use std::fmt::Write;

pub(super) struct Found {
    hit: CorpusHit,
    place: Option<Place>,
    /// Of a search in notes, the note.
    note: Option<String>,
}

impl Found {
    pub(super) fn new(hit: CorpusHit, query: &str, in_notes: bool) -> Self {
        let note = in_notes.then(|| hit.document.note_on(query)).flatten();
        let place = (!in_notes).then(|| hit.document.place_of(query)).flatten();
        Self { hit, place, note }
    }

    pub(super) fn json(&self) -> Value {
        let document = &self.hit.document;
        let mut found = json!({
            "doc_id": document.doc_id, "score": self.hit.score, "bm25": self.hit.bm25, "cosine": self.hit.cosine,
            "title": document.title, "year": document.year, "venue": document.venue,
            "doi": document.doi, "url": document.url, "text": document.text,
        });
        if let Some(place) = &self.place {
            found["place"] = json!(place);
        }
        if let Some(note) = &self.note {
            found["note"] = json!(note);
        }
        found
    }

    /// A line, and one with the passage or note where there is one.
    pub(super) fn text(&self) -> String {
        let document = &self.hit.document;
        let year = document.year.map_or_else(String::new, |year| format!(" ({year})"));
        let mut text = format!(
            "{:>3}. {:.3}  {}{year} [{}]\n",
            self.hit.rank, self.hit.score, document.title, document.doc_id
        );
        if let Some(place) = &self.place {
            let page = place.page.map(|page| format!("p. {page}"));
            let parts: Vec<String> = place.section.clone().into_iter().chain(page).collect();
            let at = if parts.is_empty() { "full text".to_owned() } else { parts.join(", ") };
            let _ = writeln!(text, "            {at}: {}", place.text);
        }
        if let Some(note) = &self.note {
            let _ = writeln!(text, "            your note: {note}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_corpus::{Document, Section};

    #[test]
    fn section_and_page_follow_the_title() {
        let section = Section { line: 0, heading: Some("Results".to_owned()), page: Some(7) };
        let document = Document {
            doc_id: "lee".to_owned(),
            title: "Naps".to_owned(),
            year: Some(2019),
            desc: "Naps improved memory.".to_owned(),
            sections: vec![section],
            notes: vec!["Check the controls.".to_owned()],
            ..Document::default()
        };
        let hit = CorpusHit { rank: 1, score: 0.5, bm25: None, cosine: None, document, embedding: None };
        let found = Found::new(hit.clone(), "naps and memory", false);
        let expect = "  1. 0.500  Naps (2019) [lee]\n            Results, p. 7: Naps improved memory.\n";
        assert_eq!(found.text(), expect);
        assert_eq!(found.json()["place"]["page"], 7);
        let noted = Found::new(hit, "controls", true).text();
        assert!(noted.ends_with("your note: Check the controls.\n"), "{noted}");
    }
}

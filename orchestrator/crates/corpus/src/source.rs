//! A corpus as a source of evidence.

use crate::backend::Filter;
use crate::{Corpora, CorpusError, Document, Method, Narrow, Texts};
use async_trait::async_trait;
use lyra_domain::PageId;
use lyra_research::ports::{
    Answer, CorpusDocument, CorpusPassage, EvidenceSource, Hit, Inference, SourceKind,
};
use lyra_web::extract::{Block, BlockKind, Extracted};
use lyra_web::fragment::fragments;
use std::collections::HashSet;
use std::sync::Arc;

/// Passages of one document that a search returns.
const MAX_PASSAGES: usize = 40;
/// Passages of one document that are compared with a question: those of some five hundred pages.
const MAX_COMPARED: usize = 5_000;

/// Answers queries by hybrid search in one corpus.
pub struct CorpusSource {
    name: String,
    corpus: String,
    corpora: Corpora,
    narrow: Narrow,
    inference: Arc<dyn Inference>,
}

impl CorpusSource {
    /// The source `corpus:NAME`; that the corpus exists is found out by searching.
    pub fn new(corpora: Corpora, corpus: &str, inference: Arc<dyn Inference>) -> Self {
        let narrow = Narrow { texts: Texts::OfPassages, ..Narrow::default() };
        let (name, corpus) = (format!("corpus:{corpus}"), corpus.to_owned());
        Self { name, corpus, corpora, narrow, inference }
    }

    /// With only the documents that filters let through.
    #[must_use]
    pub fn with_filters(mut self, filters: Vec<Filter>) -> Self {
        self.narrow.filters = filters;
        self
    }
}

#[async_trait]
impl EvidenceSource for CorpusSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> SourceKind {
        SourceKind::Corpus
    }

    async fn search(
        &self,
        query: &str,
        language: Option<&str>,
        limit: usize,
    ) -> lyra_research::Result<Answer> {
        let found = self.corpora.search_narrowed_with(
            &self.corpus,
            query,
            language,
            Method::Hybrid,
            limit,
            &self.narrow,
            &*self.inference,
        );
        let found = match found.await {
            // Another corpus of the task has the tag.
            Err(CorpusError::Filter(_)) => return Ok(Vec::new().into()),
            found => found?,
        };
        if let Some(note) = &found.note {
            tracing::warn!(source = self.name, note, "the search was not complete");
        }
        let notes = found.note.into_iter().collect();
        let embedder = found.embedder;
        let asked: HashSet<String> = lyra_text::content_words(query).into_iter().collect();
        let hits = found.hits.into_iter().map(|hit| Hit {
            rank: hit.rank,
            score: hit.score,
            work: hit.document.work(&self.corpus),
            url: hit.document.address(&self.corpus),
            document: Some(CorpusDocument {
                passages: passages(&hit.document, &asked),
                ..CorpusDocument::new(&self.corpus, &hit.document.doc_id)
            }),
            language: hit.document.language,
            text: (!hit.document.text.is_empty()).then_some(hit.document.text),
            embedding: hit.embedding.map(|vector| (embedder.clone(), vector)),
        });
        Ok(Answer { notes, ..hits.collect::<Vec<_>>().into() })
    }
}

/// The passages of a paper's full text that say most about a question, in the order of the text. Documents without
/// sections, such as patents, have none: they are found by their abstracts.
fn passages(document: &Document, asked: &HashSet<String>) -> Vec<CorpusPassage> {
    if document.sections.is_empty() {
        return Vec::new();
    }
    let page = PageId::derive(&[&document.doc_id]);
    let mut found: Vec<(f64, CorpusPassage)> = Vec::new();
    for passage in document.passages() {
        let place = match (passage.heading, passage.page) {
            (Some(heading), Some(page)) => Some(format!("{heading}, p. {page}")),
            (Some(heading), None) => Some(heading.to_owned()),
            (None, Some(page)) => Some(format!("p. {page}")),
            (None, None) => None,
        };
        let weight = weight(passage.heading);
        let extracted = paragraphs(passage.text, document.language.clone());
        let texts = fragments(&page, &extracted).into_iter().map(|fragment| fragment.text_content);
        found.extend(texts.filter(|text| !is_table(text)).map(|text| {
            let words: HashSet<String> = lyra_text::content_words(&text).into_iter().collect();
            let shared = words.intersection(asked).count();
            (weight * (shared as f64), CorpusPassage { place: place.clone(), text })
        }));
        if found.len() >= MAX_COMPARED {
            break;
        }
    }
    let mut best: Vec<usize> = (0..found.len()).collect();
    best.sort_by(|a, b| found[*b].0.total_cmp(&found[*a].0).then(a.cmp(b)));
    let kept: HashSet<usize> = best.into_iter().take(MAX_PASSAGES).collect();
    let kept = found.into_iter().enumerate().filter(|(nth, _)| kept.contains(nth));
    kept.map(|(_, (_, passage))| passage).collect()
}

/// Whether a text is rows of numbers, as PDFs give tables: no statement can be read in them.
fn is_table(text: &str) -> bool {
    let (mut words, mut numbers) = (0_usize, 0_usize);
    for token in text.split_whitespace() {
        if token.chars().any(char::is_alphabetic) { words += 1 } else { numbers += 1 }
    }
    numbers * 2 > words
}

/// What a section's passages count for: what a work found comes before what it set out from.
fn weight(heading: Option<&str>) -> f64 {
    let heading = heading.unwrap_or_default().to_lowercase();
    let names = |names: &[&str]| names.iter().any(|name| heading.contains(name));
    if names(&["result", "finding", "discussion", "conclusion", "結果", "考察", "結論"]) {
        1.5
    } else if names(&["introduction", "background", "related work", "method", "はじめに", "背景", "方法"])
    {
        0.75
    } else {
        1.0
    }
}

/// Lines as the paragraphs of a page.
fn paragraphs(lines: &str, language: Option<String>) -> Extracted {
    let (mut text, mut blocks, mut chars) = (String::new(), Vec::new(), 0_u32);
    for line in lines.lines().filter(|line| !line.trim().is_empty()) {
        if !text.is_empty() {
            text.push_str("\n\n");
            chars += 2;
        }
        let end = chars + line.chars().count() as u32;
        blocks.push(Block { kind: BlockKind::Paragraph, start: chars, end });
        text.push_str(line);
        chars = end;
    }
    Extracted { text, blocks, language, ..Extracted::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Section;

    #[test]
    fn tables_are_not_statements() {
        assert!(is_table("Google - - - 0.2535 0.2342 0.1834 Google Scholar - - - 0.2809 0.2155 0.1514"));
        assert!(!is_table(
            "PaSa surpasses Google by 37.78% in recall@20 and 39.90% in recall@50 on 50 queries."
        ));
        assert!(!is_table("昼寝は記憶を改善した。"));
    }

    #[test]
    fn what_a_paper_found_comes_before_its_introduction() {
        let line = |nth: u32, what: &str| {
            format!("Paragraph {nth} says that {what} in a study of some adults who slept.")
        };
        let mut lines: Vec<String> = (0..50).map(|nth| line(nth, "naps are studied")).collect();
        lines.push(line(50, "naps improve memory"));
        let section =
            |line, heading: &str, page| Section { line, heading: Some(heading.to_owned()), page: Some(page) };
        let introduction = (0..50).map(|nth| section(nth, "1. Introduction", nth + 1));
        let document = Document {
            doc_id: "lee".to_owned(),
            desc: lines.join("\n"),
            sections: introduction.chain([section(50, "Results", 51)]).collect(),
            language: Some("en".to_owned()),
            ..Document::default()
        };
        let asked = lyra_text::content_words("Do naps improve memory?").into_iter().collect();
        let found = passages(&document, &asked);
        assert_eq!(found.len(), MAX_PASSAGES);
        let last = found.last().unwrap();
        assert_eq!(
            (last.place.as_deref(), last.text.contains("improve memory")),
            (Some("Results, p. 51"), true)
        );
        assert!(passages(&Document { sections: Vec::new(), ..document }, &asked).is_empty());
    }
}

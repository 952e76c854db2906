//! A document of a corpus, as text for a terminal.

use lyra_corpus::{Completed, Document, Stage};
use lyra_domain::WorkKind;
use std::fmt::Write;

/// Metadata, a line each, then the abstract and the full text by section and page.
pub(super) fn described(document: &Document) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:<12} {value}");
        }
    };
    line("id", &document.doc_id);
    line("title", &document.title);
    line("authors", &document.authors.join(", "));
    line("year", &document.year.map(|year| year.to_string()).unwrap_or_default());
    line("type", document.imprint.kind.map(WorkKind::as_str).unwrap_or_default());
    line("venue", document.venue.as_deref().unwrap_or_default());
    line("publisher", document.imprint.publisher.as_deref().unwrap_or_default());
    line("isbn", &document.imprint.isbn.join(", "));
    line("doi", &document.doi.as_ref().map(ToString::to_string).unwrap_or_default());
    let identifiers: Vec<String> = document.identifiers.iter().map(ToString::to_string).collect();
    line("identifiers", &identifiers.join(", "));
    line("url", document.url.as_deref().unwrap_or_default());
    line("language", document.language.as_deref().unwrap_or_default());
    for version in &document.versions {
        let stage = match version.stage {
            Stage::Published => "published",
            Stage::Preprint => "preprint",
        };
        let doi = version.doi.as_ref().map(ToString::to_string);
        let name = doi.or_else(|| version.identifiers.first().map(ToString::to_string)).unwrap_or_default();
        let year = version.year.map(|year| year.to_string()).unwrap_or_default();
        let venue = version.venue.clone().unwrap_or_default();
        let shown = if version.is_shown { "the text below" } else { "" };
        let said = [stage, &name, &venue, &year, shown].into_iter().filter(|part| !part.is_empty());
        line("version", &said.collect::<Vec<_>>().join(", "));
    }
    line("retracted", if document.is_retracted { "yes" } else { "" });
    line("zotero", document.zotero.as_deref().unwrap_or_default());
    line("files", &document.files.join(", "));
    let sources = |entry: &Completed| format!("{} ({})", entry.field, entry.source);
    line("completed", &document.completed.iter().map(sources).collect::<Vec<_>>().join(", "));
    line("collections", &document.collections.join(", "));
    line("tags", &document.tags.join(", "));
    line("references", &document.references.join(", "));
    let mut part = |heading: &str, body: &str| {
        if !body.is_empty() {
            let _ = write!(text, "\n{heading}\n\n{body}\n");
        }
    };
    part("Abstract", &document.text);
    part("Claims", &document.claim);
    for passage in document.passages() {
        let heading = passage.heading.unwrap_or("Text");
        match passage.page {
            Some(page) => part(&format!("{heading} (p. {page})"), passage.text),
            None => part(heading, passage.text),
        }
    }
    let marked: Vec<String> = document.annotations.iter().map(ToString::to_string).collect();
    part("What you marked", &marked.join("\n\n"));
    part("Your notes", &document.notes.join("\n\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use lyra_corpus::{Annotation, Section};

    #[test]
    fn sections_come_with_their_pages() {
        let document = Document {
            doc_id: "lee".to_owned(),
            title: "Naps".to_owned(),
            desc: "Forty adults slept.\nNaps helped.".to_owned(),
            sections: vec![
                Section { line: 0, heading: Some("Methods".to_owned()), page: Some(2) },
                Section { line: 1, heading: Some("Results".to_owned()), page: None },
            ],
            annotations: vec![Annotation {
                text: "Naps helped.".to_owned(),
                comment: "Whom?".to_owned(),
                page: Some("ii".to_owned()),
                ..Annotation::default()
            }],
            ..Document::default()
        };
        let expect = "id           lee\ntitle        Naps\n\nMethods (p. 2)\n\nForty adults slept.\n\nResults\n\nNaps helped.\n\n\
            What you marked\n\n“Naps helped.” (p. ii)\nWhom?\n";
        assert_eq!(described(&document), expect);
    }
}

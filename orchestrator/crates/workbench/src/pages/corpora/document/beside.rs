//! What a person wrote and marked beside a document's text.

use crate::words::Words;
use lyra_corpus::{Annotation, Document};
use maud::{Markup, html};

/// Notes and marks, apart from the text: they say nothing about the work itself.
pub(super) fn notes(words: Words, document: &Document) -> Markup {
    html! {
        @if !document.notes.is_empty() || !document.annotations.is_empty() {
            section.stack aria-labelledby="notes-title" {
                h2 #notes-title { (words.t("corpora.own_notes")) }
                p.small.quiet { (words.t("corpora.own_notes_note")) }
                ul.stack {
                    @for note in &document.notes { li.small.own { (paragraphs(note)) } }
                    @for annotation in &document.annotations { (mark(words, annotation)) }
                }
            }
        }
    }
}

fn mark(words: Words, annotation: &Annotation) -> Markup {
    html! {
        li.small.own {
            @if !annotation.text.is_empty() {
                blockquote { p { (swatch(annotation.color.as_deref())) (annotation.text) } }
            }
            (paragraphs(&annotation.comment))
            @if let Some(page) = &annotation.page { p.quiet { (words.with("corpora.page", &[("n", page)])) } }
        }
    }
}

fn paragraphs(text: &str) -> Markup {
    html! { @for line in text.lines().filter(|line| !line.trim().is_empty()) { p { (line) } } }
}

/// The color of a mark. It is decoration: the text says the same without it.
fn swatch(color: Option<&str>) -> Markup {
    html! {
        @if let Some(color) = color.filter(|color| is_color(color)) {
            svg.swatch viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" {
                rect width="10" height="10" rx="2" fill=(color) {}
            }
        }
    }
}

/// `#` and six hexadecimal digits.
fn is_color(text: &str) -> bool {
    text.len() == 7 && text.starts_with('#') && text.bytes().skip(1).all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    #[test]
    fn notes_are_text_and_colors_are_checked() {
        let annotation = |color: &str| Annotation {
            text: "<b>Naps</b> help.".to_owned(),
            comment: "Check\nthis.".to_owned(),
            page: Some("iv".to_owned()),
            color: Some(color.to_owned()),
        };
        let document = Document {
            notes: vec!["<script>alert(1)</script>".to_owned()],
            annotations: vec![annotation("#ffd400"), annotation("url(#x)")],
            ..Document::default()
        };
        let shown = notes(Words(Language::English), &document).into_string();
        assert!(shown.contains("&lt;script&gt;") && shown.contains("&lt;b&gt;Naps"), "{shown}");
        assert!(!shown.contains("<script>") && !shown.contains("url("), "{shown}");
        assert_eq!(shown.matches("<svg").count(), 1);
        assert_eq!(notes(Words(Language::English), &Document::default()).into_string(), "");
    }
}

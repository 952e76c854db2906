//! The judged sentences of a passage, marked where they stand in it.

use lyra_store::{JudgedPassage, ReadFragment, Span};
use maud::{Markup, html};

/// A stretch of a passage, and the first judgment that covers it.
#[derive(Debug, PartialEq)]
struct Stretch<'a> {
    text: &'a str,
    mark: Option<usize>,
}

/// The passage with its judged sentences as links to their claims.
pub(crate) fn marked(fragment: &ReadFragment) -> Markup {
    let spans: Vec<Option<Span>> = fragment.judged.iter().map(|mark| mark.span).collect();
    html! {
        @for stretch in stretches(&fragment.text, &spans) {
            @match stretch.mark.map(|at| &fragment.judged[at]) {
                Some(mark) => (sentence(stretch.text, mark)),
                None => (stretch.text),
            }
        }
    }
}

fn sentence(text: &str, judged: &JudgedPassage) -> Markup {
    html! {
        mark class=(judged.relation.as_str()) {
            a href=(format!("/claims/{}#{}", judged.claim, judged.edge)) title=(judged.claim_text) { (text) }
        }
    }
}

/// Cuts a text where marks begin and end. What lies outside the text marks nothing.
fn stretches<'a>(text: &'a str, spans: &[Option<Span>]) -> Vec<Stretch<'a>> {
    let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let fits = |span: &Span| span.start < span.end && span.end < bytes.len();
    let spans: Vec<Option<Span>> = spans.iter().map(|span| span.filter(fits)).collect();
    let mut cuts: Vec<usize> = spans.iter().flatten().flat_map(|span| [span.start, span.end]).collect();
    cuts.extend([0, bytes.len() - 1]);
    cuts.sort_unstable();
    cuts.dedup();
    let stretch = |pair: &[usize]| {
        let covers =
            |span: &Option<Span>| span.is_some_and(|span| span.start <= pair[0] && pair[0] < span.end);
        Stretch { text: &text[bytes[pair[0]]..bytes[pair[1]]], mark: spans.iter().position(covers) }
    };
    cuts.windows(2).map(stretch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_marks_cut_a_text_without_losing_any() {
        let text = "Naps help. 昼寝は役立つ。";
        let span = |start, end| Some(Span { start, end });
        let spans = [span(0, 10), None, span(5, 14), span(3, 99), span(2, 2)];
        let found = stretches(text, &spans);
        assert_eq!(found.iter().map(|stretch| stretch.text).collect::<String>(), text);
        let marks: Vec<_> = found.iter().map(|stretch| stretch.mark).collect();
        assert_eq!(marks, [Some(0), Some(0), Some(2), None]);
        assert!(stretches("", &[span(0, 1)]).is_empty());
    }
}

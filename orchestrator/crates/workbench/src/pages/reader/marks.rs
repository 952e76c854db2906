//! The judged sentences of a passage, marked where they stand in it.

use lyra_usecases::{Mark, ReadFragment};
use maud::{Markup, html};
use std::ops::Range;

/// A stretch of a passage, and the first judgment that covers it.
#[derive(Debug, PartialEq)]
struct Stretch<'a> {
    text: &'a str,
    mark: Option<usize>,
}

/// The passage with its judged sentences as links to their claims.
pub(crate) fn marked(fragment: &ReadFragment) -> Markup {
    let spans: Vec<Option<Range<usize>>> = fragment.judged.iter().map(|mark| mark.span.clone()).collect();
    html! {
        @for stretch in stretches(&fragment.text, &spans) {
            @match stretch.mark.map(|at| &fragment.judged[at]) {
                Some(mark) => (sentence(stretch.text, mark)),
                None => (stretch.text),
            }
        }
    }
}

fn sentence(text: &str, judged: &Mark) -> Markup {
    html! {
        mark class=(judged.relation.as_str()) {
            a href=(format!("/claims/{}#{}", judged.claim_id, judged.edge_id)) title=(judged.claim) { (text) }
        }
    }
}

/// Cuts a text where marks begin and end. Spans are in characters; what lies outside the text marks nothing.
fn stretches<'a>(text: &'a str, spans: &[Option<Range<usize>>]) -> Vec<Stretch<'a>> {
    let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let fits = |span: &Range<usize>| span.start < span.end && span.end < bytes.len();
    let spans: Vec<Option<&Range<usize>>> = spans.iter().map(|span| span.as_ref().filter(|span| fits(span))).collect();
    let mut cuts: Vec<usize> = spans.iter().flatten().flat_map(|span| [span.start, span.end]).collect();
    cuts.extend([0, bytes.len() - 1]);
    cuts.sort_unstable();
    cuts.dedup();
    let stretch = |pair: &[usize]| {
        let covers = |span: &Option<&Range<usize>>| span.is_some_and(|span| span.contains(&pair[0]));
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
        let spans = [Some(0..10), None, Some(5..14), Some(3..99), Some(2..2)];
        let found = stretches(text, &spans);
        assert_eq!(found.iter().map(|stretch| stretch.text).collect::<String>(), text);
        let marks: Vec<_> = found.iter().map(|stretch| stretch.mark).collect();
        assert_eq!(marks, [Some(0), Some(0), Some(2), None]);
        assert!(stretches("", &[Some(0..1)]).is_empty());
    }
}

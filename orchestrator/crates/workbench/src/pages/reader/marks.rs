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
    let spans: Vec<&[Span]> = fragment.judged.iter().map(|mark| &mark.spans[..]).collect();
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
fn stretches<'a>(text: &'a str, spans: &[&[Span]]) -> Vec<Stretch<'a>> {
    let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let fits = |span: &&Span| span.start < span.end && span.end < bytes.len();
    let all = spans.iter().flat_map(|spans| spans.iter()).filter(fits);
    let mut cuts: Vec<usize> = all.flat_map(|span| [span.start, span.end]).collect();
    cuts.extend([0, bytes.len() - 1]);
    cuts.sort_unstable();
    cuts.dedup();
    let stretch = |pair: &[usize]| {
        let covers = |span: &Span| fits(&span) && span.start <= pair[0] && pair[0] < span.end;
        let mark = spans.iter().position(|spans| spans.iter().any(covers));
        Stretch { text: &text[bytes[pair[0]]..bytes[pair[1]]], mark }
    };
    cuts.windows(2).map(stretch).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_marks_cut_a_text_without_losing_any() {
        let text = "Naps help. 昼寝は役立つ。";
        let span = |start, end| Span { start, end };
        let spans: [&[Span]; 4] =
            [&[span(0, 2), span(2, 10)], &[], &[span(5, 14)], &[span(3, 99), span(2, 2)]];
        let found = stretches(text, &spans);
        assert_eq!(found.iter().map(|stretch| stretch.text).collect::<String>(), text);
        let marks: Vec<_> = found.iter().map(|stretch| stretch.mark).collect();
        assert_eq!(marks, [Some(0), Some(0), Some(0), Some(2), None]);
        assert!(stretches("", &[&[span(0, 1)]]).is_empty());
    }
}

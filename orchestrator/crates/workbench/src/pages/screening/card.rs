//! A document to be judged.

use crate::parts::{place, terms};
use crate::words::Words;
use lyra_domain::{Basis, Verdict};
use lyra_screening::Because;
use lyra_store::{ScreeningCard, ScreeningDecision};
use lyra_usecases::DocumentToScreen;
use maud::{Markup, html};
use std::collections::HashSet;

/// A document that comes next; `here` is the one that is shown.
pub(super) fn of_next(
    words: Words,
    asked: &HashSet<String>,
    document: &DocumentToScreen,
    here: bool,
) -> Markup {
    let because = match document.next.because {
        Because::Search => "screening.because_search",
        Because::Promising => "screening.because_promising",
        Because::Unsure => "screening.because_unsure",
    };
    let why = html! {
        span.pill { (words.t(because)) }
        @if let Some(score) = document.next.score {
            span { (words.with("screening.score", &[("score", &format!("{score:.2}"))])) }
        }
        span { (words.with("screening.search_rank", &[("n", &words.number(document.search_rank as u64))])) }
    };
    card(words, asked, &document.card, &why, here, None)
}

/// A document that was asked for, with what was decided about it.
pub(super) fn of_decided(
    words: Words,
    asked: &HashSet<String>,
    shown: &ScreeningCard,
    decision: Option<&ScreeningDecision>,
) -> Markup {
    let why = html! {
        @match decision {
            Some(decision) => {
                (verdict(words, decision.verdict))
                @if let Some(reason) = &decision.reason { span { (super::reason_text(words, reason)) } }
            }
            None => span.pill { (words.t("screening.not_decided")) },
        }
    };
    card(words, asked, shown, &why, true, decision)
}

/// A verdict with its shape.
pub(super) fn verdict(words: Words, verdict: Verdict) -> Markup {
    let (class, text) = match verdict {
        Verdict::Include => ("pill in", "screening.included"),
        Verdict::Exclude => ("pill out", "screening.excluded"),
        Verdict::Undecided => ("pill", "screening.undecided"),
    };
    let shape = match verdict {
        Verdict::Include => "✓ ",
        Verdict::Exclude => "✕ ",
        Verdict::Undecided => "? ",
    };
    html! { span class=(class) { span aria-hidden="true" { (shape) } (words.t(text)) } }
}

fn card(
    words: Words,
    asked: &HashSet<String>,
    shown: &ScreeningCard,
    why: &Markup,
    here: bool,
    decision: Option<&ScreeningDecision>,
) -> Markup {
    let page = &shown.page;
    let title =
        if page.citation.title.trim().is_empty() { words.t("common.untitled") } else { &page.citation.title };
    let basis = match shown.basis {
        Basis::Title => "screening.basis_title",
        Basis::Abstract => "screening.basis_abstract",
        Basis::FullText => "screening.basis_full_text",
    };
    html! {
        article.card.screen id=(format!("doc-{}", page.id)) data-page=(page.id) data-here[here]
            data-decision=[decision.map(|decision| decision.id.as_str())] {
            p.facts { (why) span { (words.t(basis)) } }
            h2 tabindex="-1" lang=[shown.language.as_deref()] { (terms::marked(title, asked)) }
            (place::below_title(words, &page.citation))
            div.reading lang=[shown.language.as_deref()] {
                @for passage in &shown.passages {
                    div {
                        @if let Some(heading) = &passage.heading { h3.small.quiet { (heading) } }
                        p { (terms::marked(&passage.text, asked)) }
                    }
                }
                @if shown.passages.is_empty() { p.quiet { (words.t("screening.no_text")) } }
            }
            p.small {
                a href=(format!("/pages/{}", page.id)) {
                    @if shown.more > 0 {
                        (words.count("screening.read_more_one", "screening.read_more_other", shown.more))
                    } @else { (words.t("screening.read")) }
                }
            }
        }
    }
}

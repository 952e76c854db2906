//! Where a text can be read: title, authors, year, venue, and identifiers of a work.

use crate::words::Words;
use lyra_domain::Citation;
use maud::{Markup, html};

/// Most authors that are named.
const AUTHORS: usize = 3;

/// One line about a work, whose title leads to it when its address is one that a browser may open.
pub(crate) fn line(words: Words, citation: &Citation) -> Markup {
    let title = if citation.title.is_empty() { words.t("common.untitled") } else { &citation.title };
    html! {
        p.small {
            @match citation.url.as_deref().filter(|url| is_web(url)) {
                Some(url) => a href=(url) rel="noreferrer noopener external" { (title) },
                None => cite { (title) },
            }
            span.quiet { " · " }
            (about(words, citation))
        }
    }
}

/// The same below a heading that is the title.
pub(crate) fn below_title(words: Words, citation: &Citation) -> Markup {
    html! {
        p.small {
            (about(words, citation))
            @if let Some(url) = citation.url.as_deref().filter(|url| is_web(url)) {
                " · " a href=(url) rel="noreferrer noopener external" { (url) }
            }
        }
    }
}

/// Authors, year, venue, section, and identifiers of a work, without its title.
pub(crate) fn about(words: Words, citation: &Citation) -> Markup {
    html! {
        span.quiet {
            @if let Some(authors) = by_line(&citation.authors) { (authors) " · " }
            @match citation.year { Some(year) => (year), None => (words.t("common.no_year")) }
            @if let Some(venue) = &citation.venue { " · " (venue) }
            @if let Some(section) = &citation.section { " · " (section) }
            @if let Some(doi) = &citation.doi {
                " · " a href=(format!("https://doi.org/{doi}")) rel="noreferrer noopener external" { (doi) }
            }
            @if let Some(id) = &citation.doc_id { " · " (id) }
        }
        @if citation.is_retracted == Some(true) { " " span.pill.bad { (words.t("common.retracted")) } }
    }
}

/// The first authors, and that there are more.
fn by_line(authors: &[String]) -> Option<String> {
    let named = authors.iter().take(AUTHORS).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if authors.len() > AUTHORS { " et al." } else { "" };
    (!named.is_empty()).then(|| named + more)
}

/// Whether a browser may open it: an address of another scheme could run a script.
pub(crate) fn is_web(url: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme))
}

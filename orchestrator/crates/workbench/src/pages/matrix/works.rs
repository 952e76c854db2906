//! Works that stored facts connect.

use super::table::title;
use crate::words::Words;
use lyra_domain::{Link, LinkKind, Matrix, MatrixWork};
use maud::{Markup, html};
use std::collections::HashMap;

/// Citations that are listed at once.
const CITATIONS: usize = 60;

/// What works share, each with a letter. Citations have none.
pub(super) type Groups<'l> = Vec<(String, &'l Link)>;

/// Letters for what works share: A to Z, then AA and on.
pub(super) fn groups(links: &[Link]) -> Groups<'_> {
    let shared = links.iter().filter(|link| link.kind != LinkKind::Cites);
    shared.enumerate().map(|(n, link)| (letter(n), link)).collect()
}

fn letter(n: usize) -> String {
    let last = char::from(b'A' + (n % 26) as u8);
    if n < 26 { last.to_string() } else { letter(n / 26 - 1) + &last.to_string() }
}

/// The letters of a work.
pub(super) fn letters(groups: &Groups<'_>, key: &str) -> String {
    let own = groups.iter().filter(|(_, link)| link.works.iter().any(|work| work == key));
    own.map(|(letter, _)| letter.as_str()).collect::<Vec<_>>().join(" ")
}

/// The links in words, each with its works.
pub(super) fn list(
    words: Words,
    matrix: &Matrix<'_>,
    links: &[Link],
    groups: &Groups<'_>,
    skipped: usize,
) -> Markup {
    let columns: HashMap<&str, (usize, &MatrixWork<'_>)> =
        matrix.works.iter().enumerate().map(|(at, work)| (work.key(), (skipped + at + 1, work))).collect();
    let named = |key: &str| {
        html! {
            @if let Some((number, work)) = columns.get(key) {
                span.quiet { (number) } " "
                a href=(format!("/pages/{}", work.passage.page_id)) { bdi { (title(words, work.passage)) } }
                @if let Some(year) = work.passage.year { " " span.quiet { "(" (year) ")" } }
            }
        }
    };
    let citations: Vec<&Link> = links.iter().filter(|link| link.kind == LinkKind::Cites).collect();
    html! {
        @if groups.is_empty() { p.quiet { (words.t("matrix.nothing_shared")) } }
        @else {
            ul.shared {
                @for (letter, link) in groups {
                    li data-link=(link.kind) data-value=(link.value) {
                        p { b { (letter) } " " (reason(words, link)) }
                        ul { @for key in &link.works { li { (named(key)) } } }
                    }
                }
            }
        }
        @if !citations.is_empty() {
            details #citations {
                summary { (words.count("matrix.citations_one", "matrix.citations_other", citations.len() as u64)) }
                ul.shared {
                    @for link in citations.iter().take(CITATIONS) {
                        @if let [citing, cited] = link.works.as_slice() {
                            li.small data-link="cites" {
                                (named(citing)) " " b { (words.t("matrix.cites")) } " " (named(cited))
                            }
                        }
                    }
                }
                @if citations.len() > CITATIONS {
                    @let more = words.number((citations.len() - CITATIONS) as u64);
                    p.quiet.small { (words.with("matrix.more_citations", &[("n", &more)])) }
                }
            }
        }
        p.quiet.small { (words.t("matrix.connected_note")) }
    }
}

/// What the works share, as it is stored.
fn reason(words: Words, link: &Link) -> String {
    let key = match link.kind {
        LinkKind::Registration => "matrix.registration",
        LinkKind::Identifier => "matrix.identifier",
        LinkKind::Title => "matrix.same_title",
        LinkKind::Authors => "matrix.same_authors",
        LinkKind::Cites => "matrix.cites",
    };
    words.with(key, &[("value", &link.value)])
}

#[cfg(test)]
mod tests {
    use super::letter;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 51, 52, 701, 702].map(letter), ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}

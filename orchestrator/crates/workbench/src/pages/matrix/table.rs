//! The matrix as a table of links, and as a file.

use super::works::{Groups, letters};
use crate::parts::file;
use crate::words::Words;
use lyra_domain::{ClaimReport, Evidence, Matrix, MatrixWork, Relation};
use maud::{Markup, html};

/// Claims as rows, works as columns. `skipped` works stand before the first.
pub(super) fn of(words: Words, matrix: &Matrix<'_>, groups: &Groups<'_>, skipped: usize) -> Markup {
    html! {
        div.table.matrix tabindex="0" role="group" aria-label=(words.t("matrix.title")) {
            table data-grid {
                caption { (words.t("matrix.caption")) }
                thead {
                    tr {
                        th scope="col" { (words.t("matrix.claim")) }
                        th.number scope="col" { (words.t("common.confidence")) }
                        @for (at, work) in matrix.works.iter().enumerate() {
                            (column(words, skipped + at + 1, work, &letters(groups, work.key())))
                        }
                    }
                }
                tbody { @for (report, cells) in &matrix.rows { (row(words, report, cells)) } }
            }
        }
    }
}

/// The head of a work's column: its title, year, number, and the letters of what it shares with others.
fn column(words: Words, number: usize, work: &MatrixWork<'_>, letters: &str) -> Markup {
    let passage = work.passage;
    let title = title(words, passage);
    html! {
        th scope="col" data-work=(work.key()) {
            div.head {
                a href=(format!("/pages/{}", passage.page_id)) title=(title) { bdi { (title) } }
                span.quiet {
                    @match passage.year { Some(year) => (year), None => (words.t("common.no_year")) }
                    @if passage.is_retracted == Some(true) { " · " (words.t("common.retracted")) }
                }
            }
            span.index { (number) @if !letters.is_empty() { " " b { (letters) } } }
        }
    }
}

fn row(words: Words, report: &ClaimReport, cells: &[Option<&Evidence>]) -> Markup {
    let claim = &report.claim;
    html! {
        tr data-row=(claim.id) {
            th scope="row" { a href=(format!("/claims/{}", claim.id)) { (claim.claim_text) } }
            td.number { (format!("{:.2}", report.posterior.confidence())) }
            @for cell in cells {
                td { @if let Some(passage) = cell { (self::cell(words, report, passage)) } }
            }
        }
    }
}

/// What a work says, as a link to the passage on the claim's page.
fn cell(words: Words, report: &ClaimReport, passage: &Evidence) -> Markup {
    let (class, text) = side(words, passage.relation);
    let weight = format!("{:.2}", passage.nli_confidence.get());
    html! {
        a class=(format!("side {class}")) href=(format!("/claims/{}#{}", report.claim.id, passage.edge_id))
            data-edge=(passage.edge_id) {
            span.hidden { (text) " " }
            svg viewBox="0 0 10 10" width="12" height="12" aria-hidden="true" {
                @match passage.relation {
                    Relation::Supports => path class="support" d="M5 1 9.5 9h-9z" {},
                    Relation::Refutes => path class="refute" d="M5 9 .5 1h9z" {},
                    _ => circle class="neutral" cx="5" cy="5" r="3.5" {},
                }
            }
            (weight)
        }
    }
}

fn side(words: Words, relation: Relation) -> (&'static str, &'static str) {
    match relation {
        Relation::Supports => ("supports", words.t("common.supports")),
        Relation::Refutes => ("refutes", words.t("common.refutes")),
        _ => ("neutral", words.t("common.neutral")),
    }
}

pub(super) fn title(words: Words, passage: &Evidence) -> &str {
    if passage.title.is_empty() { words.t("common.untitled") } else { &passage.title }
}

/// A row per claim, a column per work: the relation and its probability.
pub(super) fn file(words: Words, matrix: &Matrix<'_>) -> String {
    let heads: Vec<String> = matrix.works.iter().map(|work| head(words, work)).collect();
    let first = ["claim_id", "claim", "confidence"].into_iter().chain(heads.iter().map(String::as_str));
    let rows: Vec<Vec<String>> = matrix.rows.iter().map(|(report, cells)| line(report, cells)).collect();
    let rows = rows.iter().map(|row| row.iter().map(String::as_str).collect());
    file::csv(std::iter::once(first.collect()).chain(rows))
}

fn head(words: Words, work: &MatrixWork<'_>) -> String {
    let year = work.passage.year.map(|year| format!(" ({year})")).unwrap_or_default();
    format!("{}{year} [{}]", title(words, work.passage), work.key())
}

fn line(report: &ClaimReport, cells: &[Option<&Evidence>]) -> Vec<String> {
    let said = |cell: Option<&Evidence>| {
        cell.map(|passage| format!("{} {:.3}", passage.relation, passage.nli_confidence.get()))
            .unwrap_or_default()
    };
    let claim = &report.claim;
    let confidence = format!("{:.3}", report.posterior.confidence());
    let first = [claim.id.to_string(), claim.claim_text.clone(), confidence];
    first.into_iter().chain(cells.iter().copied().map(said)).collect()
}

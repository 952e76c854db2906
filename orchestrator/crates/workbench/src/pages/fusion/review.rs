//! The review of a blend: documents to read, a person's judgment of each, and those that were stored.

use crate::visit::Visit;
use crate::words::Words;
use lyra_usecases::fusion::DocumentsRequest;
use lyra_usecases::{App, AppError};
use lyra_wire::fusion::{ProvenanceView, RepresentativeView, SampleView};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// How many documents a review can have: those that are proposed, then the first of the list.
const SIZES: [usize; 3] = [10, 20, 30];
/// Characters of an abstract.
const ABSTRACT: usize = 400;

/// A document to judge.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    rank: usize,
    doc_id: String,
    title: String,
    abst: String,
    /// Documents that it stands for; `None` for one that stands for itself.
    stands_for: Option<u64>,
}

/// The size that an address asks for.
pub(super) fn size(asked: &str) -> Option<usize> {
    asked.parse().ok().filter(|size| SIZES.contains(size))
}

/// The documents of a review, by rank: the sample, and the first others of the list until there are `size`.
///
/// # Errors
/// A corpus that cannot be read.
pub(super) async fn candidates(
    app: &App,
    view: &ProvenanceView,
    size: usize,
) -> Result<Vec<Candidate>, AppError> {
    let sample = view.sample.clone().unwrap_or_default();
    let stands_for = |one: &SampleView| one.stands_for.map(|n| n.round() as u64).filter(|n| *n > 1);
    let mut chosen: BTreeMap<usize, (String, Option<u64>)> =
        sample.iter().take(size).map(|one| (one.rank, (one.doc_id.clone(), stands_for(one)))).collect();
    let is_judged = |id: &str| view.representatives.iter().any(|judged| judged.doc_id == id);
    for document in view.documents.iter().filter(|document| !is_judged(&document.doc_id)) {
        if chosen.len() >= size {
            break;
        }
        chosen.entry(document.rank).or_insert_with(|| (document.doc_id.clone(), None));
    }
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let request = DocumentsRequest {
        ids: chosen.values().map(|(id, _)| id.clone()).collect(),
        corpus: Some(view.corpus.clone()),
        fields: vec!["title".to_owned(), "abst".to_owned()],
        per_field_chars: [("abst".to_owned(), ABSTRACT)].into(),
        ..DocumentsRequest::default()
    };
    let read = app.fusion().snippets(request).await?;
    let mut fields: BTreeMap<String, BTreeMap<String, String>> =
        read.documents.into_iter().map(|document| (document.id, document.fields)).collect();
    let candidate = |(rank, (doc_id, stands_for)): (usize, (String, Option<u64>))| {
        let mut fields = fields.remove(&doc_id).unwrap_or_default();
        Candidate {
            rank,
            title: fields.remove("title").unwrap_or_default(),
            abst: fields.remove("abst").unwrap_or_default(),
            doc_id,
            stands_for,
        }
    };
    Ok(chosen.into_iter().map(candidate).collect())
}

pub(super) fn section(visit: &Visit, view: &ProvenanceView, candidates: Option<&[Candidate]>) -> Markup {
    let words = visit.words;
    html! {
        section.stack #review aria-labelledby="review-title" {
            h2 #review-title { (words.t("fusion.review")) }
            p.measure { (words.t("fusion.review_note")) }
            @if visit.may_write {
                p.row.middle {
                    @for size in SIZES {
                        a.button href={ (super::address(&view.run_id)) "?review=" (size) "#review" } {
                            (words.with("fusion.review_of", &[("n", &size.to_string())]))
                        }
                    }
                }
                @if let Some(candidates) = candidates { (form(words, view, candidates)) }
            } @else { p.small.quiet { (words.t("fusion.review_read_only")) } }
            @if !view.representatives.is_empty() { (stored(words, view)) }
        }
    }
}

fn form(words: Words, view: &ProvenanceView, candidates: &[Candidate]) -> Markup {
    html! {
        form.stack method="post" data-review={ "/api/v1/fusion/blends/" (super::escaped(&view.run_id)) "/representatives" }
            data-none=(words.t("fusion.review_none"))
            data-then={ (super::address(&view.run_id)) "#review" } {
            ol.claims {
                @for candidate in candidates {
                    li.card.stack.tight data-item data-judged=(candidate.doc_id) id={ "judge-" (candidate.rank) } {
                        h3 {
                            span.quiet { (candidate.rank) ". " }
                            a data-opens href=(super::document_address(&view.corpus, &candidate.doc_id)) {
                                @if candidate.title.is_empty() { (candidate.doc_id) } @else { (candidate.title) }
                            }
                        }
                        @if let Some(n) = candidate.stands_for {
                            p.small.quiet { (words.count("fusion.stands_for_one", "fusion.stands_for_other", n)) }
                        }
                        @if !candidate.abst.is_empty() { p.small.measure { bdi { (candidate.abst) } } }
                        fieldset.row.middle {
                            legend.hidden { (words.t("fusion.label")) }
                            @for (label, text) in [("A", "fusion.label_a"), ("B", "fusion.label_b"), ("C", "fusion.label_c")] {
                                label.check {
                                    input type="radio" name={ "label-" (candidate.rank) } value=(label);
                                    " " b { (label) } " " (words.t(text))
                                }
                            }
                            label.field.grows {
                                (words.t("fusion.reason"))
                                input name={ "reason-" (candidate.rank) } maxlength="2000";
                            }
                        }
                    }
                }
            }
            label.check { input type="checkbox" name="sure" required; " " (words.t("fusion.review_sure")) }
            p { button.button.main { (words.t("fusion.review_store")) } }
            noscript { p.note { (words.t("fusion.review_needs_script")) } }
        }
    }
}

/// What a person judged.
fn stored(words: Words, view: &ProvenanceView) -> Markup {
    let row = |judged: &RepresentativeView| {
        html! {
            tr {
                th scope="row" { a href=(super::document_address(&view.corpus, &judged.doc_id)) { (judged.doc_id) } }
                td { b { (judged.label) } " " (label(words, &judged.label)) }
                td.number { @if let Some(rank) = judged.rank { (rank) } @else { "–" } }
                td { (judged.reason.as_deref().unwrap_or_default()) }
            }
        }
    };
    html! {
        div.table tabindex="0" role="group" aria-label=(words.t("fusion.review_stored")) {
            table {
                caption { (words.t("fusion.review_stored")) }
                thead {
                    tr {
                        th scope="col" { (words.t("fusion.document")) }
                        th scope="col" { (words.t("fusion.label")) }
                        th.number scope="col" { (words.t("fusion.rank_here")) }
                        th scope="col" { (words.t("fusion.reason")) }
                    }
                }
                tbody { @for judged in &view.representatives { (row(judged)) } }
            }
        }
    }
}

fn label(words: Words, label: &str) -> &'static str {
    match label {
        "A" => words.t("fusion.label_a"),
        "B" => words.t("fusion.label_b"),
        _ => words.t("fusion.label_c"),
    }
}

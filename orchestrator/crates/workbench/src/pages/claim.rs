//! Claim: its numbers and where they come from, the evidence on both sides, and corrections.
//!
//! `?without=EDGE` leaves passages out of the numbers; nothing is stored.

mod history;
mod numbers;

use crate::failure::{Failed, Failure, id};
use crate::parts::claim::states;
use crate::parts::passage::{self, SIDES, State as Shown};
use crate::parts::place;
use crate::shell::Page;
use crate::visit::Visit;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use lyra_domain::{AdoptionStatus, ClaimId, ClaimReport, Relation};
use lyra_usecases::App;
use maud::{Markup, html};
use serde_json::json;
use std::collections::HashSet;

pub(super) async fn show(
    State(app): State<App>,
    Path(claim): Path<String>,
    RawQuery(query): RawQuery,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let claim: ClaimId = id(&claim, &visit)?;
    let left_out = left_out(query.as_deref().unwrap_or_default());
    let report = app.claim_report(&claim).await.shown_to(&visit)?;
    let task = app.task(&report.claim.task_id).await.shown_to(&visit)?;
    let events = app.claim_timeline(&claim).await.shown_to(&visit)?;
    let fragments = report.evidence.iter().map(|evidence| evidence.fragment_id.clone()).collect::<Vec<_>>();
    let contexts = app.passage_texts(&fragments).await.shown_to(&visit)?;
    let corrected = history::corrected(&events);
    let counted = counted(&report, &left_out);
    let claim_text = &report.claim.claim_text;
    let list = |relation: Relation| {
        html! {
            ul.claims {
                @for evidence in report.evidence.iter().filter(|evidence| evidence.relation == relation) {
                    @let edge = evidence.edge_id.as_str();
                    (passage::item(&visit, evidence, &Shown {
                        context: contexts.get(&evidence.fragment_id).map(String::as_str),
                        corrected: corrected.contains(edge),
                        left_out: left_out.contains(edge),
                    }))
                }
            }
        }
    };
    // What a person has just moved there stays in view.
    let a_person_says_neutral = report.evidence.iter().any(|evidence| {
        evidence.relation == Relation::Neutral && corrected.contains(evidence.edge_id.as_str())
    });
    let content = html! {
        div.stack.wide data-events-of=(task.id) {
            header.stack.tight {
                p.crumbs { a href="/" { (words.t("common.ask")) } " / " a href=(format!("/tasks/{}", task.id)) { (task.query) } }
                h1 { (claim_text) }
                div.row.middle #states data-live {
                    (states(words, &report))
                    @if visit.may_write { (adoption(&visit, &report)) }
                }
                @if let Some(origin) = &report.origin {
                    details {
                        summary.small { (words.t("claim.origin")) }
                        div.stack.tight {
                            p.small { (passage::marked(&origin.text, claim_text)) }
                            (place::line(words, &origin.citation))
                        }
                    }
                }
            }
            div #numbers data-live { (numbers::section(&visit, &report, &counted, left_out.len())) }
            form.stack.wide data-narrows #evidence data-live {
                h2 { (words.t("claim.evidence")) }
                @if report.evidence.is_empty() { p.quiet { (words.t("claim.no_evidence")) } }
                div.columns.half {
                    @for (relation, _, text) in &SIDES[..2] {
                        section.stack.tight { h3 { (words.t(text)) } (list(*relation)) }
                    }
                }
                @if report.neutral_count > 0 {
                    details #neutral open[a_person_says_neutral] {
                        summary { (words.count("common.neutral_one", "common.neutral_other", report.neutral_count as u64)) }
                        (list(Relation::Neutral))
                    }
                }
                @if report.not_judged_count > 0 {
                    p.quiet.small { (words.count("claim.not_judged_one", "claim.not_judged_other", report.not_judged_count as u64)) }
                }
                noscript { button.button { (words.t("claim.show_without")) } }
            }
            section.stack #history data-live {
                h2 { (words.t("claim.history")) }
                (history::list(words, &events))
            }
        }
    };
    Ok(Page { title: claim_text, here: "/", content }.answer(&visit))
}

/// The judgments that the address leaves out.
fn left_out(query: &str) -> HashSet<String> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(name, id)| *name == "without" && !id.is_empty()).map(|(_, id)| id.to_owned()).collect()
}

/// The report without these judgments.
fn counted(report: &ClaimReport, left_out: &HashSet<String>) -> ClaimReport {
    let kept = report.evidence.iter().filter(|evidence| !left_out.contains(evidence.edge_id.as_str()));
    ClaimReport::new(report.claim.clone(), kept.cloned().collect(), report.origin.clone())
        .with_not_judged(report.not_judged_count)
}

/// Takes the claim out of its task, or back in.
fn adoption(visit: &Visit, report: &ClaimReport) -> Markup {
    let words = visit.words;
    let path = format!("/api/v1/claims/{}", report.claim.id);
    let (reject, restore) = (format!("POST {path}/reject"), format!("POST {path}/restore"));
    html! {
        @if report.claim.adoption_status == AdoptionStatus::NotAdopted {
            button.quiet type="button" data-api=(restore) data-body="{}" data-said=(words.t("claim.restored_said")) {
                (words.t("claim.restore"))
            }
        } @else {
            form.row data-api=(reject) data-undo=(restore) data-undo-body=(json!({})) data-said=(words.t("claim.rejected_said")) {
                details #reject {
                    summary.small { (words.t("claim.reject")) }
                    div.row {
                        label.field { (words.t("claim.reason")) input name="reason" required maxlength="1000"; }
                        button.button { (words.t("claim.reject")) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::left_out;

    #[test]
    fn an_address_names_what_is_left_out() {
        assert_eq!(left_out("without=edge_1&x=2&without=edge_2&without=").len(), 2);
        assert!(left_out("").is_empty());
    }
}

//! Claims that a person selected: rejected together, or saved as a file.

use crate::failure::{Failed, Failure, id};
use crate::parts::file::{CSV, attachment};
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use lyra_domain::{ClaimId, ClaimReport, TaskId};
use lyra_usecases::{App, AppError, ErrorCode, MAX_SELECTED};
use lyra_wire::Claim;
use maud::{Markup, html};

/// The form that the check boxes of the cards belong to.
pub(super) const FORM: &str = "selection";

/// What can be done with the selected claims. Saving them works without JavaScript.
pub(super) fn bar(visit: &Visit, task: &TaskId) -> Markup {
    let words = visit.words;
    let path = format!("/api/v1/tasks/{task}/claims");
    let file = |ending: &str| format!("/tasks/{task}/selection/{ending}");
    html! {
        form id=(FORM) class="card selection" method="get" action=(file("csv")) aria-label=(words.t("task.selection"))
            data-api=[visit.may_write.then(|| format!("POST {path}/reject"))]
            data-undo=[visit.may_write.then(|| format!("POST {path}/restore"))] data-undo-fields="claims"
            data-said=(words.t("task.rejected_said")) {
            div.row.middle {
                p role="status" data-selected data-one=(words.t("task.selected_one")) data-other=(words.t("task.selected_other")) {}
                button.quiet type="button" data-select="all" { (words.t("task.select_all")) }
                button.quiet type="button" data-select="none" { (words.t("task.select_none")) }
            }
            div.row.middle {
                // First, so that Enter in its field rejects.
                @if visit.may_write { (rejection(words)) }
                button.button formaction=(file("csv")) formnovalidate { (words.t("task.save_csv")) }
                button.button formaction=(file("json")) formnovalidate { (words.t("task.save_json")) }
            }
        }
    }
}

fn rejection(words: Words) -> Markup {
    html! {
        details #reject-selected {
            summary.small { (words.t("task.reject_selected")) }
            div.row {
                label.field { (words.t("claim.reason")) input name="reason" required maxlength="1000"; }
                button.button { (words.t("claim.reject")) }
            }
        }
    }
}

/// The selected claims of a task, `?claims=ID` each, as CSV or as JSON with their passages.
pub(in crate::pages) async fn file(
    State(app): State<App>,
    Path((task, ending)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    visit: Visit,
) -> Result<Response, Failure> {
    let task: TaskId = id(&task, &visit)?;
    let chosen = chosen(query.as_deref().unwrap_or_default()).shown_to(&visit)?;
    let mut reports = Vec::with_capacity(chosen.len());
    for claim in &chosen {
        let report = app.claim_report(claim).await.shown_to(&visit)?;
        if report.claim.task_id != task {
            let other = format!("claim {claim} belongs to {}, not to {task}", report.claim.task_id);
            return Err(AppError::new(ErrorCode::NotFound, other)).shown_to(&visit);
        }
        reports.push(report);
    }
    let name = format!("lyra-{task}-claims.{ending}");
    match &*ending {
        "csv" => Ok(attachment(&name, CSV, csv(&reports))),
        "json" => {
            let claims: Vec<Claim> = reports.iter().map(Claim::from).collect();
            let failed = |error: serde_json::Error| AppError::new(ErrorCode::Internal, error.to_string());
            let text = serde_json::to_string(&claims).map_err(failed).shown_to(&visit)?;
            Ok(attachment(&name, "application/json", text))
        }
        _ => {
            let none = format!("selected claims have no file `{ending}`");
            Err(AppError::new(ErrorCode::NotFound, none)).shown_to(&visit)
        }
    }
}

/// The claims that an address names, each once, in its order.
fn chosen(query: &str) -> Result<Vec<ClaimId>, AppError> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let mut claims: Vec<ClaimId> = Vec::new();
    for (_, text) in pairs.filter(|(name, text)| *name == "claims" && !text.is_empty()) {
        let claim = text
            .parse()
            .map_err(|error| AppError::invalid(format!("`claims`: {error}"), "select claims of the task"))?;
        if !claims.contains(&claim) {
            claims.push(claim);
        }
    }
    if claims.is_empty() || claims.len() > MAX_SELECTED {
        return Err(AppError::invalid(
            format!("{} claims are selected", claims.len()),
            format!("select 1 to {MAX_SELECTED} claims of the task"),
        ));
    }
    Ok(claims)
}

/// One claim per row.
fn csv(reports: &[ClaimReport]) -> String {
    let head = [
        "claim_id",
        "claim",
        "confidence",
        "uncertainty",
        "controversy",
        "supporting_passages",
        "refuting_passages",
        "neutral_passages",
        "supporting_works",
        "refuting_works",
        "dois",
    ];
    let rows: Vec<Vec<String>> = reports.iter().map(row).collect();
    let rows = rows.iter().map(|row| row.iter().map(String::as_str).collect());
    crate::parts::file::csv(std::iter::once(head.to_vec()).chain(rows))
}

fn row(report: &ClaimReport) -> Vec<String> {
    let (posterior, works) = (&report.posterior, report.works());
    let number = |n: f64| format!("{n:.3}");
    let mut dois: Vec<&str> = report.evidence.iter().filter_map(|evidence| evidence.doi.as_deref()).collect();
    dois.sort_unstable();
    dois.dedup();
    vec![
        report.claim.id.to_string(),
        report.claim.claim_text.clone(),
        number(posterior.confidence()),
        number(posterior.uncertainty()),
        number(posterior.controversy()),
        report.supporting_count.to_string(),
        report.refuting_count.to_string(),
        report.neutral_count.to_string(),
        works.supporting.to_string(),
        works.refuting.to_string(),
        dois.join(" "),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_each_claim_once() {
        let ids =
            |query: &str| chosen(query).map(|ids| ids.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(
            ids("claims=claim_2&x=1&claims=claim_1&claims=claim_2&reason=").expect("claims"),
            ["claim_2", "claim_1"]
        );
        assert_eq!(chosen("reason=x").expect_err("none").message, "0 claims are selected");
        assert!(chosen("claims=%3Cb%3E").is_err());
        let many: Vec<String> = (0..=MAX_SELECTED).map(|n| format!("claims=claim_{n}")).collect();
        assert!(chosen(&many.join("&")).is_err());
    }
}

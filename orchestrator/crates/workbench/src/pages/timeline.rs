//! Timeline: evidence by year and side, what was retracted, and how the confidence of a claim moved.

use crate::failure::{Failed, Failure, id};
use crate::parts::place::is_web;
use crate::parts::{figures, moment, tabs};
use crate::shell::Page;
use crate::visit::Visit;
use crate::words::Words;
use axum::extract::{Path, Query, State};
use axum::response::Response;
use lyra_domain::{Claim, ClaimId, TaskId};
use lyra_store::{ClaimFilter, ClaimSort, EvidenceYear, RetractedWork};
use lyra_usecases::{App, TaskTimeline};
use maud::{Markup, html};
use serde::Deserialize;

/// Claims that the form lists beside that of the question.
const CLAIMS: u32 = 50;
/// Characters of a claim in the form.
const SHOWN: usize = 110;
/// The value of `claim` that stands for all claims.
const ALL: &str = "all";

/// What the address asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    /// A claim, or all of them. Without it: the claim of the question, if there is one.
    claim: Option<String>,
}

pub(super) async fn show(
    State(app): State<App>,
    Path(task): Path<String>,
    Query(wanted): Query<Wanted>,
    visit: Visit,
) -> Result<Response, Failure> {
    let words = visit.words;
    let task: TaskId = id(&task, &visit)?;
    let shown = app.task(&task).await.shown_to(&visit)?;
    let asked = app.question_claim(&task).await.shown_to(&visit)?.map(|report| report.claim);
    let all = ClaimFilter::default();
    let listed = app.claim_page(&task, &all, ClaimSort::Contested, CLAIMS, None).await.shown_to(&visit)?;
    let claim: Option<ClaimId> = match wanted.claim.as_deref().map(str::trim) {
        None => asked.as_ref().map(|claim| claim.id.clone()),
        Some(ALL | "") => None,
        Some(claim) => Some(id(claim, &visit)?),
    };
    let timeline = app.task_timeline(&task, claim.as_ref()).await.shown_to(&visit)?;
    let mut claims: Vec<Claim> = asked.into_iter().collect();
    let others = listed.claims.into_iter().map(|report| report.claim);
    claims.extend(others.filter(|claim| !claim.is_of_question()));
    if let Some(chosen) = &claim
        && !claims.iter().any(|claim| claim.id == *chosen)
    {
        claims.insert(0, app.claim_report(chosen).await.shown_to(&visit)?.claim);
    }
    let content = html! {
        div.stack.wide data-events-of=(task) {
            (tabs::head(words, &task, &shown.query, "timeline.title", None))
            (form(words, &claims, claim.as_ref()))
            section.stack #years data-live aria-labelledby="years-title" {
                h2 #years-title { (words.t("timeline.years")) }
                (years(words, &timeline))
            }
            section.stack #retracted data-live aria-labelledby="retracted-title" {
                h2 #retracted-title { (words.t("timeline.retracted")) }
                (retracted(words, &timeline.retracted))
            }
            section.stack #moved data-live aria-labelledby="moved-title" {
                h2 #moved-title { (words.t("timeline.moved")) }
                (moved(words, &timeline))
            }
        }
    };
    let title = format!("{} · {}", words.t("timeline.title"), shown.query);
    Ok(Page { title: &title, here: "/", content }.answer(&visit))
}

/// The choice of a claim.
fn form(words: Words, claims: &[Claim], chosen: Option<&ClaimId>) -> Markup {
    html! {
        form.row.grow method="get" data-narrows aria-label=(words.t("timeline.choose")) {
            label.field {
                (words.t("timeline.claim"))
                select name="claim" {
                    option value=(ALL) selected[chosen.is_none()] { (words.t("timeline.all")) }
                    @for claim in claims {
                        option value=(claim.id) selected[chosen == Some(&claim.id)] {
                            @if claim.is_of_question() { (words.t("claim.of_question")) ": " }
                            (shortened(&claim.claim_text))
                        }
                    }
                }
            }
            noscript { button.button { (words.t("timeline.show")) } }
        }
    }
}

fn shortened(text: &str) -> String {
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(SHOWN).collect();
    if chars.next().is_some() { start + "…" } else { start }
}

/// Works by year, with those of unknown year in words.
fn years(words: Words, timeline: &TaskTimeline) -> Markup {
    let address = |from: Option<i64>, to: i64| {
        let from = from.map(|year| format!("year_from={year}&")).unwrap_or_default();
        format!("/tasks/{}?{from}year_to={to}", timeline.task)
    };
    let undated = timeline.years.iter().find(|year| year.year.is_none());
    html! {
        @if timeline.years.is_empty() { p.quiet { (words.t("timeline.no_evidence")) } }
        @else {
            @if timeline.years.iter().any(|year| year.year.is_some()) {
                (figures::years(words, "by-year", &timeline.years, &address))
            }
            @if let Some(undated) = undated { p.small { (unknown_year(words, undated)) } }
            p.quiet.small {
                @if timeline.claim.is_some() { (words.t("timeline.once")) } @else { (words.t("timeline.once_per_claim")) }
                " " (words.t("timeline.year_leads"))
            }
        }
    }
}

fn unknown_year(words: Words, undated: &EvidenceYear) -> String {
    words.with(
        "timeline.undated",
        &[
            ("supporting", &words.number(undated.supporting)),
            ("refuting", &words.number(undated.refuting)),
            ("neutral", &words.number(undated.neutral)),
        ],
    )
}

/// Retracted works as a table.
fn retracted(words: Words, works: &[RetractedWork]) -> Markup {
    html! {
        @if works.is_empty() { p.quiet { (words.t("timeline.none_retracted")) } }
        @else {
            div.table tabindex="0" role="group" aria-labelledby="retracted-title" {
                table {
                    thead {
                        tr {
                            th scope="col" { (words.t("figures.source")) }
                            th scope="col" { (words.t("figures.year")) }
                            th.number scope="col" { (words.t("common.supports")) }
                            th.number scope="col" { (words.t("common.refutes")) }
                            th.number scope="col" { (words.t("common.neutral")) }
                            th scope="col" { (words.t("timeline.noted")) }
                        }
                    }
                    tbody { @for work in works { (retracted_row(words, work)) } }
                }
            }
        }
        p.quiet.small { (words.t("timeline.retracted_note")) }
    }
}

fn retracted_row(words: Words, work: &RetractedWork) -> Markup {
    let title = if work.title.is_empty() { words.t("common.untitled") } else { &work.title };
    let doi = work.doi.as_ref().map(|doi| (doi, format!("https://doi.org/{doi}")));
    html! {
        tr data-work=(work.work) {
            th scope="row" {
                a href=(format!("/pages/{}", work.page)) { bdi { (title) } }
                " " span.pill.bad { (words.t("common.retracted")) }
                @if let Some((doi, address)) = doi.filter(|(_, address)| is_web(address)) {
                    " " a.small href=(address) rel="noreferrer noopener external" { (doi) }
                }
            }
            td { @match work.year { Some(year) => (year), None => (words.t("common.no_year")) } }
            td.number { (words.number(work.supporting)) }
            td.number { (words.number(work.refuting)) }
            td.number { (words.number(work.neutral)) }
            td { @if let Some(at) = &work.noted_at { (moment::time(at)) } }
        }
    }
}

/// How the confidence of the chosen claim moved.
fn moved(words: Words, timeline: &TaskTimeline) -> Markup {
    html! {
        @match &timeline.claim {
            None => p.quiet { (words.t("timeline.choose_one")) },
            Some(claim) => {
                @if timeline.moments.is_empty() { p.quiet { (words.t("timeline.not_moved")) } }
                @else { (figures::moved(words, "confidence", &timeline.moments)) }
                p.quiet.small {
                    (words.t("timeline.moved_note")) " "
                    a href=(format!("/claims/{claim}")) { (words.t("task.see_evidence")) }
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SHOWN, shortened};

    #[test]
    fn long_claims_are_shortened_between_characters() {
        assert_eq!(shortened("短い"), "短い");
        let long = shortened(&"眠".repeat(SHOWN + 1));
        assert_eq!((long.chars().count(), long.ends_with('…')), (SHOWN + 1, true));
    }
}

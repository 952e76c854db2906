//! Jobs that wait, run, or failed.

use crate::parts::moment;
use crate::words::Words;
use lyra_domain::JobState;
use lyra_store::JobInfo;
use maud::{Markup, html};

pub(super) fn list(words: Words, jobs: &[JobInfo]) -> Markup {
    html! {
        section.stack aria-labelledby="jobs-title" {
            h2 #jobs-title { (words.t("operations.jobs")) }
            div #jobs data-live {
                @if jobs.is_empty() { p.quiet { (words.t("operations.no_jobs")) } } @else { (table(words, jobs)) }
            }
        }
    }
}

fn table(words: Words, jobs: &[JobInfo]) -> Markup {
    html! {
        div.table tabindex="0" role="group" aria-labelledby="jobs-title" {
            table {
                caption { (words.t("operations.jobs_note")) }
                thead {
                    tr {
                        th scope="col" { (words.t("operations.task")) }
                        th scope="col" { (words.t("operations.kind")) }
                        th scope="col" { (words.t("operations.state")) }
                        th.number scope="col" { (words.t("operations.attempts")) }
                        th scope="col" { (words.t("operations.queued")) }
                        th scope="col" { (words.t("operations.error")) }
                    }
                }
                tbody {
                    @for job in jobs {
                        tr {
                            th scope="row" { a href=(format!("/tasks/{}", job.task)) { (job.query) } }
                            td { (kind(words, &job.kind)) }
                            td { (state(words, job.state)) }
                            td.number { (job.attempts) }
                            td { (moment::time(&job.queued_at)) }
                            td { @if let Some(error) = &job.error { bdi { (error) } } }
                        }
                    }
                }
            }
        }
    }
}

/// What a job does; a kind that has no text is shown as it is stored.
fn kind(words: Words, kind: &str) -> &str {
    match kind {
        "search" => words.t("operations.job_search"),
        "resume" => words.t("operations.job_resume"),
        "judge" => words.t("operations.job_judge"),
        other => other,
    }
}

fn state(words: Words, state: JobState) -> Markup {
    let (text, class) = match state {
        JobState::Queued => (words.t("operations.queued"), "pill"),
        JobState::Running => (words.t("operations.running"), "pill busy"),
        JobState::Failed => (words.t("operations.failed"), "pill bad"),
        other => (other.as_str(), "pill"),
    };
    html! { span class=(class) { (text) } }
}

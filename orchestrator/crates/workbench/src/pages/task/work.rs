//! How far a task is, and what a person can do about it.

use crate::words::Words;
use lyra_domain::{JobState, QueryStatus, Task, TaskId, TaskStatus};
use lyra_store::TaskProgress;
use lyra_usecases::idle;
use maud::{Markup, html};
use serde_json::json;

/// Counts that grow while the task works.
pub(crate) fn progress(words: Words, progress: &TaskProgress) -> Markup {
    let open = |status: QueryStatus| matches!(status, QueryStatus::Queued | QueryStatus::Running);
    let ended = progress.queries.iter().filter(|query| !open(query.status)).count() as u64;
    let of = |done: u64, all: u64| format!("{} / {}", words.number(done), words.number(all));
    let running = progress.jobs_in(JobState::Queued) + progress.jobs_in(JobState::Running);
    html! {
        p.facts {
            span { (words.t("task.searches")) " " b { (of(ended, progress.queries.len() as u64)) } }
            span { (words.t("task.pages")) " " b { (of(progress.pages, u64::from(progress.task.config.budget.max_pages))) } }
            span { (words.t("task.passages")) " " b { (words.number(progress.fragments)) } }
            span { (words.t("task.judged")) " " b { (of(progress.claims_judged, progress.claims)) } }
            @if running > 0 { span { (words.count("task.jobs_one", "task.jobs_other", running)) } }
        }
        @if let Some(error) = &progress.task.error { p.note { (error) } }
        @if let Some(reason) = &progress.stop_reason { p.quiet.small { (words.with("task.stopped", &[("reason", reason)])) } }
    }
}

/// Stop while it works; resume when it ended early.
pub(crate) fn controls(words: Words, progress: &TaskProgress) -> Markup {
    let path = format!("/api/v1/tasks/{}", progress.task.id);
    let stop = json!({ "reason": words.t("task.stop_reason"), "mode": "immediate" });
    let cancelled = progress.queries.iter().any(|query| query.status == QueryStatus::Cancelled);
    let (works, done) = (!idle(progress), progress.task.status == TaskStatus::Completed && !cancelled);
    html! {
        @if works {
            button.button type="button" data-api=(format!("POST {path}/stop")) data-body=(stop)
                data-said=(words.t("task.stop_said")) { (words.t("task.stop")) }
        }
        @if !works && !done {
            button.button type="button" data-api=(format!("POST {path}/resume")) data-body="{}"
                data-said=(words.t("task.resumed")) { (words.t("task.resume")) }
        }
    }
}

/// Its searches, and what went wrong.
pub(crate) fn details(words: Words, progress: &TaskProgress) -> Markup {
    html! {
        div.stack {
            @if !progress.warnings.is_empty() {
                section.stack.tight {
                    h2 { (words.t("task.notes")) }
                    @for warning in &progress.warnings { p.note.small { (warning) } }
                }
            }
            @if progress.pending_auth > 0 {
                p.note.small { (words.count("task.waiting_one", "task.waiting_other", progress.pending_auth)) }
            }
            section.stack.tight {
                h2 { (words.t("task.searches")) }
                ul.stack.tight {
                    @for query in &progress.queries {
                        li.small {
                            (query.query_text) " "
                            span.quiet {
                                (words.with("task.search_found", &[
                                    ("results", &words.number(u64::from(query.result_count))),
                                    ("passages", &words.number(u64::from(query.useful_fragments))),
                                ]))
                            }
                            @for error in &query.source_errors { p.quiet { (error) } }
                        }
                    }
                }
            }
            @if !progress.quarantined.is_empty() {
                p.quiet.small {
                    @let n: u64 = progress.quarantined.iter().map(|(_, n)| n).sum();
                    (words.count("task.quarantined_one", "task.quarantined_other", n))
                }
            }
        }
    }
}

/// More searches, and another limit of pages.
pub(crate) fn add_search(words: Words, task: &TaskId) -> Markup {
    html! {
        details #add-search {
            summary { (words.t("task.add_search")) }
            form.stack data-api=(format!("POST /api/v1/tasks/{task}/searches")) data-said=(words.t("task.search_added")) {
                label.field { (words.t("task.queries")) textarea name="queries" data-as="lines" rows="3" required {} }
                label.field {
                    (words.t("task.new_budget"))
                    input type="number" name="budget_pages" data-as="number" min="1" max="500";
                }
                button.button { (words.t("task.add")) }
            }
        }
    }
}

/// Other limits, without another search.
pub(crate) fn budget(words: Words, task: &Task) -> Markup {
    let budget = task.config.budget;
    html! {
        details #budget {
            summary { (words.t("task.budget")) }
            form.stack data-api=(format!("POST /api/v1/tasks/{}/budget", task.id)) data-said=(words.t("task.budget_said")) {
                div.row {
                    label.field {
                        (words.t("task.budget_pages"))
                        input type="number" name="budget_pages" data-as="number" min="1" max="500" value=(budget.max_pages) required;
                    }
                    label.field {
                        (words.t("task.budget_seconds"))
                        input type="number" name="budget_seconds" data-as="number" min="1" value=(budget.max_seconds) required;
                    }
                }
                p.small.quiet { (words.t("task.budget_note")) }
                button.button { (words.t("task.budget_change")) }
            }
        }
    }
}

/// Deletes the task, after a question.
pub(crate) fn removal(words: Words, task: &Task) -> Markup {
    html! {
        section.stack.tight aria-labelledby="delete-title" {
            h2 #delete-title { (words.t("task.delete_title")) }
            p.small.quiet { (words.t("task.delete_note")) }
            p {
                button.button type="button" data-api=(format!("DELETE /api/v1/tasks/{}", task.id))
                    data-ask=(words.with("task.delete_ask", &[("question", &task.query)])) data-then="/" {
                    (words.t("task.delete"))
                }
            }
        }
    }
}

//! Pages and search engines that require human verification, each with its next step.

use crate::visit::Visit;
use crate::words::Words;
use lyra_domain::{AuthItem, AuthStatus, Priority};
use maud::{Markup, html};

pub(super) fn list(visit: &Visit, queue: &[AuthItem]) -> Markup {
    let words = visit.words;
    html! {
        @if queue.is_empty() {
            p.quiet { (words.t("sources.nothing_waits")) }
        } @else {
            p { (words.t("sources.waiting_note")) }
            ul.claims { @for item in queue { (card(visit, item)) } }
        }
    }
}

fn card(visit: &Visit, item: &AuthItem) -> Markup {
    let words = visit.words;
    let id = &item.id;
    html! {
        li #(id) class="card claim" data-item {
            div.between {
                h3 { (item.domain) }
                span {
                    span.pill { (wanted(words, &item.auth_type)) }
                    @if item.priority == Priority::High { " " span.pill.bad { (words.t("sources.urgent")) } }
                    @if item.status == AuthStatus::InProgress { " " span.pill.busy { (words.t("sources.in_progress")) } }
                }
            }
            p.small.quiet { (item.url) }
            p { (words.t("sources.next_step")) " " code { "lyra auth open " (id) } }
            p.facts {
                span { a data-opens href=(format!("/tasks/{}", item.task_id)) { (words.t("sources.its_task")) } }
                span { (words.t("sources.since")) " " time datetime=(item.created_at) { (day(&item.created_at)) } }
                @if let Some(end) = &item.expires_at { span { (words.t("sources.until")) " " time datetime=(end) { (day(end)) } } }
            }
            @if visit.may_write {
                div.actions {
                    button.quiet type="button" id=(format!("skip-{id}")) data-api=(format!("POST /api/v1/auth-queue/{id}/skip"))
                        data-ask=(words.with("sources.skip_ask", &[("domain", &item.domain)])) data-said=(words.t("sources.skipped")) {
                        (words.t("sources.skip")) span.hidden { " " (item.domain) }
                    }
                }
            }
        }
    }
}

/// What the page asks a person for.
fn wanted<'a>(words: Words, kind: &'a str) -> &'a str {
    match kind {
        "captcha" | "turnstile" | "cloudflare" => words.t("sources.captcha"),
        "consent" => words.t("sources.consent"),
        "login" => words.t("sources.login"),
        other => other,
    }
}

/// The day of an RFC 3339 time.
pub(super) fn day(at: &str) -> &str {
    at.get(..10).unwrap_or(at)
}

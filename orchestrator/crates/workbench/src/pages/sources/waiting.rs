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
            p.measure { (words.t("sources.waiting_note")) }
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
fn wanted(words: Words, kind: &str) -> &str {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visit::Theme;
    use crate::words::Language;

    const UUID: &str = "019a0000-0000-7000-8000-000000000001";

    #[test]
    fn a_waiting_page_says_its_next_step_as_text() {
        let item = AuthItem {
            id: format!("auth_{UUID}").parse().expect("an id"),
            task_id: format!("task_{UUID}").parse().expect("an id"),
            job_id: None,
            url: "https://a.example/?q=<b>".to_owned(),
            domain: "a.example".to_owned(),
            auth_type: "turnstile".to_owned(),
            priority: Priority::High,
            status: AuthStatus::InProgress,
            created_at: "2026-11-20T08:00:00Z".to_owned(),
            expires_at: None,
        };
        let visit = |may_write| Visit {
            words: Words(Language::English),
            theme: Theme::Automatic,
            address: "/sources".to_owned(),
            may_write,
            token: None,
            takes_gzip: false,
            event: String::new(),
        };
        let shown = list(&visit(true), std::slice::from_ref(&item)).into_string();
        for part in [
            &*format!("lyra auth open auth_{UUID}"),
            "?q=&lt;b&gt;",
            "CAPTCHA",
            "High priority",
            &*format!("POST /api/v1/auth-queue/auth_{UUID}/skip"),
        ] {
            assert!(shown.contains(part), "{part} is not in {shown}");
        }
        assert!(!list(&visit(false), &[item]).into_string().contains("data-api"));
    }
}

//! The documents that were decided: narrowed by verdict, reason, and words.

use super::card::verdict;
use super::reason_text;
use crate::parts::{moment, place};
use crate::words::Words;
use lyra_domain::{TaskId, Verdict};
use lyra_store::{DecidedFilter, DecidedPage};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

/// What the address asks for; an empty field asks for nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(in crate::pages) struct Wanted {
    /// The document to judge, instead of the next one.
    pub(super) page: String,
    /// Documents to skip, for readers without JavaScript.
    pub(super) skip: String,
    verdict: String,
    reason: String,
    text: String,
    pub(super) cursor: Option<String>,
}

impl Wanted {
    /// What names no verdict narrows nothing.
    pub(super) fn filter(&self) -> DecidedFilter {
        let text = |text: &String| {
            Some(text.trim().chars().take(200).collect::<String>()).filter(|text| !text.is_empty())
        };
        DecidedFilter {
            verdict: self.verdict.parse().ok(),
            reason: text(&self.reason),
            text: text(&self.text),
        }
    }

    fn with_cursor(&self, task: &TaskId, cursor: &str) -> String {
        let fields = [
            ("verdict", self.verdict.as_str()),
            ("reason", &self.reason),
            ("text", &self.text),
            ("cursor", cursor),
        ];
        let query: Vec<String> = fields
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)))
            .collect();
        format!("/tasks/{task}/screening?{}#decided-title", query.join("&"))
    }
}

/// The form, whose fields narrow the list as they change.
pub(super) fn form(words: Words, wanted: &Wanted, reasons: &[String]) -> Markup {
    html! {
        form.row.grow method="get" data-narrows aria-label=(words.t("screening.filter")) {
            label.field {
                (words.t("screening.verdict"))
                select name="verdict" {
                    option value="" { (words.t("screening.any")) }
                    @for (verdict, text) in [
                        (Verdict::Include, "screening.included"), (Verdict::Exclude, "screening.excluded"),
                        (Verdict::Undecided, "screening.undecided"),
                    ] {
                        option value=(verdict.as_str()) selected[wanted.verdict == verdict.as_str()] { (words.t(text)) }
                    }
                }
            }
            label.field {
                (words.t("screening.reason"))
                select name="reason" {
                    option value="" { (words.t("screening.any")) }
                    @for reason in reasons {
                        option value=(reason) selected[wanted.reason == *reason] { (reason_text(words, reason)) }
                    }
                }
            }
            label.field {
                (words.t("screening.find"))
                input type="search" name="text" value=(wanted.text) maxlength="200";
            }
            noscript { button.button { (words.t("task.apply")) } }
        }
    }
}

/// The list, the latest decision first.
pub(super) fn list(words: Words, task: &TaskId, wanted: &Wanted, page: &DecidedPage) -> Markup {
    html! {
        p.small.quiet { (words.count("screening.decided_one", "screening.decided_other", page.total)) }
        @if !page.decided.is_empty() {
            ul.decided data-list {
                @for screened in &page.decided {
                    @let decision = &screened.decision;
                    @let id = &screened.page.id;
                    li id=(format!("decided-{id}")) {
                        div.between {
                            span {
                                (verdict(words, decision.verdict))
                                @if let Some(reason) = &decision.reason { " " span.small { (reason_text(words, reason)) } }
                            }
                            span.small.quiet { (decision.decided_by) " · " (moment::time(&decision.decided_at)) }
                        }
                        (place::line(words, &screened.page.citation))
                        p.small { a href=(format!("/tasks/{task}/screening?page={id}")) { (words.t("screening.again")) } }
                    }
                }
            }
        }
        @if let Some(cursor) = &page.next_cursor {
            p { a.button data-more href=(wanted.with_cursor(task, cursor)) { (words.t("common.more")) } }
        }
    }
}

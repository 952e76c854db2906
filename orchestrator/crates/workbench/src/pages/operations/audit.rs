//! The audit log: who changed what, when, and how it ended.

use crate::parts::moment;
use crate::words::Words;
use lyra_store::{AuditEntry, AuditFilter, AuditOutcome, Token};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// Which entries the address asks for; an empty field asks for nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Wanted {
    actor: String,
    task: String,
    /// Place in the log before which the list begins.
    before: String,
}

impl Wanted {
    pub(super) fn filter(&self) -> AuditFilter {
        let text = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        AuditFilter {
            actor: text(&self.actor),
            task: text(&self.task),
            before: self.before.trim().parse().ok(),
        }
    }

    /// The entries before a place in the log.
    fn before(&self, seq: i64) -> String {
        let encoded = |text: &str| utf8_percent_encode(text.trim(), NON_ALPHANUMERIC).to_string();
        format!("/operations?actor={}&task={}&before={seq}#audit", encoded(&self.actor), encoded(&self.task))
    }
}

/// At most `most` of the entries, and a link to those before them.
pub(super) fn log(
    words: Words,
    wanted: &Wanted,
    entries: &[AuditEntry],
    most: usize,
    tokens: &[Token],
) -> Markup {
    let shown = &entries[..entries.len().min(most)];
    html! {
        section.stack aria-labelledby="audit" {
            h2 #audit { (words.t("operations.audit")) }
            (form(words, wanted, entries, tokens))
            div #entries data-live {
                @if shown.is_empty() { p.quiet { (words.t("operations.no_entries")) } } @else { (table(words, shown)) }
                @if let Some(last) = shown.last().filter(|_| entries.len() > shown.len()) {
                    p { a.button href=(wanted.before(last.seq)) { (words.t("operations.older")) } }
                }
            }
        }
    }
}

/// Narrows the log; known callers are suggested.
fn form(words: Words, wanted: &Wanted, entries: &[AuditEntry], tokens: &[Token]) -> Markup {
    let callers: BTreeSet<String> = entries
        .iter()
        .map(|entry| entry.actor.clone())
        .chain(tokens.iter().map(|token| format!("token:{}", token.name)))
        .collect();
    html! {
        form.row method="get" action="/operations#audit" data-narrows aria-label=(words.t("operations.filter")) {
            label.field {
                (words.t("operations.caller"))
                input type="search" name="actor" value=(wanted.actor) list="callers" maxlength="200";
            }
            datalist #callers { @for caller in &callers { option value=(caller) {} } }
            label.field {
                (words.t("operations.task_id"))
                input type="search" name="task" value=(wanted.task) maxlength="200";
            }
            noscript { button.button { (words.t("operations.apply")) } }
        }
    }
}

fn table(words: Words, entries: &[AuditEntry]) -> Markup {
    html! {
        div.table.rows tabindex="0" role="group" aria-labelledby="audit" {
            table {
                caption { (words.t("operations.audit_note")) }
                thead {
                    tr {
                        th scope="col" { (words.t("operations.when")) }
                        th scope="col" { (words.t("operations.caller")) }
                        th scope="col" { (words.t("operations.way")) }
                        th scope="col" { (words.t("operations.action")) }
                        th scope="col" { (words.t("operations.outcome")) }
                        th scope="col" { (words.t("operations.details")) }
                    }
                }
                tbody {
                    @for entry in entries {
                        tr {
                            td { (moment::time(&entry.at)) }
                            td { bdi { (entry.actor) } }
                            td { (entry.via) }
                            td { bdi.code { (entry.action) } }
                            td { (outcome(words, entry.outcome)) }
                            td { (details(words, entry)) }
                        }
                    }
                }
            }
        }
    }
}

fn outcome(words: Words, outcome: AuditOutcome) -> Markup {
    let (text, class) = match outcome {
        AuditOutcome::Ok => ("operations.outcome_ok", "pill"),
        AuditOutcome::Error => ("operations.outcome_error", "pill bad"),
        AuditOutcome::Refused => ("operations.outcome_refused", "pill bad"),
        AuditOutcome::Cancelled => ("operations.outcome_cancelled", "pill"),
    };
    html! { span class=(class) { (words.t(text)) } }
}

/// Task, outcome in words, and arguments. Arguments are whatever a caller sent.
fn details(words: Words, entry: &AuditEntry) -> Markup {
    let empty =
        entry.arguments.as_object().is_some_and(serde_json::Map::is_empty) || entry.arguments == Value::Null;
    html! {
        @if let Some(task) = &entry.task_id { p { (words.t("operations.task")) " " bdi.code { (task) } } }
        @if let Some(detail) = &entry.detail { p { bdi { (detail) } } }
        @if !empty {
            details id=(format!("arguments-{}", entry.seq)) {
                summary { (words.t("operations.arguments")) }
                p { bdi.code { (entry.arguments) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;
    use lyra_store::AuditVia;
    use serde_json::json;

    fn entry(seq: i64) -> AuditEntry {
        AuditEntry {
            seq,
            at: "2026-11-20T00:00:00.000Z".to_owned(),
            actor: "token:<b>".to_owned(),
            via: AuditVia::Http,
            action: "</td><script>".to_owned(),
            arguments: json!({ "query": "<img src=x onerror=alert(1)>" }),
            task_id: Some("task_\"1".to_owned()),
            cause_id: "cause".to_owned(),
            outcome: AuditOutcome::Refused,
            detail: Some("<i>".to_owned()),
        }
    }

    #[test]
    fn what_callers_sent_is_text() {
        let words = Words(Language::English);
        let html = log(words, &Wanted::default(), &[entry(2)], 1, &[]).into_string();
        for markup in ["<script", "<img", "<b>", "<i>"] {
            assert!(!html.contains(markup), "{markup}: {html}");
        }
        assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"), "{html}");
        assert!(!html.contains("before="), "there is nothing before it");
    }

    #[test]
    fn the_entries_before_keep_the_filter() {
        let wanted = Wanted { actor: " token:a&b ".to_owned(), before: "x".to_owned(), ..Wanted::default() };
        assert_eq!(wanted.filter().actor.as_deref(), Some("token:a&b"));
        assert_eq!(wanted.filter().before, None);
        let html = log(Words(Language::English), &wanted, &[entry(9), entry(8)], 1, &[]).into_string();
        assert!(html.contains("/operations?actor=token%3Aa%26b&amp;task=&amp;before=9#audit"), "{html}");
        assert!(!html.contains("arguments-8"), "{html}");
    }
}

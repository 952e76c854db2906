//! Domains: decisions of people, and what Lyra blocked.

use super::waiting::day;
use crate::visit::Visit;
use crate::words::Words;
use lyra_domain::domains::{DomainOverride, OverrideDecision, deciding_override};
use lyra_store::{BlockedDomain, OverrideRule};
use maud::{Markup, html};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::json;

/// A new decision. One about the same pattern replaces the one before.
pub(super) fn form(words: Words) -> Markup {
    html! {
        form.row data-api="PUT /api/v1/domains/{pattern}" data-said=(words.t("sources.decided"))
            aria-label=(words.t("sources.new_decision")) {
            label.field {
                (words.t("sources.pattern"))
                input name="pattern" required maxlength="260" placeholder="example.org" spellcheck="false" autocapitalize="none"
                    aria-describedby="pattern-note";
            }
            label.field {
                (words.t("sources.decision"))
                select name="decision" {
                    @for decision in [OverrideDecision::Block, OverrideDecision::Unblock] {
                        option value=(decision.as_str()) { (verb(words, decision)) }
                    }
                }
            }
            label.field.grows { (words.t("sources.reason")) input name="reason" required maxlength="1000"; }
            button.button { (words.t("sources.decide")) }
        }
        p.small.quiet #pattern-note { (words.t("sources.pattern_note")) }
    }
}

/// Decisions that apply, the latest first.
pub(super) fn decisions(visit: &Visit, rules: &[OverrideRule]) -> Markup {
    let words = visit.words;
    html! {
        h3 { (words.t("sources.decisions")) }
        @if rules.is_empty() {
            p.quiet.small { (words.t("sources.no_decisions")) }
        } @else {
            div.table {
                table {
                    caption.hidden { (words.t("sources.decisions")) }
                    thead {
                        tr {
                            th scope="col" { (words.t("sources.domain")) }
                            th scope="col" { (words.t("sources.decision")) }
                            th scope="col" { (words.t("sources.reason")) }
                            th scope="col" { (words.t("sources.date")) }
                            @if visit.may_write { th scope="col" { span.hidden { (words.t("sources.change")) } } }
                        }
                    }
                    tbody { @for rule in rules.iter().rev() { (decided(visit, rule)) } }
                }
            }
        }
    }
}

fn decided(visit: &Visit, OverrideRule { id, reason, rule }: &OverrideRule) -> Markup {
    let words = visit.words;
    let pattern = rule.pattern.to_string();
    let path = api(&pattern);
    html! {
        tr id=(id) data-item {
            th scope="row" { (pattern) }
            td {
                span class=(if rule.decision == OverrideDecision::Block { "pill bad" } else { "pill" }) { (state(words, rule.decision)) }
            }
            td { (reason) }
            td { time datetime=(rule.updated_at) { (rule.updated_at.strftime("%Y-%m-%d")) } }
            @if visit.may_write {
                td {
                    button.quiet type="button" data-api=(format!("DELETE {path}")) data-undo=(format!("PUT {path}"))
                        data-undo-body=(json!({ "decision": rule.decision.as_str(), "reason": reason }))
                        data-said=(words.with("sources.withdrawn", &[("pattern", &pattern)])) {
                        (words.t("sources.withdraw")) span.hidden { " " (pattern) }
                    }
                }
            }
        }
    }
}

/// Domains that Lyra blocked, and what a person decided about them.
pub(super) fn blocked(visit: &Visit, blocked: &[BlockedDomain], rules: &[OverrideRule]) -> Markup {
    let words = visit.words;
    let overrides: Vec<DomainOverride> = rules.iter().map(|rule| rule.rule.clone()).collect();
    let decision = |domain: &str| deciding_override(domain, &overrides).map(|at| overrides[at].decision);
    html! {
        h3 { (words.t("sources.blocked")) }
        @if blocked.is_empty() {
            p.quiet.small { (words.t("sources.none_blocked")) }
        } @else {
            div.table {
                table {
                    caption { (words.t("sources.blocked_note")) }
                    thead {
                        tr {
                            th scope="col" { (words.t("sources.domain")) }
                            th scope="col" { (words.t("sources.why")) }
                            th scope="col" { (words.t("sources.date")) }
                            @if visit.may_write { th scope="col" { span.hidden { (words.t("sources.change")) } } }
                        }
                    }
                    tbody { @for domain in blocked { (one_blocked(visit, domain, decision(&domain.domain))) } }
                }
            }
        }
    }
}

fn one_blocked(visit: &Visit, blocked: &BlockedDomain, decision: Option<OverrideDecision>) -> Markup {
    let words = visit.words;
    let path = api(&blocked.domain);
    html! {
        tr id=(format!("blocked-{}", blocked.domain)) data-item {
            th scope="row" { (blocked.domain) }
            td {
                (why(words, &blocked.block_reason))
                @if let Some(reason) = &blocked.reason { " " span.quiet { (reason) } }
                @if decision == Some(OverrideDecision::Unblock) { " " span.pill { (words.t("sources.overridden")) } }
            }
            td { time datetime=(blocked.blocked_at) { (day(&blocked.blocked_at)) } }
            @if visit.may_write {
                td {
                    @if decision.is_none() {
                        button.quiet type="button" data-api=(format!("PUT {path}")) data-body=(json!({ "decision": "unblock" }))
                            data-ask=(words.with("sources.unblock_ask", &[("domain", &blocked.domain)])) data-reason="reason"
                            data-undo=(format!("DELETE {path}"))
                            data-said=(words.with("sources.unblocked_said", &[("domain", &blocked.domain)])) {
                            (words.t("sources.unblock")) span.hidden { " " (blocked.domain) }
                        }
                    }
                }
            }
        }
    }
}

fn api(pattern: &str) -> String {
    format!("/api/v1/domains/{}", utf8_percent_encode(pattern, NON_ALPHANUMERIC))
}

fn verb(words: Words, decision: OverrideDecision) -> &'static str {
    match decision {
        OverrideDecision::Block => words.t("sources.block"),
        OverrideDecision::Unblock => words.t("sources.unblock"),
    }
}

fn state(words: Words, decision: OverrideDecision) -> &'static str {
    match decision {
        OverrideDecision::Block => words.t("sources.is_blocked"),
        OverrideDecision::Unblock => words.t("sources.is_unblocked"),
    }
}

/// Why Lyra blocked a domain.
fn why(words: Words, reason: &str) -> &str {
    match reason {
        "dangerous_pattern" => words.t("sources.because_dangerous"),
        "high_rejection_rate" => words.t("sources.because_rejected"),
        "denylist" => words.t("sources.because_listed"),
        "manual" => words.t("sources.because_person"),
        "unknown" => words.t("sources.because_unknown"),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visit::Theme;
    use crate::words::Language;
    use lyra_domain::domains::DomainPattern;

    #[test]
    fn a_block_can_be_lifted_once() {
        let visit = Visit {
            words: Words(Language::English),
            theme: Theme::Automatic,
            address: "/sources".to_owned(),
            may_write: true,
            token: None,
            takes_gzip: false,
            event: String::new(),
        };
        let domain = BlockedDomain {
            domain: "hostile.example".to_owned(),
            blocked_at: "2026-11-20T08:00:00Z".to_owned(),
            block_reason: "dangerous_pattern".to_owned(),
            reason: Some("<script>".to_owned()),
            cause_id: None,
            original_category: "unverified".to_owned(),
        };
        let shown = blocked(&visit, std::slice::from_ref(&domain), &[]).into_string();
        assert!(shown.contains("&lt;script&gt;") && shown.contains("A page tried to instruct"), "{shown}");
        assert!(
            shown.contains("PUT /api/v1/domains/hostile%2Eexample") && shown.contains("data-reason"),
            "{shown}"
        );
        let rule = OverrideRule {
            id: "dor_1".to_owned(),
            reason: "checked".to_owned(),
            rule: DomainOverride {
                pattern: DomainPattern::parse("hostile.example").expect("a pattern"),
                decision: OverrideDecision::Unblock,
                updated_at: jiff::Timestamp::UNIX_EPOCH,
            },
        };
        let shown = blocked(&visit, &[domain], &[rule]).into_string();
        assert!(shown.contains("Unblocked by a decision") && !shown.contains("PUT /api"), "{shown}");
    }
}

//! What happened to a claim, the newest first.

use crate::words::Words;
use lyra_wire::ClaimEvent;
use maud::{Markup, html};
use std::collections::HashSet;

/// Judgments that a person set or confirmed, and did not take back.
pub(crate) fn corrected(events: &[ClaimEvent]) -> HashSet<&str> {
    let mut edges = HashSet::new();
    for event in events {
        let Some(edge) = event.detail["edge_id"].as_str() else { continue };
        match event.event.as_str() {
            "edge_corrected" | "edge_reviewed" => edges.insert(edge),
            "edge_restored" => edges.remove(edge),
            _ => continue,
        };
    }
    edges
}

pub(crate) fn list(words: Words, events: &[ClaimEvent]) -> Markup {
    html! {
        ul.history {
            @for event in events.iter().rev() {
                li {
                    time.quiet datetime=(event.at) { (event.at.get(..16).unwrap_or(&event.at)) }
                    span { (said(words, event)) }
                }
            }
        }
    }
}

/// The event in words, with a person's reason.
fn said(words: Words, event: &ClaimEvent) -> Markup {
    let detail = |key: &str| event.detail[key].as_str().unwrap_or_default();
    let relation = |key: &str| match detail(key) {
        "supports" => words.t("common.supports"),
        "refutes" => words.t("common.refutes"),
        _ => words.t("common.neutral"),
    };
    let text = match event.event.as_str() {
        "edge_corrected" => words.with(
            "claim.event_corrected",
            &[("before", relation("previous_relation")), ("after", relation("relation"))],
        ),
        "edge_reviewed" => words.with("claim.event_reviewed", &[("side", relation("relation"))]),
        "edge_restored" => words.with("claim.event_undone", &[("side", relation("relation"))]),
        "claim_created" => words.t("claim.event_created").to_owned(),
        "source_verification" => {
            let status = match detail("status") {
                "verified" => words.t("claim.status_verified"),
                "rejected" => words.t("claim.status_rejected"),
                _ => words.t("claim.status_pending"),
            };
            words.with("claim.event_verification", &[("status", status)])
        }
        "source_retracted" => words.t("claim.event_retracted").to_owned(),
        "claim_rejected" => words.t("claim.event_rejected").to_owned(),
        "claim_restored" => words.t("claim.event_restored").to_owned(),
        other => other.replace('_', " "),
    };
    html! {
        (text)
        @if let Some(reason) = event.detail["reason"].as_str() { " " span.quiet { "“" (reason) "”" } }
        @if let Some(edge) = event.detail["edge_id"].as_str() { " " a.small href=(format!("#{edge}")) { (words.t("claim.passage")) } }
    }
}

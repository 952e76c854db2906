//! Alarms with their evidence: what was measured, and the numbers and names behind it.

use crate::words::Words;
use lyra_wire::fusion::AlarmView;
use maud::{Markup, html};
use serde_json::Value;

/// Entries of a list that are shown.
const LISTED: usize = 12;

/// All alarms of a run; what they say is in English.
pub(super) fn list(words: Words, id: &str, alarms: &[AlarmView]) -> Markup {
    html! {
        ul.stack.tight.alarms {
            @for (at, alarm) in alarms.iter().enumerate() {
                li.note {
                    p { b { (title(words, &alarm.alarm)) } }
                    p.small lang="en" { (alarm.message) }
                    @if !alarm.evidence.is_empty() {
                        details id={ (id) "-alarm-" (at) } {
                            summary.small { (words.t("fusion.evidence")) }
                            dl.meta lang="en" {
                                @for (name, value) in &alarm.evidence { dt { (spaced(name)) } dd { (shown(value, 0)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn title(words: Words, alarm: &str) -> &str {
    match alarm {
        "wide_lane_narrow" => words.t("fusion.alarm_wide_lane_narrow"),
        "lane_dominates" => words.t("fusion.alarm_lane_dominates"),
        "profile_contaminated" => words.t("fusion.alarm_profile_contaminated"),
        "wide_query_demands" => words.t("fusion.alarm_wide_query_demands"),
        "lanes_disagree" => words.t("fusion.alarm_lanes_disagree"),
        "classes_scattered" => words.t("fusion.alarm_classes_scattered"),
        "off_profile" => words.t("fusion.alarm_off_profile"),
        "partly_imported" => words.t("fusion.alarm_partly_imported"),
        "partly_embedded" => words.t("fusion.alarm_partly_embedded"),
        "ambiguous_query" => words.t("fusion.alarm_ambiguous_query"),
        other => other,
    }
}

fn spaced(name: &str) -> String {
    name.replace('_', " ")
}

/// Any value: objects as lists of their fields, down to the third level.
fn shown(value: &Value, depth: usize) -> Markup {
    match value {
        Value::Null => html! { "–" },
        Value::Bool(yes) => html! { (yes) },
        Value::Number(number) => html! { (rounded(number)) },
        Value::String(text) => html! { bdi { (text) } },
        Value::Array(list) if list.iter().all(|entry| !entry.is_object() && !entry.is_array()) => html! {
            @for (at, entry) in list.iter().take(LISTED).enumerate() { @if at > 0 { ", " } (shown(entry, depth)) }
            @if list.len() > LISTED { " …" }
        },
        Value::Array(list) => html! {
            ul { @for entry in list.iter().take(LISTED) { li { (shown(entry, depth + 1)) } } }
            @if list.len() > LISTED { " …" }
        },
        Value::Object(fields) if depth < 3 => html! {
            @for (at, (name, value)) in fields.iter().take(LISTED).enumerate() {
                @if at > 0 { " · " }
                span.quiet { (spaced(name)) } " " (shown(value, depth + 1))
            }
        },
        Value::Object(_) => html! { "…" },
    }
}

/// Whole numbers as they are, others with three decimals.
fn rounded(number: &serde_json::Number) -> String {
    match number.as_f64() {
        Some(value) if number.is_f64() => format!("{value:.3}"),
        _ => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn evidence_of_any_shape_is_text() {
        let value =
            json!({"lane_pair": ["a", "<b>"], "jaccard": 0.123_456, "pairs": [{"x": 1, "y": {"z": [1, 2]}}]});
        let html = shown(&value, 0).into_string();
        for part in ["lane pair", "&lt;b&gt;", "0.123", "<li>"] {
            assert!(html.contains(part), "`{part}` is not in {html}");
        }
        let deep = (0..100).fold(json!(1), |inner, _| json!({ "a": inner }));
        assert!(shown(&deep, 0).into_string().len() < 1_000);
    }
}

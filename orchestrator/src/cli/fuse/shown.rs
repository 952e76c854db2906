//! Runs, fusions and documents as a person reads them.

use lyra_wire::fusion::{
    AlarmView, Documents, FrontierView, FusionView, LaneInfo, MetricsView, PeekView, ProvenanceView,
    RunHandle, RunInfo, SystemCodes,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

pub(super) fn lanes(lanes: &[LaneInfo]) -> String {
    let mut text = String::new();
    for lane in lanes {
        let how = match (lane.boosts, lane.feature_scope) {
            (Some([title, abst, claim, desc]), _) => {
                format!("title {title}, abst {abst}, claim {claim}, desc {desc}")
            }
            (None, scope) => format!("scope {}", scope.unwrap_or_default()),
        };
        let _ = writeln!(text, "{:<15} {:<15} {how}\n{:16}{}", lane.lane, lane.kind, "", lane.about);
    }
    text
}

pub(super) fn runs(runs: &[RunInfo]) -> String {
    if runs.is_empty() {
        return "no runs yet; to search a lane: lyra fuse search QUERY\n".to_owned();
    }
    let mut text = String::new();
    for run in runs {
        let lane = run.lane.as_deref().unwrap_or("-");
        let _ = writeln!(
            text,
            "{:<28} {:<12} {:>6} of {:<16} {}",
            run.run_id, lane, run.count_returned, run.corpus, run.created_at
        );
    }
    text
}

pub(super) fn handle(handle: &RunHandle) -> String {
    let mut text = format!(
        "{}\n  lane {}   corpus {}   {} documents{}   {} ms{}\n",
        handle.run_id,
        handle.lane.as_deref().unwrap_or("-"),
        handle.corpus,
        handle.meta.count_returned,
        if handle.meta.truncated { " (there are more)" } else { "" },
        handle.meta.took_ms,
        if handle.cached { "   (stored)" } else { "" },
    );
    codes(&mut text, handle.code_freqs.as_deref().unwrap_or_default());
    alarms(&mut text, &handle.alarms);
    text
}

pub(super) fn fused(view: &FusionView) -> String {
    let mut text = format!(
        "{}\n  {} documents{}\n  contributions  {}\n",
        view.run_id,
        view.meta.count_returned,
        if view.cached { "   (stored)" } else { "" },
        shares(&view.contributions)
    );
    if let Some(folded) = view.folded {
        let _ = writeln!(text, "  families       {folded} more documents are of a family that is listed");
    }
    measures(&mut text, &view.metrics, &view.frontier);
    alarms(&mut text, &view.alarms);
    text
}

pub(super) fn provenance(view: &ProvenanceView) -> String {
    let mut text = format!("{}   {}   corpus {}\n", view.run_id, view.kind, view.corpus);
    for parent in &view.parents {
        let _ = writeln!(
            text,
            "  lane {:<16} {}   {} documents, weight {}",
            parent.lane, parent.run_id, parent.count_returned, parent.weight
        );
    }
    if !view.changed_from.is_empty() {
        let _ = writeln!(text, "  changed from {}", view.changed_from.join(", "));
    }
    if !view.contributions.is_empty() {
        let _ = writeln!(text, "  contributions  {}", shares(&view.contributions));
    }
    if let Some(metrics) = &view.metrics {
        measures(&mut text, metrics, &view.frontier);
    }
    codes(&mut text, &view.code_distributions);
    if !view.proposed_profile.is_empty() {
        text.push_str("  proposed profile:\n");
        for code in &view.proposed_profile {
            let _ = writeln!(text, "    {}={}   ({} documents)", code.code, code.weight, code.count);
        }
    }
    alarms(&mut text, &view.alarms);
    for document in &view.documents {
        let of = if document.shares.is_empty() { String::new() } else { shares(&document.shares) };
        let _ = writeln!(text, "{:>4}. {:<28} {:.5}  {of}", document.rank, document.doc_id, document.score);
    }
    for judged in &view.representatives {
        let rank = judged.rank.map_or("no longer in it".to_owned(), |rank| format!("rank {rank}"));
        let _ = writeln!(text, "  judged {} {}   {rank}", judged.label, judged.doc_id);
    }
    for document in view.sample.iter().flatten() {
        let _ = writeln!(
            text,
            "  review {:<28} rank {:<5} in {}; stands for {}",
            document.doc_id,
            document.rank,
            document.lanes.join(", "),
            document.stands_for
        );
    }
    text
}

pub(super) fn peek(view: &PeekView) -> String {
    let mut text = String::new();
    for snippet in &view.snippets {
        let _ = writeln!(text, "{:>4}. {}", snippet.rank, snippet.doc_id);
        fields(&mut text, &snippet.fields);
    }
    if let Some(next) = view.next_offset {
        let _ = writeln!(text, "{} of {} documents; continue with --offset {next}", next, view.total_docs);
    }
    text
}

pub(super) fn documents(found: &Documents) -> String {
    let mut text = String::new();
    for document in &found.documents {
        let _ = writeln!(text, "{}", document.doc_id);
        fields(&mut text, &document.fields);
        for cut in &document.cut {
            let _ =
                writeln!(text, "      {}: {} of {} characters", cut.field, cut.shown_chars, cut.total_chars);
        }
    }
    for (ids, what) in [(&found.missing_ids, "not found"), (&found.omitted_ids, "too large for one answer")] {
        if !ids.is_empty() {
            let _ = writeln!(text, "{what}: {}", ids.join(", "));
        }
    }
    text
}

fn fields(text: &mut String, fields: &BTreeMap<String, String>) {
    for (name, value) in fields {
        let _ = writeln!(text, "      {name}: {}", value.replace('\n', " "));
    }
}

fn codes(text: &mut String, systems: &[SystemCodes]) {
    for system in systems {
        let list: Vec<String> =
            system.codes.iter().map(|code| format!("{} ({})", code.code, code.count)).collect();
        let _ = writeln!(text, "  {:<4} {}", system.system, list.join("  "));
    }
}

fn alarms(text: &mut String, alarms: &[AlarmView]) {
    for alarm in alarms {
        let _ = writeln!(text, "  ! {}: {}", alarm.alarm, alarm.message);
        for key in ["query_with_them_optional", "profile_without_them"] {
            match alarm.evidence.get(key) {
                None | Some(Value::Null) => {}
                Some(Value::String(better)) => {
                    let _ = writeln!(text, "      {key}: {better}");
                }
                Some(other) => {
                    let _ = writeln!(text, "      {key}: {other}");
                }
            }
        }
    }
}

fn measures(text: &mut String, metrics: &MetricsView, frontier: &[FrontierView]) {
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    let _ = writeln!(
        text,
        "  LAS {}   CCW {}   S_shape {:.3}   F_struct {}   Fproxy {}",
        number(metrics.las),
        number(metrics.ccw),
        metrics.s_shape,
        number(metrics.f_struct),
        number(metrics.f_proxy)
    );
    text.push_str("  depth      P*     R*    Fβ*   (proxies: there are no labels)\n");
    for point in frontier {
        let _ = writeln!(
            text,
            "  {:>5}   {:.3}  {:.3}  {:.3}",
            point.k, point.p_star, point.r_star, point.f_beta_star
        );
    }
}

fn shares(shares: &BTreeMap<String, f64>) -> String {
    let list: Vec<String> =
        shares.iter().map(|(name, share)| format!("{name} {:.0} %", share * 100.0)).collect();
    list.join("  ")
}

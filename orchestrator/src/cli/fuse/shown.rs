//! Runs, fusions and documents as a person reads them.

use crate::cli::report::counted;
use lyra_wire::fusion::{
    AlarmView, Comparison, DesignPointView, Documents, EstimateView, FrontierView, FusionView, IntervalView,
    LaneInfo, MetricsView, PeekView, ProvenanceView, RunHandle, RunInfo, SavedInfo, SavedRun, SystemCodes,
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

pub(super) fn saved(searches: &[SavedInfo]) -> String {
    if searches.is_empty() {
        return "no saved searches; to save one: lyra fuse save NAME RUN\n".to_owned();
    }
    let mut text = String::new();
    for saved in searches {
        let _ = writeln!(
            text,
            "{:<20} {:<12} {:>6} of {:<16} {}\n{:20} {}",
            saved.name, saved.lane, saved.seen, saved.corpus, saved.last_run_at, "", saved.query
        );
    }
    text
}

pub(super) fn news(runs: &[SavedRun]) -> String {
    if runs.is_empty() {
        return "no saved search ran; to save one: lyra fuse save NAME RUN\n".to_owned();
    }
    let mut text = String::new();
    for run in runs {
        let _ =
            writeln!(text, "{}: {} new of {}   {}", run.name, run.new_count, run.count_returned, run.run_id);
        for document in &run.new {
            let _ = writeln!(text, "{:>4}. {:<28} {}", document.rank, document.doc_id, document.title);
        }
        let more = run.new_count - run.new.len();
        if more > 0 {
            let _ = writeln!(text, "      and {more} more; lyra fuse peek {}", run.run_id);
        }
    }
    text
}

pub(super) fn handle(handle: &RunHandle) -> String {
    let mut text = format!(
        "{}\n  lane {}   corpus {}   {}{}   {} ms{}\n",
        handle.run_id,
        handle.lane.as_deref().unwrap_or("-"),
        handle.corpus,
        counted(handle.meta.count_returned as u64, "document"),
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
        "{}\n  {} by {}{}\n  contributions  {}\n",
        view.run_id,
        counted(view.meta.count_returned as u64, "document"),
        if view.method == "minmax" { "scores" } else { "ranks" },
        if view.cached { "   (stored)" } else { "" },
        shares(&view.contributions)
    );
    if let Some(folded) = view.folded {
        let _ = writeln!(text, "  families       {folded} more documents are of a family that is listed");
    }
    measures(&mut text, &view.metrics);
    estimates(&mut text, view.estimate.as_ref(), &view.frontier);
    design(&mut text, &view.design_frontier);
    alarms(&mut text, &view.alarms);
    text
}

pub(super) fn provenance(view: &ProvenanceView) -> String {
    let mut text = format!("{}   {}   corpus {}\n", view.run_id, view.kind, view.corpus);
    for parent in &view.parents {
        let _ = writeln!(
            text,
            "  lane {:<16} {}   {}, weight {}",
            parent.lane,
            parent.run_id,
            counted(parent.count_returned as u64, "document"),
            parent.weight
        );
    }
    if !view.changed_from.is_empty() {
        let _ = writeln!(text, "  changed from {}", view.changed_from.join(", "));
    }
    if !view.contributions.is_empty() {
        let _ = writeln!(text, "  contributions  {}", shares(&view.contributions));
    }
    if let Some(metrics) = &view.metrics {
        measures(&mut text, metrics);
        estimates(&mut text, view.estimate.as_ref(), &view.frontier);
        design(&mut text, &view.design_frontier);
    }
    codes(&mut text, &view.code_distributions);
    if !view.proposed_profile.is_empty() {
        text.push_str("  proposed profile:\n");
        for code in &view.proposed_profile {
            let documents = counted(code.count as u64, "document");
            let _ = writeln!(text, "    {}={}   ({documents})", code.code, code.weight);
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
        let stands_for = document.stands_for.map_or(String::new(), |n| format!("; stands for {n:.0}"));
        let _ = writeln!(
            text,
            "  judge {:<28} rank {:<5} in {}{stands_for}",
            document.doc_id,
            document.rank,
            document.lanes.join(", "),
        );
    }
    if view.is_enough == Some(true) {
        text.push_str("  the interval of recall is narrow enough: nothing more to judge\n");
    }
    text
}

/// Most documents of each list of a comparison.
const COMPARED: usize = 10;

pub(super) fn compared(view: &Comparison) -> String {
    let mut text = format!(
        "{} of the first {} documents are in both (overlap {:.2})\n",
        view.shared, view.depth, view.overlap
    );
    if let Some(paired) = &view.paired {
        for (name, pair) in [("precision", paired.precision), ("recall", paired.recall)] {
            let [this, other, difference] = [pair.this, pair.other, pair.difference]
                .map(|of| format!("{:.2} ({:.2} to {:.2})", of.mean, of.low, of.high));
            let _ = writeln!(text, "  {name:<10} {this}, other {other}, difference {difference}");
        }
        let _ = writeln!(text, "  by {} judged documents, with 90 % intervals", paired.judged);
    } else {
        text.push_str("  which is better is unknown: it takes 10 judged documents; lyra fuse judge\n");
    }
    for moved in view.moved.iter().filter(|moved| moved.gained != 0).take(COMPARED) {
        let _ = writeln!(
            text,
            "  {:>4} (other {:>4})  {:<28} {}",
            moved.rank, moved.other_rank, moved.doc_id, moved.title
        );
    }
    for (name, own) in [("only here", &view.only_this), ("only there", &view.only_other)] {
        if !own.is_empty() {
            let _ = writeln!(text, "  {name}: {}", own.len());
        }
        for document in own.iter().take(COMPARED) {
            let _ = writeln!(text, "  {:>4}  {:<28} {}", document.rank, document.doc_id, document.title);
        }
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

fn measures(text: &mut String, metrics: &MetricsView) {
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    let _ = writeln!(
        text,
        "  LAS {}   CCW {}   S_shape {:.3}   F_struct {}",
        number(metrics.las),
        number(metrics.ccw),
        metrics.s_shape,
        number(metrics.f_struct)
    );
}

fn estimates(text: &mut String, estimate: Option<&EstimateView>, frontier: &[FrontierView]) {
    let Some(estimate) = estimate else {
        text.push_str("  measured by an earlier version: blend again for estimates\n");
        return;
    };
    let IntervalView { mean, low, high } = estimate.relevant;
    let _ = writeln!(text, "  relevant documents: about {mean:.0} (90 % interval: {low:.0} to {high:.0})");
    let _ = writeln!(text, "  {}", estimate.says);
    text.push_str("  depth   precision          recall             Fβ     (expected, with 90 % intervals)\n");
    let interval =
        |IntervalView { mean, low, high }: IntervalView| format!("{mean:.2} ({low:.2} to {high:.2})");
    for point in frontier {
        let _ = writeln!(
            text,
            "  {:>5}   {:<18} {:<18} {}",
            point.k,
            interval(point.precision),
            interval(point.recall),
            interval(point.f_beta)
        );
    }
}

fn design(text: &mut String, points: &[DesignPointView]) {
    if points.is_empty() {
        return;
    }
    text.push_str("  depth      P*     R*    Fβ*   (proxies of the design: they predict no depth)\n");
    for point in points {
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

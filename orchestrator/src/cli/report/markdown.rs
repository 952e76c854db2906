//! The report as Markdown.

use super::{
    SHOWN_CLUSTERS, SHOWN_PER_SIDE, cited, corrected, counted, gaps, link, place, rejected, spread, years,
};
use lyra_domain::{Citation, ClaimReport, Evidence, Relation};
use lyra_text::terminal::escaped;
use lyra_usecases::answer::{Answer, Finding, Verdict};
use std::fmt::Write;

/// The answer, the findings, and what was not covered.
pub(super) fn answer(answer: &Answer, extent: &str) -> String {
    let task = &answer.progress.task;
    let mut out = format!("# {}\n\n", plain(&task.query));
    match &answer.verdict {
        Some(verdict) => verdict_of(&mut out, verdict),
        None => topic(&mut out, answer),
    }
    let _ = write!(out, "## Findings\n\n{}\n\n", plain(extent));
    for (i, finding) in answer.findings.iter().enumerate() {
        finding_of(&mut out, finding, i + 1);
    }
    let missing = gaps(answer);
    if !missing.is_empty() {
        out.push_str("## Not covered\n\n");
        items(&mut out, &missing);
    }
    if !answer.notes.is_empty() {
        out.push_str("## Notes\n\n");
        items(&mut out, &answer.notes);
    }
    let _ = writeln!(out, "Task `{}`", task.id);
    out
}

fn items(out: &mut String, lines: &[String]) {
    for line in lines {
        let _ = writeln!(out, "- {}", plain(line));
    }
    out.push('\n');
}

fn verdict_of(out: &mut String, verdict: &Verdict) {
    let p = &verdict.report.posterior;
    let _ = write!(
        out,
        "## Answer\n\n**{}**\n\nConfidence {:.3} ± {:.3}: {}\n\n",
        plain(&verdict.report.claim.claim_text),
        p.confidence(),
        p.uncertainty(),
        plain(&spread(verdict))
    );
    sides(out, &verdict.report);
}

fn topic(out: &mut String, answer: &Answer) {
    let clusters = &answer.clusters;
    let groups = counted(clusters.len() as u64, "group");
    let why = match &answer.rejected {
        Some(claim) => format!("The {}", plain(&rejected(claim))),
        None => "A topic, no claim to judge".to_owned(),
    };
    let _ = write!(out, "## Answer\n\n{why}; the findings form {groups}.\n\n");
    for cluster in clusters.iter().take(SHOWN_CLUSTERS) {
        let years = years(cluster.years).map(|years| format!(", {years}")).unwrap_or_default();
        let (findings, works) =
            (counted(cluster.findings as u64, "finding"), counted(cluster.works as u64, "work"));
        let _ = writeln!(out, "- {findings} from {works}{years}: {}", plain(&cluster.text));
    }
    out.push('\n');
}

fn finding_of(out: &mut String, finding: &Finding, number: usize) {
    let report = &finding.report;
    let p = &report.posterior;
    let _ = write!(out, "### {number}. {}\n\n", plain(&report.claim.claim_text));
    for origin in finding.origins().iter().take(SHOWN_PER_SIDE) {
        let _ = writeln!(out, "Found in {}  ", source(&origin.citation));
    }
    let _ = write!(
        out,
        "Confidence {:.3} ± {:.3}, controversy {:.3}; supports {}, refutes {}, neutral {}\n\n",
        p.confidence(),
        p.uncertainty(),
        p.controversy(),
        report.supporting_count,
        report.refuting_count,
        report.neutral_count
    );
    sides(out, report);
}

fn sides(out: &mut String, report: &ClaimReport) {
    for relation in [Relation::Supports, Relation::Refutes] {
        let all: Vec<&Evidence> = report.evidence.iter().filter(|e| e.relation == relation).collect();
        for evidence in all.iter().take(SHOWN_PER_SIDE) {
            let by_person =
                corrected(evidence).map(|text| format!(" ({})", plain(&text))).unwrap_or_default();
            let _ = writeln!(
                out,
                "- **{relation}** {:.3}{by_person}: “{}” {}",
                evidence.nli_confidence.get(),
                plain(evidence.text.trim()),
                source(&evidence.citation())
            );
        }
        if let Some(more) = all.len().checked_sub(SHOWN_PER_SIDE).filter(|more| *more > 0) {
            let _ = writeln!(out, "- … and {more} more: {relation}");
        }
    }
    if report.has_evidence() {
        out.push('\n');
    }
}

fn source(citation: &Citation) -> String {
    let text = plain(&cited(citation));
    match (link(citation), place(citation)) {
        (Some(link), Some(place)) => format!("{text} [{}](<{link}>)", plain(&place)),
        (_, Some(place)) => format!("{text} {}", plain(&place)),
        (_, None) => text,
    }
}

/// Text that Markdown shows as it is, on one line.
fn plain(text: &str) -> String {
    let shown = escaped(text);
    let words: Vec<&str> = shown.split_whitespace().collect();
    let mut out = String::with_capacity(shown.len());
    for c in words.join(" ").chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '~' | '&' | '!' | '$') {
            out.push('\\');
        }
        out.push(c);
    }
    // What would open a list or a rule at the beginning of a line.
    let listed = out.starts_with(['-', '+', '='])
        || out
            .split(['.', ')'])
            .next()
            .is_some_and(|n| !n.is_empty() && n.len() < out.len() && n.chars().all(|c| c.is_ascii_digit()));
    if listed { format!("\u{200b}{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_as_it_is() {
        assert_eq!(plain("<script> *a*\n[b](c)"), r"\<script\> \*a\* \[b\](c)");
        assert!(plain("- item").starts_with('\u{200b}') && plain("12. item").starts_with('\u{200b}'));
    }
}

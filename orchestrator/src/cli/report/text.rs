//! The report for the terminal.

use super::{
    SHOWN_CLUSTERS, SHOWN_PER_SIDE, cited, corrected, counted, gaps, place, rejected, spread, years,
};
use lyra_domain::{Citation, ClaimReport, Evidence, Relation};
use lyra_usecases::answer::{Answer, Finding, Verdict};
use std::fmt::Write;

/// Width of the text.
const WIDTH: usize = 100;

/// The answer, the findings, and what was not covered.
pub(super) fn answer(answer: &Answer, extent: &str) -> String {
    let task = &answer.progress.task;
    let asked = [task.config.corpora.clone(), task.config.sources.clone()].concat();
    let mut out = wrapped(&task.query, "", "");
    let _ = writeln!(out, "{}   sources: {}\n", task.id, asked.join(", "));
    match &answer.verdict {
        Some(verdict) => verdict_of(&mut out, verdict),
        None => topic(&mut out, answer),
    }
    let _ = writeln!(out, "FINDINGS   {extent}\n");
    for (i, finding) in answer.findings.iter().enumerate() {
        finding_of(&mut out, finding, i + 1);
    }
    let missing = gaps(answer);
    if !missing.is_empty() {
        out.push_str("NOT COVERED\n");
        for line in missing {
            out.push_str(&wrapped(&line, "   ", "   "));
        }
        out.push('\n');
    }
    for note in &answer.notes {
        out.push_str(&wrapped(note, "note: ", "      "));
    }
    out
}

fn verdict_of(out: &mut String, verdict: &Verdict) {
    out.push_str("ANSWER\n");
    out.push_str(&wrapped(&verdict.report.claim.claim_text, "   ", "   "));
    let posterior = &verdict.report.posterior;
    let numbers = format!(
        "confidence {:.3} ± {:.3}: {}",
        posterior.confidence(),
        posterior.uncertainty(),
        spread(verdict)
    );
    out.push_str(&wrapped(&numbers, "   ", "   "));
    if !verdict.report.has_evidence() {
        out.push_str("   no passage takes a side; a confidence of 0.5 means that nothing is known\n");
    }
    for relation in [Relation::Supports, Relation::Refutes] {
        side(out, &verdict.report, relation);
    }
    out.push('\n');
}

fn topic(out: &mut String, answer: &Answer) {
    let clusters = &answer.clusters;
    let groups = counted(clusters.len() as u64, "group");
    let why = match &answer.rejected {
        Some(claim) => format!("the {}", rejected(claim)),
        None => "a topic, no claim to judge".to_owned(),
    };
    let head = format!("{why}; the findings form {groups}");
    out.push_str(&wrapped(&head, "ANSWER   ", "   "));
    for cluster in clusters.iter().take(SHOWN_CLUSTERS) {
        let years = years(cluster.years).map(|years| format!(", {years}")).unwrap_or_default();
        let size = format!(
            "{} from {}{years}: {}",
            counted(cluster.findings as u64, "finding"),
            counted(cluster.works as u64, "work"),
            cluster.text
        );
        out.push_str(&wrapped(&size, "   • ", "     "));
    }
    if let Some(more) = clusters.len().checked_sub(SHOWN_CLUSTERS).filter(|more| *more > 0) {
        let _ = writeln!(out, "   … and {more} more");
    }
    out.push('\n');
}

fn finding_of(out: &mut String, finding: &Finding, number: usize) {
    let number = format!("{number}. ");
    let indent = " ".repeat(number.len());
    out.push_str(&wrapped(&finding.report.claim.claim_text, &number, &indent));
    let origins = finding.origins();
    for (i, origin) in origins.iter().take(SHOWN_PER_SIDE).enumerate() {
        let head = if i == 0 { "   found in  " } else { "   and in    " };
        out.push_str(&wrapped(&source(&origin.citation), head, "             "));
    }
    if let Some(more) = origins.len().checked_sub(SHOWN_PER_SIDE).filter(|more| *more > 0) {
        let _ = writeln!(out, "   … and in {more} more");
    }
    numbers(out, &finding.report);
    out.push('\n');
}

/// Claims one after the other, in the order given, each with its numbers and the passages on both sides.
pub(in crate::cli) fn claims(reports: &[ClaimReport]) -> String {
    let mut out = String::new();
    for (i, report) in reports.iter().enumerate() {
        let number = format!("{}. ", i + 1);
        out.push_str(&wrapped(&report.claim.claim_text, &number, &" ".repeat(number.len())));
        if let Some(origin) = &report.origin {
            out.push_str(&wrapped(&source(&origin.citation), "   found in  ", "             "));
        }
        numbers(&mut out, report);
        out.push('\n');
    }
    out
}

fn numbers(out: &mut String, report: &ClaimReport) {
    let p = &report.posterior;
    let not_judged = match report.not_judged_count {
        0 => String::new(),
        count => format!("   not judged {count}"),
    };
    let _ = writeln!(
        out,
        "   confidence {:.3} ± {:.3}   controversy {:.3}   supports {}   refutes {}   neutral {}{not_judged}   independent sources {}",
        p.confidence(),
        p.uncertainty(),
        p.controversy(),
        report.supporting_count,
        report.refuting_count,
        report.neutral_count,
        report.independent_sources,
    );
    for relation in [Relation::Supports, Relation::Refutes] {
        side(out, report, relation);
    }
}

fn side(out: &mut String, report: &ClaimReport, relation: Relation) {
    let all: Vec<&Evidence> = report.evidence.iter().filter(|e| e.relation == relation).collect();
    for evidence in all.iter().take(SHOWN_PER_SIDE) {
        let head = format!("   {:<8} {:.3}  ", relation.as_str(), evidence.nli_confidence.get());
        let indent = " ".repeat(head.chars().count());
        out.push_str(&wrapped(&format!("“{}”", evidence.text.trim()), &head, &indent));
        out.push_str(&wrapped(&source(&evidence.citation()), &indent, &indent));
        if let Some(corrected) = corrected(evidence) {
            out.push_str(&wrapped(&corrected, &indent, &indent));
        }
        for difference in &evidence.discrepancies.differs {
            out.push_str(&wrapped(&format!("differs: {difference}"), &indent, &indent));
        }
    }
    if let Some(more) = all.len().checked_sub(SHOWN_PER_SIDE).filter(|more| *more > 0) {
        let verb = if more == 1 { relation.as_str() } else { relation.as_str().trim_end_matches('s') };
        let _ = writeln!(out, "   … and {more} more that {verb}");
    }
}

/// A citation, and where to read it.
fn source(citation: &Citation) -> String {
    match place(citation) {
        Some(place) => format!("{} {place}", cited(citation)),
        None => cited(citation),
    }
}

/// Breaks a text at spaces so that no line is wider than it has to be. Text without spaces stays whole.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let mut out = String::from(first);
    let mut width = first.chars().count();
    let mut fresh = true;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if !fresh && width + 1 + length > WIDTH {
            out.push('\n');
            out.push_str(rest);
            width = rest.chars().count();
            fresh = true;
        }
        if !fresh {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
        fresh = false;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_broken_at_spaces_and_indented() {
        let text = wrapped(&"word ".repeat(40), "1. ", "   ");
        assert!(text.lines().count() == 3 && text.lines().skip(1).all(|line| line.starts_with("   word")));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
}

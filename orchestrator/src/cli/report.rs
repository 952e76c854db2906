//! The report for people.

use lyra_domain::{ClaimReport, Evidence, Relation};
use std::fmt::Write;

/// Neutral passages are counted, not printed; of the others this many of each kind are.
const SHOWN_PER_SIDE: usize = 5;
/// Width of the text.
const WIDTH: usize = 100;

/// Claims one after the other, in the order given, each with its numbers and the passages on both sides.
pub(super) fn claims(reports: &[ClaimReport]) -> String {
    let mut out = String::new();
    for (i, report) in reports.iter().enumerate() {
        let number = format!("{}. ", i + 1);
        out.push_str(&wrapped(&report.claim.claim_text, &number, &" ".repeat(number.len())));
        let p = &report.posterior;
        let _ = writeln!(
            out,
            "   confidence {:.3} ± {:.3}   controversy {:.3}   supports {}   refutes {}   neutral {}   independent sources {}",
            p.confidence(),
            p.uncertainty(),
            p.controversy(),
            report.supporting_count,
            report.refuting_count,
            report.neutral_count,
            report.independent_sources,
        );
        for relation in [Relation::Refutes, Relation::Supports] {
            side(&mut out, report, relation);
        }
        out.push('\n');
    }
    out
}

fn side(out: &mut String, report: &ClaimReport, relation: Relation) {
    let all: Vec<&Evidence> = report.evidence.iter().filter(|e| e.relation == relation).collect();
    for evidence in all.iter().take(SHOWN_PER_SIDE) {
        let head = format!("   {:<8} {:.3}  ", relation.as_str(), evidence.nli_confidence.get());
        let indent = " ".repeat(head.chars().count());
        out.push_str(&wrapped(&format!("“{}”", evidence.text.trim()), &head, &indent));
        out.push_str(&wrapped(&source(evidence), &indent, &indent));
    }
    if let Some(more) = all.len().checked_sub(SHOWN_PER_SIDE).filter(|more| *more > 0) {
        let _ = writeln!(
            out,
            "   … and {more} more that {}",
            if more == 1 { relation.as_str() } else { verb(relation) }
        );
    }
}

fn verb(relation: Relation) -> &'static str {
    if relation == Relation::Refutes { "refute" } else { "support" }
}

/// Title, year, venue, and where to read it.
fn source(evidence: &Evidence) -> String {
    let year = evidence.year.map_or_else(|| "no year".to_owned(), |year| year.to_string());
    let mut text = format!("{} ({year}", evidence.title);
    if let Some(venue) = &evidence.venue {
        let _ = write!(text, ", {venue}");
    }
    text.push(')');
    if evidence.is_retracted == Some(true) {
        text.push_str(" RETRACTED");
    }
    match (&evidence.doi, &evidence.url, &evidence.doc_id) {
        (Some(doi), ..) => write!(text, " doi:{doi}"),
        (None, Some(url), _) => write!(text, " {url}"),
        (None, None, Some(id)) => write!(text, " [{id}]"),
        (None, None, None) => Ok(()),
    }
    .map_or(String::new(), |()| text)
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

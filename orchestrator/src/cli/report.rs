//! Reports on a task and on claims, in the formats that a person may ask for.

mod markdown;
mod text;

pub(super) use text::claims;

use super::{print, print_document, print_json};
use clap::{Args, ValueEnum};
use lyra_domain::{Citation, Evidence, EvidenceYears};
use lyra_usecases::answer::RejectedClaim;
use lyra_usecases::{Answer, Unfinished, Verdict, shapes};
use lyra_workbench::report::{ReportOptions, report as page};
use std::fmt::Write;

/// Format and extent of a task's report.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Report format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print one JSON object: the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Maximum number of findings to print
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Omit findings that no passage supports or refutes
    #[arg(long)]
    only_evidence: bool,
}

impl ReportArgs {
    /// Whether the output is for programs.
    pub(super) fn is_json(&self) -> bool {
        self.json || self.format == Format::Json
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For the terminal
    Text,
    /// For notes and issues
    Markdown,
    /// One self-contained page
    Html,
    /// One object, for programs
    Json,
}

/// Prints a task's answer.
pub(super) fn show(answer: Answer, args: &ReportArgs, now: jiff::Timestamp) -> anyhow::Result<()> {
    if args.format == Format::Html && !args.json {
        let limits = ReportOptions { limit: args.limit, only_evidence: args.only_evidence, language: None };
        return print_page(answer, limits, now);
    }
    let totals = shapes::totals(&answer);
    let (mut extent, found) = (extent(&answer), answer.findings.len());
    let answer = answer.narrowed(args.limit, args.only_evidence);
    if answer.findings.len() < found {
        let _ = write!(extent, "; {} shown", answer.findings.len());
    }
    match if args.is_json() { Format::Json } else { args.format } {
        Format::Text => print(&text::answer(&answer, &extent)),
        Format::Markdown => print(&markdown::answer(&answer, &extent)),
        Format::Html | Format::Json => print_json(&shapes::report(&answer, totals)),
    }
}

/// Prints the answer as a page, in the language of its question.
pub(super) fn print_page(
    answer: Answer,
    mut options: ReportOptions,
    now: jiff::Timestamp,
) -> anyhow::Result<()> {
    let task = &answer.progress.task;
    let known = task.config.language.as_deref().or_else(|| lyra_text::language(&task.query));
    options.language = known.map(str::to_owned);
    print_document(&page(answer, &options, now))
}

/// Passages of each side that a report shows for one claim; the others are counted.
const SHOWN_PER_SIDE: usize = 5;
/// Groups of findings that are shown for a topic.
const SHOWN_CLUSTERS: usize = 6;
/// Authors that a citation names.
const SHOWN_AUTHORS: usize = 3;

/// Characters of a section's headings that a citation names.
const SHOWN_SECTION: usize = 80;

/// "Title, A. Author et al. (2014, Journal), Results, p. 7".
fn cited(citation: &Citation) -> String {
    let mut text = if citation.title.is_empty() { "untitled".to_owned() } else { citation.title.clone() };
    if !citation.authors.is_empty() {
        let named =
            citation.authors.iter().take(SHOWN_AUTHORS).map(String::as_str).collect::<Vec<_>>().join(", ");
        let others = if citation.authors.len() > SHOWN_AUTHORS { " et al." } else { "" };
        let _ = write!(text, ", {named}{others}");
    }
    let year = citation.year.map_or_else(|| "no year".to_owned(), |year| year.to_string());
    let venue = citation.venue.as_ref().map(|venue| format!(", {venue}")).unwrap_or_default();
    let _ = write!(text, " ({year}{venue})");
    if let Some(section) = &citation.section {
        let more = if section.chars().count() > SHOWN_SECTION { "…" } else { "" };
        let shown: String = section.chars().take(SHOWN_SECTION).collect();
        let _ = write!(text, ", {shown}{more}");
    }
    if citation.is_retracted == Some(true) {
        text.push_str(" RETRACTED");
    }
    text
}

/// Where to read it: "doi:10.1000/x", an address, or "[id]" in a local corpus.
fn place(citation: &Citation) -> Option<String> {
    match (&citation.doi, &citation.url, &citation.doc_id) {
        (Some(doi), ..) => Some(format!("doi:{doi}")),
        (None, Some(url), _) => Some(url.clone()),
        (None, None, Some(id)) => Some(format!("[{id}]")),
        (None, None, None) => None,
    }
}

/// A link that may be followed: by DOI, else a web address.
fn link(citation: &Citation) -> Option<String> {
    if let Some(doi) = &citation.doi {
        return url::Url::parse("https://doi.org/").ok()?.join(doi).ok().map(String::from);
    }
    let parsed = url::Url::parse(citation.url.as_deref()?).ok()?;
    matches!(parsed.scheme(), "http" | "https").then(|| parsed.into())
}

/// "5 works for, 8 against, 11 silent, 3 not judged; evidence from 2013 to 2024".
fn spread(verdict: &Verdict) -> String {
    let works = verdict.works;
    let mut text = format!(
        "{} for, {} against, {} silent, {} not judged",
        counted(works.supporting as u64, "work"),
        works.refuting,
        works.silent,
        verdict.works_not_judged
    );
    if let Some(years) = years(verdict.report.evidence_years) {
        let _ = write!(text, "; evidence from {years}");
    }
    text
}

/// "2013 to 2024", or the only year.
fn years(years: EvidenceYears) -> Option<String> {
    match (years.oldest, years.newest) {
        (Some(oldest), Some(newest)) if oldest != newest => Some(format!("{oldest} to {newest}")),
        (Some(year), _) | (None, Some(year)) => Some(year.to_string()),
        (None, None) => None,
    }
}

/// "1 work", "5 works".
pub(super) fn counted(count: u64, what: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {what}{ending}")
}

/// "claim “…” was rejected: the reason".
fn rejected(claim: &RejectedClaim) -> String {
    format!("claim “{}” was rejected{}", claim.text, because(claim))
}

/// ": the reason", when it is known.
pub(super) fn because(claim: &RejectedClaim) -> String {
    claim.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default()
}

/// "corrected by a person: the reason"; `None` for a model's judgment.
fn corrected(evidence: &Evidence) -> Option<String> {
    let reason = evidence.correction_reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    evidence.human_corrected.then(|| format!("corrected by a person{reason}"))
}

/// How much there is: findings, claims, contradictions, pages.
fn extent(answer: &Answer) -> String {
    let claims = answer.claims().filter(|report| !report.claim.is_of_question()).count() as u64;
    let contradicted = answer.findings.iter().filter(|finding| finding.report.is_contradicted()).count();
    let fetched = match answer.progress.fetched {
        0 => String::new(),
        fetched => format!(", {fetched} of them fetched from the web"),
    };
    let unfinished = if answer.unfinished().is_some() { "; not finished" } else { "" };
    format!(
        "{} ({contradicted} contradicted) of {}, from {}{fetched}{unfinished}",
        counted(answer.findings.len() as u64, "finding"),
        counted(claims, "claim"),
        counted(answer.progress.pages, "page"),
    )
}

/// What was not covered, one line each; empty when nothing is known to be missing.
fn gaps(answer: &Answer) -> Vec<String> {
    let coverage = &answer.not_covered;
    let mut lines: Vec<String> =
        answer.unfinished().map(|left| resumable(answer, left)).into_iter().collect();
    lines.extend(
        coverage.failures.iter().map(|failure| format!("A source did not answer in full: {failure}")),
    );
    if coverage.works_without_text > 0 {
        lines.push(format!("Works without text: {} of {}", coverage.works_without_text, coverage.works));
    }
    if coverage.passages_not_judged > 0 {
        lines.push(format!(
            "Relevant passages not judged: {} of {}",
            coverage.passages_not_judged, coverage.passages
        ));
    }
    lines.extend(coverage.languages.iter().map(|(language, count)| {
        format!("Language not judged: {language} ({})", counted(*count, "passage"))
    }));
    lines
}

/// What is left of a task that is not finished, and the command that goes on with it.
fn resumable(answer: &Answer, left: Unfinished) -> String {
    let task = &answer.progress.task;
    let unjudged = match left.claims {
        0 => String::new(),
        1 => format!(": 1 of {} is not judged", counted(left.of, "claim")),
        claims => format!(": {claims} of {} are not judged", counted(left.of, "claim")),
    };
    let (condition, option) = if left.out_of_time {
        (format!(" (its time limit of {} s is used up)", task.config.budget.max_seconds), " --max-seconds N")
    } else {
        (String::new(), "")
    };
    format!(
        "The task is not finished{unjudged}. Resume it{condition} with: lyra task resume {}{option}",
        task.id
    )
}

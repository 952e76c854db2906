//! An answer as one self-contained page: opens without a server or a network, can be mailed and printed. The same
//! page, with buttons, is what an app inside an AI's client shows.

mod app;
mod finding;

pub use app::{answer as app_answer, template as app_template};

use crate::parts::{moment, numbers};
use crate::words::{Language, Words};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use finding::{Passages, evidence};
use lyra_usecases::answer::{Answer, Verdict};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// Groups of findings that are shown for a topic.
const CLUSTERS: usize = 6;

/// What a report shows of an answer.
#[derive(Debug, Clone, Default)]
pub struct ReportOptions {
    /// A language tag such as `en` or `ja-JP`. `None`, or one that the pages do not have: English.
    pub language: Option<String>,
    /// Most findings; `None` for all.
    pub limit: Option<usize>,
    /// Leave out findings that no passage supports or refutes.
    pub only_evidence: bool,
}

/// The stylesheet of the workbench.
const STYLE: &str = include_str!("../assets/workbench.css");

/// What the page may load and run: its own stylesheet, and nothing else.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    format!("default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'")
});

/// The `Content-Security-Policy` of [`report`], for who sends it over HTTP.
pub(crate) fn policy() -> &'static str {
    &POLICY
}

/// The page: HTML with its stylesheet, without script, every text escaped. `made_at` is printed on it.
pub fn report(answer: Answer, options: &ReportOptions, made_at: jiff::Timestamp) -> String {
    let words = words(options.language.as_deref());
    let title = answer.progress.task.query.clone();
    let content = content(words, answer, options, Passages::All, made_at);
    html! {
        (DOCTYPE)
        html lang=(words.0.code()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("Lyra ", env!("CARGO_PKG_VERSION")));
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body.report { main { (content) } }
        }
    }
    .into_string()
}

/// The language of a tag, else English.
fn words(tag: Option<&str>) -> Words {
    Words(tag.and_then(Language::accepted).unwrap_or(Language::English))
}

/// The answer, its findings, and what they rest on.
fn content(
    words: Words,
    answer: Answer,
    options: &ReportOptions,
    passages: Passages,
    made_at: jiff::Timestamp,
) -> Markup {
    let found = answer.findings.len() as u64;
    let contested = answer.findings.iter().filter(|finding| finding.report.is_contradicted()).count() as u64;
    let answer = answer.narrowed(options.limit, options.only_evidence);
    let task = &answer.progress.task;
    let shown = answer.findings.len() as u64;
    html! {
        article.stack.wide {
            header.stack.tight {
                p.crumbs { "Lyra · " (words.t("report.kind")) }
                h1 { (task.query) }
                p.facts {
                    span { (words.t("report.made")) " " b { (moment::time(&made_at.to_string())) } }
                    span { (words.t("task.pages")) " " b { (words.number(answer.progress.pages)) } }
                    span { (words.t("task.passages")) " " b { (words.number(answer.progress.fragments)) } }
                    span { (words.t("report.findings")) " " b { (words.number(found)) } }
                    span { (words.t("common.contested")) " " b { (words.number(contested)) } }
                    span { (task.id) }
                }
            }
            @match &answer.verdict {
                Some(verdict) => (of_question(words, verdict, passages)),
                None => (of_topic(words, &answer)),
            }
            section.stack aria-labelledby="findings" {
                div.between {
                    h2 #findings { (words.t("report.findings")) }
                    @if shown < found {
                        span.quiet.small {
                            (words.with("report.shown", &[("n", &words.number(shown)), ("all", &words.number(found))]))
                        }
                    }
                }
                @if answer.findings.is_empty() { p.quiet { (words.t("report.no_findings")) } }
                ol.claims { @for finding in &answer.findings { (finding::item(words, finding, passages)) } }
            }
            (list(words.t("report.not_covered"), &gaps(words, &answer)))
            (list(words.t("task.notes"), &answer.notes))
            (list(words.t("task.searches"), &searches(words, &answer)))
            footer.quiet.small.stack.tight {
                p { (words.t("report.explained")) }
                p { (words.t("common.reading_note")) }
            }
        }
    }
}

/// The claim behind the question, with its evidence.
fn of_question(words: Words, verdict: &Verdict, passages: Passages) -> Markup {
    let report = &verdict.report;
    html! {
        section.card.stack aria-labelledby="answer" {
            h2 #answer { (words.t("task.answer")) }
            p.lead { (report.claim.claim_text) }
            p.quiet {
                (words.with("report.works", &[
                    ("supporting", &words.number(verdict.works.supporting as u64)),
                    ("refuting", &words.number(verdict.works.refuting as u64)),
                    ("silent", &words.number(verdict.works.silent as u64)),
                    ("unread", &words.number(verdict.works_not_judged)),
                ]))
            }
            (numbers::explained(words, "", report))
            (evidence(words, report, passages, true))
        }
    }
}

/// A question without a claim: what the findings are about.
fn of_topic(words: Words, answer: &Answer) -> Markup {
    html! {
        section.card.stack aria-labelledby="answer" {
            h2 #answer { (words.t("task.answer")) }
            @if let Some(rejected) = &answer.rejected {
                p { (words.with("report.rejected", &[("claim", &rejected.text)])) }
                @if let Some(reason) = &rejected.reason {
                    p { (words.with("report.reason", &[("reason", reason)])) }
                }
            } @else {
                p { (words.t("report.topic")) }
            }
            ul.stack.tight {
                @for cluster in answer.clusters.iter().take(CLUSTERS) {
                    li {
                        (cluster.text) " "
                        span.quiet.small {
                            (words.with("report.group", &[
                                ("findings", &words.number(cluster.findings as u64)),
                                ("works", &words.number(cluster.works as u64)),
                            ]))
                        }
                    }
                }
            }
        }
    }
}

/// A section of lines; nothing without lines.
fn list(heading: &str, lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            section.stack.tight {
                h2 { (heading) }
                ul.points.small { @for line in lines { li { (line) } } }
            }
        }
    }
}

/// What the evidence does not cover.
fn gaps(words: Words, answer: &Answer) -> Vec<String> {
    let covered = &answer.not_covered;
    let part = |key, n: u64, all: u64| {
        (n > 0).then(|| words.with(key, &[("n", &words.number(n)), ("all", &words.number(all))]))
    };
    let failed = covered.failures.iter().map(|failure| words.with("report.failed", &[("source", failure)]));
    let unread = covered.languages.iter().map(|(language, passages)| {
        words.with("report.language", &[("language", language), ("n", &words.number(*passages))])
    });
    let left = answer.unfinished().map(|left| {
        let (n, all) = (words.number(left.claims), words.number(left.of));
        words.with("report.unfinished", &[("n", &n), ("all", &all)])
    });
    left.into_iter()
        .chain(failed)
        .chain(part("report.without_text", covered.works_without_text, covered.works))
        .chain(part("report.not_judged", covered.passages_not_judged, covered.passages))
        .chain(unread)
        .collect()
}

/// What was searched for, and what each search found.
fn searches(words: Words, answer: &Answer) -> Vec<String> {
    let line = |query: &lyra_domain::Query| {
        let found = words.with(
            "task.search_found",
            &[
                ("results", &words.number(u64::from(query.result_count))),
                ("passages", &words.number(u64::from(query.useful_fragments))),
            ],
        );
        format!("{}: {found}", query.query_text)
    };
    answer.progress.queries.iter().map(line).collect()
}

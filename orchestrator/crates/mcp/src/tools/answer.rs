//! A question answered in one call: `answer`.

use super::{Call, Effect, Failure, Tool, task_id};
use crate::links;
use crate::reply::{self, CONTENT_NOTICE};
use crate::schema::one_of;
use lyra_domain::{Citation, ClaimReport, Priority, Relation, TaskConfig, TaskId, TaskStatus};
use lyra_usecases::answer::Finding;
use lyra_usecases::{Answer as Found, App, idle, shapes};
use lyra_wire::json::{size, thousandths};
use lyra_wire::schema::task_status;
use lyra_wire::{NotCovered, RejectedClaim, Verdict};
use rmcp::model::CallToolResult;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tokio::time::Instant;

/// Most bytes of the result, about 2,000 tokens.
const BYTES: usize = 7_500;
/// Passages shown on each side.
const PASSAGES: usize = 5;
/// Findings, warnings, failed sources, and languages without judged passages shown.
const FINDINGS: usize = 5;
const WARNINGS: usize = 4;
const FAILURES: usize = 3;
const LANGUAGES: usize = 8;
/// Characters of a passage, and of a title, a claim or a note.
const TEXT_CHARS: usize = 300;
const SHORT_CHARS: usize = 160;
/// Longest wait for the evidence; the rest of the call's time is for reading it.
const LONGEST_WAIT: u64 = 40;

/// Answers a question from evidence.
pub(super) struct Answer;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct AnswerInput {
    /// The question, preferably a yes/no question ("Does X cause Y?"), 1 to 2000 characters. It starts a new task. Give
    /// this or `task_id`.
    #[schemars(length(min = 1, max = 2000))]
    question: Option<String>,
    /// An existing task, such as one that this tool returned unfinished. Give this or `question`.
    #[schemars(length(min = 1, max = 100))]
    task_id: Option<String>,
    /// Seconds to wait for the evidence, 0 to 40, default 40. The result so far is returned, with the task's state.
    #[serde(default = "longest_wait")]
    #[schemars(range(min = 0, max = 40))]
    wait: u64,
    #[serde(default)]
    #[schemars(description = sources_help(), length(max = 20), inner(length(min = 1, max = 200)))]
    sources: Vec<String>,
}

fn sources_help() -> String {
    format!(
        "Names of the sources to search for a new question, at most 20: {}, `corpora`, or the name of a corpus. \
         Default: what this server is configured for.",
        lyra_sources::registry::quoted_names()
    )
}

fn longest_wait() -> u64 {
    LONGEST_WAIT
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AnswerOutput {
    /// Id of the task; every other tool takes it.
    task_id: String,
    /// Its question.
    query: String,
    /// The task's state. Anything but `completed`: call again with the `task_id`.
    #[schemars(schema_with = "task_status")]
    status: TaskStatus,
    /// `claim` when the question has a claim that is judged; `topic` when it has none, see `findings`.
    #[schemars(schema_with = "kind")]
    kind: &'static str,
    /// The evidence on the claim. Only with kind `claim`.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "reply::known")]
    verdict: Option<Verdict>,
    /// The claim behind the question. Only when a person rejected it.
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected_claim: Option<RejectedClaim>,
    /// Passages that support the claim, the most certain first.
    supporting: Vec<Passage>,
    /// Passages that refute the claim, the most certain first.
    refuting: Vec<Passage>,
    /// Statements found, the closest to the question first; each is a claim of the task.
    findings: Vec<FoundClaim>,
    /// What the evidence does not cover.
    not_covered: NotCovered,
    /// Notes for the reader, such as a source that failed.
    warnings: Vec<String>,
    /// What was omitted to keep the result small. Only when something was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Fields of this result that hold text copied from documents or from sources' answers.
    untrusted_fields: Vec<&'static str>,
    /// How to treat those fields.
    content_notice: &'static str,
}

fn kind(_: &mut SchemaGenerator) -> Schema {
    one_of(["claim", "topic"].into_iter())
}

#[derive(Debug, Serialize, JsonSchema)]
struct Passage {
    /// The sentences that were judged.
    text: String,
    /// Probability of the relation by the model, 0 to 1; 1 after a person's correction.
    nli_confidence: f64,
    /// Whether a person changed the relation.
    edge_human_corrected: bool,
    /// Title, year and venue of the work.
    source: String,
    /// Where to read it: a DOI, an address, or the document's id in a corpus.
    link: String,
    /// Id of the judgment; `feedback` takes it.
    edge_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FoundClaim {
    /// Id of the claim.
    claim_id: String,
    /// The statement.
    claim: String,
    /// Title, year and venue of the work that it was found in.
    source: String,
    /// Where to read it: a DOI, an address, or the document's id in a corpus.
    link: String,
    /// Works that it was found in.
    works: usize,
    /// Passages of other works that support it.
    supporting_count: usize,
    /// Passages of other works that refute it.
    refuting_count: usize,
}

/// The tool's name.
pub(crate) const NAME: &str = Answer::NAME;

/// The result of a call for a task as it is now.
pub(crate) async fn of(app: &App, task: &TaskId) -> CallToolResult {
    match app.answer(task).await {
        Ok(found) => {
            let mut result = reply::success(NAME, &AnswerOutput::of(&found));
            links::add(&mut result);
            links::add_pages(&mut result, app.data_dir()).await;
            result
        }
        Err(error) => reply::error(NAME, error.into()),
    }
}

impl Tool for Answer {
    const NAME: &'static str = "answer";
    const TITLE: &'static str = "Answer a question from evidence";
    const DESCRIPTION: &'static str = "Searches for a question, judges the claim behind it against the results, and \
        returns in at most 2,000 tokens: the claim, works for, against, silent and not judged, a confidence, the \
        best passages on each side with citations, and what was not covered. If the task is not `completed` in time, \
        call again with its task_id. The other tools return more of the same task.";
    const EFFECT: Effect = Effect::Adds;
    type Input = AnswerInput;
    type Output = AnswerOutput;

    async fn call(call: &Call, input: AnswerInput) -> Result<AnswerOutput, Failure> {
        let until = Instant::now() + Duration::from_secs(input.wait.min(LONGEST_WAIT));
        let task = match (input.question, input.task_id) {
            (Some(question), None) => ask(call, question, input.sources).await?,
            (None, Some(task)) => task_id(&task)?,
            (None, None) => {
                return Err(Failure::argument(
                    "argument `question` is missing, it should be a string of 1 to 2000 characters",
                )
                .hint("or give the `task_id` of an existing task"));
            }
            (Some(_), Some(_)) => {
                return Err(Failure::argument(
                    "give one of the arguments `question` and `task_id`, not both",
                ));
            }
        };
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let progress = call.app.task_status(&task, left).await?;
            if idle(&progress) || left.is_zero() {
                break;
            }
        }
        Ok(AnswerOutput::of(&call.app.answer(&task).await?))
    }
}

/// Creates a task for the question and queues its search.
async fn ask(call: &Call, question: String, sources: Vec<String>) -> Result<TaskId, Failure> {
    let config = TaskConfig { sources, ..TaskConfig::default() };
    let new = lyra_usecases::NewTask { query: question.clone(), config, ..lyra_usecases::NewTask::default() };
    let task = call.app.create_task(new).await?.id;
    call.app
        .queue_searches(lyra_usecases::QueueSearches {
            task: task.clone(),
            queries: vec![question],
            sources: Vec::new(),
            engines: Vec::new(),
            run_id: None,
            budget_pages: None,
            priority: Priority::Medium,
        })
        .await?;
    Ok(task)
}

impl AnswerOutput {
    fn of(found: &Found) -> Self {
        let mut not_covered = shapes::not_covered(found);
        not_covered.languages.truncate(LANGUAGES);
        not_covered.sources.truncate(FAILURES);
        not_covered.sources.iter_mut().for_each(|failure| *failure = cut(failure, SHORT_CHARS));
        let passages = |relation| {
            let report = found.verdict.iter().map(|verdict| &verdict.report);
            report.flat_map(|report| Passage::of(report, relation)).collect()
        };
        let mut output = Self {
            task_id: found.progress.task.id.to_string(),
            query: cut(&found.progress.task.query, TEXT_CHARS),
            status: found.progress.task.status,
            kind: if found.verdict.is_some() { "claim" } else { "topic" },
            verdict: found.verdict.as_ref().map(Verdict::from),
            rejected_claim: found.rejected.as_ref().map(RejectedClaim::from),
            supporting: passages(Relation::Supports),
            refuting: passages(Relation::Refutes),
            findings: found.findings.iter().take(FINDINGS).map(FoundClaim::of).collect(),
            not_covered,
            warnings: found.warnings().iter().take(WARNINGS).map(|note| cut(note, TEXT_CHARS)).collect(),
            notes: Vec::new(),
            untrusted_fields: vec![
                "supporting[].text",
                "supporting[].source",
                "refuting[].text",
                "refuting[].source",
                "findings[].claim",
                "findings[].source",
                "not_covered.sources",
                "warnings",
            ],
            content_notice: CONTENT_NOTICE,
        };
        output.shrink();
        output
    }

    /// Drops the least important parts until the result is small enough.
    fn shrink(&mut self) {
        let mut left_out = false;
        while size(self) > BYTES {
            left_out = true;
            let sides = [self.findings.len(), self.supporting.len(), self.refuting.len()];
            match sides {
                [0, 0, 0] => break,
                [findings, supporting, refuting] if findings >= supporting.max(refuting) => {
                    self.findings.pop();
                }
                [_, supporting, refuting] if supporting >= refuting => {
                    self.supporting.pop();
                }
                _ => {
                    self.refuting.pop();
                }
            }
        }
        if left_out {
            self.notes.push("some passages and findings are omitted to keep the result small".to_owned());
        }
    }
}

impl Passage {
    /// The best passages of one side, one for each work.
    fn of(report: &ClaimReport, relation: Relation) -> Vec<Self> {
        let mut seen = std::collections::HashSet::new();
        let side = report.evidence.iter().filter(|e| e.relation == relation);
        side.filter(|evidence| seen.insert(&evidence.source_key))
            .take(PASSAGES)
            .map(|evidence| Self {
                text: cut(&evidence.text, TEXT_CHARS),
                nli_confidence: thousandths(evidence.nli_confidence.get()),
                edge_human_corrected: evidence.human_corrected,
                source: source(&evidence.citation()),
                link: link(&evidence.citation()),
                edge_id: evidence.edge_id.to_string(),
            })
            .collect()
    }
}

impl FoundClaim {
    fn of(finding: &Finding) -> Self {
        let origins = finding.origins();
        let citation = origins.first().map(|origin| &origin.citation);
        Self {
            claim_id: finding.report.claim.id.to_string(),
            claim: cut(&finding.report.claim.claim_text, TEXT_CHARS),
            source: citation.map(source).unwrap_or_default(),
            link: citation.map(link).unwrap_or_default(),
            works: origins.len(),
            supporting_count: finding.report.supporting_count,
            refuting_count: finding.report.refuting_count,
        }
    }
}

fn source(citation: &Citation) -> String {
    let section = citation.section.as_ref().map(|section| cut(section, SHORT_CHARS));
    let facts = [citation.year.map(|year| year.to_string()), citation.venue.clone(), section];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let retracted = if citation.is_retracted == Some(true) { " RETRACTED" } else { "" };
    cut(&format!("{} ({}){retracted}", cut(&citation.title, SHORT_CHARS), facts.join(", ")), TEXT_CHARS)
}

fn link(citation: &Citation) -> String {
    let doi = citation.doi.as_ref().map(|doi| format!("https://doi.org/{doi}"));
    let place = doi.or_else(|| citation.url.clone()).or_else(|| citation.doc_id.clone());
    cut(&place.unwrap_or_default(), TEXT_CHARS)
}

/// At most `chars` characters, the last one an ellipsis when something is missing.
fn cut(text: &str, chars: usize) -> String {
    let text = text.trim();
    if text.chars().count() <= chars {
        return text.to_owned();
    }
    let kept: String = text.chars().take(chars.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_stays_small() {
        let passage = || Passage {
            text: "x".repeat(TEXT_CHARS),
            nli_confidence: 0.9,
            edge_human_corrected: false,
            source: "y".repeat(TEXT_CHARS),
            link: "z".repeat(TEXT_CHARS),
            edge_id: "edge_1".to_owned(),
        };
        let mut output = AnswerOutput {
            task_id: "task_1".to_owned(),
            query: "q".to_owned(),
            status: TaskStatus::Completed,
            kind: "claim",
            verdict: None,
            rejected_claim: None,
            supporting: (0..PASSAGES).map(|_| passage()).collect(),
            refuting: (0..PASSAGES).map(|_| passage()).collect(),
            findings: Vec::new(),
            not_covered: NotCovered {
                sources: Vec::new(),
                works: 0,
                works_without_text: 0,
                passages: 0,
                passages_not_judged: 0,
                claims_not_judged: 0,
                languages: Vec::new(),
            },
            warnings: Vec::new(),
            notes: Vec::new(),
            untrusted_fields: Vec::new(),
            content_notice: CONTENT_NOTICE,
        };
        output.shrink();
        assert!(size(&output) <= BYTES + 200 && output.supporting.len().abs_diff(output.refuting.len()) <= 1);
        assert!(!output.supporting.is_empty() && output.notes.len() == 1);
    }

    #[test]
    fn long_text_is_cut() {
        assert_eq!(cut("昼寝は記憶を改善する", 5), "昼寝は記…");
        assert_eq!(cut(" naps ", 4), "naps");
    }
}

//! Claims searched in a corpus and judged, as `lyra check` does.

use super::judged::sentences_of;
use super::set::{Abstracts, AnnotatedClaim};
use super::{SEED, Stage};
use crate::{App, AppError, ErrorCode, NewTask, idle};
use lyra_domain::figures::{Label, LabeledAnswer, Scored, Share, Tally, wilson};
use lyra_domain::{ClaimReport, TaskConfig, TaskId};
use lyra_store::{Deletion, StopMode};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Polling interval for a task.
const LOOK: Duration = Duration::from_secs(1);

/// Figures with retrieval, as SciFact's scorer defines them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EndToEnd {
    /// Searched claims.
    pub claims: usize,
    /// Abstracts with a label that were among the passages judged.
    pub found: Share,
    /// Labels of abstracts.
    pub labels: Scored,
    /// Labels of abstracts, right only with a whole rationale among the sentences named.
    pub labels_with_rationale: Scored,
    /// Sentences.
    pub sentences: Scored,
    /// Sentences of abstracts with the right label.
    pub sentences_with_label: Scored,
    /// Labeled claims whose confidence is on the label's side of 0.5.
    pub confidence_agrees: Share,
    /// Time per claim, in seconds.
    pub seconds_per_claim: f64,
}

/// Checks every claim in the corpus. Its tasks are deleted afterward.
pub(super) async fn search(
    app: &App,
    corpus: &str,
    abstracts: &Abstracts,
    progress: &(dyn Fn(Stage) + Send + Sync),
    cancel: &CancellationToken,
) -> Result<EndToEnd, AppError> {
    let start = Instant::now();
    let mut tallies = Vec::new();
    let (mut gold, mut found, mut sided, mut agreeing) = (0, 0, 0, 0);
    for claim in &abstracts.claims {
        let Some(report) = check(app, corpus, &claim.text, cancel).await? else { break };
        let judged: BTreeSet<&str> = report.evidence.iter().filter_map(|e| e.doc_id.as_deref()).collect();
        gold += claim.evidence.len();
        found += claim.evidence.keys().filter(|document| judged.contains(document.as_str())).count();
        tallies.push(answers(claim, &report, abstracts).iter().map(Tally::of).sum());
        let sides: BTreeSet<Label> = claim.evidence.values().map(|(label, _)| *label).collect();
        if sides.len() == 1 {
            sided += 1;
            let confidence = report.posterior.confidence();
            let side = if sides.contains(&Label::Support) { confidence } else { 1.0 - confidence };
            agreeing += usize::from(side > 0.5 + 1e-9);
        }
        progress(Stage::Searched(tallies.len(), abstracts.claims.len()));
    }
    let seconds_per_claim = start.elapsed().as_secs_f64() / tallies.len().max(1) as f64;
    let scored = |counts| Scored::of(&tallies, counts, SEED);
    Ok(EndToEnd {
        claims: tallies.len(),
        found: wilson(found, gold),
        labels: scored(Tally::sides),
        labels_with_rationale: scored(|tally| tally.sides_with_rationale),
        sentences: scored(|tally| tally.sentences),
        sentences_with_label: scored(|tally| tally.sentences_with_label),
        confidence_agrees: wilson(agreeing, sided),
        seconds_per_claim,
    })
}

/// The judgment of every abstract that was judged or has a label.
fn answers(claim: &AnnotatedClaim, report: &ClaimReport, abstracts: &Abstracts) -> Vec<LabeledAnswer> {
    let mut judged: BTreeMap<&str, (Label, Vec<usize>)> = BTreeMap::new();
    for evidence in &report.evidence {
        let Some(document) = &evidence.doc_id else { continue };
        let sentences = abstracts.documents.get(document).map(|one| one.sentences.as_slice());
        let label = Label::from(evidence.relation);
        let chosen = if label.is_side() {
            sentences_of(&evidence.text, sentences.unwrap_or_default())
        } else {
            Vec::new()
        };
        judged.insert(document, (label, chosen));
    }
    let documents: BTreeSet<&str> =
        judged.keys().copied().chain(claim.evidence.keys().map(String::as_str)).collect();
    documents
        .into_iter()
        .map(|document| {
            let (gold, rationales) =
                claim.evidence.get(document).cloned().unwrap_or((Label::Neutral, Vec::new()));
            let (said, chosen) = judged.remove(document).unwrap_or((Label::Neutral, Vec::new()));
            LabeledAnswer {
                gold,
                said,
                // Only labels and sentences are counted here.
                scores: None,
                confidence: 0.0,
                claim: claim.group,
                kind: None,
                chosen,
                rationales: Some(rationales),
            }
        })
        .collect()
}

/// The report on a claim; `None` when it was stopped.
async fn check(
    app: &App,
    corpus: &str,
    claim: &str,
    cancel: &CancellationToken,
) -> Result<Option<ClaimReport>, AppError> {
    let config = TaskConfig { corpora: vec![corpus.to_owned()], ..TaskConfig::default() };
    let new = NewTask {
        query: claim.to_owned(),
        config,
        claims: vec![claim.to_owned()],
        judge_question: Some(false),
    };
    let task = app.create_task(new).await?.id;
    let stop = cancel.child_token();
    let workers = app.start_workers(Some(&task), &stop);
    let report = finished(app, &task, cancel).await;
    stop.cancel();
    workers.wait().await;
    if cancel.is_cancelled() {
        app.stop_task(&task, "measurement interrupted", StopMode::Immediate).await?;
    }
    app.delete_task(&task, Deletion::Commit).await?;
    report
}

async fn finished(
    app: &App,
    task: &TaskId,
    cancel: &CancellationToken,
) -> Result<Option<ClaimReport>, AppError> {
    loop {
        let Some(status) = cancel.run_until_cancelled(app.task_status(task, LOOK)).await else {
            return Ok(None);
        };
        if idle(&status?) {
            break;
        }
    }
    let report = app.claim_reports(task).await?.into_iter().next();
    report.map(Some).ok_or_else(|| AppError::new(ErrorCode::Internal, "the claim was not stored"))
}

//! A task's answer to its question, in reading order.

mod findings;

pub use findings::{Cluster, Finding};

use super::{App, AppError, Unfinished, unfinished};
use findings::{clusters, merged};
use lyra_domain::{AdoptionStatus, Claim, ClaimId, ClaimReport, TaskId, WorkCounts, vector};
use lyra_research::ports::{EmbeddingTarget, Inference, TextRole, VectorStore};
use lyra_store::{Coverage, TaskProgress, VectorTarget};
use std::collections::HashMap;

/// Everything that a report on a task shows.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The task and its progress.
    pub progress: TaskProgress,
    /// The verdict on the question's claim; `None` for a topic.
    pub verdict: Option<Verdict>,
    /// The claim behind the question, if a person rejected it.
    pub rejected: Option<RejectedClaim>,
    /// Groups of findings that are about the same, largest first; for a topic they are the answer.
    pub clusters: Vec<Cluster>,
    /// The findings, the closest to the question first; equal claims are one finding.
    pub findings: Vec<Finding>,
    /// What the evidence does not cover.
    pub not_covered: Coverage,
    /// Additional notes for readers.
    pub notes: Vec<String>,
}

/// The claim behind the question, and how its evidence is spread.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The claim with its evidence and its numbers.
    pub report: ClaimReport,
    /// The claim turned round, by rules.
    pub opposite: Option<String>,
    /// Works on each side; several passages of one work count once.
    pub works: WorkCounts,
    /// Works with relevant passages, none of which was judged.
    pub works_not_judged: u64,
}

/// A claim that was taken out of its task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedClaim {
    /// Its id.
    pub claim: ClaimId,
    /// Its text.
    pub text: String,
    /// Why it was rejected, when that is known.
    pub reason: Option<String>,
}

impl Answer {
    /// Every adopted claim: the one of the question first, then the findings' in their order.
    pub fn claims(&self) -> impl Iterator<Item = &ClaimReport> {
        let asked = self.verdict.iter().map(|verdict| &verdict.report);
        asked.chain(
            self.findings.iter().flat_map(|finding| std::iter::once(&finding.report).chain(&finding.same)),
        )
    }

    /// What is left to do, when the task is not finished.
    pub fn unfinished(&self) -> Option<Unfinished> {
        unfinished(&self.progress)
    }

    /// The notes, after one that the task is not finished.
    pub fn warnings(&self) -> Vec<String> {
        self.unfinished().map(|left| left.to_string()).into_iter().chain(self.notes.iter().cloned()).collect()
    }

    /// Keeps only findings with evidence on a side when `only_evidence`, and of those the first `limit`.
    #[must_use]
    pub fn narrowed(mut self, limit: Option<usize>, only_evidence: bool) -> Self {
        if only_evidence {
            self.findings.retain(Finding::has_evidence);
        }
        self.findings.truncate(limit.unwrap_or(usize::MAX));
        self
    }
}

impl App {
    /// The answer of a task to its question.
    ///
    /// # Errors
    /// No such task.
    pub async fn answer(&self, task: &TaskId) -> Result<Answer, AppError> {
        let progress = self.store().task_status(task).await?;
        let mut reports = self.store().claim_reports(task).await?;
        let asked =
            reports.iter().position(|report| report.claim.is_of_question()).map(|at| reports.remove(at));
        let vectors = self.claim_vectors(&reports, asked.as_ref().map(|report| &report.claim)).await?;
        let question = self.question_vector(&progress.task.query, asked.as_ref(), &vectors).await;
        let findings = merged(reports, &vectors, question.as_deref());
        let not_covered = self.store().coverage(task, asked.as_ref().map(|report| &report.claim.id)).await?;
        let rejected = match &asked {
            Some(_) => None,
            None => match self.store().rejected_question(task).await? {
                Some(claim) => self.rejection(&claim).await?,
                None => None,
            },
        };
        let verdict = asked.map(|report| Verdict {
            opposite: lyra_text::claim::counter_claim(
                &report.claim.claim_text,
                report.claim.language.as_deref(),
            ),
            works: report.works(),
            works_not_judged: not_covered.works_not_judged,
            report,
        });
        let mut notes = progress.warnings.clone();
        notes.extend(self.task_notes(&progress.task));
        Ok(Answer {
            clusters: clusters(&findings, &vectors),
            progress,
            verdict,
            rejected,
            findings,
            not_covered,
            notes,
        })
    }

    /// What is known about the rejection of a claim; `None` when it is adopted.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn rejection(&self, claim: &Claim) -> Result<Option<RejectedClaim>, AppError> {
        if claim.adoption_status == AdoptionStatus::Adopted {
            return Ok(None);
        }
        let events = self.claim_timeline(&claim.id).await?;
        let last = events.iter().rfind(|event| event.event == "claim_rejected");
        let reason = last.and_then(|event| event.detail["reason"].as_str()).map(str::to_owned);
        Ok(Some(RejectedClaim { claim: claim.id.clone(), text: claim.claim_text.clone(), reason }))
    }

    /// Stored vectors of the claims, from the model that produced most of them.
    async fn claim_vectors(
        &self,
        reports: &[ClaimReport],
        asked: Option<&Claim>,
    ) -> Result<HashMap<ClaimId, Vec<f32>>, AppError> {
        let claims = reports.iter().map(|report| &report.claim).chain(asked);
        let targets: Vec<EmbeddingTarget> =
            claims.map(|claim| EmbeddingTarget::Claim(claim.id.clone())).collect();
        let mut best = HashMap::new();
        for made in
            self.store().embedding_models().await?.iter().filter(|made| made.target == VectorTarget::Claims)
        {
            let found = VectorStore::embeddings(self.store(), &made.model, &targets).await?;
            if found.len() > best.len() {
                best = found;
            }
        }
        let of_claim = |(target, vector)| match target {
            EmbeddingTarget::Claim(id) => Some((id, vector)),
            EmbeddingTarget::Fragment(_) => None,
        };
        Ok(best.into_iter().filter_map(of_claim).collect())
    }

    /// The stored vector of the question's claim, else a new one of the question. `None` when there is nothing to
    /// compare with, or no model: the findings then stay in extraction order.
    async fn question_vector(
        &self,
        question: &str,
        asked: Option<&ClaimReport>,
        vectors: &HashMap<ClaimId, Vec<f32>>,
    ) -> Option<Vec<f32>> {
        if let Some(stored) = asked.and_then(|report| vectors.get(&report.claim.id)) {
            return Some(stored.clone());
        }
        let dimension = vectors.values().next()?.len();
        let made = self.inner.inference.embed(TextRole::Query, &[question.to_owned()]).await;
        let made = made
            .inspect_err(|error| tracing::warn!(%error, "the findings are not ordered by closeness"))
            .ok()?;
        made.into_iter().next().filter(|vector| vector.len() == dimension)
    }
}

/// Cosine of two stored vectors; `None` when one is missing or they are of different models.
fn cosine(a: Option<&[f32]>, b: Option<&[f32]>) -> Option<f32> {
    let (a, b) = (a?, b?);
    (a.len() == b.len()).then(|| vector::dot(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewTask;
    use crate::config::Config;
    use lyra_domain::TaskConfig;

    #[tokio::test]
    async fn a_rejected_claim_of_the_question_is_named_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config { data_dir: Some(folder.path().to_owned()), ..Config::default() };
        let app = crate::testing::open(config).await;
        let config = TaskConfig { sources: vec!["openalex".to_owned()], ..TaskConfig::default() };
        let new = NewTask { query: "Do naps improve memory?".to_owned(), config, ..NewTask::default() };
        let task = app.create_task(new).await.unwrap().id;
        let asked = app.answer(&task).await.unwrap();
        let (claim, rejected) = (asked.verdict.unwrap().report.claim, asked.rejected);
        assert_eq!((rejected, app.rejection(&claim).await.unwrap()), (None, None));

        app.reject_claim(&claim.id, "too broad").await.unwrap();
        let answer = app.answer(&task).await.unwrap();
        let reason = Some("too broad".to_owned());
        let rejected = RejectedClaim { claim: claim.id, text: claim.claim_text, reason };
        assert_eq!((&answer.verdict, &answer.rejected), (&None, &Some(rejected)));
        let shown = serde_json::to_value(lyra_wire::Answer::from(&answer)).unwrap();
        assert_eq!(shown["rejected_claim"]["reason"], "too broad", "{shown}");
        app.close().await;
    }
}

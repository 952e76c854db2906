//! The flow of a task's documents in the boxes of PRISMA 2020, each number from a stored fact.

use crate::{App, AppError, ScreeningProgress};
use lyra_domain::{Basis, TaskId, Verdict};
use lyra_store::PrismaFacts;

/// Sources that are no databases or registers of studies.
const OTHER_SOURCES: [&str; 2] = ["web", "wikipedia"];
/// The reason for an exclusion that says that a report was not retrieved.
const NOT_RETRIEVED: &str = "full text not available";

/// Numbers of records, documents, and reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrismaFlow {
    /// The task.
    pub task: TaskId,
    /// Records of corpora and academic sources.
    pub databases: Vec<(String, u64)>,
    /// Records that were found otherwise.
    pub others: Vec<(String, u64)>,
    /// Records that were merged into another one of the same work.
    pub duplicates: u64,
    /// Documents by where they stand.
    pub progress: ScreeningProgress,
    /// Documents that were excluded on title or abstract.
    pub excluded: u64,
    /// Reports that were excluded because their full text was not available.
    pub not_retrieved: u64,
    /// Assessed reports that were excluded, by reason, the most frequent first; without a reason last.
    pub excluded_reports: Vec<(Option<String>, u64)>,
    /// Included documents without a full text in the store.
    pub included_without_full_text: u64,
    /// Works without a text whose pages could not be fetched.
    pub not_fetched: u64,
    /// Pages and searches that required a person and are unresolved.
    pub requires_person: u64,
}

impl PrismaFlow {
    pub(super) fn new(task: TaskId, facts: PrismaFacts, progress: ScreeningProgress) -> Self {
        let is_other = |name: &str| OTHER_SOURCES.contains(&name);
        let (mut others, databases): (Vec<_>, Vec<_>) =
            facts.sources.into_iter().partition(|(name, _)| is_other(name));
        for (name, count) in [("citations", facts.cited), ("added", facts.unlisted)] {
            if count > 0 {
                others.push((name.to_owned(), count));
            }
        }
        let identified: u64 = databases.iter().chain(&others).map(|(_, count)| count).sum();
        let sum = |wanted: &dyn Fn(Verdict, Basis, Option<&str>) -> bool| -> u64 {
            let all = facts.decided.iter();
            all.filter(|(verdict, basis, reason, _)| wanted(*verdict, *basis, reason.as_deref()))
                .map(|(.., count)| count)
                .sum()
        };
        let out =
            |verdict, reason: Option<&str>| verdict == Verdict::Exclude && reason != Some(NOT_RETRIEVED);
        let mut excluded_reports: Vec<(Option<String>, u64)> = facts
            .decided
            .iter()
            .filter(|(verdict, basis, reason, _)| {
                *basis == Basis::FullText && out(*verdict, reason.as_deref())
            })
            .map(|(_, _, reason, count)| (reason.clone(), *count))
            .collect();
        excluded_reports.sort_by(|a, b| {
            a.0.is_none().cmp(&b.0.is_none()).then(b.1.cmp(&a.1)).then_with(|| a.0.cmp(&b.0))
        });
        Self {
            task,
            databases,
            others,
            duplicates: identified.saturating_sub(facts.documents),
            progress,
            excluded: sum(&|verdict, basis, reason| basis != Basis::FullText && out(verdict, reason)),
            not_retrieved: sum(&|verdict, _, reason| {
                verdict == Verdict::Exclude && reason == Some(NOT_RETRIEVED)
            }),
            excluded_reports,
            included_without_full_text: sum(&|verdict, basis, _| {
                verdict == Verdict::Include && basis != Basis::FullText
            }),
            not_fetched: facts.not_fetched,
            requires_person: facts.requires_person,
        }
    }

    /// All records.
    pub fn identified(&self) -> u64 {
        self.databases.iter().chain(&self.others).map(|(_, count)| count).sum()
    }

    /// Documents that were included or excluded.
    pub fn screened(&self) -> u64 {
        self.progress.included + self.progress.excluded
    }

    /// Reports of the documents that were not excluded on title or abstract.
    pub fn sought(&self) -> u64 {
        self.screened().saturating_sub(self.excluded)
    }

    /// Reports that were assessed.
    pub fn assessed(&self) -> u64 {
        self.sought().saturating_sub(self.not_retrieved)
    }
}

impl App {
    /// The flow of a task's documents as it stands now.
    ///
    /// # Errors
    /// No such task.
    pub async fn prisma(&self, task: &TaskId) -> Result<PrismaFlow, AppError> {
        let facts = self.store().prisma_facts(task).await?;
        let progress = self.screening_progress(task).await?;
        Ok(PrismaFlow::new(task.clone(), facts, progress))
    }
}

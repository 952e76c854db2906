//! Screening the documents of a task: which come next, what people decide, and what is known about the recall.

mod export;
mod prisma;
mod texts;

pub use export::ScreeningExport;
pub use prisma::PrismaFlow;
pub(crate) use texts::Texts;

use super::{App, AppError};
use lyra_domain::domains::DomainCategory;
use lyra_domain::{PageId, SUGGESTED_REASONS, ScreeningId, TaskId, Verdict};
use lyra_screening::{Next, Order, Recall, Stopping, estimate, stopping};
use lyra_store::{DecidedFilter, DecidedPage, ScreeningCard, ScreeningDecision, ScreeningRow};
use lyra_wire::TaskChange;
use std::collections::HashSet;
use texts::off_thread;

/// Longest reason for an exclusion, in characters.
const MAX_REASON: usize = 200;
/// Most documents that come next, most decided ones of a page, and the longest text to look for, in characters.
const MAX_NEXT: usize = 50;
const MAX_DECIDED: u32 = 200;
const MAX_TEXT: usize = 200;

/// How far the screening of a task is.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreeningState {
    /// The task.
    pub task: TaskId,
    /// How many documents were decided.
    pub progress: ScreeningProgress,
    /// Included and excluded documents in the order of the decisions: whether each was included.
    pub labels: Vec<bool>,
    /// What is known about the recall; `None` before the first included document.
    pub recall: Option<Recall>,
    /// What the decisions say about stopping.
    pub stopping: Stopping,
    /// Suggested reasons for exclusions, and further ones that the task uses.
    pub reasons: Vec<String>,
    /// The documents to decide next.
    pub next: Vec<DocumentToScreen>,
}

/// A document to decide.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentToScreen {
    /// The document with its texts.
    pub card: ScreeningCard,
    /// Its place in the ranking of the task's searches, from 1.
    pub search_rank: usize,
    /// Why it comes here.
    pub next: Next,
}

/// Numbers of documents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScreeningProgress {
    /// Included ones.
    pub included: u64,
    /// Excluded ones.
    pub excluded: u64,
    /// Ones whose decision was put off.
    pub undecided: u64,
    /// Documents without a decision.
    pub open: u64,
    /// Ones whose domain is blocked; they are not screened.
    pub blocked: u64,
    /// Ones with all their passages in quarantine; they are not screened.
    pub quarantined: u64,
}

impl ScreeningProgress {
    /// Documents that can be screened.
    pub fn documents(&self) -> u64 {
        self.included + self.excluded + self.undecided + self.open
    }
}

/// The documents of a task, sorted into those that can be screened, in the order of the search, and the others.
struct Sorted {
    rows: Vec<ScreeningRow>,
    progress: ScreeningProgress,
}

impl Sorted {
    /// Documents that were decided stay, whatever became of their domain.
    fn new(rows: Vec<ScreeningRow>, is_blocked: impl Fn(&str) -> bool) -> Self {
        let mut progress = ScreeningProgress::default();
        let mut kept: Vec<ScreeningRow> = Vec::with_capacity(rows.len());
        for row in rows {
            match &row.decided {
                Some((_, _, Verdict::Include)) => progress.included += 1,
                Some((_, _, Verdict::Exclude)) => progress.excluded += 1,
                Some((_, _, Verdict::Undecided)) => progress.undecided += 1,
                None if row.held => {
                    progress.quarantined += 1;
                    continue;
                }
                None if is_blocked(&row.domain) => {
                    progress.blocked += 1;
                    continue;
                }
                None => progress.open += 1,
            }
            kept.push(row);
        }
        // Stable: documents that nothing ranked stay in the order in which they were added.
        kept.sort_by_key(|row| (row.passage_rank.unwrap_or(u64::MAX), row.source_rank.unwrap_or(u64::MAX)));
        Self { rows: kept, progress }
    }

    /// The numbers, in the order of the search, of documents that were included or excluded, in the order of the decisions.
    fn labels(&self) -> Vec<(usize, bool)> {
        let mut made: Vec<(i64, usize, bool)> = self
            .rows
            .iter()
            .enumerate()
            .filter_map(|(at, row)| match row.decided {
                Some((seq, _, Verdict::Include)) => Some((seq, at, true)),
                Some((seq, _, Verdict::Exclude)) => Some((seq, at, false)),
                Some((_, _, Verdict::Undecided)) | None => None,
            })
            .collect();
        made.sort_unstable();
        made.into_iter().map(|(_, at, is)| (at, is)).collect()
    }
}

impl App {
    /// How far the screening of a task is, and the documents that come next, at most `limit` of 0 to 50.
    ///
    /// # Errors
    /// No such task.
    pub async fn screening(&self, task: &TaskId, limit: usize) -> Result<ScreeningState, AppError> {
        let Sorted { rows, progress } = self.sorted(task).await?;
        let texts = self.screening_texts(task).await?;
        let limit = limit.min(MAX_NEXT);
        let (rows, next, labels, recall, stop) = off_thread(move || {
            let sorted = Sorted { rows, progress };
            let documents = progress.documents() as usize;
            let decided = sorted.labels();
            let labels: Vec<bool> = decided.iter().map(|(_, is)| *is).collect();
            // The features number documents as they were added; here they are sorted by the search.
            let number = |at: usize| texts.number(&sorted.rows[at].page).unwrap_or(usize::MAX - at);
            let decided: Vec<(usize, bool)> = decided.iter().map(|(at, is)| (number(*at), *is)).collect();
            let open: Vec<usize> =
                (0..sorted.rows.len()).filter(|at| sorted.rows[*at].decided.is_none()).collect();
            let numbers: Vec<usize> = open.iter().map(|at| number(*at)).collect();
            let places: std::collections::HashMap<usize, usize> =
                numbers.iter().copied().zip(open.iter().copied()).collect();
            let order = Order::new(texts.features(), &decided, &numbers).0;
            let next: Vec<(Next, usize)> = order
                .into_iter()
                .filter_map(|next| Some((next, *places.get(&next.document)?)))
                .take(limit)
                .collect();
            let (recall, stop) = (estimate(&labels, documents), stopping(&labels, documents));
            (sorted.rows, next, labels, recall, stop)
        })
        .await?;
        let ids: Vec<PageId> = next.iter().map(|(_, at)| rows[*at].page.clone()).collect();
        let cards = self.store().screening_cards(task, &ids).await?;
        let next = cards.into_iter().zip(next);
        let next =
            next.map(|(card, (next, at))| DocumentToScreen { card, search_rank: at + 1, next }).collect();
        let reasons = self.screening_reasons(task).await?;
        Ok(ScreeningState { task: task.clone(), progress, labels, recall, stopping: stop, reasons, next })
    }

    /// Stores a decision about a document. `replaces` is the decision that it replaces: the one that the caller knows.
    ///
    /// # Errors
    /// No such task or document, a reason without an exclusion, an overlong one, or another decision than `replaces`.
    pub async fn screen(
        &self,
        task: &TaskId,
        page: &PageId,
        verdict: Verdict,
        reason: Option<&str>,
        replaces: Option<&ScreeningId>,
        by: &str,
    ) -> Result<ScreeningDecision, AppError> {
        let reason = checked(verdict, reason)?;
        let decision = self.store().screen(task, page, verdict, reason.as_deref(), replaces, by).await?;
        self.publish_task(task, TaskChange::Changed);
        Ok(decision)
    }

    /// Takes the decision about a document back; the one before counts again, and is returned if there is one.
    ///
    /// # Errors
    /// No such task or document, or another decision counts than this one.
    pub async fn unscreen(
        &self,
        task: &TaskId,
        page: &PageId,
        decision: &ScreeningId,
        by: &str,
    ) -> Result<Option<ScreeningDecision>, AppError> {
        let before = self.store().unscreen(task, page, decision, by).await?;
        self.publish_task(task, TaskChange::Changed);
        Ok(before)
    }

    /// A document of a task with its texts, and the decision about it that counts; `None` when the task has no such
    /// document.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn document_to_screen(
        &self,
        task: &TaskId,
        page: &PageId,
    ) -> Result<Option<(ScreeningCard, Option<ScreeningDecision>)>, AppError> {
        let card = self.store().screening_cards(task, std::slice::from_ref(page)).await?.pop();
        let decision = self.store().screening_decision(task, page).await?;
        Ok(card.map(|card| (card, decision)))
    }

    /// Numbers of a task's documents.
    ///
    /// # Errors
    /// No such task.
    pub async fn screening_progress(&self, task: &TaskId) -> Result<ScreeningProgress, AppError> {
        Ok(self.sorted(task).await?.progress)
    }

    /// A page of the decided documents of a task, the latest decision first. `limit` is taken as 1 to 200.
    ///
    /// # Errors
    /// No such task, an overlong text, a wrong cursor.
    pub async fn decided_page(
        &self,
        task: &TaskId,
        filter: &DecidedFilter,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<DecidedPage, AppError> {
        let plain =
            |text: &Option<String>| text.as_deref().map(lyra_text::normalise).filter(|text| !text.is_empty());
        let filter =
            DecidedFilter { reason: plain(&filter.reason), text: plain(&filter.text), ..filter.clone() };
        if filter.text.as_ref().is_some_and(|text| text.chars().count() > MAX_TEXT) {
            return Err(AppError::invalid(
                "`text` is too long",
                format!("use at most {MAX_TEXT} characters"),
            ));
        }
        Ok(self.store().decided_page(task, &filter, limit.clamp(1, MAX_DECIDED), cursor).await?)
    }

    async fn sorted(&self, task: &TaskId) -> Result<Sorted, AppError> {
        let rows = self.store().screening_rows(task).await?;
        let rules = self.web().rules().domain_rules().await?;
        Ok(Sorted::new(rows, |domain| rules.decide(domain).category == DomainCategory::Blocked))
    }

    async fn screening_reasons(&self, task: &TaskId) -> Result<Vec<String>, AppError> {
        let mut reasons: Vec<String> = SUGGESTED_REASONS.iter().map(|reason| (*reason).to_owned()).collect();
        let known: HashSet<&str> = SUGGESTED_REASONS.into_iter().collect();
        let used = self.store().screening_reasons(task).await?;
        reasons.extend(
            used.into_iter().map(|(reason, _)| reason).filter(|reason| !known.contains(reason.as_str())),
        );
        Ok(reasons)
    }
}

/// The reason on one line, if it belongs to the verdict.
fn checked(verdict: Verdict, reason: Option<&str>) -> Result<Option<String>, AppError> {
    let reason = reason.map(lyra_text::normalise).filter(|reason| !reason.is_empty());
    if reason.is_some() && verdict != Verdict::Exclude {
        let message = format!("a reason belongs to an exclusion, and the verdict is `{verdict}`");
        return Err(AppError::invalid(message, "give `exclude`, or no reason"));
    }
    match reason.as_ref().map(|reason| reason.chars().count()) {
        Some(length) if length > MAX_REASON => Err(AppError::invalid(
            format!("`reason` has {length} characters"),
            format!("use at most {MAX_REASON}"),
        )),
        _ => Ok(reason),
    }
}

#[cfg(test)]
mod tests;

//! What there is over all tasks, and a page as a person reads it.

use super::{App, AppError};
use lyra_domain::PageId;
use lyra_store::{JobInfo, ReadPage, TaskSummaries};

/// Most tasks or jobs in one list.
const MAX_LISTED: u32 = 500;

impl App {
    /// A page of the tasks with the numbers of their claims and judged passages, newest first, from the beginning or
    /// from where a cursor points. `limit` is taken as 1 to 500.
    ///
    /// # Errors
    /// An invalid cursor.
    pub async fn task_summaries(&self, limit: u32, cursor: Option<&str>) -> Result<TaskSummaries, AppError> {
        Ok(self.store().task_summaries(limit.clamp(1, MAX_LISTED), cursor).await?)
    }

    /// The jobs of all tasks that are queued, running, or failed, newest first. `limit` is taken as 1 to 500.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn jobs(&self, limit: u32) -> Result<Vec<JobInfo>, AppError> {
        Ok(self.store().list_jobs(limit.clamp(1, MAX_LISTED)).await?)
    }

    /// A page with its passages, in order, and what was judged in each. The texts of quarantined passages are read
    /// only with `quarantined`; they are for people, never for a model.
    ///
    /// # Errors
    /// No such page.
    pub async fn read_page(&self, page: &PageId, quarantined: bool) -> Result<ReadPage, AppError> {
        Ok(self.store().read_page(page, quarantined).await?)
    }
}

//! The claims of a task and the works that carry them.

use super::{App, AppError};
use lyra_domain::{Link, Matrix, MatrixWork, TaskId, links};
use lyra_store::{ClaimFilter, ClaimPage, ClaimSort};

/// Most works of a matrix.
const MAX_WORKS: usize = 500;

/// Which works are the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixColumns {
    /// Works to pass over.
    pub skip: usize,
    /// Most works, taken as 1 to 500.
    pub most: usize,
    /// Only works that take a side on one of the claims.
    pub sided: bool,
}

/// Claims of a task with the works that were judged against them.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskMatrix {
    /// The claims.
    pub page: ClaimPage,
    /// What stored facts connect the works that are shown.
    pub links: Vec<Link>,
    columns: MatrixColumns,
}

impl TaskMatrix {
    /// Its rows and columns.
    pub fn matrix(&self) -> Matrix<'_> {
        of(&self.page, self.columns)
    }
}

fn of(page: &ClaimPage, MatrixColumns { skip, most, sided }: MatrixColumns) -> Matrix<'_> {
    Matrix::new(&page.claims, skip, most.clamp(1, MAX_WORKS), sided)
}

impl App {
    /// A page of a task's claims as rows, the works that were judged against them as columns, and what connects these
    /// works.
    ///
    /// # Errors
    /// As [`App::claim_page`].
    pub async fn task_matrix(
        &self,
        task: &TaskId,
        filter: &ClaimFilter,
        sort: ClaimSort,
        limit: u32,
        cursor: Option<&str>,
        columns: MatrixColumns,
    ) -> Result<TaskMatrix, AppError> {
        let page = self.claim_page(task, filter, sort, limit, cursor).await?;
        let keys: Vec<String> =
            of(&page, columns).works.iter().map(MatrixWork::key).map(str::to_owned).collect();
        let links = links(&self.store().work_facts(&keys).await?);
        Ok(TaskMatrix { page, links, columns })
    }
}

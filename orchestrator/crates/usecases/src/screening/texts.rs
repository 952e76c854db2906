//! The terms of a task's documents, kept while the documents stay the same.

use crate::{App, AppError, ErrorCode};
use lyra_domain::{PageId, TaskId};
use lyra_screening::Features;
use std::collections::HashMap;
use std::sync::Arc;

/// Tasks whose terms are kept.
const KEPT: usize = 4;

/// The terms of tasks, the latest last.
#[derive(Default)]
pub(crate) struct Texts(Vec<(TaskId, (i64, i64), Arc<TaskTexts>)>);

/// The terms of one task's documents.
#[derive(Default)]
pub(super) struct TaskTexts {
    numbers: HashMap<PageId, usize>,
    features: Features,
}

impl TaskTexts {
    /// The number of a document among the features; `None` for one that was added since.
    pub(super) fn number(&self, page: &PageId) -> Option<usize> {
        self.numbers.get(page).copied()
    }

    pub(super) fn features(&self) -> &Features {
        &self.features
    }
}

impl App {
    /// The terms of a task's documents.
    pub(super) async fn screening_texts(&self, task: &TaskId) -> Result<Arc<TaskTexts>, AppError> {
        let stamp = self.store().screening_stamp(task).await?;
        // Held while they are made: a second request waits instead of making them too.
        let mut kept = self.inner.screening.lock().await;
        if let Some((.., texts)) = kept.0.iter().find(|(of, at, _)| of == task && *at == stamp) {
            return Ok(Arc::clone(texts));
        }
        let documents = self.store().screening_texts(task).await?;
        let texts = off_thread(move || {
            let numbers = documents.iter().enumerate().map(|(at, (page, ..))| (page.clone(), at)).collect();
            let terms: Vec<Vec<String>> = documents
                .into_iter()
                .map(|(_, title, text)| lyra_text::content_words(&format!("{title}. {text}")))
                .collect();
            Arc::new(TaskTexts { numbers, features: Features::new(&terms) })
        })
        .await?;
        kept.0.retain(|(of, ..)| of != task);
        if kept.0.len() == KEPT {
            kept.0.remove(0);
        }
        kept.0.push((task.clone(), stamp, Arc::clone(&texts)));
        Ok(texts)
    }
}

/// Runs work off the async threads.
pub(super) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, AppError> {
    let failed =
        |error| AppError::new(ErrorCode::Internal, format!("the order of documents failed: {error}"));
    tokio::task::spawn_blocking(work).await.map_err(failed)
}

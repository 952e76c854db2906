//! Large documents in parts: the materials and the graph of a task, read a page at a time.
//!
//! The last few documents are cached until the store changes, so that the next page needs no second computation.

use super::{App, AppError, graph};
use lyra_domain::TaskId;
use lyra_wire::{Document, DocumentPage};
use std::sync::Arc;

/// Cached documents, each of one task.
const KEPT: usize = 2;

/// Which document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentKind {
    /// [`App::materials`].
    Materials,
    /// [`App::graph`] as node-link JSON.
    Graph,
    /// [`App::claim_material`] of this claim.
    Claim(lyra_domain::ClaimId),
}

/// Documents of this process, newest first.
#[derive(Default)]
pub(super) struct Documents(Vec<Kept>);

struct Kept {
    task: TaskId,
    kind: DocumentKind,
    stamp: i64,
    document: Arc<Document>,
}

impl App {
    /// A page of a document whose JSON takes at most `max_bytes`, from the beginning or from where a cursor points.
    ///
    /// # Errors
    /// No such task or claim, or a cursor of another document.
    pub async fn document_page(
        &self,
        task: &TaskId,
        kind: DocumentKind,
        cursor: Option<&str>,
        max_bytes: usize,
    ) -> Result<DocumentPage, AppError> {
        let document = self.document(task, kind).await?;
        document.page(cursor, max_bytes).map_err(|_| {
            AppError::invalid(
                format!("`{}` is not a cursor of this document", cursor.unwrap_or_default()),
                "use the address in `page.next` unchanged, or omit the cursor to start from the beginning",
            )
        })
    }

    async fn document(&self, task: &TaskId, kind: DocumentKind) -> Result<Arc<Document>, AppError> {
        // One at a time: concurrent requests for the same document wait and share the result.
        let mut documents = self.inner.documents.lock().await;
        let stamp = self.store().change_stamp().await?;
        documents.0.retain(|kept| kept.stamp == stamp);
        if let Some(kept) = documents.0.iter().find(|kept| kept.task == *task && kept.kind == kind) {
            return Ok(Arc::clone(&kept.document));
        }
        let document = match &kind {
            DocumentKind::Materials => parts(self.materials(task).await?).await,
            DocumentKind::Graph => parts(self.graph(task).await?.node_link()).await,
            DocumentKind::Claim(claim) => parts(self.claim_material(task, claim).await?).await,
        };
        let document = Arc::new(document?);
        documents.0.insert(0, Kept { task: task.clone(), kind, stamp, document: Arc::clone(&document) });
        documents.0.truncate(KEPT);
        Ok(document)
    }
}

async fn parts<T: serde::Serialize + Send + 'static>(value: T) -> Result<Document, AppError> {
    graph::off_thread(move || Document::of(&value)).await
}

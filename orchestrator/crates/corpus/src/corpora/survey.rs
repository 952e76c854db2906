//! What goes through all documents of a corpus: its tags and collections, its likely duplicates, its export.

use super::{Corpora, blocking, wait};
use crate::backend::Filter;
use crate::duplicates::{Duplicates, Survey};
use crate::export::{self, ExportFormat, Exported};
use crate::remote::{self, Shelf};
use crate::search::Accepted;
use crate::{CorpusError, Document, Labels, Result, labels};
use std::io::Write;
use std::path::Path;
use tokio_util::sync::CancellationToken;

impl Corpora {
    /// The tags and collections of a corpus, with how many documents have them.
    ///
    /// # Errors
    /// [`CorpusError::NotFound`], or when the corpus cannot be read.
    pub async fn labels(&self, name: &str) -> Result<Labels> {
        if let Some(shelf) = self.shelf(name).await? {
            return remote::labels(&shelf, &CancellationToken::new()).await;
        }
        let (corpora, name) = (self.clone(), name.to_owned());
        blocking(move || Labels::of(&corpora.get(&name)?.snapshot)).await
    }

    /// That the tags and collections of filters are those of some document.
    ///
    /// # Errors
    /// [`CorpusError::Filter`] with the nearest ones, [`CorpusError::NotFound`], or when the corpus cannot be read.
    pub async fn check_filters(&self, name: &str, filters: &[Filter]) -> Result<()> {
        if let Some(shelf) = self.shelf(name).await? {
            return remote::check_labels(&shelf, filters, &CancellationToken::new()).await;
        }
        let (corpora, name, filters) = (self.clone(), name.to_owned(), filters.to_vec());
        blocking(move || labels::check(&corpora.get(&name)?.snapshot, &filters)).await
    }

    /// Documents that are probably one work. Some 200 bytes of each document are in memory meanwhile.
    ///
    /// # Errors
    /// [`CorpusError::NotFound`], [`CorpusError::Stopped`], or when the corpus cannot be read.
    pub async fn duplicates(&self, name: &str, cancel: &CancellationToken) -> Result<Vec<Duplicates>> {
        if let Some(shelf) = self.shelf(name).await? {
            let cancel = cancel.clone();
            return blocking(move || {
                let mut survey = Survey::default();
                each(&shelf, &[], &cancel, |document| {
                    survey.add(&document);
                    Ok(!cancel.is_cancelled())
                })?;
                if cancel.is_cancelled() { Err(CorpusError::Stopped) } else { Ok(survey.groups()) }
            })
            .await;
        }
        let (corpora, name, cancel) = (self.clone(), name.to_owned(), cancel.clone());
        blocking(move || {
            let opened = corpora.get(&name)?;
            let mut survey = Survey::default();
            opened.snapshot.each_by_id(
                |_| true,
                |document| {
                    survey.add(&document);
                    Ok(!cancel.is_cancelled())
                },
            )?;
            if cancel.is_cancelled() { Err(CorpusError::Stopped) } else { Ok(survey.groups()) }
        })
        .await
    }

    /// Writes the documents that filters let through, ordered by id, and returns what it wrote to. `progress` is called
    /// with the number of documents written and the number of all. Besides 12 bytes for each citation key, memory does
    /// not grow with the corpus. Cancelling ends it early, as the report then says.
    ///
    /// # Errors
    /// [`CorpusError::NotFound`]; [`CorpusError::Filter`] for a tag or collection that no document has;
    /// [`CorpusError::Io`], with `shown`, when it cannot be written.
    #[expect(clippy::too_many_arguments, reason = "what to write, how, where to, and who watches it")]
    pub async fn export<W: Write + Send + 'static>(
        &self,
        name: &str,
        format: ExportFormat,
        filters: Vec<Filter>,
        out: W,
        shown: &Path,
        progress: impl Fn(u64, u64) + Send + 'static,
        cancel: &CancellationToken,
    ) -> Result<(W, Exported)> {
        let shown = shown.to_owned();
        if let Some(shelf) = self.shelf(name).await? {
            let cancel = cancel.clone();
            return blocking(move || {
                let stop = CancellationToken::new();
                wait(remote::check_labels(&shelf, &filters, &stop))?;
                let total = wait(shelf.count(&Shelf::matching(&filters), &stop))?;
                let mut lines = export::Lines::new(format, out, &shown);
                each(&shelf, &filters, &stop, |document| {
                    if cancel.is_cancelled() {
                        return Ok(false);
                    }
                    lines.write(&document)?;
                    progress(lines.count(), total);
                    Ok(true)
                })?;
                lines.end(cancel.is_cancelled())
            })
            .await;
        }
        let (corpora, name, cancel) = (self.clone(), name.to_owned(), cancel.clone());
        blocking(move || {
            let opened = corpora.get(&name)?;
            let snapshot = &opened.snapshot;
            labels::check(snapshot, &filters)?;
            let accepted = Accepted::of(snapshot, &filters)?;
            let total = accepted.count().unwrap_or(snapshot.count());
            let mut lines = export::Lines::new(format, out, &shown);
            snapshot.each_by_id(
                |at| accepted.holds(at),
                |document| {
                    if cancel.is_cancelled() {
                        return Ok(false);
                    }
                    lines.write(&document)?;
                    progress(lines.count(), total);
                    Ok(true)
                },
            )?;
            lines.end(cancel.is_cancelled())
        })
        .await
    }
}

/// Calls `each` with every document on a cluster that filters let through, ordered by id, until it returns `false`. A page
/// at a time is in memory. Blocking.
fn each(
    shelf: &Shelf,
    filters: &[Filter],
    stop: &CancellationToken,
    mut each: impl FnMut(Document) -> Result<bool>,
) -> Result<()> {
    let mut pages = wait(shelf.pages(filters, stop))?;
    loop {
        let page = wait(pages.next(stop))?;
        if page.is_empty() {
            return Ok(());
        }
        for document in page {
            if !each(document)? {
                wait(pages.end(stop));
                return Ok(());
            }
        }
    }
}

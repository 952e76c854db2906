//! Files that arrive in pieces, and their import.

use crate::{App, AppError, ErrorCode};
use lyra_corpus::{ImportOptions, ImportReport, Progress};
use lyra_wire::{Happened, ImportEvent, ImportState, Rejection};
use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

/// Longest file name, in bytes.
const MAX_NAME: usize = 200;
/// Rejected records that the last event lists.
const LISTED: usize = 20;
/// Shortest time between two events of one import.
const TELL_EVERY: Duration = Duration::from_millis(300);

/// The corpora that take a file now.
pub(crate) type Busy = Arc<Mutex<HashSet<String>>>;

/// A file that is on its way into a corpus. Dropped before its import, it is removed.
pub struct Upload {
    app: App,
    file: File,
    bytes: u64,
    folder: Folder,
    filename: String,
}

/// The folder of a corpus' upload, which one upload has at a time.
struct Folder {
    path: PathBuf,
    corpus: String,
    busy: Busy,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path)
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path.display(), %error, "an uploaded file could not be removed");
        }
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.corpus);
    }
}

impl App {
    /// Begins to take a file for a corpus, which is created if it does not exist.
    ///
    /// # Errors
    /// A name that no corpus or no file can have, a corpus that already takes a file, a full disk.
    pub async fn upload(&self, corpus: &str, filename: &str) -> Result<Upload, AppError> {
        let fine = !filename.is_empty()
            && filename.len() <= MAX_NAME
            && !filename.starts_with('.')
            && !filename.chars().any(|c| c.is_control() || matches!(c, '/' | '\\' | ':'));
        if !fine {
            return Err(AppError::invalid(
                format!("`{filename}` is not the name of a file"),
                format!("give the name without a folder, of at most {MAX_NAME} bytes, such as `paper.pdf`"),
            ));
        }
        self.inner.corpora.survey(corpus, &[], &ImportOptions::default()).await?;
        let busy = Arc::clone(&self.inner.uploads);
        if !busy.lock().unwrap_or_else(PoisonError::into_inner).insert(corpus.to_owned()) {
            let message = format!("corpus `{corpus}` already takes a file");
            return Err(AppError::new(ErrorCode::Unavailable, message).with("send it when that import ended"));
        }
        // The same file keeps its path, by which a later import knows it.
        let path = self.inner.data_dir.join("uploads").join(corpus);
        let folder = Folder { path, corpus: corpus.to_owned(), busy };
        let target = folder.path.join(filename);
        let file = async {
            tokio::fs::create_dir_all(&folder.path).await?;
            File::create(&target).await
        };
        let file = file.await.map_err(|error| unwritten(&target, &error))?;
        Ok(Upload { app: self.clone(), file, bytes: 0, folder, filename: filename.to_owned() })
    }
}

impl Upload {
    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a piece.
    ///
    /// # Errors
    /// A full disk, or one that cannot be written.
    pub async fn write(&mut self, piece: &[u8]) -> Result<(), AppError> {
        let written = self.file.write_all(piece).await;
        written.map_err(|error| unwritten(&self.folder.path.join(&self.filename), &error))?;
        self.bytes += piece.len() as u64;
        Ok(())
    }

    /// Imports the file in the background, until it is done or `stop` is canceled; the feed tells how it goes.
    ///
    /// # Errors
    /// A full disk.
    pub async fn import(mut self, stop: CancellationToken) -> Result<(), AppError> {
        let path = self.folder.path.join(&self.filename);
        self.file.flush().await.map_err(|error| unwritten(&path, &error))?;
        let Self { app, folder, .. } = self;
        tokio::spawn(async move {
            let event = import(&app, &folder.corpus, &path, &stop).await;
            // The next upload may come as soon as the event is heard.
            drop(folder);
            app.inner.feed.publish(Happened::Import(event));
        });
        Ok(())
    }
}

/// Imports the file, and returns the event that ends it.
async fn import(app: &App, corpus: &str, path: &Path, stop: &CancellationToken) -> ImportEvent {
    let told = Mutex::new(None);
    let progress = |progress: &Progress| {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|at: Instant| at.elapsed() >= TELL_EVERY) {
            *told = Some(Instant::now());
            app.inner.feed.publish(Happened::Import(event(corpus, ImportState::Running, *progress)));
        }
    };
    let files = [path.to_owned()];
    match app.import_corpus(corpus, &files, &ImportOptions::default(), &progress, stop).await {
        Ok(report) => done(corpus, &report),
        Err(error) => {
            tracing::warn!(corpus, %error, "an uploaded file was not imported");
            let failed = event(corpus, ImportState::Failed, Progress::default());
            // The sender of the file does not know where it is stored here.
            let shown = path.file_name().unwrap_or_default().to_string_lossy();
            let message = error.message.replace(&*path.to_string_lossy(), &shown);
            ImportEvent { error: Some(message), ..failed }
        }
    }
}

fn event(corpus: &str, state: ImportState, progress: Progress) -> ImportEvent {
    let Progress { bytes_read, bytes_total, indexed, unchanged, rejected } = progress;
    ImportEvent {
        corpus: corpus.to_owned(),
        state,
        bytes_read,
        bytes_total,
        indexed,
        unchanged,
        rejected,
        rejections: Vec::new(),
        error: None,
    }
}

fn done(corpus: &str, report: &ImportReport) -> ImportEvent {
    let rejection = |rejected: &lyra_corpus::Rejected| Rejection {
        file: rejected.file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        line: rejected.line,
        reason: rejected.reason.clone(),
    };
    let totals = Progress {
        indexed: report.added + report.updated,
        unchanged: report.unchanged,
        rejected: report.rejected_count,
        ..Progress::default()
    };
    let state = if report.cancelled { ImportState::Failed } else { ImportState::Done };
    ImportEvent {
        rejections: report.rejected.iter().take(LISTED).map(rejection).collect(),
        error: report.cancelled.then(|| "the server stopped; send the file again".to_owned()),
        ..event(corpus, state, totals)
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> AppError {
    let message = format!("{} cannot be written: {error}", path.display());
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => AppError::new(ErrorCode::Unavailable, message)
            .with("free space on the disk of the data folder; stored data is safe"),
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            AppError::new(ErrorCode::Unavailable, message).with("make the data folder writable")
        }
        _ => AppError::new(ErrorCode::Internal, message),
    }
}

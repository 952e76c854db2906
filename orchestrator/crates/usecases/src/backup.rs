//! Backups: everything that cannot be rebuilt, in one folder or file, verified when written and when read.
//!
//! A backup holds a snapshot of the database, every corpus as it is while no import runs, and a manifest with the size
//! and SHA-256 of every file. It leaves out cached answers, locks, and the configuration.

mod archive;
mod check;
mod leftovers;
mod manifest;
mod pipe;
mod restore;

pub(crate) use archive::read_archive;
pub(crate) use check::check_backup;
pub use pipe::SpooledBackup;

pub(super) use leftovers::remove as remove_leftovers;
pub(super) use restore::finish_interrupted;

use super::{App, AppError, ErrorCode, Remedy};
use crate::worker::BackupReaders;
use archive::{is_archive, pack};
use check::What;
use lyra_corpus::{CorpusError, HeldCorpus};
use lyra_worker::WorkerError;
use manifest::{DATABASE, Manifest, PRIVATE};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long to wait for an import of a corpus.
const IMPORT_WAIT: Duration = Duration::from_mins(2);
/// Longest time that the reader of a backup may take to answer.
const STEP: Duration = Duration::from_mins(1);
/// How often a folder that is still written to is removed again, at most.
const MOST_DISCARDS: usize = 200;
/// Pause between these attempts.
const BETWEEN_DISCARDS: Duration = Duration::from_millis(5);
/// Pause between checks for the import.
const IMPORT_PAUSE: Duration = Duration::from_millis(250);

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupReport {
    /// Where it is.
    pub path: PathBuf,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// Version of Lyra that made it.
    pub lyra: String,
    /// Version of the database's schema.
    pub schema: i64,
    /// Corpora in it.
    pub corpora: Vec<String>,
    /// Files in it.
    pub files: usize,
    /// Bytes of these files.
    pub bytes: u64,
    /// What is wrong with the database, without keeping it from being used.
    pub problems: Vec<String>,
    /// Where the data lies that a restore replaced.
    pub replaced: Option<PathBuf>,
    /// Names of tokens that are active after a restore.
    pub tokens_in_force: Vec<String>,
    /// Tokens that are active in the restored backup but revoked in the replaced data: they stay revoked.
    pub tokens_revoked: u64,
}

impl App {
    /// Writes a backup while everything goes on: to a `.tar` or `.tar.gz` file, or to a folder that is new or empty. It has
    /// its name only when it is whole and was read again.
    ///
    /// # Errors
    /// When something is there already and `force` does not allow to replace it, a corpus is being imported, the disk is full,
    /// the database is damaged.
    pub async fn create_backup(&self, target: &Path, force: bool) -> Result<BackupReport, AppError> {
        let target = std::path::absolute(target).map_err(failed(target))?;
        free(&target, force)?;
        if let Some(folder) = target.parent() {
            leftovers::remove(folder);
        }
        let partial = beside(&target, "partial")?;
        private_folder(&partial).map_err(failed(&partial))?;
        let claim = leftovers::claim(&partial);
        let written = self.write_backup(&target, &partial).await;
        // What is not finished has no use; the error that matters is the first one.
        let _ = std::fs::remove_dir_all(&partial);
        drop(claim);
        written
    }

    async fn write_backup(&self, target: &Path, partial: &Path) -> Result<BackupReport, AppError> {
        let database = partial.join(DATABASE);
        self.store().copy_to(&database).await?;
        self.store().copy_secrets_to(&partial.join(PRIVATE)).await?;
        let mut corpora = Vec::new();
        for name in self.inner.corpora.names().await? {
            let held = match self.held(&name).await {
                // An import that has not begun to write, or a corpus removed just now.
                Err(CorpusError::NotFound { .. }) => continue,
                held => held?,
            };
            let folder = partial.join("corpora").join(&name);
            blocking(move || copy_corpus(&held, &folder)).await?;
            corpora.push(name);
        }
        let folder = partial.to_owned();
        let created_at = self.now();
        blocking(move || Manifest::of(&folder, created_at)?.write(&folder)).await?;
        // What was written here needs no other process.
        let readers = BackupReaders::new(None);
        let checked = verify_folder(partial, &readers).await?;
        put_in_place(partial, target, &readers).await?;
        Ok(BackupReport { path: target.to_owned(), corpora, ..checked })
    }

    /// Waits for an import to end.
    async fn held(&self, name: &str) -> Result<HeldCorpus, CorpusError> {
        let give_up = tokio::time::Instant::now() + IMPORT_WAIT;
        loop {
            match self.inner.corpora.hold(name).await {
                Err(CorpusError::Busy { .. }) if tokio::time::Instant::now() < give_up => {
                    tokio::time::sleep(IMPORT_PAUSE).await;
                }
                held => return held,
            }
        }
    }

    /// Reads a backup to its end: every file's size and SHA-256, and the database with SQLite's own checks.
    ///
    /// # Errors
    /// What is missing, altered or damaged, a backup of a newer version, and readers that were cancelled.
    pub async fn verify_backup(source: &Path, readers: &BackupReaders) -> Result<BackupReport, AppError> {
        let verified = readers.unless_cancelled(verify(source, readers)).await.ok_or_else(interrupted)?;
        Ok(BackupReport { path: source.to_owned(), ..verified? })
    }
}

async fn verify(source: &Path, readers: &BackupReaders) -> Result<BackupReport, AppError> {
    if !blocking_is_archive(source).await? {
        return verify_folder(source, readers).await;
    }
    // What is looked into has to lie in files of its own; nothing else is written.
    let scratch = Scratch::beside(source)?;
    archive::unpack_described(source, &scratch.folder, readers.archives()).await?;
    check::check(&scratch.folder, What::Described, &readers.of_folder(&scratch.folder)).await
}

/// A folder for what is unpacked to be looked at: removed when this is dropped.
struct Scratch {
    folder: PathBuf,
    _claim: Option<File>,
}

impl Scratch {
    /// A new folder beside a backup, or among the temporary files where there can be none.
    fn beside(source: &Path) -> Result<Self, AppError> {
        let source = std::path::absolute(source).map_err(failed(source))?;
        let mut folder = beside(&source, "verify")?;
        if private_folder(&folder).is_err() {
            folder = beside(&std::env::temp_dir().join("lyra"), "verify")?;
            private_folder(&folder).map_err(failed(&folder))?;
        }
        Ok(Self { _claim: leftovers::claim(&folder), folder })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now, the next backup removes.
        let _ = discard(&self.folder);
    }
}

/// Removes a folder, and waits for the last write of what was interrupted there: it runs on a thread of its own.
fn discard(folder: &Path) -> std::io::Result<()> {
    let mut tries = 0;
    loop {
        match std::fs::remove_dir_all(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && tries < MOST_DISCARDS => {
                tries += 1;
                std::thread::sleep(BETWEEN_DISCARDS);
            }
            removed => return removed,
        }
    }
}

async fn blocking_is_archive(source: &Path) -> Result<bool, AppError> {
    let source = source.to_owned();
    blocking(move || match std::fs::metadata(&source) {
        Ok(found) => Ok(found.is_file()),
        Err(error) => Err(failed(&source)(error).with(Remedy::NameBackup)),
    })
    .await
}

/// Checks every file of a backup that lies in a folder.
async fn verify_folder(folder: &Path, readers: &BackupReaders) -> Result<BackupReport, AppError> {
    check::check(folder, What::Whole, &readers.of_folder(folder)).await
}

/// An error of a backup whose reader ended.
fn unread(backup: &str, error: WorkerError) -> AppError {
    let why = match error {
        WorkerError::Memory { bytes } => format!("reading it takes more than {} MB of memory", bytes >> 20),
        WorkerError::Deadline { limit } => {
            format!("a step of reading it takes more than {} s", limit.as_secs())
        }
        WorkerError::Cpu { seconds } => {
            format!("a step of reading it takes more than {seconds} s of processor time")
        }
        WorkerError::Died { how } => format!("reading it failed inside a parser, twice ({how})"),
        other => return AppError::new(ErrorCode::Unavailable, format!("{backup}: {other}")),
    };
    manifest::damaged(&format!("{backup}: {why}"))
}

/// The person who asked wants no more of it.
fn interrupted() -> AppError {
    AppError::new(ErrorCode::Unavailable, "interrupted; nothing has changed")
}

fn copy_corpus(held: &HeldCorpus, folder: &Path) -> Result<(), AppError> {
    for file in &held.files {
        let (from, to) = (held.folder.join(file), folder.join(file));
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent).map_err(failed(parent))?;
        }
        std::fs::copy(&from, &to).map_err(failed(&to))?;
        File::open(&to).and_then(|file| file.sync_all()).map_err(failed(&to))?;
    }
    Ok(())
}

/// Gives a finished backup its name.
async fn put_in_place(partial: &Path, target: &Path, readers: &BackupReaders) -> Result<(), AppError> {
    let (partial, target) = (partial.to_owned(), target.to_owned());
    if !is_archive(&target) {
        return blocking(move || replace(&partial, &target)).await;
    }
    let file = beside(&target, "new")?;
    let packing = file.clone();
    let packed = async {
        let _claim = blocking(move || {
            pack(&partial, &packing)?;
            Ok(leftovers::claim(&packing))
        })
        .await?;
        archive::verify(&file, readers.archives()).await
    };
    if let Err(error) = packed.await {
        let _ = std::fs::remove_file(&file);
        return Err(error);
    }
    blocking(move || std::fs::rename(&file, &target).map_err(failed(&target))).await
}

/// Puts a folder in place of what is there.
fn replace(partial: &Path, target: &Path) -> Result<(), AppError> {
    // Replaced as a whole: the old one is there until the new one is.
    let old = beside(target, "old")?;
    let replaces = target.exists();
    if replaces {
        std::fs::rename(target, &old).map_err(failed(target))?;
    }
    std::fs::rename(partial, target).map_err(failed(target))?;
    if replaces {
        std::fs::remove_dir_all(&old).map_err(failed(&old))?;
    }
    Ok(())
}

/// Refuses to write over what is there.
fn free(target: &Path, force: bool) -> Result<(), AppError> {
    let there = match std::fs::metadata(target) {
        Err(_) => return Ok(()),
        Ok(found) if found.is_dir() => {
            let empty = std::fs::read_dir(target).map_err(failed(target))?.next().is_none();
            if empty || force && Manifest::read(target).is_ok() {
                return Ok(());
            }
            if force {
                return Err(AppError::invalid(
                    format!("{} holds something else than a backup", target.display()),
                    "name a folder that is new, empty, or a backup",
                ));
            }
            "a folder with something in it"
        }
        Ok(_) if force && is_archive(target) => return Ok(()),
        Ok(_) => "a file",
    };
    Err(AppError::invalid(format!("{} is {there}", target.display()), Remedy::ReplaceBackup))
}

/// A unique name in the same folder.
fn beside(target: &Path, what: &str) -> Result<PathBuf, AppError> {
    let name = target.file_name().ok_or_else(|| {
        AppError::invalid(
            format!("{} names no file or folder", target.display()),
            "name a new file or folder",
        )
    })?;
    let id = uuid::Uuid::now_v7().simple().to_string();
    Ok(target.with_file_name(format!(".{}.{what}-{}", name.to_string_lossy(), &id[20..])))
}

/// Makes a folder that only its owner may look into: there may be cookies in a backup.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// An error of the file system, in words about the file.
fn failed(path: &Path) -> impl Fn(std::io::Error) -> AppError {
    let path = path.to_owned();
    move |error| {
        let message = format!("{}: {error}", path.display());
        match error.kind() {
            ErrorKind::StorageFull => AppError::new(ErrorCode::Internal, message)
                .with("make room on that disk, or name another place"),
            ErrorKind::NotFound => AppError::new(ErrorCode::NotFound, message),
            _ => AppError::new(ErrorCode::Internal, message),
        }
    }
}

/// Runs file work off the async threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AppError> + Send + 'static,
) -> Result<T, AppError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(AppError::new(ErrorCode::Internal, error.to_string())))
}

#[cfg(test)]
mod tests;

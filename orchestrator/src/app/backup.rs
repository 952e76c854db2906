//! Backups: everything that cannot be had again, in one folder or file, checked when it is written and when it is read.
//!
//! A backup holds the database as it was at one moment and every corpus as it was while nobody imported into it, with a
//! manifest of every file's size and SHA-256. Kept answers, locks and the configuration are not in it.

mod archive;
mod leftovers;
mod manifest;
mod pipe;
mod restore;

pub(super) use leftovers::remove as remove_leftovers;
pub(super) use restore::finish_interrupted;

use super::{App, AppError, ErrorCode};
use archive::{is_archive, pack};
use lyra_corpus::{CorpusError, HeldCorpus};
use lyra_store::{check_file, check_private_file};
use manifest::{DATABASE, Manifest, PRIVATE};
use serde::Serialize;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long an import of a corpus is waited for.
const IMPORT_WAIT: Duration = Duration::from_mins(2);
/// Pause between looks at it.
const IMPORT_PAUSE: Duration = Duration::from_millis(250);

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
    /// Names of tokens that are in force after a restore.
    pub tokens_in_force: Vec<String>,
    /// Tokens of a restored backup that were in force in it, and that the replaced data had revoked since: they stay revoked.
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
        let created_at = jiff::Timestamp::now();
        blocking(move || Manifest::of(&folder, created_at)?.write(&folder)).await?;
        let checked = verify_folder(partial).await?;
        let (partial, place) = (partial.to_owned(), target.to_owned());
        blocking(move || put_in_place(&partial, &place)).await?;
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
    /// What is missing, altered or damaged, and a backup of a newer version.
    pub async fn verify_backup(source: &Path) -> Result<BackupReport, AppError> {
        let (place, archived) = (source.to_owned(), blocking_is_archive(source).await?);
        if !archived {
            return verify_folder(source).await;
        }
        // What is looked into has to lie in files of its own; nothing else is written.
        let folder = scratch(source)?;
        let claim = leftovers::claim(&folder);
        let unpacked = folder.clone();
        let verified = async {
            blocking(move || archive::unpack_described(&place, &unpacked)).await?;
            describe(&folder, &Manifest::read(&folder)?).await
        }
        .await;
        let _ = std::fs::remove_dir_all(&folder);
        drop(claim);
        Ok(BackupReport { path: source.to_owned(), ..verified? })
    }
}

/// A new folder beside a backup, or among the temporary files where there can be none.
fn scratch(source: &Path) -> Result<PathBuf, AppError> {
    let source = std::path::absolute(source).map_err(failed(source))?;
    let folder = beside(&source, "verify")?;
    if private_folder(&folder).is_ok() {
        return Ok(folder);
    }
    let folder = beside(&std::env::temp_dir().join("lyra"), "verify")?;
    private_folder(&folder).map_err(failed(&folder))?;
    Ok(folder)
}

async fn blocking_is_archive(source: &Path) -> Result<bool, AppError> {
    let source = source.to_owned();
    blocking(move || match std::fs::metadata(&source) {
        Ok(found) => Ok(found.is_file()),
        Err(error) => Err(AppError {
            hint: Some("name a folder or file that `lyra backup create` has written".to_owned()),
            ..failed(&source)(error)
        }),
    })
    .await
}

/// Checks every file of a backup that lies in a folder.
async fn verify_folder(folder: &Path) -> Result<BackupReport, AppError> {
    let place = folder.to_owned();
    let manifest = blocking(move || {
        let manifest = Manifest::read(&place)?;
        manifest.verify(&place)?;
        Ok(manifest)
    })
    .await?;
    describe(folder, &manifest).await
}

/// Checks the database of a backup whose files are what its manifest says.
async fn describe(folder: &Path, manifest: &Manifest) -> Result<BackupReport, AppError> {
    let same_version = manifest.lyra == env!("CARGO_PKG_VERSION");
    let mut check = check_file(&folder.join(DATABASE), same_version).await?;
    if manifest.entry(PRIVATE).is_some() {
        check.problems.extend(check_private_file(&folder.join(PRIVATE)).await?);
    }
    for (kind, what) in [("integrity", "is damaged"), ("schema", "has been tampered with")] {
        if let Some(problem) = check.problems.iter().find(|problem| problem.check == kind) {
            return Err(AppError::new(
                ErrorCode::Internal,
                format!("the database in {} {what}: {}", folder.display(), problem.found),
            ));
        }
    }
    for name in manifest.corpora() {
        let checked = lyra_corpus::check_manifest(&folder.join("corpora").join(&name), &name);
        checked.map_err(|error| manifest::damaged(&error.to_string()))?;
    }
    Ok(BackupReport {
        path: folder.to_owned(),
        created_at: manifest.created_at.to_string(),
        lyra: manifest.lyra.clone(),
        schema: check.schema,
        corpora: manifest.corpora(),
        files: manifest.files.len(),
        bytes: manifest.files.iter().map(|file| file.bytes).sum(),
        problems: check
            .problems
            .into_iter()
            .map(|problem| format!("{}: {}", problem.check, problem.found))
            .collect(),
        replaced: None,
        tokens_in_force: Vec::new(),
        tokens_revoked: 0,
    })
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
fn put_in_place(partial: &Path, target: &Path) -> Result<(), AppError> {
    if is_archive(target) {
        let file = beside(target, "new")?;
        let packed = pack(partial, &file).and_then(|()| {
            let _claim = leftovers::claim(&file);
            archive::verify(&file)
        });
        if let Err(error) = packed {
            let _ = std::fs::remove_file(&file);
            return Err(error);
        }
        return std::fs::rename(&file, target).map_err(failed(target));
    }
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
    Err(AppError::invalid(
        format!("{} is {there}", target.display()),
        "name a new file (.tar, .tar.gz) or a new folder, or replace a backup with --force",
    ))
}

/// A name in the same folder that nobody else uses.
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
            std::io::ErrorKind::StorageFull => AppError {
                hint: Some("make room on that disk, or name another place".to_owned()),
                ..AppError::new(ErrorCode::Internal, message)
            },
            std::io::ErrorKind::NotFound => AppError::new(ErrorCode::NotFound, message),
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

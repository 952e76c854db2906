//! Backups that others may have changed: archives are unpacked by a process that is handed their bytes and can open no
//! file, what was unpacked is checked by one that can read it and nothing else.

use super::Kind;
use crate::{check_backup, read_archive};
use lyra_store::limit_heap;
use lyra_worker::{Access, Confinement, Limits, Talks, WorkerError, serve_talks};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The processor time is that of one step, which is a piece of the archive.
pub(super) const ARCHIVE_LIMITS: Limits =
    Limits { memory: 256 << 20, addresses: 4 << 30, cpu: Duration::from_mins(1), files: 16 };

/// Bytes that SQLite may hold while it checks a database.
const HEAP: u32 = 256 << 20;
/// The time of a step depends on the size of the databases, which the parent knows.
pub(super) const BACKUP_LIMITS: Limits =
    Limits { memory: 512 << 20, addresses: 4 << 30, cpu: Duration::from_hours(1), files: 64 };

pub(super) fn serve_archive(kind: Kind, _arguments: &[OsString]) -> std::io::Result<()> {
    serve_talks(&kind.limits(), &Access::default(), kind.most_bytes(), |job, turns| read_archive(&job, turns))
}

pub(super) fn serve_backup(kind: Kind, arguments: &[OsString]) -> std::io::Result<()> {
    let [folder] = arguments else {
        return Err(std::io::Error::other("a worker for backups wants the path of a folder"));
    };
    let folder = PathBuf::from(folder);
    limit_heap(HEAP);
    let access = Access { read: vec![folder.clone()], write: Vec::new() };
    serve_talks(&kind.limits(), &access, kind.most_bytes(), |job, turns| check_backup(&folder, &job, turns))
}

/// Reads backups in workers of a program, and in this process where none can be started.
#[derive(Debug)]
pub struct BackupReaders {
    program: Option<PathBuf>,
    archives: Talks,
    cancel: CancellationToken,
}

impl BackupReaders {
    /// With workers of this program.
    pub fn new(program: Option<PathBuf>) -> Self {
        let pool = program.clone().map(|program| Kind::Archive.pool(program, Vec::new()));
        let archives =
            Talks::new(pool, Arc::new(|job, turns| read_archive(&job, turns)), "unpacking a backup");
        Self { program, archives, cancel: CancellationToken::new() }
    }

    /// The same, which stop when the token is cancelled.
    #[must_use]
    pub fn until(self, cancel: CancellationToken) -> Self {
        Self { cancel, ..self }
    }

    /// For bytes of an archive.
    pub(crate) fn archives(&self) -> &Talks {
        &self.archives
    }

    /// For files of this folder.
    pub(crate) fn of_folder(&self, folder: &Path) -> Talks {
        let argument = OsString::from(folder);
        let pool = self.program.clone().map(|program| Kind::Backup.pool(program, vec![argument]));
        let folder = folder.to_owned();
        Talks::new(pool, Arc::new(move |job, turns| check_backup(&folder, &job, turns)), "checking a backup")
    }

    /// Does this unless and until it is cancelled.
    pub(crate) async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.cancel.run_until_cancelled(work).await
    }

    /// What the system enforces on its workers; `folder` is one that they may read.
    ///
    /// # Errors
    /// [`WorkerError::Start`].
    pub(crate) async fn confinement(&self, folder: &Path) -> Result<[Option<Confinement>; 2], WorkerError> {
        Ok([self.archives.confinement().await?, self.of_folder(folder).confinement().await?])
    }
}

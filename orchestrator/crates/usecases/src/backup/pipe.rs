//! Backups through a pipe: written to one, or read from one, by way of a file in the data folder.
//!
//! A backup is checked as a whole before anybody gets it or it replaces anything, which a stream does not allow.

use super::{BackupReport, beside, blocking, failed, private_folder};
use crate::worker::BackupReaders;
use crate::{App, AppError};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

impl App {
    /// Writes a backup (`.tar.gz`) to `out`, after it was read again.
    ///
    /// # Errors
    /// As [`App::create_backup`]; a reader that went away.
    pub async fn write_backup_to(&self, out: impl Write + Send + 'static) -> Result<BackupReport, AppError> {
        let (spooled, report) = self.spool_backup().await?;
        blocking(move || {
            let mut out = out;
            let poured = File::open(&spooled.path).and_then(|mut file| std::io::copy(&mut file, &mut out));
            poured.and_then(|_| out.flush()).map_err(failed(Path::new("standard output")))
        })
        .await?;
        Ok(BackupReport { path: "standard output".into(), ..report })
    }

    /// A backup (`.tar.gz`) in a file of its own, which was read again.
    ///
    /// # Errors
    /// As [`App::create_backup`].
    pub async fn spool_backup(&self) -> Result<(SpooledBackup, BackupReport), AppError> {
        let spooled = SpooledBackup::new(self.data_dir())?;
        let report = spooled.named(self.create_backup(&spooled.path, false).await)?;
        Ok((spooled, report))
    }

    /// [`App::verify_backup`] of what `input` holds.
    ///
    /// # Errors
    /// As there, and an `input` that cannot be read.
    pub async fn verify_backup_from(
        input: impl Read + Send + 'static,
        data_dir: &Path,
        readers: &BackupReaders,
    ) -> Result<BackupReport, AppError> {
        let spooled = SpooledBackup::fill(input, data_dir).await?;
        spooled.named(Self::verify_backup(&spooled.path, readers).await)
    }

    /// [`App::restore_backup`] of what `input` holds.
    ///
    /// # Errors
    /// As there, and an `input` that cannot be read.
    pub async fn restore_backup_from(
        input: impl Read + Send + 'static,
        data_dir: &Path,
        force: bool,
        readers: &BackupReaders,
    ) -> Result<BackupReport, AppError> {
        let spooled = SpooledBackup::fill(input, data_dir).await?;
        spooled.named(Self::restore_backup(&spooled.path, data_dir, force, readers).await)
    }
}

/// A backup on its way: a file that is removed when this is dropped.
pub struct SpooledBackup {
    path: PathBuf,
}

impl SpooledBackup {
    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Chooses a unique name for a file that is still to be written.
    fn new(data_dir: &Path) -> Result<Self, AppError> {
        private_folder(data_dir).map_err(failed(data_dir))?;
        let mut name = beside(&data_dir.join("backup"), "piped")?.into_os_string();
        name.push(".tar.gz");
        Ok(Self { path: name.into() })
    }

    async fn fill(input: impl Read + Send + 'static, data_dir: &Path) -> Result<Self, AppError> {
        let spooled = Self::new(data_dir)?;
        blocking(move || {
            let mut options = File::options();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&spooled.path).map_err(failed(&spooled.path))?;
            let _claim = super::leftovers::claim(&spooled.path);
            let mut input = input;
            std::io::copy(&mut input, &mut file).map_err(failed(Path::new("standard input")))?;
            Ok(spooled)
        })
        .await
    }

    /// Puts what the file stands for in place of its name.
    fn named(&self, outcome: Result<BackupReport, AppError>) -> Result<BackupReport, AppError> {
        const INPUT: &str = "standard input";
        let name = self.path.display().to_string();
        match outcome {
            Ok(report) => Ok(BackupReport { path: INPUT.into(), ..report }),
            Err(error) => Err(AppError { message: error.message.replace(&name, INPUT), ..error }),
        }
    }
}

impl Drop for SpooledBackup {
    fn drop(&mut self) {
        // Never written, when an error came first.
        let _ = std::fs::remove_file(&self.path);
    }
}

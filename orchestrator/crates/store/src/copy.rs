//! A copy of the database while it is in use, and the guarantee that nobody uses it.

use crate::lease::WorkerLock;
use crate::{Result, Store, StoreError, schema};
use sqlx::AssertSqlSafe;
use std::fs::File;
use std::path::Path;

impl Store {
    /// Writes a copy as it is at this moment to a file that must not exist. Others read and write on meanwhile; what is
    /// deleted is not in the copy. Only its owner may read it.
    ///
    /// # Errors
    /// When the file exists or cannot be written, or the database is damaged.
    pub async fn copy_to(&self, file: &Path) -> Result<()> {
        self.copy("main", file).await
    }

    /// The same of what is secret. A copy of the database goes before: then this one lacks nothing that it refers to.
    ///
    /// # Errors
    /// As there.
    pub async fn copy_secrets_to(&self, file: &Path) -> Result<()> {
        self.copy("private", file).await
    }

    async fn copy(&self, schema: &str, file: &Path) -> Result<()> {
        let not_writable = |why: String| StoreError::NotWritable { path: file.to_owned(), why };
        let io = |error: std::io::Error| not_writable(error.to_string());
        let made = private_file(file).map_err(io)?;
        let target = file.to_str().ok_or_else(|| not_writable("its name is no valid text".to_owned()))?;
        let copied = sqlx::query(AssertSqlSafe(format!("VACUUM {schema} INTO ?")))
            .bind(target)
            .execute(self.reader())
            .await;
        if let Err(error) = copied {
            // Half a copy is none; that it stays is no further failure.
            let _ = std::fs::remove_file(file);
            return Err(match StoreError::from(error) {
                StoreError::DiskFull => not_writable("its disk is full".to_owned()),
                other => other,
            });
        }
        made.sync_all().map_err(io)
    }
}

/// An empty new file that only its owner may read: there may be cookies in what is written to it.
fn private_file(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// While this lives, no process has the database in a folder open, and none opens it.
pub struct Unused {
    _turn: File,
}

impl Unused {
    /// Waits for processes that are just opening the database; the folder is made when it is not there.
    ///
    /// # Errors
    /// [`StoreError::InUse`] when a process has it open.
    pub async fn of(folder: &Path) -> Result<Self> {
        let workers = folder.join("workers");
        let not_writable =
            |error: std::io::Error| StoreError::NotWritable { path: workers.clone(), why: error.to_string() };
        std::fs::create_dir_all(&workers).map_err(not_writable)?;
        // Whoever opens the database shows that it lives first, and waits for its turn then.
        let turn = schema::turn(&workers).await?;
        match WorkerLock::living(&workers).map_err(not_writable)? {
            0 => Ok(Self { _turn: turn }),
            processes => Err(StoreError::InUse { folder: folder.to_owned(), processes }),
        }
    }
}

#[cfg(test)]
mod tests;

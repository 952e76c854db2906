//! Copies the database while it is in use, and guards work that needs it unused.

use crate::lease::WorkerLock;
use crate::{Result, Store, StoreError, schema};
use sqlx::AssertSqlSafe;
use std::fs::File;
use std::path::Path;

impl Store {
    /// Writes a snapshot to a file that must not exist. Others can read and write meanwhile; the copy contains no
    /// deleted data. Only its owner can read it.
    ///
    /// # Errors
    /// When the file exists or cannot be written, or the database is damaged.
    pub async fn copy_to(&self, file: &Path) -> Result<()> {
        self.copy("main", file).await
    }

    /// The same for the private file. Copy the database first: then this copy has everything that it references.
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
        let target = file.to_str().ok_or_else(|| not_writable("its name is not valid UTF-8".to_owned()))?;
        let copied = sqlx::query(AssertSqlSafe(format!("VACUUM {schema} INTO ?")))
            .bind(target)
            .execute(self.reader())
            .await;
        if let Err(error) = copied {
            // Half a copy is useless. If it cannot be removed, that is not another error.
            let _ = std::fs::remove_file(file);
            return Err(match StoreError::from(error) {
                StoreError::DiskFull => not_writable("its disk is full".to_owned()),
                other => other,
            });
        }
        made.sync_all().map_err(io)
    }
}

/// An empty new file that only its owner can read, because it may contain cookies.
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
    /// Waits for processes that are just opening the database; creates the folder if missing.
    ///
    /// # Errors
    /// [`StoreError::InUse`] when a process has it open.
    pub async fn of(folder: &Path) -> Result<Self> {
        let workers = folder.join("workers");
        let not_writable =
            |error: std::io::Error| StoreError::NotWritable { path: workers.clone(), why: error.to_string() };
        std::fs::create_dir_all(&workers).map_err(not_writable)?;
        // A process that opens the database first marks itself as alive, and then waits for its turn.
        let turn = schema::turn(&workers).await?;
        match WorkerLock::count_living(&workers).map_err(not_writable)? {
            0 => Ok(Self { _turn: turn }),
            processes => Err(StoreError::InUse { folder: folder.to_owned(), processes }),
        }
    }
}

#[cfg(test)]
mod tests;

//! A corpus as a file.

use crate::{App, AppError, ErrorCode};
use lyra_corpus::{CorpusError, ExportFormat, Exported, Narrow};
use std::fs::File;
use std::io::{Error, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// Where an export goes.
pub enum ExportTarget {
    /// A file, which is there whole or not at all. What is there and no regular file, such as a pipe, is written to
    /// directly.
    File(PathBuf),
    /// Something that is open, with its name for errors.
    Open(Box<dyn Write + Send>, PathBuf),
}

impl App {
    /// Writes the documents of a corpus that have all of these tags and are in all of these collections, ordered by id.
    /// `progress` is called with the number of documents written and the number of all. Cancelling leaves no file, and
    /// the file that was there before.
    ///
    /// # Errors
    /// No such corpus, a tag or collection that no document has, or a file that cannot be written.
    pub async fn export_corpus(
        &self,
        name: &str,
        format: ExportFormat,
        narrow: &Narrow,
        target: ExportTarget,
        progress: impl Fn(u64, u64) + Send + 'static,
        cancel: &CancellationToken,
    ) -> Result<Exported, AppError> {
        let corpora = &self.inner.corpora;
        let filters = narrow.filters.clone();
        let path = match target {
            ExportTarget::Open(out, shown) => {
                let written = corpora.export(name, format, filters, out, &shown, progress, cancel).await;
                return Ok(written.map_err(|error| failed(error, &shown))?.1);
            }
            ExportTarget::File(path) => path,
        };
        let cannot = |error: Error| unwritable(&path, &error);
        if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            let out = File::options().write(true).open(&path).map_err(cannot)?;
            let written = corpora.export(name, format, filters, out, &path, progress, cancel).await;
            return Ok(written.map_err(|error| failed(error, &path))?.1);
        }
        let (draft, out) = Draft::beside(&path).map_err(cannot)?;
        let written = corpora.export(name, format, filters, out, &path, progress, cancel).await;
        let (out, report) = written.map_err(|error| failed(error, &path))?;
        if !report.cancelled {
            draft.publish(&out, &path).map_err(cannot)?;
        }
        Ok(report)
    }
}

/// An error of an export to `path`.
fn failed(error: CorpusError, path: &Path) -> AppError {
    match error {
        CorpusError::Io { path: of, source } if of == path => unwritable(path, &source),
        other => other.into(),
    }
}

fn unwritable(path: &Path, error: &Error) -> AppError {
    let remedy = match error.kind() {
        ErrorKind::BrokenPipe => "what reads the output must read all of it",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free space on its disk, or name a file on another one"
        }
        ErrorKind::NotFound => "name a file in a folder that exists",
        ErrorKind::IsADirectory => "name a file, not a folder",
        _ => "name a file that can be written",
    };
    AppError::new(ErrorCode::Unavailable, format!("{} cannot be written: {error}", path.display()))
        .with(remedy)
}

/// A file that is removed unless it gets its name.
struct Draft(PathBuf);

impl Draft {
    fn beside(path: &Path) -> std::io::Result<(Self, File)> {
        let name = path.file_name().ok_or(std::io::ErrorKind::InvalidFilename)?;
        let mut draft = std::ffi::OsString::from(".");
        draft.push(name);
        draft.push(format!(".{}.part", std::process::id()));
        let draft = path.with_file_name(draft);
        let file = File::create(&draft)?;
        Ok((Self(draft), file))
    }

    fn publish(self, file: &File, path: &Path) -> std::io::Result<()> {
        file.sync_all()?;
        // A link stays, and what it leads to is replaced.
        let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        std::fs::rename(&self.0, target)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // It has its name, or was never written.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_gets_its_name_or_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bib");
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        drop(Draft::beside(&path).unwrap());
        assert_eq!(names(), 0);
        let (draft, mut file) = Draft::beside(&path).unwrap();
        file.write_all(b"new").unwrap();
        draft.publish(&file, &path).unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), names()), (b"new".to_vec(), 1));
        assert!(Draft::beside(&folder.path().join("absent/a.bib")).is_err());
    }
}

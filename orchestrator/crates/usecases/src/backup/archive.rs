//! A backup as one file: tar, with or without gzip.

mod entries;
mod taking;

pub(crate) use entries::read_archive;

use super::manifest::{self, Manifest};
use super::{STEP, blocking, failed, unread};
use crate::AppError;
use entries::{Said, line};
use flate2::write::GzEncoder;
use lyra_worker::{Talks, WorkerError, hand};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use taking::Taking;

/// Whether a path names a single file.
pub(super) fn is_archive(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    [".tar", ".tar.gz", ".tgz"].iter().any(|ending| name.ends_with(ending))
}

/// Writes a folder with its manifest into one new file that only its owner may read; the manifest comes first.
pub(super) fn pack(folder: &Path, file: &Path) -> Result<(), AppError> {
    let manifest = Manifest::read(folder)?;
    let write = || {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let out = BufWriter::new(options.open(file)?);
        // By the name that it will have: `.NAME.tar.gz.new-…`.
        let out = if file.to_string_lossy().to_ascii_lowercase().contains("gz.new-") {
            let out = add_all(GzEncoder::new(out, flate2::Compression::fast()), folder, &manifest)?;
            out.finish()?
        } else {
            add_all(out, folder, &manifest)?
        };
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
    };
    write().map_err(failed(file))
}

fn add_all<W: Write>(out: W, folder: &Path, manifest: &Manifest) -> std::io::Result<W> {
    let mut tar = tar::Builder::new(out);
    tar.mode(tar::HeaderMode::Deterministic);
    for path in std::iter::once(manifest::FILE).chain(manifest.files.iter().map(|file| file.path.as_str())) {
        tar.append_path_with_name(folder.join(path), path)?;
    }
    tar.into_inner()
}

/// What to extract from an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Nothing is written.
    Nothing,
    /// The manifests and the database files.
    Described,
    Everything,
}

/// Reads a file to its end and holds every part against the manifest.
pub(super) async fn verify(file: &Path, readers: &Talks) -> Result<(), AppError> {
    read(file, Path::new(""), Keep::Nothing, readers).await
}

/// Writes what is in a file to a folder that is there, and holds it against the manifest. Nothing outside the folder is
/// touched.
pub(super) async fn unpack(file: &Path, folder: &Path, readers: &Talks) -> Result<(), AppError> {
    read(file, folder, Keep::Everything, readers).await
}

/// The same, and writes only the manifests and the database files.
pub(super) async fn unpack_described(file: &Path, folder: &Path, readers: &Talks) -> Result<(), AppError> {
    read(file, folder, Keep::Described, readers).await
}

/// Has a file read; once more when its reader ended for a reason that may be another than the file.
async fn read(file: &Path, folder: &Path, keep: Keep, readers: &Talks) -> Result<(), AppError> {
    let mut tried = false;
    loop {
        match attempt(file, folder, keep, readers).await {
            Err(Failed::Reader(WorkerError::Died { .. })) if !tried => tried = true,
            Err(Failed::Reader(error)) => return Err(unread(&file.display().to_string(), error)),
            Err(Failed::Backup(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
    }
}

enum Failed {
    Reader(WorkerError),
    Backup(AppError),
}

impl From<AppError> for Failed {
    fn from(error: AppError) -> Self {
        Self::Backup(error)
    }
}

/// Hands a file to a reader, and takes what the reader finds in it.
async fn attempt(file: &Path, folder: &Path, keep: Keep, readers: &Talks) -> Result<(), Failed> {
    let archive = Arc::new(File::open(file).map_err(failed(file))?);
    let bytes = archive.metadata().map_err(failed(file))?.len();
    let mut talk = readers.begin().await.map_err(Failed::Reader)?;
    let mut taking = Taking::new(file, folder, keep);
    let mut message = line(&bytes);
    loop {
        let answer = talk.say(message, STEP).await.map_err(Failed::Reader)?;
        let (said, content) = Said::read(&answer).map_err(failed(file))?;
        if let Said::Want { from, bytes } = said {
            let (archive, file) = (archive.clone(), file.to_owned());
            message = blocking(move || hand(&archive, from, bytes).map_err(failed(&file))).await?;
            continue;
        }
        let ended = matches!(said, Said::Ended);
        let start = answer.len() - content.len();
        taking = blocking(move || taking.take(said, &answer[start..])).await?;
        if ended {
            return Ok(());
        }
        // Go on.
        message = Vec::new();
    }
}

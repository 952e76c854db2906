//! `backup.json`: what a backup holds.

use super::failed;
use crate::{AppError, ErrorCode, Remedy};
use lyra_domain::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};

/// Newest format that this version reads and the one it writes.
///
/// 1: `backup.json`, `lyra.db` (no WAL beside it), `corpora/NAME/…`. 2: `private.db` as well.
const FORMAT: u32 = 2;
/// The manifest's name.
pub(super) const FILE: &str = "backup.json";
/// The database's name, in a backup and in the data folder.
pub(super) const DATABASE: &str = "lyra.db";
/// The name of the file with what is secret, which backups have since format 2.
pub(super) const PRIVATE: &str = "private.db";

/// The manifest of a backup.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    /// Version of Lyra that made it.
    pub(super) lyra: String,
    /// When.
    pub(super) created_at: jiff::Timestamp,
    /// Every file but this one, by path.
    pub(super) files: Vec<Entry>,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Relative, with `/`.
    pub(super) path: String,
    pub(super) bytes: u64,
    /// In hexadecimal.
    pub(super) sha256: String,
}

#[derive(Deserialize)]
struct Version {
    format: u32,
}

impl Manifest {
    /// Of everything in a folder.
    pub(super) fn of(folder: &Path, created_at: jiff::Timestamp) -> Result<Self, AppError> {
        let mut files = Vec::new();
        for path in paths(folder)? {
            let full = folder.join(&path);
            let (bytes, sha256) = File::open(&full).and_then(digest).map_err(failed(&full))?;
            files.push(Entry { path, bytes, sha256 });
        }
        Ok(Self { format: FORMAT, lyra: env!("CARGO_PKG_VERSION").to_owned(), created_at, files })
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), AppError> {
        let path = folder.join(FILE);
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::from).map_err(failed(&path))?;
        let write = || {
            let mut file = File::create_new(&path)?;
            file.write_all(&text)?;
            file.sync_all()
        };
        write().map_err(failed(&path))
    }

    pub(super) fn read(folder: &Path) -> Result<Self, AppError> {
        let path = folder.join(FILE);
        let bytes = std::fs::read(&path).map_err(|error| {
            let message = format!("{} is not a backup: {FILE}: {error}", folder.display());
            AppError::new(ErrorCode::NotFound, message).with(Remedy::NameBackup)
        })?;
        Self::parse(&bytes).map_err(|why| damaged(&format!("{}: {why}", path.display())))
    }

    /// From the text of `backup.json`.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let found: Version = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if found.format > FORMAT {
            return Err(format!(
                "format {} is newer than this version of Lyra reads ({FORMAT}); update lyra",
                found.format
            ));
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        match manifest.files.iter().find(|file| !is_inside(Path::new(&file.path))) {
            Some(file) => Err(format!("`{}` leads out of the backup", file.path)),
            None if !manifest.files.iter().any(|file| file.path == DATABASE) => {
                Err(format!("it names no {DATABASE}"))
            }
            None if manifest.format >= 2 && !manifest.files.iter().any(|file| file.path == PRIVATE) => {
                Err(format!("it names no {PRIVATE}"))
            }
            None => Ok(manifest),
        }
    }

    /// Whether a folder holds exactly these files. `step` is called after every piece that was read.
    pub(super) fn verify(
        &self,
        folder: &Path,
        step: &mut dyn FnMut() -> std::io::Result<()>,
    ) -> Result<(), AppError> {
        let mut there: BTreeSet<String> = paths(folder)?.into_iter().collect();
        for entry in &self.files {
            let path = folder.join(&entry.path);
            if !there.remove(&entry.path) {
                return Err(damaged(&format!("{} is missing", path.display())));
            }
            let read =
                File::open(&path).and_then(|file| digest(Stepped { file, left: PIECE, step: &mut *step }));
            let found = read.map_err(failed(&path))?;
            step().map_err(failed(&path))?;
            entry.same(&found, &path)?;
        }
        match there.first() {
            Some(extra) => {
                Err(damaged(&format!("{} is not in its list of files", folder.join(extra).display())))
            }
            None => Ok(()),
        }
    }

    /// What a path must contain.
    pub(super) fn entry(&self, path: &str) -> Option<&Entry> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Names of the corpora in it.
    pub(super) fn corpora(&self) -> Vec<String> {
        let names =
            self.files.iter().filter_map(|file| file.path.strip_prefix("corpora/")?.split('/').next());
        names.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

impl Entry {
    /// Whether this is what was found of a file.
    pub(super) fn same(&self, (bytes, sha256): &(u64, String), path: &Path) -> Result<(), AppError> {
        if *bytes != self.bytes {
            return Err(damaged(&format!("{} has {bytes} bytes and had {}", path.display(), self.bytes)));
        }
        if *sha256 != self.sha256 {
            return Err(damaged(&format!("{} is not what was written", path.display())));
        }
        Ok(())
    }
}

/// The backup cannot be used.
pub(super) fn damaged(why: &str) -> AppError {
    AppError::invalid(format!("the backup is damaged: {why}"), "use another backup")
}

/// Bytes that are read between two steps.
const PIECE: u64 = 64 << 20;

/// A file whose reader says now and then that it goes on.
struct Stepped<'a> {
    file: File,
    left: u64,
    step: &'a mut dyn FnMut() -> std::io::Result<()>,
}

impl Read for Stepped<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            (self.step)()?;
            self.left = PIECE;
        }
        let read = self.file.read(buffer)?;
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

/// Size and SHA-256 of what is read.
pub(super) fn digest(mut from: impl Read) -> std::io::Result<(u64, String)> {
    let (mut hash, mut buffer, mut bytes) = (Sha256::new(), vec![0; 1 << 16], 0);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => {
                hash.update(&buffer[..read]);
                bytes += read as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((bytes, hex(&hash.finalize())))
}

/// Whether a relative path stays where it is.
pub(super) fn is_inside(path: &Path) -> bool {
    path.components().next().is_some() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// Every file below a folder but the manifest: relative, with `/`, sorted.
fn paths(folder: &Path) -> Result<Vec<String>, AppError> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        let path = folder.join(&inner);
        for entry in std::fs::read_dir(&path).map_err(failed(&path))? {
            let entry = entry.map_err(failed(&path))?;
            let relative = inner.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(relative);
            } else {
                let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
                found.push(parts.join("/"));
            }
        }
    }
    found.retain(|path| path != FILE);
    found.sort();
    Ok(found)
}

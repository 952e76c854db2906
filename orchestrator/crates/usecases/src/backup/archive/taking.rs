//! What becomes of the entries of an archive: they are held against the manifest, which comes first, and written where
//! they are kept.

use super::Keep;
use super::entries::Said;
use crate::AppError;
use crate::backup::failed;
use crate::backup::manifest::{self, DATABASE, Manifest, PRIVATE, damaged, digest, is_inside};
use lyra_domain::hex;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Largest manifest that is read.
const MAX_MANIFEST: usize = 64 << 20;

/// An archive as far as it was read. Nothing that the manifest does not name, nor more than it says, is taken.
pub(super) struct Taking {
    file: PathBuf,
    folder: PathBuf,
    keep: Keep,
    /// None before it was read.
    manifest: Option<Manifest>,
    /// What the manifest names and has not come yet.
    left: BTreeSet<String>,
    entry: Option<Entry>,
}

/// The entry whose content comes.
enum Entry {
    Manifest(Vec<u8>),
    File { path: String, bytes: u64, sum: Sha256, kept: Option<(PathBuf, File)> },
}

impl Taking {
    pub(super) fn new(file: &Path, folder: &Path, keep: Keep) -> Self {
        let (file, folder) = (file.to_owned(), folder.to_owned());
        Self { file, folder, keep, manifest: None, left: BTreeSet::new(), entry: None }
    }

    /// Takes what the reader says, with the content that comes with it.
    pub(super) fn take(mut self, said: Said, content: &[u8]) -> Result<Self, AppError> {
        match said {
            Said::Want { .. } => {}
            Said::Entry { path, is_file } => {
                self.finish()?;
                self.begin(path, is_file)?;
            }
            Said::Content => self.add(content)?,
            Said::Ended => {
                self.finish()?;
                self.end()?;
            }
            Said::Broken(why) => return Err(self.broken(&why)),
        }
        Ok(self)
    }

    fn broken(&self, why: &str) -> AppError {
        damaged(&format!("{}: {why}", self.file.display()))
    }

    fn begin(&mut self, path: String, is_file: bool) -> Result<(), AppError> {
        if !is_file || !is_inside(Path::new(&path)) {
            return Err(self.broken(&format!("`{path}` is not part of a backup")));
        }
        let Some(manifest) = &self.manifest else {
            if path != manifest::FILE {
                return Err(self.broken(&format!("{} does not come first", manifest::FILE)));
            }
            self.entry = Some(Entry::Manifest(Vec::new()));
            return Ok(());
        };
        if manifest.entry(&path).is_none() || !self.left.remove(&path) {
            return Err(self.broken(&format!("`{path}` is not in its list of files")));
        }
        let of_corpus = path.starts_with("corpora/") && path.ends_with("/corpus.json");
        let described = of_corpus || [DATABASE, PRIVATE].contains(&path.as_str());
        let keeps = match self.keep {
            Keep::Nothing => false,
            Keep::Described => described,
            Keep::Everything => true,
        };
        let kept = if keeps { Some(self.open(&path)?) } else { None };
        self.entry = Some(Entry::File { path, bytes: 0, sum: Sha256::new(), kept });
        Ok(())
    }

    /// A file of the folder, to be written; what an attempt before wrote to it is gone.
    fn open(&self, path: &str) -> Result<(PathBuf, File), AppError> {
        let to = self.folder.join(path);
        // The folder itself is there, or was removed because of an interruption, and is not made again.
        let mut within = self.folder.clone();
        for part in Path::new(path).parent().into_iter().flat_map(Path::components) {
            within.push(part);
            match std::fs::create_dir(&within) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(failed(&within)(error)),
                _ => {}
            }
        }
        let mut options = File::options();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let out = options.open(&to).map_err(failed(&to))?;
        Ok((to, out))
    }

    fn add(&mut self, content: &[u8]) -> Result<(), AppError> {
        match &mut self.entry {
            None => {}
            Some(Entry::Manifest(text)) => {
                let room = MAX_MANIFEST.saturating_sub(text.len());
                text.extend(&content[..content.len().min(room)]);
            }
            Some(Entry::File { path, bytes, sum, kept }) => {
                let wanted = self.manifest.as_ref().and_then(|manifest| manifest.entry(path));
                let wanted = wanted.map_or(0, |entry| entry.bytes);
                // One byte more than there may be shows that there is more.
                let room = wanted.saturating_add(1) - *bytes;
                let taken = &content[..usize::try_from(room).unwrap_or(usize::MAX).min(content.len())];
                *bytes += taken.len() as u64;
                match kept {
                    Some((to, out)) => out.write_all(taken).map_err(failed(to))?,
                    None => sum.update(taken),
                }
                if *bytes > wanted {
                    self.finish()?;
                }
            }
        }
        Ok(())
    }

    /// What happens when all content of an entry has arrived.
    fn finish(&mut self) -> Result<(), AppError> {
        match self.entry.take() {
            None => {}
            Some(Entry::Manifest(text)) => {
                let manifest = Manifest::parse(&text).map_err(|why| self.broken(&why))?;
                if self.keep != Keep::Nothing {
                    let (to, mut out) = self.open(manifest::FILE)?;
                    out.write_all(&text).and_then(|()| out.sync_all()).map_err(failed(&to))?;
                }
                self.left = manifest.files.iter().map(|entry| entry.path.clone()).collect();
                self.manifest = Some(manifest);
            }
            Some(Entry::File { path, bytes, sum, kept }) => {
                let taken = match kept {
                    // Read again: what is on the disk counts.
                    Some((to, out)) => {
                        out.sync_all().and_then(|()| digest(File::open(&to)?)).map_err(failed(&to))?
                    }
                    None => (bytes, hex(&sum.finalize())),
                };
                if let Some(wanted) = self.manifest.as_ref().and_then(|manifest| manifest.entry(&path)) {
                    wanted.same(&taken, &self.file.join(&path))?;
                }
            }
        }
        Ok(())
    }

    /// Whether all has come.
    fn end(&self) -> Result<(), AppError> {
        if self.manifest.is_none() {
            return Err(self.broken(&format!("{} does not come first", manifest::FILE)));
        }
        match self.left.first() {
            Some(missing) => Err(damaged(&format!("{} is missing", self.file.join(missing).display()))),
            None => Ok(()),
        }
    }
}

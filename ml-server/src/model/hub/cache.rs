//! One repository in the cache, in the layout of Hugging Face's tools: contents under `blobs/` by hash, links to them under
//! `snapshots/COMMIT/`, the commits of branches and tags under `refs/`, and empty files under `.no_exist/COMMIT/` for what a
//! commit is known to lack.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often to check another program's lock.
const LOCK_POLL: Duration = Duration::from_millis(500);

/// Files of one repository.
pub(super) struct Cache {
    folder: PathBuf,
    locks: PathBuf,
}

/// Whether `revision` is a full commit id, which never points elsewhere.
pub(super) fn is_commit(revision: &str) -> bool {
    revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl Cache {
    /// The folder of `repo` under the root of the cache. Nothing is created.
    pub(super) fn new(root: &Path, repo: &str) -> Self {
        let name = format!("models--{}", repo.replace('/', "--"));
        Self { folder: root.join(&name), locks: root.join(".locks").join(name) }
    }

    /// The repository's folder.
    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    /// The commit that `revision` is or last pointed to.
    pub(super) fn commit(&self, revision: &str) -> Option<String> {
        if is_commit(revision) {
            return self.snapshot(revision).is_dir().then(|| revision.to_owned());
        }
        let commit = fs::read_to_string(self.folder.join("refs").join(revision)).ok()?;
        Some(commit.trim().to_owned()).filter(|commit| is_commit(commit))
    }

    /// Remembers where `revision` points.
    pub(super) fn point(&self, revision: &str, commit: &str) -> io::Result<()> {
        if is_commit(revision) {
            return Ok(());
        }
        write(&self.folder.join("refs").join(revision), commit)
    }

    /// The folder with a commit's files.
    pub(super) fn snapshot(&self, commit: &str) -> PathBuf {
        self.folder.join("snapshots").join(commit)
    }

    /// Whether `name` is cached or known to be absent.
    pub(super) fn knows(&self, commit: &str, name: &str) -> bool {
        self.snapshot(commit).join(name).is_file() || self.absent(commit, name).exists()
    }

    /// Remembers that a commit has no `name`.
    pub(super) fn mark_absent(&self, commit: &str, name: &str) -> io::Result<()> {
        write(&self.absent(commit, name), "")
    }

    fn absent(&self, commit: &str, name: &str) -> PathBuf {
        self.folder.join(".no_exist").join(commit).join(name)
    }

    /// The file of a content with this hash.
    pub(super) fn blob(&self, hash: &str) -> PathBuf {
        self.folder.join("blobs").join(hash)
    }

    /// Gives a content its name in a commit and returns the path.
    pub(super) fn link(&self, commit: &str, name: &str, hash: &str) -> io::Result<PathBuf> {
        let path = self.snapshot(commit).join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        // A link to a content that was deleted is in the way.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        #[cfg(unix)]
        {
            let up = "../".repeat(Path::new(name).components().count() + 1);
            std::os::unix::fs::symlink(format!("{up}blobs/{hash}"), &path)?;
        }
        #[cfg(not(unix))]
        fs::copy(self.blob(hash), &path)?;
        Ok(path)
    }

    /// Waits until no other program downloads the content with this hash. Dropping the returned file releases the lock.
    pub(super) async fn lock(&self, hash: &str) -> io::Result<File> {
        fs::create_dir_all(&self.locks)?;
        let file = File::create(self.locks.join(format!("{hash}.lock")))?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
            if !told {
                tracing::info!(hash, "waiting for another process that is downloading the same file");
                told = true;
            }
            tokio::time::sleep(LOCK_POLL).await;
        }
    }
}

fn write(path: &Path, content: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, content)
}

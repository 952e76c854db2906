//! Which process owns a lease, and whether it still lives.
//!
//! Each open store holds an operating system lock on its own file in `workers/`. The system releases the lock when the
//! process ends for any reason, so a file that can be locked belongs to a dead process.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The lock that marks this worker as alive.
pub(crate) struct WorkerLock {
    id: String,
    folder: PathBuf,
    /// Locked until this is dropped.
    _file: File,
}

impl WorkerLock {
    /// Creates and locks its own file in this folder.
    pub(crate) fn acquire(folder: &Path) -> io::Result<Self> {
        let id = Uuid::now_v7().simple().to_string();
        // Locked before it gets its name, so that no process finds it unlocked.
        let unnamed = folder.join(format!("{id}.new"));
        let file = File::create(&unnamed)?;
        file.lock()?;
        std::fs::rename(&unnamed, lock_path(folder, &id))?;
        Ok(Self { id, folder: folder.to_owned(), _file: file })
    }

    /// Name of this worker, as jobs carry it.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// How many workers of this folder are alive, in any process.
    pub(crate) fn count_living(folder: &Path) -> io::Result<usize> {
        let mut living = 0;
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            // One that is about to get its name lives as well.
            if !path.extension().is_some_and(|extension| extension == "lock" || extension == "new") {
                continue;
            }
            // A file that is gone by now belongs to a dead worker.
            let Ok(file) = File::open(&path) else { continue };
            living += usize::from(file.try_lock().is_err());
        }
        Ok(living)
    }

    /// Takes the locks of dead workers. A worker without a file is as dead as one whose file can be locked.
    pub(crate) fn find_dead(&self, owners: &[String]) -> io::Result<Vec<DeadWorker>> {
        let mut dead = Vec::new();
        let mut found = vec![self.id.clone()];
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let is_lock = path.extension().is_some_and(|extension| extension == "lock");
            let Some(id) = path.file_stem().and_then(|stem| stem.to_str()).filter(|_| is_lock) else {
                continue;
            };
            if id == self.id {
                continue;
            }
            found.push(id.to_owned());
            let Ok(file) = File::open(&path) else { continue };
            if file.try_lock().is_ok() {
                dead.push(DeadWorker { id: id.to_owned(), file: Some((path, file)) });
            }
        }
        let lost = owners.iter().filter(|owner| !found.contains(owner));
        dead.extend(lost.map(|id| DeadWorker { id: id.clone(), file: None }));
        Ok(dead)
    }
}

impl Drop for WorkerLock {
    fn drop(&mut self) {
        // A file that stays is found unlocked later and removed then.
        let _ = std::fs::remove_file(lock_path(&self.folder, &self.id));
    }
}

fn lock_path(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}.lock"))
}

/// A dead worker.
pub(crate) struct DeadWorker {
    /// Its name.
    pub(crate) id: String,
    /// Its file, locked by us.
    file: Option<(PathBuf, File)>,
}

impl DeadWorker {
    /// Removes its file, once its jobs are back in the queue.
    pub(crate) fn bury(self) {
        if let Some((path, file)) = self.file {
            let _ = std::fs::remove_file(path);
            drop(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_living_worker_is_not_dead_and_a_dropped_lock_is() {
        let folder = tempfile::tempdir().unwrap();
        let watcher = WorkerLock::acquire(folder.path()).unwrap();
        let other = WorkerLock::acquire(folder.path()).unwrap();
        let owners = [other.id().to_owned()];
        assert!(watcher.find_dead(&owners).unwrap().is_empty());

        // The leftover of a killed process: its file, unlocked.
        drop(other);
        File::create(lock_path(folder.path(), &owners[0])).unwrap();
        let dead = watcher.find_dead(&owners).unwrap();
        assert_eq!(dead.iter().map(|worker| worker.id.clone()).collect::<Vec<_>>(), owners);
        dead.into_iter().for_each(DeadWorker::bury);
        assert!(!lock_path(folder.path(), &owners[0]).exists());
    }

    #[test]
    fn an_owner_without_a_file_is_dead() {
        let folder = tempfile::tempdir().unwrap();
        let watcher = WorkerLock::acquire(folder.path()).unwrap();
        let dead = watcher.find_dead(&["gone".to_owned(), watcher.id().to_owned()]).unwrap();
        assert_eq!(dead.len(), 1);
        assert_eq!(dead[0].id, "gone");
    }
}

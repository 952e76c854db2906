//! Putting a backup back: checked first, then swapped so that a crash at any point leaves the old data or the new.
//!
//! The backup is copied into `.restore/new` of the data folder and checked there. From the moment that `.restore/ready`
//! exists, the swap only moves forward: the restore finishes it, or the next process that opens the data folder. Every
//! step can be repeated.

use super::manifest::{DATABASE, PRIVATE};
use super::{
    BackupReport, archive, blocking, blocking_is_archive, discard, failed, interrupted, private_folder,
    verify_folder,
};
use crate::worker::BackupReaders;
use crate::{App, AppError, Remedy};
use lyra_store::{Store, StoreConfig, Token, Unused};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The files of the two databases with what SQLite keeps beside them, in the order in which they are replaced; a log goes before
/// the file that it belongs to.
const DATABASES: [[&str; 3]; 2] =
    [["lyra.db-wal", "lyra.db-shm", DATABASE], ["private.db-wal", "private.db-shm", PRIVATE]];

impl App {
    /// Replaces the data in a folder by a backup. Data that is there is replaced only with `force`, and is then kept beside
    /// it under another name.
    ///
    /// # Errors
    /// A damaged backup or one of a newer version, data that is there, a process that uses it, a full disk, readers
    /// that were cancelled. Nothing has changed then.
    pub async fn restore_backup(
        source: &Path,
        data_dir: &Path,
        force: bool,
        readers: &BackupReaders,
    ) -> Result<BackupReport, AppError> {
        std::fs::create_dir_all(data_dir).map_err(failed(data_dir))?;
        let unused = Unused::of(data_dir).await?;
        let data = data_dir.to_owned();
        blocking(move || finish(&data).map(drop)).await?;
        if !force && holds_data(data_dir)? {
            return Err(AppError::invalid(
                format!("{} holds data already", data_dir.display()),
                Remedy::ReplaceData,
            ));
        }
        let archived = blocking_is_archive(source).await?;
        let place = Place::of(data_dir);
        let (from, to) = (source.to_owned(), place.clone());
        let checked = readers.unless_cancelled(async {
            blocking(move || {
                to.clear()?;
                private_folder(&to.new).map_err(failed(&to.new))?;
                if archived { Ok(()) } else { copy_folder(&from, &to.new) }
            })
            .await?;
            if archived {
                archive::unpack(source, &place.new, readers.archives()).await?;
            }
            verify_folder(&place.new, readers).await
        });
        let checked = match checked.await {
            Some(Ok(checked)) => prepare(checked, &place.new, data_dir).await,
            Some(Err(error)) => Err(error),
            None => Err(interrupted()),
        };
        let checked = match checked {
            Ok(checked) => checked,
            Err(error) => {
                // What cannot be removed now, the next restore removes.
                let _ = place.clear();
                let message =
                    error.message.replace(&place.new.display().to_string(), &source.display().to_string());
                return Err(AppError { message, ..error });
            }
        };
        let data = data_dir.to_owned();
        let replaced = blocking(move || {
            let place = Place::of(&data);
            std::fs::create_dir_all(place.new.join("corpora")).map_err(failed(&place.new))?;
            File::create(&place.ready).and_then(|file| file.sync_all()).map_err(failed(&place.ready))?;
            sync(&place.root)?;
            finish(&data)
        })
        .await?;
        drop(unused);
        Ok(BackupReport { path: source.to_owned(), replaced, ..checked })
    }
}

/// Brings a checked copy to the present version, which moves secrets of an older one into a file of their own, and revokes in it
/// what has been revoked since it was made.
async fn prepare(checked: BackupReport, copy: &Path, data_dir: &Path) -> Result<BackupReport, AppError> {
    let store = Store::open(&copy.join(DATABASE), StoreConfig::default()).await?;
    let prepared = async {
        let tokens_revoked = store.carry_revocations(&data_dir.join(DATABASE)).await?;
        let now = store.now();
        let ended = |token: &Token| {
            let end = token.expires_at.as_ref().and_then(|end| end.parse::<jiff::Timestamp>().ok());
            token.revoked_at.is_some() || end.is_some_and(|end| end <= now)
        };
        let tokens = store.tokens().await?.into_iter().filter(|token| !ended(token));
        let tokens_in_force = tokens.map(|token| token.name).collect();
        Ok::<_, AppError>(BackupReport { tokens_in_force, tokens_revoked, ..checked })
    }
    .await;
    store.close().await;
    for [log, ..] in DATABASES {
        let log = copy.join(log);
        if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
            return Err(failed(&log)(std::io::Error::other("it was not written into its database")));
        }
    }
    prepared
}

/// Finishes a restore that was interrupted after its backup had been checked.
///
/// # Errors
/// When another process uses the folder, or its files cannot be moved.
pub(crate) async fn finish_interrupted(data_dir: &Path) -> Result<(), AppError> {
    if !Place::of(data_dir).ready.exists() {
        return Ok(());
    }
    let _unused = Unused::of(data_dir).await?;
    let data = data_dir.to_owned();
    tracing::warn!(folder = %data.display(), "finishing a restore that was interrupted");
    blocking(move || finish(&data).map(drop)).await
}

/// Where a restore works.
#[derive(Clone)]
struct Place {
    root: PathBuf,
    new: PathBuf,
    old: PathBuf,
    ready: PathBuf,
}

impl Place {
    fn of(data_dir: &Path) -> Self {
        let root = data_dir.join(".restore");
        Self { new: root.join("new"), old: root.join("old"), ready: root.join("ready"), root }
    }

    fn clear(&self) -> Result<(), AppError> {
        discard(&self.root).map_err(failed(&self.root))
    }
}

/// Swaps what is checked with what is there, as far as that has not been done yet; says where the old data is now.
fn finish(data_dir: &Path) -> Result<Option<PathBuf>, AppError> {
    let place = Place::of(data_dir);
    if !place.ready.exists() {
        return Ok(None);
    }
    private_folder(&place.old).map_err(failed(&place.old))?;
    let aside = |name: &str| match std::fs::rename(data_dir.join(name), place.old.join(name)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(failed(&data_dir.join(name))(error))
        }
        _ => Ok(()),
    };
    let into_place = |name: &str| {
        std::fs::rename(place.new.join(name), data_dir.join(name)).map_err(failed(&place.new.join(name)))
    };
    // What is still here is not swapped yet.
    for files in DATABASES {
        if place.new.join(files[2]).exists() {
            files.iter().try_for_each(|name| aside(name))?;
            into_place(files[2])?;
        }
    }
    if place.new.join("corpora").exists() {
        aside("corpora")?;
        into_place("corpora")?;
    }
    sync(data_dir)?;
    let empty = std::fs::read_dir(&place.old).map_err(failed(&place.old))?.next().is_none();
    let replaced = if empty {
        None
    } else {
        #[expect(
            clippy::disallowed_methods,
            reason = "no store is open; the time only makes a name for people"
        )]
        let now = jiff::Timestamp::now();
        let kept = data_dir.join(format!("replaced-{}", now.strftime("%Y%m%dT%H%M%S%3fZ")));
        std::fs::rename(&place.old, &kept).map_err(failed(&kept))?;
        Some(kept)
    };
    std::fs::remove_file(&place.ready).map_err(failed(&place.ready))?;
    place.clear()?;
    Ok(replaced)
}

fn holds_data(data_dir: &Path) -> Result<bool, AppError> {
    let corpora = data_dir.join("corpora");
    let any = corpora.exists() && std::fs::read_dir(&corpora).map_err(failed(&corpora))?.next().is_some();
    Ok(any || data_dir.join(DATABASE).exists())
}

/// Copies a backup that lies in a folder. What is not in its list of files is found when the copy is checked.
fn copy_folder(from: &Path, to: &Path) -> Result<(), AppError> {
    for entry in std::fs::read_dir(from).map_err(failed(from))? {
        let entry = entry.map_err(failed(from))?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type().map_err(failed(&entry.path()))?;
        if kind.is_dir() {
            private_folder(&target).map_err(failed(&target))?;
            copy_folder(&entry.path(), &target)?;
        } else if kind.is_file() {
            std::fs::copy(entry.path(), &target).map_err(failed(&target))?;
            File::open(&target).and_then(|file| file.sync_all()).map_err(failed(&target))?;
        }
    }
    Ok(())
}

/// Makes renames in a folder last.
fn sync(folder: &Path) -> Result<(), AppError> {
    #[cfg(unix)]
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed(folder))?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A crash after any step of the swap: the next process finishes it.
    #[test]
    fn a_swap_is_finished_from_wherever_it_stopped() {
        let moves = [
            ("lyra.db-wal", ".restore/old/lyra.db-wal"),
            ("lyra.db-shm", ".restore/old/lyra.db-shm"),
            ("lyra.db", ".restore/old/lyra.db"),
            (".restore/new/lyra.db", "lyra.db"),
            ("private.db-wal", ".restore/old/private.db-wal"),
            ("private.db", ".restore/old/private.db"),
            (".restore/new/private.db", "private.db"),
            ("corpora", ".restore/old/corpora"),
            (".restore/new/corpora", "corpora"),
        ];
        for done in 0..=moves.len() {
            let home = tempfile::tempdir().unwrap();
            let at = |name: &str| home.path().join(name);
            for (name, text) in [
                ("lyra.db", "old"),
                ("lyra.db-wal", "old log"),
                ("lyra.db-shm", ""),
                ("private.db", "old secrets"),
                ("private.db-wal", "old log"),
                ("corpora/a/corpus.json", "old"),
                (".restore/new/lyra.db", "new"),
                (".restore/new/private.db", "new secrets"),
                (".restore/new/corpora/b/corpus.json", "new"),
                (".restore/ready", ""),
            ] {
                write(&at(name), text);
            }
            std::fs::create_dir_all(at(".restore/old")).unwrap();
            for (from, to) in &moves[..done] {
                std::fs::rename(at(from), at(to)).unwrap();
            }
            let replaced = finish(home.path()).unwrap().expect("old data");
            assert_eq!(std::fs::read_to_string(at("lyra.db")).unwrap(), "new", "after {done} steps");
            assert_eq!(
                std::fs::read_to_string(at("private.db")).unwrap(),
                "new secrets",
                "after {done} steps"
            );
            assert!(!at("private.db-wal").exists());
            assert!(!at("lyra.db-wal").exists() && !at(".restore").exists() && !at("corpora/a").exists());
            assert_eq!(std::fs::read_to_string(at("corpora/b/corpus.json")).unwrap(), "new");
            for (name, text) in [
                ("lyra.db", "old"),
                ("lyra.db-wal", "old log"),
                ("private.db", "old secrets"),
                ("corpora/a/corpus.json", "old"),
            ] {
                assert_eq!(std::fs::read_to_string(replaced.join(name)).unwrap(), text, "after {done} steps");
            }
            assert_eq!(finish(home.path()).unwrap(), None);
        }
    }

    #[test]
    fn what_was_not_checked_yet_is_never_put_in_place() {
        let home = tempfile::tempdir().unwrap();
        write(&home.path().join("lyra.db"), "old");
        write(&home.path().join(".restore/new/lyra.db"), "half");
        assert_eq!(finish(home.path()).unwrap(), None);
        assert_eq!(std::fs::read_to_string(home.path().join("lyra.db")).unwrap(), "old");
    }
}

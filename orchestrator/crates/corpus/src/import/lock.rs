//! One import of a corpus at a time.

use crate::{CorpusError, Result};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Who holds a corpus' lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    /// An import, or a process that keeps the corpus as it is.
    Import,
    /// Rounds in the background, which let go of it soon.
    Background,
}

/// What the lock's file says while rounds in the background hold it.
const SOON: &str = "background";
/// How often a lock that is soon free is tried again, and the pause between.
const TRIES: u32 = 6_000;
const TRY_AGAIN: Duration = Duration::from_millis(20);

/// The lock that one import at a time holds; it goes with the process. Waits for rounds in the background.
pub(crate) fn lock(folder: &Path, name: &str) -> Result<File> {
    lock_as(folder, name, Holder::Import)
}

/// The same, for a holder.
pub(crate) fn lock_as(folder: &Path, name: &str, holder: Holder) -> Result<File> {
    let path = folder.join("import.lock");
    let open = || File::options().create(true).truncate(false).read(true).write(true).open(&path);
    let mut file = open().map_err(CorpusError::io(&path))?;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => {
                let word = if holder == Holder::Background { SOON } else { "" };
                file.set_len(0)
                    .and_then(|()| file.write_all(word.as_bytes()))
                    .map_err(CorpusError::io(&path))?;
                return Ok(file);
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                let soon = std::fs::read_to_string(&path).is_ok_and(|holder| holder == SOON);
                if holder == Holder::Background || !soon {
                    break;
                }
                std::thread::sleep(TRY_AGAIN);
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(CorpusError::io(&path)(error)),
        }
    }
    Err(CorpusError::Busy { name: name.to_owned() })
}

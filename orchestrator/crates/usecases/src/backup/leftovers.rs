//! What a backup that was interrupted leaves behind, with all that is secret in it: removed by the next one, or at the next start.
//!
//! A process that writes a backup holds a lock on what it writes, which ends with the process.

use std::fs::File;
use std::path::Path;

/// What comes after the name of a backup that is being written, read or piped; see [`beside`](super::beside).
const KINDS: [&str; 4] = [".partial-", ".new-", ".verify-", ".piped-"];
/// Digits behind it.
const DIGITS: usize = 12;

/// Says that this is being written for as long as the answer lives. Where the system has no locks on folders, nothing is said.
pub(super) fn claim(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// Removes from a folder what no process is writing. A failed removal is retried the next time.
pub(crate) fn remove(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if !entry.file_name().to_str().is_some_and(is_unfinished) || claim(&path).is_none() {
            continue;
        }
        let removed =
            if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        match removed {
            Ok(()) => tracing::info!(path = %path.display(), "removed what an interrupted backup left"),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "an interrupted backup left this, and it cannot be removed");
            }
        }
    }
}

/// Whether this is the name of a backup that is not finished.
fn is_unfinished(name: &str) -> bool {
    let name = name.strip_suffix(".tar.gz").unwrap_or(name);
    KINDS.iter().any(|kind| {
        let id = name.rsplit_once(kind).filter(|(before, _)| before.len() > 1 && before.starts_with('.'));
        id.is_some_and(|(_, id)| id.len() == DIGITS && id.bytes().all(|digit| digit.is_ascii_hexdigit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_process_writes_any_more_is_removed_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name);
        let left =
            [".lyra.tar.gz.partial-0123456789ab", ".a.verify-0123456789ab", ".lyra.partial-aaaaaaaaaaaa"];
        let files = [".lyra.tar.gz.new-0123456789ab", ".backup.piped-0123456789ab.tar.gz"];
        let others = [
            ".partial-0123456789ab",
            "lyra.partial-0123456789ab",
            ".lyra.partial-012",
            ".lyra.old-0123456789ab",
        ];
        let held = ".held.partial-0123456789ab";
        for folder in left.iter().chain([&held]) {
            std::fs::create_dir(path(folder)).unwrap();
            std::fs::write(path(folder).join("lyra.db"), "cookies").unwrap();
        }
        for file in files.iter().chain(&others) {
            std::fs::write(path(file), "x").unwrap();
        }
        let claim = claim(&path(held)).unwrap();
        remove(home.path());
        for gone in left.iter().chain(&files) {
            assert!(!path(gone).exists(), "{gone}");
        }
        for kept in others.iter().chain([&held]) {
            assert!(path(kept).exists(), "{kept}");
        }
        drop(claim);
        remove(home.path());
        assert!(!path(held).exists());
    }
}

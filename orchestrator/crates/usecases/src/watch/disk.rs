//! What the system says of folders, where it says anything: disks of other machines say nothing of what those do.

use notify::{RecursiveMode, Watcher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

/// How long changes are collected: a program that writes a file changes it many times.
const COLLECT: Duration = Duration::from_millis(300);

/// Types of file systems whose files others change without this system's knowledge.
const REMOTE: [&str; 16] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "ncpfs",
    "9p",
    "virtiofs",
    "vboxsf",
    "ceph",
    "glusterfs",
    "afs",
    "davfs",
    "lustre",
    "gpfs",
    "prl_fs",
];

/// Folders that are watched.
pub(super) struct Disk {
    /// What the system says nothing about, and why.
    pub(super) polled: Vec<(PathBuf, String)>,
    changed: Arc<Notify>,
    _watcher: Option<notify::RecommendedWatcher>,
}

impl Disk {
    /// Watches files and folders; with `poll`, none of them.
    pub(super) fn watch(paths: &[PathBuf], poll: Option<Duration>) -> Self {
        let (changed, mut polled) = (Arc::new(Notify::new()), Vec::new());
        let signal = changed.clone();
        let heard = move |event: notify::Result<notify::Event>| {
            // Reading files is no change of them.
            if event.is_ok_and(|event| !event.kind.is_access()) {
                signal.notify_one();
            }
        };
        let mut watcher = match notify::recommended_watcher(heard) {
            Ok(watcher) if poll.is_none() => Some(watcher),
            _ => None,
        };
        for path in paths {
            let remote = remote(path);
            let why = match (&mut watcher, remote) {
                (_, Some(kind)) => Some(format!("its file system is {kind}")),
                (None, None) if poll.is_some() => Some("as asked".to_owned()),
                (None, None) => Some("the system offers no notifications".to_owned()),
                (Some(watcher), None) => {
                    let (folder, mode) = if path.is_dir() {
                        (path.as_path(), RecursiveMode::Recursive)
                    } else {
                        // Programs replace files: the folder says so.
                        (
                            path.parent().filter(|of| *of != Path::new("")).unwrap_or(Path::new(".")),
                            RecursiveMode::NonRecursive,
                        )
                    };
                    watcher.watch(folder, mode).err().map(|error| error.to_string())
                }
            };
            polled.extend(why.map(|why| (path.clone(), why)));
        }
        Self { polled, changed, _watcher: watcher }
    }

    /// Waits for a change and those that come with it, or for the end of the pause.
    pub(super) async fn changed(&mut self, pause: Duration) {
        if tokio::time::timeout(pause, self.changed.notified()).await.is_ok() {
            tokio::time::sleep(COLLECT).await;
        }
    }
}

/// The type of the file system of a path when it is on another machine, as far as this system tells.
fn remote(path: &Path) -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let path = path.canonicalize().ok()?;
    remote_in(&mounts, &path)
}

/// The same by the lines of `mountinfo`, of which the last one with the longest mount point counts.
fn remote_in(mounts: &str, path: &Path) -> Option<String> {
    let mount = |line: &str| {
        let (place, kind) = line.split_once(" - ")?;
        let point = unescaped(place.split(' ').nth(4)?);
        path.starts_with(&point).then(|| (point.len(), kind.split(' ').next().unwrap_or_default().to_owned()))
    };
    let (_, kind) = mounts.lines().filter_map(mount).max_by_key(|(length, _)| *length)?;
    let of_user = kind.strip_prefix("fuse.").is_some_and(|kind| kind != "snapfuse" && kind != "portal");
    (of_user || REMOTE.contains(&kind.as_str())).then_some(kind)
}

/// Blanks and the like stand as `\040`.
fn unescaped(field: &str) -> String {
    let mut parts = field.split('\\');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(code) = code {
            text.push(char::from(code));
            text.push_str(part.get(3..).unwrap_or_default());
        } else {
            text.push('\\');
            text.push_str(part);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_of_other_machines() {
        let mounts = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            40 22 0:40 / /home/lee/papers rw - nfs4 server:/papers rw\n\
            41 22 0:41 / /mnt/my\\040disk rw - fuse.sshfs lee@host:/ rw\n\
            42 40 8:2 / /home/lee/papers/here rw - xfs /dev/sdb1 rw\n";
        let kind = |path: &str| remote_in(mounts, Path::new(path));
        assert_eq!(kind("/home/lee/papers/a"), Some("nfs4".to_owned()));
        assert_eq!(kind("/mnt/my disk/a"), Some("fuse.sshfs".to_owned()));
        for here in ["/", "/home/lee", "/home/lee/papers2", "/home/lee/papers/here/a"] {
            assert_eq!(kind(here), None, "{here}");
        }
    }
}

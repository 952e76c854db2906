//! A group of processes with a limit on their memory, as containers have it: cgroup v2, or the `memory` controller of v1.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The group. It is removed on drop, once it has no processes.
pub(crate) struct Group {
    folder: PathBuf,
    version: Version,
}

#[derive(Clone, Copy, PartialEq)]
enum Version {
    One,
    Two,
}

impl Group {
    /// A new group with this limit in bytes; `None`, with the reason printed, if none can be created.
    #[expect(clippy::print_stdout, reason = "says why a test skips")]
    pub(crate) fn of(bytes: u64) -> Option<Self> {
        match Self::made(bytes) {
            Ok(group) => Some(group),
            Err(why) => {
                println!("skipped: no group with a limit on memory can be made here: {why}");
                None
            }
        }
    }

    fn made(bytes: u64) -> Result<Self, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (root, version) = root().ok_or("no cgroup with a memory controller is mounted")?;
        let name = format!("lyra-attack-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = root.join(name);
        std::fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let group = Self { folder, version };
        let write = |file: &str, value: &str| {
            let path = group.folder.join(file);
            std::fs::write(&path, value).map_err(|error| format!("{}: {error}", path.display()))
        };
        match version {
            Version::Two => write("memory.max", &bytes.to_string())?,
            Version::One => write("memory.limit_in_bytes", &bytes.to_string())?,
        }
        // Not every kernel counts what is swapped out; then there is no limit on it.
        let _ = match version {
            Version::Two => write("memory.swap.max", "0"),
            Version::One => write("memory.memsw.limit_in_bytes", &bytes.to_string()),
        };
        Ok(group)
    }

    /// The command, in the group from its first instruction.
    pub(crate) fn command(&self, command: &Command) -> Command {
        let mut inside = Command::new("sh");
        inside.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.folder.join("cgroup.procs"));
        inside.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside
    }

    /// Processes that the kernel has killed because the group was full.
    pub(crate) fn killed(&self) -> u64 {
        self.number(match self.version {
            Version::Two => "memory.events",
            Version::One => "memory.oom_control",
        })
    }

    /// Most bytes that the group has held.
    pub(crate) fn peak(&self) -> u64 {
        let file = match self.version {
            Version::Two => "memory.peak",
            Version::One => "memory.max_usage_in_bytes",
        };
        let text = std::fs::read_to_string(self.folder.join(file)).unwrap_or_default();
        text.trim().parse().unwrap_or(0)
    }

    fn number(&self, file: &str) -> u64 {
        let text = std::fs::read_to_string(self.folder.join(file)).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group ends with its last process, which may take a moment.
        for _ in 0..100 {
            if std::fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

/// Where groups with a memory limit are created.
fn root() -> Option<(PathBuf, Version)> {
    let mounts = std::fs::read_to_string("/proc/mounts").ok()?;
    let mounted = |kind: &str, option: &str| {
        mounts.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let options = fields.get(3)?.split(',').any(|found| option.is_empty() || found == option);
            (fields.get(2) == Some(&kind) && options).then(|| PathBuf::from(fields[1]))
        })
    };
    if let Some(root) = mounted("cgroup2", "").filter(|root| has(root, "memory")) {
        // Groups below have the controllers that are handed down.
        let _ = std::fs::write(root.join("cgroup.subtree_control"), "+memory");
        let handed_down = std::fs::read_to_string(root.join("cgroup.subtree_control")).unwrap_or_default();
        if handed_down.split_whitespace().any(|name| name == "memory") {
            return Some((root, Version::Two));
        }
    }
    mounted("cgroup", "memory").map(|root| (root, Version::One))
}

fn has(root: &Path, controller: &str) -> bool {
    let controllers = std::fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
    controllers.split_whitespace().any(|name| name == controller)
}

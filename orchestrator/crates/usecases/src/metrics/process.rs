//! Metrics of this process from the operating system; Linux only.

use super::Number;
use std::time::{SystemTime, UNIX_EPOCH};

/// The current state of the process.
pub(super) struct Process {
    pub(super) resident_bytes: u64,
    pub(super) open_handles: u64,
}

/// `None` if `/proc` lacks it.
pub(super) fn read() -> Option<Process> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = resident.trim().trim_end_matches("kB").trim().parse().ok()?;
    let open_handles = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    Some(Process { resident_bytes: kilobytes * 1024, open_handles })
}

/// The time of the first call, at the start of the process.
#[expect(clippy::disallowed_methods, reason = "the metric is the machine's time")]
pub(super) fn start_time() -> Number {
    let number = Number::default();
    number.set(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64());
    number
}

//! What the benches ask of the command line and of Linux.

use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// How many documents, and a folder for them: `[NUMBER [FOLDER]]`. Without a folder, one that is removed afterwards.
pub(crate) fn arguments(default_size: usize) -> Result<(usize, Folder), Box<dyn std::error::Error>> {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let size = arguments.first().map_or(Ok(default_size), |number| number.replace(['_', ','], "").parse())?;
    let folder = match arguments.get(1) {
        Some(folder) => Folder::Kept(folder.into()),
        None => Folder::Removed(tempfile::tempdir()?),
    };
    std::fs::create_dir_all(folder.path())?;
    Ok((size, folder))
}

/// Where a bench writes.
pub(crate) enum Folder {
    Kept(PathBuf),
    Removed(TempDir),
}

impl Folder {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Kept(path) => path,
            Self::Removed(folder) => folder.path(),
        }
    }
}

/// Megabytes of a line of `/proc/self/status`.
pub(crate) fn memory(name: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
}

/// The value that this share of the sorted values does not exceed.
pub(crate) fn percentile(sorted: &[f64], share: f64) -> f64 {
    sorted.get(((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

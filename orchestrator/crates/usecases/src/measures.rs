//! The metrics of this process.

use super::{App, AppError};
use crate::metrics::Metrics;
use std::path::Path;

impl App {
    /// All metrics of this process and the current state of the store, in Prometheus's text format.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn metrics_text(&self) -> Result<String, AppError> {
        let counts = self.store().counts().await?;
        Ok(self.metrics().render(&counts, free_bytes(self.data_dir())))
    }

    /// What this process counts.
    pub fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }
}

/// Free bytes on the disk of this folder; `None` if the system does not report them.
pub(super) fn free_bytes(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let about = rustix::fs::statvfs(folder).ok()?;
        Some(about.f_bavail.saturating_mul(about.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

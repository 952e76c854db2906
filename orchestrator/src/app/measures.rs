//! What is measured, for whoever watches this process.

use super::{App, AppError};
use crate::metrics::Metrics;
use std::path::Path;

impl App {
    /// Everything measured in this process and the store as it is now, in the text format of Prometheus.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn metrics_text(&self) -> Result<String, AppError> {
        let counts = self.store().counts().await?;
        Ok(self.metrics().render(&counts, free_bytes(self.data_dir())))
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }
}

/// Bytes that may still be written where this folder is; `None` where the system does not say.
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

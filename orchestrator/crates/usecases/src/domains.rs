//! Domains that Lyra blocked.

use crate::{App, AppError};
use lyra_store::BlockedDomain;

/// The most blocked domains that are listed.
const LISTED: u32 = 500;

impl App {
    /// The domains that Lyra blocked in any task, the latest 500 of them, newest first. A person's decision may override
    /// a block.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn blocked_domains(&self) -> Result<Vec<BlockedDomain>, AppError> {
        Ok(self.store().blocked_domains(LISTED).await?)
    }
}

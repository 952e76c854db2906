//! Pages and PDFs, parsed in a process of its own that can open no file at all.

use super::Kind;
use async_trait::async_trait;
use lyra_sources::web::{InProcess, Parser};
use lyra_web::read::Reader;
use lyra_worker::{Access, Confinement, Limits, Pool, WorkerError};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A page of the largest allowed size needs a third of the memory.
pub(super) const LIMITS: Limits =
    Limits { memory: 512 << 20, addresses: 4 << 30, cpu: Duration::from_secs(30), files: 16 };

pub(super) fn serve(kind: Kind, _arguments: &[OsString]) -> std::io::Result<()> {
    let mut reader = Reader::default();
    lyra_worker::serve(&kind.limits(), &Access::default(), kind.most_bytes(), |job| {
        reader.work(&job, &|| false)
    })
}

/// Parses in workers, and in this process where none can be started.
pub struct PageParser {
    pool: Option<Pool>,
    here: InProcess,
    /// That pages are parsed in this process has been said.
    said: AtomicBool,
}

impl PageParser {
    /// With workers of this program.
    pub fn new(program: Option<PathBuf>) -> Self {
        let pool = program.map(|program| Kind::Page.pool(program, Vec::new()));
        Self { pool, here: InProcess::default(), said: AtomicBool::new(false) }
    }

    /// What the system enforces on its workers; `None` without worker processes.
    ///
    /// # Errors
    /// [`WorkerError::Start`].
    pub(crate) async fn confinement(&self) -> Result<Option<Confinement>, WorkerError> {
        let Some(pool) = &self.pool else { return Ok(None) };
        pool.warm().await?;
        Ok(pool.confinement())
    }
}

#[async_trait]
impl Parser for PageParser {
    async fn parse(&self, job: Vec<u8>, limit: Duration) -> Result<Vec<u8>, String> {
        let Some(pool) = &self.pool else { return self.here.parse(job, limit).await };
        match pool.run(&job, limit).await {
            Err(WorkerError::Start { why }) => {
                if !self.said.swap(true, Ordering::Relaxed) {
                    tracing::warn!(why, "pages are parsed in this process: no worker can be started");
                }
                self.here.parse(job, limit).await
            }
            answer => answer.map_err(|error| match error {
                WorkerError::Busy => "too many other pages are being read; try again later".to_owned(),
                WorkerError::Deadline { .. } | WorkerError::Cpu { .. } => {
                    "reading it took too long".to_owned()
                }
                WorkerError::Memory { bytes } => {
                    format!("reading it took more than {} MB of memory", bytes >> 20)
                }
                WorkerError::Died { how } => format!("reading it failed inside a parser ({how})"),
                other => other.to_string(),
            }),
        }
    }
}
